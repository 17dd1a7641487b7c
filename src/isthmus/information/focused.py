"""Conditional densities of the few columns that matter, where rows are few for all of them.

A column costs as many rows as its splines have coefficients, whether it matters or not. With few
rows for each column only straight lines are left for all of them; the columns that show any
dependence by themselves can have more.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from ..typing import Array, IntArray
from .conditional import ConditionalRatio
from .evaluation import LACKING, PairRatio

# Rows for every feature: of few columns that were sought out there are fewer features to pay for.
_ROWS = 8
# Features that a column should be able to have.
_FEATURES = 5
# Columns of both sides that are few: each is explained by all before it.
_MOST = 16
# A column that shows less than this share of what the strongest shows stays out.
_SHARE = 0.4


class FocusedRatio(PairRatio):
    """Conditional densities of the columns that depend most on the other side.

    A column is ranked by its largest correlation with a column of the other side, each as
    it is or squared. The information of some columns is at most that of all.

    Parameters
    ----------
    x, y : ndarray
        Normal scores.
    turned : bool
        Whether columns of x are explained by y.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 8))
    >>> y = x[:, [5]] ** 2 + 0.5 * rng.normal(size=(200, 1))
    >>> ratio = FocusedRatio(x, y, rng).fit(np.arange(200))
    >>> ratio.columns
    (array([5]), array([0]))
    """

    normalised = True
    flexible = True
    lacks = LACKING

    def __init__(self, x: Array, y: Array, rng: np.random.Generator, turned: bool = False) -> None:
        self.x, self.y, self.rng, self.turned = x, y, rng, turned
        self.name = "few columns, x by y" if turned else "few columns"

    def fit(self, rows: IntArray) -> Self:
        most = int(np.clip(len(rows) // (_ROWS * _FEATURES), 2, _MOST))
        self.columns = _leading(self.x[rows], self.y[rows], most)
        of_x, of_y = self.columns
        self._own = ConditionalRatio(
            self.x[:, of_x], self.y[:, of_y], self.rng, self.turned, rows_each=_ROWS
        ).fit(rows)
        return self

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        return self._own.log_ratio(i, j)


def _leading(x: Array, y: Array, most: int) -> tuple[IntArray, IntArray]:
    """Columns of x and of y with the largest correlations, at most so many in all."""
    n = len(x)
    sides = []
    for z in (x, y):
        every = np.stack([z, z * z])
        every = every - every.mean(axis=1, keepdims=True)
        sides.append(every / np.maximum(every.std(axis=1, keepdims=True), 1e-12))
    strength = np.abs(np.einsum("anj,bnk->abjk", *sides)).max(axis=(0, 1)) / n
    least = max(_SHARE * float(strength.max()), 2.0 * np.sqrt(np.log(4.0 * strength.size) / n))
    order = np.argsort(-strength, axis=None, kind="stable")
    of_x: list[int] = []
    of_y: list[int] = []
    for at in order:
        j, k = (int(one) for one in np.unravel_index(at, strength.shape))
        if of_x and strength[j, k] < least:
            break
        if len({*of_x, j}) + len({*of_y, k}) > most and of_x:
            break
        if j not in of_x:
            of_x.append(j)
        if k not in of_y:
            of_y.append(k)
    return np.sort(np.array(of_x)), np.sort(np.array(of_y))
