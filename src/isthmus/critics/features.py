"""Critics that are given by their features alone, and the frames that these are measured in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..data.blocks import slices
from ..maps.affine import Frame
from ..typing import Array, Critic, PlacedCritic

PIECE_BYTES = 2_000_000
"""Bytes of features that are worked on at a time: few enough to stay in the cache."""


class FeatureCritic(BaseEstimator):
    """Critic h_c(x) = a_c + theta_c' phi_c(x) with features phi_c that a subclass gives.

    A subclass writes :meth:`basis`, and :meth:`prepare` if there is something to
    work out once the frames are known. The constant and everything else that the
    estimator asks for are here. Features should have about zero mean and unit
    variance under the normal of their class's frame, so that the penalty means
    the same for all of them.

    Attributes
    ----------
    frames_ : list of Frame
        Where the learned classes lie.
    dim_ : int
        Number of coordinates.
    n_features : int
        Number of features of a class, with the constant.
    n_parameters : int

    Examples
    --------
    A critic with absolute values, complete:

    >>> import numpy as np, isthmus
    >>> from isthmus.critics import FeatureCritic, Quadratic, Sum
    >>> class Absolute(FeatureCritic):
    ...     def basis(self, X):
    ...         return [np.abs((X - f.centre) @ f.whiten) - 0.8 for f in self.frames_]
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.laplace(size=2000), rng.normal(1, 1, 2000))
    >>> critic = Sum([Quadratic(), Absolute()])
    >>> mdre = isthmus.MDRE(critic=critic, maps=None, anchor="gaussian", l2=1.0)
    >>> mdre = mdre.set_params(random_state=0).fit(X, y)
    >>> mdre.log_ratio([[0.0], [1.0]]).round()  # truth: 0.7 and -0.8
    array([ 1., -1.])
    """

    coordinates: str = "canonical"
    covariance: str = "full"

    def basis(self, X: Array) -> Sequence[Array]:
        """Features of every learned class without the constant, each of shape (n, k)."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Work out what :meth:`basis` needs from ``frames_``; nothing by default."""

    def bind(self, frames: Sequence[Frame]) -> Self:
        """Return a copy that is tied to the frames of the learned classes."""
        bound = copy(self)
        bound.frames_ = list(frames)
        bound.dim_ = len(bound.frames_[0].centre)
        bound.prepare()
        bound.n_features = 1 + bound.basis(bound.frames_[0].centre[None])[0].shape[1]
        bound.n_parameters = bound.n_features * len(bound.frames_)
        return bound

    def expand(self, theta: Array) -> Any:
        """Parameters of each class in a row."""
        return theta.reshape(len(self.frames_), self.n_features)

    def values(self, raw: Any, X: Array) -> Array:
        """Critic of every learned class, shape (n, classes)."""
        out = np.empty((len(self.frames_), len(X))).T
        for rows in self._pieces(X):
            for c, phi in enumerate(self.basis(X[rows])):
                out[rows, c] = phi @ raw[c, 1:]
        out += raw[:, 0]
        return out

    def accumulator(self) -> Any:
        """Zero moments, to which :meth:`accumulate` adds."""
        return np.zeros((len(self.frames_), self.n_features))

    def accumulate(self, total: Any, R: Array, X: Array) -> None:
        """Add the moments ``sum_i R_ic phi_c(x_i)`` of a chunk of rows."""
        for rows in self._pieces(X):
            for c, phi in enumerate(self.basis(X[rows])):
                total[c, 1:] += R[rows, c] @ phi
        total[:, 0] += R.sum(axis=0)

    def contract(self, total: Any) -> Array:
        """Turn accumulated moments into a gradient: the transpose of :meth:`expand`."""
        return np.asarray(total.ravel())

    def features(self, X: Array) -> list[Array]:
        """Features of every learned class, each of shape (n, n_features)."""
        return [np.hstack([np.ones((len(X), 1)), phi]) for phi in self.basis(X)]

    def normal_start(self) -> Array:
        """Zero: which features make up a normal distribution is not known here."""
        return np.zeros(self.n_parameters)

    def _pieces(self, X: Array) -> Iterator[slice]:
        return slices(len(X), max(64, PIECE_BYTES // (8 * self.n_features)))


def placed(critic: Critic, rows: Sequence[Array], rng: np.random.Generator) -> Critic:
    """Show rows of every class to a critic that asks for them; see :meth:`Bumps.place`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.critics import Quadratic, placed
    >>> critic, rng = Quadratic(), np.random.default_rng(0)
    >>> placed(critic, [np.zeros((5, 2))], rng) is critic  # a quadratic asks for no rows
    True
    """
    return critic.place(rows, rng) if isinstance(critic, PlacedCritic) else critic
