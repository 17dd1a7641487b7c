"""Frames and arrays of Dask: a part is a partition, which stays where it is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.source import Source, joined
from ..tables.arrow import arrow_table
from ..tables.columns import TableError


@dataclass(frozen=True)
class DaskSource(Source):
    """Partitions of a Dask frame, of which only the columns that are asked for are computed.

    Attributes
    ----------
    frame : dask.dataframe.DataFrame or dask.array.Array
        What was given: as long as it is there, a cluster keeps what it has computed of it.
    """

    frame: Any = None

    def only(self, names: Sequence[str]) -> Source:
        """The same rows with some of the columns."""
        sizes = [part.rows for part in self.parts]
        parts = joined(_sized(_named(self.frame)[list(names)], sizes), read_partition)
        return DaskSource(parts, tuple(names), len(names), self.label, self.frame)


def frame_source(frame: Any, label: str) -> Source:
    """A ``dask.dataframe.DataFrame``; the rows of its partitions are counted once."""
    names = [str(name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"Column names of {label} must differ; received {twice!r} twice.")
    named = _named(frame)
    from dask import compute, delayed

    # Partition by partition: a sum over all of them may read several as one.
    counted = [delayed(len)(part) for part in named[names[:1]].to_delayed()]
    sizes = [int(n) for n in compute(*counted)]
    parts = joined(_sized(named, sizes), read_partition)
    if not sum(sizes):
        raise TableError(f"{label} must have at least one row; received none.")
    return DaskSource(parts, tuple(names), len(names), label, frame)


def array_source(array: Any, label: str) -> Source:
    """A ``dask.array.Array`` of one or two dimensions, in blocks of rows."""
    if array.ndim not in (1, 2):
        raise TableError(f"{label} must have one or two dimensions; received shape {array.shape}.")
    given = array
    array = array[:, None] if array.ndim == 1 else array
    if any(np.isnan(n) for n in array.chunks[0]):
        array = array.compute_chunk_sizes()
    array = array.rechunk({1: -1})
    blocks = array.to_delayed().reshape(-1)
    pieces = [(int(n), one) for n, one in zip(array.chunks[0], blocks, strict=True) if n]
    if not pieces:
        raise TableError(f"{label} must have at least one row; received none.")
    return DaskSource(joined(pieces, read_partition), None, int(array.shape[1]), label, given)


def read_partition(piece: Any, names: tuple[str, ...] | None) -> Iterator[Any]:
    """The partition, which an engine may have computed."""
    found = piece.compute() if hasattr(piece, "dask") else piece
    yield np.asarray(found) if names is None else arrow_table(found, "the partition", names)


def _named(frame: Any) -> Any:
    """The frame with names that are text."""
    if all(isinstance(name, str) for name in frame.columns):
        return frame
    return frame.rename(columns={name: str(name) for name in frame.columns})


def _sized(frame: Any, sizes: Sequence[int]) -> list[tuple[int, Any]]:
    """Partitions with their numbers of rows."""
    return list(zip(sizes, frame.to_delayed(), strict=True))
