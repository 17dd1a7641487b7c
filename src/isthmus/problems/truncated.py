"""The one-dimensional truncated normal, exact far into the tails."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..typing import Array
from .base import CheckedDistribution, positive


class TruncatedNormal(CheckedDistribution):
    """A normal restricted to [low, high] and renormalised.

    Parameters
    ----------
    loc, scale : float
        Mean and standard deviation before truncation.
    low, high : float
        Ends of the support; either may be infinite.

    Examples
    --------
    >>> tail = TruncatedNormal(0.0, 1.0, low=30.0, high=31.0)
    >>> x = tail.sample(1000, rng=0)
    >>> bool(x.min() >= 30.0 and x.max() <= 31.0)
    True
    >>> tail.log_density([29.0, 32.0])
    array([-inf, -inf])
    """

    dim = 1

    def __init__(
        self, loc: float, scale: float, low: float = -math.inf, high: float = math.inf
    ) -> None:
        if not math.isfinite(loc):
            raise ValueError(f"loc must be finite; received {loc!r}.")
        if not low < high:
            raise ValueError(f"low must be below high; received low={low!r} and high={high!r}.")
        self.loc, self.scale = float(loc), positive(scale, "scale")
        self.low, self.high = float(low), float(high)
        a, b = (self.low - self.loc) / self.scale, (self.high - self.loc) / self.scale
        # All work is done in the left tail, where log_ndtr keeps its precision.
        self._flip = a + b > 0
        self._a, self._b = (-b, -a) if self._flip else (a, b)
        self.log_mass = _log_normal_mass(self._a, self._b)

    @property
    def support(self) -> tuple[tuple[float, float], ...]:
        """Intervals where the density is positive."""
        return ((self.low, self.high),)

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        # The inverse of the distribution function at u in (0, 1], whose logarithm is finite.
        u = 1 - generator.random(n)
        log_a, log_b = special.log_ndtr(self._a), special.log_ndtr(self._b)
        log_cdf = log_b + np.log(u + (1 - u) * math.exp(log_a - log_b))
        # ndtri_exp(0) is infinite, which the clip brings back to the end.
        z = np.clip(special.ndtri_exp(log_cdf), self._a, self._b)
        x = self.loc + self.scale * (-z if self._flip else z)
        # loc + scale * z can round past an end, where the density is zero.
        return np.asarray(np.clip(x, self.low, self.high)[:, None])

    def _log_density(self, points: Array) -> Array:
        x = points[:, 0]
        outside = (x < self.low) | (x > self.high)
        # A far point is moved before it is squared, which could overflow.
        z = (np.where(outside, self.loc, x) - self.loc) / self.scale
        constant = self.log_mass + math.log(self.scale) + 0.5 * math.log(2 * math.pi)
        return np.asarray(np.where(outside, -np.inf, -0.5 * z**2 - constant))

    def __repr__(self) -> str:
        ends = f"low={self.low:g}, high={self.high:g}"
        return f"TruncatedNormal({self.loc:g}, {self.scale:g}, {ends})"


def _log_normal_mass(a: float, b: float) -> float:
    """log(Phi(b) - Phi(a)) for an interval whose middle is not above zero."""
    if (b - a) * max(abs(a), abs(b), 1.0) < 1.0:
        # On a short interval the difference of two close numbers would cancel;
        # the density there is so smooth that 20 Gauss nodes are exact.
        nodes, weights = np.polynomial.legendre.leggauss(20)
        middle, half = 0.5 * (a + b), 0.5 * (b - a)
        t = half * nodes
        integral = half * float(weights @ np.exp(-middle * t - 0.5 * t**2))
        return math.log(integral) - 0.5 * middle**2 - 0.5 * math.log(2 * math.pi)
    if b > 0:
        return float(np.log1p(-(special.ndtr(a) + special.ndtr(-b))))
    log_a, log_b = special.log_ndtr(a), special.log_ndtr(b)
    return float(log_b + np.log1p(-math.exp(log_a - log_b)))
