"""A window and the reference's rows together, their columns encoded without looking at labels.

What is made without the labels can be kept while labels are permuted, so that p-values are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..typing import Array, IntArray

_MOST_LEVELS = 20
_LEAST_ROWS = 5
_LEAST_SHARE = 0.002


@dataclass(frozen=True)
class Numbers:
    """A column of numbers, NaN where missing; the rows of the window come first."""

    name: str
    values: Array

    @cached_property
    def missing(self) -> Array:
        """Where no value is."""
        return np.isnan(self.values)

    @cached_property
    def filled(self) -> Array:
        """The numbers with the middle one in place of missing ones."""
        gaps = self.missing
        if not gaps.any():
            return self.values
        if gaps.all():
            return np.zeros(len(self.values))
        return np.where(gaps, np.nanmedian(self.values), self.values)


@dataclass(frozen=True)
class Level:
    """A level, the rare ones together, or what is missing, in words for and against it."""

    name: str
    yes: str
    no: str


@dataclass(frozen=True)
class Category:
    """A column of levels: rare ones are one level, and what is missing is another."""

    name: str
    codes: IntArray
    levels: tuple[Level, ...]

    @classmethod
    def of(cls, name: str, codes: IntArray, levels: tuple[str, ...]) -> Category:
        """From codes into levels, -1 where missing; rows of both samples count alike.

        Examples
        --------
        >>> import numpy as np
        >>> codes = np.repeat([0, 1, 2, -1], [50, 40, 3, 7])
        >>> [level.yes for level in Category.of("town", codes, ("Bonn", "Kiel", "Ulm")).levels]
        ['town = Bonn', 'town = Kiel', 'town is a rare level', 'town is missing']
        """
        number = np.bincount(codes[codes >= 0], minlength=len(levels))
        least = max(_LEAST_ROWS, _LEAST_SHARE * len(codes))
        often = [k for k in np.argsort(-number, kind="stable")[:_MOST_LEVELS] if number[k] >= least]
        place = np.full(len(levels) + 1, len(often), dtype=np.intp)
        place[often] = np.arange(len(often))
        place[-1] = len(often) + 1
        made = [Level(levels[k], f"{name} = {levels[k]}", f"{name} ≠ {levels[k]}") for k in often]
        made.append(Level("a rare level", f"{name} is a rare level", f"{name} is no rare level"))
        made.append(Level("missing", f"{name} is missing", f"{name} is not missing"))
        coded = place[codes]
        present, back = np.unique(coded, return_inverse=True)
        return cls(name, back.astype(np.intp), tuple(made[k] for k in present))

    @cached_property
    def indicators(self) -> Array:
        """A 0/1 feature for every level, shape (n, levels)."""
        return np.equal.outer(self.codes, np.arange(len(self.levels))).astype(np.float64)


@dataclass(frozen=True)
class Features:
    """Columns as numbers: a matrix, and of every feature its column and its words.

    Words are a name for a number, and for a 0/1 feature what one and zero mean.
    """

    values: Array
    owner: IntArray
    words: tuple[str | tuple[str, str], ...]


@dataclass(frozen=True)
class Pool:
    """Rows of a window, then rows of the reference, as columns.

    Attributes
    ----------
    columns : tuple of Numbers or Category
    size : int
        How many rows are the window's.
    """

    columns: tuple[Numbers | Category, ...]
    size: int

    def __len__(self) -> int:
        one = self.columns[0]
        return len(one.values) if isinstance(one, Numbers) else len(one.codes)

    @cached_property
    def features(self) -> Features:
        """Numbers as they are, levels and gaps as 0/1; what does not vary is left out."""
        values: list[Array] = []
        owner: list[int] = []
        words: list[str | tuple[str, str]] = []
        for j, column in enumerate(self.columns):
            if isinstance(column, Category):
                made = column.indicators if len(column.levels) > 1 else np.empty((len(self), 0))
                # Of two levels one says all.
                made = made[:, :1] if len(column.levels) == 2 else made
                values.extend(made.T)
                words.extend((one.yes, one.no) for one in column.levels[: made.shape[1]])
                owner.extend([j] * made.shape[1])
                continue
            if np.ptp(column.filled) > 0:
                values.append(column.filled)
                words.append(column.name)
                owner.append(j)
            if column.missing.any() and not column.missing.all():
                values.append(column.missing.astype(np.float64))
                words.append((f"{column.name} is missing", f"{column.name} is not missing"))
                owner.append(j)
        matrix = np.column_stack(values) if values else np.empty((len(self), 0))
        return Features(matrix, np.array(owner, dtype=np.intp), tuple(words))
