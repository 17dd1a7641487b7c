"""Rows of sources in memory: all of them, or some that are drawn by the hashes of their places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.sample import bounded_rows
from ..data.source import Source
from ..tables.columns import TableError
from ..typing import IntArray
from .recognising import as_source

MOST_NUMBERS = 20_000_000
"""Numbers of a source that are taken into memory as a whole."""


def in_memory(value: Any, label: str, instead: str) -> Any:
    """A source as one table or array; anything else as it is.

    One of very many numbers is refused, and ``instead`` says what takes it.

    Examples
    --------
    >>> import numpy as np
    >>> in_memory([np.zeros((3, 2)), np.ones((1, 2))], "source", "").shape
    (4, 2)
    """
    source = None if isinstance(value, np.ndarray) else as_source(value, label)
    if source is None:
        return value
    numbers = source.rows * source.n_columns
    if numbers > MOST_NUMBERS:
        raise TableError(
            f"{label} must have at most {MOST_NUMBERS:,} numbers where it is taken into memory; "
            f"received {source.rows:,} rows of {source.n_columns} columns. {instead}"
        )
    return _rows(source, None)


def drawn_together(values: Mapping[str, Any], most: int) -> tuple[list[Any], str]:
    """Rows of paired sources in memory, the same ones of each, and a sentence where not all are.

    What is no source is as it was, if none of them is one.

    Examples
    --------
    >>> import numpy as np
    >>> x = [np.arange(6.0)[:, None], np.arange(6.0, 9.0)[:, None]]
    >>> (a, b), told = drawn_together({"x": x, "y": np.arange(9.0)}, 4)
    >>> a[:, 0].tolist() == b.tolist(), told
    (True, '4 of 9 rows were drawn, by hashes of their places.')
    """
    sources = {
        name: None if isinstance(value, np.ndarray) else as_source(value, name)
        for name, value in values.items()
    }
    found = [one for one in sources.values() if one is not None]
    if not found:
        return list(values.values()), ""
    rows = found[0].rows
    lengths = {
        name: len(value) if source is None else source.rows
        for (name, value), source in zip(values.items(), sources.values(), strict=True)
        if value is not None
    }
    if len(set(lengths.values())) > 1:
        raise TableError(
            f"{' and '.join(lengths)} must have the same number of rows; received "
            f"{', '.join(f'{n:,}' for n in lengths.values())}."
        )
    at = None if rows <= most else bounded_rows(rows, most)
    told = "" if at is None else f"{most:,} of {rows:,} rows were drawn, by hashes of their places."
    return [
        _taken(value, at) if source is None else _rows(source, at)
        for value, source in zip(values.values(), sources.values(), strict=True)
    ], told


def _rows(source: Source, at: IntArray | None) -> Any:
    """The rows of a source, or those at some places, which are in order."""
    held, first = [], 0
    for batch in source.batches():
        n = len(batch)
        if at is not None:
            begin, end = np.searchsorted(at, [first, first + n])
            own = at[begin:end] - first
            batch = batch[own] if source.names is None else batch.take(own)
        held.append(batch)
        first += n
    if source.names is None:
        return np.concatenate(held)
    import pyarrow as pa

    return pa.concat_tables(held, promote_options="permissive").combine_chunks()


def _taken(value: Any, at: IntArray | None) -> Any:
    """Rows at some places of what is in memory."""
    if value is None or at is None:
        return value
    import narwhals as nw

    frame = nw.from_native(value, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.Series):
        return frame[at].to_native()
    return np.asarray(value)[at]
