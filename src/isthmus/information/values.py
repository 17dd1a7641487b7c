"""The rows of one argument: numbers, columns of levels beside them, or one label for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.frames import as_numpy
from ..data.validation import as_rows
from ..tables.columns import Column, as_columns, as_table, column_names, is_table
from ..typing import BoolArray, IntArray
from ..words import count

# Numbers with at most so many different values, each repeated so often, are labels.
_LEVELS, _REPEATS = 20, 10
# Beside other numbers they are levels with at most so many values, since counts have an order.
_FEW_LEVELS = 5
# A column of text in which more than this share of the rows has a level of its own names rows.
_DISTINCT = 0.5


@dataclass(frozen=True)
class Values:
    """Rows of one argument.

    Attributes
    ----------
    array : ndarray
        Numbers of shape (n, d), in which a column of levels holds their numbers, 0 for the most
        frequent; or, if ``discrete``, one label 0, 1, ... for each row, each of which occurs.
    discrete : bool
    categories : tuple of int
        Places of the columns of levels.
    gaps : tuple of int
        Those of them that say where a number, in another column, is missing.
    names : tuple of str
        Names of the columns.
    notes : tuple of str
        What was made of the columns, where it may surprise.
    """

    array: Any
    discrete: bool
    categories: tuple[int, ...] = ()
    gaps: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.array)

    @property
    def numbers(self) -> IntArray:
        """Places of the columns that are no levels."""
        width = 0 if self.discrete else self.array.shape[1]
        return np.setdiff1d(np.arange(width), self.categories)

    @property
    def constant(self) -> bool:
        """Whether all rows are the same."""
        return bool((self.array == self.array[:1]).all())

    def take(self, rows: IntArray | BoolArray) -> Values:
        """Some of the rows; labels and levels that are left are numbered anew."""
        values = self.array[rows]
        if self.discrete:
            return replace(self, array=numbered(values))
        for j in self.categories:
            values[:, j] = numbered(values[:, j])
        return replace(self, array=values)

    def columns(self, places: Sequence[int] | IntArray) -> Values:
        """Some of the columns, of values that are not one label."""
        kept = [int(j) for j in places]
        return replace(
            self,
            array=self.array[:, kept],
            categories=tuple(k for k, j in enumerate(kept) if j in self.categories),
            gaps=tuple(k for k, j in enumerate(kept) if j in self.gaps),
            names=tuple(self.names[j] for j in kept) if self.names else (),
        )

    def beside(self, other: Values) -> Values:
        """The columns of both; a label is a column of levels."""
        left, right = self._as_columns(), other._as_columns()
        width = left.array.shape[1]
        return Values(
            np.hstack([left.array, right.array]),
            False,
            (*left.categories, *(width + j for j in right.categories)),
            (*left.gaps, *(width + j for j in right.gaps)),
            (*left.names, *right.names),
        )

    def label(self, places: Sequence[int] | IntArray) -> IntArray:
        """One label for each row from some columns of levels, 0 for the most frequent."""
        return joint_label([self.array[:, j] for j in places])

    def _as_columns(self) -> Values:
        if not self.discrete:
            return self
        name = self.names[0] if len(self.names) == 1 else "label"
        return Values(self.array[:, None].astype(np.float64), False, (0,), (), (name,))


def numbered(codes: np.ndarray) -> IntArray:
    """Levels as 0, 1, ..., the most frequent first.

    Examples
    --------
    >>> numbered(np.array([7, 3, 3, 9])).tolist()
    [1, 0, 0, 2]
    """
    _, code, rows = np.unique(codes, return_inverse=True, return_counts=True)
    place = np.empty(len(rows), dtype=np.intp)
    place[np.argsort(-rows, kind="stable")] = np.arange(len(rows))
    return place[code.reshape(-1)]


def joint_label(codes: Sequence[np.ndarray]) -> IntArray:
    """One label for every combination of levels that occurs."""
    out = np.zeros(len(codes[0]), dtype=np.intp)
    for one in codes:
        out = numbered(out * (int(one.max(initial=0)) + 1) + one.astype(np.intp))
    return out


def read_values(
    values: Any, argument: str, discrete: Any = "auto", few_are_levels: bool = True
) -> Values:
    """Rows of numbers and levels, or one label for each row; messages name the argument.

    Text is levels, and so are numbers with few values. Dates are days. A missing number is the
    median, and a column of levels says where; a missing level is a level of its own.
    ``few_are_levels`` says whether columns of few numbers are levels beside other numbers.

    Examples
    --------
    >>> read_values(["a", "b", "a"], "x").array
    array([0, 1, 0])
    >>> read_values([0.1, 0.2, 0.7], "x").array.shape
    (3, 1)
    >>> mixed = read_values({"age": [31.0, 42.0, 55.0], "town": ["Kiel", "Bonn", "Bonn"]}, "x")
    >>> mixed.array[:, 1], mixed.categories
    (array([1., 0., 0.]), (1,))
    """
    if not (isinstance(discrete, bool | np.bool_) or discrete == "auto"):
        raise ValueError(
            f"discrete_{argument} must be True, False or 'auto'; received {discrete!r}."
        )
    return from_columns(columns_of(values, argument), argument, discrete, few_are_levels)


def from_columns(
    columns: dict[str, Column],
    argument: str,
    discrete: bool | str = "auto",
    few_are_levels: bool = True,
) -> Values:
    """The same from columns that are read; parameters as of :func:`read_values`."""
    text = [column.name for column in columns.values() if column.kind == "category"]
    if discrete is False and text:
        raise ValueError(
            f"{argument} must hold numbers if discrete_{argument}=False; received text in "
            f"{text[0]!r}."
        )
    few = all(_is_few(column, _LEVELS) for column in columns.values())
    if discrete is True or (discrete == "auto" and few):
        codes = [_codes(column) for column in columns.values()]
        label = joint_label(codes)
        # Many combinations of levels are better told apart by their columns.
        if discrete is True or len(codes) == 1 or label.max() < _LEVELS:
            return Values(
                label, True, names=tuple(columns), notes=_missing_notes(columns, argument)
            )
    return _mixed(columns, argument, levels=few_are_levels and discrete == "auto")


def columns_of(values: Any, argument: str, *, tolerant: bool = False) -> dict[str, Column]:
    """Columns by their names: those of a table, or "column 0", "column 1" and so on.

    If ``tolerant``, columns without values, infinite ones and what is neither a number nor a level
    are for the caller to see to.
    """
    values = as_table(values, "column 0")
    if is_table(values):
        names = column_names(values, argument)
        found = as_columns(values, argument, names, tolerant=tolerant)
    else:
        array = np.asarray(as_numpy(values))
        if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
            # Numbers beside text stay numbers.
            array = np.array(values, dtype=object)
        if array.ndim not in (1, 2) or 0 in array.shape:
            raise ValueError(
                f"{argument} must have one or two dimensions (rows, columns) and at least one of "
                f"each; received shape {array.shape}."
            )
        if array.dtype.kind not in "biufUSOmM":
            # Complex numbers are refused there, in the words of the whole library.
            as_rows(array, argument)
        if array.dtype.kind in "biuf":
            array = as_rows(array, argument, missing=True)
        rows = array if array.ndim == 2 else array[:, None]
        found = {
            f"column {k}": _column(f"column {k}", rows[:, k], argument)
            for k in range(rows.shape[1])
        }
    if not found:
        raise ValueError(f"{argument} must have at least one column; received none.")
    for name, column in () if tolerant else found.items():
        if column.kind == "empty":
            raise ValueError(
                f"{argument} must have a value in some row of every column; received none in "
                f"{name!r}."
            )
        if np.isinf(column.numbers).any():
            raise ValueError(f"{argument} must be finite; received infinity in {name!r}.")
    return found


def _column(name: str, values: np.ndarray, argument: str) -> Column:
    if values.dtype.kind == "f":
        empty = bool(np.isnan(values).all())
        return Column(name, "empty" if empty else "number", np.asarray(values, dtype=np.float64))
    if values.dtype.kind == "S":
        values = values.astype(str)
    if values.dtype.kind in "mM":
        # Arrow knows no hours and weeks.
        values = values.astype(f"{values.dtype.kind}8[us]")
    return next(iter(as_columns({name: values}, argument, [name]).values()))


def _is_few(column: Column, most: int) -> bool:
    if column.kind == "category":
        return True
    value = np.unique(column.numbers[~column.missing])
    return 2 <= len(value) + int(column.missing.any()) <= min(most, len(column) // _REPEATS)


def _codes(column: Column) -> IntArray:
    """Numbers of the levels of a column, that of missing values among them."""
    return numbered(column.as_levels().codes)


def _mixed(columns: dict[str, Column], argument: str, levels: bool) -> Values:
    """Columns of numbers and of levels side by side."""
    made: list[np.ndarray] = []
    names: list[str] = []
    categories, gaps, notes = [], [], list(_missing_notes(columns, argument))

    def add(name: str, values: np.ndarray) -> int:
        made.append(np.asarray(values, dtype=np.float64))
        names.append(name)
        return len(made) - 1

    for name, column in columns.items():
        if column.kind == "category" or (levels and _is_few(column, _FEW_LEVELS)):
            codes = _codes(column)
            if len(columns) > 1 and codes.max() + 1 > max(_DISTINCT * len(codes), _LEVELS):
                notes.append(
                    f"{argument} was taken without {name!r}, which has {codes.max() + 1:,} levels "
                    f"in {count(len(codes), 'row')}: levels that do not repeat tell nothing."
                )
                continue
            categories.append(add(name, codes))
            continue
        gone = column.missing
        # Halved and doubled, since the sum of the two middle numbers may overflow.
        median = 2.0 * float(np.median(column.numbers[~gone] / 2.0))
        add(name, np.where(gone, median, column.numbers))
        if gone.any():
            gaps.append(add(f"{name} is missing", gone))
    if not made:
        raise ValueError(
            f"{argument} must have a column with levels that repeat; received {list(columns)!r}, "
            "of which nearly every row has its own. Leave such columns out, or join their levels."
        )
    places = sorted([*categories, *gaps])
    return Values(
        np.column_stack(made), False, tuple(places), tuple(gaps), tuple(names), tuple(notes)
    )


def _missing_notes(columns: dict[str, Column], argument: str) -> tuple[str, ...]:
    """What is made of missing values."""
    out = []
    for name, column in columns.items():
        gone = int(column.missing.sum())
        if gone:
            kind = "a level" if column.kind == "category" else "a value"
            out.append(
                f"{name!r} of {argument} has {count(gone, 'missing value')} in "
                f"{count(len(column), 'row')}: that it is missing counts as {kind} of its own."
            )
    return tuple(out)
