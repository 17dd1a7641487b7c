"""Increasing maps of one column that have a formula, and what all maps have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..typing import Array

_LARGEST = float(np.finfo(np.float64).max)


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
class IdentityMap(UnitMap):
    """The map that leaves a column as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.maps import IdentityMap
    >>> column, x = IdentityMap(), np.array([0.5, 1.0, 2.0])
    >>> z = column(x)
    >>> bool((np.diff(z) > 0).all()), np.allclose(column.inverse(z), x)
    (True, True)
    """

    centre: float = 0.0
    scale: float = 1.0
    far: ClassVar[float] = np.inf

    def _forward(self, u: Array) -> tuple[Array, Array]:
        return u, np.zeros(np.shape(u))

    def _backward(self, z: Array) -> Array:
        return z


@dataclass(frozen=True)
class LogMap(UnitMap):
    """log(x / scale) for positive columns, or its mirror image for negative ones.

    ``scale`` is the smallest size in the sample. On the other side of it the map
    goes on as its own reflection, so that it is defined at zero and beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.maps import LogMap
    >>> column, x = LogMap(1.0), np.array([0.5, 1.0, 2.0])
    >>> z = column(x)
    >>> bool((np.diff(z) > 0).all()), np.allclose(column.inverse(z), x)
    (True, True)
    """

    scale: float
    sign: float = 1.0
    centre: float = 0.0
    # Logarithms bear larger ranges than powers do.
    far: ClassVar[float] = 1e300

    def _forward(self, u: Array) -> tuple[Array, Array]:
        # The distance from the point of reflection decides: 1 + |v - 1| is v, or 2 - v.
        distance = self.sign * u - 1.0
        size = np.log1p(np.abs(distance))
        return self.sign * np.sign(distance) * size, -size

    def _backward(self, z: Array) -> Array:
        z = self.sign * z
        return np.asarray(self.sign * (1.0 + np.sign(z) * np.expm1(np.abs(z))))


@dataclass(frozen=True)
class SignedLogMap(UnitMap):
    """sign(u) log(1 + abs(u)) with u = (x - centre) / scale.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.maps import SignedLogMap
    >>> column, x = SignedLogMap(0.0, 1.0), np.array([0.5, 1.0, 2.0])
    >>> z = column(x)
    >>> bool((np.diff(z) > 0).all()), np.allclose(column.inverse(z), x)
    (True, True)
    """

    centre: float
    scale: float

    def _forward(self, u: Array) -> tuple[Array, Array]:
        size = np.log1p(np.abs(u))
        return np.sign(u) * size, -size

    def _backward(self, z: Array) -> Array:
        return np.asarray(np.sign(z) * np.expm1(np.abs(z)))


@dataclass(frozen=True)
class AsinhMap(UnitMap):
    """arsinh(u) with u = (x - centre) / scale: straight near the centre, then logarithmic.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.maps import AsinhMap
    >>> column, x = AsinhMap(0.0, 1.0), np.array([0.5, 1.0, 2.0])
    >>> z = column(x)
    >>> bool((np.diff(z) > 0).all()), np.allclose(column.inverse(z), x)
    (True, True)
    """

    centre: float
    scale: float

    def _forward(self, u: Array) -> tuple[Array, Array]:
        return np.arcsinh(u), -0.5 * np.log1p(u**2)

    def _backward(self, z: Array) -> Array:
        return np.sinh(z)


@dataclass(frozen=True)
class YeoJohnsonMap(UnitMap):
    """The power transformation of Yeo & Johnson (2000) of u = (x - centre) / scale.

    The exponent is in [0, 2]: 1 is a straight line, less shortens the upper tail
    and stretches the lower one, more does the opposite.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.maps import YeoJohnsonMap
    >>> column, x = YeoJohnsonMap(0.0, 1.0, 0.5), np.array([0.5, 1.0, 2.0])
    >>> z = column(x)
    >>> bool((np.diff(z) > 0).all()), np.allclose(column.inverse(z), x)
    (True, True)
    """

    centre: float
    scale: float
    exponent: float

    def _forward(self, u: Array) -> tuple[Array, Array]:
        size = np.log1p(np.abs(u))
        above, below = self.exponent, 2.0 - self.exponent
        z = np.where(u >= 0.0, _power(size, above), -_power(size, below))
        return z, np.where(u >= 0.0, above - 1.0, below - 1.0) * size

    def _backward(self, z: Array) -> Array:
        size = np.abs(z)
        above, below = self.exponent, 2.0 - self.exponent
        return np.where(z >= 0.0, _unpower(size, above), -_unpower(size, below))


def _power(size: Array, exponent: float) -> Array:
    """((1 + u)^a - 1) / a, given log(1 + u)."""
    return size if exponent == 0.0 else np.expm1(exponent * size) / exponent


def _unpower(z: Array, exponent: float) -> Array:
    return np.expm1(z if exponent == 0.0 else np.log1p(exponent * z) / exponent)
