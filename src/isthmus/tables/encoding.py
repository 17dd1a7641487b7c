"""One column of a table to numbers: what is made of it, and in which words that is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..typing import Array, IntArray
from ..words import count
from .columns import Column, Kind

OTHER = "other levels"


@dataclass(frozen=True)
class Plan:
    """What becomes of one column, or of one part of a date.

    Attributes
    ----------
    name : str
        Name of what is made: the column's, or such as "time weekday" for a part of a date.
    kind : {"number", "category"}
        What is made of it.
    source : str
        Name of the column in the tables.
    source_kind : str
        What the column holds there.
    part : str
        Part of a date.
    scale : float
        What numbers are divided by: 86,400 for durations in days.
    levels : tuple of str
        Levels that have a feature of their own.
    pooled : int
        Number of further levels, which are one; zero for none.
    fill : float
        What stands for a missing number.
    indicator : bool
        Whether a 0/1 feature tells where a value is missing.
    told_by : str
        Name of a column whose feature tells it, where the same rows are missing there.
    note : str
        What else was decided.
    """

    name: str
    kind: Kind
    source: str = ""
    source_kind: Kind = "number"
    part: str = "days"
    scale: float = 1.0
    levels: tuple[str, ...] = ()
    pooled: int = 0
    fill: float = np.nan
    indicator: bool = False
    told_by: str = ""
    note: str = ""

    @property
    def level_names(self) -> list[str]:
        """Names of what the features of a category stand for."""
        return [*self.levels, *[OTHER] * bool(self.pooled), *["missing"] * self.indicator]

    @property
    def features(self) -> list[str]:
        """Names of the features that `encode` makes."""
        made = [self.name]
        if self.kind == "category":
            made = [f"{self.name}={level}" for level in self.levels]
            made += [f"{self.name}={OTHER}"] * bool(self.pooled)
        return made + [f"{self.name} is missing"] * self.indicator

    def slots(self, column: Column) -> IntArray:
        """Number of the feature that every row of a category has, or -1 for none."""
        place = {level: i for i, level in enumerate(self.levels)}
        rest = len(self.levels) if self.pooled else -1
        # The spare slot at the end is what code -1, a missing value, points to.
        own = np.array([*(place.get(level, rest) for level in column.levels), -1])
        return np.asarray(own[column.codes])

    def encode(self, column: Column, out: Array) -> None:
        """Write features of the column into an array of shape (n, len(features))."""
        missing = column.missing
        if self.kind == "category":
            slots = self.slots(column)
            for k in range(len(self.levels) + bool(self.pooled)):
                np.equal(slots, k, out=out[:, k])
        else:
            np.divide(column.numbers, self.scale, out=out[:, 0])
            if missing.any():
                out[missing, 0] = self.fill
        if self.indicator:
            out[:, -1] = missing

    def in_words(self) -> str:
        """Say what is made of the column."""
        if self.kind == "category":
            words = f"{_made_of(self)}: a 0/1 feature for {count(len(self.levels), 'level')}"
            if self.pooled:
                words += f", and one for {count(self.pooled, 'rarer level')} together"
            filled = "a level of its own"
        else:
            words = _made_of(self)
            filled = f"the median of both tables, {self.fill:.6g}"
        if self.indicator and self.kind == "category":
            words += f"; missing is {filled}"
        elif self.indicator:
            words += f"; where missing, {filled}, and a 0/1 feature that says so"
        elif self.told_by:
            words += f"; where missing, {filled}, and the feature of {self.told_by!r} says so"
        return words + (f"; {self.note}" if self.note else "")


def _made_of(plan: Plan) -> str:
    if plan.source_kind == "date":
        return {
            "days": "dates: the number of days since 1970",
            "hour": "dates: the hour",
            "weekday": "dates: the weekday",
            "month": "dates: the month",
        }[plan.part]
    if plan.source_kind == "duration":
        return f"durations or times: in {'seconds' if plan.scale == 1.0 else 'days'}"
    return "text or categories" if plan.kind == "category" else "numbers: used as they are"


def distinct(names: Iterable[str]) -> list[str]:
    """Make names differ: of two features called ``a=b`` the second is ``a=b (2)``."""
    taken: set[str] = set()
    out = []
    for name in names:
        unique, number = name, 1
        while unique in taken:
            number += 1
            unique = f"{name} ({number})"
        taken.add(unique)
        out.append(unique)
    return out
