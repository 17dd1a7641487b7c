"""Anchors: simple generative fits that a class's critic starts from.

An anchor is any object with ``fit(X)`` and ``score_samples(X)``; the critic
learns only what the anchor has not seen.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ._affine import clipped, moments, represented
from ._typing import Array

# Anchors are fitted in coordinates in which the pooled sample has unit variance.
_FLOOR = 1e-24
_FEW_ROWS_FLOOR = 1e-2


class GaussianAnchor(BaseEstimator):
    """A normal distribution fitted by moments, steady when rows are few.

    Correlations are shrunk towards zero by the share that sampling noise has in
    them (Schäfer & Strimmer 2005): nothing where n is much larger than d
    squared, much where it is not. Variances are not shrunk, so that a narrow
    direction stays narrow. Far outliers are pulled in first.

    Parameters
    ----------
    covariance : {"full", "diagonal"}
        Whether columns may be correlated.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    cholesky_ : ndarray of shape (d, d)
        Lower factor of the covariance.
    whitening_ : ndarray of shape (d, d)
        Its inverse, transposed: ``(x - mean_) @ whitening_`` is standard normal.
    shrinkage_ : float
        Share taken off the correlations.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(3.0, 2.0, (4000, 1))
    >>> anchor = GaussianAnchor().fit(X)
    >>> bool(abs(anchor.mean_[0] - 3.0) < 0.2)
    True
    """

    def __init__(self, covariance: str = "full") -> None:
        self.covariance = covariance

    def fit(self, X: Array, sample_weight: Array | None = None) -> GaussianAnchor:
        """Fit location and covariance to the rows of X."""
        X = clipped(X, sample_weight)
        mean, covariance = moments(X, sample_weight)
        variance = np.diag(covariance)
        # With no more rows than columns some directions have no variance by accident, not
        # because the class is narrow there.
        rows = len(np.unique(X, axis=0)) if len(X) <= 10 * len(mean) else len(X)
        scale = np.sqrt(np.maximum(variance, _FLOOR if rows > len(mean) + 1 else _FEW_ROWS_FLOOR))
        correlation = covariance / np.outer(scale, scale)
        np.fill_diagonal(correlation, 0.0)
        if self.covariance == "diagonal":
            correlation[:] = 0.0
        size = len(X) if sample_weight is None else represented(sample_weight)
        signal = float((correlation**2).sum())
        noise = float(((1.0 - correlation**2) ** 2).sum() - len(scale)) / size
        self.shrinkage_ = min(1.0, noise / signal) if signal > noise else 1.0
        correlation *= 1.0 - self.shrinkage_
        np.fill_diagonal(correlation, 1.0)
        self.mean_ = mean
        root = _steady_cholesky(correlation)
        self.cholesky_ = root * scale[:, None]
        self.whitening_ = np.linalg.inv(root).T / scale[:, None]
        return self

    def whiten(self, X: Array) -> Array:
        """Coordinates in which the fit is a standard normal."""
        return np.asarray((X - self.mean_) @ self.whitening_)

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        Z = self.whiten(X)
        constant = 0.5 * len(self.mean_) * np.log(2 * np.pi) + np.log(np.diag(self.cholesky_)).sum()
        return np.asarray(-0.5 * np.einsum("ij,ij->i", Z, Z) - constant)


def fit_anchor(anchor: Any, X: Array, weight: Array | None) -> Any:
    """Fit an anchor, with the weights where its ``fit`` takes them."""
    if weight is not None and "sample_weight" in inspect.signature(anchor.fit).parameters:
        return anchor.fit(X, sample_weight=weight)
    return anchor.fit(X)


def _steady_cholesky(correlation: Array) -> Array:
    """Cholesky factor of a correlation matrix that may be singular."""
    for jitter in (0.0, 1e-12, 1e-10, 1e-8, 1e-6):
        try:
            root = np.linalg.cholesky(correlation + jitter * np.eye(len(correlation)))
            return np.asarray(root, dtype=np.float64)
        except np.linalg.LinAlgError:
            continue
    return np.eye(len(correlation))
