"""The rows of one argument: numbers, or labels where the values are discrete."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._columns import is_table
from .._typing import Array
from .._validation import _plain, as_rows, column_names

# Numbers with at most so many different values, each repeated so often, are labels.
_LEVELS, _REPEATS = 20, 10


def read_side(values: Any, argument: str, discrete: Any) -> tuple[Array | None, np.ndarray | None]:
    """Rows of numbers, or one label for each row; one of the two is None.

    Parameters
    ----------
    values : array-like or frame of shape (n,) or (n, d)
    argument : str
        Its name, for messages.
    discrete : bool or "auto"
        Whether the values are labels. "auto": text, booleans and categories are, and so are
        numbers with at most 20 values that are repeated ten times or more in the mean.
    """
    if not (isinstance(discrete, bool | np.bool_) or discrete == "auto"):
        raise ValueError(
            f"discrete_{argument} must be True, False or 'auto'; received {discrete!r}."
        )
    columns = _columns(values, argument)
    kinds = [_is_text(column) for column in columns]
    if discrete is False and any(kinds):
        raise ValueError(
            f"{argument} must hold numbers if discrete_{argument}=False; received text or "
            "booleans."
        )
    if discrete == "auto":
        few = [text or _is_few(column) for text, column in zip(kinds, columns, strict=True)]
        discrete = all(few)
        if any(kinds) and not discrete:
            raise ValueError(
                f"{argument} must hold numbers alone or labels alone; received both. Give the "
                f"labels as one of x, y and given, or encode them as numbers."
            )
    if not discrete:
        return as_rows(values, argument, min_rows=1), None
    codes = np.column_stack([_coded(column, argument) for column in columns])
    return None, np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)


def _columns(values: Any, argument: str) -> list[np.ndarray]:
    if is_table(values) and hasattr(values, "columns"):
        names = getattr(values, "column_names", None) or list(values.columns)
        column_names(values)
        return [_array(values[name]) for name in names]
    array = _array(values)
    if array.ndim == 0:
        raise ValueError(f"{argument} must have rows; received a single {type(values).__name__}.")
    if array.ndim > 2 or 0 in array.shape:
        raise ValueError(
            f"{argument} must have one or two dimensions (rows, columns) and at least one row and "
            f"column; received shape {array.shape}."
        )
    return [array] if array.ndim == 1 else list(array.T)


def _array(values: Any) -> np.ndarray:
    if hasattr(values, "codes") or str(getattr(values, "dtype", "")) == "category":
        return np.asarray(values, dtype=object)
    try:
        return np.asarray(_plain(values))
    except ValueError:
        return np.asarray(values, dtype=object)


def _is_text(column: np.ndarray) -> bool:
    if column.dtype.kind in "USb":
        return True
    if column.dtype.kind != "O":
        return False
    return any(isinstance(value, str | bool) for value in column)


def _is_few(column: np.ndarray) -> bool:
    if column.dtype.kind not in "iuf":
        return column.dtype.kind in "USbO"
    n_levels = len(np.unique(column))
    return 1 <= n_levels <= min(_LEVELS, len(column) // _REPEATS)


def _coded(column: np.ndarray, argument: str) -> np.ndarray:
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise ValueError(f"{argument} must be finite; received NaN or infinity.")
    if column.dtype.kind == "O":
        if any(value is None or value != value for value in column):
            raise ValueError(f"{argument} must have no missing values; received some.")
        column = np.array([str(value) for value in column])
    return np.unique(column, return_inverse=True)[1].reshape(-1)
