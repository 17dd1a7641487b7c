"""The first pass over arrays: every row is looked at, and some are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..data.sample import Sample, bounded_rows
from ..data.source import Batch
from ..typing import Array, IntArray
from .pieces import Pieces

_NUMBERS, _FEWEST, _MOST = 160_000, 8_000, 40_000

DRAWN_ROWS = 50_000
"""Rows of each sample that are drawn: of those beyond the sample some choices are judged."""


def sample_rows(columns: int) -> int:
    """How many rows of each sample are kept: what is chosen is chosen on these.

    Examples
    --------
    >>> [sample_rows(columns) for columns in (1, 20, 300)]
    [40000, 8000, 8000]
    """
    return int(np.clip(_NUMBERS // max(columns, 1), _FEWEST, _MOST))


@dataclass(frozen=True)
class Kept:
    """Rows that were kept, in order, with their weights and numbers; two of them add up."""

    rows: Array
    weight: Array
    numbers: IntArray

    def __add__(self, other: Kept) -> Kept:
        return Kept(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.numbers, other.numbers]),
        )

    def take(self, at: IntArray) -> Kept:
        """Some of the rows."""
        return Kept(self.rows[at], self.weight[at], self.numbers[at])

    def parted(self, places: IntArray) -> tuple[Kept, Kept]:
        """The rows with some numbers, and the others."""
        at = np.isin(self.numbers, places, assume_unique=True)
        return self.take(np.flatnonzero(at)), self.take(np.flatnonzero(~at))

    @property
    def sample(self) -> Sample:
        """The rows with their weights."""
        return Sample(self.rows, self.weight)


@dataclass(frozen=True)
class Keep:
    """Looks at every row of a part and keeps those with some numbers, which are in order."""

    pieces: Pieces
    places: IntArray

    @classmethod
    def of(cls, pieces: Pieces, rows: int, most: int | None = None) -> Keep:
        """The task for a source of so many rows of numbers; by default those of the sample."""
        return cls(pieces, bounded_rows(rows, most or sample_rows(pieces.columns)))

    def __call__(self, batches: Iterator[Batch], first: int) -> Kept:
        """What is kept of a part, whose first row has this number."""
        found = Kept(np.empty((0, self.pieces.columns)), np.empty(0), np.empty(0, dtype=np.intp))
        for rows, weight, numbers in self.pieces(batches, first):
            begin, end = np.searchsorted(self.places, [numbers[0], numbers[-1] + 1])
            at = np.flatnonzero(np.isin(numbers, self.places[begin:end], assume_unique=True))
            own = np.ones(len(at)) if weight is None else weight[at]
            found += Kept(rows[at], own, numbers[at])
        return found
