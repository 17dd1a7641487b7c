"""Densities by maximum likelihood, for the ratio of two of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator

from ..anchors import GaussianAnchor, MixtureAnchor, StudentTAnchor
from ..anchors.elliptical import Component, OneComponent, mixture_log_density
from ..anchors.gaussian import shrunk_roots
from ..data.blocks import slices
from ..data.moments import moments
from ..data.sample import Sample
from ..maps.coordinates import Surroundings
from ..typing import Array
from .distinct import Distinct
from .hold_out import as_sample, collect, hold_out

_COMPONENTS = (1, 2, 3, 4, 6, 8)
_MIXTURE_ROWS = 20_000
_HELD_ROWS = 1000
_KERNEL_BYTES = 4_000_000
# Relative to the usual width, n^(-1 / (d + 4)).
_NARROWEST, _WIDEST = 0.02, 3.0


class Normal(OneComponent):
    """A normal distribution by maximum likelihood.

    Parameters
    ----------
    unbiased : bool
        Take the noise of the fit out of the log-density, as
        :class:`~isthmus.anchors.GaussianAnchor` does.
    """

    def __init__(self, unbiased: bool = False) -> None:
        self.unbiased = unbiased

    def fit(self, X: Array, sample_weight: Array | None = None) -> Normal:
        """Fit mean and covariance to the rows of X."""
        if self.unbiased:
            self.component_ = GaussianAnchor().fit(X, sample_weight).component_
            return self
        mean, covariance = moments(Sample.of(X, sample_weight))
        distinct = len(X) if len(X) > 10 * X.shape[1] else len(np.unique(X, axis=0))
        root, whitening, _ = shrunk_roots(covariance, np.inf, distinct)
        self.component_ = Component(1.0, mean, root, whitening)
        return self


class StudentT(OneComponent):
    """A multivariate Student-t by maximum likelihood; see :class:`Normal`."""

    def __init__(self, unbiased: bool = False) -> None:
        self.unbiased = unbiased

    def fit(self, X: Array, sample_weight: Array | None = None) -> StudentT:
        """Fit location, scale matrix and degrees of freedom to the rows of X."""
        fitted = StudentTAnchor().fit(X, sample_weight)
        self.df_ = fitted.df_
        self.component_ = fitted.component_
        if not self.unbiased:
            self.component_ = replace(self.component_, rows=np.inf)
        return self


class NormalMixture(BaseEstimator):
    """A mixture of normals by maximum likelihood.

    Parameters
    ----------
    n_components : int or "auto"
        "auto" takes the number, of 1, 2, 3, 4, 6 and 8, under which held-out rows are
        likeliest.
    unbiased : bool
        As in :class:`Normal`.
    rng : Generator, optional
        Holds rows out.
    """

    def __init__(
        self, n_components: int | str = "auto", unbiased: bool = False, rng: Any = None
    ) -> None:
        self.n_components = n_components
        self.unbiased = unbiased
        self.rng = rng

    def fit(
        self,
        X: Array,
        sample_weight: Array | None = None,
        surroundings: Surroundings | None = None,
    ) -> NormalMixture:
        """Fit the mixture to the rows of X."""
        count = self.n_components
        if isinstance(count, str):
            count = self._choose(X, sample_weight, surroundings)
        self.n_components_ = int(count)
        self.components_ = self._fitted(
            self.n_components_, Sample.of(X, sample_weight), surroundings
        )
        return self

    def _fitted(self, count: int, part: Sample, surroundings: Surroundings | None) -> list[Any]:
        if count == 1:
            # In closed form, from all rows.
            return Normal(self.unbiased).fit(part.rows, part.weight).components_
        rows = evenly(part.rows, part.weight)
        components = MixtureAnchor(count).fit(rows, None, surroundings).components_
        return components if self.unbiased else [replace(one, rows=np.inf) for one in components]

    def _choose(self, X: Array, weight: Array | None, surroundings: Surroundings | None) -> int:
        rng = self.rng or np.random.default_rng(0)
        train, held = map(as_sample, hold_out(collect(X, weight), rng))
        best, misses = (-np.inf, 1), 0
        for count in _COMPONENTS:
            if len(train) < count * (2 * X.shape[1] + 2) and count > 1:
                break
            density = mixture_log_density(self._fitted(count, train, surroundings), held.rows)
            value = float(held.mean(density))
            misses = 0 if value > best[0] else misses + 1
            best = max(best, (value, count))
            if misses == 2:
                break
        return best[1]

    @property
    def bias_(self) -> float:
        """Bias of the log-density: that of the components, by their shares."""
        return float(sum(part.share * part.bias for part in self.components_))

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        return mixture_log_density(self.components_, X)


class Kernels(BaseEstimator):
    """A normal kernel at every row, with the shape of the covariance of all.

    Parameters
    ----------
    bandwidth : float or "auto"
        Width of the kernels relative to the whole. "auto" takes the one under which
        held-out rows are likeliest, and narrows it for the full number of rows as
        n^(-1 / (d + 4)).
    rng : Generator, optional
        Holds rows out.
    """

    def __init__(self, bandwidth: float | str = "auto", rng: Any = None) -> None:
        self.bandwidth = bandwidth
        self.rng = rng

    def fit(self, X: Array, sample_weight: Array | None = None) -> Kernels:
        """Keep the rows, and find the width of the kernels."""
        found = collect(X, sample_weight)
        mean, covariance = moments(Sample.of(X, sample_weight))
        root, self.whitening_, _ = shrunk_roots(covariance, np.inf, len(found.rows))
        self.mean_ = mean
        self.log_det_ = float(np.log(np.diag(root)).sum())
        self.centres_ = (found.rows - mean) @ self.whitening_
        self.log_share_ = np.log(found.share)
        self.bandwidth_ = (
            self._choose(found) if isinstance(self.bandwidth, str) else float(self.bandwidth)
        )
        return self

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,), some rows at a time."""
        Z = (X - self.mean_) @ self.whitening_
        out = np.empty(len(Z))
        for rows in slices(len(Z), max(1, _KERNEL_BYTES // (8 * len(self.centres_)))):
            square = _squares(Z[rows], self.centres_)
            out[rows] = _density(square, self.log_share_, self.bandwidth_, Z.shape[1])
        return out - self.log_det_

    def _choose(self, found: Distinct) -> float:
        train, judge = hold_out(found, self.rng or np.random.default_rng(0))
        known, judges = as_sample(train), as_sample(judge).take(slice(_HELD_ROWS))
        rows = known.rows
        d = rows.shape[1]
        rate = -1.0 / (d + 4)
        total = len(self.centres_)
        if len(rows) < 2:
            return float(total**rate)
        square = _squares(
            (judges.rows - self.mean_) @ self.whitening_, (rows - self.mean_) @ self.whitening_
        )
        log_share = np.log(known.share)

        def loss(log_width: float) -> float:
            density = _density(square, log_share, float(np.exp(log_width)), d)
            return -float(judges.mean(density))

        usual = np.log(len(rows)) * rate
        bounds = (usual + np.log(_NARROWEST), usual + np.log(_WIDEST))
        best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02})
        return float(np.exp(best.x) * (total / len(rows)) ** rate)


