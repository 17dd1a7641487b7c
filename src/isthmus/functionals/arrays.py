"""Checks and means over the row axis, shared by every functional."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from ..typing import Array


class Ratios(NamedTuple):
    """Log-ratios at rows of p and of q, and the shares of these rows, which add up to one."""

    p: Array
    q: Array
    share_p: Array
    share_q: Array


def check_ratios(
    log_r_p: npt.ArrayLike,
    log_r_q: npt.ArrayLike,
    weight_p: npt.ArrayLike | None,
    weight_q: npt.ArrayLike | None,
) -> Ratios:
    """Log-ratios and weights of both samples, checked; rows without weights count equally."""
    p, share_p = _check_rows("log_r_p", log_r_p, "weight_p", weight_p)
    q, share_q = _check_rows("log_r_q", log_r_q, "weight_q", weight_q)
    return Ratios(p, q, share_p, share_q)


def check_log_ratio(name: str, log_ratio: npt.ArrayLike) -> Array:
    """Log-ratios as float64 with a nonempty last axis and no NaN; infinities are allowed."""
    try:
        t = np.asarray(log_ratio, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of numbers; received a {type(log_ratio).__name__}."
        ) from error
    if t.ndim == 0 or t.size == 0:
        raise ValueError(
            f"{name} must have at least one axis and one row; received shape {t.shape}."
        )
    n_nan = int(np.count_nonzero(np.isnan(t)))
    if n_nan:
        raise ValueError(
            f"{name} must not contain NaN; received {n_nan} NaN among {t.size} values."
        )
    return t


def _check_rows(
    name: str, log_ratio: npt.ArrayLike, weight_name: str, weight: npt.ArrayLike | None
) -> tuple[Array, Array]:
    t = check_log_ratio(name, log_ratio)
    n = t.shape[-1]
    if weight is None:
        return t, np.full(n, 1.0 / n)
    w = check_log_ratio(weight_name, weight)
    if np.any(w < 0) or not np.all(np.isfinite(w)):
        raise ValueError(
            f"{weight_name} must be finite and at least 0; received values from {w.min()} to "
            f"{w.max()}."
        )
    axes = zip(t.shape[-2::-1], w.shape[-2::-1], strict=False)
    if w.shape[-1] != n or not all(a == b or 1 in (a, b) for a, b in axes):
        raise ValueError(
            f"{weight_name} must have one value for each of the {n} rows of {name} and broadcast "
            f"against its shape {t.shape}; received shape {w.shape}."
        )
    peak = w.max(axis=-1, keepdims=True)
    if np.any(peak == 0):
        raise ValueError(f"{weight_name} must be positive for some row; received only zeros.")
    w = w / peak  # first, so that the sum cannot overflow
    # Every term of every functional is finite at the log-ratio 0: otherwise 0 * inf would
    # turn a row that does not count into NaN.
    return np.where(w > 0, t, 0.0), w / w.sum(axis=-1, keepdims=True)


def mean(terms: Array, share: Array) -> Array:
    """Mean over rows. Raises where +inf and -inf meet, because no value would be right."""
    infinite = np.isinf(terms)
    if infinite.any():
        clash = (infinite & (terms > 0)).any(axis=-1) & (infinite & (terms < 0)).any(axis=-1)
        if clash.any():
            raise ValueError(
                "Log-ratios must not lead to both +inf and -inf terms in one mean; received both: "
                "the mean is undefined."
            )
    else:
        peak = np.abs(terms).max()
        if peak > 1e300:  # the sum may overflow although the mean does not
            return np.asarray(peak * mean(terms / peak, share))
    return np.asarray((terms * share).sum(axis=-1))


def log_mean_exp(exponents: Array, share: Array) -> Array:
    """Logarithm of the mean of exp(exponents) over rows, without overflow."""
    return np.asarray(logsumexp(exponents, axis=-1, b=share))


def add(a: Array, b: Array) -> Array:
    """Sum of a and b, refusing inf - inf."""
    if np.any(np.isinf(a) & np.isinf(b) & (np.sign(a) != np.sign(b))):
        raise ValueError(
            "log_r_p and log_r_q must not lead to infinities of opposite sign; received both: "
            "their sum is undefined."
        )
    return np.asarray(a + b)


def float_or_array(a: Array) -> float | Array:
    """Return a Python float for a single number, the array otherwise."""
    return float(a) if a.ndim == 0 else a


@np.errstate(over="ignore")
def exp(x: Array) -> Array:
    """Take exp(x), which may reach inf in silence; callers decide what an infinity means."""
    return np.asarray(np.exp(x))


@np.errstate(over="ignore")
def expm1(x: Array) -> Array:
    """Take exp(x) - 1, which may reach inf in silence."""
    return np.asarray(np.expm1(x))
