"""Normal and Student-t distributions whose scatter matrix is made of 2x2 blocks.

Coordinates (0, 1), (2, 3), ... form pairs with correlation rho; in an odd
dimension the last coordinate stands alone. Every operation is closed form per
pair and linear in the dimension.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy import special

from ..typing import Array
from .base import CheckedDistribution, frozen, positive


class PairedScatter:
    """A scatter matrix with the square root of its diagonal and a correlation for every pair.

    Examples
    --------
    >>> scatter = PairedScatter(2, scale=[1.0, 2.0], rho=0.5)
    >>> scatter.matrix()
    array([[1., 1.],
           [1., 4.]])
    >>> scatter.mahalanobis(np.array([[1.0, 1.0]]))
    array([1.])
    """

    def __init__(self, dim: int, scale: npt.ArrayLike = 1.0, rho: npt.ArrayLike = 0.0) -> None:
        self.dim = dim
        self.scale = frozen(_sized("scale", scale, dim))
        self.rho = frozen(_sized("rho", rho, dim // 2))
        if not (np.isfinite(self.scale).all() and (self.scale > 0).all()):
            raise ValueError(f"scale must be finite and above 0; received {scale!r}.")
        if not (np.abs(self.rho) < 1).all():
            raise ValueError(f"rho must lie strictly between -1 and 1; received {rho!r}.")
        # Places of the first and of the second coordinates of the pairs.
        self.pairs = slice(0, 2 * (dim // 2), 2), slice(1, 2 * (dim // 2), 2)

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant."""
        return float(2 * np.log(self.scale).sum() + np.log1p(-(self.rho**2)).sum())

    def colour(self, z: Array) -> Array:
        """Give independent unit rows this scatter."""
        y = z * self.scale
        if self.rho.any():
            first, second = self.pairs
            correlated = self.rho * z[:, first] + np.sqrt(1 - self.rho**2) * z[:, second]
            y[:, second] = correlated * self.scale[second]
        return y

    def whiten(self, centred: Array) -> Array:
        """Undo :meth:`colour`."""
        z = centred / self.scale
        if self.rho.any():
            first, second = self.pairs
            z[:, second] = (z[:, second] - self.rho * z[:, first]) / np.sqrt(1 - self.rho**2)
        return z

    def mahalanobis(self, centred: Array) -> Array:
        """Squared distance of every row from the centre, shape (n,)."""
        z = self.whiten(centred)
        return np.asarray(np.einsum("ij,ij->i", z, z))

    def factors(self) -> Array:
        """Lower-triangular factor of every pair's block, shape (dim // 2, 2, 2)."""
        first, second = (self.scale[at] for at in self.pairs)
        L = np.zeros((len(self.rho), 2, 2))
        L[:, 0, 0] = first
        L[:, 1, 0] = self.rho * second
        L[:, 1, 1] = np.sqrt(1 - self.rho**2) * second
        return L

    def matrix(self) -> Array:
        """Return the full matrix, for small dimensions and for tests."""
        factor = self.colour(np.eye(self.dim)).T
        return np.asarray(factor @ factor.T)


class Elliptical(CheckedDistribution):
    """A normal whose precision is multiplied by a random g, the constant 1 for a normal.

    The truths of problems ask for the law of g only through :attr:`mean_log_precision`
    and :meth:`log_laplace_precision`, so that one formula serves all.
    """

    def __init__(
        self,
        loc: npt.ArrayLike,
        scale: npt.ArrayLike = 1.0,
        rho: npt.ArrayLike = 0.0,
        dim: int | None = None,
    ) -> None:
        self.loc = _as_location(loc, dim)
        self.dim = len(self.loc)
        self.scatter = PairedScatter(self.dim, scale, rho)

    @property
    @abstractmethod
    def entropy(self) -> float:
        """Minus the mean log-density."""

    @property
    def mean_log_precision(self) -> float:
        """E[log g]."""
        return 0.0

    def log_laplace_precision(self, s: Array) -> Array:
        """Logarithm of E[exp(-s g)]."""
        return -s


