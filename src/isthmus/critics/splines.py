"""Splines of single coordinates: what the quadratic lacks along each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..data.blocks import slices
from ..data.validation import check_number, check_option
from ..typing import Array, IntArray
from .features import FeatureCritic

_REACH = 2.5
_END = 10.0
_INTERVALS = 100
PIECE_VALUES = 32_768
"""Values that are looked up at a time."""


class Tables(NamedTuple):
    """Functions of every coordinate at the points of the grid, or the moments dual to them."""

    level: Array  # Shape (classes, d * points), at the left end of each interval.
    slope: Array  # The same.
    constant: Array  # Shape (classes,).


class Splines(FeatureCritic):
    """Natural cubic splines of each coordinate, in the units of each class.

    A coordinate in the units of a class, u = (x_j - centre_j) / sd_j, is about a
    standard normal for that class. Its ``n_basis`` features are splines with
    knots on [-2.5, 2.5], straight lines from there to -10 and 10 and constants
    outside, and orthonormal to each other and to 1, u and u^2 under the standard
    normal. They add what the quadratic
    lacks, such as skewness, bounds and several modes of single columns, and are
    meant for a :class:`Sum` with a quadratic critic.

    Parameters
    ----------
    n_basis : int, default 8
        Number of features for each coordinate. The time taken does not depend on
        it.
    coordinates : {"columns", "canonical"}, default "columns"
        Whether splines run along the columns of the data, or along the axes on
        which p and q differ most.

    Notes
    -----
    The splines are tabulated on a fine grid and straight lines in between. A
    critic's functions of all coordinates are then two tables, and a chunk of rows
    costs two look-ups for each of its values, however many features there are.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.critics import Quadratic, Splines, Sum
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.beta(2, 5, 4000), rng.beta(5, 2, 4000))
    >>> critic = Sum([Quadratic(), Splines()])
    >>> mdre = isthmus.MDRE(critic=critic, anchor="gaussian", l2=1.0, random_state=0)
    >>> mdre.fit(X, y).log_ratio([[0.2], [0.8]]).round()  # truth: 4.2 and -4.2
    array([ 4., -4.])
    """

    def __init__(self, n_basis: int = 8, coordinates: str = "columns") -> None:
        self.n_basis = n_basis
        self.coordinates = coordinates

    def prepare(self) -> None:
        """Tabulate the splines, and find the units of each coordinate."""
        check_number(self.n_basis, "n_basis", low=1, high=_INTERVALS // 2, integer=True)
        check_option(self.coordinates, "coordinates", ["columns", "canonical"])
        self.table_ = _orthonormal_splines(self.n_basis)
        self.low_ = np.empty((len(self.frames_), self.dim_))
        self.step_ = np.empty_like(self.low_)
        for c, frame in enumerate(self.frames_):
            sd = np.linalg.norm(np.linalg.inv(frame.whiten), axis=0)
            self.low_[c] = frame.centre - _REACH * sd
            self.step_[c] = 2.0 * _REACH * sd / _INTERVALS

    def basis(self, X: Array) -> list[Array]:
        """Features of every learned class, coordinate by coordinate."""
        out = []
        for low, step in zip(self.low_, self.step_, strict=True):
            left, part = _locate(X, low, step)
            out.append(_look_up(self.table_, left, part).reshape(len(X), -1))
        return out

    def expand(self, theta: Array) -> Tables:
        """Tables of the functions that the parameters stand for."""
        classes = len(self.frames_)
        parts = theta.reshape(classes, self.n_features)
        level = parts[:, 1:].reshape(classes, self.dim_, self.n_basis) @ self.table_.T
        slope = np.diff(level, axis=2, append=0.0)
        return Tables(level.reshape(classes, -1), slope.reshape(classes, -1), parts[:, 0])

    def values(self, raw: Tables, X: Array) -> Array:
        out = np.empty((len(self.frames_), len(X))).T
        for c, rows, place, part in self._places(X):
            out[rows, c] = raw.level[c].take(place).sum(axis=1)
            out[rows, c] += np.einsum("ij,ij->i", raw.slope[c].take(place), part)
        out += raw.constant
        return out

    def accumulator(self) -> Tables:
        shape = (len(self.frames_), self.dim_ * len(self.table_))
        return Tables(np.zeros(shape), np.zeros(shape), np.zeros(len(self.frames_)))

    def accumulate(self, total: Tables, R: Array, X: Array) -> None:
        """Add the moments of a chunk of rows, interval by interval."""
        size = total.level.shape[1]
        for c, rows, place, part in self._places(X):
            weight = np.broadcast_to(R[rows, c, None], part.shape)
            total.level[c] += np.bincount(place.ravel(), weight.ravel(), size)
            total.slope[c] += np.bincount(place.ravel(), (part * weight).ravel(), size)
        total.constant[:] += R.sum(axis=0)

    def contract(self, total: Tables) -> Array:
        shape = (len(self.frames_), self.dim_, len(self.table_))
        slope = total.slope.reshape(shape)
        level = total.level.reshape(shape) - slope
        level[:, :, 1:] += slope[:, :, :-1]
        gradient = (level @ self.table_).reshape(len(self.frames_), -1)
        return np.hstack([total.constant[:, None], gradient]).ravel()

    def _places(self, X: Array) -> Iterator[tuple[int, slice, IntArray, Array]]:
        """Class, rows, and for each of their values its place in the tables and past it."""
        first = len(self.table_) * np.arange(self.dim_)
        for rows in slices(len(X), max(1, PIECE_VALUES // self.dim_)):
            for c, (low, step) in enumerate(zip(self.low_, self.step_, strict=True)):
                left, part = _locate(X[rows], low, step)
                left += first
                yield c, rows, left, part


def _locate(X: Array, low: Array | float, step: Array | float) -> tuple[IntArray, Array]:
    """Interval of each value, the outermost for those beyond, and the part of it passed."""
    part = (X - low) / step
    # Rows further out than a class's own ever are would have all the leverage.
    beyond = _INTERVALS * (_END / _REACH - 1.0) / 2.0
    np.clip(part, -beyond, _INTERVALS + beyond, out=part)
    left = np.clip(part, 0, _INTERVALS - 1).astype(np.intp)
    part -= left
    return left, part


def _look_up(table: Array, left: IntArray, part: Array) -> Array:
    return table[left] + part[..., None] * (table[left + 1] - table[left])


def _orthonormal_splines(count: int) -> Array:
    """Splines at the points of the grid, shape (_INTERVALS + 1, count)."""
    from scipy.interpolate import CubicSpline

    # Three more than are wanted: what is orthogonal to 1, u and u^2 remains.
    knots = np.linspace(-_REACH, _REACH, count + 3)
    grid = np.linspace(-_REACH, _REACH, _INTERVALS + 1)
    table = CubicSpline(knots, np.eye(count + 3), bc_type="natural")(grid)

    u = np.linspace(-10.0, 10.0, 20_001)
    root = np.exp(-0.25 * u**2)[:, None]
    root /= np.linalg.norm(root)
    functions = root * _look_up(table, *_locate(u, -_REACH, 2.0 * _REACH / _INTERVALS))
    quadratic = root * np.stack([np.ones_like(u), u, u**2], axis=1)
    kept = np.linalg.qr(functions.T @ quadratic, mode="complete")[0][:, 3:]
    triangle = np.linalg.qr(functions @ kept)[1]
    return np.asarray(table @ kept @ np.linalg.inv(triangle))
