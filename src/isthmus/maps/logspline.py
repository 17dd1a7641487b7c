"""A density whose logarithm is linear between knots: its distribution and the inverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import exprel

from ..typing import Array


def masses(left: Array, right: Array, width: Array) -> Array:
    """Integrals of exp(g) over intervals on which g is linear."""
    # Counted from the higher end, where nothing overflows.
    return np.asarray(width * np.exp(np.maximum(left, right)) * exprel(-np.abs(right - left)))


def integrals(left: Array, right: Array, width: Array) -> tuple[Array, Array, Array]:
    """Integrals of exp(g), t exp(g) and t² exp(g), with g linear and t from 0 to 1."""
    drop = np.abs(right - left)
    end = np.exp(-drop)
    near = drop < 1e-2
    divisor = np.where(near, 1.0, drop)
    zeroth = exprel(-drop)
    first = np.where(near, 1 / 2 - drop / 3 + drop**2 / 8 - drop**3 / 30, (zeroth - end) / divisor)
    second = np.where(
        near, 1 / 3 - drop / 4 + drop**2 / 10 - drop**3 / 36, (2 * first - end) / divisor
    )
    peak = width * np.exp(np.maximum(left, right))
    rising = right > left
    return (
        peak * zeroth,
        peak * np.where(rising, zeroth - first, first),
        peak * np.where(rising, zeroth - 2 * first + second, second),
    )


@dataclass(frozen=True)
class LogSpline:
    """Part of a distribution on an interval.

    Attributes
    ----------
    knots : ndarray of shape (k,)
        At least two, increasing.
    log_density : ndarray of shape (k,)
    levels : ndarray of shape (k,)
        Distribution function at the knots.
    """

    knots: Array
    log_density: Array
    levels: Array

    @classmethod
    def normalised(cls, knots: Array, log_density: Array, low: float, high: float) -> LogSpline:
        """Scale a density such that its distribution function runs from low to high."""
        mass = masses(log_density[:-1], log_density[1:], np.diff(knots)).cumsum()
        levels = low + (high - low) * np.insert(mass, 0, 0.0) / mass[-1]
        return cls(knots, log_density + np.log((high - low) / mass[-1]), levels)

    def evaluate(self, u: Array) -> tuple[Array, Array]:
        """Distribution function and log-density at u, within the knots."""
        origin, sign, rate, peak, level = self._pieces(np.searchsorted(self.knots, u))
        distance = np.abs(u - origin)
        fall = rate * distance
        return level + sign * np.exp(peak) * distance * exprel(-fall), peak - fall

    def inverse(self, level: Array) -> Array:
        """Where the distribution function has these values."""
        index = np.searchsorted(self.levels, level)
        origin, sign, rate, peak, start = self._pieces(index)
        distance = np.abs(level - start) * np.exp(-peak)
        # -log(1 - v) / v, which is 1 at v = 0.
        v = np.minimum(rate * distance, 1.0 - 1e-16)
        flat = v < 1e-300
        bent = np.where(flat, 1.0, -np.log1p(-v) / np.where(flat, 1.0, v))
        right = np.clip(index, 1, len(self.knots) - 1)
        u = origin + sign * distance * bent
        return np.asarray(np.clip(u, self.knots[right - 1], self.knots[right]))

    def _pieces(self, index: np.ndarray) -> tuple[Array, Array, Array, Array, Array]:
        """What describes the intervals that end at these knots, each seen from its higher end.

        Origin, direction of the other end, rate at which the log-density falls,
        log-density and distribution function at the origin.
        """
        falling = np.diff(self.log_density) <= 0.0
        high = np.arange(len(falling)) + ~falling
        rate = np.abs(np.diff(self.log_density)) / np.diff(self.knots)
        sign = np.where(falling, 1.0, -1.0)
        table = (self.knots[high], sign, rate, self.log_density[high], self.levels[high])
        piece = np.clip(index - 1, 0, len(falling) - 1)
        origin, sign, rate, peak, level = (column[piece] for column in table)
        return origin, sign, rate, peak, level
