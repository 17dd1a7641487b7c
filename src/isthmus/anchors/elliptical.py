"""Elliptical components: what anchors and auxiliaries of one or several pieces are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from .._typing import Array


@dataclass(frozen=True)
class Component:
    """A share of a mixture: a normal or Student-t distribution.

    Attributes
    ----------
    share : float
    mean : ndarray of shape (d,)
    cholesky : ndarray of shape (d, d)
        Lower root of the covariance or scale matrix.
    whitening : ndarray of shape (d, d)
        Inverse of its transpose: ``(x - mean) @ whitening`` is standard.
    df : float
        Degrees of freedom; infinite for the normal.
    """

    share: float
    mean: Array
    cholesky: Array
    whitening: Array
    df: float

    def log_density(self, X: Array) -> Array:
        """Log-density of every row, without the share."""
        Z = (X - self.mean) @ self.whitening
        log_det = float(np.log(np.abs(np.diag(self.cholesky))).sum())
        square = np.einsum("ij,ij->i", Z, Z)
        return elliptical_log_density(square, X.shape[1], self.df) - log_det

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows."""
        return self.mean + elliptical_draw(n, len(self.mean), self.df, rng) @ self.cholesky.T


def elliptical_draw(n: int, d: int, df: float, rng: np.random.Generator) -> Array:
    """Rows of a standard multivariate t, one chi-square for each row, or of a normal."""
    z = rng.standard_normal((n, d))
    if np.isinf(df):
        return z
    chi = rng.chisquare(df, n) / df
    return z / np.sqrt(np.maximum(chi, np.finfo(float).tiny))[:, None]


def elliptical_log_density(square: Array, d: int, df: float) -> Array:
    """Log-density of a standard multivariate t or normal at a squared radius."""
    if np.isinf(df):
        return np.asarray(-0.5 * square - 0.5 * d * np.log(2 * np.pi))
    constant = gammaln(0.5 * (df + d)) - gammaln(0.5 * df) - 0.5 * d * np.log(df * np.pi)
    return np.asarray(constant - 0.5 * (df + d) * np.log1p(square / df))


def mixture_log_density(components: Sequence[Component], X: Array) -> Array:
    """Log-density of a mixture at every row."""
    parts = [np.log(part.share) + part.log_density(X) for part in components]
    return parts[0] if len(parts) == 1 else np.asarray(logsumexp(np.array(parts), axis=0))
