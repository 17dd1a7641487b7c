"""Which kind of map a column asks for, judged on rows that were held out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.holdout import MOST_GAIN, paired_gain
from ..typing import Array, ColumnMap
from .column import FITS, Column, Columns, most_rows
from .quantile import quantiles

# Rows of a class at most, and values of it in all columns.
_MOST_ROWS, _MOST_VALUES = 10_000, 320_000
# Fewer rows or values than these say nothing about a shape.
_FEWEST_ROWS, _FEWEST_VALUES = 20, 50
_LARGEST_ATOM = 0.05
# What a kind must gain on a simpler one: standard errors, and nats per value.
_ERRORS, _GAIN = 2.5, 0.005
_CLIP_LEVELS = np.array([0.005, 0.5, 0.995])
_CLIP_FACTOR = 3.0


def choose(columns: Columns, j: int, kinds: Sequence[str]) -> tuple[str, dict[str, float]]:
    """Kind of the map of column j, and the gain of every kind over the first, the simplest.

    A kind is scored by the log-likelihood of a normal for each class behind the
    map on every other row, which is held out, and takes the place of a simpler one
    if its gain is clear.
    """
    both = columns.column(j, most_rows(columns.samples.n_columns, _MOST_ROWS, _MOST_VALUES))
    if not _has_shape(both):
        return kinds[0], {}
    train, held = both.every_other(0), both.every_other(1)
    shares, chosen = held.shares, kinds[0]
    terms = {kind: _log_likelihood(FITS[kind](train), train, held) for kind in kinds}
    scores = {chosen: 0.0}
    for kind in kinds[1:]:
        over_first, over_chosen = (
            paired_gain(terms[kind], terms[other], shares, (0.5, 0.5), most=MOST_GAIN)
            for other in (kinds[0], chosen)
        )
        scores[kind] = over_first.mean
        if over_chosen.mean > max(_GAIN, _ERRORS * over_chosen.std_error):
            chosen = kind
    return chosen, scores


def _log_likelihood(one: ColumnMap, train: Column, held: Column) -> list[Array]:
    """Log-likelihoods of held-out values of p and of q, by normals fitted behind the map."""
    # One call for all: most of the time of small samples is spent on calling.
    ends = np.cumsum([len(sample) for sample in (*train.samples, *held.samples)])[:-1]
    both = one.evaluate(np.concatenate([train.values, held.values]))
    values, log_slopes = (np.split(each, ends) for each in both)
    out = []
    for c, share in enumerate(train.shares):
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


def _has_shape(column: Column) -> bool:
    """Whether a column is more than a few values, or rows."""
    if column.samples.least < _FEWEST_ROWS:
        return False
    for sample in column.samples:
        x, atom = np.sort(sample.rows), int(_LARGEST_ATOM * len(sample)) + 1
        if (x[atom:] == x[:-atom]).any():
            return False
    return len(np.unique(column.values)) > _FEWEST_VALUES
