"""Boosted trees on what a regression leaves over: where one column says which others matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data.holdout import PROVEN
from ..typing import Array, IntArray

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingRegressor

# Rows that say whether trees see anything, and their number there.
_ROWS, _FEW = 4000, 40
# Share of the variance that trees have to explain.
_SHARE = 0.02
# Residuals count as no farther than so many spreads.
_FAR = 4.0
# Trees that are grown for a ratio, and the parts of the rows that one part is foretold by.
_TREES, _PARTS = 80, 3


def seen_by_trees(inputs: Array, target: Array) -> float:
    """Share of the variance of a target that trees explain in one half of the rows by the other.

    It is zero where it is small, or may be noise.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4000, 3))
    >>> noise = rng.normal(size=4000)
    >>> bool(seen_by_trees(x, np.sign(x[:, 0] * x[:, 1]) + noise) > 0.3), seen_by_trees(x, noise)
    (True, 0.0)
    """
    inputs, target = inputs[:_ROWS], target[:_ROWS]
    half = len(target) // 2
    trees = _trees(_FEW).fit(inputs[:half], target[:half])
    gap = (target[half:] - target[:half].mean()) ** 2
    gain = gap - (target[half:] - trees.predict(inputs[half:])) ** 2
    share = float(gain.mean() / max(gap.mean(), 1e-300))
    clear = gain.mean() > PROVEN * gain.std() / np.sqrt(len(gain))
    return min(share, 0.999) if clear and share > _SHARE else 0.0


def foretold(inputs: Array, target: Array, rows: IntArray) -> Array:
    """What trees say of a target in all rows; of the fitted ones, trees grown without them."""
    middle, spread = float(target[rows].mean()), float(target[rows].std())
    target = np.clip(target, middle - _FAR * spread, middle + _FAR * spread)
    part = np.arange(len(rows)) % _PARTS
    out, own = np.zeros(len(inputs)), np.empty(len(rows))
    for k in range(_PARTS):
        known = rows[part != k]
        said = _trees(_TREES).fit(inputs[known], target[known]).predict(inputs)
        own[part == k] = said[rows[part == k]]
        out += said / _PARTS
    out[rows] = own
    return out


def _trees(count: int) -> HistGradientBoostingRegressor:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=count, max_leaf_nodes=15, early_stopping=False, random_state=0
    )
