"""From batches of a source to rows of numbers, with weights and with the numbers of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..data.projection import Projection
from ..data.sample import row_hash
from ..data.source import Batch
from ..data.validation import as_weight
from ..tables.columns import as_columns
from ..typing import Array, IntArray

PIECE_ROWS = 1 << 14
"""Rows that are worked on at a time: few enough to stay in the cache."""

GROUPS = 20
"""Groups of rows, by a hash of the row: fits without each of them tell the error of a fit."""

_FOLDS = 1
"""The block of hashes that groups come from; that of the sample is another."""


class Piece(NamedTuple):
    """Some rows that count, in the order of their source.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
    weight : ndarray of shape (n,) or None
        None where every row counts once.
    numbers : ndarray of int
        Numbers of the rows among all rows of their source.
    """

    rows: Array
    weight: Array | None
    numbers: IntArray

    def take(self, at: Any) -> Piece:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[at]
        return Piece(self.rows[at], weight, self.numbers[at])

    def without(self, places: IntArray) -> Piece:
        """Those rows whose numbers are not among some, which are in order."""
        first, last = np.searchsorted(places, [self.numbers[0], self.numbers[-1] + 1])
        if first == last:
            return self
        kept = np.ones(len(self.numbers), dtype=bool)
        kept[np.searchsorted(self.numbers, places[first:last])] = False
        return self.take(kept)

    def groups(self, count: int) -> Iterator[tuple[int, Piece]]:
        """The rows of each of so many groups, for groups that have some."""
        if count == 1:
            yield 0, self
            return
        order, ends = self.ordered(count)
        ordered = self.take(order)
        for k, (begin, end) in enumerate(pairwise(ends)):
            if end > begin:
                yield k, ordered.take(slice(begin, end))

    def ordered(self, count: int) -> tuple[IntArray, IntArray]:
        """Places of the rows of one group after the other, and where these begin and end."""
        group = groups_of(self.numbers, count)
        ends = np.cumsum(np.bincount(group, minlength=count))
        return np.argsort(group, kind="stable"), np.concatenate([[0], ends])


def groups_of(numbers: IntArray, count: int) -> np.ndarray:
    """Group of every row, by the hash of its number."""
    first, n = int(numbers[0]), int(numbers[-1] - numbers[0]) + 1
    group = (row_hash(_FOLDS, n, first) % np.uint64(count)).astype(np.uint8)
    return group if n == len(numbers) else group[numbers - first]


@dataclass(frozen=True)
class Pieces:
    """What turns the batches of a part into pieces; it can be pickled.

    Attributes
    ----------
    label : str
        What messages call the sample.
    columns : int
        Number of columns of arrays.
    encoder : TableEncoder or None
        What turns tables into rows of numbers.
    weight : str or None
        The column of a table that holds the weights of its rows.
    projection : Projection or None
        Directions that stand for very many columns.
    missing : bool
        Whether arrays may hold NaN.
    """

    label: str
    columns: int
    encoder: Any = None
    weight: str | None = None
    projection: Projection | None = None
    missing: bool = False

    def __call__(self, batches: Iterator[Batch], first: int) -> Iterator[Piece]:
        """The pieces of a part, whose first row has this number."""
        for batch in batches:
            n = len(batch[0]) if isinstance(batch, tuple) else len(batch)
            for begin in range(0, n, PIECE_ROWS):
                end = min(begin + PIECE_ROWS, n)
                piece = self._piece(_cut(batch, begin, end), first + begin)
                if len(piece.rows):
                    yield piece
            first += n

    def _piece(self, batch: Batch, first: int) -> Piece:
        if isinstance(batch, np.ndarray | tuple):
            rows, weight = batch if isinstance(batch, tuple) else (batch, None)
            rows = self._checked(rows, first)
            numbers = np.arange(first, first + len(rows))
        else:
            rows, weight, numbers = self._encoded(batch, first)
        if self.projection is not None:
            rows = self.projection(rows)
        piece = Piece(rows, weight, numbers)
        if weight is not None and not weight.all():
            piece = piece.take(weight > 0)
        return piece

    def _checked(self, batch: np.ndarray, first: int) -> Array:
        """Rows of an array, all of them finite numbers."""
        if batch.ndim != 2 or batch.shape[1] != self.columns:
            raise ValueError(
                f"{self.label} must have {self.columns} columns in every batch; received one of "
                f"shape {batch.shape} from row {first} on."
            )
        rows = np.ascontiguousarray(batch, dtype=np.float64)
        # One sum tells of nearly all blocks that there is nothing to look for.
        if np.isfinite(rows.sum()):
            return rows
        bad = np.isinf(rows) if self.missing else ~np.isfinite(rows)
        if bad.any():
            at, column = np.argwhere(bad)[0]
            kind = "NaN" if np.isnan(rows[at, column]) else "infinity"
            raise ValueError(
                f"{self.label} must be finite; received {kind} in row {first + at}, column "
                f"{column}."
            )
        return rows

    def _encoded(self, batch: Any, first: int) -> tuple[Array, Array | None, IntArray]:
        """Rows of a table, without those that are left out."""
        rows, kept = plain_rows(batch, self.encoder), np.ones(1, dtype=bool)
        if rows is None:
            rows, kept = self.encoder.rows_of(batch, self.label)
        weight, numbers = None, np.arange(first, first + len(batch))
        if self.weight is not None:
            column = as_columns(batch, self.label, [self.weight])[self.weight].numbers
            weight = as_weight(column, len(batch), f"Column {self.weight!r} of {self.label}")
        if not kept.all():
            weight, numbers = None if weight is None else weight[kept], numbers[kept]
        return rows, weight, numbers


def plain_rows(batch: Any, encoder: Any) -> Array | None:
    """Columns of numbers that are used as they are, without a detour; None for any others."""
    from pyarrow import types

    plans = encoder.plans
    if not all(
        plan.kind == plan.source_kind == "number" and plan.scale == 1.0 and not plan.indicator
        for plan in plans
    ):
        return None
    out = np.empty((len(batch), len(plans)))
    for k, plan in enumerate(plans):
        column = batch.column(plan.source)
        is_number = types.is_floating(column.type) or types.is_integer(column.type)
        if column.null_count or not is_number:
            return None
        begin = 0
        for chunk in column.chunks:
            out[begin : begin + len(chunk), k] = chunk.to_numpy()
            begin += len(chunk)
    # NaN is a value that is missing.
    return out if np.isfinite(out.sum()) else None


def _cut(batch: Batch, begin: int, end: int) -> Batch:
    """Some rows of a batch, without a copy."""
    if isinstance(batch, tuple):
        return tuple(part[begin:end] for part in batch)
    return batch[begin:end] if isinstance(batch, np.ndarray) else batch.slice(begin, end - begin)
