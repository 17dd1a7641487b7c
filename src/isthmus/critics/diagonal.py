"""Quadratic critic without products of columns: 1 + 2 d parameters a class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..typing import Array
from .quadratic import Coefficients, Frame


class Diagonal(BaseEstimator):
    """Critic h_c(x) = sum_i w_ci x_i^2 + b_c' x + a_c, diagonal in the columns of the data.

    Parametrised in each class's own units by the coefficients of 1, z_i and
    (z_i^2 - 1) / sqrt(2); see :class:`Quadratic`. Exact where the columns are
    independent normals under p and under q.
    """

    coordinates = "columns"
    covariance = "diagonal"

    def bind(self, frames: Sequence[Frame]) -> Diagonal:
        """Return a copy that is tied to the frames of the learned classes."""
        bound: Diagonal = clone(self)
        bound.centre_ = np.array([frame.centre for frame in frames])
        bound.unit_ = np.array([np.diag(frame.whiten) for frame in frames])
        bound.dim_ = bound.centre_.shape[1]
        bound.n_features = 1 + 2 * bound.dim_
        bound.n_parameters = bound.n_features * len(bound.centre_)
        return bound

    def expand(self, theta: Array) -> Coefficients:
        """Coefficients of the quadratic functions about the class centres."""
        d = self.dim_
        part = theta.reshape(len(self.centre_), self.n_features)
        V = part[:, 1 + d :] / np.sqrt(2.0)
        b = part[:, 1 : 1 + d] * self.unit_
        return Coefficients(V * self.unit_**2, b, part[:, 0] - V.sum(axis=1))

    def values(self, raw: Coefficients, X: Array) -> Array:
        """Critic of every learned class, shape (n, classes)."""
        out = np.empty((len(self.centre_), len(X))).T
        for c, centre in enumerate(self.centre_):
            D = X - centre
            out[:, c] = np.einsum("ij,ij->i", D * raw.W[c] + raw.b[c], D)
        out += raw.a
        return out

    def accumulator(self) -> Coefficients:
        """Zero moments, to which :meth:`accumulate` adds."""
        return Coefficients(
            np.zeros(self.centre_.shape), np.zeros(self.centre_.shape), np.zeros(len(self.centre_))
        )

    def accumulate(self, total: Coefficients, R: Array, X: Array) -> None:
        """Add the moments ``sum_i R_ic (1, D_i, D_i^2)`` of a chunk of rows."""
        for c, centre in enumerate(self.centre_):
            D = X - centre
            total.b[c] += R[:, c] @ D
            total.W[c] += R[:, c] @ (D * D)
        total.a[:] += R.sum(axis=0)

    def contract(self, total: Coefficients) -> Array:
        """Turn accumulated moments into a gradient: the transpose of :meth:`expand`."""
        squares = (total.W * self.unit_**2 - total.a[:, None]) / np.sqrt(2.0)
        return np.hstack([total.a[:, None], total.b * self.unit_, squares]).ravel()

    def features(self, X: Array) -> list[Array]:
        """Features of every learned class, each of shape (n, n_features)."""
        out = []
        for centre, unit in zip(self.centre_, self.unit_, strict=True):
            Z = (X - centre) * unit
            out.append(np.hstack([np.ones((len(X), 1)), Z, (Z**2 - 1.0) / np.sqrt(2.0)]))
        return out

    def normal_start(self) -> Array:
        """Parameters at which every class is the normal distribution of its frame."""
        d = self.dim_
        out = np.zeros((len(self.centre_), self.n_features))
        out[:, 0] = np.log(self.unit_).sum(axis=1) - 0.5 * d * (1.0 + np.log(2 * np.pi))
        out[:, 1 + d :] = -1.0 / np.sqrt(2.0)
        return out.ravel()
