"""uLSIF and RuLSIF: a sum of kernels fitted to the ratio by least squares, in closed form.

Kanamori, Hido & Sugiyama, "A least-squares approach to direct importance
estimation", Journal of Machine Learning Research 10, 2009. Yamada, Suzuki,
Kanamori, Hachiya & Sugiyama, "Relative density-ratio estimation for robust
distribution comparison", Neural Computation 25, 2013.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.blocks import slices
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_number
from ..typing import Array, RandomState
from .least_squares import LeastSquares


class ULSIF(LeastSquares):
    """Estimate log p/q by least squares.

    The ratio is r(x) = sum_l theta_l K(x, c_l) with Gaussian kernels K. It minimises

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
        Seeds the choice of centres.

    Attributes
    ----------
    centres_ : ndarray of shape (b, d)
        The centres, in the units of the data.
    coef_ : ndarray of shape (b,)
        theta.
    width_, l2_ : float
        The width and the penalty.
    widths_, l2s_ : ndarray
        What they were chosen from.
    scores_, score_errors_ : ndarray of shape (n_widths, n_l2s) or None
        The loss of rows left out one at a time and its standard error; None if there
        was no choice.
    floor_ : float
        Smallest ratio.

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

    def __init__(
        self,
        *,
        centres: Any = 100,
        width: Any = "auto",
        l2: Any = "auto",
        standardise: bool = True,
        floor: float | str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.centres = centres
        self.width = width
        self.l2 = l2
        self.standardise = standardise
        self.floor = floor
        self.random_state = random_state


class RULSIF(LeastSquares):
    """Estimate log p/q through the relative ratio p / (alpha p + (1 - alpha) q).

    The relative ratio is at most 1/alpha, which tames it where q is small. It is
    r_a(x) = sum_l theta_l K(x, c_l) and minimises

        ½ alpha mean_p r_a^2 + ½ (1 - alpha) mean_q r_a^2 - mean_p r_a + ½ l2 |theta|^2,

    solved as in :class:`ULSIF`. The ratio follows from it as

        r = (1 - alpha) r_a / (1 - alpha r_a).

    Parameters
    ----------
    alpha : float, default 0.1
        Share of p in the denominator, at least 0 and below 1. 0 is uLSIF.
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
        Smallest ratio p/q; "auto" is one over the number of rows of p. Far from all
        centres a sum of kernels is zero: the method cannot see that far.
    cap : float or "auto", default "auto"
        Largest ratio p/q, if alpha > 0: the fitted r_a may come up to 1/alpha and
        beyond, where p/q is not defined. "auto" is the number of rows of q, the
        largest ratio that they can show.
    random_state : int, Generator, RandomState or None, default None
        Seeds the choice of centres.

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

    def __init__(
        self,
        *,
        alpha: float = 0.1,
        centres: Any = 100,
        width: Any = "auto",
        l2: Any = "auto",
        standardise: bool = True,
        floor: float | str = "auto",
        cap: float | str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.alpha = alpha
        self.centres = centres
        self.width = width
        self.l2 = l2
        self.standardise = standardise
        self.floor = floor
        self.cap = cap
        self.random_state = random_state

    @property
    def _alpha(self) -> float:
        return float(self.alpha)

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number(self.alpha, "alpha", low=0.0, high=1.0, open_high=True)
        if not (isinstance(self.cap, str) and self.cap == "auto"):
            check_number(self.cap, "cap", low=0.0, open_low=True, open_high=True)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        super().learn(samples, seeds)
        self.cap_ = float(self._sizes[1]) if self.cap == "auto" else float(self.cap)

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
        rows = self.as_rows(X)
        return np.concatenate([self._values(rows[part]) for part in slices(len(rows))])

    def evaluate(self, rows: Array) -> Array:
        relative, alpha = self._values(rows), self._alpha
        if alpha > 0:
            relative = np.minimum(relative, self.cap_ / (1.0 - alpha + alpha * self.cap_))
        ratio = (1.0 - alpha) * relative / (1.0 - alpha * relative)
        return np.asarray(np.log(np.maximum(ratio, self.floor_)))
