"""How much each column of two tables differs by itself, the columns that are left out too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.margins import jensen_shannon, level_codes
from ..data.sample import bounded_rows
from ..typing import Array
from .columns import Column

_MOST_ROWS = 50_000
_RARE = 5


@dataclass(frozen=True)
class Margin:
    """The Jensen-Shannon divergence of one column of two tables.

    Attributes
    ----------
    name : str
    js, std_error : float
        In nats, between 0 and log 2, with its standard error. Missing values are a level.
    """

    name: str
    js: float
    std_error: float


def margin(p: Column, q: Column, weight_p: Array, weight_q: Array) -> Margin:
    """Compare shares of levels, or of bins of equal mass, that two tables have in a column.

    Levels of fewer than five rows count as one, so that rare ones cannot look like a difference.
    """
    sides = []
    for column, weight in ((p, weight_p), (q, weight_q)):
        at = bounded_rows(len(column), _MOST_ROWS)
        at = at[weight[at] > 0]
        mask = np.zeros(len(column), dtype=bool)
        mask[at] = True
        sides.append((column.take(mask), weight[mask]))
    (p, weight_p), (q, weight_q) = sides
    if p.kind == "category" or q.kind == "category":
        code = _level_codes(p, q)
    elif _apart(p.numbers, q.numbers) or _apart(q.numbers, p.numbers):
        # Bins would have rows of both where one sample ends and the other begins.
        code = np.repeat([0, 1], [len(p), len(q)])
    else:
        code = level_codes(p.numbers[:, None], q.numbers[:, None])
    value, error = jensen_shannon(code[: len(p)], code[len(p) :], weight_p, weight_q)
    return Margin(p.name, float(np.clip(value, 0.0, np.log(2.0))), error)


def _level_codes(p: Column, q: Column) -> np.ndarray:
    place: dict[str, int] = {}
    parts = []
    for column in (p, q):
        if column.kind == "empty":
            parts.append(np.zeros(len(column), dtype=np.intp))
            continue
        # Zero is for a missing value.
        own = [place.setdefault(level, len(place) + 1) for level in column.levels]
        parts.append(np.array([*own, 0], dtype=np.intp)[column.codes])
    codes = np.concatenate(parts)
    rare = np.bincount(codes) < _RARE
    codes[rare[codes]] = len(rare)
    return np.asarray(np.unique(codes, return_inverse=True)[1].reshape(-1))


def _apart(low: Array, high: Array) -> bool:
    """Whether all numbers are there and those of the first lie below those of the second."""
    return bool(low.max() < high.min())
