"""The few columns of either side that clearly depend on the other, where most do not.

The information of some columns is at most that of all. Where rows show which columns matter beyond
any doubt, flexible families are fitted to these alone: every further column costs them rows.
"""

from __future__ import annotations

import numpy as np

from ..typing import Array
from .marginal import Marginal

# Degrees of the polynomials of one side and of the other.
_DEGREES, _OTHER = 6, 2
# Standard errors from which on a correlation is beyond doubt, whichever of many it is: that these
# rows chose the columns is then no matter.
_CLEAR = 6.0
_LEAST = 500
# Most columns that are few, and by how many times all must be more.
_FEW, _TIMES = 8, 3.0
# Scores are cut here before powers are taken.
_FAR = 3.0


def narrowed(x: Marginal, y: Marginal) -> tuple[Marginal, Marginal] | None:
    """The columns that matter; None where they are not few, or what they share is straight.

    Normal copulas have correlations of polynomials of equal degree alone, which are powers of those
    of the scores: closed forms know these, in any number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(2000, 20))
    >>> y = np.sin(3 * x[:, [7]]) + 0.3 * rng.normal(size=(2000, 1))
    >>> sides = [Marginal.of(side, rng) for side in (x, y)]
    >>> few = narrowed(*sides)
    >>> few[0].width, bool((few[0].scores[:, 0] == sides[0].scores[:, 7]).all())
    (1, True)
    """
    n = len(x)
    if n < _LEAST or x.width + y.width < 4:
        return None
    clear, bent = np.zeros((2, x.width, y.width))
    of_x, of_y = (_polynomials(side.scores) for side in (x, y))
    straight = of_x[0].T @ of_y[0] / n
    for a, left in enumerate(of_x):
        for b, right in enumerate(of_y):
            if min(a, b) < _OTHER:
                found = left.T @ right / n
                clear = np.maximum(clear, np.abs(found) * np.sqrt(n))
                beyond = found - straight ** (a + 1) if a == b else found
                bent = np.maximum(bent, np.abs(beyond) * np.sqrt(n))
    if bent.max() < _CLEAR:
        return None
    kept = [np.flatnonzero(clear.max(axis=axis) > _CLEAR) for axis in (1, 0)]
    count = sum(map(len, kept))
    if not count or count > _FEW or x.width + y.width < _TIMES * count:
        return None
    return x.of_columns(kept[0]), y.of_columns(kept[1])


def _polynomials(scores: Array) -> list[Array]:
    """Hermite polynomials of all columns, of one degree after another, each standardised."""
    z = np.clip(scores, -_FAR, _FAR)
    powers = [np.ones_like(z), z]
    for k in range(2, _DEGREES + 1):
        powers.append((z * powers[-1] - np.sqrt(k - 1) * powers[-2]) / np.sqrt(k))
    found = [each - each.mean(axis=0) for each in powers[1:]]
    return [each / np.maximum(each.std(axis=0), 1e-12) for each in found]
