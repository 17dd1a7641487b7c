"""The two sides of a mutual information, in coordinates that ignore how they are paired."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ..typing import Array, IntArray

# Directions whose variance is less than this share of the largest are taken for constants.
_FLAT = 1e-10


@dataclass(frozen=True)
class Side:
    """Rows of x, or of y.

    Attributes
    ----------
    raw : ndarray of shape (n, d)
        Columns with mean zero and variance one.
    level : ndarray of shape (n, d)
        Ranks divided by n + 1; ties share their mean.
    scores : ndarray of shape (n, d)
        Normal quantiles of the levels.

    Notes
    -----
    A mutual information does not change when a bijection is applied to x alone or to y
    alone. Neither map uses the pairing of x and y, so that both may see all rows.
    """

    raw: Array
    level: Array
    scores: Array

    @classmethod
    def of(cls, rows: Array) -> Side:
        """Take the rows of one side; constant columns are left out."""
        low, high = rows.min(axis=0), rows.max(axis=0)
        rows = rows[:, high > low]
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


def whitened(z: Array, fitted: IntArray, flat: float = _FLAT) -> Array:
    """Rows with the covariance of the fitted rows taken out; flat directions are dropped.

    Parameters
    ----------
    z : ndarray of shape (n, d)
    fitted : ndarray of int
        Rows that the mean and the covariance are taken from.
    flat : float
        Share of the largest variance below which a direction is dropped.
    """
    own = z[fitted]
    centre = own.mean(axis=0)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(own.T)))
    kept = values > flat * max(values[-1], np.finfo(float).tiny)
    return np.asarray((z - centre) @ (vectors[:, kept] / np.sqrt(values[kept])))


def canonical(
    x: Array, y: Array, fitted: IntArray, flat: float = _FLAT
) -> tuple[Array, Array, Array]:
    """Canonical variates of all rows, and the canonical correlations of the fitted ones.

    Parameters
    ----------
    x, y : ndarray of shape (n, d)
    fitted : ndarray of int
        Rows whose pairs are looked at.
    flat : float
        As of :func:`whitened`.

    Returns
    -------
    a, b : ndarray of shape (n, k)
        Variates, each with variance one; column j of a is correlated with column j of b
        alone. There are as many as the wider side has.
    correlations : ndarray of shape (min of the widths,)

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 3))
    >>> y = x[:, :2] @ rng.normal(size=(2, 2))
    >>> canonical(x, y, np.arange(1000))[2].round(3)
    array([1., 1.])
    """
    a, b = whitened(x, fitted, flat), whitened(y, fitted, flat)
    left, correlations, right = np.linalg.svd(a[fitted].T @ b[fitted] / (len(fitted) - 1.0))
    return a @ left, b @ right.T, np.minimum(correlations, 1.0)
