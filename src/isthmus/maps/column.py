"""The rows that maps are fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.sample import Sample
from ..typing import Array, IntArray
from .pooled import Column

# Rows of a class at most, and values of it in all columns.
_MOST_ROWS = 20_000
_MOST_VALUES = 640_000
LEAST_ROWS = 1_000


@dataclass(frozen=True)
class Rows:
    """Rows of a sample, shuffled in a way that depends on their number alone.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The sample.
    rows, weight : ndarray of shape (m,)
        Which rows, and their weights.
    size : float
        Number of rows that each of them stands for.
    """

    X: Array
    rows: IntArray
    weight: Array
    size: float

    @classmethod
    def of(cls, X: Array, weight: Array | None) -> Rows:
        """Rows of X that have a weight; some of them, where they are many."""
        weight = np.ones(len(X)) if weight is None else weight
        rows = np.flatnonzero(weight > 0.0)
        size = Sample(X[rows], weight[rows]).size / len(rows)
        most = max(LEAST_ROWS, min(_MOST_ROWS, _MOST_VALUES // X.shape[1]))
        rows = rows[np.random.default_rng(0).permutation(len(rows))[:most]]
        return cls(X, rows, weight[rows], size)

    def column(self, j: int, part: slice) -> tuple[Array, Array, float]:
        """Values, shares, and the number of rows that they stand for."""
        weight = self.weight[part]
        return self.X[self.rows[part], j], weight / weight.sum(), self.size * len(weight)


def column_of(p: Rows, q: Rows, j: int, part: slice = slice(None)) -> Column:
    """Column j of both samples, or a part of its rows."""
    x_p, share_p, size_p = p.column(j, part)
    x_q, share_q, size_q = q.column(j, part)
    return Column((x_p, x_q), (share_p, share_q), 4.0 / (1.0 / size_p + 1.0 / size_q))
