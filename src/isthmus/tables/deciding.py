"""What becomes of a column that two tables share, by rules that a person can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ..typing import IntArray
from ..words import count, listed
from .columns import Column, Kind
from .encoding import Plan
from .parts import coerced

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


def decide(p: Column, q: Column, rules: Rules, part: str = "days") -> Plan | LeftOut:
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


def _common(p: Column, q: Column) -> tuple[Column, Column] | None:
    for kind in ("number", "category"):
        both = coerced(p, kind), coerced(q, kind)
        if both[0] is not None and both[1] is not None:
            return both[0], both[1]
    return None


def _of_numbers(p: Column, q: Column, rules: Rules, part: str, note: str) -> Plan | LeftOut:
    values = np.concatenate([p.numbers, q.numbers])
    there = ~np.isnan(values)
    value, how_many = np.unique(values[there], return_counts=True)
    if len(value) == 1 and not there.all():
        # All there is to tell is where it is missing.
        return _of_levels(p.as_levels(), q.as_levels(), rules, part, note)
    if not rules.keep:
        others = len(values) - int(how_many.max())
        if len(value) == 1 or others < least_rows(len(values)):
            return _constant(p.name, others, f"{value[how_many.argmax()]:.6g}", p.kind)
        against = _separates(p, q, len(value)) or _is_identifier(p, q)
        if against is not None:
            return against
    # Halved and doubled, since the sum of the two middle numbers may overflow.
    fill = 2 * float(np.median(values[there] / 2))
    scale = _DAY if p.kind == "duration" and abs(fill) >= _DAY else 1.0
    return Plan(
        p.name,
        "number",
        p.name,
        p.kind,
        part,
        scale,
        fill=fill / scale,
        indicator=bool((~there).sum() >= least_rows(len(values))),
        note=note,
    )


def _constant(name: str, others: int, value: str, kind: Kind) -> LeftOut:
    shown = "one date" if kind == "date" else value
    if not others:
        return LeftOut(name, "constant", f"it is {shown} in every row of both tables")
    return LeftOut(name, "constant", f"it is {shown} in all but {count(others, 'row')}")


def _separates(p: Column, q: Column, values: int) -> LeftOut | None:
    """Whether dates, or a few values, of one table are none of the other, by their making."""
    if min(len(p), len(q)) < _LEAST_TABLE or (p.missing.any() and q.missing.any()):
        return None
    here, there = (column.numbers[~column.missing] for column in (p, q))
    apart = here.max() < there.min() or there.max() < here.min()
    few = values <= min(_FEW_VALUES, (len(p) + len(q)) // 5)
    if p.kind == "date" and apart:
        return LeftOut(p.name, "separates", "its dates alone tell the tables apart, row by row")
    if few and not np.intersect1d(here, there).size:
        told = " against ".join(
            listed([f"{x:.6g}" for x in np.unique(side)], 3) for side in (here, there)
        )
        return LeftOut(p.name, "separates", f"it alone tells the tables apart: {told}")
    return None


def _is_identifier(p: Column, q: Column) -> LeftOut | None:
    """Whether a column of whole numbers counts the rows, or names them."""
    if p.kind != "number" or min(len(p), len(q)) < 2 * _LEAST_TABLE:
        return None
    both = [column.numbers for column in (p, q)]
    if any(np.isnan(x).any() or (x != np.floor(x)).any() for x in both):
        return None
    if all(np.mean(np.diff(x) == 1.0) > 0.9 for x in both):
        return LeftOut(p.name, "identifier", "it counts the rows")
    words = p.name.lower().replace("-", "_").split("_")
    named = bool({"id", "uuid", "guid", "key", "index"} & {*words}) or p.name.endswith("Id")
    if named and all(len(np.unique(x)) == len(x) for x in both):
        return LeftOut(p.name, "identifier", "it is a number of its own for every row")
    return None


def _of_levels(p: Column, q: Column, rules: Rules, part: str, note: str) -> Plan | LeftOut:
    names, rows = level_rows(p, q)
    order = np.argsort(names, kind="stable")
    names = [names[k] for k in order]
    rows = rows[:, order]
    missing = [int(column.missing.sum()) for column in (p, q)]
    together, n = rows.sum(axis=0), len(p) + len(q)
    least = least_rows(n)
    if not rules.keep:
        against = _against_levels(p, names, rows, missing)
        if against is not None:
            return against
    kept = _kept(rows, together, rules.most_levels, least)
    pooled = len(names) - int(kept.sum())
    covered = (rows[:, kept].sum(axis=1) / np.maximum(rows.sum(axis=1), 1)).max()
    if pooled and covered < COVERED and not rules.keep:
        reason = (
            f"it has {count(len(names), 'level')} in {count(n, 'row')}, too many to compare: the "
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
    p: Column, names: list[str], rows: IntArray, missing: list[int]
) -> LeftOut | None:
    """Why a column of levels is of no use: constant, an identifier, or a name of the table."""
    together = rows.sum(axis=0)
    n = int(together.sum()) + sum(missing)
    others = n - max(int(together.max()), sum(missing))
    if others < least_rows(n):
        return _constant(p.name, others, repr(names[int(together.argmax())]), "category")
    if n >= 2 * _LEAST_TABLE and len(names) > _DISTINCT * together.sum():
        reason = f"nearly every row has a level of its own ({len(names):,} in {n:,} rows)"
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


def _kept(rows: IntArray, together: IntArray, most: int, least: int) -> np.ndarray:
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


def level_rows(p: Column, q: Column) -> tuple[list[str], IntArray]:
    """Levels that occur in either table, and their numbers of rows, shape (2, k)."""
    place: dict[str, int] = {}
    found = []
    for column in (p, q):
        rows = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
        found.append({level: int(k) for level, k in zip(column.levels, rows, strict=True) if k})
        for level in found[-1]:
            place.setdefault(level, len(place))
    rows = np.zeros((2, len(place)), dtype=np.intp)
    for side, levels in enumerate(found):
        for level, k in levels.items():
            rows[side, place[level]] = k
    return list(place), rows


def _kinds(p: Column, q: Column, labels: tuple[str, str]) -> str:
    words = {
        "number": "numbers",
        "category": "text",
        "date": "dates",
        "duration": "durations",
    }
    return f"it holds {words[p.kind]} in {labels[0]} and {words[q.kind]} in {labels[1]}"
