"""The likelihoods of KLIEP's mixture: kernels over their means, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..typing import Array
from .kernel import blocks, gaussian

# More values than these are computed anew whenever they are needed.
_MOST_VALUES = 2**24


class Likelihoods:
    """The matrix K(x_i, c_l) / b_l, every row times a factor that lifts it from underflow.

    Parameters
    ----------
    square : ndarray of shape (n, b), or function of a slice of rows
        Squared distances of rows and centres.
    n : int
        Number of rows.
    width : float
    mean : ndarray of shape (b,)
        The mean of every kernel over q.

    Attributes
    ----------
    exponent : ndarray of shape (n,)
        Logarithms of the factors, which change the log-likelihood by a constant.
    """

    def __init__(
        self, square: Array | Callable[[slice], Array], n: int, width: float, mean: Array
    ) -> None:
        self.square = square if callable(square) else square.__getitem__
        self.width, self.mean, self.n_columns = width, mean, len(mean)
        self.exponent = np.empty(n)
        self.kept: Array | None = None
        kept = np.empty((n, len(mean))) if n * len(mean) <= _MOST_VALUES else None
        for part in self._parts():
            block = self._block(part)
            if kept is not None:
                kept[part] = block
        self.kept = kept

    def _parts(self) -> Iterator[slice]:
        return blocks(len(self.exponent), self.n_columns)

    def _block(self, part: slice) -> Array:
        if self.kept is not None:
            return self.kept[part]
        square = self.square(part)
        least = square.min(axis=1)
        self.exponent[part] = least / (2.0 * self.width**2)
        out = gaussian(square - least[:, None], self.width)
        out /= self.mean
        return out

    def dot(self, w: Array, columns: np.ndarray) -> Array:
        """``A[:, columns] @ w``, shape (n,)."""
        full = np.zeros(self.n_columns)
        full[columns] = w
        return np.concatenate([self._block(part) @ full for part in self._parts()])

    def transposed(self, v: Array) -> Array:
        """``A.T @ v``, shape (b,)."""
        out = np.zeros(self.n_columns)
        for part in self._parts():
            out += v[part] @ self._block(part)
        return out

    def gram(self, v: Array, columns: np.ndarray) -> Array:
        """``A[:, columns].T @ diag(v) @ A[:, columns]``."""
        out = np.zeros((len(columns), len(columns)))
        root = np.sqrt(v)
        for part in self._parts():
            block = self._block(part)
            if len(columns) < self.n_columns:
                block = block[:, columns]
            block = block * root[part, None]
            out += block.T @ block
        return out
