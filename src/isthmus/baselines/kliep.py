"""KLIEP: a sum of kernels that maximises the likelihood of p as a reweighted q.

Sugiyama, Suzuki, Nakajima, Kashima, von Bünau & Kawanabe, "Direct importance
estimation for covariate shift adaptation", Annals of the Institute of Statistical
Mathematics 60, 2008.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_number
from ..typing import Array, RandomState
from .kernel import KernelRatio, Sample, blocks, gaussian, squares
from .likelihoods import Likelihoods
from .mixture import mixture

_LARGEST_CAP = 1.0 / float(np.finfo(float).eps)
# From wide to narrow, the search ends after so many widths in a row that are no better.
_PATIENCE = 2


class KLIEP(KernelRatio):
    """Estimate log p/q by maximising the likelihood of r(x) q(x) under p.

    The ratio is r(x) = sum_l theta_l K(x, c_l) with Gaussian kernels K and
    theta >= 0. It maximises

        mean over p of log r(x)   subject to   mean over q of r(x) = 1.

    With b_l the mean of K(x, c_l) over q and theta_l = w_l / b_l, the weights w are
    those of a mixture fitted to p by maximum likelihood. That problem is convex and
    is solved to convergence; ``gap_`` bounds what is missing.

    Parameters
    ----------
    centres : int or array-like of shape (b, d), default 100
        Largest number of centres, which are rows of p, or the centres themselves in
        the units of the data.
    width : "auto", "median", float or sequence of float, default "auto"
        Width of the kernels in units of the standardised columns. "auto" and a sequence
        are choices, made by the mean log r of rows of p that were left out: "auto"
        goes through widths around the distances in the data, from wide to narrow, until
        two in a row are no better; of a sequence all are tried. "median" is the median
        distance.
    folds : int, default 5
        Number of folds of p in that choice.
    standardise : bool, default True
        Whether the columns are put on one scale first; the ratio is the same.
    floor : float or "auto", default "auto"
        Smallest ratio. Far from all centres a sum of kernels is zero, which says that
        the method cannot see that far, not that p is zero. "auto" is one over the
        number of rows of p, the smallest ratio that they can show.
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
    random_state : int, Generator, RandomState or None, default None
        Seeds the choice of centres and folds.

    Attributes
    ----------
    centres_ : ndarray of shape (b, d)
        The centres, in the units of the data.
    coef_ : ndarray of shape (b,)
        theta.
    width_ : float
        The width.
    widths_ : ndarray
        The widths to choose from.
    scores_ : ndarray or None
        Mean log r of rows left out, for each of them, NaN for those that were not tried;
        None if there was no choice.
    objective_ : float
        Mean log r over p.
    gap_ : float
        Upper bound of how far that is below its maximum.
    floor_, cap_ : float
        Smallest ratio, and largest of one kernel.
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

    def __init__(
        self,
        *,
        centres: Any = 100,
        width: Any = "auto",
        folds: int = 5,
        standardise: bool = True,
        floor: float | str = "auto",
        cap: float | str = "auto",
        tol: float = 1e-9,
        max_iter: int = 200,
        random_state: RandomState = None,
    ) -> None:
        self.centres = centres
        self.width = width
        self.folds = folds
        self.standardise = standardise
        self.floor = floor
        self.cap = cap
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        if not (isinstance(self.cap, str) and self.cap == "auto"):
            check_number(self.cap, "cap", low=1.0)
        check_number(self.folds, "folds", low=2, integer=True)
        check_number(self.tol, "tol", low=0.0, open_low=True)
        check_number(self.max_iter, "max_iter", low=1, integer=True)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        p, q = self._prepare(samples, seeds)
        self.cap_ = float(q.size if self.cap == "auto" else min(self.cap, _LARGEST_CAP))
        means = np.maximum(_means(q, self._centres, self.widths_), 1.0 / self.cap_)
        best, start = 0, np.ones(len(self._centres))
        self.scores_: Array | None = None
        if len(self.widths_) > 1:
            judge = _Judge(self, self._judged(p, seeds("judged")), seeds("folds"))
            best, start, self.scores_ = self._search(judge, means, start)
        self.width_ = float(self.widths_[best])

        A = Likelihoods(
            lambda part: squares(p.rows[part], self._centres), len(p.rows), self.width_, means[best]
        )
        found = mixture(A, p.share, start, self.tol, self.max_iter)
        self.coef_ = found.weights / means[best]
        self.objective_ = float(p.share @ (np.log(found.likelihood) - A.exponent))
        self.gap_, self.n_iter_ = found.gap, max(found.steps, 1)
        if found.gap > self.tol:
            warnings.warn(
                f"KLIEP did not converge in {found.steps} steps: the mean log r over p may be "
                f"{found.gap:.1e} below its maximum (tol {self.tol:.1e}).",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _search(self, judge: _Judge, means: Array, start: Array) -> tuple[int, Array, Array]:
        """Position of the best width, the weights fitted with it, and all scores."""
        scores = np.full(len(self.widths_), np.nan)
        order = np.argsort(-self.widths_, kind="stable")
        best, weights, since = int(order[0]), start, 0
        for i in order:
            # The weights of one width are a start for the next.
            scores[i], start = judge(float(self.widths_[i]), means[i], start)
            since += 1
            if i == best or scores[i] > scores[best]:
                best, weights, since = int(i), start, 0
            if since == _PATIENCE and isinstance(self.width, str):
                break
        return best, weights, scores


class _Judge:
    """Mean log r over rows of p that were left out.

    A row left out is no centre either: at its own centre it would be at home.
    """

    def __init__(self, kliep: KLIEP, p: Sample, rng: np.random.Generator) -> None:
        self.p, self.tol, self.max_iter = p, kliep.tol, kliep.max_iter
        self.floor = np.log(kliep.floor_)
        self.left_out = p.folds(kliep.folds, rng)
        self.square = squares(p.rows, kliep._centres)
        home = self.square.argmin(axis=0)
        same = self.square.min(axis=0) <= 1e-12 * np.median(self.square)
        # A row that was given several times stays a centre while one of them is kept.
        gone = self.left_out >= self.p.share[:, None] * (1.0 - 1e-9)
        self.is_centre = ~(same[:, None] & gone[home])

    def __call__(self, width: float, mean: Array, start: Array) -> tuple[float, Array]:
        """The score of a width, and the weights of the centres fitted to all rows."""
        A = Likelihoods(self.square, len(self.p.rows), width, mean)
        whole = mixture(A, self.p.share, start, self.tol, self.max_iter).weights
        score = 0.0
        for out, centre in zip(self.left_out.T, self.is_centre.T, strict=True):
            kept = self.p.share - out
            within, centre = kept > 1e-9 * self.p.share, centre if centre.any() else ~centre
            square = self.square[:, centre]
            A = Likelihoods(square[within], int(within.sum()), width, mean[centre])
            share = kept[within] / kept[within].sum()
            w = mixture(A, share, whole[centre], self.tol, self.max_iter).weights
            A = Likelihoods(square[out > 0], int((out > 0).sum()), width, mean[centre])
            log_r = np.log(A.dot(w, np.arange(len(w))) + 1e-300) - A.exponent
            score += float(out[out > 0] @ np.maximum(log_r, self.floor))
        return score, whole


def _means(q: Sample, centres: Array, widths: Array) -> Array:
    """Mean of every kernel over q, for every width, shape (n_widths, b)."""
    out = np.zeros((len(widths), len(centres)))
    for part in blocks(len(q.rows), len(centres)):
        square = squares(q.rows[part], centres)
        for i, width in enumerate(widths):
            out[i] += q.share[part] @ gaussian(square, width)
    return out
