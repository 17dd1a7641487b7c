"""KLIEP: a sum of kernels that maximises the likelihood of p as a reweighted q.

Sugiyama, Suzuki, Nakajima, Kashima, von Bünau & Kawanabe, "Direct importance
estimation for covariate shift adaptation", Annals of the Institute of Statistical
Mathematics 60, 2008.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.telling import tell
from ..data.validation import check_number
from ..settings import is_auto
from ..typing import Array, IntArray
from .kernel import InPieces, KernelRatio, gaussian, pieces, squares
from .parameters import check_unless_auto

_LARGEST_CAP = 1.0 / float(np.finfo(float).eps)
# From wide to narrow, the search ends after so many widths in a row that are no better.
_PATIENCE = 2
# A step leaves every row at least this part of its likelihood: from much less Newton's
# method only doubles it each time.
_LEAST_PART = 0.1
# A start that gives a row less than this is mixed with equal weights, for the same reason.
_UNLIKELY = 1e-8
# Added to the curvature relative to its largest entry, and to the linear part likewise,
# so that the solution stays where it is.
_PROXIMAL = 1e-10


@dataclass(eq=False, repr=False, kw_only=True)
class KLIEP(KernelRatio):
    """Estimate log p/q by maximising the likelihood of r(x) q(x) under p.

    The ratio is r(x) = sum_l theta_l K(x, c_l) with Gaussian kernels K and
    theta >= 0. It maximises ::

        mean over p of log r(x)   subject to   mean over q of r(x) = 1.

    With b_l the mean of K(x, c_l) over q and theta_l = w_l / b_l, the weights w are
    those of a mixture fitted to p by maximum likelihood. That problem is convex and
    is solved to convergence; ``gap_`` bounds what is missing.

    Parameters
    ----------
    centres, standardise, floor, random_state
        As in :class:`ULSIF`.
    width : "auto", "median", float or sequence of float, default "auto"
        As in :class:`ULSIF`, but chosen by the mean log r of rows of p that were left out:
        "auto" goes from wide to narrow until two in a row are no better; of a sequence all
        are tried.
    folds : int, default 5
        Number of folds of p in that choice.
    cap : float or "auto", default "auto"
        Largest r at a centre, if that were the only one: b_l is taken to be at least
        1/cap. Where p has rows and q has none, nothing else limits r, and the choice of
        the width is drawn to kernels so narrow that all rows are such. "auto" is the
        number of rows of q, the largest ratio that they can show; infinity is the paper's
        problem (4.5e15, to be finite). Where the limit binds, the mean of r over q comes
        to less than one.
    tol : float, default 1e-9
        Largest gap between the mean log r over p and its maximum.
    max_iter : int, default 200
        Largest number of solver steps.

    Attributes
    ----------
    centres_, coef_, width_, widths_, floor_
        As in :class:`ULSIF`.
    scores_ : ndarray or None
        Mean log r of rows left out, for each of them, NaN for those that were not tried;
        None if there was no choice.
    objective_, gap_ : float
        Mean log r over p, and an upper bound of how far that is below its maximum.
    cap_ : float
        Largest ratio of one kernel.
    n_iter_ : int
        Number of solver steps.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import KLIEP
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 2000), rng.normal(0, 2, 2000))
    >>> KLIEP(random_state=0).fit(X, y).log_ratio([[0.0], [2.0]]).round(1)  # truth: 0.69, -0.81
    array([ 0.7, -0.9])
    """

    folds: int = 5
    cap: float | str = "auto"
    tol: float = 1e-9
    max_iter: int = 200

    def check_parameters(self) -> None:
        super().check_parameters()
        check_unless_auto(self.cap, "cap", low=1.0)
        check_number(self.folds, "folds", low=2, integer=True)
        check_number(self.tol, "tol", low=0.0, open_low=True)
        check_number(self.max_iter, "max_iter", low=1, integer=True)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        p, q = self._prepare(samples, seeds)
        self.cap_ = float(q.size if is_auto(self.cap) else min(self.cap, _LARGEST_CAP))
        means = np.maximum(_means(q, self._centres, self.widths_), 1.0 / self.cap_)
        best, start = 0, np.ones(len(self._centres))
        self.scores_: Array | None = None
        if len(self.widths_) > 1:
            judged = self._judged(p, seeds("judged"))
            best, start, self.scores_ = self._search(judged, means, seeds("folds"))
        self.width_ = float(self.widths_[best])

        A = Likelihoods(
            lambda part: squares(p.rows[part], self._centres), len(p.rows), self.width_, means[best]
        )
        found = self._mixture(A, p.share, start)
        self.coef_ = found.weights / means[best]
        self.objective_ = float(p.share @ (np.log(found.likelihood) - A.exponent))
        self.gap_, self.n_iter_ = found.gap, max(found.steps, 1)
        if found.gap > self.tol:
            tell(
                f"KLIEP did not converge in {found.steps} steps: the mean log r over p may be "
                f"{found.gap:.1e} below its maximum (tol {self.tol:.1e}).",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _mixture(self, A: Likelihoods, share: Array, start: Array) -> Mixture:
        return fit_mixture(A, share, start, self.tol, self.max_iter)

    def _search(
        self, p: Distinct, means: Array, rng: np.random.Generator
    ) -> tuple[int, Array, Array]:
        """Position of the best width, the weights fitted with it to all rows, and all scores."""
        square, folds = squares(p.rows, self._centres), p.folds(self.folds, rng)
        # A row left out is no centre either: at its own centre it would be at home. One that
        # was given several times stays a centre while one of them is kept.
        same = square.min(axis=0) <= 1e-12 * np.median(square)
        gone = folds >= p.share[:, None] * (1.0 - 1e-9)
        is_centre = ~(same[:, None] & gone[square.argmin(axis=0)])

        def left_out(width: float, mean: Array, start: Array) -> float:
            """Mean log r over rows left out."""
            score = 0.0
            for out, centre in zip(folds.T, is_centre.T, strict=True):
                kept = p.share - out
                within, centre = kept > 1e-9 * p.share, centre if centre.any() else ~centre
                near = square[:, centre]
                A = Likelihoods(near[within].__getitem__, within.sum(), width, mean[centre])
                share = kept[within] / kept[within].sum()
                w = self._mixture(A, share, start[centre]).weights
                A = Likelihoods(near[out > 0].__getitem__, (out > 0).sum(), width, mean[centre])
                log_r = np.log(A.dot(w, np.arange(len(w))) + 1e-300) - A.exponent
                score += float(out[out > 0] @ np.maximum(log_r, np.log(self.floor_)))
            return score

        scores = np.full(len(self.widths_), np.nan)
        order = np.argsort(-self.widths_, kind="stable")
        best, weights, since = int(order[0]), np.ones(len(self._centres)), 0
        start = weights
        for i in order:
            width = float(self.widths_[i])
            # The weights of one width are a start for the next.
            A = Likelihoods(square.__getitem__, len(square), width, means[i])
            start = self._mixture(A, p.share, start).weights
            scores[i], since = left_out(width, means[i], start), since + 1
            if i == best or scores[i] > scores[best]:
                best, weights, since = int(i), start, 0
            if since == _PATIENCE and isinstance(self.width, str):
                break
        return best, weights, scores


def _means(q: Distinct, centres: Array, widths: Array) -> Array:
    """Mean of every kernel over q, for every width, shape (n_widths, b)."""
    out = np.zeros((len(widths), len(centres)))
    for part in pieces(len(q.rows), len(centres)):
        square = squares(q.rows[part], centres)
        for i, width in enumerate(widths):
            out[i] += q.share[part] @ gaussian(square, width)
    return out


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


class Mixture(NamedTuple):
    """Weights of a mixture, their likelihood ``A @ weights``, and the number of steps.

    The mean log-likelihood is at most ``gap`` below its maximum.
    """

    weights: Array
    likelihood: Array
    gap: float
    steps: int


def fit_mixture(A: Likelihoods, share: Array, start: Array, tol: float, max_iter: int) -> Mixture:
    """Maximise sum_i share_i log (A w)_i over w >= 0 that add up to one, to convergence.

    The constraint of the sum is replaced by a term: the maximum of
    sum share log(A w) - sum w over w >= 0 adds up to one by itself. Sequential quadratic
    programming: Newton's model of the objective is minimised over w >= 0 exactly, in the b
    weights, so that the n rows are passed only a few times. Kim, Carbonetto, Stephens &
    Anitescu, "A fast algorithm for maximum likelihood estimation of mixture proportions using
    sequential quadratic programming", Journal of Computational and Graphical Statistics, 2020.
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
