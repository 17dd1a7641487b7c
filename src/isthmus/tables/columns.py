"""Columns of any table a user has, in one of two forms: numbers or categories.

pyarrow is the common tongue: it is imported when a table arrives, not with the
package, and neither pandas nor polars is imported at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..typing import Array, IntArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]
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
    numbers: Array
    codes: IntArray
    levels: tuple[str, ...]

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

    def take(self, rows: BoolArray) -> Column:
        """Return the column with some of its rows."""
        if self.kind == "category":
            return replace(self, codes=self.codes[rows])
        return replace(self, numbers=self.numbers[rows])


def is_table(obj: Any) -> bool:
    """Whether ``obj`` has named columns: a pandas, polars or pyarrow table, or a dict.

    Examples
    --------
    >>> import numpy as np
    >>> is_table({"age": [31, 42]}), is_table(np.zeros((2, 1)))
    (True, False)
    """
    if isinstance(obj, Mapping) or hasattr(obj, "collect_schema"):  # a lazy polars frame
        return True
    # A pandas frame has iloc; every other frame of today hands itself over to Arrow.
    return hasattr(obj, "columns") and (hasattr(obj, "iloc") or hasattr(obj, "__arrow_c_stream__"))


def column_names(table: Any, label: str) -> list[str]:
    """Names of a table's columns, as text and each once."""
    return _unique((name for name, _ in _pairs(table, label)), label)


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
    if isinstance(table, Mapping):
        return [(str(name), values) for name, values in table.items()]
    if hasattr(table, "collect_schema") and not hasattr(table, "__arrow_c_stream__"):
        raise TableError(
            f"{label} must be a table in memory; received a {_type(table)}: call its collect() "
            "first."
        )
    if not is_table(table):
        raise TableError(
            f"{label} must be a pandas or polars frame, a pyarrow table or a dict of columns; "
            f"received a {_type(table)}."
        )
    if hasattr(table, "iloc"):
        # By position, so that neither the row index nor a duplicate name gets in the way.
        return [(str(name), table.iloc[:, i]) for i, name in enumerate(table.columns)]
    import pyarrow as pa

    arrow = pa.table(table)
    return list(zip(arrow.column_names, arrow.columns, strict=True))


def _unique(names: Iterable[str], label: str) -> list[str]:
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    twice = [name for name, count in seen.items() if count > 1]
    if twice:
        raise TableError(f"Column names of {label} must differ; received {twice!r} twice.")
    return list(seen)


def _column(name: str, values: Any, label: str) -> Column:
    import pyarrow as pa
    from pyarrow import types

    column = _arrow(name, values, label)
    kind = column.type
    if types.is_null(kind):
        return Column(name, "empty", np.full(len(column), np.nan), _NO_CODES, ())
    if (
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
    ):
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        if np.isnan(numbers).all():
            return Column(name, "empty", numbers, _NO_CODES, ())
        return Column(name, "number", numbers, _NO_CODES, ())
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if not (text or types.is_dictionary(kind)):
        raise TableError(_refusal(name, kind, label))
    codes, levels = _coded(column)
    if not levels:
        return Column(name, "empty", np.full(len(codes), np.nan), _NO_CODES, ())
    return Column(name, "category", _NO_NUMBERS, codes, levels)


def _coded(column: Any) -> tuple[IntArray, tuple[str, ...]]:
    """Codes and levels of a column whose chunks may each count their levels differently."""
    import pyarrow as pa

    place: dict[str, int] = {}
    parts = [_NO_CODES]
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
        if hasattr(values, "__arrow_c_stream__") and not hasattr(values, "iloc"):
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


def one_line(error: object, limit: int = 160) -> str:
    """Text of an error on one line and not too long."""
    text = " ".join(str(error).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _type(obj: Any) -> str:
    return f"{type(obj).__module__}.{type(obj).__name__}".removeprefix("builtins.")


_NO_CODES: IntArray = np.empty(0, dtype=np.intp)
_NO_NUMBERS: Array = np.empty(0)
