"""Fewer coordinates of very many columns: where both samples together vary most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Array
from .sample import TwoSamples

MANY_COLUMNS, TOO_MANY_COLUMNS = 200, 1000
"""Columns from which on rows are counted, and from which on any number of rows is too few."""

_ROWS_PER_COLUMN = 5
_SOME_ROWS = 2000
_MOST, _ROWS_PER_DIRECTION = 50, 5


@dataclass(frozen=True)
class Projection:
    """Directions of columns with mean zero and variance one.

    They are chosen without a look at which sample a row is from, so that rows that are held out
    stay so. No divergence of the coordinates is larger than that of all columns.

    Attributes
    ----------
    centre, scale : ndarray of shape (d,)
    axes : ndarray of shape (d, k)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> both = TwoSamples.of(rng.normal(size=(40, 900)), rng.normal(size=(40, 900)))
    >>> Projection.wanted(both), Projection.of(both)(both.p.rows).shape
    (True, (40, 8))
    """

    centre: Array
    scale: Array
    axes: Array

    @staticmethod
    def wanted(samples: TwoSamples) -> bool:
        """Whether columns are too many for the rows, or for the time that a fit may take."""
        d, rows = samples.n_columns, len(samples.p) + len(samples.q)
        return d > TOO_MANY_COLUMNS or (d > MANY_COLUMNS and rows < _ROWS_PER_COLUMN * d)

    @classmethod
    def of(cls, samples: TwoSamples) -> Projection:
        """The principal directions of both samples together, of a bounded number of rows."""
        few = samples.positive().bounded(_SOME_ROWS // 2)
        rows = np.concatenate([sample.rows for sample in few])
        centre, scale = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(scale > 0, scale, np.inf)
        Z = (rows - centre) / scale
        k = int(np.clip(samples.least // _ROWS_PER_DIRECTION, 2, _MOST))
        # Rows are fewer than columns, or few: their products are the smaller matrix.
        value, vector = np.linalg.eigh(Z @ Z.T)
        value, vector = value[::-1][:k], vector[:, ::-1][:, :k]
        there = value > 1e-10 * value[0]
        axes = Z.T @ (vector[:, there] / value[there])
        return cls(centre, scale, axes * np.sqrt(len(rows)))

    def __call__(self, rows: Array) -> Array:
        """Coordinates of rows, block by block."""
        size = max(20_000_000 // max(rows.shape[1], 1), 1)
        parts = [
            ((rows[k : k + size] - self.centre) / self.scale) @ self.axes
            for k in range(0, len(rows), size)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.axes.shape[1]))

    @property
    def note(self) -> str:
        """What was done, in a sentence."""
        d, k = self.axes.shape
        return (
            f"{d:,} columns are too many for the rows: what is compared are the {k} directions in "
            "which both samples together vary most, and divergences of all columns are at least "
            "as large."
        )
