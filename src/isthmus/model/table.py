"""A linear critic whose rows are its features, worked out beforehand."""

from __future__ import annotations

import numpy as np

from ..typing import Array


class Table:
    """A :class:`~isthmus.typing.LinearCritic` whose "rows" are its features, class by class."""

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
