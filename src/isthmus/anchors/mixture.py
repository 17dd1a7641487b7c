"""The mixture anchor: for several modes."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator

from .._affine import clipped
from .._typing import Array
from .._validation import check_number
from .elliptical import Component, mixture_log_density

_FULL_COLUMNS = 12


class MixtureAnchor(BaseEstimator):
    """A mixture of normals, by scikit-learn's EM.

    Covariances are full up to 12 columns and diagonal above.

    Parameters
    ----------
    n_components : int
        Number of normals.

    Attributes
    ----------
    components_ : list of Component
        The fit.
    """

    def __init__(self, n_components: int = 4) -> None:
        self.n_components = n_components

    def fit(self, X: Array) -> MixtureAnchor:
        """Fit the mixture to the rows of X."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture

        check_number(self.n_components, "n_components", low=1, integer=True)
        full = X.shape[1] <= _FULL_COLUMNS
        mixture = GaussianMixture(
            min(self.n_components, len(X) // 2),
            covariance_type="full" if full else "diag",
            reg_covar=1e-9,
            max_iter=300,
            tol=1e-4,
            random_state=0,
        )
        with warnings.catch_warnings():
            # An anchor need not be at its optimum: the critic learns the rest.
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(clipped(X))
        self.components_ = []
        for share, mean, covariance in zip(
            mixture.weights_, mixture.means_, mixture.covariances_, strict=True
        ):
            root = np.linalg.cholesky(covariance) if full else np.diag(np.sqrt(covariance))
            whitening = np.asarray(np.linalg.inv(root).T, dtype=np.float64)
            self.components_.append(Component(float(share), mean, root, whitening, np.inf))
        return self

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        return mixture_log_density(self.components_, X)
