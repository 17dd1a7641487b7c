"""Increasing functions of one column, with their inverses and slopes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special

from ..typing import Array
from .composed import Margin


class Increasing(Protocol):
    """An increasing function and its inverse, which is not finite outside its range."""

    def forward(self, z: Array) -> Array: ...

    def inverse(self, x: Array) -> Array: ...

    def log_slope(self, z: Array, x: Array) -> Array:
        """Logarithm of the derivative at z, where x is ``forward(z)``."""
        ...


class _Exp:
    forward, inverse = staticmethod(np.exp), staticmethod(np.log)

    def log_slope(self, z: Array, x: Array) -> Array:
        return z


class _Sinh:
    forward, inverse = staticmethod(np.sinh), staticmethod(np.arcsinh)

    def log_slope(self, z: Array, x: Array) -> Array:
        return np.logaddexp(z, -z) - math.log(2)


class _Cubic:
    def forward(self, z: Array) -> Array:
        return z + z**3 / 3

    def inverse(self, x: Array) -> Array:
        # With z = 2 sinh(s) the cubic is (2/3) sinh(3 s).
        return 2 * np.sinh(np.arcsinh(1.5 * x) / 3)

    def log_slope(self, z: Array, x: Array) -> Array:
        return np.log1p(z**2)


@dataclass(frozen=True)
class wiggle:
    """``z + depth * sin(z)``, for a depth below one.

    Examples
    --------
    >>> wavy = wiggle(0.8)
    >>> wavy.inverse(wavy.forward(np.array([-2.0, 1.5, 40.0])))
    array([-2. ,  1.5, 40. ])
    """

    depth: float

    def forward(self, z: Array) -> Array:
        return z + self.depth * np.sin(z)

    def inverse(self, x: Array) -> Array:
        low, high = x - self.depth, x + self.depth
        for _ in range(12):
            middle = 0.5 * (low + high)
            above = self.forward(middle) > x
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        z = 0.5 * (low + high)
        for _ in range(3):
            z = z - (self.forward(z) - x) / (1 + self.depth * np.cos(z))
        return z

    def log_slope(self, z: Array, x: Array) -> Array:
        return np.log1p(self.depth * np.cos(z))


@dataclass(frozen=True)
class quantile:
    """Turn a standard normal number into one of this margin, as a Gaussian copula does.

    Examples
    --------
    >>> quantile(Margin("expon")).forward(np.array([0.0])).round(6)
    array([0.693147])
    """

    margin: Margin

    def forward(self, z: Array) -> Array:
        # From the nearer end, so that far tails keep their precision; back likewise.
        x, low = np.empty(len(z)), z < 0
        x[low] = self.margin.law.ppf(special.ndtr(z[low]))
        x[~low] = self.margin.law.isf(special.ndtr(-z[~low]))
        return x

    def inverse(self, x: Array) -> Array:
        below, above = self.margin.law.cdf(x), self.margin.law.sf(x)
        return np.asarray(np.where(below < above, special.ndtri(below), -special.ndtri(above)))

    def log_slope(self, z: Array, x: Array) -> Array:
        return -0.5 * (z**2 + math.log(2 * math.pi)) - self.margin.log_density(x)


EXP, SINH, CUBIC = _Exp(), _Sinh(), _Cubic()
