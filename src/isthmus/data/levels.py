"""Columns of levels: which columns belong to one category, and which take few values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Array, BoolArray, IntArray

MOST_VALUES = 50
"""Most values of a column of levels, such as answers and counts."""

_REPEATS = 10
_ATOM = 0.05
_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Levels:
    """One set of levels: the 0/1 columns of a category, or a column of few values.

    Attributes
    ----------
    columns : tuple of int
        The columns; more than one where exactly one of them is 1 in every row.
    values : ndarray of shape (k, len(columns))
        What the columns hold at each level.
    """

    columns: tuple[int, ...]
    values: Array

    def __len__(self) -> int:
        return len(self.values)

    def codes(self, rows: Array) -> IntArray:
        """Level of every row; ``len(self)`` where it is none of them, shape (n,)."""
        if len(self.columns) > 1:
            own = rows[:, self.columns]
            code = own.argmax(axis=1)
            one = np.abs(own[np.arange(len(own)), code] - 1.0)
            off = one + np.abs(np.abs(own).sum(axis=1) - 1.0) > len(self.columns) * _TOLERANCE
            return np.where(off, len(self), code)
        value, own = self.values[:, 0], rows[:, self.columns[0]]
        code = np.searchsorted(0.5 * (value[1:] + value[:-1]), own)
        off = np.abs(value[code] - own) > _TOLERANCE * max(float(np.ptp(value)), 1e-300)
        return np.where(off, len(self), code)


@dataclass(frozen=True)
class Layout:
    """What the columns of rows are: sets of levels, and numbers.

    A number that has one value in many rows, such as zero or a median put in for what is
    missing, is a level where it has that value and a number where it has not.

    Attributes
    ----------
    levels : tuple of Levels
    numbers : ndarray of int
        The other columns.
    atoms : ndarray of float, shape (len(numbers),)
        The value that many rows have; NaN for none.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> town = np.eye(3)[rng.integers(0, 3, 300)]
    >>> Layout.of(np.column_stack([rng.normal(size=300), town])).levels[0].columns
    (1, 2, 3)
    """

    levels: tuple[Levels, ...]
    numbers: IntArray
    atoms: Array

    @classmethod
    def of(cls, rows: Array, atoms: bool = True) -> Layout:
        """Look at rows of both samples, in any order."""
        n, d = rows.shape
        binary = ((rows == 0.0) | (rows == 1.0)).all(axis=0)
        binary &= np.ptp(rows, axis=0) > 0.0 if n else False
        found = [Levels(one, np.eye(len(one))) for one in categories(rows, binary)]
        taken = {j for one in found for j in one.columns}
        numbers, places = [], []
        for j in range(d):
            if j in taken:
                continue
            value, count = _values(rows[:, j])
            if 1 < len(value) <= MOST_VALUES and n >= _REPEATS * len(value):
                found.append(Levels((j,), value[:, None]))
                continue
            numbers.append(j)
            often = atoms and len(value) > 1 and count.max() > _ATOM * n
            places.append(value[count.argmax()] if often else np.nan)
        found.sort(key=lambda one: one.columns[0])
        return cls(tuple(found), np.array(numbers, dtype=np.intp), np.array(places, dtype=float))

    @property
    def has_levels(self) -> bool:
        """Whether a column has levels, or a number a value that many rows have."""
        return bool(self.levels) or not bool(np.isnan(self.atoms).all())

    @property
    def sizes(self) -> list[int]:
        """Number of levels of each set, and two for each number with an atom."""
        return [len(one) for one in self.levels] + [2] * int((~np.isnan(self.atoms)).sum())

    def codes(self, rows: Array) -> IntArray:
        """Level of every row in every set, shape (n, len(sizes)).

        For a number with an atom it is 1 at the atom and 0 elsewhere.
        """
        at = self.at_atom(rows)[:, ~np.isnan(self.atoms)]
        own = [one.codes(rows) for one in self.levels]
        return np.column_stack([*own, at.astype(np.intp)]) if own else at.astype(np.intp)

    def at_atom(self, rows: Array) -> BoolArray:
        """Which numbers have the value that many rows have, shape (n, len(numbers))."""
        gap = np.abs(rows[:, self.numbers] - self.atoms)
        # NaN, for no such value, is never near.
        return np.asarray(gap <= _TOLERANCE * np.maximum(np.abs(self.atoms), 1e-3))

    def rows(self, codes: IntArray, numbers: Array, further: int = 0) -> Array:
        """Rows with these levels and numbers, and zeros in so many further columns."""
        columns = [j for one in self.levels for j in one.columns]
        out = np.zeros((len(codes), len(columns) + len(self.numbers) + further))
        for k, one in enumerate(self.levels):
            out[:, one.columns] = one.values[codes[:, k]]
        out[:, self.numbers] = numbers
        with_atom = np.flatnonzero(~np.isnan(self.atoms))
        for k, j in enumerate(with_atom, len(self.levels)):
            out[codes[:, k] == 1, self.numbers[j]] = self.atoms[j]
        return out


def categories(rows: Array, binary: BoolArray | None = None) -> list[tuple[int, ...]]:
    """Sets of 0/1 columns of which exactly one is 1 in every row.

    Columns next to each other come first, as a category's are; what is left is gone through
    in order.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.column_stack([np.eye(3)[[0, 1, 2, 2, 0]], [0, 0, 1, 0, 1]])
    >>> categories(X)
    [(0, 1, 2)]
    """
    if binary is None:
        binary = ((rows == 0.0) | (rows == 1.0)).all(axis=0) & (np.ptp(rows, axis=0) > 0.0)
    place = np.flatnonzero(binary)
    if len(place) < 2:
        return []
    own = rows[:, place].astype(np.float32)
    # Sums of up to 2^24 ones are exact.
    together = (own.T @ own) > 0.5
    count = np.count_nonzero(own, axis=0)
    found: list[tuple[int, ...]] = []
    left = list(range(len(place)))
    for near in (True, False):
        start = 0
        while start < len(left):
            chosen, total = [left[start]], int(count[left[start]])
            for j in left[start + 1 :]:
                if near and place[j] != place[chosen[-1]] + 1:
                    break
                if together[j, chosen].any():
                    if near:
                        break
                    continue
                chosen.append(j)
                total += int(count[j])
                if total >= len(rows):
                    break
            if total == len(rows):
                found.append(tuple(int(place[j]) for j in chosen))
                left = [j for j in left if j not in chosen]
            else:
                start += 1
    return found


def _values(column: Array) -> tuple[Array, IntArray]:
    """Distinct values and how often each occurs; many values are not counted if none is often."""
    some = column[:: max(1, len(column) // 500)]
    value, count = np.unique(some, return_counts=True)
    if len(value) > MOST_VALUES and count.max() < 0.5 * _ATOM * len(some):
        return value, np.zeros(len(value), dtype=np.intp)
    return np.unique(column, return_counts=True)
