"""Batches that can be gone through again and again: arrays, frames, tables of pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..data.source import Source, joined
from ..tables.arrow import arrow_table
from ..tables.columns import TableError, column_names, is_table


def is_batch(value: Any) -> bool:
    """Whether something is a frame or an array of rows."""
    return (isinstance(value, np.ndarray) and value.ndim == 2) or is_table(value)


def batches_source(batches: Iterable[Any], label: str) -> Source:
    """Rows in batches; they are counted once.

    A list has a part for every batch, so that these may be read in several processes; anything else
    is one part.

    Examples
    --------
    >>> source = batches_source([{"x": [1, 2]}, {"x": [3]}], "p")
    >>> source.rows, source.names, [part.first for part in source.parts]
    (3, ('x',), [0, 2])
    """
    sizes: list[int] = []
    names, width = None, 0
    for k, batch in enumerate(batches):
        own, size = _shape(batch, label, k)
        if k == 0:
            names, width = own if isinstance(own, tuple) else None, len_of(own)
        elif own != (width if names is None else names):
            received = own if isinstance(own, int) else list(own)
            wanted = width if names is None else list(names)
            raise TableError(
                f"{label} must have the same columns in all batches; received {received} in batch "
                f"{k}, and {wanted} in the first."
            )
        sizes.append(size)
    if not sum(sizes):
        raise TableError(f"{label} must have at least one row; received none.")
    if isinstance(batches, list | tuple):
        pieces = [(size, (one,)) for size, one in zip(sizes, batches, strict=True) if size]
        return Source(joined(pieces, read_batches), names, width, label)
    return Source(joined([(sum(sizes), batches)], read_batches), names, width, label)


def read_batches(batches: Iterable[Any], names: tuple[str, ...] | None) -> Iterator[Any]:
    """Arrays as they are, and frames as tables with these columns."""
    for batch in batches:
        yield batch if names is None else arrow_table(batch, "the batch", names)


def one_shot(value: Any, label: str) -> TableError:
    """What can be gone through only once, in words."""
    return TableError(
        f"{label} must give its rows anew in every pass, as a list of batches does or an object "
        f"whose __iter__ begins again; received a {type(value).__name__}, which gives them once."
    )


def len_of(columns: int | tuple[str, ...]) -> int:
    """How many columns there are."""
    return columns if isinstance(columns, int) else len(columns)


def _shape(batch: Any, label: str, k: int) -> tuple[int | tuple[str, ...], int]:
    """Names of the columns, or their number, and the number of rows."""
    if isinstance(batch, np.ndarray) and batch.ndim == 2:
        return int(batch.shape[1]), len(batch)
    if not is_table(batch):
        raise TableError(
            f"{label} must have batches that are frames or arrays of two dimensions; received a "
            f"{type(batch).__name__} as batch {k}."
        )
    names = tuple(column_names(batch, label))
    if not names:
        raise TableError(f"{label} must have columns; received a batch without any.")
    return names, len(arrow_table(batch, label, names[:1]))
