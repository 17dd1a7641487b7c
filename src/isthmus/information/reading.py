"""Columns of a table, one by one, of which none stops the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.frames import as_numpy
from ..data.seeds import Seeds
from ..tables.columns import Column
from ..words import count, number
from .sentinels import find_sentinel
from .single import SingleColumn
from .values import Values, columns_of, from_columns

# A column of labels of which so large a share of the rows has one of its own names rows.
_NAMES_ROWS = 0.5


@dataclass(frozen=True)
class Read:
    """Columns of a table.

    Attributes
    ----------
    names : list of str
        All of them, in their order.
    columns : list of SingleColumn
        Those that were not left out.
    left_out : mapping of str to str
        Columns that hold neither numbers nor levels, and why.
    notes : tuple of str
        What was made of columns, where it may surprise.
    n_rows : int
    """

    names: list[str]
    columns: list[SingleColumn]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    n_rows: int


def read_singles(table: Any, argument: str, seeds: Seeds, discrete: Any = "auto") -> Read:
    """Read every column of a table by itself.

    Parameters
    ----------
    table : array-like or frame
    argument : str
        For messages.
    seeds : Seeds
    discrete : "auto", bool, or sequence of bool, of names or of places
        Which columns are labels; those that are not named are numbers, and text is labels.
    """
    found = columns_of(_without_infinity(table), argument, tolerant=True)
    chosen = _chosen(discrete, list(found), argument)
    columns, left_out, notes = [], {}, []
    for name, column in found.items():
        if column.kind == "other":
            left_out[name] = column.why
            continue
        values = _values(column, chosen[name])
        columns.append(SingleColumn(name, values, seeds))
        notes.extend(_notes(column, values))
    rows = len(next(iter(found.values())))
    return Read(list(found), columns, left_out, tuple(notes), rows)


def _values(column: Column, discrete: bool | str) -> Values:
    if column.kind == "empty":
        return Values(np.zeros(len(column), dtype=np.intp), True, names=(column.name,))
    if column.kind != "category" and np.isinf(column.numbers).any():
        finite = np.where(np.isinf(column.numbers), np.nan, column.numbers)
        if np.isnan(finite).all():
            return Values(np.zeros(len(column), dtype=np.intp), True, names=(column.name,))
        column = replace(column, numbers=finite)
    if discrete is False and column.kind == "category":
        discrete = "auto"
    return from_columns({column.name: column}, "table", discrete)


def _notes(column: Column, values: Values) -> list[str]:
    name, n = column.name, len(column)
    out = []
    gone = int(column.missing.sum())
    infinite = 0 if column.kind == "category" else int(np.isinf(column.numbers).sum())
    if column.kind == "empty" or gone == n:
        return [f"{name!r} has no value in any row, and shares nothing."]
    if gone:
        out.append(
            f"{name!r} has {count(gone, 'missing value')} in {count(n, 'row')}: that it is missing "
            "counts as a value of its own."
        )
    if infinite:
        out.append(f"{name!r} is infinite in {count(infinite, 'row')}, which count as missing.")
    if values.constant:
        out.append(f"{name!r} is constant, and shares nothing.")
    if values.discrete and (np.bincount(values.array) == 1).sum() > _NAMES_ROWS * n:
        out.append(
            f"{name!r} has a level of its own in most rows. It names rows, and what it shares with "
            "other columns cannot be known."
        )
    for j in values.numbers:
        sentinel = find_sentinel(values.array[:, j])
        if sentinel is not None:
            where = count(int(sentinel.rows.sum()), "row")
            out.append(
                f"{name!r} is {number(sentinel.value)} in {where}, far from all other values. If "
                "that stands for a value that is missing, make it one (NaN)."
            )
    return out


def _without_infinity(table: Any) -> Any:
    """An array of numbers with NaN for infinity; anything else as it is."""
    if not isinstance(table, np.ndarray) or table.dtype.kind != "f":
        return table
    return np.where(np.isinf(table), np.nan, table) if np.isinf(table).any() else table


def _chosen(discrete: Any, names: Sequence[str], argument: str) -> dict[str, bool | str]:
    """For every column whether it is a label."""
    if isinstance(discrete, str | bool | np.bool_):
        if isinstance(discrete, str) and discrete != "auto":
            raise ValueError(f"discrete must be 'auto', a bool or columns; received {discrete!r}.")
        one = discrete if isinstance(discrete, str) else bool(discrete)
        return dict.fromkeys(names, one)
    marked = np.asarray(as_numpy(discrete))
    if marked.dtype.kind == "b":
        if marked.shape != (len(names),):
            raise ValueError(
                f"discrete must have one bool for each column of {argument}, {len(names)}; "
                f"received shape {marked.shape}."
            )
        return dict(zip(names, map(bool, marked), strict=True))
    out: dict[str, bool | str] = dict.fromkeys(names, False)
    for one in marked.reshape(-1).tolist():
        if isinstance(one, int) and -len(names) <= one < len(names):
            one = names[one]
        if one not in out:
            raise ValueError(
                f"discrete must name columns of {argument} or their places; received {one!r}."
            )
        out[one] = True
    return out
