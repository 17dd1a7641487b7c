"""The same objective with its features written out: fast where parameters are few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.blocks import MemoryBlocks, rows_at_a_time, slices
from ..model.objective import Objective
from ..typing import Array

MOST_BYTES = 128_000_000
"""Features that are computed once must fit into memory beside the rows."""

# Logits of a chunk of rows that stay in the processor's cache.
_CHUNK_BYTES = 200_000


class Table:
    """A linear critic whose "rows" are its features already, class beside class.

    The methods are those of :class:`~isthmus.typing.LinearCritic`; the parameters are
    those of the critic that the features come from.
    """

    def __init__(self, classes: int, n_features: int) -> None:
        self.n_features, self.n_parameters = n_features, classes * n_features
        self.parts = [slice(c * n_features, (c + 1) * n_features) for c in range(classes)]

    def expand(self, theta: Array) -> Array:
        return theta.reshape(len(self.parts), self.n_features)

    def values(self, raw: Array, X: Array) -> Array:
        out = np.empty((len(self.parts), len(X)))
        for own, coefficients, part in zip(out, raw, self.parts, strict=True):
            np.matmul(X[:, part], coefficients, out=own)
        return out.T

    def accumulator(self) -> Array:
        return np.zeros((len(self.parts), self.n_features))

    def accumulate(self, total: Array, R: Array, X: Array) -> None:
        for c, part in enumerate(self.parts):
            total[c] += R[:, c] @ X[:, part]

    def contract(self, total: Array) -> Array:
        return total.ravel()

    def features(self, X: Array) -> list[Array]:
        return [X[:, part] for part in self.parts]


def tabulated(objective: Objective) -> Objective:
    """Return the objective with features computed once, or itself where they would be large.

    Values, gradients and Hessians are the same numbers up to rounding. Samplers
    evaluate it some ten thousand times.
    """
    blocks, critic = objective.blocks, objective.critic
    if not isinstance(blocks, MemoryBlocks):
        return objective
    rows = sum(map(len, blocks.classes))
    if 8 * rows * objective.n_parameters > MOST_BYTES:
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
