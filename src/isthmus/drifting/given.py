"""A table as it was given: names, values, and which columns are compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..tables.columns import Column, TableError, as_columns, as_table, column_names, is_table
from ..tables.door import Door
from ..tables.faults import infinite, refuse, without_rows
from ..words import listed


def as_given(table: Any, label: str) -> Any:
    """A table as it is, an array as a dict of columns x0, x1, ...

    Examples
    --------
    >>> import numpy as np
    >>> list(as_given(np.zeros((3, 2)), "current"))
    ['x0', 'x1']
    """
    table = as_table(table)
    if is_table(table):
        return table
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


def read_columns(table: Any, label: str, drop: Collection[str] = ()) -> dict[str, Column]:
    """All columns but some in their common form; all that is wrong with them is told at once."""
    names = [name for name in column_names(table, label) if name not in drop]
    if not names:
        raise TableError(f"{label} must have a column to compare; received none.")
    found = as_columns(table, label, names, tolerant=True)
    rows = len(next(iter(found.values())))
    numbers = {name: column.infinite for name, column in found.items()}
    refuse([*without_rows(rows, label), *infinite(numbers, label, Door())])
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
