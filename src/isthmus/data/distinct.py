"""A sample as its distinct rows, so that weights, repeated rows and any order are one thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..typing import Array, IntArray
from .holdout import HELD, LEAST_ROWS, SEARCH_ROWS, split_rows
from .sample import Sample, TwoSamples
from .seeds import Seeds


@dataclass(frozen=True)
class Distinct:
    """Distinct rows, sorted, with their shares.

    Neither the order of the rows nor whether a row was given twice or with a weight of
    two makes a difference to whatever is computed from it.

    Attributes
    ----------
    rows : ndarray of shape (k, d)
    share : ndarray of shape (k,)
        Adds up to one.
    size : int
        Number of rows that the sample stands for.

    Examples
    --------
    >>> import numpy as np
    >>> Distinct.of(Sample.of(np.array([[2.0], [1.0], [2.0]]))).share.round(2)
    array([0.33, 0.67])
    """

    rows: Array
    share: Array
    size: int

    @classmethod
    def of(cls, sample: Sample, least: float = 0.0) -> Distinct:
        """Sort rows and merge equal ones, unless that leaves a share ``least`` of them or less."""
        order = np.argsort(sample.rows[:, 0], kind="stable")
        if np.any(np.diff(sample.rows[order, 0]) == 0):
            # Some rows begin with the same number: the other columns decide.
            order = np.lexsort(sample.rows.T[::-1])
        rows, mass = sample.rows[order], sample.weight[order]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        if new.sum() > least * len(rows):
            rows, mass = rows[new], np.add.reduceat(mass, np.flatnonzero(new))
        return cls(rows, mass / mass.sum(), sample.size)

    @classmethod
    def to_split(cls, sample: Sample) -> Distinct:
        """Rows of which some are to be held out: where most are repeated, each counts alone."""
        return cls.of(sample, least=0.5)

    @property
    def weight(self) -> Array:
        """Weights that add up to the number of rows; ones where all count the same."""
        if self.size == len(self.rows) and np.ptp(self.share) == 0:
            return np.ones(self.size)
        return self.share * self.size

    @property
    def sample(self) -> Sample:
        """Rows and their weights."""
        return Sample(self.rows, self.weight)

    def map(self, f: Callable[[Array], Array]) -> Distinct:
        """The rows in other coordinates, in the same order."""
        return replace(self, rows=f(self.rows))

    def take(self, at: IntArray) -> Distinct:
        """Some of the rows."""
        mass = self.share[at]
        size = max(round(float(mass.sum()) * self.size), 1)
        return Distinct(self.rows[at], mass / mass.sum(), size)

    def hold_out(
        self, rng: np.random.Generator, held: float = HELD, most: int = SEARCH_ROWS
    ) -> tuple[Distinct, Distinct]:
        """Rows to fit to, and a share of them to judge by, of at most so many in all."""
        split = split_rows(len(self.rows), rng, held, most)
        return self.take(np.sort(split.train)), self.take(np.sort(split.held))

    @cached_property
    def _edges(self) -> Array:
        return np.cumsum(self.share)

    def at(self, places: Array) -> Array:
        """Rows at places in [0, 1], of which each row takes up its share."""
        # Shares add up to one but for rounding.
        return self.rows[np.minimum(np.searchsorted(self._edges, places), len(self.rows) - 1)]

    def stratified(self, count: int, rng: np.random.Generator) -> Array:
        """Draw rows in random order, each as often as its share asks for, to one."""
        return self.at((rng.permutation(count) + 0.5) / count)

    def thin(self, most: int, rng: np.random.Generator) -> Distinct:
        """At most so many rows that stand for all: a systematic sample in sorted order.

        A row is taken once for each of ``most`` equal steps of mass that ends in it,
        so that heavy rows keep their share.
        """
        if len(self.rows) <= most:
            return self
        points = (np.arange(most) + rng.random()) / most * self._edges[-1]
        taken, times = np.unique(np.searchsorted(self._edges, points), return_counts=True)
        return Distinct(self.rows[taken], times / most, most)

    def folds(self, number: int, rng: np.random.Generator) -> Array:
        """Share of every row in each fold, shape (k, number of folds).

        Rows are dealt to folds of equal size at random, equal ones each for itself. Dealing
        by turns in sorted order would make the folds more alike than independent samples
        are, and kernels that fit the noise would pass.
        """
        copies = np.maximum(np.rint(self.share * self.size), 1.0).astype(int)
        row = np.repeat(np.arange(len(copies)), copies)
        number = min(number, len(row))
        fold = rng.permutation(np.arange(len(row)) % number)
        dealt = np.bincount(row * number + fold, minlength=number * len(copies))
        return np.asarray(dealt.reshape(-1, number) * (self.share / copies)[:, None])


def hold_out_of_both(samples: TwoSamples, seeds: Seeds) -> tuple[TwoSamples, TwoSamples] | None:
    """Rows of p and q to fit to, and those to judge by; None where there are too few.

    Neither their order nor the way in which weights are given makes a difference.
    """
    both = [Distinct.to_split(sample) for sample in samples]
    if min(len(one.rows) for one in both) < LEAST_ROWS:
        return None
    halves = [one.hold_out(seeds("hold out")) for one in both]
    train, held = (TwoSamples.both(half[side].sample for half in halves) for side in (0, 1))
    return train, held
