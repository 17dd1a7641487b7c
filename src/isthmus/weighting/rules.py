"""Rules a person can read: conditions on columns, and the sets of rows that they describe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..typing import Array, BoolArray
from ..words import printable
from .quantities import MISSING, Unit


@dataclass(frozen=True)
class Within:
    """A number, or a date in days since 1970, above ``low`` and at most ``high``.

    Attributes
    ----------
    name : str
    feature : int
        Place of the encoded column.
    low, high : float
    unit : str
        What the number counts; see :class:`Quantity`.
    fill : float
        What stands for a missing value among the encoded rows; NaN where none is missing.

    Examples
    --------
    >>> str(Within("age", 0, high=61.0)), str(Within("age", 0, low=18.0, high=61.0))
    ('age <= 61', '18 < age <= 61')
    >>> str(Within("day", 0, low=15706.0, unit="date"))
    'day > 2013-01-01'
    >>> str(Within("age", 0, high=61.0, fill=40.0))
    'age <= 61 or missing'
    """

    name: str
    feature: int
    low: float = -np.inf
    high: float = np.inf
    unit: Unit = ""
    fill: float = np.nan

    def holds(self, rows: Array) -> BoolArray:
        """Which encoded rows fulfil it."""
        x = rows[:, self.feature]
        return np.asarray((x > self.low) & (x <= self.high))

    @property
    def takes_missing(self) -> bool:
        """Whether rows without a value fulfil it."""
        return bool(self.low < self.fill <= self.high)

    @property
    def range(self) -> str:
        """The condition on values."""
        name = printable(self.name, 40)
        low, high = _told(self.low, self.unit), _told(self.high, self.unit)
        if np.isneginf(self.low):
            return f"{name} <= {high}"
        if np.isposinf(self.high):
            return f"{name} > {low}"
        return f"{low} < {name} <= {high}"

    def __str__(self) -> str:
        return f"{self.range} or missing" if self.takes_missing else self.range


def _told(value: float, unit: Unit) -> str:
    """A number as people write it: of a date the day, and the time where it is not midnight."""
    if np.isinf(value):
        return ""
    if unit == "date":
        stamp = np.datetime64(round(value * 86_400e3), "ms")
        day = stamp.astype("M8[D]")
        for precise in ("m", "s", "ms"):
            if stamp.astype(f"M8[{precise}]") == stamp:
                break
        shown = day if day == stamp else stamp.astype(f"M8[{precise}]")
        return str(shown).replace("T", " ")
    return f"{value:.15g}{f' {unit}' if unit else ''}"


@dataclass(frozen=True)
class Among:
    """A category with one of some levels, or with none of them.

    Examples
    --------
    >>> rule = Among("town", ("Bonn", "Kiel"), (0, 1), within=False)
    >>> str(rule), rule.holds(np.array([[1.0, 0.0], [0.0, 0.0]])).tolist()
    ('town not in {Bonn, Kiel}', [False, True])
    """

    name: str
    levels: tuple[str, ...]
    features: tuple[int, ...]
    within: bool = True

    def holds(self, rows: Array) -> BoolArray:
        """Which encoded rows fulfil it."""
        has = (rows[:, list(self.features)] > 0.5).any(axis=1)
        return np.asarray(has if self.within else ~has)

    @property
    def is_missing(self) -> bool:
        """Whether it only asks for a value."""
        return self.levels == (MISSING,)

    def __str__(self) -> str:
        if self.is_missing:
            return f"{printable(self.name, 40)} is {'' if self.within else 'not '}missing"
        told = ", ".join(printable(level, 30) for level in self.levels)
        return f"{printable(self.name, 40)} {'in' if self.within else 'not in'} {{{told}}}"


@dataclass(frozen=True)
class Rule:
    """Conditions that all hold; none of them is every row."""

    conditions: tuple[Within | Among, ...]

    def holds(self, rows: Array) -> BoolArray:
        """Which encoded rows fulfil all conditions."""
        out = np.ones(len(rows), dtype=bool)
        for one in self.conditions:
            out &= one.holds(rows)
        return out

    def __str__(self) -> str:
        asked = {one.name for one in self.conditions if isinstance(one, Among) and one.is_missing}
        told = []
        for one in self.conditions:
            if isinstance(one, Within) and one.name in asked:
                # Whether a value may be missing is said by the other condition.
                told.append(one.range)
            elif isinstance(one, Within) and one.takes_missing and len(self.conditions) > 1:
                told.append(f"({one})")
            else:
                told.append(str(one))
        return " and ".join(told) or "all rows"


@dataclass(frozen=True)
class Population:
    """Rows that fulfil any of some rules, or none of them.

    Attributes
    ----------
    rules : tuple of Rule
    without : bool
        Whether the population is the rows that fulfil none of the rules.
    target_share, source_share : float
        Shares of the target's and of the source's rows, by weight, that belong to it.

    Examples
    --------
    >>> old = Rule((Within("age", 0, low=61.0),))
    >>> str(Population((old,), True, 0.9, 0.99))
    'rows without those where age > 61'
    """

    rules: tuple[Rule, ...]
    without: bool
    target_share: float
    source_share: float

    def holds(self, rows: Array) -> BoolArray:
        """Which encoded rows belong to the population."""
        found = np.zeros(len(rows), dtype=bool)
        for rule in self.rules:
            found |= rule.holds(rows)
        return ~found if self.without else found

    def __str__(self) -> str:
        several = len(self.rules) > 1
        told = ", or ".join(f"({rule})" if several else str(rule) for rule in self.rules)
        return f"rows without those where {told}" if self.without else f"rows where {told}"


def merged(path: Sequence[Within | Among]) -> Rule:
    """Conditions on the way to a leaf, one for each column."""
    found: dict[tuple[str, object], Within | Among] = {}
    for one in path:
        key = (one.name, one.feature if isinstance(one, Within) else None)
        old = found.get(key)
        if isinstance(one, Within) and isinstance(old, Within):
            one = replace(old, low=max(one.low, old.low), high=min(one.high, old.high))
        elif isinstance(one, Among) and isinstance(old, Among):
            one = _both(old, one)
        found[key] = one
    return Rule(tuple(found.values()))


def _both(old: Among, new: Among) -> Among:
    """Both of two conditions on the levels of one column."""
    place = dict(zip((*old.levels, *new.levels), (*old.features, *new.features), strict=True))
    if old.within and new.within:
        kept = [level for level in old.levels if level in new.levels]
    elif old.within:
        kept = [level for level in old.levels if level not in new.levels]
    elif new.within:
        kept = [level for level in new.levels if level not in old.levels]
    else:
        kept = list(place)
    within = old.within or new.within
    return Among(old.name, tuple(kept), tuple(place[level] for level in kept), within)


def joined(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The same rows by fewer rules: two that differ in one condition, and touch there, are one.

    Examples
    --------
    >>> young, old = Within("age", 0, high=30.0), Within("age", 0, low=30.0, high=61.0)
    >>> [str(rule) for rule in joined([Rule((young,)), Rule((old,))])]
    ['age <= 61']
    """
    found = list(rules)
    while True:
        for a, b in combinations(found, 2):
            one = _one_of(a, b)
            if one is not None:
                at = found.index(a)
                found[at] = one
                found.remove(b)
                break
        else:
            return tuple(found)


def _one_of(a: Rule, b: Rule) -> Rule | None:
    """One rule for two, if there is one."""
    if len(a.conditions) != len(b.conditions):
        return None
    apart = [(k, x) for k, x in enumerate(a.conditions) if x not in b.conditions]
    other = [x for x in b.conditions if x not in a.conditions]
    if len(apart) != 1 or len(other) != 1:
        return None
    (k, x), (y,) = apart[0], other
    both: tuple[Within | Among, ...]
    if isinstance(x, Within) and isinstance(y, Within) and x.feature == y.feature:
        low, high = sorted((x, y), key=lambda one: one.low)
        if low.high != high.low:
            return None
        both = (replace(x, low=low.low, high=high.high),)
        both = () if np.isinf(low.low) and np.isinf(high.high) else both
    elif isinstance(x, Among) and isinstance(y, Among):
        if x.features != y.features or x.within == y.within:
            return None
        both = ()
    else:
        return None
    return Rule((*a.conditions[:k], *both, *a.conditions[k + 1 :]))
