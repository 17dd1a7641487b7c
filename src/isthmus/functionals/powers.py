"""Powers of the ratio, as functions of its logarithm: terms of the alpha divergences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..typing import Array
from .arrays import exp, expm1


@dataclass(frozen=True)
class Power:
    """scale * (r^order - 1)."""

    scale: float
    order: float

    def __call__(self, t: Array) -> Array:
        return self.scale * expm1(self.order * np.asarray(t))


@dataclass(frozen=True)
class AlphaTerm:
    """f(r) / (1 + r) for f(r) = (r^a - a r - (1 - a)) / (a (a - 1)), a = alpha from 1/2 on.

    The linear part of f integrates to zero; it is there because it makes f
    nonnegative and flat at r = 1, so the noise vanishes with the divergence.
    """

    alpha: float

    def __call__(self, t: Array) -> Array:
        return np.asarray((self._box_cox(t, expit(t)) - np.tanh(np.divide(t, 2))) / self.alpha)

    def slope(self, t: Array) -> Array:
        t = np.clip(t, -1e300, 1e300)  # the difference of two exponents below has no value at inf
        both = expit(t) * expit(np.negative(t))
        steep = self._box_cox(t, both, other_side=True)
        return np.asarray((steep + exp(self._log_power_share(t)) - 2 * both) / self.alpha)

    def _log_power_share(self, t: Array) -> Array:
        """Logarithm of r^alpha / (1 + r), finite arithmetic even at t = ±inf (alpha not 1)."""
        power = np.where(np.greater(t, 0), (self.alpha - 1) * t, self.alpha * t)
        return np.asarray(power - _log1p_exp_minus(t))

    def _box_cox(self, t: Array, factor: Array, other_side: bool = False) -> Array:
        """Form factor * (r^b - 1) / b for b = alpha - 1, with r^b * factor formed in log space.

        The factor is r / (1 + r), times 1 / (1 + r) if `other_side`. Near alpha = 1 the
        difference would lose its digits, so `expm1` takes over where its argument is small.
        """
        beta = self.alpha - 1
        exponent = self._log_power_share(t)
        if other_side:
            exponent = exponent - np.maximum(t, 0) - _log1p_exp_minus(t)
        small = factor * np.expm1(np.clip(beta * t, -1, 1))
        large = exp(exponent) - factor
        return np.asarray(np.where(np.abs(beta * t) < 1, small, large) / beta)


def _log1p_exp_minus(t: Array) -> Array:
    return np.asarray(np.log1p(np.exp(-np.abs(t))))
