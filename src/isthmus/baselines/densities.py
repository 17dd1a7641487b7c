"""Densities by maximum likelihood, for the ratio of two of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from ..anchors import GaussianAnchor, MixtureAnchor, StudentTAnchor
from ..anchors.elliptical import Component, mixture_log_density
from ..anchors.gaussian import shrunk_roots
from ..data.blocks import slices
from ..data.distinct import Distinct
from ..data.moments import moments
from ..data.sample import Sample
from ..maps.surroundings import Surroundings
from ..settings import is_auto
from ..typing import Array
from .kernel import squares

_COMPONENTS = (1, 2, 3, 4, 6, 8)
_MIXTURE_ROWS = 20_000
_HELD_ROWS = 1000
_KERNEL_BYTES = 4_000_000
# Relative to the usual width, n^(-1 / (d + 4)).
_NARROWEST, _WIDEST = 0.02, 3.0


@dataclass(frozen=True)
class Components:
    """A mixture of normals or Student-t distributions, or one of them."""

    components_: list[Component]

    @property
    def n_components_(self) -> int:
        """Number of components."""
        return len(self.components_)

    @property
    def bias_(self) -> float:
        """Bias of the log-density: that of the components, by their shares."""
        return float(sum(part.share * part.bias for part in self.components_))

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        return mixture_log_density(self.components_, X)


def fit_normal(sample: Sample, unbiased: bool) -> Components:
    """Fit a normal distribution; the noise of the fit is taken out if it is to be unbiased."""
    X = sample.rows
    if unbiased:
        return Components(GaussianAnchor().fit(X, sample.weight).components_)
    mean, covariance = moments(sample)
    distinct = len(X) if len(X) > 10 * X.shape[1] else len(np.unique(X, axis=0))
    root, whitening, _ = shrunk_roots(covariance, np.inf, distinct)
    return Components([Component(1.0, mean, root, whitening)])


def fit_student_t(sample: Sample, unbiased: bool) -> Components:
    """Fit location, scale matrix and degrees of freedom of a Student-t distribution."""
    found = StudentTAnchor().fit(sample.rows, sample.weight).components_
    return Components(found if unbiased else [replace(one, rows=np.inf) for one in found])


def fit_mixture(
    sample: Sample,
    count: int | str,
    unbiased: bool,
    surroundings: Surroundings,
    rng: np.random.Generator,
) -> Components:
    """Fit a mixture of normals; "auto" is the number under which held-out rows are likeliest."""

    def fitted(part: Sample, count: int) -> Components:
        if count == 1:
            # In closed form, from all rows.
            return fit_normal(part, unbiased)
        found = MixtureAnchor(count).fit(evenly(part), None, surroundings).components_
        return Components(found if unbiased else [replace(one, rows=np.inf) for one in found])

    if not is_auto(count):
        return fitted(sample, int(count))
    train, held = (half.sample for half in Distinct.to_split(sample).hold_out(rng))
    best, misses = (-np.inf, 1), 0
    for number in _COMPONENTS:
        if len(train) < number * (2 * train.rows.shape[1] + 2) and number > 1:
            break
        value = float(held.mean(fitted(train, number).score_samples(held.rows)))
        misses = 0 if value > best[0] else misses + 1
        best = max(best, (value, number))
        if misses == 2:
            break
    return fitted(sample, best[1])


@dataclass(frozen=True)
class Kernels:
    """A normal kernel at every row, with the shape of the covariance of all.

    Centres are in the coordinates in which the sample is white; the bandwidth is relative to it.
    """

    mean_: Array
    whitening_: Array
    log_det_: float
    centres_: Array
    log_share_: Array
    bandwidth_: float
    bias_: float = 0.0

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,), some rows at a time."""
        Z = (X - self.mean_) @ self.whitening_
        out = np.empty(len(Z))
        for rows in slices(len(Z), max(1, _KERNEL_BYTES // (8 * len(self.centres_)))):
            square = squares(Z[rows], self.centres_)
            out[rows] = _density(square, self.log_share_, self.bandwidth_, Z.shape[1])
        return out - self.log_det_


def fit_kernels(sample: Sample, bandwidth: float | str, rng: np.random.Generator) -> Kernels:
    """Put a kernel at every row, and find its width."""
    found = Distinct.to_split(sample)
    mean, covariance = moments(sample)
    root, whitening, _ = shrunk_roots(covariance, np.inf, len(found.rows))
    found = found.map(lambda X: (X - mean) @ whitening)
    width = _best_width(found, rng) if is_auto(bandwidth) else float(bandwidth)
    log_det = float(np.log(np.diag(root)).sum())
    return Kernels(mean, whitening, log_det, found.rows, np.log(found.share), width)


def _best_width(found: Distinct, rng: np.random.Generator) -> float:
    """The width under which held-out rows are likeliest, narrowed for the full number of rows."""
    known, held = found.hold_out(rng)
    judges = held.sample.take(slice(_HELD_ROWS))
    count, d = known.rows.shape
    rate = -1.0 / (d + 4)
    if count < 2:
        return float(len(found.rows) ** rate)
    square, log_share = squares(judges.rows, known.rows), np.log(known.share)

    def loss(log_width: float) -> float:
        return -float(judges.mean(_density(square, log_share, float(np.exp(log_width)), d)))

    usual = np.log(count) * rate
    bounds = (usual + np.log(_NARROWEST), usual + np.log(_WIDEST))
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02})
    return float(np.exp(best.x) * (len(found.rows) / count) ** rate)


def evenly(sample: Sample) -> Array:
    """Rows in a fixed order, each as often as its weight asks for: EM takes no weights."""
    found = Distinct.to_split(sample)
    count = min(found.size, _MIXTURE_ROWS)
    return found.at((np.arange(count) + 0.5) / count)


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
