"""Rows of x alone and of y alone, in coordinates that ignore how they are paired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ..typing import Array, IntArray

# Directions whose variance is less than this share of the largest are taken for constants.
_FLAT = 1e-10


@dataclass(frozen=True)
class Marginal:
    """Rows of x or of y: standardised, as ranks between 0 and 1, and as normal scores.

    A mutual information does not change when a bijection is applied to x alone or to y
    alone. Neither map uses the pairing of x and y, so that both may see all rows.
    """

    raw: Array
    level: Array
    scores: Array

    @classmethod
    def of(cls, rows: Array) -> Marginal:
        """Take the rows of x or of y; constant columns are left out, ties share their rank."""
        rows = rows[:, rows.max(axis=0) > rows.min(axis=0)]
        # In units of the range no square overflows.
        half = np.maximum(rows.max(axis=0) / 2 - rows.min(axis=0) / 2, np.finfo(float).tiny)
        unit = rows / half
        unit = unit - unit.mean(axis=0)
        unit = unit / np.maximum(unit.std(axis=0), np.finfo(float).tiny)
        level = rankdata(rows, axis=0) / (len(rows) + 1.0)
        return cls(unit, level, ndtri(level))

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def width(self) -> int:
        """Number of columns that vary."""
        return int(self.raw.shape[1])


class Variates(NamedTuple):
    """Variates of x and of y, in pairs, and the correlation of each pair."""

    x: Array
    y: Array
    correlations: Array


def canonical(x: Array, y: Array, fitted: IntArray | None = None, flat: float = _FLAT) -> Variates:
    """Canonical variates of all rows, and the canonical correlations of the fitted ones.

    Directions with less than the share ``flat`` of the largest variance are dropped. The wider
    of the two has more variates than there are correlations.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 3))
    >>> y = x[:, :2] @ rng.normal(size=(2, 2))
    >>> canonical(x, y).correlations.round(3)
    array([1., 1.])
    """
    fitted = np.arange(len(x)) if fitted is None else fitted
    a, b = _whitened(x, fitted, flat), _whitened(y, fitted, flat)
    left, correlations, right = np.linalg.svd(a[fitted].T @ b[fitted] / (len(fitted) - 1.0))
    return Variates(a @ left, b @ right.T, np.minimum(correlations, 1.0))


def _whitened(z: Array, fitted: IntArray, flat: float) -> Array:
    """Rows with the covariance of the fitted rows taken out."""
    own = z[fitted]
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(own.T)))
    kept = values > flat * max(values[-1], np.finfo(float).tiny)
    return np.asarray((z - own.mean(axis=0)) @ (vectors[:, kept] / np.sqrt(values[kept])))
