"""The last pass: every row's log-ratio, in bins, and what rows say against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.source import Batch
from ..functionals.binned import Binned
from ..typing import Array, IntArray
from .coefficients import Curve
from .judged import Counting, Counts
from .moving import MovingBins
from .pieces import Piece, Pieces

_BINNED_ROWS = 1 << 19
"""Log-ratios that are put into bins at a time."""


@dataclass(frozen=True)
class Scored:
    """Log-ratios in bins, and rows in ranges of the columns; two of them add up.

    Attributes
    ----------
    binned : Binned or MovingBins
    counts : Counts
    curve : Curve or None
        Of a stack: how its coefficients should be.
    """

    binned: Any
    counts: Counts
    curve: Curve | None = None

    def __add__(self, other: Scored) -> Scored:
        curve = self.curve
        if curve is not None and other.curve is not None:
            curve = curve + other.curve
        return Scored(self.binned + other.binned, self.counts + other.counts, curve)


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
    maps : callable or None
        What turns rows into those that the functions take, once for all of them.
    """

    pieces: Pieces
    log_ratios: Sequence[Callable[[Array], Array]]
    seen: IntArray | None
    counting: Counting
    maps: Callable[[Array], Array] | None = None

    def __call__(self, batches: Iterator[Batch], first: int) -> Scored | None:
        """The bins and counts of a part; None where no row is left."""
        found: Scored | None = None
        for rows in _blocks(self.pieces, self.seen, batches, first):
            ratios, counts = [], []
            for piece in rows:
                ratios.append(self._at(piece))
                counts.append(self.counting(piece, ratios[-1]))
            binned = Binned.of(np.concatenate(ratios), _weights(rows))
            one = Scored(binned, sum(counts[1:], start=counts[0]))
            found = one if found is None else found + one
        return found

    def _at(self, piece: Piece) -> Array:
        """Log-ratios of rows, each by the function of its group."""
        rows = piece.rows if self.maps is None else self.maps(piece.rows)
        if len(self.log_ratios) == 1:
            return self.log_ratios[0](rows)
        order, ends = piece.ordered(len(self.log_ratios))
        rows, out = rows.take(order, axis=0), np.empty(len(order))
        for k, f in enumerate(self.log_ratios):
            at = slice(ends[k], ends[k + 1])
            if at.stop > at.start:
                out[order[at]] = f(rows[at])
        return out


@dataclass(frozen=True)
class StackScoring:
    """The same of a stack, in bins that move with its coefficients, and how these should be.

    Attributes
    ----------
    pieces, seen, counting
        As in :class:`Scoring`.
    says : callable
        What every candidate says of rows, shape (n, k).
    coefficients : ndarray of shape (k + 1,)
        Those of the candidates, and the constant.
    sign : float
        1 for rows of p, -1 for those of q.
    """

    pieces: Pieces
    says: Callable[[Array], Array]
    coefficients: Array
    sign: float
    seen: IntArray
    counting: Counting

    def __call__(self, batches: Iterator[Batch], first: int) -> Scored | None:
        """The bins, counts and curve of a part; None where no row is left."""
        found: Scored | None = None
        for rows in _blocks(self.pieces, self.seen, batches, first):
            said, counts = [], []
            for piece in rows:
                said.append(self.says(piece.rows))
                ratio = said[-1] @ self.coefficients[:-1] + self.coefficients[-1]
                counts.append(self.counting(piece, ratio))
            says, weight = np.concatenate(said), _weights(rows)
            one = Scored(
                MovingBins.of(says, weight, self.coefficients),
                sum(counts[1:], start=counts[0]),
                Curve.at(says, weight, self.coefficients, self.sign),
            )
            found = one if found is None else found + one
        return found


def _blocks(
    pieces: Pieces, seen: IntArray | None, batches: Iterator[Batch], first: int
) -> Iterator[list[Piece]]:
    """Pieces without the rows that were seen, so many together as are put into bins at a time."""
    held: list[Piece] = []
    for piece in pieces(batches, first):
        own = piece if seen is None else piece.without(seen)
        if len(own.rows):
            held.append(own)
        if sum(len(one.rows) for one in held) >= _BINNED_ROWS:
            yield held
            held = []
    if held:
        yield held


def _weights(rows: Sequence[Piece]) -> Array | None:
    """Weights of the rows of several pieces."""
    found = [piece.weight for piece in rows if piece.weight is not None]
    return np.concatenate(found) if found else None
