"""The normal anchor, and the covariance that every anchor of one piece uses."""

from __future__ import annotations

import numpy as np

from ..data.moments import Moments, clipped, moments
from ..data.sample import Sample
from ..maps.coordinates import Surroundings
from ..typing import Array
from .elliptical import Component, OneComponent, SampleAnchor, can_correct

# Anchors are fitted in coordinates in which the pooled sample has unit variance.
_FLOOR = 1e-24
_FEW_ROWS_FLOOR = 1e-2


class GaussianAnchor(SampleAnchor, OneComponent):
    """A normal distribution fitted by moments, with the noise of the fit taken out.

    The log-density is unbiased at every point as long as there are twice as many
    rows as columns; see :func:`~isthmus.anchors.elliptical.noise_correction`.
    With fewer rows, correlations are shrunk towards zero by the share that
    sampling noise has in them (Schäfer & Strimmer 2005). Variances are not
    shrunk, so that a narrow direction stays narrow. Far outliers are pulled in
    first.

    Parameters
    ----------
    covariance : {"full", "diagonal"}
        Whether columns may be correlated.

    Attributes
    ----------
    component_ : Component
        The fit.
    shrinkage_ : float
        Share taken off the correlations.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(3.0, 2.0, (4000, 1))
    >>> anchor = GaussianAnchor().fit(X)
    >>> bool(abs(anchor.component_.mean[0] - 3.0) < 0.2)
    True
    """

    influence = True
    """What every row did to the fit is known in closed form."""

    def __init__(self, covariance: str = "full") -> None:
        self.covariance = covariance

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Fit location and covariance."""
        sample = clipped(sample)
        self.from_moments(moments(sample), sample.size, distinct_rows(sample.rows))

    def from_moments(self, found: Moments, size: int, distinct: int) -> GaussianAnchor:
        """Fit to the moments of so many rows, of which so many are different."""
        diagonal = self.covariance == "diagonal"
        corrected = not diagonal and can_correct(size, len(found.mean))
        root, whitening, self.shrinkage_ = shrunk_roots(
            found.covariance, np.inf if corrected else size, distinct, diagonal=diagonal
        )
        rows = float(size) if corrected else np.inf
        self.component_ = Component(1.0, found.mean, root, whitening, rows=rows)
        return self


def shrunk_roots(
    covariance: Array, size: float, distinct: int, diagonal: bool = False
) -> tuple[Array, Array, float]:
    """Root and inverse root of a covariance whose correlations are shrunk.

    It was estimated from ``size`` rows, ``distinct`` of which are different; a diagonal one has no
    correlations. Returns the lower factor, its inverse transposed, and the share taken off the
    correlations.
    """
    d = len(covariance)
    # With no more rows than columns some directions have no variance by accident, not
    # because the class is narrow there.
    floor = _FLOOR if distinct > d + 1 else _FEW_ROWS_FLOOR
    scale = np.sqrt(np.maximum(np.diag(covariance), floor))
    correlation = covariance / np.outer(scale, scale)
    np.fill_diagonal(correlation, 0.0)
    if diagonal:
        correlation[:] = 0.0
    signal = float((correlation**2).sum())
    noise = float(((1.0 - correlation**2) ** 2).sum() - d) / size
    shrinkage = min(1.0, noise / signal) if signal > noise else 1.0
    correlation *= 1.0 - shrinkage
    np.fill_diagonal(correlation, 1.0)
    root = _steady_cholesky(correlation)
    return root * scale[:, None], np.linalg.inv(root).T / scale[:, None], shrinkage


def distinct_rows(X: Array) -> int:
    """Number of different rows, which matters where there are few."""
    return len(np.unique(X, axis=0)) if len(X) <= 10 * X.shape[1] else len(X)


def _steady_cholesky(correlation: Array) -> Array:
    """Cholesky factor of a correlation matrix that may be singular."""
    for jitter in (0.0, 1e-12, 1e-10, 1e-8, 1e-6):
        try:
            root = np.linalg.cholesky(correlation + jitter * np.eye(len(correlation)))
            return np.asarray(root, dtype=np.float64)
        except np.linalg.LinAlgError:
            continue
    return np.eye(len(correlation))
