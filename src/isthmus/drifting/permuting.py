"""One p-value for a window: columns, pairs of columns, and all together, by permuted labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ..data.seeds import Seeds
from ..diagnostics.two_sample import tail_scale
from ..typing import Array, IntArray
from .pooled import Category, Pool

_WAVES = 5
_MOST_BASE = 45
_LEAST_SHARE = 0.05
_DIRECTIONS = 60
_CHUNK = 200
FIRST = 99
_GO_ON = 0.1
_LEAST, _MOST = 499, 9999
_TIE = 1e-4
_LEAST_P = 1e-15


@dataclass(frozen=True)
class Tested:
    """Outcome of the test of a window.

    Attributes
    ----------
    p_value : float
        Share of permutations, the actual labels included, with as large a difference.
    permutations : int
    fitted : bool
        Whether the p-value is below what permutations can tell, from gamma distributions.
    surprise : float
        Minus the log of the p-value, told apart by gamma distributions where permutations cannot.
    """

    p_value: float
    permutations: int
    fitted: bool
    surprise: float


@dataclass(frozen=True)
class Blind:
    """Features made without labels.

    Attributes
    ----------
    values : ndarray of shape (n, m), float32
    groups : tuple of slice
        Features of every column, then random waves in all columns: squares are added up.
    pairs : slice
        Products of two columns: the largest square counts.
    base : ndarray of shape (n, b)
        What the products are made of.
    members : ndarray of int, shape (k, 2)
        The two of every product.
    """

    values: Array
    groups: tuple[slice, ...]
    pairs: slice
    base: Array
    members: IntArray


def blind_features(pool: Pool, rng: np.random.Generator) -> tuple[Blind, IntArray]:
    """Make the features of a pool; and of every base feature the place among `Pool.features`."""
    n = len(pool)
    made = pool.features
    scores, parts, groups, begin = {}, [], [], 0
    for j, column in enumerate(pool.columns):
        at = np.flatnonzero(made.owner == j)
        if not len(at):
            continue
        part: list[Array] = []
        if isinstance(column, Category):
            share = column.indicators.mean(axis=0)
            part.extend((column.indicators / np.sqrt(share)).T)
        for k in at:
            if isinstance(made.words[k], str):
                rank = (rankdata(made.values[:, k]) - 0.5) / n
                part.extend(
                    np.sqrt(2.0) * np.cos(np.pi * wave * rank) for wave in range(1, _WAVES + 1)
                )
                scores[int(k)] = ndtri(rank)
            else:
                share = made.values[:, k].mean()
                if not isinstance(column, Category):
                    part.append(made.values[:, k] / np.sqrt(share * (1.0 - share)))
                if min(share, 1.0 - share) >= _LEAST_SHARE:
                    scores[int(k)] = made.values[:, k]
        parts.append(np.column_stack(part))
        groups.append(slice(begin, begin + len(part)))
        begin += len(part)
    # Numbers first, then the levels that are frequent on either side.
    order = sorted(scores, key=lambda k: (not isinstance(made.words[k], str), -scores[k].std()))
    base_at = np.array(order[:_MOST_BASE], dtype=np.intp)
    base = np.column_stack([scores[int(k)] for k in base_at]) if len(base_at) else np.empty((n, 0))
    spread = base.std(axis=0)
    base = (base - base.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if base.shape[1] > 1:
        parts.append(_random_waves(base, rng))
        groups.append(slice(begin, begin + parts[-1].shape[1]))
        begin += parts[-1].shape[1]
    first, second = np.triu_indices(base.shape[1], 1)
    apart = made.owner[base_at[first]] != made.owner[base_at[second]]
    members = np.column_stack([first[apart], second[apart]])
    products = base[:, members[:, 0]] * base[:, members[:, 1]]
    products -= products.mean(axis=0)
    unit = products.std(axis=0)
    parts.append(products / np.where(unit > 1e-12, unit, np.inf))
    values = np.concatenate([part.astype(np.float32) for part in parts], axis=1)
    values -= values.mean(axis=0)
    pairs = slice(begin, values.shape[1])
    return Blind(values, tuple(groups), pairs, base, members), base_at


def permutation_test(blind: Blind, size: int, threshold: float, seeds: Seeds) -> Tested:
    """Test whether the first ``size`` rows differ from the others.

    A few permutations come first. Where these leave a doubt, as many new ones decide as are needed
    to tell a p-value at the threshold; either way the p-value is exact.
    """
    if not blind.values.shape[1]:
        return Tested(1.0, 0, False, 0.0)  # nothing varies
    first, _ = _p_value(blind, size, FIRST, seeds("first permutations"))
    if first > max(_GO_ON, 2.0 * threshold):
        return Tested(first, FIRST, False, -np.log(first))
    # So many that the threshold is a multiple of what one permutation counts.
    count = int(np.clip(np.ceil(2.0 / threshold) - 1, _LEAST, _MOST))
    p_value, fitted = _p_value(blind, size, count, seeds("permutations"))
    least = 1.0 / (count + 1)
    if p_value > least:
        return Tested(p_value, count, False, -np.log(p_value))
    fitted = max(min(least, fitted), _LEAST_P)
    if threshold >= least:
        return Tested(p_value, count, False, -np.log(fitted))
    return Tested(fitted, count, True, -np.log(fitted))


def _p_value(
    blind: Blind, size: int, permutations: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The p-value by permutations, and by a gamma distribution of every statistic."""
    n = len(blind.values)
    found = []
    actual = np.zeros(n, dtype=np.float32)
    actual[:size] = 1.0
    for begin in range(0, permutations + 1, _CHUNK):
        number = min(_CHUNK, permutations + 1 - begin)
        labels = rng.permuted(np.tile(actual, (number, 1)), axis=1)
        if begin == 0:
            labels[0] = actual
        # Features add up to zero, so that the sum over the window is the difference of the means
        # but for a factor, which is the same for all permutations.
        square = (labels @ blind.values).astype(np.float64) ** 2 * (n / (size * (n - size)))
        columns = [square[:, group].sum(axis=1) for group in blind.groups]
        if blind.pairs.stop > blind.pairs.start:
            columns.append(square[:, blind.pairs].max(axis=1))
        found.append(np.column_stack(columns))
    scale = tail_scale(np.concatenate(found))
    largest = scale.max(axis=1)
    # What differs by no more than rounding is a tie, and counts against the alarm.
    p_value = float(np.mean(largest >= largest[0] * (1.0 - _TIE)))
    return p_value, float(min(1.0, scale.shape[1] * np.exp(-largest[0])))


def _random_waves(base: Array, rng: np.random.Generator) -> Array:
    """Waves in random directions through all columns: a Gaussian kernel's features."""
    few = base[rng.permutation(len(base))[:500]]
    half = len(few) // 2
    width = float(np.median(np.linalg.norm(few[:half] - few[half : 2 * half], axis=1)))
    phase = base @ (rng.normal(size=(base.shape[1], _DIRECTIONS)) / (width if width > 0 else 1.0))
    return np.concatenate([np.cos(phase), np.sin(phase)], axis=1)
