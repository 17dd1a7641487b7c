"""All checks of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.kept import KeptRows
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..functionals import effective_sample_size, get_divergence
from ..maps.affine import canonical_map
from ..model.classes import CriticModel
from ..typing import Array
from ..uncertainty.delta import choice_std_error
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


def diagnose(c: Any) -> dict[str, Check]:
    """Make every check that applies to a comparison, by name.

    Parameters
    ----------
    c : Comparison
    """
    checks: dict[str, Check] = {}
    estimator, crossfit = c.estimator, c.crossfit
    model = getattr(estimator, "model_", None)
    if crossfit.solutions:
        checks["convergence"] = check_convergence([estimator.solution_, *crossfit.solutions])
    if crossfit.accuracies and isinstance(model, CriticModel):
        correct = (c.log_ratio_p > 0).mean() + (c.log_ratio_q < 0).mean()
        mean = np.mean(crossfit.accuracies, axis=0)
        checks["accuracy"] = check_accuracy(
            dict(zip(model.class_names, mean.tolist(), strict=True)), 0.5 * float(correct)
        )
    checks["normalisation_q"] = _normalisation(c, "p", "q")
    checks["normalisation_p"] = _normalisation(c, "q", "p")
    checks["effective_sample_size"] = check_effective_size(c.log_ratio_q, c.weight_q)
    checks["pareto"] = check_pareto(c.log_ratio_q, c.weight_q)
    checks["tails"] = check_tails(c.log_ratio_p, c.weight_p)
    kl = c.kl
    checks["precision"] = check_precision(kl, choice_std_error(get_divergence("kl"), estimator))
    checks["calibration"] = check_calibration(*c.ratios)
    checks |= _places(c)
    selection = getattr(estimator, "selection_", None)
    if selection is not None and selection.by_anchor:
        checks["anchors"] = check_anchors(selection.by_anchor)
    if selection is not None and selection.trials:
        checks["rising"] = check_rising(selection.rising)
    if c.class_rows is not None and estimator.auxiliaries_:
        checks["bridge"] = check_bridge(_nearest(c), bool(np.isfinite(estimator.l2_)))
    checks["chasm"] = _chasm(c, c.kept)
    if not c.samples.weighted:
        own, error, found = alternatives(c, c.kept)
        fitting = {one.name: one.kl for one in found if one.fits}
        if found:
            checks["agreement"] = check_agreement(own, fitting, error)
        rows = [_spaced(part, _TEST_ROWS) for part in (c.kept.p, c.kept.q)]
        test = run_test(rows[0], rows[1], _PERMUTATIONS, Seeds(0))
        checks["difference"] = check_difference(test, kl, len(rows[0]), len(rows[1]))
    return checks


def _places(c: Any) -> dict[str, Check]:
    """Checks on where the rows of p and of q lie."""
    if c.class_rows is not None:
        p, q = (sample.rows for sample in c.class_rows.inside)
        out = {"support": check_support(p, q)}
        if not c.samples.weighted:
            out["flexibility"] = check_flexibility(p, q, c.log_ratio_p, c.log_ratio_q)
        return out
    if not c.kept.finite:
        return {}
    # A classifier has no coordinates of its own.
    white = canonical_map(TwoSamples.of(c.kept.p, c.kept.q), warn=False)
    return {"support": check_support(white(c.kept.p), white(c.kept.q))}


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
    model = getattr(c.estimator, "model_", None)
    auxiliaries = getattr(c.estimator, "auxiliaries_", [])
    apart = reach(c, top) < COVERED
    if apart and isinstance(model, CriticModel) and auxiliaries:
        # Across the chasm no row of the denominator carries the expectation. Over an
        # auxiliary the same integral, the total mass of the numerator, can be seen.
        most = -1.0
        for name, auxiliary in zip(model.class_names[2:], auxiliaries, strict=True):
            rows = np.asarray(auxiliary.sample(FRESH_ROWS, Seeds(0)(name)))
            # As densities, before the constant that makes log-ratios unbiased.
            candidate = model.log_ratio(rows, top, name) + _bias(model, top, name)
            if not (candidate > -np.inf).any():
                continue
            size = float(effective_sample_size(candidate))
            if size > most:
                most, terms, weight = size, candidate, np.ones(len(candidate))
                what, how = f"E_{name}[{top}/{name}]", f"rows of {name}"
    check = check_normalisation(terms, weight, what, how)
    if apart and how == f"the rows of {bottom}" and check.value < 1.0:
        told = f"{bottom} has no rows where {top} has most of its mass, which cannot be checked."
        return Check(check.value, "ok", told, details=check.details)
    return check


def _bias(model: CriticModel, top: str, bottom: str) -> float:
    top_bias, bottom_bias = (model.bias[model.class_names.index(c)] for c in (top, bottom))
    return float(top_bias - bottom_bias)


def _nearest(c: Any) -> dict[str, float]:
    """For p and for q, how surely the auxiliary nearest to it is told from it."""
    out = {"p": 1.0, "q": 1.0}
    model, names = c.estimator.model_, c.class_rows.class_names
    given = [sample.rows for sample in c.class_rows.given]
    for name in out:
        own = given[names.index(name)][:FRESH_ROWS]
        for k, other in enumerate(names[2:], 2):
            rows = given[k][:: -(-len(given[k]) // FRESH_ROWS)]
            right = np.mean(model.log_ratio(own, name, other) > 0)
            right += np.mean(model.log_ratio(rows, name, other) < 0)
            out[name] = min(out[name], 0.5 * float(right))
    return out


def _chasm(c: Any, kept: KeptRows) -> Check:
    rows = {"p": _spaced(kept.p, _TEST_ROWS), "q": _spaced(kept.q, _TEST_ROWS)}
    crosses = getattr(c.estimator, "crosses_chasm", False)
    return check_chasm(
        others_of(c, rows),
        joined=bool(len(getattr(c.estimator, "auxiliaries_", []))),
        learned=bool(np.isfinite(getattr(c.estimator, "l2_", 0.0)).any()) and not crosses,
        anchored=bool(len(getattr(c.estimator, "anchors_", []))),
    )


def _spaced(rows: Array, most: int) -> Array:
    return rows[np.unique(np.linspace(0, len(rows) - 1, most).astype(np.intp))]
