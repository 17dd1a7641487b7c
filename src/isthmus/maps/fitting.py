"""Log-densities that are linear between knots, fitted by maximum likelihood.

With g the log-density, the loss ∫ exp(g) - E[g(x)] is convex in the values of g
at the knots. The sample enters by the means of the hat functions alone and the
Hessian is tridiagonal, so that a fit costs little more than a pass over the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded

from ..typing import Array, IntArray
from .logspline import integrals, masses

# Square of the z-score at which a knot is added. By chance the better of two places reaches
# it on one interval in twenty.
_DEPARTURE = 5.0
_FEWEST_ROWS = 5.0
_ROUNDS = 7
# Rows that every knot is given besides its own: a gap in the sample has some density.
_PRIOR_ROWS = 0.05


@dataclass(frozen=True)
class Sample:
    """The rows between two outermost knots, and what is known of those beyond them.

    Attributes
    ----------
    x, share : ndarray of shape (n,)
        Sorted values and their shares of the whole sample.
    size : float
        Number of rows that the whole sample stands for.
    tail_shares, tail_lengths : ndarray of shape (2,)
        Share of the sample below and above, and how far it reaches there.
    """

    x: Array
    share: Array
    size: float
    tail_shares: Array
    tail_lengths: Array


def fit_log_density(sample: Sample, knots: Array, gap: float) -> tuple[Array, Array]:
    """Knots, and the log-density there; knots are added where the sample asks for them.

    Parameters
    ----------
    sample : Sample
    knots : ndarray
        The knots to start with, two or more.
    gap : float
        Least distance of two knots.
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
    at: Array, sample: Sample, piece: IntArray, knots: Array, g: Array, gap: float
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
