"""Which columns of two tables are compared, and what becomes of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..words import listed
from .columns import TableError
from .deciding import LeftOut, Rules, decide
from .door import Door
from .encoding import Plan
from .faults import refuse
from .summary import Summary

Columns: TypeAlias = dict[str, Summary]

MOST_FEATURES = 120
"""0/1 features that categories may have together, which bounds the cost."""

_SAYS_SOMETHING = ("separates", "identifier", "levels")
_MOST_LEVELS, _LEAST_LEVELS = 40, 8
_ROWS_PER_LEVEL = 20


@dataclass(frozen=True)
class Asked:
    """What was asked for; see :class:`isthmus.tables.frames.TableEncoder`."""

    columns: Sequence[str] | None
    drop: Sequence[str]
    keep: Sequence[str]
    dates: tuple[str, ...]
    max_levels: int | None
    labels: tuple[str, str]
    door: Door

    def wants(self, name: str) -> bool:
        """Whether a column was named as one to use."""
        return name in self.keep or self.columns is not None


@dataclass(frozen=True)
class Choice:
    """Plans for the columns that are used, and the others with the reason."""

    plans: list[Plan]
    left: dict[str, LeftOut]


def common_columns(
    p: Sequence[str], q: Sequence[str], asked: Asked
) -> tuple[list[str], dict[str, LeftOut]]:
    """Columns that both tables have, in alphabetical order, and those that are left out."""
    door, (first, second) = asked.door, asked.labels
    faults: list[str] = []
    left: dict[str, LeftOut] = {}
    for argument, names in (("drop", asked.drop), ("keep", asked.keep)):
        absent = sorted({*names} - {*p, *q})
        if absent:
            faults.append(
                f"{door.argument(argument)} must name columns of a table; received {absent!r}."
            )
    wanted = {*p, *q} - {*asked.drop}
    if asked.columns is not None:
        wanted = {*asked.columns} - {*asked.drop}
        for present, label in ((p, first), (q, second)):
            absent = sorted(wanted - {*present})
            if absent:
                faults.append(
                    f"{door.argument('columns')} must name columns of both tables; received "
                    f"{absent!r}, which {label} does not have. It has "
                    f"{listed([repr(name) for name in present])}."
                )
    refuse(faults)
    for name in {*p, *q} - wanted:
        named = "drop names it" if name in asked.drop else "columns does not name it"
        argument, _, rest = named.partition(" ")
        left[name] = LeftOut(name, "asked", f"{door.argument(argument)} {rest}")
    for name in wanted:
        if name not in p or name not in q:
            label = first if name in p else second
            left[name] = LeftOut(name, "one table", f"only {label} has it")
        elif name == "" and not asked.wants(name):
            left[name] = LeftOut(
                name, "no name", "it has no name, and is perhaps a saved row index"
            )
    names = sorted(wanted - {*left})
    if not names:
        told = "; ".join(f"{name!r}: {left[name].reason}" for name in sorted(left))
        raise TableError(
            f"{first} and {second} must have a column in common that is not left out; received "
            f"{told or 'no column'}."
        )
    return names, left


def choose(p: Columns, q: Columns, names: Sequence[str], asked: Asked) -> Choice:
    """What becomes of the columns.

    Where nothing else remains, columns that alone tell the tables apart, or that look like
    identifiers, are what there is to compare, or else those that have one value.
    """
    unusable = _unusable(p, q, names, asked)
    names = [name for name in names if name not in unusable]
    found = _planned(p, q, names, asked, all_kept=False)
    left = {**unusable, **found.left}
    plans = found.plans
    if not plans:
        back = [one.source for one in left.values() if one.because in _SAYS_SOMETHING]
        back = back or [one.source for one in left.values() if one.because == "constant"]
        names = [name for name in names if name in back]
        plans = _planned(p, q, names, asked, all_kept=True).plans
        left = {name: one for name, one in left.items() if one.source not in names}
    if not plans:
        told = "; ".join(f"{one.name!r}: {one.reason}" for one in left.values())
        raise TableError(
            f"There must be a column to compare; received none that can be used. {told}."
        )
    return Choice(plans, left)


def _unusable(p: Columns, q: Columns, names: Sequence[str], asked: Asked) -> dict[str, LeftOut]:
    """Columns that hold neither numbers nor levels, refused if they were asked for."""
    left, faults = {}, []
    for name in names:
        whys = [column.why for column in (p[name], q[name]) if column.kind == "other"]
        if whys and asked.wants(name):
            faults.append(f"{whys[0]} Or leave it out: {asked.door.names('drop', [name])}.")
        elif whys:
            left[name] = LeftOut(name, "unusable", whys[0].rstrip("."))
    refuse(faults)
    return left


def _planned(
    p: Columns, q: Columns, names: Sequence[str], asked: Asked, *, all_kept: bool
) -> Choice:
    plans: list[Plan] = []
    left: dict[str, LeftOut] = {}
    most = _most_levels(p, q, names) if asked.max_levels is None else asked.max_levels
    for name in names:
        rules = Rules(asked.labels, most, all_kept or asked.wants(name))
        parts = asked.dates if "date" in (p[name].kind, q[name].kind) else ("days",)
        for part in parts:
            made = decide(_part(p[name], part), _part(q[name], part), rules, part)
            if isinstance(made, LeftOut):
                left[made.name] = replace(made, source=name)
            else:
                kind = p[name].kind if part != "days" else made.source_kind
                plans.append(replace(made, source=name, source_kind=kind))
    return Choice(plans, left)


def _most_levels(p: Columns, q: Columns, names: Sequence[str]) -> int:
    """Levels of a column that may have a feature, by the rows and by what all would cost."""
    if not names:
        return _LEAST_LEVELS
    least = min(p[names[0]].rows, q[names[0]].rows)
    most = int(np.clip(least // _ROWS_PER_LEVEL, _LEAST_LEVELS, _MOST_LEVELS))
    sizes = [
        _number_of_levels(p[name], q[name])
        for name in names
        if "category" in (p[name].kind, q[name].kind)
    ]
    while most > _LEAST_LEVELS // 2 and sum(min(k, most) for k in sizes) > MOST_FEATURES:
        most -= 1
    return most


def _number_of_levels(p: Summary, q: Summary) -> int:
    """Levels of both tables, as many as are told apart where they are very many."""
    found: set[str] = set()
    for one in (p, q):
        if one.kind == "category":
            found.update(one.sample.levels if one.levels is None else one.levels.names)
    return len(found)


def _part(one: Summary, part: str) -> Summary:
    """Days, hours, weekdays or months of a column of dates; any other column as it is."""
    return one if one.kind != "date" or part == "days" else one.parts[part]
