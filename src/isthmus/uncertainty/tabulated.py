"""The same objective with its features written out: fast where parameters are few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.blocks import MemoryBlocks, rows_at_a_time, slices
from ..model.objective import Objective, Point
from ..typing import Array

# Features that are computed once must fit into memory beside the rows.
_MOST_BYTES = 128_000_000
# Logits of a chunk of rows that stay in the processor's cache.
_CHUNK_BYTES = 200_000


class Table:
    """A linear critic whose "rows" are its features already, class beside class.

    It has the methods of :class:`~isthmus.typing.LinearCritic`; the parameters are
    those of the critic that the features come from.

    Parameters
    ----------
    classes, n_features : int
        Number of learned classes, and of features of each.
    """

    def __init__(self, classes: int, n_features: int) -> None:
        self.n_features, self.n_parameters = n_features, classes * n_features
        self.blocks = [slice(c * n_features, (c + 1) * n_features) for c in range(classes)]

    def expand(self, theta: Array) -> Array:
        """Parameters of each class in a row."""
        return theta.reshape(len(self.blocks), self.n_features)

    def values(self, raw: Array, X: Array) -> Array:
        """Critic of every learned class, shape (n, classes)."""
        out = np.empty((len(self.blocks), len(X)))
        for own, part, block in zip(out, raw, self.blocks, strict=True):
            np.matmul(X[:, block], part, out=own)
        return out.T

    def accumulator(self) -> Array:
        """Zero moments, to which :meth:`accumulate` adds."""
        return np.zeros((len(self.blocks), self.n_features))

    def accumulate(self, total: Array, R: Array, X: Array) -> None:
        """Add the moments ``sum_i R_ic phi_c(x_i)`` of a chunk of rows."""
        for c, block in enumerate(self.blocks):
            total[c] += R[:, c] @ X[:, block]

    def contract(self, total: Array) -> Array:
        """Turn accumulated moments into a gradient."""
        return total.ravel()

    def features(self, X: Array) -> list[Array]:
        """Features of every learned class, each of shape (n, n_features)."""
        return [X[:, block] for block in self.blocks]


def tabulated(objective: Objective) -> Objective:
    """Return the objective with features computed once, or itself where they would be large.

    Values, gradients and Hessians are the same numbers up to rounding. Samplers
    evaluate it some ten thousand times.
    """
    blocks, critic = objective.blocks, objective.critic
    if not isinstance(blocks, MemoryBlocks):
        return objective
    rows = sum(map(len, blocks.classes))
    if 8 * rows * objective.n_parameters > _MOST_BYTES:
        return objective
    learned = len(objective.learned)
    part = objective.n_parameters // learned

    def written_out(X: Array) -> Array:
        features = np.empty((len(X), objective.n_parameters), order="F")
        for at in slices(len(X), rows_at_a_time(part)):
            for c, phi in enumerate(critic.features(X[at])):
                features[at, c * part : (c + 1) * part] = phi
        return features

    table = replace(
        blocks,
        classes=[sample.map(written_out) for sample in blocks.classes],
        block_rows=max(2048, _CHUNK_BYTES // (8 * blocks.n_classes)),
    )
    return Objective(Table(learned, part), table, objective.l2)


class WithPrior(Objective):
    """An objective whose penalty is ``|A theta + b|^2 / 2`` in place of the ridge.

    Parameters
    ----------
    objective : Objective
        Its own penalty is left out.
    A : ndarray of shape (k, n_parameters)
    b : ndarray of shape (k,)
        ``A theta + b`` has a standard normal prior.
    """

    def __init__(self, objective: Objective, A: Array, b: Array) -> None:
        super().__init__(objective.critic, objective.blocks, 0.0)
        self.A, self.b = A, b
        self.precision = A.T @ A

    def at(self, theta: Array) -> Point:
        """Value, gradient and curvature at theta."""
        return _PointWithPrior(self, np.asarray(theta, dtype=np.float64))


class _PointWithPrior(Point):
    objective: WithPrior

    def __init__(self, objective: WithPrior, theta: Array) -> None:
        super().__init__(objective, theta)
        residual = objective.A @ theta + objective.b
        self.value += 0.5 * float(residual @ residual)
        self.gradient = self.gradient + objective.A.T @ residual

    def hessian_product(self, direction: Array) -> Array:
        return super().hessian_product(direction) + self.objective.precision @ direction

    def hessian(self) -> Array:
        return super().hessian() + self.objective.precision
