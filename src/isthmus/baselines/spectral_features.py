"""Features for :class:`~isthmus.baselines.SpectralDRE`: quadratic ones, and random waves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..settings import is_auto
from ..typing import Array

FEATURES = ("quadratic", "fourier")
MOST_FEATURES = 5000
# More take longer than they are worth: the work grows with their cube.
_MOST_QUADRATIC = 1000
# In units of the typical distance of a row from the centre.
_WIDTHS = (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class QuadraticFeatures:
    """A constant, the coordinates, their squares and their products."""

    def __call__(self, Z: Array) -> Array:
        i, j = np.triu_indices(Z.shape[1])
        return np.hstack([np.ones((len(Z), 1)), Z, Z[:, i] * Z[:, j]])


@dataclass(frozen=True)
class WaveFeatures:
    """A constant, the coordinates, and cos(z' frequency + phase) with random frequencies.

    With frequencies drawn from a normal distribution of standard deviation 1 / width, products
    of waves average to a Gaussian kernel of that width (Rahimi & Recht 2007).

    Examples
    --------
    >>> import numpy as np
    >>> WaveFeatures(np.ones((2, 5)), np.zeros(5))(np.zeros((3, 2))).shape
    (3, 8)
    """

    frequencies: Array
    phases: Array

    def __call__(self, Z: Array) -> Array:
        waves = np.cos(Z @ self.frequencies + self.phases)
        return np.hstack([np.ones((len(Z), 1)), Z, waves])


def make_features(
    which: Any, columns: int, waves: int, width: float | str, rng: np.random.Generator
) -> list[Callable[[Array], Array]]:
    """What is to be tried, the simplest first."""
    if callable(which):
        return [which]
    found: list[Callable[[Array], Array]] = []
    small = (columns + 1) * (columns + 2) // 2 <= _MOST_QUADRATIC
    if which == "quadratic" or (is_auto(which) and small):
        if (columns + 1) * (columns + 2) // 2 > MOST_FEATURES:
            raise ValueError(
                f"features must be 'fourier' or 'auto' where there are more than {MOST_FEATURES} "
                f"quadratic features; received 'quadratic' with {columns} columns."
            )
        found.append(QuadraticFeatures())
    if which != "quadratic":
        frequencies = rng.standard_normal((columns, waves))
        phases = rng.uniform(0.0, 2.0 * np.pi, waves)
        typical = [share * np.sqrt(columns) for share in _WIDTHS]
        widths = typical if is_auto(width) else [float(width)]
        found += [WaveFeatures(frequencies / one, phases) for one in widths]
    return found
