"""All checks of a comparison: a check is a function, and a line here that names it."""

from __future__ import annotations

from collections.abc import Callable

from ..data.threads import limited_threads
from .agreement import agreement, anchors
from .balance import balance
from .calibration import check_calibration
from .chasm import accuracy, bridge, chasm
from .check import Check
from .disjoint import disjoint
from .evidence import Compared, Evidence
from .fitting import convergence, flexibility, rising, support
from .found import Diagnostics
from .normalisation import normalisation
from .stacking import family, learning, levels, reach, separation
from .tails import bound, check_effective_size, check_pareto, precision, tails
from .two_sample import difference

CHECKS: dict[str, Callable[[Evidence], Check | None]] = {
    "convergence": convergence,
    "accuracy": accuracy,
    "normalisation_q": lambda e: normalisation(e, "p", "q"),
    "normalisation_p": lambda e: normalisation(e, "q", "p"),
    "effective_sample_size": lambda e: check_effective_size(e.q.rows, e.q.weight),
    "pareto": lambda e: check_pareto(e.q.rows, e.q.weight),
    "balance": balance,
    "tails": tails,
    "precision": precision,
    "bound": bound,
    "calibration": lambda e: check_calibration(e.p.rows, e.q.rows, e.p.weight, e.q.weight),
    "support": lambda e: disjoint(e) or levels(e) or support(e),
    "flexibility": flexibility,
    "anchors": anchors,
    "rising": rising,
    "bridge": bridge,
    "chasm": chasm,
    "agreement": agreement,
    "learning": learning,
    "separation": separation,
    "reach": reach,
    "family": family,
    "difference": difference,
}
"""Every check by name: from the evidence to a check, or to None where it does not apply."""

_OF_FAMILIES = {"flexibility", "anchors", "rising", "bridge", "chasm", "agreement", "accuracy"}
"""Checks of fitted densities and auxiliaries. In a stack rows that were held out have weighed
these against trees, regressions and neighbours already."""


@limited_threads()
def diagnose(comparison: Compared) -> Diagnostics:
    """Make every check that applies to a comparison, by name."""
    evidence = Evidence(comparison)
    left_out = _OF_FAMILIES if evidence.stacked else set()
    found = {name: check(evidence) for name, check in CHECKS.items() if name not in left_out}
    return Diagnostics({name: check for name, check in found.items() if check is not None})
