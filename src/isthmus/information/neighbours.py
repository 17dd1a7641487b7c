"""Mutual information from nearest neighbours: the estimator of Kraskov, Stögbauer & Grassberger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma

from ..data.holdout import PROVEN
from ..diagnostics.check import Check, advised
from ..typing import Array, IntArray
from .evaluation import Evaluation, PairRatio
from .marginal import drawn_apart

# Nats below zero that are no matter.
LITTLE = 0.01


def ksg_terms(x: Array, y: Array, k: int = 3, rng: np.random.Generator | None = None) -> Array:
    r"""Terms whose mean is the first estimator of Kraskov et al., shape (n,).

    .. math:: \psi(k) + \psi(n) - \psi(n_x + 1) - \psi(n_y + 1)

    with the numbers of rows nearer, in x and in y, than the k-th neighbour in the joint
    space by the maximum norm. Fewer neighbours have less bias and more noise.

    Where values repeat, many rows are equally near, and the formula is negative whatever x and y
    are. Equal values are therefore drawn apart at random first, up to half-way to the next value:
    the value can still be told, so that the information is the same.

    Parameters
    ----------
    x, y : ndarray of shape (n, d)
    k : int
    rng : numpy Generator, optional
        Draws equal values apart; by default one with a seed of its own.

    References
    ----------
    Kraskov, Stögbauer & Grassberger (2004), Phys. Rev. E 69, 066138.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(2000, 1))
    >>> y = x + rng.normal(size=(2000, 1))
    >>> bool(abs(ksg_terms(x, y).mean() - 0.3466) < 0.06)  # truth: log(2) / 2
    True
    >>> bool(0.2 < ksg_terms(np.round(x), np.round(y)).mean() < 0.35)  # 0.27 by counts
    True
    """
    return ksg_terms_of(x, y, (k,), rng)[0]


def ksg_terms_of(
    x: Array, y: Array, ks: Sequence[int], rng: np.random.Generator | None = None
) -> list[Array]:
    """The same for several numbers of neighbours, which share the search for them."""
    n = len(x)
    rng = np.random.default_rng(0) if rng is None else rng
    x, y = (np.column_stack([drawn_apart(each, rng) for each in side.T]) for side in (x, y))
    both = np.hstack([x, y])
    found = np.asarray(cKDTree(both).query(both, [k + 1 for k in ks], p=np.inf)[0])
    out = []
    for k, distance in zip(ks, found.T, strict=True):
        terms = np.full(n, digamma(k) + digamma(n))
        for side in (x, y):
            # A row counts itself, which is the one that is added to those strictly nearer.
            terms -= digamma(np.maximum(_nearer(side, distance), 1))
        out.append(terms)
    return out


def check_sign(value: float, error: float) -> Check:
    """Whether an estimate is negative beyond its noise, which no independent rows make it.

    Examples
    --------
    >>> check_sign(-0.01, 0.01).verdict, check_sign(-0.1, 0.01).verdict
    ('ok', 'fail')
    """
    below = max(-value, 0.0)
    return advised(
        value,
        "fail" if below > max(PROVEN * error, LITTLE) else "ok",
        f"Nearest neighbours give {value:.3g} ± {error:.2g} nats",
        fail=": that is no noise of zero. Perhaps rows avoid each other, as in a timetable, and "
        "are not drawn independently.",
    )


def _nearer(side: Array, distance: Array) -> IntArray:
    """Number of rows nearer than a distance to each row by the maximum norm, itself among them."""
    if side.shape[1] > 1:
        radius = np.nextafter(distance, 0.0)
        found = cKDTree(side).query_ball_point(side, radius, p=np.inf, return_length=True)
        return np.asarray(found)
    column = side[:, 0]
    # The ends are rounded by less than this: the neighbour itself must not come in by it.
    radius = distance - 2.0 * np.spacing(np.abs(column) + distance)
    known = np.sort(column)
    first = np.searchsorted(known, column - radius, side="left")
    return np.asarray(np.searchsorted(known, column + radius, side="right") - first)


@dataclass(eq=False)
class NeighbourRatio(PairRatio):
    """Log-ratio at pairs that were not fitted, from k neighbours among the fitted rows."""

    x: Array
    y: Array
    k: int = 10
    name = "neighbours"
    knows_inside = False

    def fit(self, rows: IntArray) -> Self:
        self.n = len(rows)
        self.trees = (
            cKDTree(np.hstack([self.x[rows], self.y[rows]])),
            cKDTree(self.x[rows]),
            cKDTree(self.y[rows]),
        )
        return self

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        both, left, right = self.trees
        k = min(self.k, self.n)
        x, y = self.x[i], self.y[j]
        radius = np.asarray(both.query(np.hstack([x, y]), [k], p=np.inf)[0])[:, 0]
        out = np.full(len(x), digamma(k) + np.log(self.n))
        for tree, side in ((left, x), (right, y)):
            count = tree.query_ball_point(side, radius, p=np.inf, return_length=True)
            out -= np.log(np.maximum(count, 1))
        return out

    def information(self, found: Evaluation) -> tuple[float, float]:
        near, far = ksg_terms(self.x, self.y, k=3), ksg_terms(self.x, self.y, k=12).mean()
        value = float(near.mean())
        # Fewer neighbours have less bias; what the next fewer would change is not known.
        return value, float(np.hypot(near.std() / np.sqrt(len(near)), value - far))
