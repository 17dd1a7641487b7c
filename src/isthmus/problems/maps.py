"""Increasing functions of one column, with their inverses and slopes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import special

from ..typing import Array
from .composed import Margin


class Increasing(NamedTuple):
    """An increasing function, its inverse, which is not finite outside its range, and its slope.

    ``log_slope(z, forward(z))`` is the logarithm of the derivative at z.
    """

    forward: Callable[[Array], Array]
    inverse: Callable[[Array], Array]
    log_slope: Callable[[Array, Array], Array]


def wiggle(depth: float) -> Increasing:
    """``z + depth * sin(z)``, for a depth below one.

    Examples
    --------
    >>> wavy = wiggle(0.8)
    >>> wavy.inverse(wavy.forward(np.array([-2.0, 1.5, 40.0])))
    array([-2. ,  1.5, 40. ])
    """
    return Increasing(
        partial(_wiggle, depth), partial(_unwiggle, depth), partial(_wiggle_slope, depth)
    )


def quantile(margin: Margin) -> Increasing:
    """Turn a standard normal number into one of this margin, as a Gaussian copula does.

    Examples
    --------
    >>> quantile(Margin("expon")).forward(np.array([0.0])).round(6)
    array([0.693147])
    """
    return Increasing(
        partial(_from_normal, margin), partial(_to_normal, margin), partial(_normal_slope, margin)
    )


def _exp_slope(z: Array, x: Array) -> Array:
    return z


def _sinh_slope(z: Array, x: Array) -> Array:
    return np.logaddexp(z, -z) - math.log(2)


def _cubic(z: Array) -> Array:
    return z + z**3 / 3


def _uncubic(x: Array) -> Array:
    # With z = 2 sinh(s) the cubic is (2/3) sinh(3 s).
    return 2 * np.sinh(np.arcsinh(1.5 * x) / 3)


def _cubic_slope(z: Array, x: Array) -> Array:
    return np.log1p(z**2)


def _wiggle(depth: float, z: Array) -> Array:
    return z + depth * np.sin(z)


def _unwiggle(depth: float, x: Array) -> Array:
    low, high = x - depth, x + depth
    for _ in range(12):
        middle = 0.5 * (low + high)
        above = _wiggle(depth, middle) > x
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    z = 0.5 * (low + high)
    for _ in range(3):
        z = z - (_wiggle(depth, z) - x) / (1 + depth * np.cos(z))
    return z


def _wiggle_slope(depth: float, z: Array, x: Array) -> Array:
    return np.log1p(depth * np.cos(z))


def _from_normal(margin: Margin, z: Array) -> Array:
    # From the nearer end, so that far tails keep their precision; back likewise.
    x, low = np.empty(len(z)), z < 0
    x[low] = margin.law.ppf(special.ndtr(z[low]))
    x[~low] = margin.law.isf(special.ndtr(-z[~low]))
    return x


def _to_normal(margin: Margin, x: Array) -> Array:
    below, above = margin.law.cdf(x), margin.law.sf(x)
    return np.asarray(np.where(below < above, special.ndtri(below), -special.ndtri(above)))


def _normal_slope(margin: Margin, z: Array, x: Array) -> Array:
    return -0.5 * (z**2 + math.log(2 * math.pi)) - margin.log_density(x)


EXP = Increasing(np.exp, np.log, _exp_slope)
SINH = Increasing(np.sinh, np.arcsinh, _sinh_slope)
CUBIC = Increasing(_cubic, _uncubic, _cubic_slope)
