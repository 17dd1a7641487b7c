"""Pairs of columns whose relation changed, which no look at single columns can see."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..functionals import Estimate
from ..typing import IntArray
from ..words import printable, signed
from .permuting import Blind
from .pooled import Pool

_RISK = 0.01
_MOST = 5


@dataclass(frozen=True)
class PairDrift:
    """A pair of columns that go together in another way than in the reference.

    Attributes
    ----------
    first, second : str
        The two: a column, or a level of one.
    before, after : float
        Correlation of their normal scores in the reference and in the window.
    change : Estimate
        After minus before.
    """

    first: str
    second: str
    before: float
    after: float
    change: Estimate

    def __str__(self) -> str:
        first, second = printable(self.first, 40), printable(self.second, 40)
        before, after = (signed(f"{r:.2f}") for r in (self.before, self.after))
        return f"correlation of {first} and {second} {before} → {after}"

    def to_dict(self) -> dict[str, Any]:
        """Everything in a form that JSON can hold."""
        return {**asdict(self), "change": self.change.to_dict()}


def changed_pairs(
    pool: Pool, blind: Blind, base_at: IntArray, level: float
) -> tuple[PairDrift, ...]:
    """Pairs whose correlation changed beyond chance, with all pairs taken into account."""
    if not len(blind.members):
        return ()
    window, reference = blind.base[: pool.size], blind.base[pool.size :]
    if min(len(window), len(reference)) < 10:
        return ()
    found = []
    with np.errstate(invalid="ignore", divide="ignore"):
        after, before = (
            np.atleast_2d(np.corrcoef(rows, rowvar=False)) for rows in (window, reference)
        )
    i, j = blind.members.T
    # The variance of a correlation, whatever the distribution of the scores.
    error = np.sqrt(sum(_variance(rows, i, j) for rows in (window, reference)))
    change = after[i, j] - before[i, j]
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(np.isfinite(change) & (error > 0), np.abs(change) / error, 0.0)
    least = float(ndtri(1.0 - 0.5 * _RISK / len(z)))
    made = pool.features

    def word(k: int) -> str:
        told = made.words[base_at[k]]
        return told if isinstance(told, str) else told[0]

    for k in np.argsort(-z, kind="stable")[:_MOST]:
        if z[k] < least:
            break
        found.append(
            PairDrift(
                word(i[k]),
                word(j[k]),
                float(before[i[k], j[k]]),
                float(after[i[k], j[k]]),
                Estimate.from_std_error(
                    float(change[k]), float(error[k]), level=level, lower=-2.0, upper=2.0
                ),
            )
        )
    return tuple(found)


def _variance(rows: np.ndarray, i: IntArray, j: IntArray) -> np.ndarray:
    """Variance of the correlations of pairs of columns, by the influence of every row."""
    spread = rows.std(axis=0)
    standard = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    product = standard[:, i] * standard[:, j]
    r = product.mean(axis=0)
    influence = product - 0.5 * r * (standard[:, i] ** 2 + standard[:, j] ** 2)
    return np.asarray((influence**2).mean(axis=0) / len(rows))
