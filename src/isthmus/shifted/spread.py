"""How far labels scatter around predictions, as a function of the row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..typing import Array
from .conformity import predicted

_LEAST_SHARE = 0.05


@dataclass(frozen=True)
class Spread:
    """Expected distance of the label from the prediction.

    Attributes
    ----------
    model : regressor
        Of the logarithm of the distance.
    least : float
        What is added to every distance, so that no interval is nothing.
    """

    model: Any
    least: float

    def __call__(self, X: Any) -> Array:
        """Positive distances at rows, shape (n,)."""
        return np.asarray(np.exp(predicted(self.model, X)))


def fit_spread(distance: Array, fit: Any) -> Spread:
    """Fit a spread to distances of labels from predictions by a model that has not seen them.

    Parameters
    ----------
    distance : ndarray of shape (n,)
    fit : callable
        Takes the logarithms of distances and returns a fitted regressor.

    Returns
    -------
    Spread
    """
    # A label that is met by accident says little of the next one: the logarithm is kept from
    # falling without end.
    least = max(_LEAST_SHARE * float(np.mean(distance)), np.finfo(np.float64).tiny)
    return Spread(fit(np.log(distance + least)), least)
