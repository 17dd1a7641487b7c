"""Held-out rows: how they are split off, how candidates are judged on them, and by what margin.

Everything that is chosen is chosen here: one split, one paired gain with its standard
error, and the thresholds with their reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..typing import Array, IntArray
from .sample import Sample

LEAST_ROWS = 20
"""Rows of each sample below which none are held out, and "auto" is a rule."""

SEARCH_ROWS = 10_000
"""Rows of each sample that a search sees at most: more do not change what is chosen."""

HELD = 0.25
"""Share of the rows that is held out."""

PROVEN = 3.0
"""Standard errors that a candidate must gain by: many are tried, and far from the rows
they differ wildly."""

LIKELY = 2.0
"""Standard errors within which two candidates count as equally good."""

LEAST_NATS = 3.0
"""Nats over all held-out rows that are no evidence, however regular they are."""

LOST_ROW = 20.0
"""Nats that one row can cost at most: a far outlier may cost hundreds, and counts as one row."""

MOST_GAIN = 10.0
"""Nats that one row can bring one density over another at most."""


class Gain(NamedTuple):
    """How much higher a mean log-likelihood is than another, and its standard error."""

    mean: float
    std_error: float

    def above(self, errors: float) -> bool:
        """Whether it is at least so many of its standard errors above zero."""
        return self.mean >= errors * self.std_error

    def proven(self, rows: int) -> bool:
        """Whether it is beyond doubt that the first is better, on so many rows."""
        return self.mean > max(PROVEN * self.std_error, LEAST_NATS / rows)


def paired_gain(
    mine: Sequence[Array],
    theirs: Sequence[Array],
    shares: Sequence[Array],
    prior: Sequence[float] | Array | None = None,
    most: float = np.inf,
) -> Gain:
    """Gain in log-likelihood on the same rows, summed over classes.

    ``mine`` and ``theirs`` hold, for every class, the log-likelihoods of its rows, and ``shares``
    their shares, which add up to one. ``prior`` weighs the classes; one row brings or costs
    ``most`` at most.

    Examples
    --------
    >>> import numpy as np
    >>> gain = paired_gain([np.array([1.0, 3.0])], [np.zeros(2)], [np.full(2, 0.5)])
    >>> gain.mean, round(gain.std_error, 3)
    (2.0, 0.707)
    """
    mean, variance = 0.0, 0.0
    for k, (a, b, share) in enumerate(zip(mine, theirs, shares, strict=True)):
        pi = 1.0 if prior is None else float(prior[k])
        gap = a - b
        if np.isfinite(most):
            gap = np.clip(np.nan_to_num(gap), -most, most)
        centre = float(share @ gap)
        mean += pi * centre
        variance += pi**2 * float((share**2 * (gap - centre) ** 2).sum())
    return Gain(float(mean), float(np.sqrt(variance)))


@dataclass(frozen=True)
class Split:
    """Places of the rows to fit to, and of those that are held out."""

    train: IntArray
    held: IntArray

    def parts(self, sample: Sample) -> tuple[Sample, Sample]:
        """Both parts of a sample, its rows in the order in which they were given."""
        return sample.take(np.sort(self.train)), sample.take(np.sort(self.held))


def split_rows(
    n: int,
    rng: np.random.Generator,
    held: float = HELD,
    most: int | None = SEARCH_ROWS,
    least: int = 1,
) -> Split:
    """Hold out a share of n rows at random, or a number of them, of at most so many rows in all.

    At least ``least`` are held out.

    Examples
    --------
    >>> import numpy as np
    >>> split = split_rows(8, np.random.default_rng(0))
    >>> len(split.train), len(split.held)
    (6, 2)
    """
    order = rng.permutation(n)[:most]
    cut = held if isinstance(held, int) else max(round(held * len(order)), least)
    return Split(order[cut:], order[:cut])


def halves(n: int, rng: np.random.Generator) -> Split:
    """Hold out half of n rows at random."""
    order = rng.permutation(n)
    return Split(order[n // 2 :], order[: n // 2])


def quarters(order: IntArray, count: int = 4) -> list[Split]:
    """Splits of rows in a random order, each holding out every fourth of them."""
    return _each_held_out([order[k::count] for k in range(count)])


def random_folds(n: int, count: int, rng: np.random.Generator) -> list[Split]:
    """Splits of n rows, each holding out one of so many random parts.

    Examples
    --------
    >>> import numpy as np
    >>> [len(split.held) for split in random_folds(8, 3, np.random.default_rng(0))]
    [3, 3, 2]
    """
    return _each_held_out(np.array_split(rng.permutation(n), count))


def _each_held_out(parts: list[IntArray]) -> list[Split]:
    return [
        Split(np.concatenate([part for j, part in enumerate(parts) if j != k]), held)
        for k, held in enumerate(parts)
    ]
