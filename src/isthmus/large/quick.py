"""What a stack says of very many rows, in less time than its members take.

Only those columns are looked at that count, ranks are looked up in all rows at once, and distances
from the centres of bumps are a product of matrices, of so few rows that it stays in the cache.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..candidates.base import MOST_NATS, limited
from ..candidates.bumps import BumpsFit
from ..candidates.columns import Columns
from ..candidates.focused import FocusedFit
from ..candidates.ridge import RidgeFit
from ..candidates.sparse import SparseFit
from ..candidates.trees import TreesFit
from ..stacked import StackedMDRE
from ..typing import Array
from .quick_trees import QuickLargeTrees, QuickTrees
from .ranks import Ranks

_NUMBERS = 1 << 16
"""Exponents of bumps that are worked on at a time."""


@dataclass(frozen=True)
class QuickLinear:
    """A regression on columns, and on the normal scores of those that are skewed.

    Attributes
    ----------
    columns : Columns
    skewed : Ranks
        Of the skewed columns alone.
    slopes, bends : ndarray
        Coefficients of the columns, and of the normal scores.
    constant : float
    """

    columns: Columns
    skewed: Ranks
    slopes: Array
    bends: Array
    constant: float

    @classmethod
    def of(cls, fit: RidgeFit) -> QuickLinear:
        """The same regression."""
        columns, found = fit.features.columns, fit.regression
        slopes, bends = np.split(found.coefficients, [len(columns)])
        skewed = Ranks.of(columns, np.flatnonzero(columns.skewed[: len(columns)]))
        return cls(columns, skewed, slopes, bends, found.constant)

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        out = self.columns.standard(rows) @ self.slopes
        if len(self.bends):
            out += self.skewed.scores(rows) @ self.bends
        out += self.constant
        return limited(out)


@dataclass(frozen=True)
class QuickSparse:
    """A regression on products of columns and on waves in their ranks.

    Attributes
    ----------
    standard : Columns
        The columns that enter products.
    square : ndarray of shape (k, k)
        Coefficients of the products.
    ranks : Ranks
        Of the columns that have waves.
    waves : tuple of (int, int, float)
        For every wave its column among these, half turns and coefficient.
    slope : float
        Coefficient of the log-ratio before.
    constant : float
    """

    standard: Columns
    square: Array
    ranks: Ranks
    waves: tuple[tuple[int, int, float], ...]
    slope: float
    constant: float

    @classmethod
    def of(cls, fit: SparseFit) -> QuickSparse:
        """The same regression, with centres and scales in its coefficients."""
        slopes = fit.regression.coefficients / fit.scale
        products = [(f, a) for f, a in zip(fit.chosen, slopes, strict=False) if not f.wave]
        waves = [(f, a) for f, a in zip(fit.chosen, slopes, strict=False) if f.wave]
        which = sorted({j for f, _ in products for j in (f.first, f.second)})
        square = np.zeros((len(which), len(which)))
        for f, a in products:
            square[which.index(f.first), which.index(f.second)] += a
        waving = sorted({f.first for f, _ in waves})
        return cls(
            _only(fit.columns, which),
            square,
            Ranks.of(fit.columns, waving),
            tuple((waving.index(f.first), f.wave, float(a)) for f, a in waves),
            float(slopes[-1]),
            fit.regression.constant - float(fit.centre @ slopes),
        )

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        out = self.slope * np.clip(before, -MOST_NATS, MOST_NATS)
        out += self.constant
        if len(self.square):
            Z = self.standard.standard(rows)
            out += np.einsum("ij,ij->i", Z @ self.square, Z)
        if self.waves:
            angles = np.pi * self.ranks(rows)
            for k, turns, slope in self.waves:
                out += slope * np.cos(turns * angles[:, k])
        return limited(out)


@dataclass(frozen=True)
class QuickBumps:
    """A sum of bumps, whose exponents are one product of matrices.

    Attributes
    ----------
    ranks : Ranks
    exponents : ndarray of shape (d + 2, m)
        What scores of a row, half their squares together and one are multiplied with.
    heights : ndarray of shape (m,)
    slopes : ndarray of shape (d + 1,)
        Coefficients of the scores and of the log-ratio before.
    constant : float
    """

    ranks: Ranks
    exponents: Array
    heights: Array
    slopes: Array
    constant: float

    @classmethod
    def of(cls, fit: BumpsFit) -> QuickBumps:
        """The same bumps."""
        centres, square = fit.features.centres, fit.features.width**2
        m, found = len(centres), fit.regression
        ends = np.full(m, -1.0), -0.5 * np.einsum("ij,ij->i", centres, centres)
        exponents = np.vstack([centres.T, *ends]) / square
        heights, slopes = found.coefficients[:m], found.coefficients[m:]
        columns = fit.features.columns
        ranks = Ranks.of(columns, range(len(columns)))
        return cls(ranks, exponents, heights, slopes, found.constant)

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        d, step = len(self.exponents) - 2, max(_NUMBERS // len(self.heights), 1)
        Z = np.ones((len(rows), d + 2))
        Z[:, :d] = self.ranks.scores(rows)
        Z[:, d] = 0.5 * np.einsum("ij,ij->i", Z[:, :d], Z[:, :d])
        out = Z[:, :d] @ self.slopes[:-1]
        out += self.slopes[-1] * np.clip(before, -MOST_NATS, MOST_NATS)
        out += self.constant
        bumps = np.empty((min(step, len(rows)), len(self.heights)))
        for begin in range(0, len(rows), step):
            some = Z[begin : begin + step]
            own = np.matmul(some, self.exponents, out=bumps[: len(some)])
            out[begin : begin + step] += np.exp(own, out=own) @ self.heights
        return limited(out)


def _only(columns: Columns, which: list[int]) -> Columns:
    """Some of the columns that were kept."""
    kept = np.zeros_like(columns.kept)
    kept[np.flatnonzero(columns.kept)[which]] = True
    knots = tuple(columns.knots[k] for k in which)
    return Columns(kept, columns.centre[which], columns.scale[which], knots, columns.skewed[which])


def quick(estimator: Any) -> Any:
    """A fitted estimator that says the same in less time; itself where there is no such way."""
    if not isinstance(estimator, StackedMDRE) or estimator.single_ is not None:
        return estimator
    again = copy(estimator)
    again.members_ = tuple((a, _quick(fit)) for a, fit in estimator.members_)
    return again


def _quick(fit: Any) -> Any:
    if isinstance(fit, FocusedFit):
        return replace(fit, fit=_quick(fit.fit))
    if isinstance(fit, TreesFit):
        return QuickTrees.of(fit) or QuickLargeTrees.of(fit) or fit
    for kind, way in _WAYS:
        if isinstance(fit, kind):
            return way.of(fit)
    return fit


_WAYS: tuple[tuple[Any, Any], ...] = (
    (RidgeFit, QuickLinear),
    (SparseFit, QuickSparse),
    (BumpsFit, QuickBumps),
)
