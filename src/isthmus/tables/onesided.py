"""Levels that only one of two tables has: where p/q is zero or infinite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..typing import Array, BoolArray, IntArray
from ..words import count, listed
from .columns import Column

Tally: TypeAlias = Mapping[str | None, tuple[float, float]]
"""By level, rows of positive weight and their weight; None is a missing value."""

RISK = 0.01
"""Chance, for all levels of a column together, that a level which both populations have equally
often is taken for one that a population lacks."""


@dataclass(frozen=True)
class OneSided:
    """Levels of a column that only one sample has, more often than chance would leave to one.

    Attributes
    ----------
    column : str
    levels : tuple of str
        The levels, the most frequent first; "missing" may be one.
    side : str
        "p" or "q".
    share : float
        Share of that sample's rows that have one of them.
    rows : int
        Number of these rows.
    rows_without : int
        Number of rows of the other sample, none of which has them.
    """

    column: str
    levels: tuple[str, ...]
    side: str
    share: float
    rows: int
    rows_without: int

    def in_words(self, labels: tuple[str, str] = ("p", "q")) -> str:
        """Say which levels, of what share, and how many rows speak for it."""
        here, there = labels if self.side == "p" else labels[::-1]
        levels = listed([repr(level) for level in self.levels], 3)
        are = "is" if len(self.levels) == 1 else "are"
        return (
            f"{levels} of {self.column!r} {are} only in {here} ({100 * self.share:.3g} % of its "
            f"rows, none of {count(self.rows_without, 'row')} of {there})"
        )


def surely_one_sided(counts: Array, n_here: int, n_there: int) -> BoolArray:
    """Which levels, seen so often in one sample and never in the other, are surely lacking there.

    If a level were as frequent in both populations, each of its k rows would lie here with chance
    n_here / (n_here + n_there), and all of them with that chance to the power k. That must be
    below 1 % divided by the number of levels.

    Examples
    --------
    >>> surely_one_sided(np.array([2, 30]), 1000, 1000).tolist()
    [False, True]
    """
    if not len(counts):
        return np.zeros(0, dtype=bool)
    by_chance = counts * np.log(n_here / (n_here + n_there))
    return np.asarray(by_chance < np.log(RISK / len(counts)))


Found: TypeAlias = tuple[OneSided, frozenset[str | None]]
"""Levels in words, and as they are: None is a missing value."""


@dataclass(frozen=True)
class OneSidedRows:
    """Levels that only one of two tables has, and which rows have them.

    Attributes
    ----------
    levels : tuple of OneSided
    p, q : ndarray of bool
        Rows of the tables that have one of the levels.
    """

    levels: tuple[OneSided, ...]
    p: BoolArray
    q: BoolArray

    @property
    def rows_left(self) -> int:
        """Number of rows of the smaller table that have none of the levels."""
        return int(min((~self.p).sum(), (~self.q).sum()))

    def forgotten(self) -> OneSidedRows:
        """The same for tables of which these rows are no part."""
        return OneSidedRows((), np.zeros_like(self.p), np.zeros_like(self.q))

    def take(self, at_p: IntArray, at_q: IntArray) -> OneSidedRows:
        """The same for some of the rows."""
        return OneSidedRows(self.levels, self.p[at_p], self.q[at_q])

    @classmethod
    def of(
        cls, found: Iterable[Found], p: Mapping[str, Column], q: Mapping[str, Column]
    ) -> OneSidedRows:
        """Mark the rows that have such levels, by the columns of levels of either table."""
        found = list(found)
        at = [np.zeros(len(next(iter(columns.values()))), dtype=bool) for columns in (p, q)]
        for one, levels in found:
            mask, column = (at[0], p[one.column]) if one.side == "p" else (at[1], q[one.column])
            # The last place is for the code -1, a missing value.
            mask |= np.array([level in levels for level in (*column.levels, None)])[column.codes]
        return cls(tuple(one for one, _ in found), *at)


def one_sided_levels(name: str, sides: Sequence[Tally]) -> list[Found]:
    """Levels of a column that only one of two tables surely has."""
    found = []
    levels = list(dict.fromkeys(level for side in sides for level in side if level is not None))
    names: list[str | None] = [*levels, None]
    rows = np.array([[side.get(level, (0.0, 0.0))[0] for level in names] for side in sides])
    for here, there, label in ((0, 1, "p"), (1, 0, "q")):
        only = np.flatnonzero((rows[here] > 0) & (rows[there] == 0))
        total = int(rows[here].sum()), int(rows[there].sum())
        sure = only[surely_one_sided(rows[here][only], *total)]
        if not len(sure):
            continue
        sure = sure[np.argsort(-rows[here][sure], kind="stable")]
        keys = [names[k] for k in sure]
        mass = sum(sides[here][key][1] for key in keys)
        one = OneSided(
            name,
            tuple("missing" if key is None else key for key in keys),
            label,
            float(mass / sum(weight for _, weight in sides[here].values())),
            int(rows[here][sure].sum()),
            total[1],
        )
        found.append((one, frozenset(keys)))
    return found
