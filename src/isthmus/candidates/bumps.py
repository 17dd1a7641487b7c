"""Bumps at rows: a smooth log-ratio of any shape, in few columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist

from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..typing import Array
from .base import MOST_NATS, Rows, limited
from .columns import Columns
from .logistic import Logistic, fit_logistic

_MOST_COLUMNS = 10
_LEAST_ROWS = 60
_ROWS_PER_BUMP, _MOST_BUMPS = 8, 250
_WIDTHS = (3.0, 1.5, 0.75)
_PENALTIES = (100.0, 10.0, 1.0, 0.1, 0.01)
_CHOICE_ROWS, _MOST_ROWS = 700, 4000


@dataclass(frozen=True)
class Bumps:
    """Normal bumps at rows drawn from both samples, of one width.

    Attributes
    ----------
    width : float or None
        Width over the typical distance of two rows; None leaves it to rows that are left out.
    l2 : float
        The penalty on their heights.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.candidates import Bumps
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (400, 2)), rng.normal(0.7, 1, (400, 2))
    >>> X, y = isthmus.stack(p, q)
    >>> model = isthmus.StackedMDRE([Bumps()], random_state=0).fit(X, y)
    >>> bool(model.log_ratio(p).mean() > model.log_ratio(q).mean())
    True
    """

    width: float | None = None
    l2: float = 1.0
    name = "bumps"
    takes_before = True

    def suits(self, samples: TwoSamples) -> bool:
        """Whether there are few columns and some rows."""
        return samples.n_columns <= _MOST_COLUMNS and samples.least >= _LEAST_ROWS

    def settled(self, rows: Rows, seeds: Seeds) -> Bumps:
        """Choose width and penalty by rows that are left out."""
        some = rows.bounded(_CHOICE_ROWS)
        best: tuple[float, Bumps] | None = None
        for width in _WIDTHS:
            features = _features(some, width, seeds)
            found = fit_logistic(_written(features, some), _PENALTIES)
            if best is None or found.loss < best[0]:
                best = found.loss, replace(self, width=width, l2=found.l2)
        return self if best is None else best[1]

    def fit(self, rows: Rows, seeds: Seeds) -> BumpsFit:
        """Fit to rows."""
        settled = self.settled(rows, seeds) if self.width is None else self
        rows = rows.bounded(_MOST_ROWS)
        features = _features(rows, float(settled.width or 1.0), seeds)
        return BumpsFit(features, fit_logistic(_written(features, rows), (settled.l2,)))


@dataclass(frozen=True)
class BumpFeatures:
    """Bumps at centres, the columns themselves and the log-ratio before."""

    columns: Columns
    centres: Array
    width: float

    def __call__(self, rows: Array, before: Array) -> Array:
        Z = self.columns.scores(rows)
        bumps = np.exp(-0.5 * cdist(Z, self.centres, "sqeuclidean") / self.width**2)
        return np.column_stack([bumps, Z, np.clip(before, -MOST_NATS, MOST_NATS)])


@dataclass(frozen=True)
class BumpsFit:
    """A fitted sum of bumps."""

    features: BumpFeatures
    regression: Logistic

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        return limited(self.regression(self.features(rows, before)))


def _features(rows: Rows, width: float, seeds: Seeds) -> BumpFeatures:
    columns = Columns.of(rows.samples)
    rng = seeds("bumps")
    count = int(np.clip(sum(map(len, rows.samples)) // _ROWS_PER_BUMP, 20, _MOST_BUMPS))
    centres = np.concatenate(
        [
            columns.scores(sample.rows[rng.permutation(len(sample))[: count // 2]])
            for sample in rows.samples
        ]
    )
    # A typical distance of a row and the nearest centres, which shrinks as rows come.
    apart = np.sort(cdist(centres, centres), axis=1)[:, min(5, len(centres) - 1)]
    return BumpFeatures(columns, centres, width * max(float(np.median(apart)), 1e-3))


def _written(features: BumpFeatures, rows: Rows) -> TwoSamples:
    p, q = rows.samples
    values = [
        features(sample.rows, before)
        for sample, before in zip(rows.samples, rows.before, strict=True)
    ]
    return TwoSamples.of(values[0], values[1], p.weight, q.weight)
