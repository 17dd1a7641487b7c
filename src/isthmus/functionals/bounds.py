"""Lower bounds on the Kullback-Leibler divergence, as estimates and with a confidence level."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from ..data.telling import tell
from ..data.validation import check_number, check_option
from ..typing import Array, IntArray
from .arrays import Ratios, add, check_ratios, exp, float_or_array, log_mean_exp, mean
from .estimate import Estimate
from .weights import effective_sample_size

METHODS = ("normal", "bernstein")

FEW_ROWS = 30.0
"""Below this number of effective rows of q the mean of exp(t) cannot be trusted."""

REACHED = 0.95
"""Rows of q miss the share of p's mass that lies beyond their largest log-ratio, and the
logarithm of the mean is too small by about as much."""

BOUND_ALONE = "a lower bound says nothing of it"
"""The reason of an upper end that was not asked for."""


def donsker_varadhan(
    log_r_p: npt.ArrayLike,
    log_r_q: npt.ArrayLike,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
) -> float | Array:
    r"""Donsker-Varadhan bound :math:`E_p[t] - \log E_q[e^t] \le KL(p\|q)`.

    It holds in expectation over p for every function t, and is tight at
    t = log p/q plus any constant. It is a lower bound **only if t comes from a
    model that did not see these rows**: a model that did can push it to any
    height. Even then the logarithm of a sample mean is on average too small, so on
    few q rows the bound itself is estimated too high; see `nwj`, which has no such bias.

    Parameters
    ----------
    log_r_p, log_r_q, weight_p, weight_q : array-like
        As in :meth:`Divergence.value`.

    Returns
    -------
    float or ndarray
        A float for 1-D input, otherwise one value for each leading index.

    References
    ----------
    Donsker and Varadhan (1983), Communications on Pure and Applied Mathematics 36.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import donsker_varadhan
    >>> p, q = np.array([0.75, 0.25]), np.array([0.5, 0.5])
    >>> t = np.log(p / q)
    >>> print(round(donsker_varadhan(t, t, p, q), 6), round(float(p @ t), 6))
    0.130812 0.130812
    >>> print(round(donsker_varadhan(t + 3, t + 3, p, q), 6))  # constants do not matter
    0.130812
    """
    t = check_ratios(log_r_p, log_r_q, weight_p, weight_q)
    return float_or_array(_donsker_varadhan(t))


def nwj(
    log_r_p: npt.ArrayLike,
    log_r_q: npt.ArrayLike,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
) -> float | Array:
    r"""Nguyen-Wainwright-Jordan bound :math:`E_p[t] - E_q[e^t] + 1 \le KL(p\|q)`.

    Never above `donsker_varadhan` on the same rows, tight only at t = log p/q
    itself, and unbiased as an estimate of the bound. It is a lower bound **only if t comes
    from a model that did not see these rows**. One q row with a large
    log-ratio can take it to -inf; that is an honest value, not an error.

    Parameters
    ----------
    log_r_p, log_r_q, weight_p, weight_q : array-like
        As in :meth:`Divergence.value`.

    Returns
    -------
    float or ndarray
        A float for 1-D input, otherwise one value for each leading index.

    References
    ----------
    Nguyen, Wainwright and Jordan (2010), IEEE Transactions on Information Theory 56.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import nwj
    >>> p, q = np.array([0.75, 0.25]), np.array([0.5, 0.5])
    >>> t = np.log(p / q)
    >>> print(round(nwj(t, t, p, q), 6))
    0.130812
    >>> nwj([1.0], [1000.0])
    -inf
    """
    t = check_ratios(log_r_p, log_r_q, weight_p, weight_q)
    # Through the logarithm, since a large term may overflow where the mean does not.
    second = np.subtract(1.0, exp(log_mean_exp(t.q, t.share_q)))
    return float_or_array(add(mean(t.p, t.share_p), second))


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
        Weights of the rows; for "bernstein" all equal.
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
        Donsker-Varadhan estimate, or the bound where it is larger.

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
    check_option(method, "method", METHODS)
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    t = check_ratios(log_r_p, log_r_q, weight_p, weight_q)
    if t.p.ndim > 1 or t.q.ndim > 1:
        raise ValueError(
            f"log_r_p and log_r_q must have one axis; received shapes {t.p.shape} and {t.q.shape}."
        )
    if np.isposinf(t.q).any():
        raise ValueError(
            "log_r_q must be below +inf, since at rows of q the ratio p/q is finite; received +inf."
        )
    value, error = float(_donsker_varadhan(t)), _std_error(t)
    if method == "normal":
        _warn_of_few(t)
        low = value - float(ndtri(level)) * error if math.isfinite(error) else 0.0
    else:
        if any((share != share[0]).any() for share in (t.share_p, t.share_q)):
            raise ValueError(
                "weight_p and weight_q must be None or equal for all rows with method "
                "'bernstein'; received weights that differ."
            )
        folds_p, folds_q = _folds(fold_p, t.p, "fold_p"), _folds(fold_q, t.q, "fold_q")
        both = [k for k in np.unique(folds_p) if (folds_q == k).any()]
        low = max(
            _bernstein(t.p[folds_p == k], t.q[folds_q == k], (1 - level) / len(both)) for k in both
        )
    low = max(low, 0.0)
    return Estimate.within(
        max(value, low),
        error,
        low,
        math.inf,
        level=level,
        lower=0.0,
        method=method,
        reason=BOUND_ALONE,
    )


def _donsker_varadhan(t: Ratios) -> Array:
    return add(mean(t.p, t.share_p), -log_mean_exp(t.q, t.share_q))


def _std_error(t: Ratios) -> float:
    """Delta method for the mean of t over p and the logarithm of that of exp(t) over q."""
    if not np.isfinite(t.p).all():
        return math.inf
    ratio = np.exp(t.q - t.q[t.share_q > 0].max())
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        ratio /= mean(ratio, t.share_q)
        for term, share in ((t.p, t.share_p), (ratio, t.share_q)):
            total += float((share**2 * (term - share @ term) ** 2).sum())
    return math.sqrt(total) if math.isfinite(total) else math.inf


def _warn_of_few(t: Ratios) -> None:
    reached = float(mean((t.p <= t.q.max()).astype(np.float64), t.share_p))
    size = float(effective_sample_size(t.q))
    if size < FEW_ROWS or reached < REACHED:
        tell(
            f"The rows of q reach {100 * reached:.0f} % of p's log-ratios, and {size:.0f} of them "
            "carry the mean of p/q: this number is not a bound. Use method='bernstein'.",
            stacklevel=3,
        )


def _folds(fold: npt.ArrayLike | None, t: Array, name: str) -> IntArray:
    if fold is None:
        return np.zeros(len(t), dtype=np.intp)
    out = np.asarray(fold)
    if out.shape != t.shape:
        raise ValueError(
            f"{name} must have one number for each of {len(t)} rows; received shape {out.shape}."
        )
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
    noise = math.sqrt(2.0 * values.var(ddof=1) * log_risk / n)
    return noise + 7.0 * span * log_risk / (3 * (n - 1))
