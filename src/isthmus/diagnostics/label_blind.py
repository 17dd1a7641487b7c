"""Features of two samples taken together, made without looking at which row is whose.

Whatever is made without the labels can be kept while labels are permuted: that is what
makes the p-value of :func:`isthmus.two_sample_test` exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ..typing import Array

MANY_COLUMNS = 30
_WAVES = 5
_DIRECTIONS = 100
_WIDTHS = (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Blind:
    """Features of the pooled rows, by what a difference in their means would say.

    ``mean``, (n, d), are normal scores of the columns, whitened; ``spread`` their squares and
    products, or None where these are too many; ``columns``, (n, c, 5), waves in the ranks of each
    column, and of the distances from the centre; ``kernel``, (n, 600), random waves in all
    columns, of three lengths: a Gaussian kernel's features.
    """

    mean: Array
    spread: Array | None
    columns: Array
    kernel: Array


def blind_features(rows: Array, rng: np.random.Generator) -> Blind:
    """Make the features of pooled rows; the generator draws the directions of random waves.

    What is missing, NaN, is taken for the middle of the column, and a further column says where.
    """
    rows = _without_gaps(rows)
    rows = rows[:, np.ptp(rows, axis=0) > 0]
    n = len(rows)
    if not rows.shape[1]:
        rows = np.zeros((n, 1))
    # Ranks: no outlier and no unit of measurement matters.
    rank = (rankdata(rows, axis=0) - 0.5) / n
    scores = ndtri(rank)
    d = scores.shape[1]
    values, axes = np.linalg.eigh(scores.T @ scores / n)
    # So many columns for so many rows: what their noise would add to each variance.
    white = (scores @ axes) / np.sqrt(np.maximum(values, 0.0) + d / n + 1e-9)
    spread = None
    if d <= MANY_COLUMNS:
        first, second = np.triu_indices(d)
        spread = white[:, first] * white[:, second]
        unit = spread.std(axis=0)
        spread /= np.where(unit > 0, unit, 1.0)
    return Blind(white, spread, _waves(rank, _radii(rows, scores)), _random_waves(scores, rng))


def _without_gaps(rows: Array) -> Array:
    gaps = np.isnan(rows)
    if not gaps.any():
        return rows
    filled = rows.copy()
    for column, gap in zip(filled.T, gaps.T, strict=True):
        column[gap] = np.median(column[~gap]) if not gap.all() else 0.0
    return np.column_stack([filled, gaps[:, gaps.any(axis=0)].astype(np.float64)])


def _radii(rows: Array, scores: Array) -> Array:
    """Ranks of the distances from the centre: of scores, and of the values in robust units."""
    centre = np.median(rows, axis=0)
    away = np.abs(rows - centre)
    unit = np.median(away, axis=0)
    unit = np.where(unit > 0, unit, np.maximum(away.mean(axis=0), 1e-300))
    with np.errstate(over="ignore"):
        values = np.minimum((away / unit) ** 2, 1e200).sum(axis=1)
    both = np.column_stack([(scores**2).sum(axis=1), values])
    return np.asarray((rankdata(both, axis=0) - 0.5) / len(rows))


def _waves(rank: Array, radii: Array) -> Array:
    every = np.concatenate([rank, radii], axis=1)[:, :, None]
    return np.asarray(np.sqrt(2.0) * np.cos(np.pi * np.arange(1, _WAVES + 1) * every))


def _random_waves(scores: Array, rng: np.random.Generator) -> Array:
    n, d = scores.shape
    few = scores[rng.permutation(n)[:500]]
    half = len(few) // 2
    # The usual width of a Gaussian kernel: the median distance of two rows.
    width = float(np.median(np.linalg.norm(few[:half] - few[half : 2 * half], axis=1)))
    width = width if width > 0 else 1.0
    direction = rng.normal(size=(d, _DIRECTIONS))
    phase = np.concatenate([scores @ (direction / (width * scale)) for scale in _WIDTHS], axis=1)
    return np.concatenate([np.cos(phase), np.sin(phase)], axis=1)
