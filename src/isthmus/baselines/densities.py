"""Densities by maximum likelihood, for the ratio of two of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator

from ..anchors import GaussianAnchor, MixtureAnchor, StudentTAnchor
from ..anchors.elliptical import Component, OneComponent, mixture_log_density
from ..anchors.gaussian import shrunk_roots
from ..data.blocks import slices
from ..data.distinct import Distinct
from ..data.moments import moments
from ..data.sample import Sample
from ..maps.surroundings import Surroundings
from ..settings import is_auto
from ..typing import Array

_COMPONENTS = (1, 2, 3, 4, 6, 8)
_MIXTURE_ROWS = 20_000
_HELD_ROWS = 1000
_KERNEL_BYTES = 4_000_000
# Relative to the usual width, n^(-1 / (d + 4)).
_NARROWEST, _WIDEST = 0.02, 3.0


class Normal(OneComponent):
    """A normal distribution by maximum likelihood.

    If it is to be unbiased, the noise of the fit is taken out of the log-density, as in
    :class:`~isthmus.anchors.GaussianAnchor`.
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
        self.df_, self.component_ = fitted.df_, fitted.component_
        if not self.unbiased:
            self.component_ = replace(self.component_, rows=np.inf)
        return self


class NormalMixture(BaseEstimator):
    """A mixture of normals by maximum likelihood; see :class:`Normal`.

    A number of components of "auto" is the one, of 1, 2, 3, 4, 6 and 8, under which held-out
    rows are likeliest.
    """

    def __init__(self, n_components: int | str, unbiased: bool, rng: np.random.Generator) -> None:
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
        sample, count = Sample.of(X, sample_weight), self.n_components
        self.n_components_ = self._choose(sample, surroundings) if is_auto(count) else int(count)
        self.components_ = self._fitted(self.n_components_, sample, surroundings)
        return self

    def _fitted(
        self, count: int, sample: Sample, surroundings: Surroundings | None
    ) -> list[Component]:
        if count == 1:
            # In closed form, from all rows.
            return Normal(self.unbiased).fit(sample.rows, sample.weight).components_
        found = MixtureAnchor(count).fit(evenly(sample), None, surroundings).components_
        return found if self.unbiased else [replace(one, rows=np.inf) for one in found]

    def _choose(self, sample: Sample, surroundings: Surroundings | None) -> int:
        train, held = (half.sample for half in Distinct.to_split(sample).hold_out(self.rng))
        best, misses = (-np.inf, 1), 0
        for count in _COMPONENTS:
            if len(train) < count * (2 * train.rows.shape[1] + 2) and count > 1:
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

    The bandwidth is relative to the whole. If it is "auto", it is the one under which held-out
    rows are likeliest, narrowed for the full number of rows as n^(-1 / (d + 4)).
    """

    bias_ = 0.0

    def __init__(self, bandwidth: float | str, rng: np.random.Generator) -> None:
        self.bandwidth = bandwidth
        self.rng = rng

    def fit(self, X: Array, sample_weight: Array | None = None) -> Kernels:
        """Keep the rows, and find the width of the kernels."""
        sample = Sample.of(X, sample_weight)
        found = Distinct.to_split(sample)
        self.mean_, covariance = moments(sample)
        root, self.whitening_, _ = shrunk_roots(covariance, np.inf, len(found.rows))
        self.log_det_ = float(np.log(np.diag(root)).sum())
        found = found.map(self._white)
        self.centres_, self.log_share_ = found.rows, np.log(found.share)
        width = self.bandwidth
        self.bandwidth_ = self._choose(found) if is_auto(width) else float(width)
        return self

    def _white(self, X: Array) -> Array:
        return np.asarray((X - self.mean_) @ self.whitening_)

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,), some rows at a time."""
        Z = self._white(X)
        out = np.empty(len(Z))
        for rows in slices(len(Z), max(1, _KERNEL_BYTES // (8 * len(self.centres_)))):
            square = _squares(Z[rows], self.centres_)
            out[rows] = _density(square, self.log_share_, self.bandwidth_, Z.shape[1])
        return out - self.log_det_

    def _choose(self, found: Distinct) -> float:
        known, held = found.hold_out(self.rng)
        judges = held.sample.take(slice(_HELD_ROWS))
        count, d = known.rows.shape
        rate = -1.0 / (d + 4)
        if count < 2:
            return float(len(found.rows) ** rate)
        square, log_share = _squares(judges.rows, known.rows), np.log(known.share)

        def loss(log_width: float) -> float:
            density = _density(square, log_share, float(np.exp(log_width)), d)
            return -float(judges.mean(density))

        usual = np.log(count) * rate
        bounds = (usual + np.log(_NARROWEST), usual + np.log(_WIDEST))
        best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02})
        return float(np.exp(best.x) * (len(found.rows) / count) ** rate)


def evenly(sample: Sample) -> Array:
    """Rows in a fixed order, each as often as its weight asks for: EM takes no weights."""
    found = Distinct.to_split(sample)
    count = min(found.size, _MIXTURE_ROWS)
    return found.at((np.arange(count) + 0.5) / count)


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
