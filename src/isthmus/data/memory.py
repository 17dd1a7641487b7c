"""Rows in memory as a source: an array, a table, or something that gives its batches anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .source import Source, joined

PART_ROWS = 1 << 18
"""Rows of a part: what one task works on."""


def array_source(rows: np.ndarray, label: str, weight: np.ndarray | None = None) -> Source:
    """Rows of an array of shape (n, d), which is not copied.

    Where they have weights, a batch is a tuple of the rows and of these.

    Examples
    --------
    >>> import numpy as np
    >>> array_source(np.zeros((300_000, 2)), "p").parts[1].first
    262144
    """
    pieces: list[tuple[int, Any]] = []
    for begin in range(0, len(rows), PART_ROWS):
        at = slice(begin, min(begin + PART_ROWS, len(rows)))
        pieces.append((at.stop - begin, rows[at] if weight is None else (rows[at], weight[at])))
    return Source(joined(pieces, _read_piece), None, rows.shape[1], label)


def table_source(table: Any, label: str) -> Source:
    """Rows of a ``pyarrow.Table``, which is not copied."""
    pieces = [table.slice(at, PART_ROWS) for at in range(0, len(table), PART_ROWS)]
    parts = joined([(len(piece), piece) for piece in pieces], _read_piece)
    return Source(parts, tuple(table.column_names), table.num_columns, label)


def batches_source(batches: Iterable[Any], label: str) -> Source:
    """Batches that can be gone through again and again: arrays, or tables of ``pyarrow``.

    They are counted once. A list has a part for every batch, anything else is one part.
    """
    if iter(batches) is batches:
        raise ValueError(
            f"{label} must give its batches anew each time it is gone through, as a list does or "
            f"an object whose __iter__ reads them; received a {type(batches).__name__}, which "
            "gives them once."
        )
    counts, first = [], None
    for batch in batches:
        first = batch if first is None else first
        counts.append(len(batch))
    if first is None:
        raise ValueError(f"{label} must have at least one batch of rows; received none.")
    names = None if isinstance(first, np.ndarray) else tuple(first.column_names)
    width = first.shape[1] if first.ndim == 2 else 1
    if isinstance(batches, list | tuple):
        parts = joined(list(zip(counts, batches, strict=True)), _read_piece)
    else:
        parts = joined([(sum(counts), batches)], _read_batches)
    return Source(parts, names, width, label)


def _read_piece(piece: Any, names: tuple[str, ...] | None) -> Iterator[Any]:
    """The payload itself."""
    yield piece if names is None else piece.select(list(names))


def _read_batches(batches: Iterable[Any], names: tuple[str, ...] | None) -> Iterator[Any]:
    """The payload's batches."""
    for batch in batches:
        yield batch if names is None else batch.select(list(names))
