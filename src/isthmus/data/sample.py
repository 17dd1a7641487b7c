"""A weighted sample, and the two samples that are compared. Checked at the doors, never inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..typing import Array, BoolArray, IntArray

_HASHED = 1 << 20
"""Rows whose hashes are worked out at a time."""


@dataclass(frozen=True)
class Sample:
    """Rows with weights.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
    weight : ndarray of shape (n,)
        A weight of two counts as the row given twice.

    Examples
    --------
    >>> import numpy as np
    >>> Sample.of(np.zeros((4, 2))).share.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    rows: Array
    weight: Array

    @classmethod
    def of(cls, rows: Array, weight: Array | None = None) -> Sample:
        """The rows with their weights, or with weights of one."""
        return cls(rows, np.ones(len(rows)) if weight is None else weight)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def share(self) -> Array:
        """What part of the sample every row is; the parts add up to one."""
        return np.asarray(self.weight / self.weight.sum())

    @property
    def weighted(self) -> bool:
        """Whether some row counts other than once."""
        return bool((self.weight != 1.0).any())

    @property
    def size(self) -> int:
        """Number of rows that the sample stands for, within sensible limits.

        Whole weights count rows given several times. Weights on another scale, such
        as shares that add up to one, count at least as their rows do.
        """
        return int(np.clip(round(float(self.weight.sum())), len(self), 10 * len(self)))

    def take(self, at: IntArray | BoolArray | slice) -> Sample:
        """Some of the rows."""
        return Sample(self.rows[at], self.weight[at])

    def map(self, f: Callable[[Array], Array]) -> Sample:
        """The rows in other coordinates."""
        return Sample(f(self.rows), self.weight)

    def positive(self) -> Sample:
        """The rows that count: one of weight zero is a row that was not given."""
        return self if self.weight.all() else self.take(self.weight > 0)

    def relative(self) -> Sample:
        """The rows with weights that average one, for which only their ratios count.

        Examples
        --------
        >>> import numpy as np
        >>> Sample.of(np.zeros((2, 1)), np.array([10.0, 30.0])).relative().weight.tolist()
        [0.5, 1.5]
        """
        if (self.weight == self.weight[0]).all():
            return Sample.of(self.rows)
        return Sample(self.rows, len(self) * self.share)

    def mean(self, values: Array) -> Array:
        """Weighted mean of values at the rows, along their first axis."""
        weight = self.weight if self.weighted else None
        return np.asarray(np.average(values, axis=0, weights=weight))


@dataclass(frozen=True)
class TwoSamples:
    """The numerator's and the denominator's sample.

    Attributes
    ----------
    p, q : Sample
    names : tuple of str or None
        Names of the columns, where they have any.

    Examples
    --------
    >>> import numpy as np
    >>> both = TwoSamples.of(np.zeros((3, 2)), np.ones((4, 2)))
    >>> [len(sample) for sample in both], both.n_columns
    ([3, 4], 2)
    """

    p: Sample
    q: Sample
    names: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls, p: Array, q: Array, weight_p: Array | None = None, weight_q: Array | None = None
    ) -> TwoSamples:
        """From rows and their weights, which are one where they are left out."""
        return cls(Sample.of(p, weight_p), Sample.of(q, weight_q))

    @classmethod
    def both(cls, samples: Iterable[Sample]) -> TwoSamples:
        """From p and q in this order."""
        p, q = samples
        return cls(p, q)

    def __iter__(self) -> Iterator[Sample]:
        return iter((self.p, self.q))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.p.rows.shape[1])

    @property
    def least(self) -> int:
        """Number of rows of the smaller sample."""
        return min(len(self.p), len(self.q))

    @property
    def weighted(self) -> bool:
        """Whether some row counts other than once."""
        return self.p.weighted or self.q.weighted

    def take(self, at_p: Any, at_q: Any) -> TwoSamples:
        """Some rows of each."""
        return replace(self, p=self.p.take(at_p), q=self.q.take(at_q))

    def map(self, f: Callable[[Array], Array]) -> TwoSamples:
        """Both in other coordinates."""
        return replace(self, p=self.p.map(f), q=self.q.map(f))

    def positive(self) -> TwoSamples:
        """Without rows of weight zero."""
        return replace(self, p=self.p.positive(), q=self.q.positive())

    def relative(self) -> TwoSamples:
        """Both with weights that average one."""
        return replace(self, p=self.p.relative(), q=self.q.relative())

    def bounded(self, most: int) -> TwoSamples:
        """At most so many rows of each sample, drawn by :func:`bounded_rows`."""
        if max(len(self.p), len(self.q)) <= most:
            return self
        return self.take(*(bounded_rows(len(sample), most) for sample in self))


class Stacked(NamedTuple):
    """Two samples in scikit-learn's form: 1 labels the rows of p, 0 those of q."""

    X: Array
    y: IntArray
    weight: Array


def stacked(samples: TwoSamples) -> Stacked:
    """Stack two samples, for estimators of others."""
    p, q = samples
    return Stacked(
        np.concatenate([p.rows, q.rows]),
        np.repeat([1, 0], [len(p), len(q)]),
        np.concatenate([p.weight, q.weight]),
    )


def row_hash(block: int, n: int, first: int = 0) -> np.ndarray:
    """A number for every row of a block that depends on the two places alone, (n,) uint64.

    ``first`` is the place of the first of these n rows within the block.
    """
    with np.errstate(over="ignore"):
        x = np.arange(first, first + n, dtype=np.uint64) + (np.uint64(block) << np.uint64(40))
        # The finaliser of splitmix64: every bit of the place moves every bit of the number.
        x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def bounded_rows(n: int, most: int, block: int = 0) -> IntArray:
    """Places of at most so many of n rows, in order: those with the smallest hashes.

    The same rows whoever draws them and however many workers there are.

    Examples
    --------
    >>> bounded_rows(3, 10).tolist(), len(bounded_rows(1000, 10))
    ([0, 1, 2], 10)
    """
    if n <= most:
        return np.arange(n)
    # Some at a time, of which few are kept: the hashes of a billion rows fill no memory.
    share = (most + 8.0 * np.sqrt(most) + 64.0) / n
    limit = np.uint64(min(share, 1.0) * (2**64 - 2**12))
    places, hashes = [], []
    for first in range(0, n, _HASHED):
        found = row_hash(block, min(_HASHED, n - first), first)
        at = np.flatnonzero(found <= limit)
        places.append(at + first)
        hashes.append(found[at])
    where, order = np.concatenate(places), np.concatenate(hashes)
    if len(where) < most:  # by a chance that no one will meet
        where, order = np.arange(n), row_hash(block, n)
    return np.asarray(np.sort(where[np.argpartition(order, most - 1)[:most]]))