class Gaussian(Elliptical):
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

    @property
    def entropy(self) -> float:
        """Minus the mean log-density."""
        return 0.5 * (self.dim * (1 + math.log(2 * math.pi)) + self.scatter.log_det)

    def nodes(self) -> tuple[Array, Array]:
        """Points and weights of the trapezoidal rule, which converges geometrically here."""
        if self.dim > 2:
            raise TypeError(f"normal nodes are for at most two columns; received {self.dim}.")
        # Fine enough for the bends of a mixture's log-density between two modes, which are
        # nearly corners.
        step = 1 / 64 if self.dim == 1 else 1 / 8
        z = np.array(list(product(np.arange(-9.0, 9.0 + step, step), repeat=self.dim)))
        weight = np.exp(-0.5 * (z**2).sum(axis=1))
        return self.scatter.colour(z) + self.loc, weight / weight.sum()

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        return self.scatter.colour(generator.standard_normal((n, self.dim))) + self.loc

    def _log_density(self, points: Array) -> Array:
        constant = self.dim * math.log(2 * math.pi) + self.scatter.log_det
        return -0.5 * (self.scatter.mahalanobis(points - self.loc) + constant)


class StudentT(Elliptical):
    r"""The multivariate Student-t: one chi-square per row, shared by all coordinates.

    A row is ``loc + y / sqrt(g)`` with y normal and ``df * g`` chi-square, so
    coordinates depend on each other even without correlation. The density is

    .. math:: \frac{\Gamma((\nu+d)/2)}{\Gamma(\nu/2)\,(\nu\pi)^{d/2}|\Sigma|^{1/2}}
              \Bigl(1 + \delta(x)/\nu\Bigr)^{-(\nu+d)/2}.

    Parameters
    ----------
    df : float
        Degrees of freedom.
    loc, scale, rho, dim
        As in :class:`Gaussian`, of the location and the scale matrix.

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
        super().__init__(loc, scale, rho, dim)

    @property
    def log_constant(self) -> float:
        """Log-density at the location."""
        df, d = self.df, self.dim
        gammas = special.gammaln((df + d) / 2) - special.gammaln(df / 2)
        return float(gammas - 0.5 * (d * np.log(df * np.pi) + self.scatter.log_det))

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

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        y = self.scatter.colour(generator.standard_normal((n, self.dim)))
        precision = generator.chisquare(self.df, size=(n, 1)) / self.df
        return np.asarray(self.loc + y / np.sqrt(precision))

    def _log_density(self, points: Array) -> Array:
        distance = self.scatter.mahalanobis(points - self.loc)
        tail = (self.df + self.dim) / 2
        return np.asarray(self.log_constant - tail * np.log1p(distance / self.df))

    def __repr__(self) -> str:
        return f"StudentT(df={self.df:g}, dim={self.dim})"


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


def relative_spectrum(p: Elliptical, q: Elliptical) -> tuple[Array, Array]:
    """Eigenvalues of p's scatter where q's is the identity, and the shift along their directions.

    Whatever depends on p and q only through Gaussian quadratic forms, such as
    every KL here, is a sum over these ``dim`` independent directions.

    Examples
    --------
    >>> values, _ = relative_spectrum(Gaussian([0.0, 0.0], rho=0.6), Gaussian([0.0, 0.0]))
    >>> [round(float(value), 12) for value in values]
    [0.4, 1.6]
    """
    paired = 2 * (q.dim // 2)
    factor = np.linalg.solve(q.scatter.factors(), p.scatter.factors())
    values, vectors = np.linalg.eigh(factor @ factor.transpose(0, 2, 1))
    shift = q.scatter.whiten((p.loc - q.loc)[None, :])[0]
    rotated = np.einsum("bji,bj->bi", vectors, shift[:paired].reshape(-1, 2))
    alone = (p.scatter.scale[paired:] / q.scatter.scale[paired:]) ** 2
    return np.append(values.ravel(), alone), np.append(rotated.ravel(), shift[paired:])


def _as_location(loc: npt.ArrayLike, dim: int | None) -> Array:
    """Make a location vector from a vector, or from a scalar and ``dim``."""
    value = np.asarray(loc, dtype=np.float64)
    if value.ndim == 0:
        value = np.full(1 if dim is None else dim, float(value))
    if value.ndim != 1 or value.size == 0 or (dim is not None and value.size != dim):
        size = "dim" if dim is None else dim
        raise ValueError(f"loc must be a scalar or have shape ({size},); received {np.shape(loc)}.")
    if not np.isfinite(value).all():
        raise ValueError(f"loc must be finite; received {loc!r}.")
    return frozen(value)


def _sized(name: str, value: npt.ArrayLike, size: int) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim and array.shape != (size,):
        raise ValueError(
            f"{name} must be a scalar or have shape ({size},); received {array.shape}."
        )
    return np.broadcast_to(array, (size,))
