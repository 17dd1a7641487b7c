"""Ridge logistic regression on the columns: the floor that everything else has to rise above."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..typing import Array
from .base import Rows, limited
from .columns import Columns
from .logistic import Logistic, fit_logistic

_PENALTIES = (3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
_CHOICE_ROWS = 3000
_MOST_COLUMNS = 1000


@dataclass(frozen=True)
class Ridge:
    """Columns and, where they are skewed, their normal scores.

    Attributes
    ----------
    l2 : float or None
        The penalty; None leaves it to rows that are left out.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.candidates import Ridge
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (400, 2)), rng.normal(0.7, 1, (400, 2))
    >>> X, y = isthmus.stack(p, q)
    >>> model = isthmus.StackedMDRE([Ridge()], random_state=0).fit(X, y)
    >>> bool(model.log_ratio(p).mean() > model.log_ratio(q).mean())
    True
    """

    l2: float | None = None
    name = "linear"
    takes_before = False

    def suits(self, samples: TwoSamples) -> bool:
        """Whether there are few enough columns for a dense Hessian."""
        return samples.n_columns <= _MOST_COLUMNS

    def settled(self, rows: Rows, seeds: Seeds) -> Ridge:
        """Choose the penalty, on some of the rows."""
        some = rows.bounded(_CHOICE_ROWS).samples
        scale = rows.samples.least / some.least
        features = some.map(RidgeFeatures(Columns.of(some)))
        found = fit_logistic(features, [l2 / np.sqrt(scale) for l2 in _PENALTIES])
        return replace(self, l2=found.l2)

    def fit(self, rows: Rows, seeds: Seeds) -> RidgeFit:
        """Fit to rows."""
        features = RidgeFeatures(Columns.of(rows.samples))
        if not len(features.columns):
            return RidgeFit(features, Logistic(np.zeros(0), 0.0, 1.0))
        penalties = _PENALTIES if self.l2 is None else (self.l2,)
        return RidgeFit(features, fit_logistic(rows.samples.map(features), penalties))


@dataclass(frozen=True)
class RidgeFeatures:
    """Standardised columns, and normal scores of those that are skewed."""

    columns: Columns

    def __call__(self, rows: Array) -> Array:
        standard = self.columns.standard(rows)
        if not self.columns.skewed.any():
            return standard
        return np.column_stack([standard, self.columns.scores(rows)[:, self.columns.skewed]])


@dataclass(frozen=True)
class RidgeFit:
    """A fitted regression on columns."""

    features: RidgeFeatures
    regression: Logistic

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        return limited(self.regression(self.features(rows)))
