"""The reference: what every window is compared with, worked out once and kept as plain arrays."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..data.sample import bounded_rows
from ..tables.columns import Column, TableError
from ..typing import Array, IntArray
from ..words import count, listed
from .given import as_given, chosen, read_columns
from .pooled import Category, Numbers, Pool

_BINS = 20
ROWS = 5000
"""Rows of the reference, and of a window, that are looked at jointly at most."""

_IDENTIFIER = 0.5
_ANY_VALUE = "a value"


@dataclass(frozen=True)
class Profile:
    """One column of the reference.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "empty"}
        An empty column has no value in the reference; it is compared by whether there is one.
    edges : ndarray
        Upper ends of the bins of numbers, each in its bin, without the last.
    levels : tuple of str
    counts : ndarray of int
        Rows in every bin or level, and at the end those without a value.
    mean, spread : float
        Of numbers: mean and standard deviation.
    sample : ndarray
        Numbers, or codes into levels with -1 for missing, of some of the rows.
    """

    name: str
    kind: str
    edges: Array
    levels: tuple[str, ...]
    counts: IntArray
    mean: float
    spread: float
    sample: np.ndarray

    def __post_init__(self) -> None:
        # A file may hold anything.
        bins = len(self.levels) if self.kind != "number" else len(self.edges) + 1
        codes = self.kind == "number" or bool(
            self.sample.dtype.kind == "i" and ((self.sample >= -1) & (self.sample < bins)).all()
        )
        if not codes or self.counts.shape != (bins + 1,) or (self.counts < 0).any():
            raise ValueError(f"The counts of {self.name!r} must be those of its bins or levels.")

    @classmethod
    def of(cls, column: Column, some: IntArray) -> Profile:
        """From all values of a column; ``some`` are the places of rows to keep."""
        if column.kind == "category":
            number = _level_counts(column.codes, len(column.levels))
            return cls(column.name, "category", np.empty(0), column.levels, number,
                       0.0, 0.0, column.codes[some])  # fmt: skip
        values = column.numbers
        known = values[~np.isnan(values)]
        if not len(known):
            none = np.full(len(values), -1)
            return cls(column.name, "empty", np.empty(0), (_ANY_VALUE,),
                       _level_counts(none, 1), 0.0, 0.0, none[some])  # fmt: skip
        ends = np.quantile(known, np.arange(1, _BINS) / _BINS, method="inverted_cdf")
        edges = np.unique(ends)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, spread = float(np.mean(known)), float(np.std(known))
        return cls(column.name, "number", edges, (), binned(values, edges), mean, spread,
                   values[some])  # fmt: skip

    def same_kind(self, column: Column) -> Column:
        """A window's column as numbers or levels, whichever the reference has.

        Text that reads as numbers is taken for these, and numbers for levels.
        """
        if self.kind == "number" and column.kind == "category":
            found = column.as_numbers()
            if found is None:
                raise TableError(
                    f"Column {self.name!r} must hold numbers, as in the reference; received text "
                    f"in current, such as {column.levels[0]!r}. Leave it out (drop)."
                )
            return found
        return column.as_levels() if self.kind == "category" else column

    def count(self, column: Column) -> tuple[IntArray, tuple[str, ...]]:
        """Rows of a window in every bin or level, those without a value last; and its levels.

        Levels that the reference lacks come after those that it has.
        """
        if self.kind == "number":
            return binned(self._numbers(column), self.edges), ()
        codes, levels = self.coded(column)
        return _level_counts(codes, len(levels)), levels

    def pooled(self, column: Column, rows: IntArray) -> Numbers | Category:
        """Some rows of a window and the rows of the reference that are kept."""
        if self.kind == "number":
            return Numbers(self.name, np.concatenate([self._numbers(column)[rows], self.sample]))
        codes, levels = self.coded(column)
        return Category.of(self.name, np.concatenate([codes[rows], self.sample]), levels)

    def coded(self, column: Column) -> tuple[IntArray, tuple[str, ...]]:
        """Codes of a window's values into the levels of the reference and its own after them."""
        if self.kind == "empty":
            return np.where(column.missing, -1, 0), self.levels
        if column.kind == "empty":
            return np.full(len(column), -1), self.levels
        place = {level: k for k, level in enumerate(self.levels)}
        for level in sorted(column.present):
            place.setdefault(level, len(place))
        # The last entry is what the code -1, a missing value, points to.
        slots = np.array([*(place.get(level, -1) for level in column.levels), -1])
        return slots[column.codes], tuple(place)

    def _numbers(self, column: Column) -> Array:
        return column.numbers if column.kind == "number" else np.full(len(column), np.nan)


