"""KLIEP: a sum of kernels that maximises the likelihood of p as a reweighted q.

Sugiyama, Suzuki, Nakajima, Kashima, von Bünau & Kawanabe, "Direct importance
estimation for covariate shift adaptation", Annals of the Institute of Statistical
Mathematics 60, 2008.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_number
from ..settings import is_auto
from ..typing import Array
from .kernel import KernelRatio, check_unless_auto, gaussian, pieces, squares
from .mixture import Likelihoods, fit_mixture

_LARGEST_CAP = 1.0 / float(np.finfo(float).eps)
# From wide to narrow, the search ends after so many widths in a row that are no better.
_PATIENCE = 2


@dataclass(eq=False, repr=False, kw_only=True)
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
    centres, standardise, floor
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
    random_state : int, Generator, RandomState or None, default None
        Seeds the choice of centres and folds.

    Attributes
    ----------
    centres_, coef_, width_, widths_, floor_
        As in :class:`ULSIF`.
    scores_ : ndarray or None
        Mean log r of rows left out, for each of them, NaN for those that were not tried;
        None if there was no choice.
    objective_ : float
        Mean log r over p.
    gap_ : float
        Upper bound of how far that is below its maximum.
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
            judge = LeftOut(self, judged, self._centres, seeds("folds"))
            best, start, self.scores_ = self._search(judge, means, start)
        self.width_ = float(self.widths_[best])

        A = Likelihoods(
            lambda part: squares(p.rows[part], self._centres), len(p.rows), self.width_, means[best]
        )
        found = fit_mixture(A, p.share, start, self.tol, self.max_iter)
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

    def _search(self, judge: LeftOut, means: Array, start: Array) -> tuple[int, Array, Array]:
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


class LeftOut:
    """Mean log r over rows of p that were left out.

    A row left out is no centre either: at its own centre it would be at home.
    """

    def __init__(self, kliep: KLIEP, p: Distinct, centres: Array, rng: np.random.Generator) -> None:
        self.p, self.tol, self.max_iter = p, kliep.tol, kliep.max_iter
        self.floor = np.log(kliep.floor_)
        self.left_out = p.folds(kliep.folds, rng)
        self.square = squares(p.rows, centres)
        home = self.square.argmin(axis=0)
        same = self.square.min(axis=0) <= 1e-12 * np.median(self.square)
        # A row that was given several times stays a centre while one of them is kept.
        gone = self.left_out >= self.p.share[:, None] * (1.0 - 1e-9)
        self.is_centre = ~(same[:, None] & gone[home])

    def __call__(self, width: float, mean: Array, start: Array) -> tuple[float, Array]:
        """The score of a width, and the weights of the centres fitted to all rows."""
        A = Likelihoods(self.square.__getitem__, len(self.p.rows), width, mean)
        whole = fit_mixture(A, self.p.share, start, self.tol, self.max_iter).weights
        score = 0.0
        for out, centre in zip(self.left_out.T, self.is_centre.T, strict=True):
            kept = self.p.share - out
            within, centre = kept > 1e-9 * self.p.share, centre if centre.any() else ~centre
            square = self.square[:, centre]
            A = Likelihoods(square[within].__getitem__, within.sum(), width, mean[centre])
            share = kept[within] / kept[within].sum()
            w = fit_mixture(A, share, whole[centre], self.tol, self.max_iter).weights
            A = Likelihoods(square[out > 0].__getitem__, (out > 0).sum(), width, mean[centre])
            log_r = np.log(A.dot(w, np.arange(len(w))) + 1e-300) - A.exponent
            score += float(out[out > 0] @ np.maximum(log_r, self.floor))
        return score, whole


def _means(q: Distinct, centres: Array, widths: Array) -> Array:
    """Mean of every kernel over q, for every width, shape (n_widths, b)."""
    out = np.zeros((len(widths), len(centres)))
    for part in pieces(len(q.rows), len(centres)):
        square = squares(q.rows[part], centres)
        for i, width in enumerate(widths):
            out[i] += q.share[part] @ gaussian(square, width)
    return out
