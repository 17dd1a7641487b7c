"""Densities whose logarithm is linear between knots, fitted by maximum likelihood.

With g the log-density, the loss ∫ exp(g) - E[g(x)] is convex in the values of g
at the knots. The sample enters by the means of the hat functions alone and the
Hessian is tridiagonal, so that a fit costs little more than a pass over the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded
from scipy.special import exprel

from ..typing import Array, IntArray

# Square of the z-score at which a knot is added. By chance the better of two places reaches
# it on one interval in twenty.
_DEPARTURE = 5.0
_FEWEST_ROWS = 5.0
_ROUNDS = 7
_FEW_KNOTS = 24
# Rows that every knot is given besides its own: a gap in the sample has some density.
_PRIOR_ROWS = 0.05


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
    """Part of a distribution on an interval, by its values at two or more increasing knots."""

    knots: Array
    log_density: Array
    levels: Array  # The distribution function.

    @classmethod
    def normalised(cls, knots: Array, log_density: Array, low: float, high: float) -> LogSpline:
        """Scale a density such that its distribution function runs from low to high."""
        mass = masses(log_density[:-1], log_density[1:], np.diff(knots)).cumsum()
        levels = low + (high - low) * np.insert(mass, 0, 0.0) / mass[-1]
        return cls(knots, log_density + np.log((high - low) / mass[-1]), levels)

    def evaluate(self, u: Array) -> tuple[Array, Array]:
        """Distribution function and log-density at u, within the knots."""
        # What describes an interval is worked out once for each, and not for every row.
        origin, sign, rate, peak, level = self._pieces(np.arange(1, len(self.knots)))
        piece = _places(self.knots[1:-1], u)
        distance = np.abs(u - origin.take(piece))
        fall = rate.take(piece)
        fall *= distance
        distance *= (sign * np.exp(peak)).take(piece)
        # (1 - exp(-fall)) / fall, which is one where nothing falls.
        mean = np.negative(np.expm1(-fall))
        np.divide(mean, fall, out=mean, where=fall > 0.0)
        mean[fall == 0.0] = 1.0
        distance *= mean
        distance += level.take(piece)
        return distance, np.subtract(peak.take(piece), fall, out=fall)

    def inverse(self, level: Array) -> Array:
        """Where the distribution function has these values."""
        index = np.searchsorted(self.levels, level)
        origin, sign, rate, peak, start = self._pieces(index)
        distance = np.abs(level - start) * np.exp(-peak)
        # -log(1 - v) / v, which is 1 at v = 0.
        v = np.minimum(rate * distance, 1.0 - 1e-16)
        flat = v < 1e-300
        stretch = np.where(flat, 1.0, -np.log1p(-v) / np.where(flat, 1.0, v))
        right = np.clip(index, 1, len(self.knots) - 1)
        u = origin + sign * distance * stretch
        return np.asarray(np.clip(u, self.knots[right - 1], self.knots[right]))

    def _pieces(self, index: IntArray) -> tuple[Array, Array, Array, Array, Array]:
        """What describes the intervals that end at these knots, each seen from its higher end.

        Origin, direction of the other end, rate at which the log-density falls,
        log-density and distribution function at the origin.
        """
        falling = np.diff(self.log_density) <= 0.0
        rate = np.abs(np.diff(self.log_density)) / np.diff(self.knots)
        piece = np.clip(index - 1, 0, len(falling) - 1)
        high, sign = piece + ~falling[piece], np.where(falling[piece], 1.0, -1.0)
        return self.knots[high], sign, rate[piece], self.log_density[high], self.levels[high]


def _places(knots: Array, u: Array) -> IntArray:
    """How many of the knots lie below each u: of few, by counting, which no branch slows."""
    if len(knots) > _FEW_KNOTS:
        return np.asarray(np.searchsorted(knots, u))
    found = np.zeros(len(u), dtype=np.uint8)
    for knot in knots:
        found += u > knot
    return found.astype(np.intp)


@dataclass(frozen=True)
class InnerRows:
    """The rows between the two outermost knots, and what is known of those beyond them."""

    x: Array  # Sorted values.
    share: Array  # Their shares of the whole sample.
    size: float  # Number of rows that the whole sample stands for.
    tail_shares: Array  # Shares of the sample below and above.
    tail_lengths: Array  # How far it reaches there.


def fit_log_density(sample: InnerRows, knots: Array, gap: float) -> tuple[Array, Array]:
    """Knots, and the log-density there; knots are added where the sample asks for them.

    ``knots`` are two or more to start with, and ``gap`` is the least distance of two.
    """
    x, share = sample.x, sample.share
    prior = _PRIOR_ROWS / sample.size
    level = np.log((prior + np.histogram(x, knots, weights=share)[0]) / np.diff(knots))
    g = 0.5 * (np.append(level, level[-1]) + np.insert(level, 0, level[0]))
    for rounds_left in reversed(range(_ROUNDS)):
        width = np.diff(knots)
        piece = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(width) - 1)
        held = np.bincount(piece, share, len(width)).astype(np.float64)
        right = np.bincount(piece, share * (x - knots[piece]) / width[piece], len(width))
        hats = prior + np.append(held - right, 0.0) + np.insert(right, 0, 0.0)
        hats[[0, -1]] += sample.tail_shares
        g = _maximise(hats, width, sample.tail_lengths, prior, g)
        # Half-way by rows, or by distance for where rows are missing.
        places = [_medians(x, share, held), 0.5 * (knots[1:] + knots[:-1])]
        tests = [_departures(at, sample, piece, knots, g, gap) for at in places]
        added = np.choose(np.argmax(tests, axis=0), places)[np.max(tests, axis=0) > _DEPARTURE]
        if not (len(added) and rounds_left):
            break
        old, knots = knots, np.sort(np.concatenate([knots, added]))
        g = np.interp(knots, old, g)
    return knots, g


def _maximise(hats: Array, width: Array, tail_lengths: Array, prior: float, g: Array) -> Array:
    """Newton's method, started at g."""
    # A tail counts as an interval on which the density stays as it is in the knot.
    length = np.zeros(len(g))
    length[[0, -1]] = tail_lengths
    # Next to many equal values the density would fall without end.
    floor = np.log(prior / width.sum())

    def loss(g: Array) -> float:
        inside = masses(g[:-1], g[1:], width).sum()
        return float(inside + length @ np.exp(g) + prior * np.exp(floor - g).sum() - hats @ g)

    value = loss(g)
    for _ in range(100):
        mass, first, second = integrals(g[:-1], g[1:], width)
        outside, barrier = length * np.exp(g), prior * np.exp(floor - g)
        gradient = hats + barrier - outside
        gradient[:-1] -= mass - first
        gradient[1:] -= first
        hessian = np.zeros((2, len(g)))
        hessian[1] = outside + barrier
        hessian[1, :-1] += mass - 2 * first + second
        hessian[1, 1:] += second
        hessian[0, 1:] = first - second
        step = solveh_banded(hessian, gradient, check_finite=False)
        if gradient @ step < 1e-8:
            # So near, one more step is exact to rounding.
            return np.asarray(g + step)
        step *= min(1.0, 3.0 / np.abs(step).max())
        while (new := loss(g + step)) > value and np.abs(step).max() > 1e-8:
            step *= 0.5
        g, value = g + step, new
    return g


