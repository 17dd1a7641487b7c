"""The plug-in estimate: the ratio of two densities that are each fitted alone."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from ..anchors import anchor_pair, fit_anchor
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_flag, check_number, check_option
from ..estimator import RatioEstimator
from ..maps.coordinates import fit_coordinates
from ..settings import is_auto
from ..typing import Array, RandomState
from .densities import Kernels, Normal, NormalMixture, StudentT, evenly

_NAMES = ("gaussian", "student-t", "mixture", "kde")


class PlugIn(RatioEstimator):
    """Estimate log p/q as the difference of two fitted log-densities.

        log p(x)/q(x) = log p_hat(x) - log q_hat(x)

    No sample sees the other. Where the family is right this is as good as any
    estimate can be; with ``density="gaussian"`` it is the floor of every comparison.

    Parameters
    ----------
    density : str, density or pair of these, default "gaussian"
        "gaussian", "student-t" and "mixture" (of normals) are fitted by maximum
        likelihood, "kde" has a normal kernel at every row. Or any object with
        ``fit(X)`` and ``score_samples(X)``, such as those of scikit-learn, which is
        given the rows as they are. A pair is one for p and one for q.
    unbiased : bool, default False
        Take the noise of fitted covariances out of the log-densities, as the anchors
        of :class:`isthmus.MDRE` do; not for "kde" and objects.
    n_components : int or "auto", default "auto"
        Of "mixture". "auto" takes the number, of 1, 2, 3, 4, 6 and 8, under which
        held-out rows are likeliest.
    bandwidth : float or "auto", default "auto"
        Of "kde": width of the kernels, which have the covariance of their sample, relative
        to it. "auto" takes the one under which held-out rows are likeliest.
    random_state : int, Generator, RandomState or None, default None
        Seeds what is held out.

    Attributes
    ----------
    densities_ : tuple
        The fitted densities of p and of q. Those given by name are in the coordinates
        ``map_``.
    map_ : Coordinates
        The affine map in which the pooled sample is white.
    classes_, n_features_in_, feature_names_in_
        As in every estimator.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import PlugIn
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(-1, 0.1, 4000), rng.normal(1, 0.2, 4000))
    >>> PlugIn().fit(X, y).log_ratio([[-1.0], [1.0]]).round(-1)  # truth: 50.7 and -199.3
    array([  50., -200.])
    """

    crosses_chasm = True

    def __init__(
        self,
        density: Any = "gaussian",
        *,
        unbiased: bool = False,
        n_components: int | str = "auto",
        bandwidth: float | str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.density = density
        self.unbiased = unbiased
        self.n_components = n_components
        self.bandwidth = bandwidth
        self.random_state = random_state

    def check_parameters(self) -> None:
        check_flag(self.unbiased, "unbiased")
        if not is_auto(self.n_components):
            check_number(self.n_components, "n_components", low=1, integer=True)
        if not is_auto(self.bandwidth):
            check_number(self.bandwidth, "bandwidth", low=0, open_low=True, open_high=True)
        pair = anchor_pair(self.density)
        if len(pair) != 2:
            raise ValueError(
                f"density must be one or a pair, for p and for q; received {len(pair)} of them."
            )
        for one in pair:
            if isinstance(one, str):
                check_option(one, "density", _NAMES)
                continue
            for name in ("fit", "score_samples"):
                if not callable(getattr(one, name, None)):
                    raise ValueError(
                        f"density must be one of {', '.join(map(repr, _NAMES))}, or have fit(X) "
                        f"and score_samples(X); received a {type(one).__name__} without {name}."
                    )

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        self.map_ = fit_coordinates(samples)
        rows, weights = (samples.p.rows, samples.q.rows), (samples.p.weight, samples.q.weight)
        Z = [self.map_(x) for x in rows]
        self._named = [isinstance(one, str) for one in anchor_pair(self.density)]
        if len(set(self._named)) > 1 and Z[0].shape[1] < rows[0].shape[1]:
            raise ValueError(
                "density must be given by name, or as an object, for both p and q where columns "
                "are constant or linearly dependent; received one of each."
            )
        fitted = []
        for c, spec in enumerate(anchor_pair(self.density)):
            if self._named[c]:
                if len(Z[c]) <= Z[c].shape[1] and spec != "kde":
                    warnings.warn(
                        f"{'pq'[c]} has {len(Z[c])} rows for {Z[c].shape[1]} columns, too few for "
                        "the likelihood to have a maximum: the covariance is regularised.",
                        stacklevel=4,
                    )
                # One generator for both: equal samples get equal densities.
                density = self._make(spec, seeds("density"))
                near = self.map_.surroundings(evenly(Z[1 - c], weights[1 - c]))
                fitted.append(fit_anchor(density, Sample(Z[c], weights[c]), near))
            else:
                fitted.append(_fit_given(spec, rows[c], weights[c]))
        self.densities_ = tuple(fitted)

    def _make(self, spec: str, rng: np.random.Generator) -> Any:
        if spec == "kde":
            return Kernels(self.bandwidth, rng)
        if spec == "mixture":
            return NormalMixture(self.n_components, self.unbiased, rng)
        return (Normal if spec == "gaussian" else StudentT)(self.unbiased)

    def evaluate(self, rows: Array) -> Array:
        Z = self.map_(rows)
        out = []
        for named, density in zip(self._named, self.densities_, strict=True):
            value = np.asarray(density.score_samples(Z if named else rows), dtype=np.float64)
            if named:
                value = value - getattr(density, "bias_", 0.0)
            if named and not all(self._named):
                value = value + self.map_.log_volume(rows)
            out.append(value)
        return np.asarray(out[0] - out[1])


def _fit_given(spec: Any, rows: Array, weight: Array | None) -> Any:
    """Fit a copy of the caller's density to rows as they are."""
    density = clone(spec, safe=False)
    if weight is None or np.ptp(weight) == 0:
        return density.fit(rows)
    if "sample_weight" not in inspect.signature(density.fit).parameters:
        raise ValueError(
            f"density must take sample_weight where rows have weights; received a "
            f"{type(spec).__name__}, whose fit does not."
        )
    return density.fit(rows, sample_weight=weight)
