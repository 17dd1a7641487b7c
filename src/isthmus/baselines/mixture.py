"""Maximum likelihood of the weights of a mixture, to convergence.

    maximise  sum_i share_i log (A w)_i   over  w >= 0, sum_l w_l = 1.

Sequential quadratic programming: Newton's model of the objective is minimised over
w >= 0 exactly, in the b weights, so that the n rows are passed only a few times.
Kim, Carbonetto, Stephens & Anitescu, "A fast algorithm for maximum likelihood
estimation of mixture proportions using sequential quadratic programming", Journal
of Computational and Graphical Statistics, 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..typing import Array, IntArray
from . import kernel

# A step leaves every row at least this part of its likelihood: from much less Newton's
# method only doubles it each time.
_LEAST_PART = 0.1
# A start that gives a row less than this is mixed with equal weights, for the same reason.
_UNLIKELY = 1e-8
# Added to the curvature relative to its largest entry, and to the linear part likewise,
# so that the solution stays where it is.
_PROXIMAL = 1e-10


class Likelihoods:
    """The matrix A = K(x_i, c_l) / b_l, every row times a factor that lifts it from underflow.

    It is made of squared distances of rows and centres, or of a function that gives them for a
    slice of rows, and of the mean b_l of every kernel over q. ``exponent`` has the logarithms of
    the factors, which change the log-likelihood by a constant.
    """

    def __init__(
        self, square: Array | Callable[[slice], Array], n: int, width: float, mean: Array
    ) -> None:
        self.square = square if callable(square) else square.__getitem__
        self.width, self.mean, self.n_columns = width, mean, len(mean)
        self.exponent = np.empty(n)
        self.kept: Array | None = None
        kept = np.empty((n, len(mean))) if n * len(mean) <= kernel.MOST_VALUES else None
        for part in self._parts():
            block = self._block(part)
            if kept is not None:
                kept[part] = block
        self.kept = kept

    def _parts(self) -> Iterator[slice]:
        return kernel.pieces(len(self.exponent), self.n_columns)

    def _block(self, part: slice) -> Array:
        if self.kept is not None:
            return self.kept[part]
        square = self.square(part)
        least = square.min(axis=1)
        self.exponent[part] = least / (2.0 * self.width**2)
        out = kernel.gaussian(square - least[:, None], self.width)
        out /= self.mean
        return out

    def dot(self, w: Array, columns: IntArray) -> Array:
        """``A[:, columns] @ w``, shape (n,)."""
        full = np.zeros(self.n_columns)
        full[columns] = w
        return np.concatenate([self._block(part) @ full for part in self._parts()])

    def transposed(self, v: Array) -> Array:
        """``A.T @ v``, shape (b,)."""
        out = np.zeros(self.n_columns)
        for part in self._parts():
            out += v[part] @ self._block(part)
        return out

    def gram(self, v: Array, columns: IntArray) -> Array:
        """``A[:, columns].T @ diag(v) @ A[:, columns]``."""
        out = np.zeros((len(columns), len(columns)))
        root = np.sqrt(v)
        for part in self._parts():
            block = self._block(part)
            if len(columns) < self.n_columns:
                block = block[:, columns]
            block = block * root[part, None]
            out += block.T @ block
        return out


@dataclass(frozen=True)
class Mixture:
    """Weights of a mixture, their likelihood ``A @ weights``, and the number of steps.

    The mean log-likelihood is at most ``gap`` below its maximum.
    """

    weights: Array
    likelihood: Array
    gap: float
    steps: int


def fit_mixture(A: Likelihoods, share: Array, start: Array, tol: float, max_iter: int) -> Mixture:
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
    t = 1.0 if shrink >= _LEAST_PART - 1.0 else (_LEAST_PART - 1.0) / shrink
    for _ in range(40):
        change = t * growth - float(share @ np.log1p(t * (Ad / u)))
        if change <= -1e-4 * t * fall:
            return t
        t *= 0.5
    return 0.0


def nonnegative(H: Array, c: Array, start: Array, tol: float) -> Array:
    """Minimise ½ v'Hv - c'v over v >= 0 by an active set, from a start in that region.

    H is positive definite; ``tol`` is the largest slope into the region that is left.
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
