"""Draws in proportion to weights, and columns of few values, which have no density."""

from __future__ import annotations

import numpy as np

from ..data.sample import TwoSamples
from ..typing import Array, BoolArray, IntArray

_FEW_VALUES = 50
_REPEATS = 10
_ATOM = 0.05


def draw_rows(weight: Array, n: int, rng: np.random.Generator) -> IntArray:
    """Draw n row numbers with replacement, in proportion to the weights.

    A row of weight two is drawn as two equal rows next to each other would be.
    """
    cumulative = np.cumsum(weight)
    found = np.searchsorted(cumulative, rng.random(n) * cumulative[-1], side="right")
    return np.asarray(np.minimum(found, len(weight) - 1), dtype=np.intp)


class ValueTable:
    """Rows of few values, each with its share of the two samples in equal parts."""

    def __init__(self, samples: TwoSamples) -> None:
        rows = np.concatenate([sample.rows for sample in samples])
        shares = [0.5 * sample.share for sample in samples]
        values, place = np.unique(rows, axis=0, return_inverse=True)
        self.values = values
        self.share: Array = np.bincount(place.ravel(), np.concatenate(shares)).astype(float)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows."""
        return self.values[draw_rows(self.share, n, rng)]

    def log_probability(self, x: Array) -> Array:
        """Log-probability of every row: -inf for one that neither sample has."""
        known = dict(zip(map(tuple, self.values), np.log(self.share), strict=True))
        rows, place = np.unique(x, axis=0, return_inverse=True)
        found = np.array([known.get(tuple(row), -np.inf) for row in rows])
        return found[place.ravel()]


def few_values(samples: TwoSamples) -> BoolArray:
    """Columns that repeat a small number of values, and together few rows of them."""
    rows = np.concatenate([sample.rows for sample in samples])
    size = sum(sample.size for sample in samples)
    # A few hundred rows tell most columns apart from such ones without sorting them all.
    some = rows[:: max(1, len(rows) // 500)]
    values = np.array([len(np.unique(column)) for column in some.T])
    for j in np.flatnonzero(values <= _FEW_VALUES):
        values[j] = len(np.unique(rows[:, j]))
    few = (values > 1) & (values <= _FEW_VALUES) & (size >= _REPEATS * values)
    if not few.any() or len(np.unique(rows[:, few], axis=0)) * _REPEATS > size:
        return np.zeros(len(values), dtype=bool)
    # A constant column goes with the others, unless these are constant too.
    return few | (values == 1) if (few | (values == 1)).all() else few


def has_atoms(p: Array, q: Array) -> bool:
    """Whether a column that varies takes one value in more than a twentieth of the rows."""
    for column in np.concatenate([p, q]).T:
        counts = np.unique(column, return_counts=True)[1]
        if len(counts) > 1 and counts.max() > _ATOM * len(column):
            return True
    return False
