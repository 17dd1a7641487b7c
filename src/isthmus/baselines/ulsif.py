"""uLSIF and RuLSIF: a sum of kernels fitted to the ratio by least squares, in closed form.

Kanamori, Hido & Sugiyama, "A least-squares approach to direct importance
estimation", Journal of Machine Learning Research 10, 2009. Yamada, Suzuki,
Kanamori, Hachiya & Sugiyama, "Relative density-ratio estimation for robust
distribution comparison", Neural Computation 25, 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_number
from ..settings import is_auto
from ..typing import Array
from .kernel import PenalisedKernelRatio, gaussian, pieces, squares
from .parameters import check_unless_auto

# H of p, H of q and h of p, for every width.
Moments = tuple[Array, Array, Array]


@dataclass(eq=False, repr=False, kw_only=True)
class LeastSquares(PenalisedKernelRatio):
    """The fit that both have in common; uLSIF has alpha = 0."""

    @property
    def _alpha(self) -> float:
        return 0.0

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        p, q = self._prepare(samples, seeds)
        moments = self._moments(p, q)
        i, _ = self._choose(lambda: self._left_out_scores(moments, p, q, seeds("judged")))
        H_p, H_q, h = moments
        H = self._alpha * H_p[i] + (1.0 - self._alpha) * H_q[i]
        self.coef_ = np.maximum(np.linalg.solve(_ridged(H, self.l2_), h[i]), 0.0)

    def _moments(self, p: Distinct, q: Distinct) -> Moments:
        """Means of the kernels and of their products, for every width, in one pass."""
        k, b = len(self.widths_), len(self._centres)
        H_p, H_q, h = np.zeros((k, b, b)), np.zeros((k, b, b)), np.zeros((k, b))
        for sample, H, is_p in ((p, H_p, True), (q, H_q, False)):
            for part in pieces(len(sample.rows), b):
                square = squares(sample.rows[part], self._centres)
                share = sample.share[part]
                for i, width in enumerate(self.widths_):
                    K = gaussian(square, width)
                    if is_p:
                        h[i] += share @ K
                    if not is_p or self._alpha > 0:
                        K *= np.sqrt(share)[:, None]
                        H[i] += K.T @ K
        return H_p, H_q, h

    def _left_out_scores(
        self, moments: Moments, p: Distinct, q: Distinct, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """The loss of rows left out one at a time and its standard error, (n_widths, n_l2s).

        Without one row of q, H is H' = (n_q H_q - phi phi') / (n_q - 1) in q's part, and
        without one row of p likewise, h as well: changes of rank one, so that the
        solution of every row follows from one inverse (Sherman & Morrison). Negative
        coefficients are cut for each of them.
        """
        alpha = self._alpha
        score, variance = np.zeros((2, len(self.widths_), len(self.l2s_)))
        both = [self._judged(sample, rng) for sample in (p, q)]
        for sample, size, is_p in zip(both, self._sizes, (True, False), strict=True):
            more = 1.0 / max(size - 1.0, 0.5)
            weight = (alpha if is_p else 1.0 - alpha) * more
            # Of a row that stands for more than one, one is left out.
            gone = np.minimum(sample.share * size, 1.0)
            square = squares(sample.rows, self._centres)
            loss = np.empty(len(square))
            for i, width in enumerate(self.widths_):
                K = gaussian(square, width)
                H_p, H_q, h = (each[i] for each in moments)
                if is_p:
                    H_p, h = (1.0 + more) * H_p, (1.0 + more) * h
                else:
                    H_q = (1.0 + more) * H_q
                H = alpha * H_p + (1.0 - alpha) * H_q
                for j, l2 in enumerate(self.l2s_):
                    inverse: Array = np.linalg.inv(_ridged(H, l2)).astype(np.float64, copy=False)
                    for part in pieces(*K.shape):
                        drop = gone[part]
                        r = _left_out(K[part], inverse, h, weight * drop, more * drop * is_p)
                        loss[part] = 0.5 * alpha * r * r - r if is_p else 0.5 * (1 - alpha) * r * r
                    mean = sample.share @ loss
                    score[i, j] += mean
                    variance[i, j] += sample.share @ (loss - mean) ** 2 / sample.size
        return score, np.sqrt(variance)


@dataclass(eq=False, repr=False, kw_only=True)
class ULSIF(LeastSquares):
    """Estimate log p/q by least squares.

    The ratio is r(x) = sum_l theta_l K(x, c_l) with Gaussian kernels K. It minimises ::

        ½ mean over q of r(x)^2 - mean over p of r(x) + ½ l2 |theta|^2,

    which is the squared error of r under q but for a constant. The solution is
    theta = (H + l2 I)^-1 h with H the mean of K K' over q and h the mean of K over p;
    negative coefficients are then set to 0.

    Parameters
    ----------
    centres : int or array-like of shape (b, d), default 100
        Largest number of centres, which are rows of p, or the centres themselves in
        the units of the data.
    width : "auto", "median", float or sequence of float, default "auto"
        Width of the kernels in units of the standardised columns. "auto" chooses
        from widths around the distances in the data, a sequence names others.
        "median" is the median distance.
    l2 : "auto", float or sequence of float, default "auto"
        The ridge penalty. "auto" chooses from 1e-6 to 10.
    standardise : bool, default True
        Whether the columns are put on one scale first; the ratio is the same.
    floor : float or "auto", default "auto"
        Smallest ratio. Far from all centres a sum of kernels is zero, which says that
        the method cannot see that far, not that p is zero. "auto" is one over the
        number of rows of p, the smallest ratio that they can show.
    random_state : int, Generator, RandomState or None, default None
        Seeds the choice of centres, and of folds in other methods.

    Attributes
    ----------
    centres_, coef_ : ndarray of shape (b, d) and (b,)
        The centres, in the units of the data, and theta.
    width_, l2_, floor_ : float
        The width, the penalty and the smallest ratio.
    widths_, l2s_ : ndarray
        What width and penalty were chosen from.
    scores_, score_errors_ : ndarray of shape (n_widths, n_l2s) or None
        The loss of rows left out one at a time and its standard error; None if there
        was no choice.

    Notes
    -----
    Width and penalty are chosen together by the loss of rows that are left out one at a
    time, in closed form as in the paper; two standard errors are added, since a narrow
    kernel with a small penalty can be lucky. The paper leaves out rows of p and q in pairs;
    here it is one row of either, so that nothing depends on which rows stand side by
    side and samples may differ in size. The loss is taken over at most 20,000 rows of
    each sample, the matrices over all.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import ULSIF
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 2000), rng.normal(0, 2, 2000))
    >>> ULSIF(random_state=0).fit(X, y).log_ratio([[0.0], [2.0]]).round(1)  # truth: 0.69, -0.81
    array([ 0.7, -0.8])
    """


@dataclass(eq=False, repr=False, kw_only=True)
class RULSIF(LeastSquares):
    """Estimate log p/q through the relative ratio p / (alpha p + (1 - alpha) q).

    The relative ratio is at most 1/alpha, which tames it where q is small. It is
    r_a(x) = sum_l theta_l K(x, c_l) and minimises ::

        ½ alpha mean_p r_a^2 + ½ (1 - alpha) mean_q r_a^2 - mean_p r_a + ½ l2 |theta|^2,

    solved as in :class:`ULSIF`. The ratio follows from it as ::

        r = (1 - alpha) r_a / (1 - alpha r_a).

    Parameters
    ----------
    alpha : float, default 0.1
        Share of p in the denominator, at least 0 and below 1. 0 is uLSIF.
    centres, width, l2, standardise, floor, random_state
        As in :class:`ULSIF`; the floor is that of p/q.
    cap : float or "auto", default "auto"
        Largest ratio p/q, if alpha > 0: the fitted r_a may come up to 1/alpha and
        beyond, where p/q is not defined. "auto" is the number of rows of q, the
        largest ratio that they can show.

    Attributes
    ----------
    centres_, coef_, width_, l2_, widths_, l2s_, scores_, score_errors_, floor_
        As in :class:`ULSIF`.
    cap_ : float
        Largest ratio p/q.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import RULSIF
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 2000), rng.normal(0, 2, 2000))
    >>> rulsif = RULSIF(alpha=0.5, random_state=0).fit(X, y)
    >>> rulsif.relative_ratio([[0.0], [2.0]]).round(1)  # truth: 1.33 and 0.62
    array([1.3, 0.7])
    """

    alpha: float = 0.1
    cap: float | str = "auto"

    @property
    def _alpha(self) -> float:
        return float(self.alpha)

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number(self.alpha, "alpha", low=0.0, high=1.0, open_high=True)
        check_unless_auto(self.cap, "cap", low=0.0, open_low=True, open_high=True)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        super().learn(samples, seeds)
        self.cap_ = float(self._sizes[1] if is_auto(self.cap) else self.cap)

    def relative_ratio(self, X: Any) -> Array:
        """The relative ratio p / (alpha p + (1 - alpha) q) at the rows of X.

        Parameters
        ----------
        X : array-like or frame of shape (n, d) or (n,)

        Returns
        -------
        ndarray of shape (n,)
            As fitted: not floored, and not capped at 1/alpha.
        """
        check_is_fitted(self)
        return self._values(self.as_rows(X))

    def evaluate(self, rows: Array) -> Array:
        relative, alpha = self._values(rows), self._alpha
        if alpha > 0:
            relative = np.minimum(relative, self.cap_ / (1.0 - alpha + alpha * self.cap_))
        ratio = (1.0 - alpha) * relative / (1.0 - alpha * relative)
        return np.asarray(np.log(np.maximum(ratio, self.floor_)))


def _ridged(H: Array, l2: float) -> Array:
    out = H.copy()
    out.flat[:: len(H) + 1] += l2
    return out


def _left_out(K: Array, inverse: Array, h: Array, weight: Array, share: Array) -> Array:
    """Ratio at each row, fitted without it, shape (n,).

    The fit without row i solves (H - weight_i phi phi') theta = h - share_i phi, with
    ``inverse`` the inverse of H and phi the row of K.
    """
    U = K @ inverse
    whole = inverse @ h
    own = np.einsum("ij,ij->i", K, U)
    # theta = whole + t U_i: both the change of h and the update of H lie along U_i.
    t = -share + weight * (K @ whole - share * own) / (1.0 - weight * own)
    U *= t[:, None]
    U += whole
    np.maximum(U, 0.0, out=U)
    return np.asarray(np.einsum("ij,ij->i", K, U))
