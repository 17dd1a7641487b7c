"""Maximum likelihood of the weights of a mixture, to convergence.

    maximise  sum_i share_i log (A w)_i   over  w >= 0, sum_l w_l = 1.

Sequential quadratic programming: Newton's model of the objective is minimised over
w >= 0 exactly, in the b weights, so that the n rows are passed only a few times.
Kim, Carbonetto, Stephens & Anitescu, "A fast algorithm for maximum likelihood
estimation of mixture proportions using sequential quadratic programming", Journal
of Computational and Graphical Statistics, 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..typing import Array

# A step leaves every row at least this part of its likelihood: from much less Newton's
# method only doubles it each time.
_KEPT = 0.1
# A start that gives a row less than this is mixed with equal weights, for the same reason.
_UNLIKELY = 1e-8
# Added to the curvature relative to its largest entry, and to the linear part likewise,
# so that the solution stays where it is.
_PROXIMAL = 1e-10


class Columns(Protocol):
    """An n x b matrix of non-negative numbers that need not be in memory."""

    n_columns: int

    def dot(self, w: Array, columns: np.ndarray) -> Array:
        """``A[:, columns] @ w``, shape (n,)."""

    def transposed(self, v: Array) -> Array:
        """``A.T @ v``, shape (b,)."""

    def gram(self, v: Array, columns: np.ndarray) -> Array:
        """``A[:, columns].T @ diag(v) @ A[:, columns]``."""


@dataclass(frozen=True)
class Mixture:
    """Weights of a mixture.

    Attributes
    ----------
    weights : ndarray of shape (b,)
    likelihood : ndarray of shape (n,)
        ``A @ weights``.
    gap : float
        The mean log-likelihood is at most this far below its maximum.
    steps : int
        Number of steps taken.
    """

    weights: Array
    likelihood: Array
    gap: float
    steps: int


def mixture(A: Columns, share: Array, start: Array, tol: float, max_iter: int) -> Mixture:
    """Maximise the likelihood of rows of which each has a positive number in A.

    The constraint of the sum is replaced by a term: the maximum of
    sum share log(A w) - sum w over w >= 0 adds up to one by itself.
    """
    start = start if start.any() else np.ones(A.n_columns)
    w, every = start / start.sum(), np.arange(A.n_columns)
    u = A.dot(w, every)
    if not u.min() > _UNLIKELY:
        w = 0.99 * w + 0.01 / len(w)
        u = A.dot(w, every)
    for step in range(max_iter + 1):
        g = A.transposed(share / u)
        # Concavity: no w can be better by more than max g - sum w g, and the last is one.
        gap = float(g.max()) - 1.0
        if gap <= tol or step == max_iter:
            break
        columns = np.flatnonzero((w > 0) | (g > 1.0))
        H = A.gram(share / u**2, columns)
        ridge = _PROXIMAL * float(H.diagonal().max())
        H.flat[:: len(columns) + 1] += ridge
        at = w[columns]
        v = nonnegative(H, 2.0 * g[columns] - 1.0 + ridge * at, at, 1e-3 * gap)
        d = v - at
        Ad = A.dot(d, columns)
        fall = float((g[columns] - 1.0) @ d)
        t = _step(u, Ad, float(d.sum()), share, fall)
        if t == 0.0:  # rounding: no step improves any more
            break
        w[columns] = np.maximum(at + t * d, 0.0)
        u += t * Ad
        total = w.sum()
        w, u = w / total, u / total
    return Mixture(w, u, gap, step)


def _step(u: Array, Ad: Array, growth: float, share: Array, fall: float) -> float:
    """How far to go along the step: as far as the objective falls with it."""
    shrink = float(np.min(Ad / u))
    t = 1.0 if shrink >= _KEPT - 1.0 else (_KEPT - 1.0) / shrink
    for _ in range(40):
        change = t * growth - float(share @ np.log1p(t * (Ad / u)))
        if change <= -1e-4 * t * fall:
            return t
        t *= 0.5
    return 0.0


def nonnegative(H: Array, c: Array, start: Array, tol: float) -> Array:
    """Minimise ½ v'Hv - c'v over v >= 0 by an active set.

    Parameters
    ----------
    H : ndarray of shape (k, k)
        Positive definite.
    c, start : ndarray of shape (k,)
        ``start`` must be non-negative.
    tol : float
        Largest slope into the region that is left.

    Returns
    -------
    ndarray of shape (k,)
    """
    v = start.copy()
    free = v > 0
    value = 0.5 * float(v @ H @ v) - float(c @ v)
    for _ in range(10 * len(c)):
        z = np.zeros_like(v)
        z[free] = np.linalg.solve(H[np.ix_(free, free)], c[free])
        if (z[free] < 0).any():
            # All negative ones at once if that is better, otherwise as far as the first.
            cut = np.maximum(z, 0.0)
            at_cut = 0.5 * float(cut @ H @ cut) - float(c @ cut)
            if at_cut < value:
                v, value, free = cut, at_cut, cut > 0
                continue
            down = free & (z < 0)
            t = float(np.min(v[down] / (v[down] - z[down])))
            v = v + t * (z - v)
            gone = down & (v <= 1e-15 * v.max())
            v[gone] = 0.0
            free = free & ~gone
            value = 0.5 * float(v @ H @ v) - float(c @ v)
            continue
        v, value = z, -0.5 * float(c @ z)
        slope = c - H @ v
        slope[free] = 0.0
        if slope.max() <= tol:
            break
        free = free | (slope > np.maximum(tol, 0.5 * slope.max()))
    return v
