"""How many rows have each number, or each level; exact as long as these are not too many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Array

MOST_VALUES = 4096
"""Distinct numbers of a column that are counted; every rule asks for far fewer."""

MOST_LEVELS = 1 << 16
"""Levels of a column that are counted."""


@dataclass(frozen=True)
class Values:
    """Distinct numbers in increasing order, and what has each.

    Attributes
    ----------
    value : ndarray of shape (k,)
    rows : ndarray of shape (k, 3)
        Number of rows, number of those of positive weight, and their weight together.

    Examples
    --------
    >>> Values.of(np.array([3.0, 1.0, 3.0]), np.ones(3)).rows.tolist()
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    """

    value: Array
    rows: Array

    @classmethod
    def of(cls, numbers: Array, weight: Array) -> Values | None:
        """Count numbers, none of them NaN; None if more than `MOST_VALUES` differ."""
        if len(np.unique(numbers[: 2 * MOST_VALUES])) > MOST_VALUES:
            return None
        if (weight == 1.0).all():
            value, rows = _counted(numbers)
            rows = np.repeat(rows[:, None], 3, axis=1)
        else:
            value, code = np.unique(numbers, return_inverse=True)
            rows = _rows(code.reshape(-1), weight, len(value))
        return cls(value, rows) if len(value) <= MOST_VALUES else None

    def __add__(self, other: Values) -> Values:
        value, place = np.unique(np.concatenate([self.value, other.value]), return_inverse=True)
        rows = np.zeros((len(value), 3))
        np.add.at(rows, place.reshape(-1), np.concatenate([self.rows, other.rows]))
        return Values(value, rows)


def _counted(numbers: Array) -> tuple[Array, Array]:
    """Distinct numbers and their rows, by a table: a sort takes ten times as long."""
    import pyarrow as pa
    from pyarrow import compute

    # Of 0.0 and -0.0 one is enough.
    found = compute.value_counts(pa.array(numbers + 0.0))
    value = found.field("values").to_numpy()
    order = np.argsort(value)
    return value[order], found.field("counts").to_numpy()[order].astype(np.float64)


def _rows(codes: np.ndarray, weight: Array, k: int) -> Array:
    """Rows, those of positive weight, and the weight of each of k codes."""
    counts = [
        np.bincount(codes, minlength=k),
        np.bincount(codes[weight > 0], minlength=k),
        np.bincount(codes, weight, minlength=k),
    ]
    return np.column_stack(counts).astype(np.float64)


@dataclass(frozen=True)
class Levels:
    """Levels that occur, and what has each.

    Attributes
    ----------
    names : tuple of str
    rows : ndarray of shape (k, 3)
        Number of rows, number of those of positive weight, and their weight together.
    """

    names: tuple[str, ...]
    rows: Array

    @classmethod
    def of(cls, codes: np.ndarray, names: tuple[str, ...], weight: Array) -> Levels | None:
        """Count codes, of which -1 is none; None for more than `MOST_LEVELS` levels."""
        there = codes >= 0
        rows = _rows(codes[there], weight[there], len(names))
        seen = np.flatnonzero(rows[:, 0])
        if len(seen) > MOST_LEVELS:
            return None
        return cls(tuple(names[i] for i in seen), rows[seen])

    def __add__(self, other: Levels) -> Levels:
        place = {name: k for k, name in enumerate(self.names)}
        for name in other.names:
            place.setdefault(name, len(place))
        rows = np.zeros((len(place), 3))
        rows[: len(self.names)] = self.rows
        # Names of one tally differ, so that no place is there twice.
        rows[[place[name] for name in other.names]] += other.rows
        return Levels(tuple(place), rows)


def together(a: Values | None, b: Values | None) -> Values | None:
    """Both tallies in one; None where one is not known or there are too many values."""
    found = None if a is None or b is None else a + b
    return found if found is not None and len(found.value) <= MOST_VALUES else None


def levels_together(a: Levels | None, b: Levels | None) -> Levels | None:
    """Both tallies in one; None where one is not known or there are too many levels."""
    found = None if a is None or b is None else a + b
    return found if found is not None and len(found.names) <= MOST_LEVELS else None
