"""The multivariate Student-t anchor: for tails heavier than normal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from ..data.moments import clipped, moments
from ..data.sample import Sample
from ..maps.coordinates import Surroundings
from ..typing import Array
from .elliptical import (
    Component,
    OneComponent,
    SampleAnchor,
    can_correct,
    elliptical_log_density,
)
from .gaussian import distinct_rows, shrunk_roots

_MAX_STEPS = 200
_LOG_DF = (float(np.log(0.3)), float(np.log(500.0)))


class StudentTAnchor(SampleAnchor, OneComponent):
    """A multivariate Student-t fitted by maximum likelihood.

    Location and scale matrix follow the EM algorithm in its parameter-expanded
    form (Kent, Tyler & Vardi 1994), which takes few steps; the degrees of
    freedom are maximised over in every step. The noise of the fit is taken out as
    in :class:`GaussianAnchor`.

    Attributes
    ----------
    df_ : float
        Degrees of freedom.
    component_ : Component
        The fit.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_t(3.0, (5000, 1))
    >>> bool(2.5 < StudentTAnchor().fit(X).df_ < 3.6)
    True
    """

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Fit location, scale matrix and degrees of freedom."""
        X, size, share = sample.rows, sample.size, sample.share
        d = X.shape[1]
        corrected, distinct = can_correct(size, d), distinct_rows(X)
        found_moments = moments(clipped(sample))
        mean, covariance = found_moments.mean, found_moments.covariance
        last = -np.inf
        for _ in range(_MAX_STEPS):
            root, whitening, _ = shrunk_roots(covariance, np.inf if corrected else size, distinct)
            Z = (X - mean) @ whitening
            square = np.einsum("ij,ij->i", Z, Z)
            df, density = best_df(square, d, share)
            value = density - float(np.log(np.diag(root)).sum())
            if value <= last + 1e-7 * d:
                break
            found, last = Component(1.0, mean, root, whitening, df), value
            weight = share * (df + d) / (df + square)
            # Dividing by the sum, not by the number of rows, is what makes the steps long.
            weight /= weight.sum()
            mean = weight @ X
            D = X - mean
            covariance = (D * weight[:, None]).T @ D
        self.df_ = found.df
        self.component_ = replace(found, rows=float(size) if corrected else np.inf)


def best_df(square: Array, d: int, share: Array) -> tuple[float, float]:
    """Degrees of freedom at which these squared radii are likeliest, and how likely."""

    def loss(log_df: float) -> float:
        return -float(share @ elliptical_log_density(square, d, float(np.exp(log_df))))

    found = minimize_scalar(loss, bounds=_LOG_DF, method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x)), -float(found.fun)
