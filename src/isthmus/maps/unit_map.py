"""What every increasing map of one column has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from ..typing import Array

_LARGEST = float(np.finfo(np.float64).max)


@runtime_checkable
class ColumnMap(Protocol):
    """An increasing map of the line onto the line, applied value by value.

    ``evaluate`` returns the values and the log-derivatives at once.
    """

    def __call__(self, x: Array) -> Array: ...

    def inverse(self, z: Array) -> Array: ...

    def log_derivative(self, x: Array) -> Array: ...

    def evaluate(self, x: Array) -> tuple[Array, Array]: ...


class UnitMap:
    """A map of ``u = (x - centre) / scale``: its kinds give ``_forward`` and ``_backward``.

    ``_forward(u)`` returns z and log dz/du; ``_backward(z)`` returns u. Beyond u = ±far
    the map is constant: there its powers would not be finite.
    """

    centre: float
    scale: float
    far: ClassVar[float] = 1e60

    def _forward(self, u: Array) -> tuple[Array, Array]:
        raise NotImplementedError

    def _backward(self, z: Array) -> Array:
        raise NotImplementedError

    def _units(self, x: Array) -> Array:
        with np.errstate(over="ignore"):
            u = (np.asarray(x, dtype=np.float64) - self.centre) / self.scale
        return np.clip(u, -self.far, self.far)

    def evaluate(self, x: Array) -> tuple[Array, Array]:
        """Values z and log dz/dx at x, each shaped like x."""
        z, log_slope = self._forward(self._units(x))
        return z, log_slope - np.log(self.scale)

    def __call__(self, x: Array) -> Array:
        return self.evaluate(x)[0]

    def log_derivative(self, x: Array) -> Array:
        """Logarithm of dz/dx at x."""
        return self.evaluate(x)[1]

    def inverse(self, z: Array) -> Array:
        """The x that is mapped to z."""
        with np.errstate(over="ignore"):
            u = np.clip(self._backward(np.asarray(z, dtype=np.float64)), -self.far, self.far)
            return np.clip(self.centre + self.scale * u, -_LARGEST, _LARGEST)


@dataclass(frozen=True)
class IdentityMap:
    """The map that leaves a column as it is."""

    def __call__(self, x: Array) -> Array:
        return np.asarray(x, dtype=np.float64)

    def inverse(self, z: Array) -> Array:
        """The x that is mapped to z."""
        return np.asarray(z, dtype=np.float64)

    def log_derivative(self, x: Array) -> Array:
        """Logarithm of dz/dx at x: zero."""
        return np.zeros(np.shape(x))

    def evaluate(self, x: Array) -> tuple[Array, Array]:
        """Values z and log dz/dx at x."""
        return self(x), self.log_derivative(x)


def quantiles(x: Array, share: Array, levels: Array) -> Array:
    """Smallest values below or at which at least these shares of a sorted sample lie."""
    # Sums of shares miss a level by rounding; a row more or less must not depend on that.
    index = np.searchsorted(np.cumsum(share), np.asarray(levels) - 1e-12)
    return x[np.minimum(index, len(x) - 1)]


def centre_and_scale(x: Array, share: Array) -> tuple[float, float]:
    """Median of a sorted sample, and its interquartile range in units of a normal's."""
    low, middle, high = quantiles(x, share, np.array([0.25, 0.5, 0.75]))
    spread = (high - low) / 1.349
    if not spread > 0.0:
        spread = x[-1] - x[0]
    return float(middle), float(spread) if spread > 0.0 else 1.0
