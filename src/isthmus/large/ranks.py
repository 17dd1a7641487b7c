"""Ranks and normal scores of columns, in less time than one row after the other takes.

Which two knots a value lies between is looked for in all rows at once: every step halves the knots
that are left, with neither a branch nor a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ..candidates.columns import Columns
from ..typing import Array, IntArray


@dataclass(frozen=True)
class Line:
    """A function that is straight between knots and constant beyond them, as ``np.interp`` has it.

    Attributes
    ----------
    ends : tuple of float
        The first knot and the last.
    limits : ndarray of shape (2^k - 1,)
        The knots between, and infinity.
    knots, values, slopes : ndarray
        Where each straight piece begins, the value there, and how it goes on.

    Examples
    --------
    >>> line = Line.of(np.array([0.0, 1.0, 3.0]), np.array([0.1, 0.5, 0.9]))
    >>> line(np.array([-1.0, 0.5, 2.0, 7.0])).round(3).tolist()
    [0.1, 0.3, 0.7, 0.9]
    """

    ends: tuple[float, float]
    limits: Array
    knots: Array
    values: Array
    slopes: Array

    @classmethod
    def of(cls, knots: Array, values: Array) -> Line:
        """Through some points, from left to right."""
        if len(knots) == 1:
            knots, values = np.r_[knots, np.inf], np.r_[values, values]
        inner = knots[1:-1]
        size = 1 << len(inner).bit_length()
        limits = np.full(size - 1, np.inf)
        limits[: len(inner)] = inner
        slopes = np.diff(values) / np.diff(knots)
        ends = float(knots[0]), float(knots[-1])
        return cls(ends, limits, knots[:-1], values[:-1], slopes)

    def __call__(self, x: Array) -> Array:
        """The function of every number, shape (n,)."""
        x = np.clip(x, *self.ends)
        where = np.zeros(len(x), dtype=np.min_scalar_type(len(self.limits)))
        beyond, step = np.empty(len(x), dtype=bool), (len(self.limits) + 1) // 2
        at, by = np.empty(len(x)), np.empty_like(where)
        while step:
            np.take(self.limits[step - 1 :], where, out=at, mode="clip")
            np.greater_equal(x, at, out=beyond)
            np.multiply(beyond.view(np.uint8), where.dtype.type(step), out=by)
            np.add(where, by, out=where)
            step //= 2
        np.take(self.knots, where, out=at, mode="clip")
        x -= at
        np.take(self.slopes, where, out=at, mode="clip")
        x *= at
        np.take(self.values, where, out=at, mode="clip")
        x += at
        return x


@dataclass(frozen=True)
class Ranks:
    """Ranks of some of the columns that :class:`~isthmus.candidates.columns.Columns` kept.

    Attributes
    ----------
    at : ndarray of int
        Places of these columns among all.
    lines : tuple of Line
    """

    at: IntArray
    lines: tuple[Line, ...]

    @classmethod
    def of(cls, columns: Columns, which: Sequence[int] | IntArray) -> Ranks:
        """Of some of the columns that were kept, by their places among these."""
        at = np.flatnonzero(columns.kept)[np.asarray(which, dtype=np.intp)]
        return cls(at, tuple(Line.of(*columns.knots[k]) for k in which))

    def __call__(self, rows: Array) -> Array:
        """Ranks between 0 and 1, shape (n, k)."""
        out = np.empty((len(self.at), len(rows)))
        for k, (j, line) in enumerate(zip(self.at, self.lines, strict=True)):
            out[k] = line(rows[:, j])
        return out.T

    def scores(self, rows: Array) -> Array:
        """Normal scores of the ranks, shape (n, k)."""
        ranks = self(rows)
        np.clip(ranks, 1e-3, 1 - 1e-3, out=ranks)
        return np.asarray(ndtri(ranks, out=ranks))
