"""What an anchor may know besides the rows of its own class."""

from __future__ import annotations

from dataclasses import dataclass

from .._typing import Array


@dataclass(frozen=True)
class Surroundings:
    """Where a class's rows come from, in the coordinates that its anchor sees.

    Attributes
    ----------
    columns : ndarray of shape (d, d), optional
        ``X @ columns`` are the columns of the data, each scaled, which the
        coordinates of X mix. None where columns are linearly dependent.
    other : ndarray of shape (d,)
        Mean of the other sample: the side from which this class is seen.
    """

    columns: Array | None
    other: Array
