"""Boosted trees on the columns and on the log-ratio before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..typing import Array
from .base import MOST_NATS, Rows, balanced, limited

_BINS = 128


@dataclass(frozen=True)
class Trees:
    """Boosted trees of a given size.

    Attributes
    ----------
    leaves : int
        Leaves of a tree.
    rate : float
        Learning rate.
    rounds : int
        Number of trees.
    least_rows : int
        Rows of the smaller sample from which on they are tried.
    """

    leaves: int = 8
    rate: float = 0.05
    rounds: int = 100
    least_rows: int = 40
    takes_before = True

    @property
    def name(self) -> str:
        """What they are called in the record of a stack."""
        return f"boosted trees of {self.leaves} leaves"

    def suits(self, samples: TwoSamples) -> bool:
        """Whether there are rows for them."""
        return samples.least >= self.least_rows

    def settled(self, rows: Rows, seeds: Seeds) -> Trees:
        """Nothing is chosen."""
        return self

    def fit(self, rows: Rows, seeds: Seeds) -> TreesFit:
        """Fit to rows."""
        trees = HistGradientBoostingClassifier(
            learning_rate=self.rate,
            max_iter=self.rounds,
            max_leaf_nodes=self.leaves,
            l2_regularization=5.0,
            min_samples_leaf=int(np.clip(rows.samples.least // 20, 5, 20)),
            early_stopping=False,
            random_state=int(seeds("trees").integers(2**31)),
        )
        p, q = rows.samples
        X = np.concatenate(
            [
                _with(sample.rows, before)
                for sample, before in zip(rows.samples, rows.before, strict=True)
            ]
        )
        bins = Bins.of(X)
        y = np.repeat([1, 0], [len(p), len(q)])
        return TreesFit(bins, trees.fit(bins(X), y, np.concatenate(balanced(rows.samples))))


@dataclass(frozen=True)
class Bins:
    """Columns as whole numbers: in which of at most 128 bins of equal size a value lies.

    scikit-learn's own bins take longer than its trees where rows have weights.
    """

    edges: tuple[Array, ...]

    @classmethod
    def of(cls, X: Array) -> Bins:
        """Bins of the columns of X."""
        ends = np.quantile(X, np.arange(1, _BINS) / _BINS, axis=0, method="inverted_cdf")
        return cls(tuple(np.unique(column) for column in ends.T))

    def __call__(self, X: Array) -> Array:
        """Numbers of the bins, shaped like X."""
        out = np.empty(X.shape)
        for j, edges in enumerate(self.edges):
            out[:, j] = np.searchsorted(edges, X[:, j], side="left")
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
