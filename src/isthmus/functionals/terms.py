r"""Terms of the named divergences, as functions of t = log p/q, and their slopes.

Several are *balanced*: an f-divergence is an integral over the pooled sample,

.. math:: \int q f(r) = \int (p + q) \frac{f(r)}{1 + r}
          = E_p\!\left[\frac{f(r)}{1 + r}\right] + E_q\!\left[\frac{f(r)}{1 + r}\right],

so one bounded-or-mildly-growing function serves both samples. Its second moment,
:math:`\int q f^2 / (1 + r)`, is below that of taking rows with r <= 1 from q and the
others from p, :math:`\int q f^2 \min(1, 1/r)`, and it is smooth at r = 1.

Functions, not closures, so that a `Divergence` can be pickled.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from isthmus.functionals.arrays import exp, expm1
from isthmus.typing import Array

LOG_2 = float(np.log(2.0))


def zero(t: Array) -> Array:
    return np.zeros_like(t, dtype=np.float64)


def one(t: Array) -> Array:
    return np.ones_like(t, dtype=np.float64)


def minus_one(t: Array) -> Array:
    return -one(t)


def identity(t: Array) -> Array:
    return np.asarray(t, dtype=np.float64)


def negative(t: Array) -> Array:
    return np.asarray(np.negative(t))


def chi2_p_term(t: Array) -> Array:
    return expm1(t)


def chi2_p_slope(t: Array) -> Array:
    return exp(t)


def neyman_q_term(t: Array) -> Array:
    return expm1(np.negative(t))


def neyman_q_slope(t: Array) -> Array:
    return -exp(np.negative(t))


def js_p_term(t: Array) -> Array:
    return np.asarray(0.5 * (LOG_2 - np.logaddexp(0.0, np.negative(t))))


def js_p_slope(t: Array) -> Array:
    return np.asarray(0.5 * expit(np.negative(t)))


def js_q_term(t: Array) -> Array:
    return js_p_term(np.negative(t))


def js_q_slope(t: Array) -> Array:
    return -js_p_slope(np.negative(t))


def hellinger_term(t: Array) -> Array:
    """(1 - sech(t/2)) / 2, in the form that keeps its digits near t = 0."""
    z = np.abs(t) / 2
    return np.asarray(0.5 * np.expm1(-z) ** 2 / (1 + np.exp(-2 * z)))


def hellinger_slope(t: Array) -> Array:
    z = np.abs(t) / 2
    sech = 2 * np.exp(-z) / (1 + np.exp(-2 * z))
    return np.asarray(0.25 * sech * np.tanh(np.divide(t, 2)))


def tv_term(t: Array) -> Array:
    return np.asarray(0.5 * np.tanh(np.abs(t) / 2))


def tv_slope(t: Array) -> Array:
    """Slope of `tv_term`; at the kink t = 0 the middle of both sides, 0."""
    return np.asarray(np.sign(t) * expit(t) * expit(np.negative(t)))


def alpha_term(t: Array, alpha: float) -> Array:
    """f(r) / (1 + r) for f(r) = (r^a - a r - (1 - a)) / (a (a - 1)), a = alpha.

    The linear part of f integrates to zero; it is there because it makes f
    nonnegative and flat at r = 1, so the noise vanishes with the divergence.
    """
    if alpha < 0.5:  # p and q change places
        return alpha_term(np.negative(t), 1 - alpha)
    return np.asarray((_box_cox(t, alpha, expit(t)) - np.tanh(np.divide(t, 2))) / alpha)


def alpha_slope(t: Array, alpha: float) -> Array:
    if alpha < 0.5:
        return -alpha_slope(np.negative(t), 1 - alpha)
    t = np.clip(t, -1e300, 1e300)  # the difference of two exponents below has no value at inf
    both = expit(t) * expit(np.negative(t))
    steep = _box_cox(t, alpha, both, other_side=True)
    return np.asarray((steep + exp(_log_power_share(t, alpha)) - 2 * both) / alpha)


def _log_power_share(t: Array, alpha: float) -> Array:
    """Logarithm of r^alpha / (1 + r), finite arithmetic even at t = ±inf (alpha not 0 or 1)."""
    return np.asarray(np.where(np.greater(t, 0), (alpha - 1) * t, alpha * t) - _log1p_exp_minus(t))


def _log1p_exp_minus(t: Array) -> Array:
    return np.asarray(np.log1p(np.exp(-np.abs(t))))


def _box_cox(t: Array, alpha: float, factor: Array, other_side: bool = False) -> Array:
    """Form factor * (r^b - 1) / b for b = alpha - 1, with r^b * factor formed in log space.

    The factor is r / (1 + r), times 1 / (1 + r) if `other_side`. Near alpha = 1 the
    difference would lose its digits, so `expm1` takes over where its argument is small.
    """
    beta = alpha - 1
    exponent = _log_power_share(t, alpha)
    if other_side:
        exponent = exponent - np.maximum(t, 0) - _log1p_exp_minus(t)
    small = factor * np.expm1(np.clip(beta * t, -1, 1))
    large = exp(exponent) - factor
    return np.asarray(np.where(np.abs(beta * t) < 1, small, large) / beta)


def renyi_share(alpha: float) -> float:
    """Share of the p sample in the estimate of the power integral.

    With p above 1/2 and q below, the second moment is at most 1 for every order in
    (0, 1), and near order 1 dividing by (order - 1) does not magnify the noise.
    """
    return 0.5 if alpha == 0.5 else float(alpha > 0.5)


def renyi_p_term(t: Array, alpha: float, shift: Array | float) -> Array:
    share = renyi_share(alpha)
    return share * expm1((alpha - 1) * t - shift) if share else zero(t)


def renyi_p_slope(t: Array, alpha: float, shift: Array | float) -> Array:
    share = renyi_share(alpha)
    return share * (alpha - 1) * exp((alpha - 1) * t - shift) if share else zero(t)


def renyi_q_term(t: Array, alpha: float, shift: Array | float) -> Array:
    share = 1 - renyi_share(alpha)
    return share * expm1(alpha * t - shift) if share else zero(t)


def renyi_q_slope(t: Array, alpha: float, shift: Array | float) -> Array:
    share = 1 - renyi_share(alpha)
    return share * alpha * exp(alpha * t - shift) if share else zero(t)


def renyi_link(m: Array, alpha: float, shift: Array | float) -> Array:
    with np.errstate(divide="ignore"):  # disjoint supports: log 0, an infinite divergence
        return np.asarray((shift + np.log1p(m)) / (alpha - 1))


def renyi_link_slope(m: Array, alpha: float, shift: Array | float) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(1 / ((alpha - 1) * (1 + m)))
