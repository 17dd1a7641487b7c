"""Mutual information of two arguments of any kind: which way it is found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data.seeds import Seeds
from ..typing import IntArray
from .counts import table_information
from .labels import label_information
from .marginal import Marginal
from .mixed import mixed_information
from .result import Answer
from .values import Values

# Rows for each cell of a table that says all there is to say.
_ROWS_PER_CELL = 5

Numbers = Callable[[Marginal, Marginal], Answer]
"""How the information of two tables of numbers is found."""

Labels = Callable[[Values, Values], Answer]
"""How the information of columns and a label is found."""


def pair_information(
    x: Values,
    y: Values,
    seeds: Seeds,
    n_folds: int,
    numbers: Numbers,
    labels: Labels | None = None,
) -> Answer:
    """Mutual information of x and y, each numbers, levels or both.

    Parameters
    ----------
    x, y : Values
    seeds : Seeds
    n_folds : int
    numbers : callable
        How it is done for numbers.
    labels : callable, optional
        How it is done for columns and a label; by default by classifiers.
    """

    def pair(a: Values, b: Values) -> Answer:
        return pair_information(a, b, seeds, n_folds, numbers, labels)

    if x.constant or y.constant:
        return Answer(0.0, 0.0, "constant", np.zeros(len(x)), most=0.0)
    if x.discrete and y.discrete:
        return table_information(x.array, y.array, seeds)
    if x.discrete or y.discrete:
        rows, label = (y, x) if x.discrete else (x, y)
        cells = _as_label(rows, label)
        if cells is not None:
            return table_information(cells, label.array, seeds)
        if labels is not None:
            return labels(rows, label)
        return label_information(rows, label.array, seeds, n_folds)
    if x.categories or y.categories:
        return mixed_information(x, y, pair)
    left, right = (Marginal.of(side.array, seeds(f"ties {k}")) for k, side in enumerate((x, y)))
    return numbers(left, right)


def _as_label(x: Values, label: Values) -> IntArray | None:
    """Columns of levels as one label, where a table with another has rows enough for its cells."""
    if len(x.numbers):
        return None
    joint = x.label(x.categories)
    cells = (joint.max() + 1) * (label.array.max() + 1)
    return joint if cells * _ROWS_PER_CELL <= len(joint) else None