def evenly(X: Array, weight: Array | None) -> Array:
    """Rows in a fixed order, each as often as its weight asks for: EM takes no weights."""
    found = collect(X, weight)
    count = min(found.size, _MIXTURE_ROWS)
    places = (np.arange(count) + 0.5) / count
    taken = np.searchsorted(np.cumsum(found.share), places)
    return np.asarray(found.rows[np.minimum(taken, len(found.rows) - 1)])


def _squares(Z: Array, centres: Array) -> Array:
    """Squared distances of rows from centres, shape (rows, centres)."""
    own, theirs = (np.einsum("ij,ij->i", A, A) for A in (Z, centres))
    return np.asarray(np.maximum(own[:, None] + theirs - 2.0 * Z @ centres.T, 0.0))


def _density(square: Array, log_share: Array, width: float, d: int) -> Array:
    """Log-density of the kernels, without the volume of the coordinates."""
    exponent = square * (-0.5 / width**2)
    exponent += log_share
    largest = exponent.max(axis=1)
    exponent -= largest[:, None]
    # Kernels e^-300 below the nearest are nothing, and cost a hundred times as much.
    np.maximum(exponent, -300.0, out=exponent)
    np.exp(exponent, out=exponent)
    inside = largest + np.log(exponent.sum(axis=1))
    return np.asarray(inside - d * (np.log(width) + 0.5 * np.log(2 * np.pi)))
