"""The largest weights, smoothed: they are draws of a tail, and the tail is less noisy than they."""

from __future__ import annotations

import numpy as np

from ..diagnostics.pareto import generalised_pareto, pareto_k, tail_size
from ..typing import Array

_HEAVY = 0.5
"""Pareto's k from which weights have no variance: lighter tails are left as they are."""


def pareto_smoothed(log_weight: Array) -> tuple[Array, int]:
    r"""Log-weights whose largest ones are the expected ones of a generalised Pareto distribution.

    The largest :math:`M = \min(n/5, 3\sqrt n)` weights are replaced by the M quantiles of the
    distribution that is fitted to them, none by more than the largest there was, if its shape k
    is above 1/2: the weights then have no variance. Rows of equal weight keep equal weights.

    Parameters
    ----------
    log_weight : ndarray of shape (n,)

    Returns
    -------
    log_weight : ndarray of shape (n,)
    count : int
        How many were replaced; 0 where the tail is light or cannot be fitted.

    References
    ----------
    Vehtari, Simpson, Gelman, Yao & Gabry (2024), Pareto smoothed importance sampling.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> raw = 0.8 * rng.exponential(size=1000)
    >>> smooth, count = pareto_smoothed(raw)
    >>> count, bool(smooth.max() <= raw.max())
    (95, True)
    """
    k = pareto_k(log_weight)
    if not _HEAVY < k < np.inf:
        return log_weight, 0
    count = tail_size(len(log_weight))
    order = np.argsort(log_weight, kind="stable")
    tail, peak = order[-count:], float(log_weight.max())
    cutoff = np.exp(max(float(log_weight[order[-count - 1]]) - peak, -700.0))
    raw = np.exp(log_weight[tail] - peak)
    if not (raw - cutoff > 0).all():
        # Some of the tail are as large as the next one: rows of a few kinds, with no tail.
        return log_weight, 0
    shape, scale = generalised_pareto(raw - cutoff)
    probability = (np.arange(count) + 0.5) / count
    if abs(shape) > 1e-8:
        quantile = scale * np.expm1(-shape * np.log1p(-probability)) / shape
    else:
        quantile = -scale * np.log1p(-probability)
    smooth = np.minimum(cutoff + quantile, 1.0)
    _, place = np.unique(raw, return_inverse=True)
    smooth = (np.bincount(place, smooth) / np.bincount(place))[place]
    out = log_weight.copy()
    out[tail] = np.log(smooth) + peak
    return out, count
