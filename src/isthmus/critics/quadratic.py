"""The paper's critic: one quadratic function per learned class.

Each class is parametrised in its own frame z, in which it is roughly a standard normal, by the
coefficients of 1, z_i, (z_i^2 - 1) / sqrt(2) and z_i z_j (i < j). Under a standard normal these
are orthonormal: the problem is well conditioned however far apart and however unequal in width
the classes are, and a penalty on the coefficients means the same thing in any units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.validation import check_number
from ..typing import Array
from .features import FeatureCritic

# Distance from the origin, in units of the class, beyond which it gets an origin of its own.
_FAR = 1e5


class Coefficients(NamedTuple):
    """Coefficients of the quadratic functions, or the moments that are dual to them."""

    W: Array  # Shape (classes, k, k), or (classes, k) for diagonal matrices.
    b: Array  # Shape (classes, d).
    a: Array  # Shape (classes,).


class Quadratic(FeatureCritic):
    """Critic h_c(x) = x' W_c x + b_c' x + a_c with a symmetric W_c, of full or of low rank.

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

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.critics import Quadratic
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, (500, 3)), rng.normal(0, 2, (500, 3)))
    >>> mdre = isthmus.MDRE(
    ...     critic=Quadratic(), maps=None, anchor="gaussian", l2=1.0, random_state=0
    ... )
    >>> bool(mdre.fit(X, y).log_ratio([[0.0, 0.0, 0.0]])[0] > 1)  # the truth is 3 log 2 = 2.08
    True
    """

    def __init__(self, rank: int | None = None) -> None:
        self.rank = rank

    def prepare(self) -> None:
        """Check the rank, and find the origin of every class's quadratic."""
        if self.rank is not None:
            check_number(self.rank, "rank", low=1, integer=True)
        # About the shared origin, W and b of a class that is very narrow for its
        # distance from there would cancel to rounding; it gets an origin of its own.
        self.origin_ = [
            frame.centre if np.linalg.norm(frame.centre @ frame.whiten) > _FAR else None
            for frame in self.frames_
        ]
        self.width_ = min(self.rank or self.dim_, self.dim_)
        self.upper_ = np.triu_indices(self.width_, k=1)

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

    def parameters_of(self, raw: Coefficients) -> Array:
        """Parameters that stand for given coefficients: the inverse of :meth:`expand`."""
        d, k = self.dim_, self.width_
        out = np.empty((len(self.frames_), self.n_features))
        for c, (frame, part) in enumerate(zip(self.frames_, out, strict=True)):
            W, b, a = raw.W[c], raw.b[c], raw.a[c]
            if self.origin_[c] is None:
                m = frame.centre
                a = a + m[:k] @ W @ m[:k] + m @ b
                b = b.copy()
                b[:k] += 2.0 * W @ m[:k]
            back = np.linalg.inv(frame.whiten[:k, :k])
            V = back @ W @ back.T
            part[0] = a + np.trace(V)
            part[1 : 1 + d] = np.linalg.solve(frame.whiten, b)
            part[1 + d : 1 + d + k] = np.sqrt(2.0) * np.diag(V)
            part[1 + d + k :] = 2.0 * V[self.upper_]
        return out.ravel()

    def values(self, raw: Coefficients, X: Array) -> Array:
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

    def basis(self, X: Array) -> list[Array]:
        """Coordinates in the frame, their squares, and their products in pairs."""
        return [phi[:, 1:] for phi in self.features(X)]

    def features(self, X: Array) -> list[Array]:
        d, k = self.dim_, self.width_
        out = []
        for frame in self.frames_:
            phi = np.empty((1 + d + k + len(self.upper_[0]), len(X))).T
            phi[:, 0] = 1.0
            Z = frame.standard(X)
            phi[:, 1 : 1 + d] = Z
            phi[:, 1 + d : 1 + d + k] = (Z[:, :k] ** 2 - 1.0) / np.sqrt(2.0)
            begin = 1 + d + k
            for i in range(k - 1):
                end = begin + k - 1 - i
                np.multiply(Z[:, i : i + 1], Z[:, i + 1 : k], out=phi[:, begin:end])
                begin = end
            out.append(phi)
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


class Diagonal(FeatureCritic):
    """Critic h_c(x) = sum_i w_ci x_i^2 + b_c' x + a_c, diagonal in the columns of the data.

    Parametrised in each class's own units by the coefficients of 1, z_i and
    (z_i^2 - 1) / sqrt(2); see :class:`Quadratic`. Exact where the columns are
    independent normals under p and under q.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.critics import Diagonal
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, (500, 3)), rng.normal(0, 2, (500, 3)))
    >>> mdre = isthmus.MDRE(critic=Diagonal(), maps=None, anchor="gaussian", l2=1.0, random_state=0)
    >>> bool(mdre.fit(X, y).log_ratio([[0.0, 0.0, 0.0]])[0] > 1)  # the truth is 3 log 2 = 2.08
    True
    """

    coordinates = "columns"
    covariance = "diagonal"

    def prepare(self) -> None:
        """Centres and units of the classes."""
        self.centre_ = np.array([frame.centre for frame in self.frames_])
        self.unit_ = np.array([np.diag(frame.whiten) for frame in self.frames_])

    def basis(self, X: Array) -> list[Array]:
        """Standardised columns, and their squares."""
        scaled = [(X - m) * unit for m, unit in zip(self.centre_, self.unit_, strict=True)]
        return [np.hstack([Z, (Z**2 - 1.0) / np.sqrt(2.0)]) for Z in scaled]

    def expand(self, theta: Array) -> Coefficients:
        """Coefficients of the quadratic functions about the class centres."""
        d = self.dim_
        part = theta.reshape(len(self.centre_), self.n_features)
        V = part[:, 1 + d :] / np.sqrt(2.0)
        b = part[:, 1 : 1 + d] * self.unit_
        return Coefficients(V * self.unit_**2, b, part[:, 0] - V.sum(axis=1))

    def values(self, raw: Coefficients, X: Array) -> Array:
        out = np.empty((len(self.centre_), len(X))).T
        for c, centre in enumerate(self.centre_):
            D = X - centre
            out[:, c] = np.einsum("ij,ij->i", D * raw.W[c] + raw.b[c], D)
        out += raw.a
        return out

    def accumulator(self) -> Coefficients:
        shape = self.centre_.shape
        return Coefficients(np.zeros(shape), np.zeros(shape), np.zeros(shape[0]))

    def accumulate(self, total: Coefficients, R: Array, X: Array) -> None:
        """Add the moments ``sum_i R_ic (1, D_i, D_i^2)`` of a chunk of rows."""
        for c, centre in enumerate(self.centre_):
            D = X - centre
            total.b[c] += R[:, c] @ D
            total.W[c] += R[:, c] @ (D * D)
        total.a[:] += R.sum(axis=0)

    def contract(self, total: Coefficients) -> Array:
        squares = (total.W * self.unit_**2 - total.a[:, None]) / np.sqrt(2.0)
        return np.hstack([total.a[:, None], total.b * self.unit_, squares]).ravel()

    def normal_start(self) -> Array:
        """Parameters at which every class is the normal distribution of its frame."""
        d = self.dim_
        out = np.zeros((len(self.centre_), self.n_features))
        out[:, 0] = np.log(self.unit_).sum(axis=1) - 0.5 * d * (1.0 + np.log(2 * np.pi))
        out[:, 1 + d :] = -1.0 / np.sqrt(2.0)
        return out.ravel()
