"""The form every divergence shares: a link of a mean over p plus a mean over q."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from isthmus.functionals import terms as _terms
from isthmus.functionals.arrays import add, check_rows, log_mean_exp, mean, plain
from isthmus.typing import Array

Term: TypeAlias = Callable[[Array], Array]
Recentre: TypeAlias = Callable[[Array, Array, "Array | None", "Array | None"], "Divergence"]


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
    upper : float, default=inf
        Least upper bound of the divergence. The lower bound is 0 for all.
    link, link_slope : callable
        ``ℓ`` and its derivative; the identity and one unless given.
    power : (float, float), optional
        ``(a, c)`` if the integral of p^a q^(1-a) is 1 + c D, so that an
        overflowing divergence can be reported by a logarithm.
    recentre : callable, optional
        Makes the divergence that `centred` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import get_divergence
    >>> p, q = np.array([0.75, 0.25]), np.array([0.5, 0.5])
    >>> t = np.log(p / q)
    >>> tv = get_divergence("tv")
    >>> round(tv.value(t, t, p, q), 12)
    0.25
    >>> tv.upper
    1.0
    """

    name: str
    p_term: Term
    q_term: Term
    p_slope: Term
    q_slope: Term
    upper: float = math.inf
    link: Term = _terms.identity
    link_slope: Term = _terms.one
    power: tuple[float, float] | None = None
    recentre: Recentre | None = None

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
        t_p, w_p = check_rows("log_r_p", log_r_p, "weight_p", weight_p)
        t_q, w_q = check_rows("log_r_q", log_r_q, "weight_q", weight_q)
        here = self.centred(t_p, t_q, w_p, w_q)
        m = add(mean(here.p_term(t_p), w_p), mean(here.q_term(t_q), w_q))
        if np.isposinf(m).any() and np.isfinite(t_p).all() and np.isfinite(t_q).all():
            warnings.warn(self._too_large(t_p, t_q, w_p, w_q), UserWarning, stacklevel=2)
        return plain(here.link(m))

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
        moves it by ``mean(p_slope * δ_p) + mean(q_slope * δ_q)``.

        Parameters
        ----------
        log_r_p, log_r_q, weight_p, weight_q : array-like
            As in `value`.

        Returns
        -------
        Linearisation
            Named tuple ``(p, q, p_slope, q_slope)``, shaped like the log-ratios.

        Examples
        --------
        >>> import numpy as np
        >>> from isthmus.functionals import get_divergence
        >>> t = np.array([0.0, 2.0])
        >>> get_divergence("kl").linearise(t, t).p_slope
        array([1., 1.])
        """
        t_p, w_p = check_rows("log_r_p", log_r_p, "weight_p", weight_p)
        t_q, w_q = check_rows("log_r_q", log_r_q, "weight_q", weight_q)
        here = self.centred(t_p, t_q, w_p, w_q)
        u, v = here.p_term(t_p), here.q_term(t_q)
        if here.link is _terms.identity:
            return Linearisation(u, v, here.p_slope(t_p), here.q_slope(t_q))
        factor = here.link_slope(add(mean(u, w_p), mean(v, w_q)))[..., np.newaxis]
        return Linearisation(
            factor * u, factor * v, factor * here.p_slope(t_p), factor * here.q_slope(t_q)
        )

    def centred(
        self,
        log_r_p: Array,
        log_r_q: Array,
        weight_p: Array | None = None,
        weight_q: Array | None = None,
    ) -> Divergence:
        """Return the same divergence with terms scaled for these log-ratios.

        Rényi's terms are powers of r and overflow for log-ratios of some hundreds,
        although the divergence, a logarithm, does not. A constant moved from the
        terms to the link cures it. Other divergences are returned as they are.

        Parameters
        ----------
        log_r_p, log_r_q : ndarray
            Log-ratios at both samples.
        weight_p, weight_q : ndarray, optional
            Weights that sum to one over the last axis.

        Returns
        -------
        Divergence
        """
        if self.recentre is None:
            return self
        return self.recentre(log_r_p, log_r_q, weight_p, weight_q)

    def _too_large(self, t_p: Array, t_q: Array, w_p: Array | None, w_q: Array | None) -> str:
        text = f"{self.name} is above the largest float and is returned as inf"
        if self.power is None:
            return f"{text}; use a bounded divergence such as 'js', or 'kl'"
        order, scale = self.power
        if order > 0.5:
            log_integral = log_mean_exp((order - 1) * t_p, w_p)
        else:
            log_integral = log_mean_exp(order * t_q, w_q)
        factor = "" if scale == 1 else f"{scale:g} * "
        most = "at most " if log_integral.ndim else ""
        return f"{text}; log(1 + {factor}{self.name}) is {most}{float(log_integral.max()):.6g}"
