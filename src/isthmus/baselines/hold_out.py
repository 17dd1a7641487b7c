"""Splitting samples into rows to fit to and rows to judge by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.holdout import LEAST_ROWS, split_rows
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..typing import Array, IntArray
from .distinct import Distinct


def collect(rows: Array, weight: Array | None = None) -> Distinct:
    """The distinct rows of a sample in a fixed order, with their shares.

    Where most rows are repeated, each is kept: little could be held out otherwise.
    """
    order = np.argsort(rows[:, 0], kind="stable")
    size = Sample.of(rows, weight).size
    if np.all(np.diff(rows[order, 0]) > 0):
        # No two rows begin with the same number.
        mass = np.ones(len(rows)) if weight is None else weight[order]
        return Distinct(rows[order], mass / mass.sum(), size)
    found = Distinct.of(rows, weight)
    if 2 * len(found.rows) > len(rows):
        return found
    order = np.lexsort(rows.T[::-1])
    mass = np.ones(len(rows)) if weight is None else weight[order]
    return Distinct(rows[order], mass / mass.sum(), size)


def hold_out(
    found: Distinct, rng: np.random.Generator, held: float = 0.25
) -> tuple[Distinct, Distinct]:
    """Split a sample at random: rows to fit to, and a share of them to judge by.

    Of at most 10,000 rows. Neither their order nor whether one was given twice or with a
    weight of two makes a difference.
    """
    split = split_rows(len(found.rows), rng, held)
    return _some(found, np.sort(split.train)), _some(found, np.sort(split.held))


def _some(found: Distinct, rows: IntArray) -> Distinct:
    mass = found.share[rows]
    size = max(round(float(mass.sum()) * found.size), 1)
    return Distinct(found.rows[rows], mass / mass.sum(), size)


def as_sample(found: Distinct) -> Sample:
    """Rows and their weights."""
    plain = found.size == len(found.rows) and np.ptp(found.share) == 0
    return Sample.of(found.rows, None if plain else found.weight)


def can_hold_out(samples: Sequence[Distinct]) -> bool:
    """Whether there are rows enough to choose a penalty by."""
    return min(len(found.rows) for found in samples) >= LEAST_ROWS


def split_samples(samples: Sequence[Distinct], seeds: Seeds) -> tuple[TwoSamples, TwoSamples]:
    """Rows of p and q to fit to, and those to judge by."""
    halves = [hold_out(found, seeds("hold out")) for found in samples]
    train, held = (TwoSamples.both(as_sample(one[side]) for one in halves) for side in (0, 1))
    return train, held
