"""Rows that are read again for every pass, wherever they lie.

A :class:`Source` is a list of parts in order; a :class:`Part` says how to read some consecutive
rows of it. Both are plain values, so that a part can be read in any process. A row is known by its
number among all rows of its source, so how they lie in parts and batches changes no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

Batch: TypeAlias = Any
"""Some consecutive rows: an array of shape (n, d), or a ``pyarrow.Table``."""

Read: TypeAlias = Callable[[Any, "tuple[str, ...] | None"], Iterator[Batch]]
"""From a part's payload and the names of columns to its batches, the same ones each time."""


@dataclass(frozen=True)
class Part:
    """Consecutive rows of a source, and how to read them.

    Attributes
    ----------
    first : int
        Number of its first row among all rows of the source.
    rows : int
        Number of rows; the batches must hold exactly these.
    payload : object
        What must travel to the process that reads: a path and row groups, a slice of an array, a
        partition of a Dask frame (which an engine may replace by what it computes to).
    read : callable
        ``read(payload, columns)`` yields the batches: tables with these columns in this order, or
        arrays where ``columns`` is None. It can be pickled: a function of a module, or an instance.
    """

    first: int
    rows: int
    payload: Any
    read: Read


@dataclass(frozen=True)
class Source:
    """Rows in parts.

    Attributes
    ----------
    parts : tuple of Part
        In order; the first row of each is the last of the one before plus one.
    names : tuple of str or None
        Names of the columns that are read, in this order; None for arrays.
    n_columns : int
        Number of columns that are read.
    label : str
        What messages call it: "p", or the name of the file.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.data.memory import array_source
    >>> source = array_source(np.arange(10.0).reshape(5, 2), "p")
    >>> source.rows, source.n_columns, [batch.shape for batch in source.batches()]
    (5, 2, [(5, 2)])
    """

    parts: tuple[Part, ...]
    names: tuple[str, ...] | None
    n_columns: int
    label: str

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(part.rows for part in self.parts)

    def only(self, names: Sequence[str]) -> Source:
        """The same rows with some of the columns, so that no other is read."""
        return replace(self, names=tuple(names), n_columns=len(names))

    def batches(self) -> Iterator[Batch]:
        """All batches in order, read in this process."""
        for part in self.parts:
            yield from part.read(part.payload, self.names)


def joined(pieces: Sequence[tuple[int, Any]], read: Read) -> tuple[Part, ...]:
    """Parts in order from their numbers of rows and payloads.

    Examples
    --------
    >>> [part.first for part in joined([(3, "a"), (4, "b")], read=lambda payload, names: iter(()))]
    [0, 3]
    """
    parts, first = [], 0
    for rows, payload in pieces:
        parts.append(Part(first, rows, payload, read))
        first += rows
    return tuple(parts)
