"""One pass over the rows of a table: what is in every column, and some of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.sample import row_hash
from ..data.validation import as_weight
from ..typing import Array, BoolArray
from .columns import Column, TableError, as_columns
from .drawn import DRAWN_ROWS, Drawn, below
from .parts import coerced, part_of
from .summary import Summary


@dataclass(frozen=True)
class TableSummary:
    """What one pass over a table has found; two of them add up.

    Attributes
    ----------
    rows : int
        Number of rows that were looked at.
    dropped : int
        Number of rows that were not, since a value was missing.
    columns : mapping of str to Summary
    drawn : Drawn
        Some of the rows.
    """

    rows: int
    dropped: int
    columns: Mapping[str, Summary]
    drawn: Drawn

    def __add__(self, other: TableSummary) -> TableSummary:
        columns = {name: one + other.columns[name] for name, one in self.columns.items()}
        return TableSummary(
            self.rows + other.rows,
            self.dropped + other.dropped,
            columns,
            self.drawn + other.drawn,
        )

    def settled(self) -> dict[str, Summary]:
        """Columns with their samples, of all rows; text that reads as dates is dates."""
        return {name: _settled(one, self.drawn.columns[name]) for name, one in self.columns.items()}


def _settled(found: Summary, sample: Column) -> Summary:
    kind = found.kind
    if found.dates is not None:
        found, kind = found.dates, "date"
    if sample.kind == "category" and not sample.levels:
        sample = Column(sample.name, "empty", np.full(len(sample), np.nan))
    sample = coerced(sample, kind) or sample
    parts = {part: replace(one, sample=part_of(sample, part)) for part, one in found.parts.items()}
    return replace(found, sample=sample, parts=parts)


@dataclass(frozen=True)
class Looking:
    """What to look at in a pass; a function of the batches of a part and of its first row.

    Attributes
    ----------
    names : tuple of str
        Columns to look at.
    label : str
        What messages call the table.
    dates : tuple of str
        Parts of dates that are asked for.
    complete : tuple of str
        Columns of which no value may be missing: other rows are dropped.
    weight : str or None
        Column with the weights of rows.
    most : int
        Rows to draw.
    limit : int
        What hashes of rows that may be drawn are below.

    Examples
    --------
    >>> look = Looking(("age",), "p")
    >>> found = look([{"age": [31, None]}, {"age": [42]}], 0)
    >>> found.rows, found.columns["age"].missing, found.columns["age"].high
    (3, 1, 42.0)
    """

    names: tuple[str, ...]
    label: str
    dates: tuple[str, ...] = ("days",)
    complete: tuple[str, ...] = ()
    weight: str | None = None
    most: int = DRAWN_ROWS
    limit: int = 2**64

    @classmethod
    def at(cls, rows: int, names: Iterable[str], label: str, **how: Any) -> Looking:
        """The pass over a table of so many rows."""
        found = cls(tuple(names), label, **how)
        # Of rows that are dropped nobody knows how many there are.
        return found if found.complete else replace(found, limit=below(found.most, rows))

    def __call__(self, batches: Iterable[Any], first: int) -> TableSummary:
        """The summary of rows, the first of which has this number."""
        found: TableSummary | None = None
        wanted = self.names if self.weight is None else (*self.names, self.weight)
        for batch in batches:
            columns = as_columns(batch, self.label, wanted, tolerant=True, text=True)
            n = len(columns[wanted[0]])
            weight = np.ones(n)
            if self.weight is not None:
                own = columns[self.weight].numbers
                weight = as_weight(own, n, f"Column {self.weight!r} of {self.label}")
            one = self.of(columns, weight, first)
            first += n
            try:
                found = one if found is None else found + one
            except TableError as error:
                raise TableError(f"{self.label}: {error}") from None
        if found is None:
            raise TableError(f"{self.label} must have at least one row; received none.")
        return found

    def of(self, columns: Mapping[str, Column], weight: Array, first: int = 0) -> TableSummary:
        """The summary of rows that are in memory."""
        n = len(weight)
        hashes = row_hash(0, n, first)
        places = np.arange(first, first + n)
        columns = {name: columns[name] for name in self.names}
        kept = complete_rows(columns, self.complete)
        if not kept.all():
            columns = {name: column.take(kept) for name, column in columns.items()}
            weight, hashes, places = weight[kept], hashes[kept], places[kept]
        return TableSummary(
            len(weight),
            n - len(weight),
            {
                name: Summary.of(column, weight, hashes, self.dates)
                for name, column in columns.items()
            },
            Drawn.of(columns, weight, hashes, places, self.most, self.limit),
        )


def complete_rows(columns: Mapping[str, Column], names: Iterable[str]) -> BoolArray:
    """Rows that have a value in each of the columns."""
    kept = np.ones(len(next(iter(columns.values()))), dtype=bool)
    for name in names:
        kept &= ~columns[name].missing
    return kept
