"""A density of any shape in the leading non-linear variates.

Functions of x alone and of y alone with the largest correlation need not be jointly normal. What
they share is at most what x and y do, so that nothing is lost by asking of them alone.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from ..typing import Array, IntArray
from .conditional import ConditionalRatio
from .evaluation import LACKING, PairRatio
from .mixtures import MixtureRatio
from .nonlinear import NonlinearRatio

# Variates of each side that a density is fitted to.
_MOST = 3


class WarpedRatio(PairRatio):
    """A mixture of normals, or conditional densities, of non-linear variates.

    Parameters
    ----------
    bent : NonlinearRatio
        Finds the variates, anew for the rows of every fit.
    components : int
        Of the mixture; 0 is for conditional densities.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.information.nonlinear import FeatureSet
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(2000, 2))
    >>> y = (np.sign(x[:, 0] * x[:, 1]) * np.abs(rng.normal(size=2000)))[:, None]
    >>> bent = NonlinearRatio(x, y, FeatureSet(0, 3, 2), 1)
    >>> ratio = WarpedRatio(bent, 5, rng).fit(np.arange(1000))
    >>> rows = np.arange(1000, 2000)

    The truth is log(2), of which a normal density of the same variates sees a third.

    >>> own, normal = (each.log_ratio(rows, rows).mean() for each in (ratio, bent))
    >>> bool(1.5 * normal < own < np.log(2))
    True
    """

    normalised = True
    flexible = True
    lacks = LACKING

    def __init__(self, bent: NonlinearRatio, components: int, rng: np.random.Generator) -> None:
        self.bent, self.components, self.rng = bent, components, rng
        self.name = "bent, mixture" if components else "bent, conditional"

    def fit(self, rows: IntArray) -> Self:
        self.bent.fit(rows)
        a, b, _ = self.bent.variates()
        sides = a[:, :_MOST], b[:, :_MOST]
        self._own: PairRatio
        if self.components:
            self._own = MixtureRatio(*sides, self.components, _MOST, self.rng)
        else:
            self._own = ConditionalRatio(*sides, self.rng)
        self._own.fit(rows)
        return self

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        return self._own.log_ratio(i, j)
