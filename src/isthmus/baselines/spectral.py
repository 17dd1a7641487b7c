"""A closed-form estimate of log p/q from first and second moments of features.

Bach, "A spectral framework for closed-form relative density estimation", 2026,
arXiv:2605.10668. Only the abstract and public summaries were at hand: what is here is
derived from their description, and the paper may differ in features, regularisation and detail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..data.blocks import slices
from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_number, check_option
from ..estimator import RatioEstimator
from ..maps.affine import AffineMap, canonical_map
from ..settings import is_auto
from ..typing import Array, RandomState
from .parameters import check_unless_auto
from .spectral_features import FEATURES, MOST_FEATURES, make_features
from .time_score import split_off

# Penalties that are tried, in units of the mean eigenvalue of both second moments together.
_PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
_HELD = 0.25
_ROWS_AT_A_TIME = 4096

Features = Callable[[Array], Array]


@dataclass(frozen=True)
class FeatureMoments:
    """Mean of features and of their products under p and q."""

    mean_p: Array
    mean_q: Array
    second_p: Array
    second_q: Array

    @classmethod
    def of(cls, features: Features, p: Distinct, q: Distinct) -> FeatureMoments:
        """Sums over the rows, some at a time."""
        (mean_p, second_p), (mean_q, second_q) = (_sums(features, x) for x in (p, q))
        return cls(mean_p, mean_q, second_p, second_q)

    def solve(self, l2: float) -> tuple[Array, float]:
        """Coefficients of log p/q, and KL(p || q), for a penalty relative to the mean eigenvalue.

        Examples
        --------
        With a feature for each of a few values it is exact: the logarithm of their shares.

        >>> import numpy as np
        >>> p, q = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6])
        >>> coef, kl = FeatureMoments(p, q, np.diag(p), np.diag(q)).solve(0.0)
        >>> bool(np.allclose(coef, np.log(p / q))), bool(np.isclose(kl, p @ np.log(p / q)))
        (True, True)
        """
        total = self.second_p + self.second_q
        values, axes = np.linalg.eigh(total)
        ridge = 2.0 * l2 * float(values.mean())
        keep = values + ridge > 1e-13 * values[-1]
        root = np.sqrt(values[keep] + ridge)
        whiten = axes[:, keep] / root
        # Each second moment has half of the ridge, so that shares add up to one.
        shares, turn = np.linalg.eigh(
            whiten.T @ self.second_p @ whiten + 0.5 * ridge * np.diag(1.0 / root**2)
        )
        forward = whiten @ turn
        difference = forward.T @ (self.mean_p - self.mean_q)
        of_ratio, of_kl = spectral_weights(shares)
        return forward @ (of_ratio * difference), float(of_kl @ difference**2)


def spectral_weights(share: Array) -> tuple[Array, Array]:
    """Integrals over s of 1 / c and of (1 - s) / c with c = (1 - s) (1 - a) + s a, at every a.

    They are log(a / b) / (a - b) and a log(a / b) / (a - b)^2 - 1 / (a - b) with b = 1 - a.

    Examples
    --------
    >>> import numpy as np
    >>> [part.round(3).tolist() for part in spectral_weights(np.array([0.5, 0.9]))]
    [[2.0, 2.747], [1.0, 1.84]]
    """
    # Rounding may put a share outside of (0, 1).
    a = np.clip(share, 1e-12, 1.0 - 1e-12)
    gap = 2.0 * a - 1.0
    near = np.abs(gap) < 1e-3
    safe = np.where(near, 1.0, gap)
    log_odds = np.log(a) - np.log1p(-a)
    ratio = np.where(near, 2.0 + 2.0 * gap**2 / 3.0, log_odds / safe)
    kl = np.where(near, 1.0 + gap / 3.0 + gap**2 / 3.0, a * log_odds / safe**2 - 1.0 / safe)
    return ratio, kl


@dataclass(eq=False, repr=False)
class SpectralDRE(RatioEstimator):
    r"""Estimate log p/q in closed form from first and second moments of features.

    Along the mixtures :math:`m_s = (1 - s) q + s p`

    .. math::
        \log \frac{p(x)}{q(x)} = \int_0^1 \frac{p(x) - q(x)}{m_s(x)} \, ds , \qquad
        \mathrm{KL}(p \| q) = \int_0^1 (1 - s) \int \frac{(p - q)^2}{m_s} \, dx \, ds ,

    an integral of weighted chi-squared divergences. The integrand of the first is the minimum of
    :math:`\frac12 \mathrm{E}_{m_s} f^2 - \mathrm{E}_p f + \mathrm{E}_q f`. With
    :math:`f = \theta_s' \varphi(x)` that is least squares,
    :math:`\theta_s = ((1 - s) \Sigma_q + s \Sigma_p)^{-1} (\mu_p - \mu_q)` with the means of
    :math:`\varphi` and of :math:`\varphi \varphi'`, and the integral over s is known: in
    coordinates in which :math:`\Sigma_p + \Sigma_q = I` and
    :math:`\Sigma_p = \mathrm{diag}(a)`,

    .. math:: \log \frac{p(x)}{q(x)} = \sum_i \varphi_i(x) \,
        \frac{\log a_i - \log(1 - a_i)}{2 a_i - 1} \, (\mu_p - \mu_q)_i .

    Nothing is iterated. It is exact where the features span the functions (p - q) / m_s; where p
    and q hardly overlap these are steps, and a few smooth features are far from them.

    Parameters
    ----------
    features : {"auto", "quadratic", "fourier"} or callable, default "auto"
        Coordinates, their squares and products; or waves with random frequencies, which stand
        for a Gaussian kernel; or a function of the rows, as they were given, that returns shape
        (n, k). A constant is always among the first two. "auto" takes the first or the second, by
        the likelihood of held-out labels, and the second alone where there are more than 1,000
        quadratic features.
    n_waves : int, default 300
        Number of waves.
    width : float or "auto", default "auto"
        Width of the kernel that waves stand for, in units of the pooled sample. "auto" takes one
        of 1/2, 1 and 2 times the root of the number of columns, with the penalty.
    l2 : float or "auto", default "auto"
        Ridge on both second moments, in units of their mean eigenvalue. "auto" takes the
        one of 1e-8 to 0.1 under which held-out labels are likeliest, or 0.01 with few rows.
    random_state : int, Generator, RandomState or None, default None
        Seeds waves and the split.

    Attributes
    ----------
    coef_ : ndarray of shape (k,)
        Coefficients of the features.
    features_ : callable
        The features, of rows in the coordinates ``map_``.
    map_ : AffineMap or None
        Coordinates in which the pooled sample is white; None with features that were given.
    l2_ : float
        The penalty.
    kl_ : float
        The second formula above: KL(p || q), without a log-ratio on the way.

    Notes
    -----
    After the abstract of the paper (see the top of this file); it does not claim to be the paper's
    program.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import SpectralDRE
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (4000, 2)), rng.normal(0.5, 1, (4000, 2))
    >>> model = SpectralDRE(random_state=0).fit(*isthmus.stack(p, q))
    >>> model.log_ratio([[0.0, 0.0], [0.5, 0.5]]).round(1)  # truth: 0.25 and -0.25
    array([ 0.2, -0.3])
    """

    features: Any = "auto"
    _: KW_ONLY
    n_waves: int = 300
    width: float | str = "auto"
    l2: float | str = "auto"
    random_state: RandomState = None

    def check_parameters(self) -> None:
        if not callable(self.features):
            check_option(self.features, "features", ["auto", *FEATURES])
        check_number(self.n_waves, "n_waves", low=1, high=MOST_FEATURES, integer=True)
        check_unless_auto(self.width, "width", low=0, open_low=True, open_high=True)
        check_unless_auto(self.l2, "l2", low=0, open_high=True)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        self.map_: AffineMap | None = None
        p, q = map(Distinct.of, samples)
        if not callable(self.features):
            self.map_ = canonical_map(samples)
            p, q = p.map(self.map_), q.map(self.map_)
        candidates = make_features(
            self.features, p.rows.shape[1], self.n_waves, self.width, seeds("waves")
        )
        self.features_, self.l2_ = self._choose(candidates, p, q, seeds)
        self.coef_, self.kl_ = FeatureMoments.of(self.features_, p, q).solve(self.l2_)

    def _choose(
        self, candidates: list[Features], p: Distinct, q: Distinct, seeds: Seeds
    ) -> tuple[Features, float]:
        """Features and penalty by the likelihood of held-out labels."""
        penalties = list(_PENALTIES) if is_auto(self.l2) else [float(self.l2)]
        if len(candidates) * len(penalties) == 1:
            return candidates[0], penalties[0]
        (fit_p, held_p), (fit_q, held_q) = (
            split_off(x, _HELD, seeds(f"held out {name}")) for name, x in (("p", p), ("q", q))
        )
        if held_p is None or held_q is None:
            return candidates[0], penalties[min(1, len(penalties) - 1)]
        best, chosen = np.inf, (candidates[0], penalties[0])
        for features in candidates:
            moments = FeatureMoments.of(features, fit_p, fit_q)
            for l2 in penalties:
                coef, _ = moments.solve(l2)
                loss = sum(
                    float(half.share @ np.logaddexp(0.0, sign * _values(features, coef, half.rows)))
                    for half, sign in ((held_p, -1.0), (held_q, 1.0))
                )
                if loss < best:
                    best, chosen = loss, (features, l2)
        return chosen

    def evaluate(self, rows: Array) -> Array:
        return _values(self.features_, self.coef_, rows if self.map_ is None else self.map_(rows))


def _values(features: Features, coef: Array, rows: Array) -> Array:
    parts = [features(rows[part]) @ coef for part in slices(len(rows), _ROWS_AT_A_TIME)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _sums(features: Features, x: Distinct) -> tuple[Array, Array]:
    size = features(x.rows[:1]).shape[1]
    mean, second = np.zeros(size), np.zeros((size, size))
    for part in slices(len(x.rows), _ROWS_AT_A_TIME):
        F, share = np.asarray(features(x.rows[part]), dtype=np.float64), x.share[part]
        mean += share @ F
        rooted = F * np.sqrt(share)[:, None]
        second += rooted.T @ rooted
    return mean, second
