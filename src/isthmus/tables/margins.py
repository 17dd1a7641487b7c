"""How much each column of two tables differs by itself, the columns that are left out too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.margins import difference, level_codes
from ..typing import Array
from .columns import Column

_RARE = 5


@dataclass(frozen=True)
class Margin:
    """The Jensen-Shannon divergence of one column of two tables.

    Attributes
    ----------
    name : str
    js, std_error : float
        In nats, between 0 and log 2, with its standard error. Missing values are a level.
    p_value : float
        Chance of such a divergence if the column did not differ.
    """

    name: str
    js: float
    std_error: float
    p_value: float = 1.0


def margin(p: Column, q: Column, weight_p: Array, weight_q: Array) -> Margin:
    """Compare shares of levels, or of bins of equal mass, that two tables have in a column.

    Levels of fewer than five rows count as one, so that rare ones cannot look like a difference.
    """
    p, q = p.take(weight_p > 0), q.take(weight_q > 0)
    weight_p, weight_q = weight_p[weight_p > 0], weight_q[weight_q > 0]
    if p.kind == "category" or q.kind == "category":
        code = _level_codes(p, q)
    elif _apart(p.numbers, q.numbers) or _apart(q.numbers, p.numbers):
        # Bins would have rows of both where one sample ends and the other begins.
        code = np.repeat([0, 1], [len(p), len(q)])
    else:
        code = level_codes(p.numbers[:, None], q.numbers[:, None])
    value, error, chance = difference(code[: len(p)], code[len(p) :], weight_p, weight_q)
    return Margin(p.name, float(np.clip(value, 0.0, np.log(2.0))), error, chance)


def _level_codes(p: Column, q: Column) -> np.ndarray:
    # In alphabetical order, so that sums do not depend on which level was met first; zero is for
    # a missing value.
    names = sorted({*p.levels, *q.levels})
    place = {name: k for k, name in enumerate(names, 1)}
    parts = []
    for column in (p, q):
        if column.kind == "empty":
            parts.append(np.zeros(len(column), dtype=np.intp))
            continue
        own = [place[level] for level in column.levels]
        parts.append(np.array([*own, 0], dtype=np.intp)[column.codes])
    codes = np.concatenate(parts)
    rare = np.bincount(codes) < _RARE
    codes[rare[codes]] = len(rare)
    return np.asarray(np.unique(codes, return_inverse=True)[1].reshape(-1))


def _apart(low: Array, high: Array) -> bool:
    """Whether all numbers are there and those of the first lie below those of the second."""
    return bool(low.max() < high.min())
