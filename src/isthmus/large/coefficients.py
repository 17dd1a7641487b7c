"""The coefficients of a stack from all rows: one step of Newton's from those of the sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..data.source import Batch
from ..typing import Array, IntArray
from .pieces import Pieces

_RIDGE = 4.0
"""Precision of a coefficient around that of the sample: candidates that say the same stay apart."""

_WEIGHED = 4
"""The block of hashes that says which rows are asked for coefficients."""

_ASKED_ROWS = 1_000_000
"""Rows of each sample that are asked."""


@dataclass(frozen=True)
class Curve:
    """Slope and curvature of the log-loss in the coefficients and the constant; they add up."""

    weight: float
    slope: Array
    curvature: Array

    @classmethod
    def at(cls, says: Array, weight: Array | None, coefficients: Array, sign: float) -> Curve:
        """Of rows of which candidates say something, shape (n, k)."""
        X = np.column_stack([says, np.ones(len(says))])
        wrong = expit(-sign * (X @ coefficients))
        slope, curvature = -sign * wrong, wrong * (1.0 - wrong)
        if weight is not None:
            slope, curvature = slope * weight, curvature * weight
        mass = float(len(says) if weight is None else weight.sum())
        return cls(mass, X.T @ slope, X.T @ (X * curvature[:, None]))

    def __add__(self, other: Curve) -> Curve:
        return Curve(
            self.weight + other.weight,
            self.slope + other.slope,
            self.curvature + other.curvature,
        )


@dataclass(frozen=True)
class Weighing:
    """The log-loss over rows of one sample, without those that the candidates have seen.

    Attributes
    ----------
    pieces : Pieces
    says : callable
        What every candidate says of rows, shape (n, k).
    coefficients : ndarray of shape (k + 1,)
        Those of the candidates and the constant, at which slope and curvature are taken.
    sign : float
        1 for rows of p, -1 for those of q.
    seen : ndarray of int
        Numbers of the rows of the sample, in order.
    one_in : int
        One row in so many is asked, by the hashes of their numbers.
    """

    pieces: Pieces
    says: Callable[[Array], Array]
    coefficients: Array
    sign: float
    seen: IntArray
    one_in: int = 1

    def __call__(self, batches: Iterator[Batch], first: int) -> Curve:
        """Slope and curvature over the rows of a part."""
        k = len(self.coefficients)
        total = Curve(0.0, np.zeros(k), np.zeros((k, k)))
        for piece in self.pieces(batches, first):
            own = piece.without(self.seen)
            if len(own.rows) and self.one_in > 1:
                own = own.take(np.flatnonzero(own.drawn(self.one_in, _WEIGHED)))
            if len(own.rows):
                says = self.says(own.rows)
                total += Curve.at(says, own.weight, self.coefficients, self.sign)
        return total


def one_in(rows: int) -> int:
    """One of how many rows is asked for coefficients, from which a step over all rows goes on."""
    return -(-rows // _ASKED_ROWS)


_STEPS = 8
LEAST_ROWS = 1000
"""Rows of each sample from which on they say what counts."""


@dataclass(frozen=True)
class Judged:
    """What further rows say of candidates that have not seen them.

    Attributes
    ----------
    coefficients : ndarray of shape (k + 1,)
        Those of the candidates, zero where one adds nothing beyond chance, and the constant.
    alone : bool
        Whether the first candidate is as good as it is: with a coefficient of one, and nothing
        besides.
    """

    coefficients: Array
    alone: bool


def judged(says: Sequence[Array], weights: Sequence[Array], at: Array) -> Judged:
    """Leave out candidates that rows of p and of q do not ask for.

    ``says`` are what the candidates say of the rows, and ``at`` are coefficients to start from. A
    candidate goes where the log-likelihood of all rows falls by less than half the logarithm of
    their number (Schwarz); the first one, which is fitted to more rows, goes last.
    """
    rows = sum(map(len, says))
    left = np.ones(len(at) - 1, dtype=bool)
    found = at.copy()
    while True:
        which = np.append(left, True)
        for _ in range(_STEPS):
            curves = [
                Curve.at(own[:, left], weight, found[which], sign)
                for own, weight, sign in zip(says, weights, (1.0, -1.0), strict=True)
            ]
            found[which] = weighed(found[which], curves, rows)
        curvature = sum(0.5 * rows / one.weight * one.curvature for one in curves)
        places = np.flatnonzero(left)
        spread = np.diag(np.linalg.pinv(curvature))[:-1]
        loss = found[places] ** 2 / np.maximum(spread, 1e-300)
        # That of all rows is asked last.
        loss[places == 0] += 0.0 if len(places) == 1 else np.inf
        if not len(places) or loss.min() >= np.log(rows):
            break
        left[places[np.argmin(loss)]] = False
        found[:-1][~left] = 0.0
    off = found[[0, -1]] - [1.0, 0.0]
    alone = left.tolist() == [True] + [False] * (len(left) - 1)
    return Judged(found, alone and float(off @ curvature @ off) < 2.0 * np.log(rows))


def weighed(at: Array, curves: Sequence[Curve], rows: int) -> Array:
    """Coefficients, none of them negative, and the constant after a step.

    Both samples count alike, and as so many rows together.
    """
    slope, curvature = np.zeros(len(at)), np.zeros((len(at), len(at)))
    for one in curves:
        slope += 0.5 * rows / one.weight * one.slope
        curvature += 0.5 * rows / one.weight * one.curvature
    # Where all rows are told apart without doubt, they do not say what the constant is.
    curvature += np.diag(np.r_[np.full(len(at) - 1, _RIDGE), 1e-6])
    free = np.ones(len(at), dtype=bool)
    found = at.copy()
    for _ in range(len(at)):
        # What leaves the range stays at its end, and the others step again.
        right = slope[free] + curvature[np.ix_(free, ~free)] @ (found - at)[~free]
        found[free] = at[free] - np.linalg.solve(curvature[np.ix_(free, free)], right)
        below = free & (found < 0) & (np.arange(len(at)) < len(at) - 1)
        if not below.any():
            break
        free &= ~below
        found[below] = 0.0
    return found
