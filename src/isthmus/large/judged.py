"""Errors of divergences of very many rows that do not end with the error of their means.

Means over all rows are known to many digits, and then two other errors decide: that of what was
fitted to the sample alone, and that of a family which is not that of the rows. Both are taken from
the rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from ..data.sample import TwoSamples
from ..functionals import Divergence, get_divergence
from ..functionals.binned import BinnedRatios
from ..typing import Array
from .pieces import Piece

_RANGES = 64
"""Ranges of every column, and of the log-ratio, in which rows are counted."""

_NUMBERS, _FEWEST_ROWS, _MOST_ROWS = 5_000_000, 100_000, 1_000_000
"""So many numbers of each sample are counted, of so many rows."""

_COUNTED = 3
"""The block of hashes that says which rows are counted."""

_REACHED = 1000.0
"""Rows of q that must say what the ratio makes of them; across a chasm they say nothing."""

_CHANCE = 1e-4
"""How often a right ratio may be taken for a wrong one, over all columns together."""


@dataclass(frozen=True)
class Counts:
    """Weights of rows in the ranges of columns, and what they are worth; they add up.

    Attributes
    ----------
    mass : ndarray of shape (columns + 1, ranges)
        Weights of rows, of q times the ratio; those in ranges of the log-ratio come last.
    sums : ndarray of shape (3,)
        Sums of the weights of the rows, of ``mass`` and of its squares.
    """

    mass: Array
    sums: Array

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.mass + other.mass, self.sums + other.sums)

    @property
    def effective(self) -> float:
        """How many rows of one weight the rows are worth."""
        return float(self.sums[1] ** 2 / self.sums[2]) if self.sums[2] > 0 else 0.0


@dataclass(frozen=True)
class Counting:
    """Counts the rows of a sample, some of them where there are very many.

    Attributes
    ----------
    edges : ndarray of shape (columns + 1, ranges - 1)
        Where the ranges of every column end, and those of the log-ratio.
    tilted : bool
        Whether rows count with the ratio: those of q do, and then they should be as those of p.
    one_in : int
        One row in so many is counted.
    """

    edges: Array
    tilted: bool
    one_in: int

    @classmethod
    def both(
        cls, samples: TwoSamples, ratios: tuple[Array, Array], sizes: tuple[int, int]
    ) -> tuple[Counting, Counting]:
        """Of p and of q, from the rows of a sample and their log-ratios."""
        levels = np.arange(1, _RANGES) / _RANGES
        rows = np.column_stack(
            [np.concatenate([one.rows for one in samples]), np.concatenate(ratios)]
        )
        edges = np.nanquantile(rows, levels, axis=0).T
        most = np.clip(_NUMBERS // rows.shape[1], _FEWEST_ROWS, _MOST_ROWS)
        p, q = (
            cls(edges, tilted, int(np.ceil(size / most)))
            for tilted, size in zip((False, True), sizes, strict=True)
        )
        return p, q

    def __call__(self, piece: Piece, log_ratio: Array) -> Counts:
        """The counts of some rows."""
        if self.one_in > 1:
            at = np.flatnonzero(piece.drawn(self.one_in, _COUNTED))
            piece, log_ratio = piece.take(at), log_ratio[at]
        rows, weight, _ = piece
        own = np.ones(len(rows)) if weight is None else weight
        # A ratio that overflows is one of few rows, which decide nothing here.
        mass = own * np.exp(np.minimum(log_ratio, 300.0)) if self.tilted else own
        found = np.empty((len(self.edges), _RANGES))
        for k, edges in enumerate(self.edges):
            column = log_ratio if k == rows.shape[1] else rows[:, k]
            found[k] = np.bincount(np.searchsorted(edges, column), mass, _RANGES)
        return Counts(found, np.array([own.sum(), mass.sum(), mass @ mass]))


def misfit(p: Counts, q: Counts) -> float:
    """How much larger the divergence of Kullback and Leibler is than a ratio has it, at least.

    With the ratio r and m = q r, KL(p, q) is the mean of log r over p and KL(p, m); and the ranges
    of any column hold a part of the latter. What may be chance is not counted.
    """
    rows, others = p.effective, q.effective
    if min(rows, others) < _REACHED:
        return 0.0
    a = p.mass / p.mass.sum(axis=1, keepdims=True)
    b = q.mass / q.mass.sum(axis=1, keepdims=True)
    # A range that q has no row in is as if it had half a row.
    found = np.sum(a * np.log(np.where(a > 0, a, 1.0) / np.maximum(b, 0.5 / others)), axis=1)
    free = np.sum((a > 0) | (b > 0), axis=1) - 1
    # Twice the rows times such a divergence is a chi-square, if the ratio is right.
    most = chdtri(np.maximum(free, 1), _CHANCE / len(free))
    chance = 0.5 * most * (1.0 / rows + 1.0 / others)
    total = abs(float(np.log(q.sums[1] / q.sums[0]))) - 3.0 / np.sqrt(others)
    return max(float(np.max(found - chance)), 0.0) + max(float(total), 0.0)


@dataclass(frozen=True)
class JudgedRatios(BinnedRatios):
    """Log-ratios of all rows in bins, with errors that count what the rows say against them.

    Attributes
    ----------
    misfit : float
        How much larger than the ratio has it KL(p, q) is, at least.
    sample : BinnedRatios or None
        Log-ratios of the sample by fits without each row, where the ratio was learned from it. The
        mean of a learned ratio is as uncertain as the ratio, however many rows it is taken over.
    """

    misfit: float = 0.0
    sample: BinnedRatios | None = None

    def std_error(self, divergence: Divergence) -> float:
        """Standard error where the log-ratio is given, and what the rows say against it."""
        return float(np.hypot(super().std_error(divergence), self._missing(divergence)))

    def efficient_error(self, divergence: Divergence, top: float) -> float:
        """The error of the best estimate from these rows, as far as it was learned from them."""
        error = super().efficient_error(divergence, top)
        if self.sample is not None:
            error = float(np.hypot(error, self.sample.efficient_error(divergence, top)))
        return float(np.hypot(error, self._missing(divergence)))

    def _missing(self, divergence: Divergence) -> float:
        """What is missing: of other divergences the same share as of that of Kullback-Leibler."""
        if self.misfit == 0.0:
            return 0.0
        kl = abs(self.value(get_divergence("kl")))
        value = abs(self.value(divergence))
        # Where the ratio sees nothing, shares say nothing.
        return self.misfit * (value / kl if kl > self.misfit else 1.0)
