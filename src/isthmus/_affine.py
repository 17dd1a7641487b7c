"""Affine maps that put two samples on one well-conditioned footing.

A bijection applied to both samples leaves p/q unchanged, so the estimator works
in coordinates where the pooled sample is white. They are *canonical*: an affine
map of the data does not change them, and neither does swapping p and q.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass

import numpy as np

from ._typing import Array

_CLIP_QUANTILE = 0.005
_CLIP_FACTOR = 3.0
_HARMLESS = 6.0
# Leaves room for the tails of auxiliaries, and for the inverse.
_LARGEST_SPAN = 1e280


@dataclass(frozen=True)
class AffineMap:
    """The map ``z = (x - centre) @ forward`` with ``x = centre + z @ backward``.

    Where the columns of x are linearly dependent z has fewer coordinates than
    x, and ``backward`` returns to the subspace that the samples lie in.

    Attributes
    ----------
    centre : ndarray of shape (d,)
    forward : ndarray of shape (d, r)
    backward : ndarray of shape (r, d)
    """

    centre: Array
    forward: Array
    backward: Array

    def __call__(self, X: Array) -> Array:
        return (X - self.centre) @ self.forward

    def inverse(self, Z: Array) -> Array:
        """Return to the coordinates of x."""
        return self.centre + Z @ self.backward

    @property
    def log_det(self) -> float:
        """Log of the volume change |dz/dx| on the subspace of the samples."""
        forward = self.forward[self.forward.any(axis=1)]
        unit = np.ones(len(forward))
        if forward.shape[0] == forward.shape[1]:
            # Singular values are exact relative to the largest only: columns of 1e8 and of
            # 1e-8 would spoil them, so that the units are taken out first.
            unit = np.abs(forward).max(axis=1)
        values = np.linalg.svd(forward / unit[:, None], compute_uv=False)
        return float(np.log(values).sum() + np.log(unit).sum())


def clipped(X: Array, weight: Array | None = None) -> Array:
    """Pull far outliers in, so that moments of a heavy-tailed sample exist.

    The limits lie at three times the distance of the 0.5 % and 99.5 %
    quantiles from the median: some eight standard deviations of a normal
    sample. Rows within six standard deviations of the mean do no harm, and a
    sample without any beyond them is returned unchanged.
    """
    mean = np.average(X, axis=0, weights=weight)
    reach = np.maximum(X.max(axis=0) - mean, mean - X.min(axis=0))
    if np.all(reach <= _HARMLESS * np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))):
        return X
    levels = [_CLIP_QUANTILE, 0.5, 1.0 - _CLIP_QUANTILE]
    low, middle, high = np.quantile(X, levels, axis=0, method="inverted_cdf", weights=weight)
    # A column that is nearly constant has no spread to judge outliers by.
    low = np.where(low < middle, middle - _CLIP_FACTOR * (middle - low), -np.inf)
    high = np.where(high > middle, middle + _CLIP_FACTOR * (high - middle), np.inf)
    if np.all(X >= low) and np.all(X <= high):
        return X
    return np.asarray(np.clip(X, low, high))


def represented(weight: Array) -> int:
    """Number of rows that a weighted sample stands for, within sensible limits.

    Whole weights count rows given several times. Weights on another scale, such
    as shares that add up to one, count at least as their rows do.
    """
    return int(np.clip(round(float(weight.sum())), len(weight), 10 * len(weight)))


def shares(rows: Array, weight: Array | None) -> Array:
    """What part of a sample every row is; the parts add up to one.

    Examples
    --------
    >>> import numpy as np
    >>> shares(np.zeros((4, 2)), None).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return np.full(len(rows), 1.0 / len(rows)) if weight is None else weight / weight.sum()


