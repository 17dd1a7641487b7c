"""What is wrong with tables, told all at once, each fault with its remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..words import count
from .columns import TableError
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


def without_rows(rows: int, label: str) -> list[str]:
    """Say that a table has no rows."""
    return [] if rows else [f"{label} must have at least one row; received none."]


def infinite(numbers: Mapping[str, int], label: str, door: Door) -> list[str]:
    """Say which columns hold infinite numbers, from how many each has."""
    return [
        f"Column {name!r} of {label} must hold finite numbers; received "
        f"{count(number, 'infinite value')}. Make them missing values, or leave the "
        f"column out ({door.names('drop', [name])})."
        for name, number in numbers.items()
        if number
    ]


def missing(name: str, numbers: Sequence[int], labels: tuple[str, str], door: Door) -> list[str]:
    """Say that a column has missing values, where these are not wanted."""
    if not any(numbers):
        return []
    return [
        f"Values of column {name!r} must not be missing; received {numbers[0]} in {labels[0]}, "
        f"{numbers[1]} in {labels[1]}. Leave those rows out ({door.word('missing', 'drop')}), mark "
        f"them ({door.word('missing', 'indicator')}), or leave the column out "
        f"({door.names('drop', [name])})."
    ]


def no_rows_left(rows: int, column: str, label: str, door: Door) -> str:
    """Say that every row has a missing value, and where most are."""
    return (
        f"{door.word('missing', 'drop')} must leave rows to use; received {label} "
        f"with a missing value in each of its {count(rows, 'row')}, most of them in "
        f"{column!r}: {door.names('drop', [column])}."
    )
