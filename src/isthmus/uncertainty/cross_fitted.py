"""The estimate of a cross-fitted divergence: as the fit has it, and with ends that are proven."""

from __future__ import annotations

from dataclasses import replace

from .. import words
from ..crossfit import CrossFit
from ..data.telling import quiet
from ..estimator import FitFacts
from ..functionals import Divergence, Estimate, lower_end
from ..typing import Array
from .all_rows import AllRows
from .delta import Ratios, choice_range, divergence_std_error
from .influence import Influence
from .learning import further_end, learned_estimate, paired_error

# A bound below is the rounding of zero.
_NOTHING = 1e-9

_FEW = 5.0
"""Rows below which a mean says nothing of what the rows that were not drawn would add to it."""


def by_fit(
    divergence: Divergence,
    ratios: Ratios,
    crossfit: CrossFit,
    facts: FitFacts,
    influence: Influence | None,
    level: float,
    every: AllRows | None = None,
) -> Estimate:
    """A divergence with its interval as the fit has it, whatever the checks say.

    Parameters
    ----------
    divergence : Divergence
    ratios : log-ratios at the rows of p and of q, and their weights
    crossfit : CrossFit
        What the folds gave.
    facts : FitFacts
        What the fit to all rows tells of itself: whether it is a stack, and which anchors fit as
        well as its own.
    influence : Influence or None
        What every row did to the fit, where it is known in closed form.
    level : float
    every : AllRows, optional
        What is known of all rows, where the others are those of a sample.
    """
    if facts.selection.members and facts.selection.stacked:
        binned = None if every is None else every.binned
        found = learned_estimate(divergence, ratios, crossfit.smaller, level, binned)
        unseen = facts.selection.unseen(divergence)
        return replace(found, high=max(found.high, min(unseen, divergence.upper)))
    value = float(divergence.value(*ratios))
    below, above = choice_range(divergence, facts.alternatives)
    for rival in crossfit.rivals:
        with quiet():
            theirs = float(divergence.value(*rival, *ratios[2:]))
            # All rows tell the value better than a sample does, but not what it was chosen over.
            unsure = 0.0 if every is None else paired_error(divergence, ratios, rival, level)
        below, above = max(below, value - theirs + unsure), max(above, theirs - value + unsure)
    above = max(above, further_end(divergence, ratios, crossfit.smaller))
    if every is not None and every.without:
        error = every.std_error(divergence, ratios[2:], level)
    else:
        error = divergence_std_error(divergence, ratios, crossfit.without, influence, level)
    if every is not None:
        # The error of a fit to the sample is larger than that of the means over all rows.
        value = every.binned.value(divergence)
    return divergence.estimate(value, error, (below, above), level=level, method="delta")


def with_proven_ends(
    found: Estimate,
    divergence: Divergence,
    ratios: Ratios,
    columns: tuple[Array, Array],
    reason: str = "",
) -> Estimate:
    """With a lower end that holds for any ratio, and no upper end where there is a reason.

    Parameters
    ----------
    found : Estimate
        As the fit has it.
    divergence, ratios
        As in :func:`by_fit`.
    columns : (ndarray, ndarray)
        The rows of p and of q.
    reason : str
        Why the upper end is not known.
    """
    low = lower_end(*ratios, divergence=divergence, level=found.level, columns=columns).low
    low = min(low, divergence.upper) if low > _NOTHING else 0.0
    if not reason:
        # What is proven of single columns, or by thresholds, is proven.
        low = min(max(found.low, low), found.high)
        return replace(found, low=low, value=max(found.value, low))
    return replace(
        found,
        value=max(found.value, low),
        low=low,
        high=divergence.upper,
        method="bound",
        reason=reason,
    )


def few_rows(divergence: Divergence, ratios: Ratios, every: AllRows | None = None) -> str:
    """Why a divergence has no upper end, where a few rows decide it; empty where many do."""
    if every is not None:
        rests_on = every.binned.rests_on(divergence)
    else:
        rests_on = divergence.rests_on(*ratios)
    return words.objection(["tails"]) if rests_on < _FEW else ""
