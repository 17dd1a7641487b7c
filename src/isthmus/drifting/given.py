"""A table as it was given: names, values, and which columns are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.frames import as_frame
from ..tables.columns import Column, TableError, as_columns, column_names, is_table
from ..words import count, listed


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


def read_columns(given: Mapping[str, Any], label: str) -> dict[str, Column]:
    """All columns in their common form; there must be rows, and no number may be infinite."""
    found = as_columns(given, label, given, tolerant=True)
    for name, column in found.items():
        if not len(column):
            raise TableError(f"{label} must have at least one row; received none.")
        infinite = int(np.isinf(column.numbers).sum())
        if infinite:
            raise TableError(
                f"Column {name!r} of {label} must hold finite numbers; received "
                f"{count(infinite, 'infinite value')}. Leave it out (drop), or make them missing."
            )
    return found


def chosen(
    found: Mapping[str, Column], label: str, columns: Sequence[str] | None
) -> tuple[dict[str, Column], dict[str, str]]:
    """Columns to compare, dates as days where they are asked for; and what is left out, and why."""
    absent = sorted(set(columns or ()) - set(found))
    if absent:
        raise TableError(
            f"columns must name columns of the {label}; received {absent!r}. It has "
            f"{listed([repr(name) for name in found])}."
        )
    kept: dict[str, Column] = {}
    left_out: dict[str, str] = {}
    for name, column in found.items():
        if columns is not None and name not in columns:
            continue
        if column.kind == "other":
            if columns is not None:
                raise TableError(column.why)
            left_out[name] = column.why
        elif column.kind == "date" and columns is None:
            left_out[name] = "a date says when, not what; name it (columns) to compare it in days"
        elif column.kind in ("date", "duration"):
            kept[name] = replace(column, kind="number")
        else:
            kept[name] = column
    return kept, left_out
