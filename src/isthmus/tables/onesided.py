"""Levels that only one of two tables has: where p/q is zero or infinite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..typing import Array, BoolArray, IntArray
from ..words import count, listed

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
        return (
            f"{listed([repr(level) for level in self.levels], 3)} of {self.column!r} "
            f"{'is' if len(self.levels) == 1 else 'are'} only in {here} ({self.share:.2g} of its "
            f"rows, none of {count(self.rows_without, 'row')} of {there})"
        )


def surely_one_sided(counts: IntArray, n_here: int, n_there: int) -> BoolArray:
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


def found_one_sided(
    column: str,
    names: Sequence[str],
    rows: tuple[IntArray, IntArray],
    shares: tuple[Array, Array],
) -> list[OneSided]:
    """Levels with numbers of rows and shares in p and q that only one of them has."""
    total = [int(r.sum()) for r in rows]
    out = []
    for here, there, side in ((0, 1, "p"), (1, 0, "q")):
        only = np.flatnonzero((rows[here] > 0) & (rows[there] == 0))
        sure = only[surely_one_sided(rows[here][only], total[here], total[there])]
        if len(sure):
            order = sure[np.argsort(-shares[here][sure], kind="stable")]
            out.append(
                OneSided(
                    column,
                    tuple(names[k] for k in order),
                    side,
                    float(shares[here][order].sum()),
                    int(rows[here][order].sum()),
                    total[there],
                )
            )
    return out
