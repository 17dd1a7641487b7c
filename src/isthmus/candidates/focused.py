"""Another candidate on a few columns: those of the features that tell p from q most clearly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..typing import Array, IntArray
from .base import Candidate, FittedCandidate, Rows
from .sparse import strongest

_RANK_ROWS = 10_000
_LEAST_ROWS = 100
_FEATURES = 20
_COLUMNS = 10


@dataclass(frozen=True)
class Focused:
    """A candidate that sees few of many columns.

    Attributes
    ----------
    inner : Candidate
    columns : int
        How many columns it sees.
    """

    inner: Candidate
    columns: int = 4
    takes_before = True

    @property
    def name(self) -> str:
        """What it is called in the record of a stack."""
        return f"{self.inner.name} in {self.columns} columns"

    def suits(self, samples: TwoSamples) -> bool:
        """Whether there are many more columns, and rows to tell which ones matter."""
        return samples.n_columns > max(2 * self.columns, _COLUMNS) and samples.least >= _LEAST_ROWS

    def settled(self, rows: Rows, seeds: Seeds) -> Focused:
        """The same with the choices of the candidate made."""
        return replace(self, inner=self.inner.settled(_some(rows, self._at(rows)), seeds))

    def fit(self, rows: Rows, seeds: Seeds) -> FocusedFit:
        """Choose the columns, and fit."""
        at = self._at(rows)
        return FocusedFit(at, self.inner.fit(_some(rows, at), seeds))

    def _at(self, rows: Rows) -> IntArray:
        return strongest(rows.samples.bounded(_RANK_ROWS), _FEATURES)[: self.columns]


@dataclass(frozen=True)
class FocusedFit:
    """A fitted candidate, and the columns that it sees."""

    at: IntArray
    fit: FittedCandidate

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        return self.fit.log_ratio(np.ascontiguousarray(rows[:, self.at]), before)


def _some(rows: Rows, at: IntArray) -> Rows:
    return Rows(rows.samples.map(lambda x: np.ascontiguousarray(x[:, at])), *rows.before)
