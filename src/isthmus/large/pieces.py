"""From batches of a source to rows of numbers, with weights and with the numbers of the rows."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from ..data.projection import Projection
from ..data.sample import row_hash
from ..data.source import Batch
from ..data.validation import as_weight
from ..tables.columns import as_columns
from ..typing import Array, BoolArray, IntArray

PIECE_ROWS = 1 << 13
"""Rows that are worked on at a time: few enough to stay in the cache."""

GROUPS = 20
"""Groups of rows, by a hash of the row: fits without each of them tell the error of a fit."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Options of glibc: what is kept, and the size of arrays that have memory of their own."""

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
        rows = self.rows[at] if isinstance(at, slice) else _taken(self.rows, at)
        return Piece(rows, weight, self.numbers[at])

    def without(self, places: IntArray) -> Piece:
        """Those rows whose numbers are not among some, which are in order."""
        first, last = np.searchsorted(places, [self.numbers[0], self.numbers[-1] + 1])
        if first == last:
            return self
        kept = np.ones(len(self.numbers), dtype=bool)
        kept[np.searchsorted(self.numbers, places[first:last])] = False
        return self.take(kept)

    def drawn(self, one_in: int, block: int) -> BoolArray:
        """Which rows are drawn, one in so many, by the hashes of a block."""
        first, n = int(self.numbers[0]), int(self.numbers[-1] - self.numbers[0]) + 1
        found: BoolArray = row_hash(block, n, first) % np.uint64(one_in) == 0
        return found if n == len(self.numbers) else found[self.numbers - first]

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
        keep_memory()
        for batch in batches:
            n = len(batch[0]) if isinstance(batch, tuple) else len(batch)
            plain = None
            if self.encoder is not None:
                plain = plain_columns(batch, self.encoder)
            for begin in range(0, n, PIECE_ROWS):
                at = slice(begin, min(begin + PIECE_ROWS, n))
                piece = self._piece(batch, plain, at, first + begin)
                if len(piece.rows):
                    yield piece
            first += n

    def _piece(
        self, batch: Batch, plain: Sequence[np.ndarray] | None, at: slice, first: int
    ) -> Piece:
        numbers = np.arange(first, first + at.stop - at.start)
        weight = None
        if plain is not None:
            rows, weight = side_by_side(plain, at), self._weight(batch, at)
        elif isinstance(batch, np.ndarray | tuple):
            rows, weight = batch if isinstance(batch, tuple) else (batch, None)
            rows, weight = self._checked(rows[at], first), None if weight is None else weight[at]
        else:
            rows, kept = self.encoder.rows_of(batch.slice(at.start, len(numbers)), self.label)
            weight = self._weight(batch, at)
            if not kept.all():
                weight, numbers = None if weight is None else weight[kept], numbers[kept]
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

    def _weight(self, batch: Any, at: slice) -> Array | None:
        """Weights of some rows of a table."""
        if self.weight is None:
            return None
        some = batch.slice(at.start, at.stop - at.start)
        column = as_columns(some, self.label, [self.weight])[self.weight].numbers
        return as_weight(column, len(some), f"Column {self.weight!r} of {self.label}")


def together(pieces: Iterator[Piece], numbers: int) -> Iterator[Piece]:
    """Pieces joined, so many that each has some number of numbers."""
    held: list[Piece] = []
    for piece in pieces:
        held.append(piece)
        if sum(one.rows.size for one in held) >= numbers:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _joined(held: Sequence[Piece]) -> Piece:
    weights = [one.weight for one in held if one.weight is not None]
    return Piece(
        np.concatenate([one.rows for one in held]),
        np.concatenate(weights) if weights else None,
        np.concatenate([one.numbers for one in held]),
    )


def plain_columns(batch: Any, encoder: Any) -> list[np.ndarray] | None:
    """Columns of numbers that are used as they are, without a detour; None for any others."""
    plans = encoder.plans
    if not all(
        plan.kind == plan.source_kind == "number" and plan.scale == 1.0 and not plan.indicator
        for plan in plans
    ):
        return None
    found = [numbers_of(batch.column(plan.source)) for plan in plans]
    return None if any(column is None for column in found) else cast("list[np.ndarray]", found)


def numbers_of(column: Any) -> np.ndarray | None:
    """A column of a table of pyarrow as it lies; None where a number is missing or infinite."""
    from pyarrow import types

    whole = types.is_integer(column.type)
    if column.null_count or not (whole or types.is_floating(column.type)):
        return None
    values = column.chunk(0).to_numpy() if column.num_chunks == 1 else column.to_numpy()
    # Either is NaN where one number is.
    if len(values) and not whole and not np.isfinite([values.min(), values.max()]).all():
        return None
    return np.asarray(values)


def side_by_side(columns: Sequence[np.ndarray], at: slice) -> Array:
    """Some rows of columns as an array of shape (n, d)."""
    out = np.empty((at.stop - at.start, len(columns)))
    for k, column in enumerate(columns):
        out[:, k] = column[at]
    return out


def _taken(rows: Array, at: np.ndarray) -> Array:
    """Rows at some places, or where something holds; twice as quick as by an index."""
    return rows.take(np.flatnonzero(at) if at.dtype == bool else at, axis=0)


@cache
def keep_memory() -> None:
    """Have this process keep the memory of arrays that it lets go of, up to some 64 MB.

    Otherwise glibc gives the memory of every array above a megabyte back, or above 128 kB where
    Dask has told it to, and the system clears each of its pages anew: for sums over rows this
    takes several times as long as the sums. Other systems have other ways.
    """
    if not sys.platform.startswith("linux"):
        return
    # musl has no such function.
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        for option, size in ((_TRIM_THRESHOLD, 1 << 26), (_MMAP_THRESHOLD, 1 << 25)):
            set_option(option, size)
