"""A weighted sample as its distinct rows, so that weights and repeated rows are one thing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.sample import Sample
from ..typing import Array, IntArray

# Fewer distinct rows than that leave nothing to hold out.
_FEWEST = 20


@dataclass(frozen=True)
class Distinct:
    """Distinct rows in a fixed order, with their shares.

    Neither the order of the rows nor whether a row was given twice or with a
    weight of two makes a difference to whatever is computed from it.

    Attributes
    ----------
    rows : ndarray of shape (k, d)
    share : ndarray of shape (k,)
        Adds up to one.
    size : int
        Number of rows that the sample stands for.
    """

    rows: Array
    share: Array
    size: int

    @classmethod
    def of(cls, rows: Array, weight: Array | None = None) -> Distinct:
        """Collect equal rows.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
        weight : ndarray of shape (n,), optional
            Positive weights.

        Examples
        --------
        >>> import numpy as np
        >>> Distinct.of(np.array([[2.0], [1.0], [2.0]])).share.round(2)
        array([0.33, 0.67])
        """
        found, which = np.unique(rows, axis=0, return_inverse=True)
        mass = np.bincount(which.ravel(), weights=weight, minlength=len(found))
        size = Sample.of(rows, weight).size
        return cls(found, mass / mass.sum(), size)

    @property
    def weight(self) -> Array:
        """Weights that add up to the number of rows."""
        return self.share * self.size

    def split(self, held: float, rng: np.random.Generator) -> tuple[Distinct, Distinct | None]:
        """Hold a share of the rows out; None where it is zero or the rows are few."""
        k = len(self.rows)
        count = round(held * k)
        if count == 0 or k < _FEWEST:
            return self, None
        order = rng.permutation(k)
        return self._part(np.sort(order[count:])), self._part(np.sort(order[:count]))

    def _part(self, kept: IntArray) -> Distinct:
        mass = self.share[kept]
        return Distinct(self.rows[kept], mass / mass.sum(), max(round(mass.sum() * self.size), 1))

    def stratified(self, count: int, rng: np.random.Generator) -> Array:
        """Draw rows in random order, each as often as its share asks for, to one."""
        return self.at((rng.permutation(count) + 0.5) / count)

    def at(self, places: Array) -> Array:
        """Rows at places in [0, 1], of which each row takes up its share."""
        found = np.searchsorted(self._edges, places)
        # Shares add up to one but for rounding.
        return self.rows[np.minimum(found, len(self.rows) - 1)]

    @cached_property
    def _edges(self) -> Array:
        return np.cumsum(self.share)