def moments(X: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Mean and covariance (maximum likelihood) of a weighted sample."""
    share = shares(X, weight)
    mean = share @ X
    D = X - mean
    return mean, (D * share[:, None]).T @ D


def column_map(
    p: Array,
    q: Array,
    weight_p: Array | None = None,
    weight_q: Array | None = None,
    warn: bool = True,
) -> AffineMap:
    """Centre and scale every column, and nothing else; constant columns are left out.

    Warns of columns that are constant over both samples: they carry no
    information on p/q. An auxiliary does not, where the estimator has done so.
    """
    # The largest deviation is divided out first: squares of 1e200 do not exist.
    anchor = p[0]
    with np.errstate(over="ignore"):
        span = np.maximum(np.abs(p - anchor).max(axis=0), np.abs(q - anchor).max(axis=0))
    if not (span < _LARGEST_SPAN).all():
        raise ValueError(
            f"X must span less than {_LARGEST_SPAN} in every column; received "
            f"{p.min():.3g} to {p.max():.3g} in p and {q.min():.3g} to {q.max():.3g} in q."
        )
    varies = span > np.maximum(1e-14 * np.abs(anchor), 1.0 / _LARGEST_SPAN)
    if not varies.any():
        raise ValueError(
            "X must vary in at least one column; received the same row throughout p and q."
        )
    if warn and not varies.all():
        constant = np.flatnonzero(~varies)
        warnings.warn(
            f"{len(constant)} of {len(varies)} columns are constant over both samples and are "
            f"ignored (positions {_shortlist(constant)}).",
            stacklevel=5,
        )
    unit = np.where(varies, span, 1.0)
    mean_p, cov_p = _column_moments((p - anchor) / unit, weight_p)
    mean_q, cov_q = _column_moments((q - anchor) / unit, weight_q)
    spread = np.sqrt(0.5 * (cov_p + cov_q) + 0.25 * (mean_p - mean_q) ** 2)
    scale = np.where(spread > 0, spread, 1.0) * unit
    keep = np.eye(len(unit))[:, varies]
    return AffineMap(
        centre=anchor + 0.5 * (mean_p + mean_q) * unit,
        forward=keep / scale[:, None],
        backward=(keep * scale[:, None]).T,
    )


def canonical_map(
    p: Array,
    q: Array,
    weight_p: Array | None = None,
    weight_q: Array | None = None,
    warn: bool = True,
) -> AffineMap:
    """Whiten the pooled sample and turn to the axes on which p and q differ most in variance.

    The axes diagonalise the two covariances at once, in the order of the
    absolute difference of the variances, and point in the direction of positive
    skewness of the pooled sample. All of that is unchanged by an affine map of
    the data and by swapping p and q, and so is every random draw made in these
    coordinates.
    """
    columns = column_map(p, q, weight_p, weight_q, warn)
    p, q = clipped(columns(p), weight_p), clipped(columns(q), weight_q)
    mean_p, cov_p = moments(p, weight_p)
    mean_q, cov_q = moments(q, weight_q)
    gap = mean_p - mean_q
    eigenvalues, axes = np.linalg.eigh(0.5 * (cov_p + cov_q) + 0.25 * np.outer(gap, gap))
    kept = eigenvalues > 32 * len(gap) * np.finfo(float).eps * eigenvalues[-1]
    if warn and not kept.all():
        warnings.warn(
            f"The columns are linearly dependent: {len(gap)} columns span {kept.sum()} "
            "directions. The ratio is estimated on those directions.",
            stacklevel=4,
        )
    root = np.sqrt(eigenvalues[kept])
    whiten, colour = axes[:, kept] / root, (axes[:, kept] * root).T
    centre = 0.5 * (mean_p + mean_q)
    difference, turn = np.linalg.eigh(whiten.T @ (cov_p - cov_q) @ whiten)
    whiten, colour = whiten @ turn, turn.T @ colour
    for group in _ties(difference):
        # Fewer rows than columns leave directions alike; any fixed rule will do for them.
        turn = np.linalg.eigh((colour[group] * np.arange(1, len(gap) + 1)) @ colour[group].T)[1]
        whiten[:, group], colour[group] = whiten[:, group] @ turn, turn.T @ colour[group]
    order = np.argsort(-np.abs(difference).round(9), kind="stable")
    whiten, colour = whiten[:, order], colour[order]
    skewness = _third_moment((p - centre) @ whiten, weight_p) + _third_moment(
        (q - centre) @ whiten, weight_q
    )
    # Without skewness to rounding, a fixed rule decides here as well.
    tilt = np.where(np.abs(skewness) > 1e-9, skewness, colour @ np.arange(1, len(gap) + 1))
    sign = np.where(tilt < 0, -1.0, 1.0)
    return AffineMap(
        centre=columns.inverse(centre),
        forward=columns.forward @ (whiten * sign),
        backward=(colour * sign[:, None]) @ columns.backward,
    )


def _column_moments(X: Array, weight: Array | None) -> tuple[Array, Array]:
    X = clipped(X, weight)
    mean = np.average(X, axis=0, weights=weight)
    return mean, np.average((X - mean) ** 2, axis=0, weights=weight)


def _ties(values: Array) -> list[slice]:
    """Runs of sorted values that are equal to rounding."""
    edges = np.flatnonzero(np.diff(values) > 1e-9 * np.abs(values).max()) + 1
    bounds = [0, *edges.tolist(), len(values)]
    return [slice(a, b) for a, b in itertools.pairwise(bounds) if b - a > 1]


def _third_moment(Z: Array, weight: Array | None) -> Array:
    return np.asarray(np.average(Z * Z * Z, axis=0, weights=weight))


def _shortlist(positions: np.ndarray) -> str:
    shown = ", ".join(str(i) for i in positions[:10])
    return shown + (", ..." if len(positions) > 10 else "")
