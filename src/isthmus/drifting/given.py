"""A table as it was given: names, values, and which columns are dates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.frames import as_frame
from ..tables.columns import TableError, column_names, is_table
from ..typing import Array


def as_mapping(table: Any, label: str) -> dict[str, Any]:
    """Columns of a frame, a dict or an array by their names; those of an array are x0, x1, ...

    Examples
    --------
    >>> import numpy as np
    >>> list(as_mapping(np.zeros((3, 2)), "current"))
    ['x0', 'x1']
    """
    if is_table(table):
        names = column_names(table, label)  # refuses what is no table in memory
        if isinstance(table, Mapping):
            return dict(zip(names, table.values(), strict=True))
        frame: Any = as_frame(table)
        return dict(zip(names, (one.to_native() for one in frame.iter_columns()), strict=True))
    try:
        array = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim not in (1, 2) or not array.size:
        raise TableError(
            f"{label} must be a frame, a dict of columns or an array of numbers with rows; "
            f"received {type(table).__name__}."
        )
    if array.ndim == 1:
        return {"x": array}
    return {f"x{j}": array[:, j] for j in range(array.shape[1])}


def as_arrow(values: Any) -> Any:
    """Values as Arrow holds them, or None where it cannot."""
    import pyarrow as pa

    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        found = pa.array(values, from_pandas=True)
        return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError, OverflowError):
        return None


def is_temporal(values: Any) -> bool:
    """Whether values are dates, times or differences of times.

    Examples
    --------
    >>> import numpy as np
    >>> is_temporal(np.array(["2013-01-01"], dtype="M8[D]")), is_temporal([1.5])
    (True, False)
    """
    import pyarrow as pa

    if isinstance(values, np.ndarray):
        return values.dtype.kind in "mM"
    found = as_arrow(values)
    return found is not None and bool(pa.types.is_temporal(found.type))


def as_dates(values: Any) -> np.ndarray | None:
    """Dates as NumPy has them, in microseconds of the clock on the wall; None if they are none.

    Text counts where every value is a date as ISO 8601 writes it. A missing value is NaT.

    Examples
    --------
    >>> as_dates(["2013-01-01", "2013-02-01T05:00"]).astype("M8[h]").tolist()[1].hour
    5
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found = as_arrow(values)
    if found is None or len(found) == found.null_count:
        return None
    kind = found.type
    if pa.types.is_dictionary(kind):
        found = found.cast(kind.value_type)
        kind = found.type
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    stamp = pa.timestamp("us")
    try:
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            found = pc.local_timestamp(found)
        elif not (
            pa.types.is_timestamp(kind)
            or pa.types.is_date(kind)
            or any(one(kind) for one in text)
        ):
            return None
        return np.asarray(found.cast(stamp, safe=False).to_numpy(), dtype="M8[us]")
    except (pa.ArrowException, ValueError):
        return None


def as_days(values: Any) -> Array:
    """Dates as days since 1970, and differences of times as days; NaN where missing."""
    import pyarrow as pa

    dates = as_dates(values)
    if dates is not None:
        days = dates.astype(np.int64) / 86400e6
        return np.where(np.isnat(dates), np.nan, days)
    found = as_arrow(values)
    if pa.types.is_time(found.type):
        found = found.cast(pa.time64("us")).cast(pa.int64())
    elif pa.types.is_duration(found.type):
        found = found.cast(pa.duration("us"), safe=False).cast(pa.int64())
    else:
        found = found.cast(pa.float64())
    return np.asarray(found.cast(pa.float64()).to_numpy(), dtype=np.float64) / 86400e6
