"""Multivariate Student-t distributions whose scale matrix has 2x2 blocks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from ..typing import Array, RandomState
from .base import as_count, as_generator, as_points, positive
from .blocks import PairedScatter, as_location


class StudentT:
    r"""The multivariate Student-t: one chi-square per row, shared by all coordinates.

    A row is ``loc + y / sqrt(g)`` with y normal and ``df * g`` chi-square, so
    coordinates depend on each other even without correlation. The density is

    .. math:: \frac{\Gamma((\nu+d)/2)}{\Gamma(\nu/2)\,(\nu\pi)^{d/2}|\Sigma|^{1/2}}
              \Bigl(1 + \delta(x)/\nu\Bigr)^{-(\nu+d)/2}.

    Parameters
    ----------
    df : float
        Degrees of freedom.
    loc : float or array of shape (dim,)
        Location.
    scale : float or array of shape (dim,)
        Square root of the scale matrix's diagonal.
    rho : float or array of shape (dim // 2,)
        Correlation of the scale matrix within the pairs (0, 1), (2, 3), ...
    dim : int, optional
        Number of coordinates when ``loc`` is a scalar; 1 by default.

    Examples
    --------
    >>> t = StudentT(1.0, 0.0)  # the Cauchy distribution
    >>> bool(np.isclose(t.log_density([0.0])[0], -np.log(np.pi)))
    True
    """

    def __init__(
        self,
        df: float,
        loc: npt.ArrayLike,
        scale: npt.ArrayLike = 1.0,
        rho: npt.ArrayLike = 0.0,
        dim: int | None = None,
    ) -> None:
        self.df = positive(df, "df")
        self.loc = as_location(loc, dim)
        self.scatter = PairedScatter(len(self.loc), scale, rho)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return len(self.loc)

    @property
    def log_constant(self) -> float:
        """Log-density at the location."""
        df, d = self.df, self.dim
        gammas = special.gammaln((df + d) / 2) - special.gammaln(df / 2)
        return float(gammas - 0.5 * (d * np.log(df * np.pi) + self.scatter.log_det))

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows, shape (n, dim)."""
        generator, count = as_generator(rng), as_count(n)
        y = self.scatter.colour(generator.standard_normal((count, self.dim)))
        precision = generator.chisquare(self.df, size=(count, 1)) / self.df
        return np.asarray(self.loc + y / np.sqrt(precision))

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,)."""
        distance = self.scatter.mahalanobis(as_points(x, self.dim) - self.loc)
        tail = (self.df + self.dim) / 2
        return np.asarray(self.log_constant - tail * np.log1p(distance / self.df))

    @property
    def entropy(self) -> float:
        """Minus the mean log-density."""
        # With y'y and the chi-square independent, 1 + distance/df is the ratio
        # of a chi-square of df + dim degrees to one of df, hence the digammas.
        tail = (self.df + self.dim) / 2
        return float(-self.log_constant + tail * (special.psi(tail) - special.psi(self.df / 2)))

    @property
    def mean_log_precision(self) -> float:
        """E[log g] for the random precision factor g of a row."""
        return float(special.psi(self.df / 2) - np.log(self.df / 2))

    def log_laplace_precision(self, s: Array) -> Array:
        """Logarithm of E[exp(-s g)], the transform of a chi-square divided by its degrees."""
        return np.asarray(-0.5 * self.df * np.log1p(2 * s / self.df))

    def __repr__(self) -> str:
        return f"StudentT(df={self.df:g}, dim={self.dim})"
