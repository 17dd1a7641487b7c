"""Maximum likelihood of the weights of a mixture, to convergence.

    maximise  sum_i share_i log (A w)_i   over  w >= 0, sum_l w_l = 1.

Sequential quadratic programming: Newton's model of the objective is minimised over
w >= 0 exactly, in the b weights, so that the n rows are passed only a few times.
Kim, Carbonetto, Stephens & Anitescu, "A fast algorithm for maximum likelihood
estimation of mixture proportions using sequential quadratic programming", Journal
of Computational and Graphical Statistics, 2020.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ..typing import Array, IntArray
from .kernel import InPieces, gaussian

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

    It is made of n rows of squared distances from the centres, given for slices of rows, and of
    the mean b_l of every kernel over q. ``exponent`` has the logarithms of the factors, which
    change the log-likelihood by a constant.
    """

    def __init__(
        self, squares: Callable[[slice], Array], n: int, width: float, mean: Array
    ) -> None:
        self.exponent, self.n_columns = np.empty(n), len(mean)

        def make(part: slice) -> Array:
            square = squares(part)
            least = square.min(axis=1)
            self.exponent[part] = least / (2.0 * width**2)
            return np.asarray(gaussian(square - least[:, None], width) / mean)

        self.pieces = InPieces(n, len(mean), make)

    def dot(self, w: Array, columns: IntArray) -> Array:
        """``A[:, columns] @ w``, shape (n,)."""
        full = np.zeros(self.n_columns)
        full[columns] = w
        return np.concatenate([piece @ full for _, piece in self.pieces])

    def transposed(self, v: Array) -> Array:
        """``A.T @ v``, shape (b,)."""
        return np.asarray(sum(v[part] @ piece for part, piece in self.pieces))

    def gram(self, v: Array, columns: IntArray) -> Array:
        """``A[:, columns].T @ diag(v) @ A[:, columns]``."""
        out, root = np.zeros((len(columns), len(columns))), np.sqrt(v)
        for part, piece in self.pieces:
            weighted = piece[:, columns] * root[part, None]
            out += weighted.T @ weighted
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
        # Minimise ½ v'Hv - c'v over v >= 0.
        root, c = np.linalg.cholesky(H), 2.0 * g[columns] - 1.0 + ridge * at
        v = nnls(root.T, np.linalg.solve(root, c), maxiter=30 * len(c))[0]
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
