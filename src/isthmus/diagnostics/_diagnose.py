"""All checks of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._affine import canonical_map
from .._kept import KeptRows
from .._random import Seeds
from .._typing import Array
from ..functionals import effective_sample_size, get_divergence
from ..functionals.intervals import choice_std_error
from .agreement import alternatives, check_agreement
from .calibration import check_calibration
from .chasm import check_chasm, others_of
from .check import Check
from .checks import (
    COVERED,
    check_accuracy,
    check_anchors,
    check_bridge,
    check_convergence,
    check_effective_size,
    check_flexibility,
    check_normalisation,
    check_rising,
    check_support,
)
from .difference import check_difference
from .tails import check_pareto, check_precision, check_tails
from .two_sample import run_test

FRESH_ROWS = 20_000
_TEST_ROWS = 2000
_PERMUTATIONS = 999
_CROSSING = {"TRE", "FDRE", "DREInfinity", "PlugIn"}


def diagnose(c: Any) -> dict[str, Check]:
    """Make every check that applies to a comparison, by name.

    Parameters
    ----------
    c : Comparison
    """
    checks: dict[str, Check] = {}
    model, weighted = c.estimator, c.weight_p is not None or c.weight_q is not None
    if c._solutions:
        checks["convergence"] = check_convergence([model.solution_, *c._solutions])
    if c._accuracies:
        correct = (c.log_ratio_p > 0).mean() + (c.log_ratio_q < 0).mean()
        mean = np.mean(c._accuracies, axis=0)
        checks["accuracy"] = check_accuracy(
            dict(zip(model.class_names_, mean.tolist(), strict=True)), 0.5 * float(correct)
        )
    checks["normalisation_q"] = _normalisation(c, "p", "q")
    checks["normalisation_p"] = _normalisation(c, "q", "p")
    checks["effective_sample_size"] = check_effective_size(c.log_ratio_q, c.weight_q)
    checks["pareto"] = check_pareto(c.log_ratio_q, c.weight_q)
    checks["tails"] = check_tails(c.log_ratio_p, c.weight_p)
    kl = c.kl
    checks["precision"] = check_precision(kl, _choice(model))
    sides = (c.log_ratio_p, c.log_ratio_q, c.weight_p, c.weight_q)
    checks["calibration"] = check_calibration(*sides)
    sample = getattr(model, "_labelled", None)
    inner, kept = sample is not None, getattr(c, "_rows", None)
    if sample is not None:
        p, q = sample.X[sample.label == 0], sample.X[sample.label == 1]
        checks["support"] = check_support(p, q)
        if not weighted:
            checks["flexibility"] = check_flexibility(p, q, c.log_ratio_p, c.log_ratio_q)
    elif isinstance(kept, KeptRows) and np.isfinite(kept.p).all() and np.isfinite(kept.q).all():
        # A classifier has no coordinates of its own.
        white = canonical_map(kept.p, kept.q, None, None, warn=False)
        checks["support"] = check_support(white(kept.p), white(kept.q))
    selection = getattr(model, "selection_", None)
    if selection is not None and selection.by_anchor:
        checks["anchors"] = check_anchors(selection.by_anchor)
    if selection is not None and selection.trials:
        checks["rising"] = check_rising(selection.rising)
    if inner and model.auxiliaries_:
        checks["bridge"] = check_bridge(_nearest(model), np.isfinite(model.l2_))
    if isinstance(kept, KeptRows):
        checks["chasm"] = _chasm(c, kept)
        if not weighted:
            own, error, found = alternatives(c, kept)
            fitting = {one.name: one.kl for one in found if one.fits}
            if found:
                checks["agreement"] = check_agreement(own, fitting, error)
            rows = [_spaced(part, _TEST_ROWS) for part in (kept.p, kept.q)]
            test = run_test(rows[0], rows[1], _PERMUTATIONS, Seeds(0))
            checks["difference"] = check_difference(test, kl, len(rows[0]), len(rows[1]))
    return checks


def reach(c: Any, top: str) -> float:
    """Share of the rows of one sample whose ratio the other sample attains too."""
    if top == "p":
        return float((c.log_ratio_p <= c.log_ratio_q.max()).mean())
    return float((c.log_ratio_q >= c.log_ratio_p.min()).mean())


def _normalisation(c: Any, top: str, bottom: str) -> Check:
    """Check that E_bottom[top/bottom] is one, on rows that can tell."""
    sign = 1.0 if top == "p" else -1.0
    log_ratio, weight = (
        (c.log_ratio_q, c.weight_q) if bottom == "q" else (c.log_ratio_p, c.weight_p)
    )
    terms, what, how = sign * log_ratio, f"E_{bottom}[{top}/{bottom}]", f"the rows of {bottom}"
    model = c.estimator
    auxiliaries = getattr(model, "auxiliaries_", [])
    apart = reach(c, top) < COVERED
    if apart and auxiliaries:
        # Across the chasm no row of the denominator carries the expectation. Over an
        # auxiliary the same integral, the total mass of the numerator, can be seen.
        most = -1.0
        for name, auxiliary in zip(model.class_names_[2:], auxiliaries, strict=True):
            rows = np.asarray(auxiliary.sample(FRESH_ROWS, Seeds(0)(name)))
            # As densities, before the constant that makes log-ratios unbiased.
            candidate = model.log_ratio(rows, top, name) + _bias(model, top, name)
            if not (candidate > -np.inf).any():
                continue
            size = float(effective_sample_size(candidate))
            if size > most:
                most, terms, weight = size, candidate, None
                what, how = f"E_{name}[{top}/{name}]", f"rows of {name}"
    check = check_normalisation(terms, weight, what, how)
    if apart and how == f"the rows of {bottom}" and check.value < 1.0:
        told = f"{bottom} has no rows where {top} has most of its mass, which cannot be checked."
        return Check(check.value, "ok", told, details=check.details)
    return check


def _bias(model: Any, top: str, bottom: str) -> float:
    bias = getattr(model._setup, "bias", np.zeros(len(model.class_names_)))
    top_bias, bottom_bias = (bias[model.class_names_.index(c)] for c in (top, bottom))
    return float(top_bias - bottom_bias)


def _nearest(model: Any) -> dict[str, float]:
    """For p and for q, how surely the auxiliary nearest to it is told from it."""
    out = {"p": 1.0, "q": 1.0}
    classes = model._setup.classes
    for name in out:
        c = model.class_names_.index(name)
        own = classes.rows[c][:FRESH_ROWS]
        for k, other in enumerate(model.class_names_[2:], 2):
            rows = classes.rows[k][:: -(-len(classes.rows[k]) // FRESH_ROWS)]
            right = np.mean(model.log_ratio(own, name, other) > 0)
            right += np.mean(model.log_ratio(rows, name, other) < 0)
            out[name] = min(out[name], 0.5 * float(right))
    return out


def _choice(model: Any) -> float:
    """What of the KL's standard error is doubt about the anchors, which has checks of its own."""
    return choice_std_error(get_divergence("kl"), model) if hasattr(model, "l2_") else 0.0


def _chasm(c: Any, kept: KeptRows) -> Check:
    model = c.estimator
    rows = {"p": _spaced(kept.p, _TEST_ROWS), "q": _spaced(kept.q, _TEST_ROWS)}
    return check_chasm(
        others_of(c, rows),
        joined=bool(len(getattr(model, "auxiliaries_", []))),
        learned=bool(np.isfinite(getattr(model, "l2_", 0.0)).any()) and not _crosses(model),
        anchored=bool(len(getattr(model, "anchors_", []))),
    )


def _crosses(model: Any) -> bool:
    """Whether an estimator joins the samples by itself: by waymarks, paths or densities."""
    return type(model).__name__ in _CROSSING


def _spaced(rows: Array, most: int) -> Array:
    return rows[np.unique(np.linspace(0, len(rows) - 1, most).astype(np.intp))]
