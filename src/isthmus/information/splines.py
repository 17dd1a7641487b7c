"""Smooth functions of single columns, and products of two, as features of a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import SplineTransformer

from ..typing import Array, IntArray


@dataclass(frozen=True)
class Features:
    """Features of the columns of one side, shape (n, k), and the column that each is of."""

    values: Array
    column: IntArray

    @classmethod
    def of(cls, z: Array, knots: int) -> Features:
        """The columns themselves and their splines; knots see all rows, pairs do not enter."""
        d = z.shape[1]
        if knots < 2:
            return cls(z, np.arange(d))
        splines = SplineTransformer(knots, knots="quantile", extrapolation="linear")
        values = splines.fit_transform(z)
        each = values.shape[1] // d
        # The first of each column's splines is what the others and the constant leave over.
        kept = np.arange(values.shape[1]) % each > 1
        values = values[:, kept]
        values = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-12)
        column = np.concatenate([np.arange(d), np.repeat(np.arange(d), each - 2)])
        return cls(np.hstack([z, values]), column)

    def with_column(self, z: Array, number: int, knots: int) -> Features:
        """With one more column, and the number that its features have."""
        own = Features.of(z[:, None], knots)
        column = np.full(own.values.shape[1], number)
        return Features(np.hstack([self.values, own.values]), np.concatenate([self.column, column]))

    def with_products(self, z: Array, products: Sequence[tuple[int, int]]) -> Features:
        """With products of two columns, which are of the later one."""
        if not products:
            return self
        extra = np.column_stack([z[:, a] * z[:, b] for a, b in products])
        extra = (extra - extra.mean(axis=0)) / np.maximum(extra.std(axis=0), 1e-12)
        column = np.array([max(pair) for pair in products])
        return Features(np.hstack([self.values, extra]), np.concatenate([self.column, column]))