def _medians(x: Array, share: Array, held: Array) -> Array:
    """The median of the rows on every interval."""
    index = np.searchsorted(np.cumsum(share), np.cumsum(held) - 0.5 * held - 1e-12)
    return x[np.minimum(index, len(x) - 1)]


def _departures(
    at: Array, sample: InnerRows, piece: IntArray, knots: Array, g: Array, gap: float
) -> Array:
    """Square of the z-score of a test for one more knot on each interval, where one may be."""
    x, share, size = sample.x, sample.share, sample.size
    left, right = knots[:-1], knots[1:]
    apart = np.minimum(at - left, right - at) > gap
    at = np.where(apart, at, 0.5 * (left + right))
    below = x < at[piece]
    foot = np.where(below, left[piece], right[piece])
    hat = share * (x - foot) / (at[piece] - foot)
    observed = np.bincount(piece, hat, len(at))
    lower = np.bincount(piece[below], share[below], len(at))
    upper = np.bincount(piece[~below], share[~below], len(at))
    middle = g[:-1] + np.diff(g) * (at - left) / (right - left)
    _, rise, rise_square = integrals(g[:-1], middle, at - left)
    _, fall, fall_square = integrals(g[1:], middle, right - at)
    test = size * (observed - rise - fall) ** 2 / (rise_square + fall_square)
    return np.where(apart & (np.minimum(lower, upper) * size >= _FEWEST_ROWS), test, 0.0)
