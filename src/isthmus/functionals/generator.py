"""An f-divergence from the user's own convex function f."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..typing import Array

# Beyond exp(±700) floats run out; 9 nats of headroom let f multiply by log r.
_EDGE = 700.0
# g(t) at the edge is at most some thousands for growth like r log r. A power of
# r would be astronomical there: it is reported as infinite, not extrapolated.
_FAST = 1e100


@dataclass(frozen=True)
class Generator:
    """f as a function of t: g(t) = (f(r) - c (r - 1)) / (1 + r), r = exp(t).

    The linear part, c = f'(1), integrates to zero; taking it away leaves terms that
    are nonnegative and flat at t = 0. Any c is unbiased, so a numerical one will do.
    """

    f: Callable[[Any], Any]
    tangent: float

    @classmethod
    def check(cls, f: Callable[[Any], Any]) -> Generator:
        h = 1e-5
        r = np.array([0.5, 1.0, 2.0, 1 - h, 1 + h])
        try:
            with np.errstate(all="ignore"):
                y = np.asarray(f(r), dtype=np.float64)
        except Exception as error:
            raise ValueError(
                f"spec must be a function that accepts an array of ratios; received one that "
                f"raised {type(error).__name__}: {error}."
            ) from error
        if y.shape != r.shape or not np.all(np.isfinite(y)):
            raise ValueError(
                f"spec must be a function that maps an array of ratios to finite numbers of "
                f"the same shape; received {y} for {r}."
            )
        if abs(y[1]) > 1e-8:
            raise ValueError(f"spec must be a function with f(1) = 0; received f(1) = {y[1]}.")
        if 2 * y[0] + y[2] < -1e-8:
            raise ValueError(
                f"spec must be a convex function; received f(1/2) = {y[0]} and f(2) = {y[2]}, "
                "whose chord passes below f(1) = 0."
            )
        return cls(f, float((y[4] - y[3]) / (2 * h)))

    def term(self, t: Array) -> Array:
        t = np.asarray(t, dtype=np.float64)
        out = self._inside(np.clip(t, -_EDGE, _EDGE))
        for side in (-1.0, 1.0):
            beyond = side * t > _EDGE
            if beyond.any():
                out = np.where(beyond, self._tail(side, np.maximum(side * t - _EDGE, 0)), out)
        return out

    def slope(self, t: Array) -> Array:
        """Central difference in t."""
        h = 1e-5
        t = np.clip(np.asarray(t, dtype=np.float64), -2 * _EDGE, 2 * _EDGE)
        high, low = self.term(t + h), self.term(t - h)
        overflow = np.isinf(high) & np.isinf(low)
        with np.errstate(invalid="ignore"):
            return np.where(overflow, np.sign(t) * high, (high - low) / (2 * h))

    def p_influence(self, t: Array) -> Array:
        """f'(r), less the linear part."""
        r, _, steep = self._relative_slope(t)
        return np.where(np.isnan(steep), np.copysign(np.inf, t), steep / r - self.tangent)

    def q_influence(self, t: Array) -> Array:
        """f(r) - r f'(r), less the linear part."""
        _, y, steep = self._relative_slope(t)
        return np.where(np.isnan(steep), np.copysign(np.inf, -t), y - steep + self.tangent)

    def _relative_slope(self, t: Array) -> tuple[Array, Array, Array]:
        """r, f(r) and r f'(r) by a central difference; the last is NaN where f overflows."""
        h = 1e-5
        r = np.exp(np.clip(t, -_EDGE, _EDGE))
        with np.errstate(all="ignore"):
            y, high, low = (
                np.asarray(self.f(x), dtype=np.float64) for x in (r, r * (1 + h), r * (1 - h))
            )
            return r, y, np.where(np.isfinite(y), (high - low) / (2 * h), np.nan)

    def _inside(self, t: Array) -> Array:
        r = np.exp(t)
        with np.errstate(all="ignore"):
            y = np.asarray(self.f(r), dtype=np.float64)
        if np.isnan(y).any():
            raise ValueError(
                f"spec must be a function defined for all ratios above 0; received NaN at "
                f"r = {r[np.isnan(y)].flat[0]:.6g}."
            )
        return np.asarray(y / (1 + r) - self.tangent * np.tanh(t / 2))

    def _tail(self, side: float, excess: Array) -> Array:
        """Continue g beyond the edge: constant or linear in t, as for f up to r log r."""
        edge, before = self._inside(side * np.array([_EDGE, _EDGE - 10]))
        if abs(edge) > _FAST:
            return np.full_like(excess, np.copysign(np.inf, edge))
        step = (edge - before) / 10
        if abs(step) <= 1e-12 * max(1.0, abs(edge)):
            return np.full_like(excess, edge)
        return np.asarray(edge + step * excess)
