"""Rows of x alone and of y alone, in coordinates that ignore how they are paired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr, ndtri

from ..typing import Array, IntArray

# Beyond so many spreads a tail is long, and beyond so many still is after it was drawn in.
_LONG = (10.0, 7.0)
# Tails that are longer than this may be outliers: such a column is not taken as it is.
_FURTHEST = 300.0
# Steps towards independent directions, and how still they must be.
_TURNS, _SETTLED = 100, 1e-4
# Knots of a smooth scale.
_KNOTS = 60
# What a column may lack of being straight against normal scores.
_BENT = 2e-3
# Directions whose variance is less than this share of the largest are taken for constants.
_FLAT = 1e-10


@dataclass(frozen=True)
class Marginal:
    """Rows of x or of y in coordinates of their own, which do not know how rows are paired.

    A mutual information does not change when a bijection is applied to x alone or to y
    alone, nor when noise is added from which the value can still be told: equal values are drawn
    apart at random, each within the reach of its own value, so that no two rows are equal.

    Attributes
    ----------
    raw : ndarray of shape (n, d)
        Standardised, with long tails drawn in, so that no row is all that a correlation sees.
    level, scores : ndarray of shape (n, d)
        Ranks between 0 and 1, and their normal quantiles.
    plain : ndarray of shape (n, d)
        Standardised as they are, but for columns that may have outliers, which are as in ``raw``:
        sums of columns stay sums there.
    """

    raw: Array
    level: Array
    scores: Array
    plain: Array

    @classmethod
    def of(cls, rows: Array, rng: np.random.Generator) -> Marginal:
        """Take the rows of x or of y; constant columns are left out.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([[1.0, 5.0], [1.0, 5.0], [3.0, 5.0]])
        >>> side = Marginal.of(rows, np.random.default_rng(0))
        >>> side.width, len(np.unique(side.scores))
        (1, 3)
        """
        rows = rows[:, rows.max(axis=0) > rows.min(axis=0)]
        n, d = rows.shape
        raw, level, plain = np.empty((3, n, d))
        for j in range(d):
            spread = drawn_apart(rows[:, j], rng)
            unit = _in_spreads(spread)
            raw[:, j] = _drawn_in(unit)
            plain[:, j] = raw[:, j] if np.abs(unit).max() > _FURTHEST else unit - unit.mean()
            order = np.lexsort((spread, rows[:, j]))
            level[order, j] = (np.arange(n) + 1.0) / (n + 1.0)
        scores = ndtri(level)
        return cls(raw / raw.std(axis=0), level, scores, plain / plain.std(axis=0))

    def __len__(self) -> int:
        return len(self.raw)

    def of_columns(self, columns: IntArray) -> Marginal:
        """Some of its columns."""
        parts = (self.raw, self.level, self.scores, self.plain)
        return Marginal(*(part[:, columns] for part in parts))

    @property
    def normal(self) -> bool:
        """Whether every raw column is as good as normal: straight against its scores."""
        scores = self.scores / self.scores.std(axis=0)
        straight = (self.raw * scores).mean(axis=0) ** 2
        return bool((straight > 1.0 - _BENT - 10.0 / len(self)).all())

    @property
    def width(self) -> int:
        """Number of columns that vary."""
        return int(self.raw.shape[1])


def _in_spreads(values: Array) -> Array:
    """Values less their median, over their spread."""
    # In units of the range no difference overflows.
    half = max(values.max() / 2 - values.min() / 2, np.finfo(float).tiny)
    unit = values / half
    low, middle, high = np.quantile(unit, [0.25, 0.5, 0.75])
    spread = float(high - low) / 1.35
    if not spread > 0.0:
        spread = float(unit.std())
    return np.asarray((unit - middle) / spread)


def _drawn_in(unit: Array) -> Array:
    """On the scale of asinh while tails are long, with mean zero."""
    for longest in _LONG:
        if np.abs(unit).max() > longest:
            unit = np.arcsinh(unit)
    return np.asarray(unit - unit.mean())


def drawn_apart(values: Array, rng: np.random.Generator) -> Array:
    """Values with equal ones drawn apart, up to half-way to the next value on either side."""
    known, place, count = np.unique(values, return_inverse=True, return_counts=True)
    if len(known) in (1, len(values)):
        return values
    with np.errstate(over="ignore"):
        gap = np.minimum(np.diff(known), np.finfo(float).max)
    below = np.concatenate([gap[:1], gap])[place]
    above = np.concatenate([gap, gap[-1:]])[place]
    u = rng.uniform(-0.5, 0.5, len(values))
    moved = values + u * np.where(u < 0, below, above)
    return np.where((count[place] > 1) & np.isfinite(moved), moved, values)


def smoothed(raw: Array, knots: int = _KNOTS) -> Array:
    """Columns on a smooth scale of their own on which they are about normal.

    Ranks tell no rows apart that are nearer than the next one; a smooth map does.
    """
    n = len(raw)
    levels = ndtr(np.linspace(ndtri(1.0 / n), -ndtri(1.0 / n), max(min(knots, n // 25), 4)))
    out = np.empty_like(raw)
    for j, column in enumerate(raw.T):
        places, kept = np.unique(np.quantile(column, levels), return_index=True)
        if len(places) < 3:
            out[:, j] = column
            continue
        heights = ndtri(levels[kept])
        bend = PchipInterpolator(places, heights)
        inside = np.clip(column, places[0], places[-1])
        ends = bend.derivative()(places[[0, -1]])
        past = np.minimum(column - places[0], 0.0) * ends[0]
        past += np.maximum(column - places[-1], 0.0) * ends[1]
        out[:, j] = bend(inside) + past
    return np.asarray((out - out.mean(axis=0)) / out.std(axis=0))


def sources(raw: Array, rng: np.random.Generator) -> Array:
    """Directions of one side that are as independent of each other as can be.

    Fixed-point steps for the contrast log cosh, all directions at a time (Hyvärinen 1999).
    """
    z = _whitened(raw, np.arange(len(raw)), _FLAT)
    turn = _orthogonal(rng.normal(size=(z.shape[1], z.shape[1])))
    for _ in range(_TURNS):
        value = np.tanh(z @ turn.T)
        turn, before = (
            _orthogonal(value.T @ z / len(z) - np.diag((1 - value**2).mean(0)) @ turn),
            turn,
        )
        if np.abs(np.abs(np.einsum("ij,ij->i", turn, before)) - 1.0).max() < _SETTLED:
            break
    return np.asarray(z @ turn.T)


def _orthogonal(matrix: Array) -> Array:
    """The nearest orthogonal matrix."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)


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
