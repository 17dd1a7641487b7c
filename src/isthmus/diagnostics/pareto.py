"""The shape of a tail: a generalised Pareto distribution fitted to the largest values."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ..typing import Array

_LEAST_TAIL = 5


def pareto_k(log_weight: Array) -> float:
    r"""Shape of the tail of importance weights, the k of PSIS.

    The largest :math:`M = \min(n/5, 3\sqrt n)` weights, less the next one, are taken for
    draws of a generalised Pareto distribution. Means of the weights have a finite
    variance only if k < 1/2, and settle down in practice up to k = 0.7 (Vehtari, Simpson,
    Gelman, Yao & Gabry, 2024, "Pareto smoothed importance sampling").

    Parameters
    ----------
    log_weight : ndarray of shape (n,)
        Logarithms of the weights; minus infinity is a weight of zero.

    Returns
    -------
    float
        Minus infinity if the largest weights are all equal: there is no tail. Infinity if
        there are too few rows to tell, or fewer than five weights that are not zero.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> k = pareto_k(0.8 * rng.exponential(size=5000))  # Pareto with k = 0.8
    >>> abs(k - 0.8) < 0.3
    True
    """
    count = tail_size(len(log_weight))
    top = np.sort(log_weight)[::-1]
    if count < _LEAST_TAIL or len(top) <= count or not np.isfinite(top[count - 1]):
        return np.inf
    cutoff = max(float(top[count]), float(top[0]) - 700.0)
    excess = np.exp(top[:count] - top[0]) - np.exp(cutoff - top[0])
    excess = excess[excess > 0]
    if len(excess) < _LEAST_TAIL:
        # All of the tail is one value; or one row has all the weight there is.
        return -np.inf if top[0] - top[count - 1] < 1e-12 else np.inf
    return generalised_pareto_shape(excess)


def tail_size(n: int) -> int:
    """How many of n weights are the tail."""
    return int(np.ceil(min(0.2 * n, 3.0 * np.sqrt(n))))


def generalised_pareto_shape(excess: Array) -> float:
    """Shape k of a generalised Pareto distribution, from by how much values exceed a threshold."""
    return generalised_pareto(excess)[0]


def generalised_pareto(excess: Array) -> tuple[float, float]:
    """Shape k and scale of a generalised Pareto distribution, from what exceeds a threshold.

    The estimate of Zhang and Stephens (2009): the profile likelihood in b = -k / scale,
    averaged over a grid of b under a weak prior; then, for few rows, drawn towards 1/2 as
    by ten rows of that shape (Vehtari et al., 2024, appendix C).
    """
    x = np.sort(excess)
    n = len(x)
    grid = 30 + int(np.sqrt(n))
    quarter = x[int(n / 4 + 0.5) - 1]
    steps = np.arange(1, grid + 1) - 0.5
    b = 1.0 / x[-1] + (1.0 - np.sqrt(grid / steps)) / (3.0 * quarter)
    shape = np.log1p(-b[:, None] * x).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        profile = n * (np.log(-b / shape) - shape - 1.0)
    profile = np.where(np.isfinite(profile), profile, -np.inf)
    share = np.exp(profile - logsumexp(profile))
    mean = float(share @ b)
    k = float(np.log1p(-mean * x).mean())
    return (n * k + 5.0) / (n + 10.0), -k / mean
