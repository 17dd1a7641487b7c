"""The form every divergence shares: a link of a mean over p plus a mean over q."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from ..data.telling import tell
from ..typing import Array
from .arrays import Ratios, add, check_ratios, float_or_array, log_mean_exp, mean
from .estimate import Estimate

Term: TypeAlias = Callable[[Array], Array]


def identity(t: Array) -> Array:
    return np.asarray(t, dtype=np.float64)


def one(t: Array) -> Array:
    return np.ones_like(t, dtype=np.float64)


class Linearisation(NamedTuple):
    """Per-row terms and slopes in the units of the divergence, the link included."""

    p: Array
    q: Array
    p_slope: Array
    q_slope: Array


@dataclass(frozen=True)
class Divergence:
    r"""A divergence :math:`\ell(E_p[u(t)] + E_q[v(t)])` of the log-ratio t = log p/q.

    Obtain one from `get_divergence`. The functions take and return arrays of any shape.

    Parameters
    ----------
    name : str
        Name, as `get_divergence` takes it.
    p_term, q_term : callable
        ``u`` and ``v``.
    p_slope, q_slope : callable
        Derivatives of ``u`` and ``v`` in t: what an error in the log-ratio does.
    p_influence, q_influence : callable
        With the divergence as :math:`E_q[f(r)]`, :math:`f'(r)` and :math:`f(r) - r f'(r)`, each
        up to a constant: what a row of p and a row of q do.
    upper : float, default=inf
        Least upper bound of the divergence. The lower bound is 0 for all.
    link, link_slope : callable
        ``ℓ`` and its derivative; the identity and one unless given.
    power : (float, float), optional
        ``(a, c)`` if the integral of p^a q^(1-a) is 1 + c D, so that an
        overflowing divergence can be reported by a logarithm.
    recentre : callable, optional
        Returns the same divergence with terms scaled for the log-ratios that it is given.
        Rényi's terms are powers of r and overflow for log-ratios of some hundreds, although
        the divergence, a logarithm, does not: a constant is moved from the terms to the link.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import get_divergence
    >>> tv, t = get_divergence("tv"), np.log([1.5, 0.5])
    >>> round(tv.value(t, t, [0.75, 0.25], [0.5, 0.5]), 12), tv.upper
    (0.25, 1.0)
    """

    name: str
    p_term: Term
    q_term: Term
    p_slope: Term
    q_slope: Term
    p_influence: Term
    q_influence: Term
    upper: float = math.inf
    link: Term = identity
    link_slope: Term = one
    power: tuple[float, float] | None = None
    recentre: Callable[[Ratios], Divergence] | None = None

    def value(
        self,
        log_r_p: npt.ArrayLike,
        log_r_q: npt.ArrayLike,
        weight_p: npt.ArrayLike | None = None,
        weight_q: npt.ArrayLike | None = None,
    ) -> float | Array:
        """Estimate the divergence from log-ratios at rows of both samples.

        Parameters
        ----------
        log_r_p : array-like of shape (n_p,) or (..., n_p)
            Log-ratios at rows from p. Infinities are allowed where they have a
            meaning (+inf: a row that q cannot produce); NaN is not.
        log_r_q : array-like of shape (n_q,) or (..., n_q)
            Log-ratios at rows from q; leading axes broadcast against those of `log_r_p`.
        weight_p, weight_q : array-like, optional
            Nonnegative weights, (n,) or with leading axes that broadcast.
            They are normalised here; a row with weight 0 does not count.

        Returns
        -------
        float or ndarray
            A float for 1-D input, otherwise one value for each leading index.

        Warns
        -----
        UserWarning
            If finite log-ratios give an infinite value because it is above the
            largest float; the message says how large it is on a log scale.
        """
        t = check_ratios(log_r_p, log_r_q, weight_p, weight_q)
        here = self if self.recentre is None else self.recentre(t)
        m = add(mean(here.p_term(t.p), t.share_p), mean(here.q_term(t.q), t.share_q))
        if np.isposinf(m).any() and np.isfinite(t.p).all() and np.isfinite(t.q).all():
            tell(self._too_large(t), UserWarning, stacklevel=2)
        return float_or_array(here.link(m))

    def linearise(
        self,
        log_r_p: npt.ArrayLike,
        log_r_q: npt.ArrayLike,
        weight_p: npt.ArrayLike | None = None,
        weight_q: npt.ArrayLike | None = None,
    ) -> Linearisation:
        """Terms and slopes of every row, multiplied by the slope of the link.

        To first order the estimate is a constant plus the mean of ``p`` over p rows
        plus the mean of ``q`` over q rows. Hence, with equal weights, its sampling
        variance is ``var(p) / n_p + var(q) / n_q``; and a change δ of the log-ratios
        moves it by ``mean(p_slope * δ_p) + mean(q_slope * δ_q)``. Arguments are as in `value`;
        the named tuple ``(p, q, p_slope, q_slope)`` is shaped like the log-ratios.

        Examples
        --------
        >>> import numpy as np
        >>> from isthmus.functionals import get_divergence
        >>> t = np.array([0.0, 2.0])
        >>> get_divergence("kl").linearise(t, t).p_slope
        array([1., 1.])
        """
        t = check_ratios(log_r_p, log_r_q, weight_p, weight_q)
        here = self if self.recentre is None else self.recentre(t)
        rows = Linearisation(
            here.p_term(t.p), here.q_term(t.q), here.p_slope(t.p), here.q_slope(t.q)
        )
        if here.link is identity:
            return rows
        m = add(mean(rows.p, t.share_p), mean(rows.q, t.share_q))
        factor = here.link_slope(m)[..., np.newaxis]
        return Linearisation(*(factor * part for part in rows))

    def influences(
        self,
        log_r_p: npt.ArrayLike,
        log_r_q: npt.ArrayLike,
        weight_p: npt.ArrayLike | None = None,
        weight_q: npt.ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        r"""What every row does to the divergence of two distributions of which nothing is known.

        With :math:`D = E_q[f(r)]`, a row of p counts :math:`f'(r)` and a row of q
        :math:`f(r) - r f'(r)`, each less its mean, over the number of rows. No estimate that
        learns the ratio from the rows can have a smaller variance than the squares of these.
        Arguments are as in `value`.

        Examples
        --------
        >>> import numpy as np
        >>> from isthmus.functionals import get_divergence
        >>> p, q = get_divergence("kl").influences(np.log([2.0, 1.0]), np.log([2.0, 1.0]))
        >>> p.round(3), q.round(3)
        (array([1.693, 1.   ]), array([-2., -1.]))
        """
        t = check_ratios(log_r_p, log_r_q, weight_p, weight_q)
        here = self if self.recentre is None else self.recentre(t)
        p, q = here.p_influence(t.p), here.q_influence(t.q)
        if here.link is identity:
            return p, q
        m = add(mean(here.p_term(t.p), t.share_p), mean(here.q_term(t.q), t.share_q))
        factor = here.link_slope(m)[..., np.newaxis]
        return factor * p, factor * q

    def rests_on(
        self,
        log_r_p: npt.ArrayLike,
        log_r_q: npt.ArrayLike,
        weight_p: npt.ArrayLike | None = None,
        weight_q: npt.ArrayLike | None = None,
    ) -> float:
        r"""How many rows the divergence rests on, counted as Kish counts them.

        With :math:`c_i` what a row adds, :math:`(\sum |c_i|)^2 / \sum c_i^2`; and no more than the
        weights of either sample leave. Arguments are as in `value`, of one axis.

        Examples
        --------
        >>> from isthmus.functionals import get_divergence
        >>> t = [0.0, 0.5, 1.0, 30.0]
        >>> kl, chi2 = (get_divergence(name).rests_on(t, t) for name in ("kl", "chi2"))
        >>> round(kl, 1), round(chi2, 1)
        (1.1, 1.0)
        """
        t = check_ratios(log_r_p, log_r_q, weight_p, weight_q)
        here = self if self.recentre is None else self.recentre(t)
        parts = t.share_p * np.abs(here.p_term(t.p)), t.share_q * np.abs(here.q_term(t.q))
        added = np.concatenate(parts)
        largest = added.max()
        counts = [t.share_p, t.share_q]
        if 0 < largest < np.inf:
            counts.append(added / largest)
        return float(min(c.sum() ** 2 / (c @ c) for c in counts))

    def estimate(
        self,
        value: float,
        std_error: float,
        further: tuple[float, float] = (0.0, 0.0),
        *,
        draws: Array | None = None,
        level: float = 0.95,
        method: str = "normal",
    ) -> Estimate:
        """The divergence as it is returned: every one of them is made here, within its range.

        Parameters
        ----------
        value, std_error : float
            As they were worked out.
        further : (float, float)
            How much further down and up the interval reaches than the error alone would have it:
            what is no noise.
        draws : ndarray, optional
            How far the value may lie off, whose quantiles are the interval in place of the error's.
        level : float
        method : str
            As of :class:`Estimate`.

        Examples
        --------
        >>> from isthmus.functionals import get_divergence
        >>> e = get_divergence("tv").estimate(1.02, 0.01, (0.1, 0.0))
        >>> e.value, e.unclipped, e.high
        (1.0, 1.02, 1.0)
        """
        if not (math.isfinite(value) and math.isfinite(std_error)):
            return Estimate.from_std_error(
                value, std_error, level=level, lower=0.0, upper=self.upper, method=method
            )
        tails = 0.5 - 0.5 * level, 0.5 + 0.5 * level
        if draws is None:
            ends = std_error * np.asarray(ndtri(tails))
        else:
            ends = np.quantile(draws, tails) - np.median(draws)
        low, high = float(value + ends[0] - further[0]), float(value + ends[1] + further[1])
        return Estimate.within(
            value, std_error, low, high, level=level, lower=0.0, upper=self.upper, method=method
        )

    def _too_large(self, t: Ratios) -> str:
        text = f"{self.name} is above the largest float and is returned as inf"
        if self.power is None:
            return f"{text}; use a bounded divergence such as 'js', or 'kl'"
        order, scale = self.power
        if order > 0.5:
            log_integral = log_mean_exp((order - 1) * t.p, t.share_p)
        else:
            log_integral = log_mean_exp(order * t.q, t.share_q)
        factor = "" if scale == 1 else f"{scale:g} * "
        most = "at most " if log_integral.ndim else ""
        return f"{text}; log(1 + {factor}{self.name}) is {most}{float(log_integral.max()):.6g}"
