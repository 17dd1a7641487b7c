"""What an anchor may know besides the rows of its own class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Array


@dataclass(frozen=True)
class Surroundings:
    """Where a class's rows come from, in the coordinates that its anchor sees.

    Attributes
    ----------
    columns : ndarray of shape (d, d), optional
        ``X @ columns`` are the columns of the data, each scaled, which the
        coordinates of X mix. None where columns are linearly dependent.
    others : ndarray of shape (n, d)
        Rows of the other sample.
    """

    columns: Array | None
    others: Array

    @property
    def other(self) -> Array:
        """Mean of the other sample: the side from which this class is seen."""
        return np.asarray(self.others.mean(axis=0))
