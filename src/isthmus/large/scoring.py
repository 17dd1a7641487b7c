"""The last pass: every row's log-ratio, in bins, and what rows say against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.source import Batch
from ..functionals.binned import Binned
from ..typing import Array, IntArray
from .judged import Counting, Counts
from .pieces import Piece, Pieces

_BINNED_ROWS = 1 << 19
"""Log-ratios that are put into bins at a time."""


@dataclass(frozen=True)
class Scored:
    """Log-ratios in bins, and rows in ranges of the columns; two of them add up."""

    binned: Binned
    counts: Counts

    def __add__(self, other: Scored) -> Scored:
        return Scored(self.binned + other.binned, self.counts + other.counts)


@dataclass(frozen=True)
class Scoring:
    """Log-ratios of the rows of a part in bins.

    Attributes
    ----------
    pieces : Pieces
    log_ratios : sequence of callable
        One function of rows for each group of rows, fitted without it; or one for all rows.
    seen : ndarray of int or None
        Numbers of the rows that it was fitted to, in order, which are left out.
    counting : Counting
        Counts the rows in ranges of their columns.
    """

    pieces: Pieces
    log_ratios: Sequence[Callable[[Array], Array]]
    seen: IntArray | None
    counting: Counting

    def __call__(self, batches: Iterator[Batch], first: int) -> Scored | None:
        """The bins and counts of a part; None where no row is left."""
        found: Binned | None = None
        counts: Counts | None = None
        values: list[Array] = []
        weights: list[Array | None] = []
        for piece, last in _with_end(self._own(batches, first)):
            if piece is not None:
                values.append(self._at(piece))
                weights.append(piece.weight)
                counted = self.counting(piece, values[-1])
                counts = counted if counts is None else counts + counted
            if values and (last or sum(map(len, values)) >= _BINNED_ROWS):
                weight = None
                if weights[0] is not None:
                    weight = np.concatenate([own for own in weights if own is not None])
                one = Binned.of(np.concatenate(values), weight)
                found = one if found is None else found + one
                values, weights = [], []
        return None if found is None or counts is None else Scored(found, counts)

    def _at(self, piece: Piece) -> Array:
        """Log-ratios of rows, each by the function of its group."""
        if len(self.log_ratios) == 1:
            return self.log_ratios[0](piece.rows)
        order, ends = piece.ordered(len(self.log_ratios))
        rows, out = piece.rows.take(order, axis=0), np.empty(len(order))
        for k, f in enumerate(self.log_ratios):
            at = slice(ends[k], ends[k + 1])
            if at.stop > at.start:
                out[order[at]] = f(rows[at])
        return out

    def _own(self, batches: Iterator[Batch], first: int) -> Iterator[Piece]:
        for piece in self.pieces(batches, first):
            own = piece if self.seen is None else piece.without(self.seen)
            if len(own.rows):
                yield own


def _with_end(pieces: Iterator[Piece]) -> Iterator[tuple[Piece | None, bool]]:
    """The pieces, and at the end that it is the end."""
    for piece in pieces:
        yield piece, False
    yield None, True
