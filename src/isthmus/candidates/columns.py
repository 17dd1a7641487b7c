"""Columns as features: on one scale, with no far value, and as ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ..data.sample import TwoSamples
from ..typing import Array, BoolArray

_KNOTS = 65
_KNOT_ROWS = 2000
_FAR = 6.0
_SKEWED = 0.97


@dataclass(frozen=True)
class Columns:
    """Every column that varies, standardised, and its rank in both samples together.

    Attributes
    ----------
    kept : ndarray of bool, shape (d,)
        Columns that are not constant.
    centre, scale : ndarray of shape (d',)
        Mean and standard deviation of the columns that are kept.
    knots : tuple of (ndarray, ndarray)
        For each, some of its values and their ranks between 0 and 1.
    skewed : ndarray of bool, shape (d',)
        Columns that are far from straight against their normal scores.
    """

    kept: BoolArray
    centre: Array
    scale: Array
    knots: tuple[tuple[Array, Array], ...]
    skewed: BoolArray

    @classmethod
    def of(cls, samples: TwoSamples) -> Columns:
        """From rows of both samples, each counting alike."""
        p, q = samples
        with np.errstate(over="ignore", invalid="ignore"):
            centre = 0.5 * (p.share @ p.rows + q.share @ q.rows)
            square = p.share @ (p.rows - centre) ** 2 + q.share @ (q.rows - centre) ** 2
            scale = np.sqrt(0.5 * square)
        # Ranks by some of the rows: the same ones each time.
        few = samples.bounded(_KNOT_ROWS)
        rows = np.concatenate([sample.rows for sample in few])
        share = 0.5 * np.concatenate([sample.share for sample in few])
        kept = np.isfinite(scale) & (scale > 1e-12 * (np.abs(centre) + np.abs(rows).max(axis=0)))
        knots, skewed = [], []
        for j in np.flatnonzero(kept):
            order = np.argsort(rows[:, j], kind="stable")
            value, rank = rows[order, j], np.cumsum(share[order])
            rank = rank - 0.5 * share[order]
            # Rows of one value share the middle of their ranks.
            values, first = np.unique(value, return_index=True)
            last = np.r_[first[1:], len(value)] - 1
            middle = 0.5 * (rank[first] + rank[last])
            if len(values) > _KNOTS:
                at = np.unique(np.searchsorted(middle, np.linspace(0.0, 1.0, _KNOTS)[1:-1]))
                at = np.unique(np.r_[0, np.minimum(at, len(values) - 1), len(values) - 1])
                values, middle = values[at], middle[at]
            knots.append((values, middle))
            score = ndtri(np.clip(np.interp(rows[:, j], values, middle), 1e-4, 1 - 1e-4))
            skewed.append(abs(_correlation(score, rows[:, j], share)) < _SKEWED)
        return cls(kept, centre[kept], scale[kept], tuple(knots), np.array(skewed, dtype=bool))

    def __len__(self) -> int:
        return len(self.centre)

    def standard(self, rows: Array) -> Array:
        """Columns with mean zero and variance one, far values drawn in, shape (n, d')."""
        return np.clip((rows[:, self.kept] - self.centre) / self.scale, -_FAR, _FAR)

    def ranks(self, rows: Array) -> Array:
        """Ranks between 0 and 1, shape (n, d')."""
        kept = rows[:, self.kept]
        out = np.empty_like(kept)
        for j, (values, rank) in enumerate(self.knots):
            out[:, j] = np.interp(kept[:, j], values, rank)
        return out

    def scores(self, rows: Array) -> Array:
        """Normal scores of the ranks, shape (n, d')."""
        return np.asarray(ndtri(np.clip(self.ranks(rows), 1e-3, 1 - 1e-3)))


def _correlation(a: Array, b: Array, share: Array) -> float:
    """Correlation of two columns of rows with weights; zero where one does not vary."""
    share = share / share.sum()
    a, b = a - share @ a, b - share @ b
    scale = np.sqrt((share @ a**2) * (share @ b**2))
    return float(share @ (a * b) / scale) if scale > 0 else 0.0
