r"""Divergences between p and q as means of functions of the log-ratio.

Every divergence here is written

.. math:: D(p\|q) = \ell\bigl(E_p[u(t)] + E_q[v(t)]\bigr), \qquad t = \log p/q,

with the link :math:`\ell` the identity for all but Rényi's. ``u`` and ``v`` are chosen
so that the terms stay small; for instance total variation uses both samples and terms
in [0, 1/2]. The formulas are in `isthmus.functionals.terms`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from isthmus.functionals import terms as _terms
from isthmus.functionals.arrays import log_mean_exp
from isthmus.functionals.f_divergence import Divergence
from isthmus.functionals.generator import Generator
from isthmus.typing import Array

__all__ = ["Divergence", "get_divergence"]


def _number(x: float) -> str:
    """Shortest text that reads back as x, so that a name gives the same divergence again."""
    return repr(x).removesuffix(".0")


def _renyi(alpha: float, shift: Array | float = 0.0) -> Divergence:
    """Rényi's divergence, its terms divided by exp(shift); shift has a last axis of 1."""
    rows: dict[str, Any] = {"alpha": alpha, "shift": shift}
    total: dict[str, Any] = {
        "alpha": alpha,
        "shift": np.asarray(shift)[..., 0] if np.ndim(shift) else shift,
    }
    return Divergence(
        f"renyi:{_number(alpha)}",
        partial(_terms.renyi_p_term, **rows),
        partial(_terms.renyi_q_term, **rows),
        partial(_terms.renyi_p_slope, **rows),
        partial(_terms.renyi_q_slope, **rows),
        link=partial(_terms.renyi_link, **total),
        link_slope=partial(_terms.renyi_link_slope, **total),
        recentre=partial(_renyi_centred, alpha),
    )


def _renyi_centred(
    alpha: float, t_p: Array, t_q: Array, w_p: Array | None, w_q: Array | None
) -> Divergence:
    # With the log of the mean as shift the mean of the scaled terms is one up to
    # rounding, which the link then corrects: exact for large t and for orders near 1.
    share = _terms.renyi_share(alpha)
    shift: Array = np.asarray(-np.inf)
    if share > 0:
        shift = np.logaddexp(shift, np.log(share) + log_mean_exp((alpha - 1) * t_p, w_p))
    if share < 1:
        shift = np.logaddexp(shift, np.log1p(-share) + log_mean_exp(alpha * t_q, w_q))
    return _renyi(alpha, np.where(np.isfinite(shift), shift, 0.0)[..., np.newaxis])


def _alpha(alpha: float) -> Divergence:
    name = f"alpha:{_number(alpha)}"
    if alpha == 1:
        return replace(_NAMED["kl"], name=name)
    if 1 - alpha == 1:  # zero, or too small to be told from it
        return replace(_NAMED["reverse-kl"], name=name)
    term, slope = partial(_terms.alpha_term, alpha=alpha), partial(_terms.alpha_slope, alpha=alpha)
    scale = alpha * (alpha - 1)
    upper = -1 / scale if 0 < alpha < 1 else math.inf
    return Divergence(name, term, term, slope, slope, upper, power=(alpha, scale))


def _renyi_order(alpha: float) -> Divergence:
    if alpha <= 0:
        raise ValueError(f"spec must give Rényi's divergence an order above 0, got {alpha:g}")
    return replace(_NAMED["kl"], name="renyi:1") if alpha == 1 else _renyi(alpha)


def _from_function(f: Callable[[Any], Any]) -> Divergence:
    g = Generator.check(f)
    upper = float(g.term(np.array([-np.inf, np.inf])).sum())  # f(0) + f'(inf)
    name = f"f:{getattr(f, '__name__', type(f).__name__)}"
    return Divergence(name, g.term, g.term, g.slope, g.slope, upper)


