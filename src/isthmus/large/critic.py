"""The convex critic fitted to all rows: Newton's steps with the curvature of the sample.

The gradient is a sum over the rows of p, of q and of every auxiliary; the curvature of a sample is
that of all rows but for a few percent, so that every pass takes a digit off the error. Rows of
auxiliaries whose density is known are drawn in blocks, each from a seed of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.blocks import MemoryBlocks
from ..data.sample import Sample
from ..data.source import Batch, Source, joined
from ..model.classes import ClassModel
from ..model.objective import Objective
from ..model.rows import ClassRows
from ..model.solvers import EXACT_LIMIT, solve_dense, solve_hessian
from ..typing import Array
from .pieces import GROUPS, Pieces, together

STEPS = 3
"""Newton's steps, each of which is a pass; the last one has the gradients of groups too."""

_DRAWN_ROWS, _BLOCK_ROWS = 1 << 18, 1 << 16

_TOGETHER = 2_000_000
"""Numbers that gradients are taken of at a time: of few rows of a group they take as long."""


def drawn_source(auxiliary: Any, label: str, rows: int, seed: int, columns: int) -> Source:
    """Rows of a known auxiliary as a source: a part is drawn from a seed of its own."""
    pieces = [
        (min(_DRAWN_ROWS, rows - begin), (auxiliary, seed, begin, min(_DRAWN_ROWS, rows - begin)))
        for begin in range(0, rows, _DRAWN_ROWS)
    ]
    return Source(joined(pieces, _draw), None, columns, label)


def _draw(payload: tuple[Any, int, int, int], names: tuple[str, ...] | None) -> Iterator[Batch]:
    auxiliary, seed, first, rows = payload
    for begin in range(0, rows, _BLOCK_ROWS):
        rng = np.random.default_rng([seed, first + begin])
        yield np.asarray(auxiliary.sample(min(_BLOCK_ROWS, rows - begin), rng))


@dataclass(frozen=True)
class Slope:
    """The gradient of the objective over the rows of one class, by groups of rows.

    Attributes
    ----------
    pieces : Pieces
    model : ClassModel
        Its critic is at the parameters at which the gradient is asked for.
    label : int
        The class of the rows.
    scale : float
        What every row's weight is multiplied by.
    groups : int
        Number of groups.
    """

    pieces: Pieces
    model: ClassModel
    label: int
    scale: float
    groups: int = GROUPS

    def __call__(self, batches: Iterator[Batch], first: int) -> Array:
        """The gradients of the groups, shape (groups, parameters)."""
        critic = self.model.critic
        assert critic is not None
        total = np.zeros((self.groups, critic.n_parameters))
        for piece in together(self.pieces(batches, first), _TOGETHER):
            for k, some in piece.groups(self.groups):
                weight = np.ones(len(some.rows)) if some.weight is None else some.weight
                total[k] += self._gradient(some.rows, self.scale * weight)
        return total

    def _gradient(self, rows: Array, weight: Array) -> Array:
        offsets, width = self.model.offsets, len(self.model.class_names)
        Z = offsets.where(rows)
        nothing = Sample(Z[:0], weight[:0])
        classes, outside = [nothing] * width, [np.zeros((0, width))] * width
        classes[self.label], outside[self.label] = Sample(Z, weight), offsets(rows, Z)
        learned = np.isin(np.arange(width), offsets.learned)
        blocks = MemoryBlocks(classes, outside, self.model.log_prior, learned)
        assert self.model.critic is not None
        return Objective(self.model.critic, blocks).at(self.model.theta).gradient


@dataclass(frozen=True)
class Curvature:
    """The curvature of the objective over all rows, from that over the sample.

    Attributes
    ----------
    objective : Objective
        Over the sample, with the penalty that has on it the effect of that on all rows.
    theta : ndarray
        Parameters at which it is taken.
    scale : float
        How many times the weight of the sample that of all rows is.
    """

    objective: Objective
    theta: Array
    scale: float

    @classmethod
    def of(cls, rows: ClassRows, model: ClassModel, l2: float, weight: float) -> Curvature:
        """From the rows of a fit to the sample; all rows have this weight."""
        assert model.critic is not None
        scale = weight / rows.blocks.total_weight
        return cls(Objective(model.critic, rows.blocks, l2 / scale), model.theta, scale)

    def solve(self, slopes: Array) -> Array:
        """The step that a gradient asks for; of several gradients, shape (k, n_parameters)."""
        point = self.objective.at(self.theta)
        if self.objective.n_parameters <= EXACT_LIMIT and self.objective.has_features:
            return np.asarray(solve_dense(point.hessian(), slopes.T).T / self.scale)
        return np.array([solve_hessian(point, one, tol=1e-4) for one in slopes]) / self.scale


def step(
    model: ClassModel, slopes: Sequence[Array], l2: float, curvature: Curvature
) -> tuple[ClassModel, list[ClassModel]]:
    """The model after a step, and after that without each group of rows if there are several."""
    by_group = sum(slopes[1:], start=slopes[0])
    whole = by_group.sum(axis=0) + l2 * model.theta
    moves = curvature.solve(np.vstack([whole, by_group]))
    theta = model.theta - moves[0]
    if len(by_group) == 1:
        return replace(model, theta=theta), []
    spared = GROUPS / (GROUPS - 1.0)
    without = [replace(model, theta=theta + spared * move) for move in moves[1:]]
    return replace(model, theta=theta), without
