"""One column of any library to a :class:`Column`, by way of Arrow."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_like_series

from ..typing import IntArray
from ..words import one_line
from .columns import Column, TableError, pairs_of

_DAY = 86_400.0
_ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}(:?\d{2}(:?\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?"
)


def as_column(name: str, values: Any, label: str, *, text: bool = False) -> Column:
    """What a table holds under a name, in one of the forms of :class:`Column`.

    Text that reads as dates is dates, unless ``text`` asks for what is there.
    """
    import pyarrow as pa
    from pyarrow import types

    _check_sequence(name, values, label)
    try:
        column = _arrow(values)
    except _Mixed as error:
        why = (
            f"Column {name!r} of {label} must hold numbers, dates or text; received values that "
            f"are none of these or do not fit together ({one_line(error)})."
        )
        return Column(name, "other", np.full(len(values), np.nan), why=why)
    kind = column.type
    if isinstance(kind, pa.ExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
        kind = column.type
    nothing = np.full(len(column), np.nan)
    if column.null_count == len(column):
        return Column(name, "empty", nothing)
    is_number = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    is_text = (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary)
    if any(test(kind) for test in is_number):
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        return Column(name, "empty" if _no_number(numbers) else "number", numbers)
    if types.is_timestamp(kind) or types.is_date(kind):
        return _date(name, column)
    if types.is_duration(kind) or types.is_time(kind):
        return Column(name, "duration", _seconds(column))
    if not any(test(kind) for test in is_text):
        return Column(name, "other", nothing, why=_refusal(name, kind, label))
    codes, levels = _coded(column)
    if not levels:
        return Column(name, "empty", nothing)
    found = Column(name, "category", codes=codes, levels=levels)
    return found if text else dates_of(found) or found


def arrow_table(table: Any, label: str, names: Sequence[str]) -> Any:
    """Columns of a frame of any library, or of a dict, as a ``pyarrow.Table``."""
    import pyarrow as pa

    if isinstance(table, pa.Table):
        return table.select(list(names))
    held = dict(pairs_of(table, label))
    columns = {}
    for name in names:
        _check_sequence(name, held[name], label)
        try:
            columns[name] = _arrow(held[name])
        except _Mixed as error:
            raise TableError(
                f"Column {name!r} of {label} must hold numbers, dates or text; received values "
                f"that are none of these or do not fit together ({one_line(error)})."
            ) from None
    return pa.table(columns)


def _no_number(numbers: np.ndarray) -> bool:
    # The first row answers for most columns.
    return bool(np.isnan(numbers[:1]).all() and np.isnan(numbers).all())


def _date(name: str, column: Any) -> Column:
    """Days since 1970, and the same by the clock of the column's time zone."""
    import pyarrow as pa
    from pyarrow import compute

    days = _seconds(column) / _DAY
    wall = days
    if getattr(column.type, "tz", None) is not None:
        try:
            wall = _seconds(compute.local_timestamp(column)) / _DAY
        except pa.ArrowInvalid:
            # The machine knows no such time zone; the hours are then those of UTC.
            wall = days
    return Column(name, "date", days, wall=wall)


