r"""Divergences between p and q as means of functions of the log-ratio.

Every divergence here is written

.. math:: D(p\|q) = \ell\bigl(E_p[u(t)] + E_q[v(t)]\bigr), \qquad t = \log p/q,

with the link :math:`\ell` the identity for all but Rényi's. Several are *balanced*: an
f-divergence is an integral over the pooled sample,

.. math:: \int q f(r) = \int (p + q) \frac{f(r)}{1 + r}
          = E_p\!\left[\frac{f(r)}{1 + r}\right] + E_q\!\left[\frac{f(r)}{1 + r}\right],

so one bounded-or-mildly-growing function serves both samples. Its second moment,
:math:`\int q f^2 / (1 + r)`, is below that of taking rows with r <= 1 from q and the
others from p, :math:`\int q f^2 \min(1, 1/r)`, and it is smooth at r = 1.

Terms are functions and methods, not closures, so that a `Divergence` can be pickled.
A new divergence is its terms, their slopes, its influences and a line in ``NAMED``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from scipy.special import expit

from ..typing import Array
from .arrays import Ratios, exp, expm1, log_mean_exp
from .f_divergence import Divergence, Term, identity, one
from .generator import Generator
from .powers import AlphaTerm, Power

__all__ = ["Divergence", "get_divergence"]

LOG_2 = math.log(2.0)


def _zero(t: Array) -> Array:
    return np.zeros_like(t, dtype=np.float64)


def _mirrored(term: Term, t: Array) -> Array:
    """The term with p and q exchanged, which turns t into -t."""
    return term(np.negative(t))


def _mirrored_slope(slope: Term, t: Array) -> Array:
    return -slope(np.negative(t))


def _exchanged(divergence: Divergence, name: str) -> Divergence:
    """The divergence of q from p."""
    power = divergence.power
    return replace(
        divergence,
        name=name,
        p_term=partial(_mirrored, divergence.q_term),
        q_term=partial(_mirrored, divergence.p_term),
        p_slope=partial(_mirrored_slope, divergence.q_slope),
        q_slope=partial(_mirrored_slope, divergence.p_slope),
        p_influence=partial(_mirrored, divergence.q_influence),
        q_influence=partial(_mirrored, divergence.p_influence),
        power=None if power is None else (1.0 - power[0], power[1]),
    )


def _balanced(
    name: str, term: Term, slope: Term, influences: tuple[Term, Term], upper: float, **others: Any
) -> Divergence:
    """One function of both samples."""
    return Divergence(name, term, term, slope, slope, *influences, upper, **others)


def _kl_influence(t: Array) -> Array:
    return np.asarray(np.add(t, 1.0))


def _minus_exp(t: Array) -> Array:
    return -exp(t)


def _js_term(t: Array) -> Array:
    return np.asarray(0.5 * (LOG_2 - np.logaddexp(0.0, np.negative(t))))


def _js_slope(t: Array) -> Array:
    return np.asarray(0.5 * expit(np.negative(t)))


def _hellinger_term(t: Array) -> Array:
    """(1 - sech(t/2)) / 2, in the form that keeps its digits near t = 0."""
    z = np.abs(t) / 2
    return np.asarray(0.5 * np.expm1(-z) ** 2 / (1 + np.exp(-2 * z)))


def _hellinger_slope(t: Array) -> Array:
    z = np.abs(t) / 2
    sech = 2 * np.exp(-z) / (1 + np.exp(-2 * z))
    return np.asarray(0.25 * sech * np.tanh(np.divide(t, 2)))


def _tv_term(t: Array) -> Array:
    return np.asarray(0.5 * np.tanh(np.abs(t) / 2))


def _tv_slope(t: Array) -> Array:
    """Slope of the term; at the kink t = 0 the middle of both sides, 0."""
    return np.asarray(np.sign(t) * expit(t) * expit(np.negative(t)))


def _tv_influence(t: Array) -> Array:
    return np.asarray(0.5 * np.sign(t))


@dataclass(frozen=True)
class _Renyi:
    """Rényi's terms, divided by exp(shift), and the link that makes up for it.

    The shift has a last axis of 1. With p above order 1/2 and q below, the second moment is
    at most 1 for every order in (0, 1), and near order 1 dividing by (order - 1) does not
    magnify the noise.
    """

    alpha: float
    shift: Array

    @property
    def parts(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """For p and for q: part of the power integral that is its mean, and the power of r."""
        part = 0.5 if self.alpha == 0.5 else float(self.alpha > 0.5)
        return (part, self.alpha - 1), (1 - part, self.alpha)

    def term(self, part: float, factor: float, t: Array) -> Array:
        return part * expm1(factor * t - self.shift) if part else _zero(t)

    def slope(self, part: float, factor: float, t: Array) -> Array:
        return part * factor * exp(factor * t - self.shift) if part else _zero(t)

    def link(self, m: Array) -> Array:
        with np.errstate(divide="ignore"):  # disjoint supports: log 0, an infinite divergence
            return np.asarray((self.shift[..., 0] + np.log1p(m)) / (self.alpha - 1))

    def link_slope(self, m: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(1 / ((self.alpha - 1) * (1 + m)))

    def p_influence(self, t: Array) -> Array:
        return self.alpha * exp((self.alpha - 1) * t - self.shift)

    def q_influence(self, t: Array) -> Array:
        return (1 - self.alpha) * exp(self.alpha * t - self.shift)

    def recentred(self, t: Ratios) -> Divergence:
        # With the log of the mean as shift the mean of the scaled terms is one up to
        # rounding, which the link then corrects: exact for large t and for orders near 1.
        rows = zip(self.parts, ((t.p, t.share_p), (t.q, t.share_q)), strict=True)
        logs = [
            math.log(part) + log_mean_exp(factor * x, share)
            for (part, factor), (x, share) in rows
            if part
        ]
        shift = reduce(np.logaddexp, logs)
        finite = np.where(np.isfinite(shift), shift, 0.0)
        return _Renyi(self.alpha, finite[..., np.newaxis]).divergence()

    def divergence(self) -> Divergence:
        p, q = self.parts
        return Divergence(
            f"renyi:{_number(self.alpha)}",
            partial(self.term, *p),
            partial(self.term, *q),
            partial(self.slope, *p),
            partial(self.slope, *q),
            self.p_influence,
            self.q_influence,
            link=self.link,
            link_slope=self.link_slope,
            recentre=self.recentred,
        )


_KL = Divergence("kl", identity, _zero, one, _zero, _kl_influence, _minus_exp)
_CHI2 = Divergence(
    "chi2", expm1, _zero, exp, _zero, Power(2.0, 1.0), Power(-1.0, 2.0), power=(2.0, 1.0)
)
NAMED = {
    "kl": _KL,
    "reverse-kl": _exchanged(_KL, "reverse-kl"),
    "js": Divergence(
        "js",
        _js_term,
        partial(_mirrored, _js_term),
        _js_slope,
        partial(_mirrored_slope, _js_slope),
        _js_term,
        partial(_mirrored, _js_term),
        upper=LOG_2,
    ),
    "hellinger": _balanced(
        "hellinger",
        _hellinger_term,
        _hellinger_slope,
        (Power(-0.5, -0.5), Power(-0.5, 0.5)),
        upper=1.0,
    ),
    "chi2": _CHI2,
    "pearson": _CHI2,
    "neyman": _exchanged(_CHI2, "neyman"),
    "tv": _balanced(
        "tv", _tv_term, _tv_slope, (_tv_influence, partial(_mirrored, _tv_influence)), upper=1.0
    ),
}
"""Divergences without an order."""


def _number(x: float) -> str:
    """Shortest text that reads back as x, so that a name gives the same divergence again."""
    return repr(x).removesuffix(".0")


def _alpha(alpha: float) -> Divergence:
    name = f"alpha:{_number(alpha)}"
    if alpha == 1:
        return replace(_KL, name=name)
    if 1 - alpha == 1:  # zero, or too small to be told from it
        return replace(NAMED["reverse-kl"], name=name)
    scale = alpha * (alpha - 1)
    upper = -1 / scale if 0 < alpha < 1 else math.inf
    term = AlphaTerm(max(alpha, 1 - alpha))
    a, b = term.alpha, term.alpha - 1
    influences = Power(1 / b, b), Power(-1 / a, a)
    found = _balanced(name, term, term.slope, influences, upper, power=(a, scale))
    return found if alpha >= 0.5 else replace(_exchanged(found, name), power=(alpha, scale))


def _renyi(alpha: float) -> Divergence:
    if alpha <= 0:
        raise ValueError(f"spec must give Rényi's divergence an order above 0; received {alpha:g}.")
    return replace(_KL, name="renyi:1") if alpha == 1 else _Renyi(alpha, np.zeros(1)).divergence()


_FAMILIES = {"alpha": _alpha, "renyi": _renyi}


def _from_function(f: Callable[[Any], Any]) -> Divergence:
    g = Generator.check(f)
    upper = float(g.term(np.array([-np.inf, np.inf])).sum())  # f(0) + f'(inf)
    name = f"f:{getattr(f, '__name__', type(f).__name__)}"
    return _balanced(name, g.term, g.slope, (g.p_influence, g.q_influence), upper)


def get_divergence(spec: str | Divergence | Callable[[Any], Any]) -> Divergence:
    r"""Look up or build a divergence D(p‖q).

    ============== =========================================== =======================
    spec           divergence                                  range
    ============== =========================================== =======================
    "kl"           :math:`E_p[\log r]`                         [0, ∞)
    "reverse-kl"   :math:`E_q[-\log r]`                        [0, ∞)
    "js"           Jensen-Shannon, in nats                     [0, log 2]
    "hellinger"    **squared** Hellinger,                      [0, 1]
                   :math:`1 - \int \sqrt{p q}`
    "chi2"         Pearson's :math:`E_p[r] - 1`                [0, ∞)
    "pearson"      the same as "chi2"                          [0, ∞)
    "neyman"       :math:`E_q[1/r] - 1`, chi2 of q from p      [0, ∞)
    "tv"           :math:`\frac12 \int |p - q|`                [0, 1]
    "alpha:A"      :math:`\frac{\int p^A q^{1-A} - 1}{A(A-1)}` [0, 1/(A(1-A))] if 0<A<1
    "renyi:A"      :math:`\frac{\log \int p^A q^{1-A}}{A-1}`   [0, ∞)
    ============== =========================================== =======================

    .. warning:: "hellinger" is the **squared** Hellinger distance; take the root
       for the distance.

    Parameters
    ----------
    spec : str, callable or Divergence
        A name above. The alpha divergence takes any real order, with KL at 1 and
        reverse KL at 0; Rényi's takes an order above 0, with KL at 1. A callable is
        the convex generator f of :math:`E_q[f(r)]`, with f(1) = 0 and arrays of
        ratios accepted. A `Divergence` is returned as it is.

    Notes
    -----
    Alpha divergences, "tv", "hellinger" and callables average one function,
    f(r) / (1 + r) up to a part that integrates to zero, over both samples. Those
    terms are nonnegative, so for p near q noisy log-ratios make the value too large
    rather than negative. "js" is a lower bound, in expectation, when the log-ratios come
    from a model that did not see the rows.

    A callable is evaluated for log-ratios within ±700 and continued linearly in t
    beyond, which is exact for f growing no faster than r log r; faster growth gives inf.

    References
    ----------
    Cichocki and Amari (2010), Entropy 12, for the alpha family.
    Rényi (1961), Berkeley Symposium 4.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import get_divergence
    >>> p, q = np.array([0.75, 0.25]), np.array([0.5, 0.5])
    >>> t = np.log(p / q)
    >>> for spec in ("kl", "js", "hellinger", "chi2", "alpha:0.5", "renyi:2"):
    ...     print(spec, round(get_divergence(spec).value(t, t, p, q), 4))
    kl 0.1308
    js 0.0338
    hellinger 0.0341
    chi2 0.25
    alpha:0.5 0.1363
    renyi:2 0.2231
    >>> round(get_divergence(lambda r: (r - 1) ** 2).value(t, t, p, q), 4)
    0.25
    """
    if isinstance(spec, Divergence):
        return spec
    if isinstance(spec, str):
        return _from_name(spec)
    if callable(spec):
        return _from_function(spec)
    raise TypeError(
        f"spec must be a name, a callable f or a Divergence; received {type(spec).__name__}."
    )


def _from_name(spec: str) -> Divergence:
    key = spec.strip().lower().replace("_", "-")
    if key in NAMED:
        return NAMED[key]
    family, _, order = key.partition(":")
    if family in _FAMILIES:
        try:
            alpha = float(order)
        except ValueError:
            alpha = math.nan
        if not math.isfinite(alpha):
            raise ValueError(
                f"spec must give {family!r} a finite order, as in '{family}:0.5'; received "
                f"{spec!r}."
            )
        return _FAMILIES[family](alpha)
    allowed = ", ".join(repr(name) for name in NAMED)
    raise ValueError(
        f"spec must be one of {allowed}, 'alpha:A', 'renyi:A' or a callable f; received {spec!r}."
    )
