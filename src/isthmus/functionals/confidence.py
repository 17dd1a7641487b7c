"""Confidence bounds: a KL divergence that is at least so large, whatever the model."""

from __future__ import annotations

import math
import warnings

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from isthmus.functionals.arrays import check_rows, mean
from isthmus.functionals.bounds import donsker_varadhan
from isthmus.functionals.estimate import Estimate
from isthmus.functionals.weights import effective_sample_size
from isthmus.typing import Array

METHODS = ("normal", "bernstein")

# Below this number of effective rows of q the mean of exp(t) cannot be trusted.
_FEW_ROWS = 30.0
# Rows of q miss the share of p's mass that lies beyond their largest log-ratio, and the
# logarithm of the mean is too small by about as much.
_REACHED = 0.95


def kl_lower_bound(
    log_r_p: npt.ArrayLike,
    log_r_q: npt.ArrayLike,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
    *,
    level: float = 0.95,
    method: str = "normal",
    fold_p: npt.ArrayLike | None = None,
    fold_q: npt.ArrayLike | None = None,
) -> Estimate:
    r"""One-sided confidence bound: KL(p‖q) is at least ``low``, with probability ``level``.

    For any function t, :math:`KL(p\|q) \ge E_p[t] - \log E_q[e^t]` (Donsker & Varadhan).
    With t from a model that has not seen the rows, the two means are taken over rows
    and their error is allowed for. A bad model makes the bound low, not wrong.

    Parameters
    ----------
    log_r_p, log_r_q : array-like of shape (n_p,) and (n_q,)
        Values of t at rows of p and of q that the model has not seen.
    weight_p, weight_q : array-like, optional
        Weights of the rows; for "normal" only.
    level : float
        Probability with which the bound holds.
    method : {"normal", "bernstein"}
        "normal" subtracts the normal quantile times a standard error by the delta method.
        It assumes independent rows and so many of them that both means are about
        normal, which fails where few rows of q carry the mean of exp(t).
        "bernstein" assumes independent rows and nothing else: t is cut off at ±B and
        both means are bounded by empirical Bernstein inequalities. It tries several B and
        counts them. No such bound can exceed the logarithm of the number of rows by much
        (McAllester & Stratos 2020): across a chasm it says "at least some nats".
    fold_p, fold_q : array-like of int, optional
        Which of several models, each fitted without these rows, t comes from. For
        "bernstein" each fold has a bound of its own, at a higher level, and the largest of
        them is returned; for "normal" folds make no difference.

    Returns
    -------
    Estimate
        ``low`` is the bound, at least 0; ``high`` is infinite; ``value`` is the
        Donsker-Varadhan estimate.

    Warns
    -----
    UserWarning
        With "normal", if too few rows of q lie where p has its mass.

    Notes
    -----
    For a mutual information p is the joint distribution and q the product of the
    marginals. Rows of q must be independent too: pair x of one half of the
    held-out rows with y of the other half, and take the rows of p from a third part.

    References
    ----------
    Maurer & Pontil (2009), COLT, theorem 4. McAllester & Stratos (2020), AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import kl_lower_bound
    >>> rng = np.random.default_rng(0)
    >>> t_p, t_q = rng.normal(1, 1, 5000) - 0.5, rng.normal(0, 1, 5000) - 0.5
    >>> for method in ("normal", "bernstein"):  # the truth is 0.5
    ...     print(method, round(kl_lower_bound(t_p, t_q, method=method).low, 2))
    normal 0.45
    bernstein 0.34
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {method!r}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    t_p, w_p = check_rows("log_r_p", log_r_p, "weight_p", weight_p)
    t_q, w_q = check_rows("log_r_q", log_r_q, "weight_q", weight_q)
    if t_p.ndim > 1 or t_q.ndim > 1:
        raise ValueError(
            f"log_r_p and log_r_q must have one axis, got shapes {t_p.shape} and {t_q.shape}"
        )
    if np.isposinf(t_q).any():
        raise ValueError("log_r_q must be below +inf: at rows of q the ratio p/q is finite")
    value = float(donsker_varadhan(t_p, t_q, w_p, w_q))
    error = _std_error(t_p, t_q, w_p, w_q)
    if method == "normal":
        _warn_of_few(t_p, t_q, w_p)
        low = value - float(ndtri(level)) * error if math.isfinite(error) else 0.0
    else:
        if w_p is not None or w_q is not None:
            raise ValueError("weight_p and weight_q must be None for method 'bernstein'")
        folds_p, folds_q = _folds(fold_p, t_p, "fold_p"), _folds(fold_q, t_q, "fold_q")
        both = [k for k in np.unique(folds_p) if (folds_q == k).any()]
        low = max(
            _bernstein(t_p[folds_p == k], t_q[folds_q == k], (1 - level) / len(both)) for k in both
        )
    return Estimate(value, error, max(low, 0.0), math.inf, level=level, method=method)


def _std_error(t_p: Array, t_q: Array, w_p: Array | None, w_q: Array | None) -> float:
    """Delta method for the mean of t over p and the logarithm of that of exp(t) over q."""
    if not np.isfinite(t_p).all():
        return math.inf
    ratio = np.exp(t_q - t_q.max())
    ratio /= mean(ratio, w_q)
    total = 0.0
    for term, weight in ((t_p, w_p), (ratio, w_q)):
        share = np.full(len(term), 1.0 / len(term)) if weight is None else weight
        total += float((share**2 * (term - share @ term) ** 2).sum())
    return math.sqrt(total)


def _warn_of_few(t_p: Array, t_q: Array, w_p: Array | None) -> None:
    reached = float(mean((t_p <= t_q.max()).astype(np.float64), w_p))
    size = float(effective_sample_size(t_q))
    if size < _FEW_ROWS or reached < _REACHED:
        warnings.warn(
            f"The rows of q reach {100 * reached:.0f} % of p's log-ratios, and {size:.0f} of them "
            "carry the mean of p/q: this number is not a bound. Use method='bernstein'.",
            stacklevel=3,
        )


def _folds(fold: npt.ArrayLike | None, t: Array, name: str) -> npt.NDArray[np.intp]:
    if fold is None:
        return np.zeros(len(t), dtype=np.intp)
    out = np.asarray(fold)
    if out.shape != t.shape:
        raise ValueError(f"{name} must have one number for each of {len(t)} rows, got {out.shape}")
    return out


def _bernstein(t_p: Array, t_q: Array, risk: float) -> float:
    """The largest of the bounds with t cut off at ±1, ±2, ..., all of which hold at once."""
    if min(len(t_p), len(t_q)) < 2:
        return -math.inf
    caps = range(1, max(int(math.log(len(t_q))), 1) + 1)
    # Each of the two means of each bound errs with this probability.
    log_risk = math.log(2.0 * 2.0 * len(caps) / risk)
    best = -math.inf
    for cap in caps:
        first, second = np.clip(t_p, -cap, cap), np.exp(np.clip(t_q, -cap, cap))
        least = first.mean() - _slack(first, 2.0 * cap, log_risk)
        most = second.mean() + _slack(second, 2.0 * math.sinh(cap), log_risk)
        best = max(best, float(least - math.log(most)))
    return best


def _slack(values: Array, span: float, log_risk: float) -> float:
    """Empirical Bernstein: how far a mean of numbers within a span may lie from its expectation."""
    n = len(values)
    return math.sqrt(2.0 * values.var(ddof=1) * log_risk / n) + 7.0 * span * log_risk / (
        3 * (n - 1)
    )
