"""Normal distributions whose covariance has 2x2 blocks."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..typing import Array, RandomState
from .base import as_count, as_generator, as_points
from .blocks import PairedScatter, as_location


class Gaussian:
    """A normal distribution, correlated within consecutive pairs of coordinates.

    Parameters
    ----------
    loc : float or array of shape (dim,)
        Mean.
    scale : float or array of shape (dim,)
        Standard deviation of every coordinate (not the variance).
    rho : float or array of shape (dim // 2,)
        Correlation within the pairs (0, 1), (2, 3), ...
    dim : int, optional
        Number of coordinates when ``loc`` is a scalar; 1 by default.

    Examples
    --------
    >>> normal = Gaussian(-1.0, 0.1)
    >>> normal.sample(3, rng=0).shape
    (3, 1)
    >>> round(float(normal.log_density([-1.0])[0]), 4)
    1.3836
    """

    def __init__(
        self,
        loc: npt.ArrayLike,
        scale: npt.ArrayLike = 1.0,
        rho: npt.ArrayLike = 0.0,
        dim: int | None = None,
    ) -> None:
        self.loc = as_location(loc, dim)
        self.scatter = PairedScatter(len(self.loc), scale, rho)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return len(self.loc)

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows, shape (n, dim)."""
        z = as_generator(rng).standard_normal((as_count(n), self.dim))
        return self.scatter.colour(z) + self.loc

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,)."""
        centred = as_points(x, self.dim) - self.loc
        constant = self.dim * math.log(2 * math.pi) + self.scatter.log_det
        return np.asarray(-0.5 * (self.scatter.mahalanobis(centred) + constant))

    @property
    def entropy(self) -> float:
        """Minus the mean log-density."""
        return 0.5 * (self.dim * (1 + math.log(2 * math.pi)) + self.scatter.log_det)

    # A Student-t is a normal whose precision is multiplied by a random g; a
    # normal is the case g = 1. The truths of problems ask for g's law only
    # through the next two members, so that one formula serves both.
    mean_log_precision: float = 0.0

    def log_laplace_precision(self, s: Array) -> Array:
        """Logarithm of E[exp(-s g)] for the random precision factor g, here the constant 1."""
        return -s

    def __repr__(self) -> str:
        return f"Gaussian(dim={self.dim})"


def correlation_for(information: float, dim: int) -> float:
    """Correlation that gives ``dim // 2`` pairs a mutual information in nats in all.

    A pair carries -log(1 - rho^2) / 2, so rho = sqrt(1 - exp(-4 I / dim)).

    Examples
    --------
    >>> round(correlation_for(20.0, 40), 6)
    0.929873
    """
    if information < 0:
        raise ValueError(f"information must be at least 0; received {information!r}.")
    return math.sqrt(-math.expm1(-4 * information / dim))
