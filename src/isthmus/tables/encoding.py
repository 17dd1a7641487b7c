"""One column of a table to numbers: what is made of it, and in which words that is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..typing import Array
from ..words import count, listed
from .columns import Column, Kind, TableError

_WORDS: Mapping[Kind, str] = {
    "number": "numbers",
    "category": "text or categories",
    "empty": "no values",
}


@dataclass(frozen=True)
class Plan:
    """What becomes of one column.

    ``fill`` stands for a missing number; an ``indicator`` is a 0/1 feature that
    tells where a value is missing.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    fill: float = np.nan
    indicator: bool = False

    @property
    def features(self) -> list[str]:
        """Names of the features that `encode` makes."""
        made = [self.name]
        if self.kind == "category":
            made = [f"{self.name}={level}" for level in self.levels]
        return made + [f"{self.name} is missing"] * self.indicator

    def encode(self, column: Column) -> Array:
        """Features of the column, shape (n, len(features))."""
        missing = column.missing
        if self.kind == "category":
            place = {level: i for i, level in enumerate(self.levels)}
            # The spare slot at the end is what code -1, a missing value, points to.
            slots = np.array([*(place.get(level, -1) for level in column.levels), -1])
            codes = slots[column.codes] if column.kind == "category" else np.full(len(column), -1)
            values = np.equal.outer(codes, np.arange(len(self.levels))).astype(np.float64)
        else:
            values = np.where(missing, self.fill, column.numbers)[:, None]
        return np.hstack([values, missing[:, None]]) if self.indicator else values

    def in_words(self) -> str:
        """Say what is made of the column."""
        if self.kind == "category":
            words = f"{_WORDS[self.kind]}: a 0/1 feature for {count(len(self.levels), 'level')}"
            filled = "all zeros"
        else:
            words = f"{_WORDS[self.kind]}: used as they are"
            filled = f"the median of both tables, {self.fill:.6g}"
        if self.indicator:
            words += f"; where missing, {filled}, and a 0/1 feature that says so"
        return words


def make_plan(p: Column, q: Column, *, labels: tuple[str, str], max_levels: int) -> Plan:
    """Decide what becomes of a column that two tables share."""
    check_kinds(p, q, labels)
    indicator = bool(p.missing.any() or q.missing.any())
    kind = q.kind if p.kind == "empty" else p.kind
    if kind == "empty":
        raise TableError(
            f"Column {p.name!r} must have a value somewhere; received only missing values in both "
            "tables. Leave it out (drop)."
        )
    if kind == "category":
        levels = tuple(sorted(p.present | q.present))
        if len(levels) > max_levels:
            raise TableError(
                f"Column {p.name!r} must have at most {max_levels} levels of text; received "
                f"{len(levels)}, such as {levels[0]!r}. It is probably an identifier or free text: "
                "leave it out (--drop), or choose the columns to use (--columns)."
            )
        return Plan(p.name, kind, levels=levels, indicator=indicator)
    # Halved and doubled, since the sum of the two middle numbers may overflow.
    fill = 2 * float(np.nanmedian(np.concatenate([p.numbers, q.numbers]) / 2))
    return Plan(p.name, kind, fill=fill, indicator=indicator)


def check_kinds(p: Column, q: Column, labels: tuple[str, str]) -> None:
    """Refuse a column that is numbers in one table and text in the other."""
    if p.kind != q.kind and "empty" not in (p.kind, q.kind):
        raise TableError(
            f"Column {p.name!r} must hold the same kind of values in both tables; received "
            f"{_WORDS[p.kind]} in {labels[0]} and {_WORDS[q.kind]} in {labels[1]}."
        )


def one_sided(p: Column, q: Column, labels: tuple[str, str]) -> str | None:
    """Say which levels, or missing values, occur in one of two tables only."""
    told = []
    for here, there, label in ((p, q, labels[0]), (q, p, labels[1])):
        only = [repr(level) for level in sorted(here.present - there.present)]
        if here.missing.any() and not there.missing.any():
            only.append("missing values")
        if only:
            told.append(f"{listed(only)} only in {label}")
    return f"column {p.name!r} has {' and '.join(told)}" if told else None


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
