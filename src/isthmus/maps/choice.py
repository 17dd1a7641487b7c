"""Which kind of map a column asks for, judged on rows that were held out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..typing import Array
from .column import LEAST_ROWS, Rows, column_of
from .pooled import FITS, Column
from .unit_map import ColumnMap, quantiles

# Rows of a class at most, and values of it in all columns.
_MOST_ROWS = 10_000
_MOST_VALUES = 320_000
# Fewer rows or values than these say nothing about a shape.
_FEWEST_ROWS = 20
_FEWEST_VALUES = 50
_LARGEST_ATOM = 0.05
# What a kind must gain on a simpler one: standard errors, and nats per value.
_ERRORS = 2.5
_GAIN = 0.005
# One row cannot decide.
_LARGEST_GAIN = 10.0
_CLIP_LEVELS = np.array([0.005, 0.5, 0.995])
_CLIP_FACTOR = 3.0


def choose(p: Rows, q: Rows, j: int, kinds: Sequence[str]) -> tuple[str, dict[str, float]]:
    """Kind of the map of column j, and the gain of every kind over the first.

    A kind is scored by the log-likelihood of a normal for each class behind the
    map on every other row, which is held out, and takes the place of a simpler one
    if its gain is clear.

    Parameters
    ----------
    p, q : Rows
    j : int
    kinds : sequence of str
        From the simplest on.
    """
    most = max(LEAST_ROWS, min(_MOST_ROWS, _MOST_VALUES // p.X.shape[1]))
    both = column_of(p, q, j, slice(most))
    if not _has_shape(both):
        return kinds[0], {}
    both = both.divided(both.centre_and_scale[1])
    train, held_out = both.every_other(0).sorted(), both.every_other(1)
    chosen = kinds[0]
    scores = {chosen: 0.0}
    fits = {chosen: _log_likelihood(FITS[chosen](train), train, held_out)}
    for kind in kinds[1:]:
        fits[kind] = _log_likelihood(FITS[kind](train), train, held_out)
        scores[kind] = _gain(fits[kind], fits[kinds[0]], held_out)[0]
        gain, error = _gain(fits[kind], fits[chosen], held_out)
        if gain > max(_GAIN, _ERRORS * error):
            chosen = kind
    return chosen, scores


def _log_likelihood(one: ColumnMap, train: Column, held_out: Column) -> list[Array]:
    # One call for all: most of the time of small samples is spent on calling.
    parts = [*train.x, *held_out.x]
    ends = np.cumsum([len(x) for x in parts])[:-1]
    values, log_slopes = (np.split(all_, ends) for all_ in one.evaluate(np.concatenate(parts)))
    out = []
    for c, share in enumerate(train.share):
        mean, spread = _moments(values[c], share)
        # No density is zero, lest it be subtracted from another.
        r = np.clip((values[c + 2] - mean) / spread, -1e6, 1e6)
        out.append(log_slopes[c + 2] - 0.5 * r**2 - np.log(spread))
    return out


def _moments(z: Array, share: Array) -> tuple[float, float]:
    """Mean and spread of sorted values, far outliers being pulled in as the anchors do."""
    low, middle, high = quantiles(z, share, _CLIP_LEVELS)
    z = z.clip(middle - _CLIP_FACTOR * (middle - low), middle + _CLIP_FACTOR * (high - middle))
    mean = share @ z
    with np.errstate(over="ignore"):
        return float(mean), max(float(np.sqrt(share @ (z - mean) ** 2)), 1e-12)


def _gain(new: list[Array], old: list[Array], held_out: Column) -> tuple[float, float]:
    """Mean gain of a value, both classes counting alike, and its standard error."""
    mean, variance = 0.0, 0.0
    for a, b, share in zip(new, old, held_out.share, strict=True):
        gains = np.clip(a - b, -_LARGEST_GAIN, _LARGEST_GAIN)
        of_class = float(share @ gains)
        mean += 0.5 * of_class
        variance += 0.25 * float(share**2 @ (gains - of_class) ** 2)
    return mean, float(np.sqrt(variance))


def _has_shape(column: Column) -> bool:
    """Whether a column is more than a few values, or rows."""
    if min(len(x) for x in column.x) < _FEWEST_ROWS:
        return False
    for x in column.x:
        x, atom = np.sort(x), int(_LARGEST_ATOM * len(x)) + 1
        if (x[atom:] == x[:-atom]).any():
            return False
    return len(np.unique(np.concatenate(column.x))) > _FEWEST_VALUES
