"""The paper's critic: one quadratic function per learned class.

    h_c(x) = x' W_c x + b_c' x + a_c,   W_c symmetric.

Each class is parametrised in its own frame z = (x - centre_c) @ whiten_c, in
which that class is roughly a standard normal, by the coefficients of

    1,  z_i,  (z_i^2 - 1) / sqrt(2),  z_i z_j  (i < j).

Under a standard normal these have mean zero and unit variance and are
uncorrelated, so that the problem is well conditioned however far apart and
however unequal in width the classes are, and a penalty on the coefficients
means the same thing in any units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..data.validation import check_number
from ..typing import Array

_FAR = 1e5


@dataclass(frozen=True)
class Frame:
    """Where a class lies: ``z = (x - centre) @ whiten`` is about standard normal.

    ``whiten`` is upper triangular, so that the leading coordinates of z depend
    on the leading coordinates of x only.
    """

    centre: Array
    whiten: Array


class Coefficients(NamedTuple):
    """Coefficients of the quadratic functions, or the moments that are dual to them.

    ``W`` has shape (classes, k, k), or (classes, k) for diagonal matrices; ``b``
    has shape (classes, d) and ``a`` (classes,).
    """

    W: Array
    b: Array
    a: Array


class Quadratic(BaseEstimator):
    """Quadratic critic with a free symmetric matrix, of full or of low rank.

    Parameters
    ----------
    rank : int, optional
        Rank of the matrices W_c. By default they are of full rank. A low rank
        keeps the quadratic part to the ``rank`` directions on which the
        variances of p and q differ most, and the linear part in all of them; the
        problem stays convex, with 1 + d + rank (rank + 1) / 2 parameters a class.

    Notes
    -----
    The quadratic form is evaluated as ``((X @ W) * X).sum(axis=1)``: the d^2
    products of coordinates are never stored, except by :meth:`features`, which
    the exact Newton solver asks for in chunks when there are few of them.
    """

    coordinates = "canonical"
    covariance = "full"

    def __init__(self, rank: int | None = None) -> None:
        self.rank = rank

    def bind(self, frames: Sequence[Frame]) -> Quadratic:
        """Return a copy that is tied to the frames of the learned classes."""
        if self.rank is not None:
            check_number(self.rank, "rank", low=1, integer=True)
        bound: Quadratic = clone(self)
        bound.frames_ = list(frames)
        bound.dim_ = len(bound.frames_[0].centre)
        # About the shared origin, W and b of a class that is very narrow for its
        # distance from there would cancel to rounding; it gets an origin of its own.
        distance = [np.linalg.norm(frame.centre @ frame.whiten) for frame in bound.frames_]
        bound.origin_ = [
            frame.centre if far > _FAR else None
            for frame, far in zip(bound.frames_, distance, strict=True)
        ]
        bound.width_ = min(self.rank or bound.dim_, bound.dim_)
        bound.upper_ = np.triu_indices(bound.width_, k=1)
        bound.n_features = 1 + bound.dim_ + bound.width_ + len(bound.upper_[0])
        bound.n_parameters = bound.n_features * len(bound.frames_)
        return bound

    def expand(self, theta: Array) -> Coefficients:
        """Coefficients of the quadratic functions that the parameters stand for."""
        d, k = self.dim_, self.width_
        out = self.accumulator()
        parts = theta.reshape(len(self.frames_), self.n_features)
        for c, (frame, part) in enumerate(zip(self.frames_, parts, strict=True)):
            V = np.zeros((k, k))
            V[self.upper_] = 0.5 * part[1 + d + k :]
            V += V.T
            V[np.diag_indices(k)] = part[1 + d : 1 + d + k] / np.sqrt(2.0)
            W = frame.whiten[:k, :k] @ V @ frame.whiten[:k, :k].T
            b = frame.whiten @ part[1 : 1 + d]
            out.W[c], out.b[c], out.a[c] = W, b, part[0] - np.trace(V)
            if self.origin_[c] is None:
                m = frame.centre
                out.a[c] += m[:k] @ W @ m[:k] - m @ b
                out.b[c, :k] -= 2.0 * W @ m[:k]
        return out

    def values(self, raw: Coefficients, X: Array) -> Array:
        """Critic of every learned class, shape (n, classes)."""
        k = self.width_
        out = np.empty((len(self.frames_), len(X))).T
        for c in range(len(self.frames_)):
            D = self._about_origin(X, c)
            head = D[:, :k]
            np.einsum("ij,ij->i", head @ raw.W[c], head, out=out[:, c])
            out[:, c] += D @ raw.b[c]
        out += raw.a
        return out

    def accumulator(self) -> Coefficients:
        """Zero moments, to which :meth:`accumulate` adds."""
        classes, d, k = len(self.frames_), self.dim_, self.width_
        return Coefficients(np.zeros((classes, k, k)), np.zeros((classes, d)), np.zeros(classes))

    def accumulate(self, total: Coefficients, R: Array, X: Array) -> None:
        """Add the moments ``sum_i R_ic (1, x_i, x_i x_i')`` of a chunk of rows."""
        k = self.width_
        for c in range(len(self.frames_)):
            D = self._about_origin(X, c)
            r = R[:, c]
            total.b[c] += r @ D
            head = D[:, :k]
            total.W[c] += head.T @ (head * r[:, None])
        total.a[:] += R.sum(axis=0)

    def contract(self, total: Coefficients) -> Array:
        """Turn accumulated moments into a gradient: the transpose of :meth:`expand`."""
        d, k = self.dim_, self.width_
        out = np.empty((len(self.frames_), self.n_features))
        for c, frame in enumerate(self.frames_):
            second, first = total.W[c], total.b[c]
            if self.origin_[c] is None:
                m = frame.centre
                cross = np.outer(m[:k], first[:k])
                second = second - cross - cross.T + total.a[c] * np.outer(m[:k], m[:k])
                first = first - total.a[c] * m
            M = frame.whiten[:k, :k].T @ second @ frame.whiten[:k, :k]
            out[c, 0] = total.a[c]
            out[c, 1 : 1 + d] = first @ frame.whiten
            out[c, 1 + d : 1 + d + k] = (np.diag(M) - total.a[c]) / np.sqrt(2.0)
            out[c, 1 + d + k :] = M[self.upper_]
        return out.ravel()

    def features(self, X: Array) -> list[Array]:
        """Features of every learned class, each of shape (n, n_features)."""
        d, k = self.dim_, self.width_
        out = []
        for frame in self.frames_:
            features = np.empty((self.n_features, len(X))).T
            features[:, 0] = 1.0
            Z = (X - frame.centre) @ frame.whiten
            features[:, 1 : 1 + d] = Z
            features[:, 1 + d : 1 + d + k] = (Z[:, :k] ** 2 - 1.0) / np.sqrt(2.0)
            begin = 1 + d + k
            for i in range(k - 1):
                end = begin + k - 1 - i
                np.multiply(Z[:, i : i + 1], Z[:, i + 1 : k], out=features[:, begin:end])
                begin = end
            out.append(features)
        return out

    def normal_start(self) -> Array:
        """Parameters at which every class is the normal distribution of its frame."""
        d, k = self.dim_, self.width_
        out = np.zeros((len(self.frames_), self.n_features))
        for c, frame in enumerate(self.frames_):
            log_det = np.linalg.slogdet(frame.whiten)[1]
            out[c, 0] = log_det - 0.5 * d * (1.0 + np.log(2 * np.pi))
        out[:, 1 + d : 1 + d + k] = -1.0 / np.sqrt(2.0)
        return out.ravel()

    def _about_origin(self, X: Array, c: int) -> Array:
        origin = self.origin_[c]
        return X if origin is None else X - origin
