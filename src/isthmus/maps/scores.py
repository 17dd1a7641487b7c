"""Normal scores of a distribution: the function Φ⁻¹(F) and its inverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ..typing import Array
from .logspline import LogSpline

LOG_ROOT_2PI = 0.5 * float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Tail:
    """What z does beyond a knot: z = z_K ± slope · bend · log(1 + abs(u - u_K) / bend).

    This is a straight line, and so a normal tail, until the distance reaches ``bend``.
    """

    sign: float
    knot: float
    z: float
    slope: float
    bend: float

    def forward(self, u: Array) -> tuple[Array, Array]:
        """Values z and log dz/du at u."""
        steps = np.log1p(np.abs(u - self.knot) / self.bend)
        return self.z + self.sign * self.slope * self.bend * steps, np.log(self.slope) - steps

    def backward(self, z: Array) -> Array:
        """The u that is mapped to z."""
        with np.errstate(over="ignore"):
            steps = np.expm1(np.abs(z - self.z) / (self.slope * self.bend))
            return np.asarray(self.knot + self.sign * self.bend * steps)


@dataclass(frozen=True)
class NormalScores:
    """Φ⁻¹(F), F being a distribution between two knots, and a formula beyond them.

    Attributes
    ----------
    body : LogSpline or None
        The distribution between the knots; None where the two are one.
    tails : (Tail, Tail)
        The function below and above.
    """

    body: LogSpline | None
    tails: tuple[Tail, Tail]

    @property
    def n_knots(self) -> int:
        """Number of knots."""
        return 1 if self.body is None else len(self.body.knots)

    def forward(self, u: Array) -> tuple[Array, Array]:
        """Values z and log dz/du at u."""
        z, log_slope = np.empty(u.shape), np.empty(u.shape)
        if self.body is not None:
            low, high = self.tails
            level, log_density = self.body.evaluate(np.clip(u, low.knot, high.knot))
            z = ndtri(level)
            log_slope = log_density + 0.5 * z**2 + LOG_ROOT_2PI
        for tail in self.tails:
            rows = tail.sign * (u - tail.knot) >= 0.0
            z[rows], log_slope[rows] = tail.forward(u[rows])
        return z, log_slope

    def log_density(self, u: Array) -> Array:
        """Log of the density of u under which z is standard normal."""
        z, log_slope = self.forward(u)
        return np.asarray(log_slope - 0.5 * z**2 - LOG_ROOT_2PI)

    def backward(self, z: Array) -> Array:
        """The u that is mapped to z."""
        u = np.empty(z.shape)
        if self.body is not None:
            low, high = self.tails
            u = self.body.inverse(np.asarray(ndtr(np.clip(z, low.z, high.z))))
        for tail in self.tails:
            rows = tail.sign * (z - tail.z) >= 0.0
            u[rows] = tail.backward(z[rows])
        return u


def tail_of(body: LogSpline, side: int, bend: float) -> Tail:
    """Go on beyond the first knot (side 0) or the last (side -1) with the slope there."""
    z = float(ndtri(body.levels[side]))
    slope = float(np.exp(body.log_density[side] + 0.5 * z**2 + LOG_ROOT_2PI))
    return Tail(1.0 if side else -1.0, float(body.knots[side]), z, slope, bend)
