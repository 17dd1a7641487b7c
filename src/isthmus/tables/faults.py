"""What is wrong with tables, told all at once, each fault with its remedy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..words import count
from .columns import Column, TableError
from .door import Door


def refuse(faults: Sequence[str]) -> None:
    """Refuse a table for all that is wrong with it; nothing happens if nothing is.

    Examples
    --------
    >>> refuse(["a is empty.", "b is infinite."])
    Traceback (most recent call last):
        ...
    isthmus.tables.columns.TableError: 2 faults. (1) a is empty. (2) b is infinite.
    """
    if len(faults) == 1:
        raise TableError(faults[0])
    if faults:
        told = " ".join(f"({k}) {fault}" for k, fault in enumerate(faults, 1))
        raise TableError(f"{len(faults)} faults. {told}")


def without_rows(columns: Mapping[str, Column], label: str) -> list[str]:
    """Say that a table has no rows."""
    empty = not len(next(iter(columns.values())))
    return [f"{label} must have at least one row; received none."] * empty


def infinite(columns: Iterable[Column], label: str, door: Door) -> list[str]:
    """Say which columns hold infinite numbers."""
    found = []
    for column in columns:
        number = int(np.isinf(column.numbers).sum())
        if number:
            found.append(
                f"Column {column.name!r} of {label} must hold finite numbers; received "
                f"{count(number, 'infinite value')}. Make them missing values, or leave the "
                f"column out ({door.names('drop', [column.name])})."
            )
    return found


def missing(p: Column, q: Column, labels: tuple[str, str], door: Door) -> list[str]:
    """Say that a column has missing values, where these are not wanted."""
    numbers = [int(column.missing.sum()) for column in (p, q)]
    if not any(numbers):
        return []
    return [
        f"Values of column {p.name!r} must not be missing; received {numbers[0]} in {labels[0]}, "
        f"{numbers[1]} in {labels[1]}. Leave those rows out ({door.word('missing', 'drop')}), mark "
        f"them ({door.word('missing', 'indicator')}), or leave the column out "
        f"({door.names('drop', [p.name])})."
    ]
