"""Checks and means over the row axis, shared by every functional."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from isthmus.typing import Array


def check_log_ratio(name: str, log_ratio: npt.ArrayLike) -> Array:
    """Log-ratios as float64 with a nonempty last axis and no NaN; infinities are allowed."""
    try:
        t = np.asarray(log_ratio, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of numbers, got {type(log_ratio).__name__}"
        ) from error
    if t.ndim == 0 or t.size == 0:
        raise ValueError(f"{name} must have at least one axis and one row, got shape {t.shape}")
    n_nan = int(np.count_nonzero(np.isnan(t)))
    if n_nan:
        raise ValueError(f"{name} must not contain NaN, got {n_nan} NaN among {t.size} values")
    return t


def check_rows(
    name: str, log_ratio: npt.ArrayLike, weight_name: str, weight: npt.ArrayLike | None
) -> tuple[Array, Array | None]:
    """Log-ratios, and weights that sum to one over rows.

    Rows without weight get the log-ratio 0, where every term of every
    functional is finite: otherwise 0 * inf would turn a row that does not
    count into NaN.
    """
    t = check_log_ratio(name, log_ratio)
    if weight is None:
        return t, None
    w = check_log_ratio(weight_name, weight)
    if np.any(w < 0) or not np.all(np.isfinite(w)):
        raise ValueError(
            f"{weight_name} must be finite and at least 0, got values from {w.min()} to {w.max()}"
        )
    if w.shape[-1] != t.shape[-1]:
        raise ValueError(
            f"{weight_name} must have one value for each of the {t.shape[-1]} rows of {name}, "
            f"got shape {w.shape}"
        )
    try:
        np.broadcast_shapes(t.shape, w.shape)
    except ValueError as error:
        raise ValueError(
            f"{weight_name} must broadcast against {name} of shape {t.shape}, got shape {w.shape}"
        ) from error
    peak = w.max(axis=-1, keepdims=True)
    if np.any(peak == 0):
        raise ValueError(f"{weight_name} must be positive for some row, got only zeros")
    w = w / peak  # first, so that the sum cannot overflow
    return np.where(w > 0, t, 0.0), w / w.sum(axis=-1, keepdims=True)


def mean(terms: Array, weight: Array | None) -> Array:
    """Mean over rows; weights sum to one already.

    Raises where +inf and -inf meet, because no value would be right.
    """
    infinite = np.isinf(terms)
    if infinite.any():
        clash = (infinite & (terms > 0)).any(axis=-1) & (infinite & (terms < 0)).any(axis=-1)
        if clash.any():
            raise ValueError(
                "log-ratios must not lead to both +inf and -inf terms in one mean, "
                "got both: the mean is undefined"
            )
    else:
        peak = np.abs(terms).max()
        if peak > 1e300:  # the sum may overflow although the mean does not
            return np.asarray(peak * mean(terms / peak, weight))
    if weight is None:
        return np.asarray(terms.mean(axis=-1))
    return np.asarray((terms * weight).sum(axis=-1))


def log_mean_exp(exponents: Array, weight: Array | None) -> Array:
    """Logarithm of the mean of exp(exponents) over rows, without overflow."""
    if weight is None:
        return np.asarray(logsumexp(exponents, axis=-1) - np.log(exponents.shape[-1]))
    return np.asarray(logsumexp(exponents, axis=-1, b=weight))


def add(a: Array, b: Array) -> Array:
    """Sum of a and b, refusing inf - inf."""
    if np.any(np.isinf(a) & np.isinf(b) & (np.sign(a) != np.sign(b))):
        raise ValueError(
            "log_r_p and log_r_q must not lead to infinities of opposite sign, "
            "got both: their sum is undefined"
        )
    return np.asarray(a + b)


def plain(a: Array) -> float | Array:
    """Return a Python float for a single number, the array otherwise."""
    return float(a) if a.ndim == 0 else a


def exp(x: Array) -> Array:
    """Take exp(x), which may reach inf in silence; callers decide what an infinity means."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(x))


def expm1(x: Array) -> Array:
    """Take exp(x) - 1, which may reach inf in silence."""
    with np.errstate(over="ignore"):
        return np.asarray(np.expm1(x))
