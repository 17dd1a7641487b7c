r"""Mutual information of two labels, from the table of their counts.

What a table says,

.. math:: \sum_{ij} \hat p_{ij}\log\frac{\hat p_{ij}}{\hat p_i\,\hat p_j},

is too much where its cells have few rows. Three estimates correct it. One takes off what the
table says of shuffled rows, which is right where the labels are independent and too much where
they are not. One is the mean log-ratio of every row to the table of the others, which cannot err
high. One corrects the three entropies (Grassberger 2003), and errs high. The value is the middle
between the larger of the first two and the third, and the interval has room for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from ..data.seeds import Seeds
from ..diagnostics.check import Check, advised, graded
from ..typing import IntArray
from .result import Answer

_SHUFFLES = 30
# With so many rows for every cell shuffles would only repeat the chi-square distribution.
_FULL = 20
# Rows that might as well be independent of each other, which no table has ruled out.
_UNSEEN = 2.0
# A share of rows whose label no other row has, above which there are labels that no row has.
_SINGLE = 0.1
# Cells with a share of their own in a table of independent labels; more are not written out.
_MOST_CELLS = 4_000_000
# The square of the standard errors of a usual interval.
_SQUARE = 1.96**2
# Rows that the other rows' table may be mixed with.
_PRIOR = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 1e4, 1e6])


def table_information(x: IntArray, y: IntArray, seeds: Seeds) -> Answer:
    """Mutual information of two labels, which are 0, 1, ..., each of which occurs.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat([0, 1], 500)
    >>> round(table_information(x, x, Seeds(0)).value, 2)  # log 2
    0.69
    """
    table = Table.of(x, y)
    if min(table.sizes) < 2:
        return Answer(0.0, 0.0, "table", most=0.0)
    plain, _ = table.terms
    chance = table.by_chance(seeds("shuffles"))
    low = max(plain - chance.mean, *table.left_out())
    corrected = table.by_entropies(_grassberger)
    high = max(corrected, table.by_entropies(_chao_shen), low)
    value = min(0.5 * (low + max(corrected, low)), *map(_plain, table.margins))
    spread = max(table.spread - chance.spread, 0.0)
    error = float(np.sqrt(spread / table.n + chance.variance))
    # The error grows with the information: at the upper end it is that of a larger one.
    skewed = 0.5 * _SQUARE * min(spread / max(value, 1e-9), 2.0) / table.n
    single = max(float((rows == 1).sum()) / table.n for rows in table.margins)
    return Answer(
        value,
        error,
        "table",
        further=(max(value - low, 0.0), max(high - value, 0.0) + skewed),
        most=min(map(entropy_limit, table.margins)),
        checks={
            "cells": _check_cells(table, value, high - low, error),
            "labels": check_repeats(single),
        },
        proven=(low, error),
    )


@dataclass(frozen=True)
class Chance:
    """What tables of shuffled rows say.

    Attributes
    ----------
    mean, variance : float
        Of their information.
    spread : float
        Mean variance of the log-ratios of their rows.
    """

    mean: float
    variance: float
    spread: float


@dataclass(frozen=True)
class Table:
    """Counts of pairs of labels.

    Attributes
    ----------
    x, y : ndarray of int, shape (n,)
        The labels.
    cells : ndarray of int
        Numbers of rows of the pairs that occur.
    at : pair of ndarray of int
        Their labels.
    """

    x: IntArray
    y: IntArray
    cells: IntArray
    at: tuple[IntArray, IntArray]

    @classmethod
    def of(cls, x: IntArray, y: IntArray) -> Table:
        width = int(y.max()) + 1
        found, rows = _counted(x * width + y, (int(x.max()) + 1) * width)
        return cls(x, y, rows, (found // width, found % width))

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.x)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of labels."""
        return int(self.x.max()) + 1, int(self.y.max()) + 1

    @property
    def margins(self) -> tuple[IntArray, IntArray]:
        """Numbers of rows of the labels."""
        return np.bincount(self.x), np.bincount(self.y)

    @property
    def terms(self) -> tuple[float, float]:
        """Mean and variance of the log-ratios of the rows."""
        (i, j), (first, second) = self.at, self.margins
        ratio = np.log(self.cells / first[i] * (self.n / second[j]))
        mean = float(self.cells @ ratio) / self.n
        return mean, float(self.cells @ (ratio - mean) ** 2) / self.n

    @property
    def spread(self) -> float:
        """Variance of the log-ratios, with room for pairs that no row has."""
        first, second = self.margins
        if len(first) * len(second) > _MOST_CELLS:
            return self.terms[1]
        share = np.outer(first / self.n, second / self.n)
        joint = _UNSEEN * share
        joint[self.at] += self.cells
        joint /= joint.sum()
        ratio = np.log(joint / share)
        mean = float((joint * ratio).sum())
        return float((joint * (ratio - mean) ** 2).sum())

    def by_chance(self, rng: np.random.Generator) -> Chance:
        """What the table would say if the labels were independent."""
        freedom = (self.sizes[0] - 1) * (self.sizes[1] - 1)
        if self.n >= _FULL * self.sizes[0] * self.sizes[1]:
            return Chance(freedom / (2.0 * self.n), freedom / (2.0 * self.n**2), freedom / self.n)
        found = [Table.of(self.x, rng.permutation(self.y)).terms for _ in range(_SHUFFLES)]
        mean, spread = np.mean(found, axis=0)
        return Chance(float(mean), float(np.var([one[0] for one in found], ddof=1)), float(spread))

    def left_out(self) -> tuple[float, float]:
        """Mean log-ratios of rows to the table of all others, by x given y and by y given x.

        A share of that table is the margin; the rows choose it.
        """
        (i, j), (first, second) = self.at, self.margins
        out = []
        for own, margin, a, b in ((i, first, first, second), (j, second, second, first)):
            other = j if own is i else i
            share = (margin[own] - 0.5) / (self.n - 0.5)
            prior = _PRIOR[:, None]
            chance = (self.cells - 1 + prior * share) / (b[other] - 1 + prior)
            ratio = np.log(chance) - np.log(a[own] / self.n)
            out.append(float((ratio @ self.cells).max()) / self.n)
        return out[0], out[1]

    def by_entropies(self, entropy: Callable[[IntArray], float]) -> float:
        """The information from three entropies."""
        first, second = self.margins
        return float(entropy(first) + entropy(second) - entropy(self.cells))


