"""Columns of any table a user has, in one of two forms: numbers or categories.

narwhals recognises the table, and pyarrow reads its columns; it is imported when a table
arrives, not with the package, and neither pandas nor polars is imported at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_like_series
from narwhals.exceptions import DuplicateError

from ..data.frames import Frame, as_frame, raw_names, repeated
from ..typing import Array, BoolArray, IntArray
from ..words import one_line

Kind: TypeAlias = Literal["number", "category", "empty"]


class TableError(ValueError):
    """A table, or a file with one, cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Column:
    """One column: numbers with NaN for missing, or codes into levels with -1 for missing.

    A column of kind ``"empty"`` holds missing values only and fits either kind.
    """

    name: str
    kind: Kind
    numbers: Array = field(default_factory=lambda: np.empty(0))
    codes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    levels: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.codes) if self.kind == "category" else len(self.numbers)

    @property
    def missing(self) -> BoolArray:
        """Which rows have no value."""
        return self.codes < 0 if self.kind == "category" else np.isnan(self.numbers)

    @property
    def present(self) -> set[str]:
        """Levels that occur."""
        return {self.levels[code] for code in np.unique(self.codes) if code >= 0}

    @property
    def values(self) -> np.ndarray:
        """Numbers, or levels as text."""
        if self.kind == "category":
            return np.array(self.levels, dtype=object)[self.codes]
        return self.numbers

    def take(self, rows: BoolArray) -> Column:
        """Return the column with some of its rows."""
        if self.kind == "category":
            return replace(self, codes=self.codes[rows])
        return replace(self, numbers=self.numbers[rows])


def is_table(obj: Any) -> bool:
    """Whether ``obj`` has named columns: a frame of any library that narwhals knows, or a dict.

    Examples
    --------
    >>> import numpy as np
    >>> is_table({"age": [31, 42]}), is_table(np.zeros((2, 1)))
    (True, False)
    """
    try:
        return isinstance(obj, Mapping) or as_frame(obj) is not None
    except DuplicateError:
        return True


def column_names(table: Any, label: str) -> list[str]:
    """Names of a table's columns, as text and each once."""
    return [name for name, _ in _pairs(table, label)]


def as_columns(table: Any, label: str, keep: Iterable[str]) -> dict[str, Column]:
    """Columns named in ``keep`` in their common form; the others are never looked at."""
    wanted = set(keep)
    columns = {
        name: _column(name, values, label)
        for name, values in _pairs(table, label)
        if name in wanted
    }
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise TableError(f"The columns of {label} must have one length; received {lengths}.")
    return columns


def _pairs(table: Any, label: str) -> list[tuple[str, Any]]:
    """Names, as text and each once, with what the table holds under them."""
    pairs: list[tuple[str, Any]] = []
    if isinstance(table, Mapping):
        pairs = [(str(name), values) for name, values in table.items()]
    else:
        try:
            frame = as_frame(table)
        except DuplicateError:
            pairs = [(str(name), None) for name in raw_names(table)]
        else:
            pairs = _of_frame(frame, table, label)
    twice = repeated([name for name, _ in pairs])
    if twice:
        raise TableError(f"Column names of {label} must differ; received {twice!r} twice.")
    return pairs


def _of_frame(frame: Frame | None, table: Any, label: str) -> list[tuple[str, Any]]:
    received = f"{type(table).__module__}.{type(table).__name__}".removeprefix("builtins.")
    if frame is None:
        raise TableError(
            f"{label} must be a pandas or polars frame, a pyarrow table or a dict of columns; "
            f"received a {received}."
        )
    if isinstance(frame, nw.LazyFrame):
        raise TableError(
            f"{label} must be a table in memory; received a {received}: call its collect() first."
        )
    return [(str(series.name), series.to_native()) for series in frame.iter_columns()]


def _column(name: str, values: Any, label: str) -> Column:
    import pyarrow as pa
    from pyarrow import types

    column = _arrow(name, values, label)
    kind = column.type
    is_number = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    is_text = (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary)
    if types.is_null(kind):
        return Column(name, "empty", np.full(len(column), np.nan))
    if any(test(kind) for test in is_number):
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        return Column(name, "empty" if np.isnan(numbers).all() else "number", numbers)
    if not any(test(kind) for test in is_text):
        raise TableError(_refusal(name, kind, label))
    codes, levels = _coded(column)
    if not levels:
        return Column(name, "empty", np.full(len(codes), np.nan))
    return Column(name, "category", codes=codes, levels=levels)


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


def _arrow(name: str, values: Any, label: str) -> Any:
    import pyarrow as pa

    if isinstance(values, str | bytes | Mapping):
        raise TableError(f"Column {name!r} of {label} must be a sequence; received {values!r}.")
    try:
        if hasattr(values, "__arrow_c_stream__") and not is_pandas_like_series(values):
            return pa.chunked_array(values)
        if isinstance(values, np.ndarray) and values.dtype.kind == "U":
            # Arrow takes NumPy's text for C's, which ends at the first NUL.
            values = values.astype(object)
        # from_pandas: NaN among Python objects is a missing value, too.
        array = pa.array(values, from_pandas=True)
        return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    except (ValueError, TypeError, NotImplementedError, OverflowError) as error:
        raise TableError(
            f"Column {name!r} of {label} must hold numbers, or text, of one kind; received "
            f"values that do not fit together ({one_line(error)})."
        ) from None


def _refusal(name: str, kind: Any, label: str) -> str:
    from pyarrow import types

    if types.is_temporal(kind):
        return (
            f"Column {name!r} of {label} must hold numbers or categories; received dates or times "
            f"({kind}). By themselves they often tell two samples apart: leave the column out "
            "(drop), or make of it the number that matters, such as the hour or an age in days."
        )
    if types.is_binary(kind) or types.is_large_binary(kind):
        return (
            f"Column {name!r} of {label} must hold numbers or text in UTF-8; received bytes. Save "
            "the file as UTF-8, or leave the column out (drop)."
        )
    return (
        f"Column {name!r} of {label} must hold numbers or categories; received {kind}. Leave the "
        "column out (drop), or make numbers of it."
    )
