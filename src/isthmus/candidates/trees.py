"""Boosted trees on the columns and on the log-ratio before.

The 0/1 columns of a category of many levels are one feature to them, whose levels a tree can part
in two with one cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from ..data.holdout import split_rows
from ..data.levels import Levels, categories
from ..data.sample import TwoSamples, bounded_rows
from ..data.seeds import Seeds
from ..typing import Array, BoolArray, IntArray
from .base import MOST_NATS, Rows, balanced, limited, log_loss

_BINS = 128
_SIZES = ((6, 0.08), (31, 0.08))
_LARGE = (63, 0.25)
_LEAST_ROUNDS, _MOST_ROUNDS = 20, 120
_LEAST_ROWS, _DEEP_ROWS = 25, 500
_CHOICE_ROWS, _LARGE_ROWS = 3000, 10_000
_EDGE_ROWS = 20_000
_LEAST_LEVELS, _MOST_LEVELS = 8, 250


@dataclass(frozen=True)
class Trees:
    """Boosted trees whose size and number are chosen by held-out rows.

    Attributes
    ----------
    leaves : int
        Leaves of a tree.
    rate : float
        What part of itself each tree adds.
    rounds : int or None
        Number of trees; None leaves it, leaves and rate to held-out rows.
    """

    leaves: int = 8
    rate: float = 0.08
    rounds: int | None = None
    name = "boosted trees"
    takes_before = True

    def suits(self, samples: TwoSamples) -> bool:
        """Whether there are rows for them."""
        return samples.least >= _LEAST_ROWS

    def settled(self, rows: Rows, seeds: Seeds) -> Trees:
        """Choose size and number by rows that are held out.

        Where small steps still gain at the last, larger ones are tried on more rows.
        """
        few = rows.bounded(_CHOICE_ROWS)
        sizes = _SIZES if few.samples.least >= _DEEP_ROWS else _SIZES[:1]
        found = self._best(sizes, few, seeds)
        if found.rounds == _MOST_ROUNDS and rows.samples.least > _CHOICE_ROWS:
            sizes = ((found.leaves, found.rate), _LARGE)
            found = self._best(sizes, rows.bounded(_LARGE_ROWS), seeds)
        return found

    def _best(self, sizes: tuple[tuple[int, float], ...], rows: Rows, seeds: Seeds) -> Trees:
        """The size and number of trees that are the likeliest at rows that are held out."""
        rng = seeds("trees held out")
        splits = [split_rows(len(sample), rng, most=None) for sample in rows.samples]
        train = rows.take(*(split.train for split in splits))
        held = rows.take(*(split.held for split in splits))
        best, found = np.inf, replace(self, rounds=_LEAST_ROUNDS)
        for leaves, rate in sizes:
            size = replace(self, leaves=leaves, rate=rate, rounds=_MOST_ROUNDS)
            fit = size.fit(train, seeds)
            parts = [
                fit.trees.staged_decision_function(fit.bins(_with(sample.rows, before)))
                for sample, before in zip(held.samples, held.before, strict=True)
            ]
            for k, (p, q) in enumerate(zip(*parts, strict=True), 1):
                if k >= _LEAST_ROUNDS and k % 5 == 0:
                    loss = log_loss((np.ravel(p), np.ravel(q)), held.samples)
                    if loss < best:
                        best, found = loss, replace(size, rounds=k)
        return found

    def fit(self, rows: Rows, seeds: Seeds) -> TreesFit:
        """Fit to rows."""
        settled = self.settled(rows, seeds) if self.rounds is None else self
        p, q = rows.samples
        X = np.concatenate(
            [
                _with(sample.rows, before)
                for sample, before in zip(rows.samples, rows.before, strict=True)
            ]
        )
        bins = Bins.of(X)
        trees = HistGradientBoostingClassifier(
            learning_rate=settled.rate,
            max_iter=settled.rounds or _LEAST_ROUNDS,
            max_leaf_nodes=settled.leaves,
            l2_regularization=5.0,
            min_samples_leaf=int(np.clip(rows.samples.least // 20, 5, 20)),
            early_stopping=False,
            categorical_features=bins.categorical,
            random_state=int(seeds("trees").integers(2**31)),
        )
        y = np.repeat([1, 0], [len(p), len(q)])
        return TreesFit(bins, trees.fit(bins(X), y, np.concatenate(balanced(rows.samples))))


@dataclass(frozen=True)
class Bins:
    """Columns as whole numbers: in which of at most 128 bins of equal size a value lies.

    scikit-learn's own bins take longer than its trees where rows have weights.

    Attributes
    ----------
    categories : tuple of Levels
        Categories of many levels, each of which becomes one column of level numbers.
    columns : ndarray of int
        The other columns.
    edges : tuple of ndarray
        Edges of the bins of these.
    """

    categories: tuple[Levels, ...]
    columns: IntArray
    edges: tuple[Array, ...]

    @classmethod
    def of(cls, X: Array) -> Bins:
        """Bins of the columns of X."""
        found = tuple(
            Levels(one, np.eye(len(one)))
            for one in categories(X)
            if _LEAST_LEVELS <= len(one) <= _MOST_LEVELS
        )
        taken = [j for one in found for j in one.columns]
        columns = np.setdiff1d(np.arange(X.shape[1]), taken)
        some = X[np.ix_(bounded_rows(len(X), _EDGE_ROWS), columns)]
        ends = np.quantile(some, np.arange(1, _BINS) / _BINS, axis=0, method="inverted_cdf")
        return cls(found, columns, tuple(np.unique(column) for column in ends.T))

    @property
    def categorical(self) -> BoolArray | None:
        """Which columns hold level numbers, or None where none does."""
        if not self.categories:
            return None
        return np.asarray(
            np.arange(len(self.categories) + len(self.columns)) < len(self.categories)
        )

    def __call__(self, X: Array) -> Array:
        """Numbers of levels and of bins; NaN for no level of a category, shape (n, k)."""
        first = len(self.categories)
        out = np.empty((len(X), first + len(self.columns)))
        for k, one in enumerate(self.categories):
            code = one.codes(X)
            out[:, k] = np.where(code < len(one), code, np.nan)
        for k, (j, edges) in enumerate(zip(self.columns, self.edges, strict=True), first):
            out[:, k] = np.searchsorted(edges, X[:, j], side="left")
        return out


@dataclass(frozen=True)
class TreesFit:
    """Fitted trees."""

    bins: Bins
    trees: Any

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        return limited(self.trees.decision_function(self.bins(_with(rows, before))))


def _with(rows: Array, before: Array) -> Array:
    return np.column_stack([rows, np.clip(before, -MOST_NATS, MOST_NATS)])
