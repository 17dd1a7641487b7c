"""Log-ratios of a stack in bins that move with its coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..functionals.binned import Binned
from ..typing import Array


@dataclass(frozen=True)
class MovingBins:
    """Rows in bins of the stack's log-ratio, with the sums of what the candidates say in each.

    With other coefficients the mean of a bin is known: that of the rows moves as the candidates'
    means do. Rows of a bin then differ by more than its width, which adds to divergences other than
    KL half the square of how much; for coefficients that are nearly the same this is nothing.

    Attributes
    ----------
    binned : Binned
        By the coefficients that rows were put into bins with.
    said : ndarray of shape (k + 1, bins)
        Sums of what the candidates say, and of ones.

    Examples
    --------
    >>> import numpy as np
    >>> says = np.random.default_rng(0).normal(size=(1000, 2))
    >>> bins = MovingBins.of(says, None, np.array([1.0, 0.5, 0.0]))
    >>> moved = bins.moved(np.array([0.01, 0.0, 0.2]))
    >>> expected = says @ [1.01, 0.5] + 0.2
    >>> bool(np.isclose(np.average(moved.values, weights=moved.weight), expected.mean()))
    True
    """

    binned: Binned
    said: Array

    @classmethod
    def of(cls, says: Array, weight: Array | None, coefficients: Array) -> MovingBins:
        """Rows of which candidates say something, shape (n, k)."""
        ratio = says @ coefficients[:-1] + coefficients[-1]
        binned = Binned.of(ratio, weight)
        # A sum of weights is a sum of anything that is given as weights.
        given = (column if weight is None else weight * column for column in says.T)
        said = [Binned.of(ratio, column).sums[0] for column in given]
        return cls(binned, np.vstack([*said, binned.weight]))

    def __add__(self, other: MovingBins) -> MovingBins:
        binned = self.binned + other.binned
        said = np.zeros((len(self.said), len(binned.keys)))
        for one in (self, other):
            said[:, np.searchsorted(binned.keys, one.binned.keys)] += one.said
        return MovingBins(binned, said)

    def moved(self, by: Array) -> Binned:
        """The bins with coefficients that differ by so much, and the constant."""
        sums = self.binned.sums.copy()
        sums[1] += by @ self.said
        return Binned(self.binned.keys, sums, self.binned.rows)

    def distance(self, by: Array) -> float:
        """How far rows move, in nats: the root of the mean square."""
        weight = self.binned.weight
        return float(np.sqrt(np.sum((by @ self.said) ** 2 / weight) / weight.sum()))
