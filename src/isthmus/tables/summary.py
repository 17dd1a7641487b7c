"""One column in a few numbers that can be added up, of which every decision about it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..typing import Array
from .arrow import dates_of
from .columns import Column, Kind, TableError
from .parts import part_of
from .tallies import Levels, Values, levels_together, together

NOBODY = Column("", "empty")

_WORDS = {
    "number": "numbers",
    "category": "text",
    "date": "dates",
    "duration": "durations",
    "other": "other values",
}


@dataclass(frozen=True)
class Summary:
    """What is known of a column of some rows.

    Attributes
    ----------
    name : str
    kind : str
        As in :class:`Column`; text that reads as dates is ``"category"`` with ``dates``.
    rows, missing, infinite : int
        Numbers of rows, of those without a value, and of those with an infinite one.
    gone : int
        Of the numbers of the rows without a value: equal for columns where the same rows have none.
    there, lacking : tuple of float
        Number of rows of positive weight, and their weight, with a value and without one.
    low, high, first, last : float
        Smallest, largest, first and last number.
    whole : bool
        Whether all numbers are whole.
    steps : int
        Rows whose number is the one before plus one; zero where some are missing or not whole.
    values, levels : Values or Levels or None
        Rows by number, or by level; None where these are too many.
    dates : Summary or None
        Of text: the same as dates, where all of it reads so.
    parts : mapping of str to Summary
        Of dates: hours, weekdays and months where these are asked for.
    sample : Column
        Some rows, drawn by the hashes of their numbers.
    why : str
        What is wrong with a column of kind ``"other"``.
    """

    name: str
    kind: Kind
    rows: int = 0
    missing: int = 0
    infinite: int = 0
    gone: int = 0
    there: tuple[float, float] = (0.0, 0.0)
    lacking: tuple[float, float] = (0.0, 0.0)
    low: float = np.inf
    high: float = -np.inf
    first: float = np.nan
    last: float = np.nan
    whole: bool = True
    steps: int = 0
    values: Values | None = None
    levels: Levels | None = None
    dates: Summary | None = None
    parts: Mapping[str, Summary] = field(default_factory=dict)
    sample: Column = NOBODY
    why: str = ""

    @classmethod
    def of(
        cls, column: Column, weight: Array, hashes: np.ndarray, parts: Sequence[str] = ("days",)
    ) -> Summary:
        """Look at rows once; ``hashes`` are those of the numbers of the rows."""
        gone = column.missing
        positive = weight > 0
        found = cls(
            column.name,
            column.kind,
            len(column),
            int(gone.sum()),
            gone=int(hashes[gone].sum(dtype=np.uint64)),
            there=(float((positive & ~gone).sum()), float(weight[~gone].sum())),
            lacking=(float((positive & gone).sum()), float(weight[gone].sum())),
            why=column.why,
        )
        if column.kind == "category":
            as_dates = dates_of(column)
            return replace(
                found,
                levels=Levels.of(column.codes, column.levels, weight),
                dates=None if as_dates is None else cls.of(as_dates, weight, hashes, parts),
            )
        if column.kind in ("empty", "other"):
            return found
        x, own = column.numbers, weight
        if found.missing:
            x, own = x[~gone], own[~gone]
        found = found.with_numbers(x, own)
        if column.kind != "date":
            return found
        made = {
            part: cls.of(part_of(column, part), weight, hashes) for part in parts if part != "days"
        }
        return replace(found, parts=made)

    def with_numbers(self, x: Array, weight: Array) -> Summary:
        """Look at the numbers of the rows that have one."""
        if not len(x):
            return replace(self, values=Values.of(x, weight))
        low, high = float(x.min()), float(x.max())
        finite = np.isfinite(low) and np.isfinite(high)
        # Most columns that are not whole say so in their first rows.
        whole = bool((x[:64] == np.floor(x[:64])).all() and (x == np.floor(x)).all())
        return replace(
            self,
            infinite=0 if finite else int(np.isinf(x).sum()),
            low=low,
            high=high,
            first=float(x[0]),
            last=float(x[-1]),
            whole=whole,
            steps=int((x[1:] == x[:-1] + 1.0).sum()) if whole and not self.missing else 0,
            values=Values.of(x, weight),
        )

    def __add__(self, other: Summary) -> Summary:
        if "empty" in (self.kind, other.kind) and self.kind != other.kind:
            return self.beside(other) if other.kind == "empty" else other.beside(self)
        if "other" in (self.kind, other.kind):
            why = self.why or other.why
            return replace(self._counts(other), kind="other", why=why)
        if self.kind != other.kind:
            raise TableError(
                f"Column {self.name!r} must hold one kind of values in all rows; received "
                f"{_WORDS[self.kind]} in some and {_WORDS[other.kind]} in others."
            )
        dates = None
        if self.dates is not None and other.dates is not None:
            dates = self.dates + other.dates
        joins = other.first == self.last + 1.0
        return replace(
            self._counts(other),
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            first=self.first,
            last=other.last,
            whole=self.whole and other.whole,
            steps=self.steps + other.steps + int(joins),
            values=together(self.values, other.values),
            levels=levels_together(self.levels, other.levels),
            dates=dates,
            parts={part: one + other.parts[part] for part, one in self.parts.items()},
        )

    def _counts(self, other: Summary) -> Summary:
        """Count the rows of both."""
        return replace(
            self,
            rows=self.rows + other.rows,
            missing=self.missing + other.missing,
            infinite=self.infinite + other.infinite,
            gone=(self.gone + other.gone) % 2**64,
            there=(self.there[0] + other.there[0], self.there[1] + other.there[1]),
            lacking=(self.lacking[0] + other.lacking[0], self.lacking[1] + other.lacking[1]),
        )

    def beside(self, empty: Summary) -> Summary:
        """Add rows that have no value."""
        dates = None if self.dates is None else self.dates.beside(empty)
        parts = {part: one.beside(empty) for part, one in self.parts.items()}
        return replace(self._counts(empty), dates=dates, parts=parts)
