"""Affine maps that put two samples on one well-conditioned footing.

A bijection applied to both samples leaves p/q unchanged, so the estimator works
in coordinates where the pooled sample is white. They are *canonical*: an affine
map of the data does not change them, and neither does swapping p and q.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ..data.moments import clipped, column_moments, moments
from ..data.sample import TwoSamples
from ..data.telling import tell
from ..typing import Array, BoolArray

# Leaves room for the tails of auxiliaries, and for the inverse.
_LARGEST_SPAN = 1e280


@dataclass(frozen=True)
class AffineMap:
    """The map ``z = (x - centre) @ forward`` with ``x = centre + z @ backward``.

    Where the columns of x are linearly dependent z has fewer coordinates than
    x, and ``backward`` returns to the subspace that the samples lie in.
    """

    centre: Array  # Shape (d,).
    forward: Array  # Shape (d, r).
    backward: Array  # Shape (r, d).

    def __call__(self, X: Array) -> Array:
        return (X - self.centre) @ self.forward

    def inverse(self, Z: Array) -> Array:
        """Return to the coordinates of x."""
        return self.centre + Z @ self.backward

    @property
    def is_square(self) -> bool:
        """Whether z has as many coordinates as x: no column is constant or dependent."""
        rows, columns = self.forward.shape
        return bool(rows == columns)

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


@dataclass(frozen=True)
class Frame:
    """Where a class lies: ``z = (x - centre) @ whiten`` is about standard normal.

    ``whiten`` is upper triangular, so that the leading coordinates of z depend
    on the leading coordinates of x only.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.critics import Frame
    >>> frame = Frame(np.array([1.0, 2.0]), np.diag([0.5, 2.0]))
    >>> ((np.array([[3.0, 2.0]]) - frame.centre) @ frame.whiten).tolist()
    [[1.0, 0.0]]
    """

    centre: Array
    whiten: Array

    def standard(self, X: Array) -> Array:
        """The rows as z."""
        return (X - self.centre) @ self.whiten


def column_map(samples: TwoSamples, warn: bool = True) -> AffineMap:
    """Centre and scale every column, and nothing else; constant columns are left out.

    Warns of columns that are constant over both samples: they carry no
    information on p/q. An auxiliary does not, where the estimator has done so. Some rows of
    samples that vary may not: one constant column is then kept, on which p and q are alike.
    """
    # The largest deviation is divided out first: squares of 1e200 do not exist.
    p, q = samples.p.rows, samples.q.rows
    anchor = p[0]
    with np.errstate(over="ignore"):
        span = np.maximum(np.abs(p - anchor).max(axis=0), np.abs(q - anchor).max(axis=0))
    if not (span < _LARGEST_SPAN).all():
        raise ValueError(
            f"X must span less than {_LARGEST_SPAN} in every column; received "
            f"{p.min():.3g} to {p.max():.3g} in p and {q.min():.3g} to {q.max():.3g} in q."
        )
    varies = _more_than_rounding(span, anchor)
    if not varies.any():
        varies, warn = np.arange(len(span)) == 0, False
    if warn and not varies.all():
        constant = np.flatnonzero(~varies)
        shown = ", ".join(map(str, constant[:10])) + (", ..." if len(constant) > 10 else "")
        tell(
            f"{len(constant)} of {len(varies)} columns are constant over both samples and are "
            f"ignored (positions {shown}).",
            stacklevel=5,
        )
    unit = np.where(varies & (span > 0), span, 1.0)
    centred = samples.map(lambda x: (x - anchor) / unit)
    (mean_p, var_p), (mean_q, var_q) = (column_moments(sample) for sample in centred)
    spread = np.sqrt(0.5 * (var_p + var_q) + 0.25 * (mean_p - mean_q) ** 2)
    scale = np.where(spread > 0, spread, 1.0) * unit
    keep = np.eye(len(unit))[:, varies]
    return AffineMap(
        centre=anchor + 0.5 * (mean_p + mean_q) * unit,
        forward=keep / scale[:, None],
        backward=(keep * scale[:, None]).T,
    )


def check_varies(samples: TwoSamples) -> None:
    """Refuse samples that are one row given many times, of which no ratio can be said."""
    p, q = samples.p.rows, samples.q.rows
    anchor = p[0]
    with np.errstate(over="ignore", invalid="ignore"):
        span = np.fmax(*(np.nanmax(np.abs(rows - anchor), axis=0, initial=0.0) for rows in (p, q)))
        if np.isnan(p).any() or np.isnan(q).any() or _more_than_rounding(span, anchor).any():
            return
    if (span > 0).any():
        raise ValueError(
            f"X must vary by more than rounding and {1.0 / _LARGEST_SPAN:g} in at least one "
            f"column; received columns that span {span.max():.3g} at most."
        )
    raise ValueError(
        "X must vary in at least one column; received the same row throughout p and q."
    )


def _more_than_rounding(span: Array, at: Array) -> BoolArray:
    """Columns that vary by more than the rounding of numbers of their size."""
    least = np.maximum(8.0 * np.finfo(float).eps * np.abs(at), 1.0 / _LARGEST_SPAN)
    return np.asarray(span > least)


def canonical_map(samples: TwoSamples, warn: bool = True) -> AffineMap:
    """Whiten the pooled sample and turn to the axes on which p and q differ most in variance.

    The axes diagonalise the two covariances at once, in the order of the
    absolute difference of the variances, and point in the direction of positive
    skewness of the pooled sample. All of that is unchanged by an affine map of
    the data and by swapping p and q, and so is every random draw made in these
    coordinates.
    """
    columns = column_map(samples, warn)
    p, q = (clipped(sample) for sample in samples.map(columns))
    of_p, of_q = moments(p), moments(q)
    mean_p, cov_p, mean_q, cov_q = of_p.mean, of_p.covariance, of_q.mean, of_q.covariance
    gap = mean_p - mean_q
    eigenvalues, axes = np.linalg.eigh(0.5 * (cov_p + cov_q) + 0.25 * np.outer(gap, gap))
    kept = eigenvalues > 32 * len(gap) * np.finfo(float).eps * eigenvalues[-1]
    if not kept.any():  # rows that are all alike
        eigenvalues, kept = np.ones(len(gap)), np.arange(len(gap)) == 0
    if warn and not kept.all():
        tell(
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
    turned = (sample.map(lambda x: (x - centre) @ whiten) for sample in (p, q))
    skewness = sum(sample.mean(sample.rows * sample.rows * sample.rows) for sample in turned)
    # Without skewness to rounding, a fixed rule decides here as well.
    tilt = np.where(np.abs(skewness) > 1e-9, skewness, colour @ np.arange(1, len(gap) + 1))
    sign = np.where(tilt < 0, -1.0, 1.0)
    return AffineMap(
        centre=columns.inverse(centre),
        forward=columns.forward @ (whiten * sign),
        backward=(colour * sign[:, None]) @ columns.backward,
    )


def _ties(values: Array) -> list[slice]:
    """Runs of sorted values that are equal to rounding."""
    edges = np.flatnonzero(np.diff(values) > 1e-9 * np.abs(values).max()) + 1
    bounds = [0, *edges.tolist(), len(values)]
    return [slice(a, b) for a, b in itertools.pairwise(bounds) if b - a > 1]
