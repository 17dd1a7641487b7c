"""Some rows of a table, drawn by the hashes of their numbers: the same however it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..typing import Array
from .columns import Column
from .parts import joined

DRAWN_ROWS = 50_000
"""Rows that medians, margins and what is said of very many levels rest on."""

_ALL = 2**64


def below(most: int, rows: int) -> int:
    """A number that hashes of the rows to draw are below, and those of hardly any others.

    Of n rows at least ``most`` are below it, but for a chance of 1e-9.

    Examples
    --------
    >>> below(100, 50) == 2**64, below(100, 10_000) < 2**59
    (True, True)
    """
    share = (most + 6.0 * np.sqrt(most) + 36.0) / max(rows, 1)
    return _ALL if share >= 1.0 else int(share * _ALL)


@dataclass(frozen=True)
class Drawn:
    """Rows with the smallest hashes, in order.

    Attributes
    ----------
    most : int
        Largest number of rows.
    places : ndarray of int
        Their numbers among all rows.
    hashes : ndarray of uint64
    weight : ndarray
    columns : mapping of str to Column
    """

    most: int
    places: np.ndarray
    hashes: np.ndarray
    weight: Array
    columns: Mapping[str, Column]

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Column],
        weight: Array,
        hashes: np.ndarray,
        places: np.ndarray,
        most: int = DRAWN_ROWS,
        limit: int = _ALL,
    ) -> Drawn:
        """Draw from rows of which all are given; none with a hash of at least ``limit``."""
        at = np.arange(len(hashes))
        if limit < _ALL:
            at = np.flatnonzero(hashes < np.uint64(limit))
        found = cls(most, places, hashes, weight, columns)
        return found.take(at[_smallest(hashes[at], most)])

    def __len__(self) -> int:
        return len(self.places)

    def __add__(self, other: Drawn) -> Drawn:
        columns = {name: joined([one, other.columns[name]]) for name, one in self.columns.items()}
        found = Drawn(
            self.most,
            np.concatenate([self.places, other.places]),
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.weight, other.weight]),
            columns,
        )
        return found.take(_smallest(found.hashes, self.most))

    def counting(self, most: int) -> np.ndarray:
        """Places here of at most so many rows that count, in order: those of smallest hashes."""
        there = np.flatnonzero(self.weight > 0)
        return np.asarray(there[_smallest(self.hashes[there], most)])

    def take(self, at: np.ndarray) -> Drawn:
        """Some of the rows, in order."""
        if len(at) == len(self.places):
            return self
        return Drawn(
            self.most,
            self.places[at],
            self.hashes[at],
            self.weight[at],
            {name: one.take(at).seen() for name, one in self.columns.items()},
        )


def _smallest(hashes: np.ndarray, most: int) -> np.ndarray:
    if len(hashes) <= most:
        return np.arange(len(hashes))
    return np.sort(np.argpartition(hashes, most)[:most])
