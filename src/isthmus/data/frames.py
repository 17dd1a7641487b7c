"""Frames of any library, seen through narwhals; none of these libraries is imported for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]

_CAST = (nw.Boolean, nw.Int128, nw.UInt128)


def as_frame(table: Any) -> Frame | None:
    """A pandas, polars, pyarrow or modin frame behind one interface; None for anything else.

    Raises narwhals' DuplicateError, a ValueError, where two columns share a name.
    """
    found: Frame
    try:
        found = nw.from_native(table)
    except TypeError:
        # Others hand themselves over to Arrow, such as pyarrow's batches.
        if not (hasattr(table, "__arrow_c_stream__") and hasattr(table, "columns")):
            return None
        import pyarrow as pa

        found = nw.from_native(pa.table(table))
    return found


def column_names(table: Any) -> list[str] | None:
    """Column names of a frame, or None for an array and for a frame without names."""
    try:
        frame = as_frame(table)
        names = [] if frame is None else list(frame.collect_schema())
    except DuplicateError:
        names = raw_names(table)
        if all(isinstance(name, str) for name in names):
            twice = repeated(names)
            raise ValueError(
                f"Column names must be unique; received {twice!r} more than once."
            ) from None
        return None
    if frame is None or not all(isinstance(name, str) for name in names):
        # pandas numbers unnamed columns; such a frame is matched by position.
        return None
    return names


def raw_names(table: Any) -> list[Any]:
    """Names of a frame that narwhals refuses, since some of them are equal."""
    return list(getattr(table, "column_names", None) or table.columns)


def repeated(names: Sequence[str]) -> list[str]:
    """Names that occur more than once."""
    return sorted({name for name in names if names.count(name) > 1})


def select_columns(table: Any, names: Sequence[str], argument: str) -> Any:
    """Bring a frame's columns into the order of ``names``; name what is missing or extra."""
    present = column_names(table)
    frame = None if present is None else as_frame(table)
    if present is None or frame is None:
        return table
    missing = [name for name in names if name not in set(present)]
    extra = [name for name in present if name not in set(names)]
    if missing or extra:
        told = [f"missing {missing!r}"] * bool(missing) + [f"unexpected {extra!r}"] * bool(extra)
        shown = f"{', '.join(map(repr, names[:8]))}{', ...' if len(names) > 8 else ''}"
        raise ValueError(
            f"{argument} must have the columns [{shown}]; received a frame with "
            f"{' and '.join(told)}."
        )
    return frame.select(list(names)).to_native()


def as_numpy(x: Any) -> Any:
    """A frame, a series or a masked array as NumPy's array; anything else as it is."""
    if isinstance(x, np.ma.MaskedArray):
        return np.ma.filled(x.astype(float), np.nan)
    try:
        found = as_frame(x)
    except DuplicateError:
        return x
    if isinstance(found, nw.LazyFrame):
        raise ValueError(
            f"A table must be in memory; received a {type(x).__name__}: call its collect() first."
        )
    if isinstance(found, nw.DataFrame):
        # A missing boolean is no float until it is asked to be one, nor is a wide integer.
        few = [name for name, kind in found.schema.items() if kind in _CAST]
        return found.with_columns([nw.col(name).cast(nw.Float64) for name in few]).to_numpy()
    series = nw.from_native(x, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return _of_torch(x)
    return (series.cast(nw.Float64) if series.dtype in _CAST else series).to_numpy()


def _of_torch(x: Any) -> Any:
    """A dense tensor as an array of floats, whatever its precision; anything else as it is."""
    if type(x).__module__.partition(".")[0] != "torch" or not hasattr(x, "layout"):
        return x
    if not str(x.layout).endswith("strided"):
        raise ValueError(
            "A tensor must be dense; received a sparse one: call its to_dense() first."
        )
    return x.detach().cpu().double().numpy() if x.is_floating_point() else x.cpu().numpy()
