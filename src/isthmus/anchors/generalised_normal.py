"""The multivariate generalised normal anchor: for tails between those of Laplace and of a box."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from ..data.moments import clipped, moments
from ..data.sample import Sample
from ..maps.coordinates import Surroundings
from ..typing import Array
from .elliptical import Component, OneComponent, SampleAnchor, can_correct
from .gaussian import distinct_rows, shrunk_roots

_MAX_STEPS = 100
_LOG_SHAPE = (float(np.log(0.25)), float(np.log(3.0)))
# Squared radii below this share of their median count as much as those at it: below a shape of
# one the rows nearest to the centre would otherwise have all of the weight.
_CENTRE = 1e-3

LIGHT = 1.5
"""A power above which a density is flat with an edge, and tails say nothing."""


@dataclass(frozen=True)
class PowerComponent(Component):
    """A generalised normal distribution, whose root is that of its covariance."""

    shape: float = 1.0

    def radial(self, square: Array, d: int) -> Array:
        """Log-density of the standard distribution in d columns at squared radii."""
        return power_log_density(square, d, self.shape)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows."""
        d = len(self.mean)
        Z = rng.standard_normal((n, d))
        power = 2.0 * rng.gamma(0.5 * d / self.shape, size=n)
        radius = np.sqrt(power ** (1.0 / self.shape) / unit_scale(d, self.shape))
        Z *= (radius / np.linalg.norm(Z, axis=1))[:, None]
        return np.asarray(self.mean + Z @ self.cholesky.T)

    def exact(self, share: float, df: float) -> Component:
        """A Student-t of the same location, with a share and degrees of freedom, to draw from."""
        return Component(share, self.mean, self.cholesky, self.whitening, df)


class GeneralisedNormalAnchor(SampleAnchor, OneComponent):
    """A multivariate generalised normal (Kotz, exponential power) fitted by maximum likelihood.

    The density is proportional to ``exp(-½ (δ²/σ²)^β)`` with δ the Mahalanobis distance: normal for
    β = 1, with exponential tails for β = ½, flatter in the middle with shorter tails above 1. Given
    distances, the likeliest σ has a closed form, and β is maximised over; location and matrix then
    follow from weights δ^(2β-2), in turn. The noise of the fit is taken out as in
    :class:`GaussianAnchor`.

    Attributes
    ----------
    shape_ : float
        The power β.
    component_ : PowerComponent
        The fit.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).laplace(size=(5000, 1))
    >>> bool(0.45 < GeneralisedNormalAnchor().fit(X).shape_ < 0.55)
    True
    """

    def silent(self, X: Array) -> float:
        """Share of rows at which the fit says nothing: all, if it is flat with an edge."""
        return float(self.shape_ > LIGHT)

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Fit location, matrix and power."""
        X, size, share = sample.rows, sample.size, sample.share
        d = X.shape[1]
        corrected, distinct = can_correct(size, d), distinct_rows(X)
        start = moments(clipped(sample))
        mean, covariance = start.mean, start.covariance
        last = -np.inf
        for _ in range(_MAX_STEPS):
            root, whitening, _ = shrunk_roots(covariance, np.inf if corrected else size, distinct)
            Z = (X - mean) @ whitening
            square = np.einsum("ij,ij->i", Z, Z)
            square = np.maximum(square, max(_CENTRE * float(np.median(square)), 1e-300))
            shape, density, log_scale = _best_shape(square, d, share)
            value = density - float(np.log(np.diag(root)).sum())
            if value <= last + 1e-7 * d:
                break
            # The root of the covariance, which is what the component asks for.
            stretch = np.exp(log_scale) * np.sqrt(unit_scale(d, shape))
            component = PowerComponent(1.0, mean, root * stretch, whitening / stretch, shape=shape)
            last = value
            weight = share * square ** (shape - 1.0)
            weight /= weight.sum()
            mean = weight @ X
            D = X - mean
            found = (D * weight[:, None]).T @ D
            # Above a shape of one whole steps overshoot.
            step = 1.0 / max(shape, 1.0)
            if step < 1.0:
                found *= np.trace(covariance) / max(float(np.trace(found)), 1e-300)
            covariance = (1.0 - step) * covariance + step * found
        self.shape_ = component.shape
        self.component_ = replace(component, rows=float(size) if corrected else np.inf)


def unit_scale(d: int, shape: float) -> float:
    """What squared distances from a unit covariance are multiplied by in the power."""
    log_mean = np.log(2.0) / shape + gammaln(0.5 * (d + 2.0) / shape) - gammaln(0.5 * d / shape)
    return float(np.exp(log_mean) / d)


def power_log_density(square: Array, d: int, shape: float) -> Array:
    """Log-density of a generalised normal of unit covariance at a squared radius.

    Examples
    --------
    >>> import numpy as np
    >>> normal = -0.5 * np.log(2 * np.pi) - 0.5 * 4.0
    >>> bool(np.isclose(power_log_density(np.array([4.0]), 1, 1.0)[0], normal))
    True
    """
    scale = unit_scale(d, shape)
    return np.asarray(
        _log_constant(d, shape) + 0.5 * d * np.log(scale) - 0.5 * (scale * square) ** shape
    )


def _log_constant(d: int, shape: float) -> float:
    """Logarithm of what makes exp(-½ (δ²)^β) a density."""
    half = 0.5 * d / shape
    surface = gammaln(0.5 * d) - 0.5 * d * np.log(np.pi)
    return float(np.log(shape) + surface - gammaln(half) - half * np.log(2.0))


def _best_shape(square: Array, d: int, share: Array) -> tuple[float, float, float]:
    """Power at which these squared radii are likeliest, how likely, and the log of the scale σ."""
    logs = np.log(np.maximum(square, 1e-300))

    def log_scale(shape: float) -> float:
        return float(np.log(shape / d * (share @ np.exp(shape * logs))) / (2.0 * shape))

    def loss(log_shape: float) -> float:
        shape = float(np.exp(log_shape))
        # At the likeliest scale the mean of half the power is d / (2 β).
        return d * log_scale(shape) + 0.5 * d / shape - _log_constant(d, shape)

    found = minimize_scalar(loss, bounds=_LOG_SHAPE, method="bounded", options={"xatol": 1e-4})
    shape = float(np.exp(found.x))
    return shape, -float(found.fun), log_scale(shape)
