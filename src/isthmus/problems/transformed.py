"""Distributions seen through maps: column by column, rotated, bent, or around a circle.

A bijection that p and q share leaves their KL as it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..typing import Array, RandomState
from .base import Distribution, as_count, as_generator, as_points
from .blocks import frozen
from .maps import Increasing
from .products import Margin


class Warped:
    """A distribution whose columns have gone through increasing maps.

    Parameters
    ----------
    base : Distribution
    maps : sequence of Increasing
        One for each column.

    Examples
    --------
    >>> from isthmus.problems import Gaussian
    >>> from isthmus.problems.maps import EXP
    >>> lognormal = Warped(Gaussian(0.0, dim=2), [EXP, EXP])
    >>> lognormal.log_density([[1.0, 1.0], [1.0, -1.0]]).round(4)
    array([-1.8379,    -inf])
    """

    def __init__(self, base: Distribution, maps: Sequence[Increasing]) -> None:
        self.base, self.maps, self.dim = base, maps, base.dim

    def forward(self, z: Array) -> Array:
        """Bring rows of the base through the maps."""
        return np.column_stack([f.forward(c) for f, c in zip(self.maps, z.T, strict=True)])

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows, shape (n, dim)."""
        return self.forward(self.base.sample(n, rng))

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,); -inf outside the support."""
        points = as_points(x, self.dim)
        with np.errstate(all="ignore"):
            z = np.column_stack([f.inverse(c) for f, c in zip(self.maps, points.T, strict=True)])
            inside = np.isfinite(z.sum(axis=1))
            z = np.where(inside[:, None], z, 0.0)
            slopes = [
                f.log_slope(*columns) for f, *columns in zip(self.maps, z.T, points.T, strict=True)
            ]
            return np.where(inside, self.base.log_density(z) - np.sum(slopes, axis=0), -math.inf)


class Rotated:
    """A distribution whose rows are multiplied by an orthogonal matrix.

    Examples
    --------
    >>> from isthmus.problems import Gaussian
    >>> turned = Rotated(Gaussian([1.0, 2.0]), [[0.0, 1.0], [1.0, 0.0]])
    >>> turned.log_density([[2.0, 1.0]]).round(4)
    array([-1.8379])
    """

    def __init__(self, base: Distribution, matrix: Any) -> None:
        self.base, self.matrix, self.dim = base, matrix, base.dim

    def forward(self, y: Array) -> Array:
        """Turn rows of the base."""
        return np.asarray(y @ np.transpose(self.matrix))

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows, shape (n, dim)."""
        return self.forward(self.base.sample(n, rng))

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,)."""
        return self.base.log_density(as_points(x, self.dim) @ np.asarray(self.matrix))


def orthogonal(dim: int, seed: int) -> Array:
    """An orthogonal matrix that is the same everywhere and for ever."""
    # RandomState, since numpy promises its stream never to change.
    Q, R = np.linalg.qr(np.random.RandomState(seed).standard_normal((dim, dim)))
    return frozen(Q * np.sign(np.diag(R)))


class Curved:
    """A distribution whose last column is raised by ``bend * first**2``."""

    def __init__(self, base: Distribution, bend: float) -> None:
        self.base, self.bend, self.dim = base, bend, base.dim

    def forward(self, y: Array) -> Array:
        """Bend rows of the base."""
        return np.column_stack([y[:, :-1], y[:, -1] + self.bend * y[:, 0] ** 2])

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows, shape (n, dim)."""
        return self.forward(self.base.sample(n, rng))

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,)."""
        x = as_points(x, self.dim)
        with np.errstate(over="ignore"):
            straight = x[:, -1] - self.bend * x[:, 0] ** 2
        y = np.column_stack([x[:, :-1], np.clip(straight, -1e200, 1e200)])
        return self.base.log_density(y)


class Ring:
    """Points at every angle alike and at a random distance from zero, in the plane."""

    dim = 2

    def __init__(self, radius: Margin) -> None:
        self.radius = radius

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows, shape (n, 2)."""
        generator = as_generator(rng)
        radius = self.radius.sample(as_count(n), generator)
        angle = generator.uniform(0, 2 * math.pi, len(radius))
        return np.asarray(radius * np.column_stack([np.cos(angle), np.sin(angle)]))

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,)."""
        radius = np.hypot(*as_points(x, 2).T)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.radius.log_density(radius) - np.log(2 * math.pi * radius))
