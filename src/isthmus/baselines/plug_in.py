"""The plug-in estimate: the ratio of two densities that are each fitted alone."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..anchors import anchor_pair
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_flag, check_option
from ..estimator import RatioEstimator
from ..maps.coordinates import fit_coordinates
from ..typing import Array, RandomState
from .densities import evenly, fit_kernels, fit_mixture, fit_normal, fit_student_t
from .parameters import check_unless_auto

_NAMES = ("gaussian", "student-t", "mixture", "kde")


@dataclass(eq=False, repr=False)
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

    density: Any = "gaussian"
    _: KW_ONLY
    unbiased: bool = False
    n_components: int | str = "auto"
    bandwidth: float | str = "auto"
    random_state: RandomState = None

    def check_parameters(self) -> None:
        check_flag(self.unbiased, "unbiased")
        check_unless_auto(self.n_components, "n_components", low=1, integer=True)
        check_unless_auto(self.bandwidth, "bandwidth", low=0, open_low=True, open_high=True)
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
        inside, pair = samples.map(self.map_), anchor_pair(self.density)
        self._named = [isinstance(one, str) for one in pair]
        if len(set(self._named)) > 1 and inside.n_columns < samples.n_columns:
            raise ValueError(
                "density must be given by name, or as an object, for both p and q where columns "
                "are constant or linearly dependent; received one of each."
            )
        self.densities_ = tuple(
            self._fitted(spec, name, own, other, seeds)
            if isinstance(spec, str)
            else _fit_given(spec, given)
            for spec, name, given, own, other in zip(
                pair, "pq", samples, inside, (inside.q, inside.p), strict=True
            )
        )

    def _fitted(self, spec: str, name: str, own: Sample, other: Sample, seeds: Seeds) -> Any:
        """A density by its name, fitted to mapped rows; with the other sample's around it."""
        rows, columns = own.rows.shape
        if rows <= columns and spec != "kde":
            warnings.warn(
                f"{name} has {rows} rows for {columns} columns, too few for the likelihood to have "
                "a maximum: the covariance is regularised.",
                stacklevel=6,
            )
        # One generator for both: equal samples get equal densities.
        rng = seeds("density")
        if spec == "kde":
            return fit_kernels(own, self.bandwidth, rng)
        if spec == "mixture":
            near = self.map_.surroundings(evenly(other))
            return fit_mixture(own, self.n_components, self.unbiased, near, rng)
        return (fit_normal if spec == "gaussian" else fit_student_t)(own, self.unbiased)

    def evaluate(self, rows: Array) -> Array:
        Z = self.map_(rows)
        p, q = (
            self._log_density(density, named, rows, Z)
            for density, named in zip(self.densities_, self._named, strict=True)
        )
        return p - q

    def _log_density(self, density: Any, named: bool, rows: Array, Z: Array) -> Array:
        if not named:
            return np.asarray(density.score_samples(rows), dtype=np.float64)
        value = density.score_samples(Z) - density.bias_
        return np.asarray(value if all(self._named) else value + self.map_.log_volume(rows))


def _fit_given(spec: Any, sample: Sample) -> Any:
    """Fit a copy of the caller's density to rows as they are."""
    density = clone(spec, safe=False)
    if np.ptp(sample.weight) == 0:
        return density.fit(sample.rows)
    if "sample_weight" not in inspect.signature(density.fit).parameters:
        raise ValueError(
            f"density must take sample_weight where rows have weights; received a "
            f"{type(spec).__name__}, whose fit does not."
        )
    return density.fit(sample.rows, sample_weight=sample.weight)
