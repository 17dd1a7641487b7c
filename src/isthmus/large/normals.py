"""The log-ratio of two normals as one quadratic function of the rows, or a straight one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..anchors.elliptical import Component, noise_correction
from ..maps.shared import SharedMaps
from ..model.classes import ClassModel
from ..model.folded import Folded
from ..typing import Array

_ROWS, _SAME = 500, 1e-9


@dataclass(frozen=True)
class TwoNormals:
    """``D W D' + D b + c`` of rows D from which the centre was taken off.

    Attributes
    ----------
    centre : ndarray of shape (d,)
    square : ndarray of shape (d, d) or None
        None where both normals are of one shape.
    linear : ndarray of shape (d,)
    constant : float
    """

    centre: Array
    square: Array | None
    linear: Array
    constant: float

    @classmethod
    def of(cls, folded: Folded) -> TwoNormals | None:
        """None where the ratio is that of something else."""
        if len(folded.top) != 1 or len(folded.bottom) != 1 or folded.square is not None:
            return None
        p, q = folded.top[0], folded.bottom[0]
        if np.isfinite(p.df) or np.isfinite(q.df):
            return None
        centre = 0.5 * (p.mean + q.mean)
        (A, a, k), (B, b, m) = (_terms(one, centre) for one in (p, q))
        square = None if np.array_equal(A, B) else -0.5 * (A - B)
        return cls(centre, square, a - b, folded.constant + k - m)

    def __call__(self, X: Array) -> Array:
        """Log-ratio at rows, shape (n,)."""
        D = X - self.centre
        out = D @ self.linear
        if self.square is not None:
            out += np.einsum("ij,ij->i", D @ self.square, D)
        return out + self.constant


def _terms(one: Component, centre: Array) -> tuple[Array, Array, float]:
    """Of the log-density -(D A D')/2 + D b + c, but for what all normals have."""
    d = len(one.mean)
    factor = noise_correction(one.rows, d)[0]
    A = factor * one.whitening @ one.whitening.T
    off = one.mean - centre
    log_det = float(np.log(np.abs(np.diag(one.cholesky))).sum()) - 0.5 * d * np.log(factor)
    return A, A @ off, -0.5 * float(off @ A @ off) - log_det


def log_ratio_of(model: ClassModel, rows: Array) -> Callable[[Array], Array]:
    """The log-ratio of p and q by a model, in the quickest way that is the same at some rows."""
    folded = Folded.of(model, 0, 1)
    if folded is None:
        return model.log_ratio
    normals = TwoNormals.of(folded)
    if normals is not None:
        expected, found = folded(rows[:_ROWS]), normals(rows[:_ROWS])
        if np.all(np.abs(found - expected) <= _SAME * (1.0 + np.abs(expected))):
            return normals
    return folded


def shared_maps(models: Sequence[ClassModel]) -> SharedMaps | None:
    """The maps of columns that come before anything else in all of some models, if they do."""
    maps = models[0].offsets.where.maps
    same = all(one.offsets.where.maps is maps for one in models)
    # What is not anchors alone may look at the columns themselves.
    folds = maps is not None and all(Folded.of(unmapped(one), 0, 1) is not None for one in models)
    return maps if same and folds else None


def unmapped(model: ClassModel) -> ClassModel:
    """The same model of columns that are mapped already."""
    where = replace(model.offsets.where, maps=None)
    return replace(model, offsets=replace(model.offsets, where=where))