@dataclass(frozen=True)
class Reference:
    """What windows are compared with: made by :func:`drift_reference`, and given to `drift`.

    Attributes
    ----------
    profiles : tuple of Profile
        One for every column, in alphabetical order.
    rows : int
        Rows of the table that it was made of.
    left_out : mapping of str to str
        Columns that are not compared, with the reason.

    Examples
    --------
    >>> import isthmus
    >>> reference = isthmus.drift_reference({"age": [31, 42, 37], "town": ["Bonn", "Kiel", "Bonn"]})
    >>> reference.names, reference.rows
    (('age', 'town'), 3)
    """

    profiles: tuple[Profile, ...]
    rows: int
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(int(one.counts.sum()) != self.rows for one in self.profiles):
            raise ValueError("Every column of a reference must have its rows.")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, for :func:`isthmus.load` and ``isthmus drift FILE CURRENT``.

        The file holds counts, and up to 5000 rows of the table column by column.

        Parameters
        ----------
        path : str or path-like
            Where to write; an old file is replaced once the new one is whole.

        Returns
        -------
        Path
            The file.
        """
        from ..storing import save

        return save(self, path)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that are compared."""
        return tuple(one.name for one in self.profiles)

    def without(self, reasons: Mapping[str, str]) -> Reference:
        """The same with some columns left out, each for a reason."""
        if not reasons:
            return self
        kept = tuple(one for one in self.profiles if one.name not in reasons)
        return Reference(kept, self.rows, {**self.left_out, **reasons})

    def but(self, names: Collection[str]) -> Reference:
        """The same without some columns, of which nothing more is said."""
        kept = tuple(one for one in self.profiles if one.name not in names)
        return Reference(
            kept, self.rows, {k: why for k, why in self.left_out.items() if k not in names}
        )

    def only(self, names: Sequence[str]) -> Reference:
        """The same with these columns, all of which it must have."""
        absent = sorted(set(names) - set(self.names))
        if absent:
            raise TableError(
                f"columns must name columns that the reference compares; received {absent!r}. It "
                f"has {listed([repr(name) for name in self.names])}."
            )
        return Reference(
            tuple(one for one in self.profiles if one.name in set(names)), self.rows, self.left_out
        )

    def pool(self, columns: Mapping[str, Column], rows: IntArray) -> Pool:
        """Some rows of a window together with the rows of the reference that are kept."""
        made = tuple(one.pooled(columns[one.name], rows) for one in self.profiles)
        return Pool(made, len(rows))


def drift_reference(
    table: Any, *, columns: Sequence[str] | None = None, drop: Sequence[str] = (), rows: int = ROWS
) -> Reference:
    """Work out once what windows will be compared with.

    Parameters
    ----------
    table : frame, dict of columns or array
        The reference. Dates are left out unless ``columns`` names them: they say when, not what.
    columns, drop : list of str, optional
        Columns to use, by default all; and columns to leave out.
    rows : int, default 5000
        How many rows are kept for what is looked at jointly. Counts of bins and levels are
        of all rows.

    Returns
    -------
    Reference
        A frozen value of plain arrays, which can be saved (``save``) and pickled.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> reference = isthmus.drift_reference(rng.normal(size=(1000, 2)))
    >>> isthmus.drift(reference, rng.normal(size=(500, 2)), random_state=0).alarms
    ()
    """
    read = read_columns(as_given(table, "reference"), "reference", drop)
    number = len(next(iter(read.values())))
    found, left_out = chosen(read, "reference", columns)
    some = bounded_rows(number, rows)
    profiles = []
    for name in sorted(found):
        column = found[name]
        if column.kind == "category" and len(column.present) > max(50, _IDENTIFIER * number):
            left_out[name] = (
                f"nearly every row has a level of its own ({len(column.present):,} in "
                f"{count(number, 'row')})"
            )
        else:
            profiles.append(Profile.of(column, some))
    if not profiles:
        told = listed([f"{name!r} ({why})" for name, why in left_out.items()])
        raise TableError(f"reference must have a column to compare; received only {told}.")
    return Reference(tuple(profiles), number, left_out)


def binned(values: Array, edges: Array) -> IntArray:
    """Rows in every bin, and at the end those without a value."""
    at = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="left"))
    return np.bincount(at, minlength=len(edges) + 2)


def _level_counts(codes: IntArray, levels: int) -> IntArray:
    return np.bincount(np.where(codes < 0, levels, codes), minlength=levels + 1)
