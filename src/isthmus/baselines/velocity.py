"""Velocities of the flow from noise to a sample, for :class:`~isthmus.baselines.FlowMatching`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..anchors.elliptical import noise_correction
from ..anchors.gaussian import GaussianAnchor
from ..data.distinct import Distinct
from ..neural import require_torch
from ..typing import Array

_WAVES = 3


@dataclass(frozen=True)
class NormalVelocity:
    r"""Velocity of x_t = (1 - t) z + t x for x normal and z standard normal.

    .. math:: u(x, t) = m + (t S - (1 - t) I) (t^2 S + (1 - t)^2 I)^{-1} (x - t m) ,

    in the axes of S, in which it is diagonal.

    Examples
    --------
    Noise stays noise: in the middle its velocity is zero.

    >>> import numpy as np
    >>> NormalVelocity(np.zeros(2), np.ones(2), np.eye(2)).at(np.ones((1, 2)), 0.5).tolist()
    [[0.0, 0.0]]
    """

    mean: Array
    variances: Array
    axes: Array

    def _slopes(self, t: Any) -> Any:
        left = 1.0 - t
        return (t * self.variances - left) / (t * t * self.variances + left * left)

    def at(self, X: Array, t: Any) -> Array:
        """Velocity at rows, shape (n, d), for a number t or an array of shape (n, 1)."""
        turned = (X - t * self.mean) @ self.axes
        return np.asarray(self.mean + (self._slopes(t) * turned) @ self.axes.T)

    def divergence(self, t: float) -> float:
        """Divergence, which is the same everywhere."""
        return float(self._slopes(t).sum())


@dataclass
class Velocity:
    """A normal's velocity plus what a network adds, of one of the two samples.

    The divergence of the network is the sum over ``directions`` v of v' J v, exact where they are
    the axes.
    """

    base: NormalVelocity
    net: Any
    which: float
    directions: Array

    def with_divergence(self, X: Array, t: float) -> tuple[Array, Array]:
        """Velocity (n, d) and divergence (n,)."""
        torch = require_torch("FlowMatching")
        given = inputs(X, np.full((len(X), 1), t), self.which)
        with torch.no_grad():
            x, v = torch.from_numpy(given), torch.from_numpy(self.directions)
            first, d = self.net[0], self.directions.shape[1]
            x = first(x)
            # Of the inputs only the coordinates depend on x.
            slope = (v @ first.weight[:, :d].T).unsqueeze(0)
            for layer in self.net[1:]:
                if hasattr(layer, "weight"):
                    x, slope = layer(x), slope @ layer.weight.T
                else:
                    gate = torch.sigmoid(x)
                    slope = slope * (gate * (1.0 + x * (1.0 - gate))).unsqueeze(1)
                    x = layer(x)
            divergence = (slope * v).sum(dim=(1, 2)).numpy()
        return self.base.at(X, t) + x.numpy(), self.base.divergence(t) + divergence


def inputs(X: Array, t: Array, which: float) -> Array:
    """Coordinates, an embedding of the time, and +1 or -1 for p or q."""
    angles = [math.pi * k * t for k in range(1, _WAVES + 1)]
    waves = [wave for angle in angles for wave in (np.sin(angle), np.cos(angle))]
    # Fine structure is near t = 1, where what is left of the noise counts.
    late = np.log(1.0 - t + 1e-3) / 3.0
    side = np.full((len(X), 1), 1.0 - 2.0 * which)
    return np.hstack([X, 2.0 * t - 1.0, late, side, *waves])


def fit_velocities(
    p: Distinct, q: Distinct, *, anchored: bool
) -> tuple[tuple[NormalVelocity, NormalVelocity], float]:
    """Velocities to start from, and the constant by which their log-ratio is off in the mean.

    They are those of two fitted normals, or, if not anchored, both that of the standard
    normal: in the coordinates of the flow the pooled sample has its moments.
    """
    d = p.rows.shape[1]
    if not anchored:
        shared = NormalVelocity(np.zeros(d), np.ones(d), np.eye(d))
        return (shared, shared), 0.0
    found, bias = [], []
    for sample in (p, q):
        part = GaussianAnchor().fit(sample.rows, sample.weight).component_
        factor = noise_correction(part.rows, d)[0]
        values, axes = np.linalg.eigh(part.cholesky @ part.cholesky.T / factor)
        floor = np.finfo(float).eps * max(float(values[-1]), np.finfo(float).tiny)
        found.append(NormalVelocity(part.mean, np.maximum(values, floor), axes))
        bias.append(part.bias)
    return (found[0], found[1]), bias[0] - bias[1]
