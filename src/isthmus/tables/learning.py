"""What is made of the columns of two tables, from the summaries of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from . import faults
from .choosing import Asked, choose
from .columns import TableError
from .deciding import LeftOut
from .encoding import Plan
from .looking import TableSummary
from .margins import Margin, margin
from .onesided import Found, one_sided_levels
from .summary import Summary
from .tallied import as_kind, tally

Look: TypeAlias = Callable[[tuple[str, ...], tuple[str, ...]], tuple[TableSummary, TableSummary]]
"""From the names of columns, and of those in which no value may be missing, to a pass over both
tables."""


@dataclass(frozen=True)
class Learned:
    """What was decided.

    Attributes
    ----------
    plans : list of Plan
    left : dict of str to LeftOut
        Columns that are left out.
    margins : tuple of Margin
    one_sided : list of Found
        Levels that only one of the tables has.
    complete : tuple of str
        Columns whose rows without a value are dropped.
    p, q : TableSummary
        Of the rows that are used.
    """

    plans: list[Plan]
    left: dict[str, LeftOut]
    margins: tuple[Margin, ...]
    one_sided: list[Found]
    complete: tuple[str, ...]
    p: TableSummary
    q: TableSummary


def learn(names: Sequence[str], asked: Asked, missing: str, look: Look) -> Learned:
    """Look at the columns that both tables have, and decide; twice where rows are dropped."""
    tables = look(tuple(names), ())
    p, q = (one.settled() for one in tables)
    choice = choose(p, q, names, asked)
    plans, left = choice.plans, dict(choice.left)
    sources = tuple(dict.fromkeys(plan.source for plan in plans))
    _refuse(p, q, sorted(sources), asked, missing)
    weights = [one.drawn.weight for one in tables]
    margins = tuple(
        margin(p[name].sample, q[name].sample, *weights)
        for name in names
        if _comparable(p[name], q[name])
    )
    complete: tuple[str, ...] = ()
    if missing == "drop" and any(one[name].missing for one in (p, q) for name in sources):
        complete = sources
        tables = look(sources, sources)
        for one, before, label in zip(tables, (p, q), asked.labels, strict=True):
            if not one.rows:
                most = max(sources, key=lambda name: before[name].missing)
                raise TableError(faults.no_rows_left(one.dropped, most, label, asked.door))
        p, q = (one.settled() for one in tables)
        choice = choose(p, q, sources, asked)
        plans = choice.plans
        left.update(choice.left)
        weights = [one.drawn.weight for one in tables]
    one_sided: list[Found] = []
    for plan in plans:
        both = (_made(plan, one[plan.source]) for one in (p, q))
        tallies = [tally(one, weight) for one, weight in zip(both, weights, strict=True)]
        one_sided += one_sided_levels(plan.name, tallies)
    plans = _without_repeats(plans, p, q)
    return Learned(plans, left, margins, one_sided, complete, *tables)


def _made(plan: Plan, one: Summary) -> Summary:
    """The column, or part of a date, of which a plan makes features."""
    part = one.parts[plan.part] if one.kind == "date" and plan.part != "days" else one
    return as_kind(part, plan.kind) or part


def _refuse(
    p: Mapping[str, Summary], q: Mapping[str, Summary], names: Sequence[str], asked: Asked, how: str
) -> None:
    """All faults of the values at once, each with its remedy."""
    found = []
    for columns, label in ((p, asked.labels[0]), (q, asked.labels[1])):
        numbers = {name: columns[name].infinite for name in names}
        found += faults.infinite(numbers, label, asked.door)
    if how == "error":
        for name in names:
            numbers_of = [columns[name].missing for columns in (p, q)]
            found += faults.missing(name, numbers_of, asked.labels, asked.door)
    faults.refuse(found)


def _comparable(p: Summary, q: Summary) -> bool:
    kinds = {p.kind, q.kind} - {"empty"}
    return len(kinds) <= 1 and "other" not in kinds and not (p.infinite or q.infinite)


def _without_repeats(
    plans: Sequence[Plan], p: Mapping[str, Summary], q: Mapping[str, Summary]
) -> list[Plan]:
    """One 0/1 feature where numbers of several columns are missing in the same rows."""
    seen: dict[tuple[int, ...], str] = {}
    out = []
    for plan in plans:
        if plan.indicator and plan.kind == "number":
            both = (p[plan.source], q[plan.source])
            gone = tuple(number for one in both for number in (one.missing, one.gone))
            first = seen.setdefault(gone, plan.name)
            if first != plan.name:
                plan = replace(plan, indicator=False, told_by=first)
        out.append(plan)
    return out