def _seconds(column: Any) -> np.ndarray:
    """Dates, times of day and durations as numbers of seconds, NaN for missing."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_date32(kind):
        unit = _DAY
        whole = column.cast(pa.int32()).cast(pa.int64())
    elif types.is_date64(kind):
        unit, whole = 1e-3, column.cast(pa.int64())
    else:
        unit = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[kind.unit]
        whole = column.cast(pa.int32() if types.is_time32(kind) else pa.int64())
    return np.asarray(whole.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64) * unit


def dates_of(column: Column) -> Column | None:
    """Text as dates, where all of it is as ISO 8601 writes them; None for any other column."""
    import pyarrow as pa

    levels = column.levels
    if not levels or not all(_ISO.fullmatch(level) for level in levels):
        return None
    zone = "UTC" if any(level.endswith("Z") or "+" in level for level in levels) else None
    try:
        days = _seconds(pa.chunked_array([pa.array(levels)]).cast(pa.timestamp("us", zone))) / _DAY
    except pa.ArrowInvalid:
        return None
    days = np.append(days, np.nan)[column.codes]
    return Column(column.name, "date", days, wall=days)


def _coded(column: Any) -> tuple[IntArray, tuple[str, ...]]:
    """Codes and levels of a column whose chunks may each count their levels differently."""
    import pyarrow as pa

    place: dict[str, int] = {}
    parts = [np.empty(0, dtype=np.intp)]
    for chunk in column.chunks:
        if not pa.types.is_dictionary(chunk.type):
            chunk = chunk.cast(pa.large_string()).dictionary_encode()
        own = [
            -1 if level is None else place.setdefault(str(level), len(place))
            for level in chunk.dictionary.to_pylist()
        ]
        indices = chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        # The last entry is for the index -1, a missing value.
        parts.append(np.array([*own, -1], dtype=np.intp)[indices])
    return np.concatenate(parts), tuple(place)


class _Mixed(ValueError):
    """Values that Arrow does not take, nor any other way."""


def _check_sequence(name: str, values: Any, label: str) -> None:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise TableError(
            f"Column {name!r} of {label} must be a sequence, such as a list or an array; received "
            f"{one_line(repr(values), 60)}."
        )
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise TableError(
            f"Column {name!r} of {label} must have one dimension; received shape {values.shape}."
        )


def _arrow(values: Any) -> Any:
    import pyarrow as pa

    try:
        if isinstance(values, pa.ChunkedArray):
            return values
        if hasattr(values, "__arrow_c_stream__") and not is_pandas_like_series(values):
            return pa.chunked_array(values)
        if isinstance(values, np.ndarray) and values.dtype.kind == "U":
            # Arrow takes NumPy's text for C's, which ends at the first NUL.
            values = values.astype(object)
        if is_pandas_like_series(values) and str(values.dtype).startswith("period"):
            values = values.dt.to_timestamp()
        # from_pandas: NaN among Python objects is a missing value, too.
        array = pa.array(values, from_pandas=True)
        return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    except (ValueError, TypeError, NotImplementedError, OverflowError) as error:
        return _by_other_ways(values, error)


def _by_other_ways(values: Any, error: Exception) -> Any:
    """What Arrow does not take: wide integers as floats, and mixed values as text."""
    import pyarrow as pa

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and series.dtype.is_numeric():
        return pa.chunked_array([pa.array(series.cast(nw.Float64()).to_numpy(), from_pandas=True)])
    cells = list(values)
    if all(_is_plain(cell) for cell in cells) and any(isinstance(cell, str) for cell in cells):
        texts = [None if cell is None or cell != cell else str(cell) for cell in cells]
        return pa.chunked_array([pa.array(texts, pa.large_string())])
    if all(cell is None or isinstance(cell, int | float) for cell in cells):
        # Integers beyond 64 bits; one that no float can hold is infinite, and refused as such.
        numbers = [None if cell is None else _float(cell) for cell in cells]
        return pa.chunked_array([pa.array(numbers, pa.float64(), from_pandas=True)])
    raise _Mixed(str(error)) from None


def _float(cell: float) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf


def _is_plain(cell: Any) -> bool:
    return cell is None or isinstance(cell, str | bool | int | float)


def _refusal(name: str, kind: Any, label: str) -> str:
    from pyarrow import types

    if types.is_binary(kind) or types.is_large_binary(kind):
        return (
            f"Column {name!r} of {label} must hold numbers or text in UTF-8; received bytes. Save "
            "the file as UTF-8."
        )
    return (
        f"Column {name!r} of {label} must hold numbers, dates or categories; received {kind}. Make "
        "numbers of it."
    )
