"""Rules a person can read: conditions on columns, and the sets of rows that they describe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..typing import Array, BoolArray
from ..words import printable


@dataclass(frozen=True)
class Within:
    """A number above ``low`` and at most ``high``.

    Examples
    --------
    >>> str(Within("age", 0, high=61.0)), str(Within("age", 0, low=18.0, high=61.0))
    ('age <= 61', '18 < age <= 61')
    """

    name: str
    feature: int
    low: float = -np.inf
    high: float = np.inf

    def holds(self, rows: Array) -> BoolArray:
        """Which encoded rows fulfil it."""
        x = rows[:, self.feature]
        return np.asarray((x > self.low) & (x <= self.high))

    def __str__(self) -> str:
        name = printable(self.name, 40)
        if np.isneginf(self.low):
            return f"{name} <= {self.high:.15g}"
        if np.isposinf(self.high):
            return f"{name} > {self.low:.15g}"
        return f"{self.low:.15g} < {name} <= {self.high:.15g}"


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

    def __str__(self) -> str:
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
        return " and ".join(map(str, self.conditions)) or "all rows"


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
            one = Within(one.name, one.feature, max(one.low, old.low), min(one.high, old.high))
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
        both = (Within(x.name, x.feature, low.low, high.high),)
        both = () if np.isinf(low.low) and np.isinf(high.high) else both
    elif isinstance(x, Among) and isinstance(y, Among):
        if x.features != y.features or x.within == y.within:
            return None
        both = ()
    else:
        return None
    return Rule((*a.conditions[:k], *both, *a.conditions[k + 1 :]))
