"""What a value is: a table in memory, or one that is read in parts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.memory import table_source
from ..data.source import Source
from .batches import batches_source, is_batch, one_shot


def as_source(value: Any, label: str) -> Source | None:
    """A source of rows that are read in parts; None for what is an ordinary array or frame.

    Parameters
    ----------
    value : object
        A path of a Parquet file or of a folder of them, or of any other table, which is read; a
        ``pyarrow.dataset.Dataset``, a ``polars.LazyFrame``, a Dask frame or array, or batches: a
        list of frames or arrays, or an object whose ``__iter__`` gives them anew each time.
    label : str
        What messages call it.

    Examples
    --------
    >>> as_source(np.zeros((3, 2)), "p") is None, as_source([np.zeros((3, 2))] * 2, "p").rows
    (True, 6)
    """
    if isinstance(value, Source):
        return replace(value, label=label)
    if isinstance(value, str | os.PathLike):
        return _of_path(Path(value), label)
    library = library_of(value)
    if library == "pyarrow":
        return _of_pyarrow(value, label)
    if library == "polars":
        return _of_polars(value, label)
    if library == "dask":
        return _of_dask(value, label)
    return _of_batches(value, label)


def library_of(value: Any) -> str:
    """The library whose class a value's is, or is derived from; none is imported for it."""
    for base in type(value).__mro__:
        root = base.__module__.partition(".")[0].replace("dask_expr", "dask")
        if root in ("pyarrow", "polars", "dask"):
            return root
    return ""


def _of_path(path: Path, label: str) -> Source:
    from .parquet import SUFFIXES, parquet_source

    # A pipe is read once, whatever its name.
    is_pipe = path.exists() and not (path.is_file() or path.is_dir())
    if path.is_dir() or (path.suffix.lower() in SUFFIXES and not is_pipe):
        return parquet_source(path, label)
    import pyarrow as pa

    from ..tables.reading import read_table

    return table_source(pa.table(read_table(path)), label)


def _of_pyarrow(value: Any, label: str) -> Source | None:
    import pyarrow as pa
    from pyarrow import dataset

    if isinstance(value, dataset.Dataset):
        from .datasets import dataset_source

        return dataset_source(value, label)
    if isinstance(value, pa.RecordBatchReader | dataset.Scanner):
        raise one_shot(value, label)
    return None


def _of_polars(value: Any, label: str) -> Source | None:
    import polars

    if not isinstance(value, polars.LazyFrame):
        return None
    from .datasets import lazy_source

    return lazy_source(value, label)


def _of_dask(value: Any, label: str) -> Source | None:
    from .of_dask import array_source, frame_source

    if hasattr(value, "chunks") and hasattr(value, "rechunk"):
        return array_source(value, label)
    if not hasattr(value, "to_delayed"):
        return None
    # A series is a frame of one column.
    return frame_source(value if hasattr(value, "columns") else value.to_frame(), label)


def _of_batches(value: Any, label: str) -> Source | None:
    if isinstance(value, np.ndarray | Mapping | str | bytes) or not isinstance(value, Iterable):
        return None
    if hasattr(value, "__array__") or hasattr(value, "__dataframe__") or hasattr(value, "shape"):
        return None
    if isinstance(value, list | tuple):
        # A list of lists is an array.
        return batches_source(value, label) if value and all(map(is_batch, value)) else None
    if isinstance(value, Iterator):
        raise one_shot(value, label)
    first = next(iter(value), None)
    return batches_source(value, label) if is_batch(first) else None
