"""Distributions with independent parts, and the parts: margins of scipy and single points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..typing import Array, RandomState
from .base import Distribution, as_count, as_generator, as_points

# log u of the quantiles that stand for a margin; beyond, no margin here has mass that counts.
_DEEPEST = 200


class Margin:
    """A one-dimensional distribution of :mod:`scipy.stats`.

    Parameters
    ----------
    name : str
        Its name there.
    *args, **kwargs
        Its parameters.

    Examples
    --------
    >>> gamma = Margin("gamma", 2.0)
    >>> gamma.sample(3, rng=0).shape
    (3, 1)
    >>> gamma.log_density([1.0, -1.0])
    array([ -1., -inf])
    """

    dim = 1

    def __init__(self, name: str, *args: float, **kwargs: float) -> None:
        from scipy import stats

        self.name = name
        self.law: Any = getattr(stats, name)(*args, **kwargs)

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows, shape (n, 1)."""
        return np.asarray(self.law.rvs(size=(as_count(n), 1), random_state=as_generator(rng)))

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,); -inf outside the support."""
        with np.errstate(all="ignore"):
            return np.asarray(self.law.logpdf(as_points(x, 1)[:, 0]))

    def nodes(self) -> tuple[Array, Array]:
        """Points, shape (m, 1), and weights for means: Gauss nodes in the log of the quantile."""
        t, weight = np.polynomial.legendre.leggauss(10)
        depth = (np.arange(_DEEPEST)[:, None] + 0.5 * (t + 1)).ravel()
        u = 0.5 * np.exp(-depth)
        x = np.concatenate([self.law.ppf(u), self.law.isf(u)])
        low, high = self.law.support()
        inside = (x > low) & (x < high)  # the deepest round to the ends
        return x[inside, None], np.tile(0.5 * np.tile(weight, _DEEPEST) * u, 2)[inside]

    def __repr__(self) -> str:
        return f"Margin({self.name!r})"


class Point:
    """A column that always has one value; its density counts points.

    Examples
    --------
    >>> Point(0.0).log_density([0.0, 1.0])
    array([  0., -inf])
    """

    dim = 1

    def __init__(self, value: float) -> None:
        self.value = float(value)

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """The value ``n`` times, shape (n, 1)."""
        return np.full((as_count(n), 1), self.value)

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Zero where a row is the point and -inf elsewhere, shape (n,)."""
        return np.where(as_points(x, 1)[:, 0] == self.value, 0.0, -math.inf)


class Product:
    """Independent parts side by side.

    Parameters
    ----------
    parts : sequence of Distribution
        Their columns follow each other.

    Examples
    --------
    >>> mixed = Product([Point(1.0), Margin("gamma", 2.0), Margin("beta", 2.0, 5.0)])
    >>> mixed.sample(4, rng=0).shape
    (4, 3)
    """

    def __init__(self, parts: Sequence[Distribution]) -> None:
        self.parts = tuple(parts)
        self.dims = [part.dim for part in self.parts]
        self.dim = sum(self.dims)

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows, shape (n, dim)."""
        generator, count = as_generator(rng), as_count(n)
        return np.concatenate([part.sample(count, generator) for part in self.parts], axis=1)

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,)."""
        columns = np.split(as_points(x, self.dim), np.cumsum(self.dims)[:-1], axis=1)
        terms = [part.log_density(c) for part, c in zip(self.parts, columns, strict=True)]
        with np.errstate(invalid="ignore"):  # of two ends, one may be 0 and the other infinite
            return np.asarray(np.sum(terms, axis=0))

    def __repr__(self) -> str:
        return f"Product(dim={self.dim})"
