"""The coordinates that an estimator works in: shared column maps, then an affine map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.sample import TwoSamples
from ..typing import Array
from .affine import AffineMap, canonical_map, column_map
from .shared import SharedMaps


@dataclass(frozen=True)
class Surroundings:
    """What an anchor may know besides the rows of its own class, in the coordinates it sees.

    ``X @ columns`` are the columns of the data, each scaled, which the coordinates of X mix;
    None where columns are linearly dependent. ``others`` are rows of the other sample. ``affine``
    is the map that X comes from, for what must see the columns themselves.
    """

    columns: Array | None
    others: Array
    affine: AffineMap | None = None

    @property
    def other(self) -> Array:
        """Mean of the other sample: the side from which this class is seen."""
        return np.asarray(self.others.mean(axis=0))


@dataclass(frozen=True)
class Coordinates:
    """A bijection of the data, the same for every class, which leaves p/q unchanged."""

    maps: SharedMaps | None  # An increasing function for every column; None for none.
    affine: AffineMap  # What follows.

    def __call__(self, X: Array) -> Array:
        return self.affine(X if self.maps is None else self.maps(X))

    def inverse(self, Z: Array) -> Array:
        """Return to the coordinates of x."""
        X = self.affine.inverse(Z)
        return X if self.maps is None else self.maps.inverse(X)

    def log_volume(self, X: Array) -> Array | float:
        """Log of the volume change |dz/dx|, at every row where it varies."""
        constant = self.affine.log_det
        return constant if self.maps is None else constant + self.maps.log_derivative(X)

    @property
    def columns(self) -> Array | None:
        """Matrix from z to the columns, each scaled; None where these are dependent."""
        if not self.affine.is_square:
            return None
        # The largest entry is divided out first: squares of 1e200 do not exist.
        backward = self.affine.backward / np.abs(self.affine.backward).max(axis=0)
        return np.asarray(backward / np.linalg.norm(backward, axis=0))

    def surroundings(self, other: Array) -> Surroundings:
        """What an anchor fitted in these coordinates may know; ``other`` are the other's rows."""
        return Surroundings(self.columns, other, self.affine)


def fit_coordinates(
    samples: TwoSamples, *, maps: Any = None, kind: str = "canonical", warn: bool = True
) -> Coordinates:
    """Fit the coordinates to two samples.

    ``maps`` are the kinds of the column maps, as in :class:`~isthmus.maps.SharedMaps`, or None.
    The affine map may mix columns if ``kind`` is "canonical", and not if it is "columns".
    """
    shared = None
    if maps is not None:
        p, q = samples
        fitted = SharedMaps(maps).fit(p.rows, q.rows, p.weight, q.weight)
        if not fitted.is_identity:
            shared, samples = fitted, samples.map(fitted)
    to_map = canonical_map if kind == "canonical" else column_map
    return Coordinates(shared, to_map(samples, warn))