_CHI2 = Divergence(
    "chi2", _terms.chi2_p_term, _terms.zero, _terms.chi2_p_slope, _terms.zero, power=(2.0, 1.0)
)
_NAMED = {
    "kl": Divergence("kl", _terms.identity, _terms.zero, _terms.one, _terms.zero),
    "reverse-kl": Divergence(
        "reverse-kl", _terms.zero, _terms.negative, _terms.zero, _terms.minus_one
    ),
    "js": Divergence(
        "js",
        _terms.js_p_term,
        _terms.js_q_term,
        _terms.js_p_slope,
        _terms.js_q_slope,
        upper=_terms.LOG_2,
    ),
    "hellinger": Divergence(
        "hellinger",
        _terms.hellinger_term,
        _terms.hellinger_term,
        _terms.hellinger_slope,
        _terms.hellinger_slope,
        upper=1.0,
    ),
    "chi2": _CHI2,
    "pearson": _CHI2,
    "neyman": Divergence(
        "neyman",
        _terms.zero,
        _terms.neyman_q_term,
        _terms.zero,
        _terms.neyman_q_slope,
        power=(-1.0, 1.0),
    ),
    "tv": Divergence(
        "tv", _terms.tv_term, _terms.tv_term, _terms.tv_slope, _terms.tv_slope, upper=1.0
    ),
}
_FAMILIES = {"alpha": _alpha, "renyi": _renyi_order}


def get_divergence(spec: str | Divergence | Callable[[Any], Any]) -> Divergence:
    r"""Look up or build a divergence D(p‖q).

    ============== ========================================== =======================
    spec           divergence                                 range
    ============== ========================================== =======================
    "kl"           :math:`E_p[\log r]`                        [0, ∞)
    "reverse-kl"   :math:`E_q[-\log r]`                       [0, ∞)
    "js"           Jensen-Shannon, in nats                    [0, log 2]
    "hellinger"    **squared** Hellinger,                     [0, 1]
                   :math:`1 - \int \sqrt{p q}`
    "chi2"         Pearson's :math:`E_p[r] - 1`               [0, ∞)
    "pearson"      the same as "chi2"                         [0, ∞)
    "neyman"       :math:`E_q[1/r] - 1`, chi2 of q from p     [0, ∞)
    "tv"           :math:`\frac12 \int |p - q|`               [0, 1]
    "alpha:A"      :math:`\frac{\int p^A q^{1-A} - 1}{A(A-1)}` [0, 1/(A(1-A))] if 0<A<1
    "renyi:A"      :math:`\frac{\log \int p^A q^{1-A}}{A-1}`   [0, ∞)
    ============== ========================================== =======================

    .. warning:: "hellinger" is the **squared** Hellinger distance; take the root
       for the distance.

    Parameters
    ----------
    spec : str, callable or Divergence
        A name above. The alpha divergence takes any real order, with KL at 1 and
        reverse KL at 0; Rényi's takes an order above 0, with KL at 1. A callable is
        the convex generator f of :math:`E_q[f(r)]`, with f(1) = 0 and arrays of
        ratios accepted. A `Divergence` is returned as it is.

    Returns
    -------
    Divergence

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
    raise TypeError(f"spec must be a name, a callable f or a Divergence, got {type(spec).__name__}")


def _from_name(spec: str) -> Divergence:
    key = spec.strip().lower().replace("_", "-")
    if key in _NAMED:
        return _NAMED[key]
    family, _, order = key.partition(":")
    if family in _FAMILIES:
        try:
            alpha = float(order)
        except ValueError:
            alpha = math.nan
        if not math.isfinite(alpha):
            raise ValueError(
                f"spec must give {family!r} a finite order, as in '{family}:0.5', got {spec!r}"
            )
        return _FAMILIES[family](alpha)
    allowed = ", ".join(repr(name) for name in _NAMED)
    raise ValueError(
        f"spec must be one of {allowed}, 'alpha:A', 'renyi:A' or a callable f, got {spec!r}"
    )
