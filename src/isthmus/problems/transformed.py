"""Distributions seen through maps: column by column, rotated, bent, or around a circle.

A bijection that p and q share leaves their KL as it was.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..typing import Array
from .base import CheckedDistribution, Distribution, frozen
from .composed import Margin
from .maps import Increasing


class Mapped(CheckedDistribution):
    """A distribution whose rows have gone through a bijection.

    Attributes
    ----------
    base : Distribution
    bijection : object
        What p and q must share to have the KL of their bases.
    """

    def __init__(self, base: Distribution, bijection: Any) -> None:
        self.base, self.bijection, self.dim = base, bijection, base.dim

    @abstractmethod
    def forward(self, rows: Array) -> Array:
        """Bring rows of the base through the bijection."""

    def nodes(self) -> tuple[Array, Array]:
        """Those of the base, through the bijection."""
        base: Any = self.base
        points, weight = base.nodes()
        return self.forward(points), weight

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        return self.forward(self.base.sample(n, generator))


class Warped(Mapped):
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
        super().__init__(base, maps)
        self.maps = maps

    def forward(self, rows: Array) -> Array:
        """Bring every column through its map."""
        return np.column_stack([f.forward(c) for f, c in zip(self.maps, rows.T, strict=True)])

    def _log_density(self, points: Array) -> Array:
        each = list(zip(self.maps, points.T, strict=True))
        with np.errstate(all="ignore"):
            z = np.column_stack([f.inverse(column) for f, column in each])
            inside = np.isfinite(z.sum(axis=1))
            z = np.where(inside[:, None], z, 0.0)
            slopes = [f.log_slope(a, b) for (f, b), a in zip(each, z.T, strict=True)]
            return np.where(inside, self.base.log_density(z) - np.sum(slopes, axis=0), -math.inf)


class Rotated(Mapped):
    """A distribution whose rows are multiplied by an orthogonal matrix.

    Examples
    --------
    >>> from isthmus.problems import Gaussian
    >>> turned = Rotated(Gaussian([1.0, 2.0]), [[0.0, 1.0], [1.0, 0.0]])
    >>> turned.log_density([[2.0, 1.0]]).round(4)
    array([-1.8379])
    """

    def __init__(self, base: Distribution, matrix: Any) -> None:
        super().__init__(base, matrix)
        self.matrix = matrix

    def forward(self, rows: Array) -> Array:
        """Turn rows of the base."""
        return np.asarray(rows @ np.transpose(self.matrix))

    def _log_density(self, points: Array) -> Array:
        return self.base.log_density(points @ np.asarray(self.matrix))


class Curved(Mapped):
    """A distribution whose last column is raised by ``bend * first**2``."""

    def __init__(self, base: Distribution, bend: float) -> None:
        super().__init__(base, bend)
        self.bend = bend

    def forward(self, rows: Array) -> Array:
        """Bend rows of the base."""
        return np.column_stack([rows[:, :-1], rows[:, -1] + self.bend * rows[:, 0] ** 2])

    def _log_density(self, points: Array) -> Array:
        with np.errstate(over="ignore"):
            straight = points[:, -1] - self.bend * points[:, 0] ** 2
        return self.base.log_density(
            np.column_stack([points[:, :-1], np.clip(straight, -1e200, 1e200)])
        )


class Ring(CheckedDistribution):
    """Points at every angle alike and at a random distance from zero, in the plane."""

    dim = 2

    def __init__(self, radius: Margin) -> None:
        self.radius = radius

    def nodes(self) -> tuple[Array, Array]:
        """Nodes of the radius at 64 angles."""
        radius, weight = self.radius.nodes()
        x = (radius[:, None, :] * _at_angles(2 * math.pi * np.arange(64) / 64)).reshape(-1, 2)
        return x, np.repeat(weight / 64, 64)

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        radius = self.radius.sample(n, generator)
        return np.asarray(radius * _at_angles(generator.uniform(0, 2 * math.pi, n)))

    def _log_density(self, points: Array) -> Array:
        radius = np.hypot(*points.T)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.radius.log_density(radius) - np.log(2 * math.pi * radius))


def orthogonal(dim: int, seed: int) -> Array:
    """An orthogonal matrix that is the same everywhere and for ever."""
    # RandomState, since numpy promises its stream never to change.
    Q, R = np.linalg.qr(np.random.RandomState(seed).standard_normal((dim, dim)))
    return frozen(Q * np.sign(np.diag(R)))


def _at_angles(angles: Array) -> Array:
    """Points of the unit circle, shape (n, 2)."""
    return np.column_stack([np.cos(angles), np.sin(angles)])
