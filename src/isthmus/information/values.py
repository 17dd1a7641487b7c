"""The rows of one argument: numbers, or labels where the values are discrete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.frames import as_numpy
from ..data.validation import as_rows
from ..tables.columns import as_columns, column_names, is_table
from ..typing import BoolArray, IntArray

# Numbers with at most so many different values, each repeated so often, are labels.
_LEVELS, _REPEATS = 20, 10


@dataclass(frozen=True)
class Values:
    """Numbers of shape (n, d), or labels 0, 1, ... of shape (n,), each of which occurs."""

    array: Any
    discrete: bool

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: IntArray | BoolArray) -> Values:
        """Some of the rows; labels that are left are numbered anew."""
        values = self.array[rows]
        if self.discrete:
            values = np.unique(values, return_inverse=True)[1]
        return Values(values, self.discrete)


def read_values(values: Any, argument: str, discrete: Any = "auto") -> Values:
    """Rows of numbers, or one label for each row; messages name the argument.

    Examples
    --------
    >>> read_values(["a", "b", "a"], "x").array
    array([0, 1, 0])
    >>> read_values([0.1, 0.2, 0.7], "x").array.shape
    (3, 1)
    """
    if not (isinstance(discrete, bool | np.bool_) or discrete == "auto"):
        raise ValueError(
            f"discrete_{argument} must be True, False or 'auto'; received {discrete!r}."
        )
    columns = columns_of(values, argument)
    text = [_is_text(column) for column in columns.values()]
    if discrete is False and any(text):
        raise ValueError(
            f"{argument} must hold numbers if discrete_{argument}=False; received text or booleans."
        )
    if discrete == "auto":
        discrete = all(_is_few(column) for column in columns.values())
        if any(text) and not discrete:
            raise ValueError(
                f"{argument} must hold numbers alone or labels alone; received both. Encode the "
                "labels as numbers, or leave them out."
            )
    if not discrete:
        return Values(as_rows(np.column_stack(list(columns.values())), argument), False)
    codes = np.column_stack([_coded(column, argument) for column in columns.values()])
    return Values(np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1), True)


def columns_of(values: Any, argument: str) -> dict[str, np.ndarray]:
    """Columns by their names: those of a table, or "column 0", "column 1" and so on."""
    if is_table(values):
        found = as_columns(values, argument, column_names(values, argument))
        out = {}
        for name, column in found.items():
            if column.missing.any():
                raise ValueError(
                    f"{argument} must have no missing values; received {column.missing.sum()} in "
                    f"column {name!r}."
                )
            levels = np.array(column.levels, dtype=object)
            out[name] = levels[column.codes] if column.kind == "category" else column.numbers
        if not out:
            raise ValueError(f"{argument} must have at least one column; received none.")
        return out
    array = np.asarray(as_numpy(values))
    if array.ndim not in (1, 2) or 0 in array.shape:
        raise ValueError(
            f"{argument} must have one or two dimensions (rows, columns) and at least one of each; "
            f"received shape {array.shape}."
        )
    if array.dtype.kind not in "biufUSO":
        # Dates and complex numbers are refused there, in the words of the whole library.
        as_rows(array, argument)
    columns = [array] if array.ndim == 1 else list(array.T)
    return {f"column {k}": column for k, column in enumerate(columns)}


def _is_text(column: np.ndarray) -> bool:
    if column.dtype.kind == "O":
        return any(isinstance(value, str | bool) for value in column)
    return column.dtype.kind in "USb"


def _is_few(column: np.ndarray) -> bool:
    if _is_text(column):
        return True
    if column.dtype.kind == "O":
        return False
    return 2 <= len(np.unique(column)) <= min(_LEVELS, len(column) // _REPEATS)


def _coded(column: np.ndarray, argument: str) -> np.ndarray:
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise ValueError(f"{argument} must be finite; received NaN or infinity.")
    if column.dtype.kind == "O":
        if any(value is None or value != value for value in column):
            raise ValueError(f"{argument} must have no missing values; received some.")
        column = np.array([str(value) for value in column])
    return np.unique(column, return_inverse=True)[1]
