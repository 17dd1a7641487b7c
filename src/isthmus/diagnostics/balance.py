"""Whether rows of q, weighted by the ratio, have the means of p."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from ..data.sample import Sample
from ..functionals import effective_sample_size
from ..typing import Array
from ..words import listed, printable
from .check import Check, Verdict, advised
from .columns import column_blocks
from .evidence import Evidence

_LEAST_SIZE = 30.0
"""Effective rows below which a weighted mean has no standard error to speak of."""

_TOP_ROWS = 20
"""No row of q counts more than that with the so many largest weight."""

_RISK = 0.01
"""Chance, for all columns together, that a right ratio is said to be out of balance."""

_SOME, _MUCH, _LITTLE = 0.1, 0.25, 0.05
"""Standard deviations of p by which a mean may be off: for a warning, for a failure, and for a
failure where the weights have moved it away."""


def check_balance(
    p: Sample,
    q: Sample,
    log_ratio_p: Array,
    log_ratio_q: Array,
    names: Sequence[str] | None = None,
) -> Check | None:
    r"""Whether means over rows of q, weighted by p/q, are the means over rows of p.

    If the ratio r is right, :math:`E_q[x_j\,r] = E_p[x_j]` for every column j, and for any c

    .. math:: E_q[x_j \min(r, c)] = E_p[x_j \min(1, c / r)],

    with the largest weights cut off on one side and rows of p where they lie counting less
    on the other. With c the twentieth largest weight no mean hangs on a few rows. The gap is judged
    by its standard error, in which q's rows count as many as their weights leave of them,
    and by its size: weights that move a mean away from p's do harm however small it is.

    Parameters
    ----------
    p, q : Sample
        Rows of p and of q with their weights; missing values are left out.
    log_ratio_p, log_ratio_q : ndarray of shape (n_p,) and (n_q,)
        Log p/q at the rows, by a model that has not seen them.
    names : sequence of str, optional
        Names of the columns, by default "x0", "x1", ...

    Returns
    -------
    Check or None
        Its value is the largest gap in standard errors. None where fewer than 30 rows of q
        carry the weight, which is a failure of another check.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0.5, 1, (2000, 1)), rng.normal(0, 1, (2000, 1))
    >>> def verdict(slope):
    ...     t_p, t_q = (slope * (x[:, 0] - 0.25) for x in (p, q))
    ...     return check_balance(Sample.of(p), Sample.of(q), t_p, t_q).verdict
    >>> verdict(0.5), verdict(0.0), verdict(-0.5)
    ('ok', 'fail', 'fail')
    """
    log_weight = log_ratio_q + np.log(np.maximum(q.weight, 1e-300))
    if not np.isfinite(log_weight.max()) or effective_sample_size(log_weight) < _LEAST_SIZE:
        return None
    most = np.sort(log_ratio_q)[-_TOP_ROWS]
    weighted = Sample(q.rows, q.weight * np.exp(np.minimum(log_ratio_q - most, 0.0)))
    reached = Sample(p.rows, p.weight * np.exp(np.minimum(most - log_ratio_p, 0.0)))
    spread, mean_q = column_moments(p)[2], column_moments(q)[0]
    (mean_p, error_p, _), (mean_w, error_w, _) = column_moments(reached), column_moments(weighted)
    scale = np.where(spread > 0, spread, np.inf)
    error = np.maximum(np.hypot(error_p, error_w), 1e-12 * np.abs(mean_p) + 1e-300)
    score = np.abs(mean_w - mean_p) / error
    left, before = np.abs(mean_w - mean_p) / scale, np.abs(mean_q - mean_p) / scale
    sure = score > -float(ndtri(0.5 * _RISK / len(score)))
    away = sure & (left > np.maximum(before, _LITTLE))
    bad, some = sure & ((left > _MUCH) | away), sure & (left > _SOME)
    verdict: Verdict = "fail" if bad.any() else "warn" if some.any() else "ok"
    found = np.flatnonzero(bad if bad.any() else some)
    found = found[np.argsort(-left[found], kind="stable")]
    told = [printable(names[int(j)], 40) if names is not None else f"x{j}" for j in found]
    said = listed(
        [
            f"{name} by {left[j]:.2f} standard deviations, {before[j]:.2f} without weights"
            for name, j in zip(told, found, strict=True)
        ],
        3,
    )
    return advised(
        float(score.max()),
        verdict,
        ok="Rows of q, weighted by p/q, have the means of p in every column.",
        warn=f"Weighted by p/q, means of q miss those of p: {said}. Use the weights with care.",
        fail=f"Weighted by p/q, means of q miss those of p: {said}. Do not reweight q with these; "
        "try another critic, or leave the settings at 'auto'.",
        concerns="weights",
        details={
            "columns": [int(j) for j in found],
            "names": told,
            "gaps": left.tolist(),
            "before": before.tolist(),
        },
    )


def balance(e: Evidence) -> Check | None:
    """Over some rows of both samples, in the columns as they were encoded."""
    comparison, kept = e.comparison, e.comparison.kept
    p, q = comparison.samples
    names = [
        name for name, block in column_blocks(comparison) for _ in range(block.start, block.stop)
    ]
    return check_balance(
        Sample(kept.p, p.weight[kept.at_p]),
        Sample(kept.q, q.weight[kept.at_q]),
        comparison.crossfit.log_ratio_p[kept.at_p],
        comparison.crossfit.log_ratio_q[kept.at_q],
        names,
    )


def column_moments(sample: Sample) -> tuple[Array, Array, Array]:
    """Weighted mean of every column, its standard error, and the standard deviation."""
    there = np.isfinite(sample.rows)
    x = np.where(there, sample.rows, 0.0)
    share = there * sample.weight[:, None]
    share /= np.maximum(share.sum(axis=0), 1e-300)
    mean = (share * x).sum(axis=0)
    square = np.where(there, x - mean, 0.0) ** 2
    return (
        mean,
        np.sqrt((share**2 * square).sum(axis=0)),
        np.sqrt((share * square).sum(axis=0)),
    )
