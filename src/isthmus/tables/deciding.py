"""What becomes of a column that two tables share, by rules that a person can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ..typing import Array
from ..words import count, listed
from .columns import Kind
from .encoding import Plan
from .summary import Summary
from .tallied import as_kind, counted_levels, median, union

Because: TypeAlias = Literal[
    "asked", "one table", "no name", "unusable", "kinds", "empty", "constant", "separates",
    "identifier", "levels",
]  # fmt: skip

LEAST_ROWS = 10
"""Rows of both tables together that a level must have, or one in a thousand if that is fewer."""

COVERED = 0.2
"""Share of rows that the levels which are kept must have, in one of the tables."""

_FEW_VALUES = 50
_LEAST_TABLE = 10
_DISTINCT = 0.5
_DAY = 86_400.0


@dataclass(frozen=True)
class LeftOut:
    """A column, or part of a date, that is not compared, and why; ``source`` is the column."""

    name: str
    because: Because
    reason: str
    source: str = ""

    def in_words(self) -> str:
        """Say why."""
        return f"left out: {self.reason}"


@dataclass(frozen=True)
class Rules:
    """What decisions hang on.

    Attributes
    ----------
    labels : pair of str
        What the two tables are called.
    most_levels : int
        Levels of a column that may have a feature of their own.
    keep : bool
        Whether the column is wanted whatever speaks against it.
    """

    labels: tuple[str, str]
    most_levels: int
    keep: bool = False


def least_rows(n: int) -> int:
    """Rows of n that a level, or what differs from a constant, must have.

    Examples
    --------
    >>> least_rows(50), least_rows(4000), least_rows(1_000_000)
    (1, 4, 10)
    """
    return int(np.clip(-(-n // 1000), 1, LEAST_ROWS))


def decide(p: Summary, q: Summary, rules: Rules, part: str = "days") -> Plan | LeftOut:
    """What becomes of one column, or of one part of a date."""
    name = p.name
    for column, label in zip((p, q), rules.labels, strict=True):
        if column.kind == "empty":
            both = p.kind == q.kind == "empty"
            where = "either table" if both else label
            return LeftOut(name, "empty", f"it has no value in {where}")
    kind, note = p.kind, ""
    if p.kind != q.kind:
        common = _common(p, q)
        if common is None:
            return LeftOut(name, "kinds", _kinds(p, q, rules.labels))
        note = f"{_kinds(p, q, rules.labels)}, and both are read as "
        note += "numbers" if common[0].kind == "number" else "text"
        p, q = common
        kind = p.kind
    if kind in ("number", "duration", "date"):
        return _of_numbers(p, q, rules, part, note)
    return _of_levels(p, q, rules, part, note)


def _common(p: Summary, q: Summary) -> tuple[Summary, Summary] | None:
    for kind in ("number", "category"):
        both = as_kind(p, kind), as_kind(q, kind)
        if both[0] is not None and both[1] is not None:
            return both[0], both[1]
    return None


def _of_numbers(p: Summary, q: Summary, rules: Rules, part: str, note: str) -> Plan | LeftOut:
    n, missing = p.rows + q.rows, p.missing + q.missing
    # Where they are too many to be counted, they are also too many for each rule here.
    values = union(p, q)
    if values is not None and len(values.value) == 1 and missing:
        # All there is to tell is where it is missing.
        both = as_kind(p, "category"), as_kind(q, "category")
        assert both[0] is not None and both[1] is not None
        return _of_levels(both[0], both[1], rules, part, note)
    if not rules.keep:
        if values is not None:
            rows = values.rows[:, 0]
            others = n - int(rows.max())
            if len(rows) == 1 or others < least_rows(n):
                return _constant(p.name, others, f"{values.value[rows.argmax()]:.6g}", p.kind)
        against = _separates(p, q) or _is_identifier(p, q)
        if against is not None:
            return against
    fill = median(p, q)
    scale = _DAY if p.kind == "duration" and abs(fill) >= _DAY else 1.0
    return Plan(
        p.name,
        "number",
        p.name,
        p.kind,
        part,
        scale,
        fill=fill / scale,
        indicator=missing >= least_rows(n),
        note=note,
    )


def _constant(name: str, others: int, value: str, kind: Kind) -> LeftOut:
    shown = "one date" if kind == "date" else value
    if not others:
        return LeftOut(name, "constant", f"it is {shown} in every row of both tables")
    return LeftOut(name, "constant", f"it is {shown} in all but {count(others, 'row')}")


def _separates(p: Summary, q: Summary) -> LeftOut | None:
    """Whether dates, or a few values, of one table are none of the other, by their making."""
    if min(p.rows, q.rows) < _LEAST_TABLE or (p.missing and q.missing):
        return None
    if p.kind == "date" and (p.high < q.low or q.high < p.low):
        return LeftOut(p.name, "separates", "its dates alone tell the tables apart, row by row")
    values = union(p, q)
    if p.values is None or q.values is None or values is None:
        return None
    few = len(values.value) <= min(_FEW_VALUES, (p.rows + q.rows) // 5)
    here, there = p.values.value, q.values.value
    if few and not np.intersect1d(here, there).size:
        told = " against ".join(listed([f"{x:.6g}" for x in side], 3) for side in (here, there))
        return LeftOut(p.name, "separates", f"it alone tells the tables apart: {told}")
    return None


def _is_identifier(p: Summary, q: Summary) -> LeftOut | None:
    """Whether a column of whole numbers counts the rows, or names them."""
    if p.kind != "number" or min(p.rows, q.rows) < 2 * _LEAST_TABLE:
        return None
    if any(one.missing or not one.whole for one in (p, q)):
        return None
    if all(one.steps > 0.9 * (one.rows - 1) for one in (p, q)):
        return LeftOut(p.name, "identifier", "it counts the rows")
    words = p.name.lower().replace("-", "_").split("_")
    named = bool({"id", "uuid", "guid", "key", "index"} & {*words}) or p.name.endswith("Id")
    if named and all(_all_differ(one) for one in (p, q)):
        return LeftOut(p.name, "identifier", "it is a number of its own for every row")
    return None


def _all_differ(one: Summary) -> bool:
    """Whether no number is there twice; of very many rows those of the sample are compared."""
    if one.values is not None:
        return bool((one.values.rows[:, 0] == 1).all())
    sample = one.sample.numbers
    return len(np.unique(sample)) == len(sample)


def _of_levels(p: Summary, q: Summary, rules: Rules, part: str, note: str) -> Plan | LeftOut:
    levels = counted_levels(p, q)
    names, rows, number = levels.names, levels.rows, levels.number
    missing = [one.missing for one in (p, q)]
    together, n = rows.sum(axis=0), p.rows + q.rows
    least = least_rows(n)
    if not rules.keep:
        against = _against_levels(p, names, rows, missing, number)
        if against is not None:
            return against
    kept = _kept(rows, together, rules.most_levels, least)
    pooled = number - int(kept.sum())
    covered = (rows[:, kept].sum(axis=1) / np.maximum(rows.sum(axis=1), 1)).max()
    if pooled and covered < COVERED and not rules.keep:
        reason = (
            f"it has {count(number, 'level')} in {count(n, 'row')}, too many to compare: the "
            f"{int(kept.sum())} most frequent have {covered:.0%} of the rows"
        )
        return LeftOut(p.name, "levels", reason)
    return Plan(
        p.name,
        "category",
        p.name,
        "category",
        part,
        levels=tuple(name for name, one in zip(names, kept, strict=True) if one),
        pooled=pooled,
        indicator=sum(missing) >= least,
        note=note,
    )


def _against_levels(
    p: Summary, names: list[str], rows: Array, missing: list[int], number: int
) -> LeftOut | None:
    """Why a column of levels is of no use: constant, an identifier, or a name of the table."""
    together = rows.sum(axis=0)
    n = int(together.sum()) + sum(missing)
    others = n - max(int(together.max()), sum(missing))
    if others < least_rows(n):
        return _constant(p.name, others, repr(names[int(together.argmax())]), "category")
    if n >= 2 * _LEAST_TABLE and number > _DISTINCT * together.sum():
        reason = f"nearly every row has a level of its own ({number:,} in {n:,} rows)"
        return LeftOut(p.name, "identifier", reason)
    # One level in each table names the table. Several that do not meet are a difference, and a
    # divergence is infinite for them.
    found = (rows > 0).sum(axis=1) + (np.array(missing) > 0)
    apart = (found == 1).all() and not ((rows > 0).all(axis=0).any() or all(missing))
    totals = rows.sum(axis=1) + missing
    if apart and totals.min() >= _LEAST_TABLE:
        sides = [[repr(names[k]) for k in np.flatnonzero(row)] for row in rows]
        for side, gone in zip(sides, missing, strict=True):
            side.extend(["missing"] * bool(gone))
        told = " against ".join(listed(side, 3) for side in sides)
        return LeftOut(p.name, "separates", f"it alone tells the tables apart: {told}")
    return None


def _kept(rows: Array, together: Array, most: int, least: int) -> np.ndarray:
    """Levels with a feature of their own: the most frequent in either table that are not rare."""
    share = (rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)).max(axis=0)
    kept = together >= least
    if kept.sum() > most:
        first = np.argsort(-np.where(kept, share, -1.0), kind="stable")[:most]
        kept = np.isin(np.arange(len(kept)), first)
    if (~kept).sum() == 1 and len(kept) <= most:
        # One level by itself gains nothing by another name.
        kept[:] = True
    return np.asarray(kept)


def _kinds(p: Summary, q: Summary, labels: tuple[str, str]) -> str:
    words = {
        "number": "numbers",
        "category": "text",
        "date": "dates",
        "duration": "durations",
    }
    return f"it holds {words[p.kind]} in {labels[0]} and {words[q.kind]} in {labels[1]}"
