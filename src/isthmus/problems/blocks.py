r"""Scatter matrices made of 2x2 blocks, and how two of them relate.

Coordinates (0, 1), (2, 3), ... form pairs with correlation rho; in an odd
dimension the last coordinate stands alone. Every operation is closed form per
pair and linear in the dimension.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..typing import Array


def frozen(values: Array) -> Array:
    """Make a read-only copy: distributions are shared, and a change would spoil a cached truth."""
    copy = np.array(values, dtype=np.float64)
    copy.setflags(write=False)
    return copy


def as_location(loc: npt.ArrayLike, dim: int | None) -> Array:
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


class PairedScatter:
    """A scatter matrix whose only correlations are within consecutive pairs.

    Parameters
    ----------
    dim : int
        Number of coordinates.
    scale : float or array of shape (dim,)
        Square root of the diagonal.
    rho : float or array of shape (dim // 2,)
        Correlation within every pair, strictly between -1 and 1.

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

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant."""
        return float(2 * np.log(self.scale).sum() + np.log1p(-(self.rho**2)).sum())

    def colour(self, z: Array) -> Array:
        """Give independent unit rows this scatter."""
        y = z * self.scale
        if self.rho.any():
            first, second = _pairs(z)
            y_second = self.rho * first + np.sqrt(1 - self.rho**2) * second
            y[:, 1 : 2 * len(self.rho) : 2] = y_second * self.scale[1 : 2 * len(self.rho) : 2]
        return y

    def whiten(self, centred: Array) -> Array:
        """Undo :meth:`colour`."""
        z = centred / self.scale
        if self.rho.any():
            first, second = _pairs(z)
            z[:, 1 : 2 * len(self.rho) : 2] = (second - self.rho * first) / np.sqrt(1 - self.rho**2)
        return z

    def mahalanobis(self, centred: Array) -> Array:
        """Squared distance of every row from the centre, shape (n,)."""
        z = self.whiten(centred)
        return np.asarray(np.einsum("ij,ij->i", z, z))

    def factors(self) -> Array:
        """Lower-triangular factor of every pair's block, shape (dim // 2, 2, 2)."""
        first, second = self.scale[: 2 * len(self.rho)].reshape(-1, 2).T
        L = np.zeros((len(self.rho), 2, 2))
        L[:, 0, 0] = first
        L[:, 1, 0] = self.rho * second
        L[:, 1, 1] = np.sqrt(1 - self.rho**2) * second
        return L

    def matrix(self) -> Array:
        """Return the full matrix, for small dimensions and for tests."""
        factor = self.colour(np.eye(self.dim)).T
        return np.asarray(factor @ factor.T)


class Spectrum(NamedTuple):
    """One scatter seen in coordinates where another is the identity.

    ``values`` are the eigenvalues, ``shift`` the difference of locations in the
    eigenvectors' directions; both have shape (dim,).
    """

    values: Array
    shift: Array


def relative_spectrum(p: PairedScatter, q: PairedScatter, difference: Array) -> Spectrum:
    """Simultaneously diagonalise two scatters.

    Whatever depends on p and q only through Gaussian quadratic forms, such as
    every KL here, is a sum over these ``dim`` independent directions.

    Examples
    --------
    >>> p, q = PairedScatter(2, rho=0.6), PairedScatter(2)
    >>> spectrum = relative_spectrum(p, q, np.zeros(2))
    >>> [round(float(value), 12) for value in spectrum.values]
    [0.4, 1.6]
    """
    paired = 2 * (q.dim // 2)
    factor = np.linalg.solve(q.factors(), p.factors())
    values, vectors = np.linalg.eigh(factor @ factor.transpose(0, 2, 1))
    shift = q.whiten(difference[None, :])[0]
    rotated = np.einsum("bji,bj->bi", vectors, shift[:paired].reshape(-1, 2))
    return Spectrum(
        np.concatenate([values.ravel(), (p.scale[paired:] / q.scale[paired:]) ** 2]),
        np.concatenate([rotated.ravel(), shift[paired:]]),
    )


def _sized(name: str, value: npt.ArrayLike, size: int) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim and array.shape != (size,):
        raise ValueError(
            f"{name} must be a scalar or have shape ({size},); received {array.shape}."
        )
    return np.broadcast_to(array, (size,))


def _pairs(z: Array) -> tuple[Array, Array]:
    paired = 2 * (z.shape[1] // 2)
    return z[:, 0:paired:2], z[:, 1:paired:2]
