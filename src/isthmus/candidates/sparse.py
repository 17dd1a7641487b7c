"""A few features out of thousands: waves in the rank of a column, squares, products of two columns.

Every feature is judged by the difference of its two means over its standard error, which for all
products takes matrix products and no loop. The strongest few enter a logistic regression; how
many, rows say that took no part in the judgement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..data.holdout import split_rows
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..typing import Array, IntArray
from .base import MOST_NATS, Rows, limited, log_loss
from .columns import Columns
from .logistic import Logistic, fit_logistic

_WAVES = 16
_SIZES = (0, 1, 3, 8, 20, 50, 120)
_PENALTIES = (300.0, 30.0, 3.0, 0.3)
_CHOICE_ROWS = 4000
_ROWS_PER_FEATURE = 8
_MOST_COLUMNS = 2000
_COLUMNS_AT_A_TIME = 50
# Waves that hardly vary, such as those of a column of two values, say nothing of their own.
_LEAST_SPREAD = 1e-3


class Feature(NamedTuple):
    """A wave of so many half turns in the rank of a column, or a product of two columns."""

    first: int
    second: int
    wave: int


@dataclass(frozen=True)
class Sparse:
    """The strongest few of all waves and products.

    Attributes
    ----------
    size : int or None
        How many features enter; None leaves it to held-out rows.
    l2 : float
        The penalty on their coefficients.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.candidates import Sparse
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (400, 2)), rng.normal(0.7, 1, (400, 2))
    >>> X, y = isthmus.stack(p, q)
    >>> model = isthmus.StackedMDRE([Sparse()], random_state=0).fit(X, y)
    >>> bool(model.log_ratio(p).mean() > model.log_ratio(q).mean())
    True
    """

    size: int | None = None
    l2: float = 30.0
    name = "sparse waves and products"
    takes_before = True

    def suits(self, samples: TwoSamples) -> bool:
        """Whether there are rows to judge with, and not too many products."""
        return samples.least >= 40 and samples.n_columns <= _MOST_COLUMNS

    def settled(self, rows: Rows, seeds: Seeds) -> Sparse:
        """Choose the number of features and the penalty by rows that are held out."""
        rows = rows.bounded(_CHOICE_ROWS)
        rng = seeds("sparse")
        splits = [split_rows(len(sample), rng, most=None) for sample in rows.samples]
        train = rows.take(*(split.train for split in splits))
        held = rows.take(*(split.held for split in splits))
        ranking = _ranking(train, max(_SIZES))
        best: tuple[float, Sparse] | None = None
        for size in _SIZES:
            if size * _ROWS_PER_FEATURE > 2 * train.samples.least and size > 1:
                break
            for l2 in _PENALTIES if size > 1 else _PENALTIES[-1:]:
                one = replace(self, size=size, l2=l2)
                fit = _fitted(one, train, ranking)
                found = [
                    fit.log_ratio(sample.rows, before)
                    for sample, before in zip(held.samples, held.before, strict=True)
                ]
                loss = log_loss((found[0], found[1]), held.samples)
                if best is None or loss < best[0]:
                    best = loss, one
        return replace(self, size=0) if best is None else best[1]

    def fit(self, rows: Rows, seeds: Seeds) -> SparseFit:
        """Judge all features, and fit the strongest."""
        settled = self.settled(rows, seeds) if self.size is None else self
        return _fitted(settled, rows, _ranking(rows, settled.size or 0))


@dataclass(frozen=True)
class _Ranking:
    """Features from the strongest on, and the columns that they are made of."""

    columns: Columns
    features: list[Feature]


@dataclass(frozen=True)
class SparseFit:
    """A regression on a few features and on the log-ratio before."""

    columns: Columns
    chosen: list[Feature]
    centre: Array
    scale: Array
    regression: Logistic

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        values = (written_out(self.columns, self.chosen, rows, before) - self.centre) / self.scale
        return limited(self.regression(values))


def written_out(columns: Columns, features: list[Feature], rows: Array, before: Array) -> Array:
    """Values of some features at rows, and the log-ratio before, shape (n, m + 1)."""
    out = np.empty((len(rows), len(features) + 1))
    out[:, -1] = np.clip(before, -MOST_NATS, MOST_NATS)
    standard, ranks = columns.standard(rows), columns.ranks(rows)
    for k, (first, second, wave) in enumerate(features):
        out[:, k] = (
            np.cos(np.pi * wave * ranks[:, first])
            if wave
            else standard[:, first] * standard[:, second]
        )
    return out


def _fitted(settings: Sparse, rows: Rows, ranking: _Ranking) -> SparseFit:
    chosen = _with_parts(ranking.features[: settings.size])
    values = [
        written_out(ranking.columns, chosen, sample.rows, before)
        for sample, before in zip(rows.samples, rows.before, strict=True)
    ]
    p, q = rows.samples
    centre = 0.5 * (p.share @ values[0] + q.share @ values[1])
    scale = np.sqrt(
        0.5 * (p.share @ (values[0] - centre) ** 2 + q.share @ (values[1] - centre) ** 2)
    )
    scale = np.where(scale > _LEAST_SPREAD, scale, np.inf)
    standard = [(value - centre) / scale for value in values]
    features = TwoSamples.of(standard[0], standard[1], p.weight, q.weight)
    return SparseFit(ranking.columns, chosen, centre, scale, fit_logistic(features, (settings.l2,)))


def _with_parts(features: list[Feature]) -> list[Feature]:
    """The features, and with a product of two columns their squares and first waves.

    A product that tells p from q, such as a correlation, changes these in the log-ratio, and
    none of them in its own mean.
    """
    found = dict.fromkeys(features)
    for first, second, wave in features:
        if not wave and first != second:
            for j in (first, second):
                found.setdefault(Feature(j, j, 0))
                found.setdefault(Feature(j, j, 1))
    return list(found)


def strongest(samples: TwoSamples, most: int) -> IntArray:
    """Columns of the strongest features, in their order; a product is of two."""
    ranking = _ranking(Rows.of(samples), most)
    places = np.flatnonzero(ranking.columns.kept)
    found = dict.fromkeys(j for f in ranking.features for j in (f.first, f.second))
    return places[np.fromiter(found, dtype=np.intp)]


def _ranking(rows: Rows, most: int) -> _Ranking:
    """The strongest features, by the difference of their means over its standard error."""
    columns = Columns.of(rows.samples)
    found: list[tuple[Array, IntArray]] = []
    for t, features in _judged(columns, rows.samples):
        keep = np.argsort(-np.abs(t), kind="stable")[:most]
        found.append((np.abs(t)[keep], features[keep]))
    if not found or not most:
        return _Ranking(columns, [])
    t, features = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(-t, kind="stable")[:most]
    return _Ranking(columns, [Feature(*map(int, features[k])) for k in order])


def _judged(columns: Columns, samples: TwoSamples) -> Iterator[tuple[Array, IntArray]]:
    """Statistics of features, some at a time, with the features as rows of three numbers."""
    standard = [columns.standard(sample.rows) for sample in samples]
    ranks = [columns.ranks(sample.rows) for sample in samples]
    shares = [sample.share for sample in samples]
    d = len(columns)
    waves = np.arange(1, _WAVES + 1)
    for begin in range(0, d, _COLUMNS_AT_A_TIME):
        here = np.arange(begin, min(begin + _COLUMNS_AT_A_TIME, d))
        moments = []
        for rank, share in zip(ranks, shares, strict=True):
            values = np.cos(np.pi * rank[:, here, None] * waves).reshape(len(rank), -1)
            moments.append((share @ values, share @ values**2, float((share**2).sum())))
        names = np.column_stack(
            [np.repeat(here, _WAVES), np.repeat(here, _WAVES), np.tile(waves, len(here))]
        )
        yield _statistic(moments), names
    first, second = np.triu_indices(d)
    moments = []
    for Z, share in zip(standard, shares, strict=True):
        weighted = Z * share[:, None]
        mean = (weighted.T @ Z)[first, second]
        square = ((Z**2 * share[:, None]).T @ Z**2)[first, second]
        moments.append((mean, square, float((share**2).sum())))
    yield _statistic(moments), np.column_stack([first, second, np.zeros(len(first), dtype=int)])


def _statistic(moments: list[tuple[Array, Array, float]]) -> Array:
    """Differences of means over their standard errors."""
    variance = np.zeros_like(moments[0][0])
    for mean, square, share in moments:
        variance += share * np.maximum(square - mean**2, 0.0)
    error = np.sqrt(variance)
    gap = moments[0][0] - moments[1][0]
    return np.asarray(np.where(error > 1e-9, gap / np.maximum(error, 1e-9), 0.0))
