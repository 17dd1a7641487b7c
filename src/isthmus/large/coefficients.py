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


@dataclass(frozen=True)
class Curve:
    """Slope and curvature of the log-loss in the coefficients and the constant; they add up."""

    weight: float
    slope: Array
    curvature: Array

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
    """

    pieces: Pieces
    says: Callable[[Array], Array]
    coefficients: Array
    sign: float
    seen: IntArray

    def __call__(self, batches: Iterator[Batch], first: int) -> Curve:
        """Slope and curvature over the rows of a part."""
        k = len(self.coefficients)
        total = Curve(0.0, np.zeros(k), np.zeros((k, k)))
        for piece in self.pieces(batches, first):
            rows, weight, _ = piece.without(self.seen)
            if not len(rows):
                continue
            X = np.column_stack([self.says(rows), np.ones(len(rows))])
            wrong = expit(-self.sign * (X @ self.coefficients))
            slope, curvature = -self.sign * wrong, wrong * (1.0 - wrong)
            if weight is not None:
                slope, curvature = slope * weight, curvature * weight
            mass = float(len(rows) if weight is None else weight.sum())
            total += Curve(mass, X.T @ slope, X.T @ (X * curvature[:, None]))
        return total


def weighed(at: Array, curves: Sequence[Curve], rows: int) -> Array:
    """Coefficients, none of them negative, and the constant after a step.

    Both samples count alike, and as so many rows together.
    """
    slope, curvature = np.zeros(len(at)), np.zeros((len(at), len(at)))
    for one in curves:
        slope += 0.5 * rows / one.weight * one.slope
        curvature += 0.5 * rows / one.weight * one.curvature
    curvature += _RIDGE * np.diag(np.r_[np.ones(len(at) - 1), 0.0])
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