def entropy_limit(rows: IntArray) -> float:
    """What the entropy of a label can be at most, from the numbers of rows of its levels.

    Examples
    --------
    >>> round(entropy_limit(np.array([50, 50])), 3)  # log 2
    0.693
    """
    n = int(rows.sum())
    if (rows == 1).sum() > _SINGLE * n:
        return np.inf
    surprise = -np.log(rows / n)
    spread = float(rows @ (surprise - rows @ surprise / n) ** 2) / n
    error = np.sqrt(spread / n) + np.sqrt(0.5 * (len(rows) - 1)) / n
    limit = max(_grassberger(rows), _chao_shen(rows)) + 3.0 * error
    return float(min(limit, np.log(len(rows))) if rows.min() >= 5 else limit)


def check_repeats(single: float) -> Check:
    """Whether labels repeat, from the share of rows whose label no other row has.

    Examples
    --------
    >>> check_repeats(0.0).verdict, check_repeats(1.0).verdict
    ('ok', 'fail')
    """
    return advised(
        single,
        graded(single, 0.2 * _SINGLE, _SINGLE),
        f"{single:.0%} of the rows have a label of their own",
        warn=": there are labels that no row has.",
        fail=": most labels are in no row, and what they would tell is not known. Join rare "
        "labels, or leave out what names rows.",
    )


def _check_cells(table: Table, value: float, apart: float, error: float) -> Check:
    """Whether there are rows enough for every pair of labels."""
    rows, cells = table.n, len(table.cells)
    share = 0.0 if apart <= max(4.0 * error, 0.02) else apart / max(value, 0.1)
    return advised(
        rows / cells,
        graded(share, 0.25, 0.6),
        f"{rows} rows have {cells} different pairs of labels, and estimates that err low and "
        f"high are {apart:.2g} nats apart",
        warn=": more rows, or fewer labels, would tell.",
        fail=": there are too few rows for so many labels. Only the lower end is known.",
    )


def _counted(codes: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """Values that occur, and how often."""
    if most > 4 * len(codes) + 1000:
        return np.unique(codes, return_counts=True)
    rows = np.bincount(codes, minlength=most)
    found = np.flatnonzero(rows)
    return found, rows[found]


def _plain(rows: IntArray) -> float:
    """Entropy of the shares of rows."""
    share = rows / rows.sum()
    return -float(share @ np.log(share))


def _grassberger(rows: IntArray) -> float:
    """Entropy with the correction of Grassberger (2003, 2008)."""
    n, k = rows.sum(), rows.astype(np.float64)
    sign = np.where(rows % 2 == 0, 1.0, -1.0)
    g = digamma(k) + 0.5 * sign * (digamma(0.5 * (k + 1.0)) - digamma(0.5 * k))
    return float(np.log(n) - k @ g / n)


def _chao_shen(rows: IntArray) -> float:
    """Entropy with room for levels that no row has (Chao & Shen 2003)."""
    n = rows.sum()
    seen = 1.0 - min((rows == 1).sum(), n - 1) / n
    share = seen * rows / n
    return -float((share * np.log(share) / -np.expm1(n * np.log1p(-share))).sum())
