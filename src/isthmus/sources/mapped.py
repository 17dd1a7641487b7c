"""A number for every row of a source: at once, or when Dask is asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..typing import Array
from .recognising import as_source, library_of

RowNumbers = Callable[[Any], Array]
"""From a table or an array to a number for each of its rows."""


def is_lazy(x: Any) -> bool:
    """Whether rows are computed by Dask when they are asked for."""
    return library_of(x) == "dask"


def in_parts(x: Any, f: RowNumbers, name: str) -> Any:
    """What a function gives at the rows of a source; None where ``x`` is no source.

    A Dask frame gives a Dask series of this name with the same divisions, a Dask array a
    Dask array; nothing is computed yet. Any other source gives an array of shape (n,).

    Examples
    --------
    >>> batches = [np.zeros((3, 2)), np.ones((1, 2))]
    >>> in_parts(batches, lambda rows: rows.sum(axis=1), "sum")
    array([0., 0., 0., 2.])
    """
    if isinstance(x, np.ndarray):
        return None
    if is_lazy(x):
        return _by_dask(x, f, name)
    source = as_source(x, "x")
    if source is None:
        return None
    out, done = np.empty(source.rows), 0
    for batch in source.batches():
        out[done : done + len(batch)] = f(batch)
        done += len(batch)
    return out


def _by_dask(x: Any, f: RowNumbers, name: str) -> Any:
    if hasattr(x, "map_partitions"):
        return x.map_partitions(_series, f, name, meta=(name, "float64"))
    if not hasattr(x, "map_blocks"):
        return None
    x = x[:, None] if x.ndim == 1 else x.rechunk({1: -1})
    return x.map_blocks(f, drop_axis=1, dtype=np.float64, meta=np.empty(0))


def _series(frame: Any, f: RowNumbers, name: str) -> Any:
    import pandas as pd

    values = f(frame) if len(frame) else np.empty(0)
    return pd.Series(values, index=frame.index, name=name)
