"""What a regression on splines leaves over, learned by trees or by smooth surfaces.

Trees see where one column says which others matter; surfaces see smooth functions of several
columns, and of directions that lie across them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..data.holdout import PROVEN
from ..typing import Array, IntArray
from .surfaces import MOST_COLUMNS, Surface

# Rows that say whether a learner sees anything.
_ROWS = 4000
# Share of the variance that it has to explain.
_SHARE = 0.02
# Residuals count as no farther than so many spreads.
_FAR = 4.0
# Trees that are grown for a ratio, and the parts of the rows that one part is foretold by.
_TREES, _PARTS = 80, 3


class Learner(Protocol):
    """A regression with its settings."""

    @property
    def name(self) -> str:
        """What answers call it."""

    @property
    def whole(self) -> bool:
        """Whether it learns a column itself, rather than what a regression leaves over."""

    def fit(self, inputs: Array, target: Array) -> Callable[[Array], Array]:
        """A function of rows like the inputs."""


@dataclass(frozen=True)
class Trees:
    """Boosted trees."""

    count: int = _TREES

    name = "trees"
    whole = False

    def fit(self, inputs: Array, target: Array) -> Callable[[Array], Array]:
        """The function that the trees add up to."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        trees: Any = HistGradientBoostingRegressor(
            max_iter=self.count, max_leaf_nodes=15, early_stopping=False, random_state=0
        )
        predict: Callable[[Array], Array] = trees.fit(inputs, target).predict
        return predict


def best_learner(
    inputs: Array, target: Array, column: Array | None = None, spread: Array | None = None
) -> tuple[Learner | None, float]:
    """The learner that explains most of a target, and the share of its variance that it explains.

    All see one half of the rows and are judged by the other. There is none where the share is
    small, or may be noise. Of a ``column`` the target is what a regression leaves over, in units
    of its ``spread``: what learns it anew may leave less.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4000, 3))
    >>> noise = rng.normal(size=4000)
    >>> best_learner(x, np.sign(x[:, 0] * x[:, 1]) + noise)[0]
    Trees(count=80)
    >>> best_learner(x, np.sin(x[:, 0] + x[:, 1] * x[:, 2]) + noise)[0].name
    'surfaces'
    >>> best_learner(x, noise)
    (None, 0.0)
    """
    inputs, target = inputs[:_ROWS], target[:_ROWS]
    half = len(target) // 2
    known, asked = inputs[:half], inputs[half:]
    left: list[tuple[Learner, Array]] = []
    tried: list[Learner] = [Trees()]
    if inputs.shape[1] <= MOST_COLUMNS:
        tried.append(Surface.sought(known, target[:half]))
    for learner in tried:
        left.append((learner, target[half:] - learner.fit(known, target[:half])(asked)))
    if column is not None and spread is not None and inputs.shape[1] <= MOST_COLUMNS:
        column, spread = column[:_ROWS], spread[:_ROWS]
        surface = replace(Surface.sought(known, column[:half]), whole=True)
        rest = column[half:] - surface.fit(known, column[:half])(asked)
        left.append((surface, np.clip(rest / spread[half:], -_FAR, _FAR)))
    gap = (target[half:] - target[:half].mean()) ** 2
    best: Learner | None = None
    most = 0.0
    for learner, rest in left:
        gain = gap - rest**2
        share = float(gain.mean() / max(gap.mean(), 1e-300))
        clear = gain.mean() > PROVEN * gain.std() / np.sqrt(len(gain))
        if clear and share > max(_SHARE, most):
            best, most = learner, min(share, 0.999)
    return best, most


def foretold(learner: Learner, inputs: Array, target: Array, rows: IntArray) -> Array:
    """What a learner says of a target in all rows; of the fitted ones, by fits without them."""
    middle, spread = float(target[rows].mean()), float(target[rows].std())
    target = np.clip(target, middle - _FAR * spread, middle + _FAR * spread)
    part = np.arange(len(rows)) % _PARTS
    out, own = np.zeros(len(inputs)), np.empty(len(rows))
    for k in range(_PARTS):
        known = rows[part != k]
        said = learner.fit(inputs[known], target[known])(inputs)
        own[part == k] = said[rows[part == k]]
        out += said / _PARTS
    out[rows] = own
    return out
