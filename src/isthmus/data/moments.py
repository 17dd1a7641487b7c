"""Moments of a weighted sample, with far outliers pulled in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Array
from .blocks import Block, Blocks
from .sample import Sample

_CLIP_QUANTILE = 0.005
_CLIP_FACTOR = 3.0
_HARMLESS = 6.0


def clipped(sample: Sample) -> Sample:
    """Pull far outliers in, so that moments of a heavy-tailed sample exist.

    The limits lie at three times the distance of the 0.5 % and 99.5 %
    quantiles from the median: some eight standard deviations of a normal
    sample. Rows within six standard deviations of the mean do no harm, and a
    sample without any beyond them is returned unchanged.
    """
    X = sample.rows
    mean = sample.mean(X)
    reach = np.maximum(X.max(axis=0) - mean, mean - X.min(axis=0))
    if np.all(reach <= _HARMLESS * np.sqrt(sample.mean((X - mean) ** 2))):
        return sample
    low, high = limits(sample)
    if np.all(X >= low) and np.all(X <= high):
        return sample
    return Sample(np.asarray(np.clip(X, low, high)), sample.weight)


def limits(sample: Sample) -> tuple[Array, Array]:
    """How far out the values of every column may lie; see :func:`clipped`."""
    levels = [_CLIP_QUANTILE, 0.5, 1.0 - _CLIP_QUANTILE]
    # Equal weights are left out: with weights every column has to be sorted whole.
    weight = sample.weight if np.ptp(sample.weight) > 0 else None
    low, middle, high = np.quantile(
        sample.rows, levels, axis=0, method="inverted_cdf", weights=weight
    )
    # A column that is nearly constant has no spread to judge outliers by.
    low = np.where(low < middle, middle - _CLIP_FACTOR * (middle - low), -np.inf)
    high = np.where(high > middle, middle + _CLIP_FACTOR * (high - middle), np.inf)
    return low, high


@dataclass(frozen=True)
class Moments:
    """Weight, mean and covariance (maximum likelihood) of rows; those of two blocks add up.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(9, 2))
    >>> both = moments(Sample.of(x[:4])) + moments(Sample.of(x[4:]))
    >>> bool(np.allclose(both.covariance, np.cov(x.T, bias=True)))
    True
    """

    weight: float
    mean: Array
    covariance: Array

    def __add__(self, other: Moments) -> Moments:
        total = self.weight + other.weight
        mine, theirs = self.weight / total, other.weight / total
        gap = other.mean - self.mean
        within = mine * self.covariance + theirs * other.covariance
        return Moments(total, self.mean + theirs * gap, within + mine * theirs * np.outer(gap, gap))


def moments(sample: Sample) -> Moments:
    """Moments of a weighted sample."""
    share = sample.share
    mean = share @ sample.rows
    D = sample.rows - mean
    return Moments(float(sample.weight.sum()), mean, (D * share[:, None]).T @ D)


def class_moments(blocks: Blocks) -> list[Moments]:
    """Moments of every class, in one pass over the blocks."""

    def of(block: Block) -> list[Moments | None]:
        own = moments(Sample(block.X, block.weight))
        return [own if c == block.label else None for c in range(blocks.n_classes)]

    return [found for found in blocks.sum(of) if found is not None]


def column_moments(sample: Sample) -> tuple[Array, Array]:
    """Mean and variance of every column, with far outliers pulled in."""
    sample = clipped(sample)
    mean = sample.mean(sample.rows)
    return mean, sample.mean((sample.rows - mean) ** 2)
