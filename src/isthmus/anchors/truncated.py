"""The truncated anchor: for one column whose values end at an edge."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_ndtr, logsumexp

from ..data.sample import Sample
from ..data.validation import check_option
from ..maps.coordinates import Surroundings
from ..typing import Array
from .elliptical import Component, SampleAnchor
from .gaussian import GaussianAnchor

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(200)
_NEAREST = 10


class TruncatedAnchor(SampleAnchor):
    """A normal density cut off at one or both ends of the sample, in one dimension.

    The logarithm is a quadratic function between the edges, fitted by maximum
    likelihood; an edge lies one mean spacing beyond the last row, and past it
    the density falls off over such a spacing. What has been cut off does not
    bias the curvature, so that the quadratic can be followed to where the other
    class lies.

    Parameters
    ----------
    edges : {"below", "above", "both"}
        Where the density is cut off.

    Attributes
    ----------
    low_, high_ : float
        The edges; infinite where there is none.
    slope_, curvature_ : float
        Log-density ``constant_ + slope_ u + curvature_ u**2`` with u the
        standardised value.
    """

    normal_tails = True

    def __init__(self, edges: str = "both") -> None:
        self.edges = edges

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Fit edges and quadratic to the rows, shape (n, 1)."""
        check_option(self.edges, "edges", ["below", "above", "both"])
        x, size, share = sample.rows[:, 0], sample.size, sample.share
        self.centre_ = float(share @ x)
        self.scale_ = float(np.sqrt(share @ (x - self.centre_) ** 2)) or 1.0
        u = (x - self.centre_) / self.scale_
        self.low_, self.high_ = -np.inf, np.inf
        if self.edges != "above":
            self.low_ = -_edge(-u)
        if self.edges != "below":
            self.high_ = _edge(u)
        # An exponential family of the mean and the mean square: convex, and two numbers suffice.
        first, second = float(share @ u), float(share @ u**2)

        def loss(theta: Array) -> float:
            return float(self._log_mass(*theta) - theta[0] * first - theta[1] * second)

        bound = -1e-3 if self.edges != "both" else 50.0
        found = minimize(
            loss, np.array([0.0, -0.5]), method="L-BFGS-B", bounds=[(-200, 200), (-200, bound)]
        )
        self.slope_, self.curvature_ = map(float, found.x)
        self.constant_ = -self._log_mass(*found.x) - np.log(self.scale_)
        ends = np.array([self.low_, self.high_])
        with np.errstate(invalid="ignore", over="ignore"):
            height = np.exp(self._quadratic(np.where(np.isinf(ends), 0.0, ends)))
        # How far beyond the last row of a sample of this size the next may lie.
        self.layer_ = 1.0 / (size * np.maximum(height * self.scale_, 1.0 / size))
        normal = GaussianAnchor().fit(sample.rows, sample.weight)
        self.component_: Component = normal.component_

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        u = (X[:, 0] - self.centre_) / self.scale_
        inside = np.clip(u, self.low_, self.high_)
        beyond = np.where(u < inside, (inside - u) / self.layer_[0], (u - inside) / self.layer_[1])
        return np.asarray(self._quadratic(inside) - beyond)

    @property
    def components_(self) -> list[Component]:
        """A normal with the moments of the fit: what an auxiliary is placed on."""
        return [self.component_]

    def _quadratic(self, u: Array) -> Array:
        return np.asarray(self.constant_ + self.slope_ * u + self.curvature_ * u**2)

    def _log_mass(self, slope: float, curvature: float) -> float:
        """Log of the integral of exp(slope u + curvature u^2) between the edges."""
        if self.edges == "both":
            half, middle = 0.5 * (self.high_ - self.low_), 0.5 * (self.high_ + self.low_)
            u = middle + half * _NODES
            return float(logsumexp(slope * u + curvature * u**2, b=half * _NODE_WEIGHTS))
        scale = np.sqrt(-0.5 / curvature)
        mean = slope * scale**2
        tail = (self.high_ - mean) / scale if self.edges == "above" else (mean - self.low_) / scale
        return float(
            0.5 * (mean / scale) ** 2 + np.log(scale * np.sqrt(2 * np.pi)) + log_ndtr(tail)
        )


def _edge(u: Array) -> float:
    """The upper edge: the largest value, and one spacing of the largest few beyond it."""
    few = min(_NEAREST, len(u) - 1)
    top = np.partition(u, len(u) - 1 - few)[-few - 1 :]
    return float(top.max() + (top.max() - top.min()) / few)
