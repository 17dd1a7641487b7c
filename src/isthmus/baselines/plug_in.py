"""The plug-in estimate: the ratio of two densities that are each fitted alone."""

from __future__ import annotations

import inspect
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone

from ..anchors import GaussianAnchor, MixtureAnchor, StudentTAnchor, anchor_pair
from ..anchors.elliptical import Component, mixture_log_density
from ..anchors.gaussian import shrunk_roots
from ..data.blocks import slices
from ..data.distinct import Distinct
from ..data.moments import moments
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..data.telling import tell
from ..data.validation import check_flag, check_option
from ..estimator import RatioEstimator
from ..maps.coordinates import Surroundings, fit_coordinates
from ..settings import is_auto
from ..typing import Array, RandomState
from .kernel import squares
from .parameters import check_unless_auto

_NAMES = ("gaussian", "student-t", "mixture", "kde")
_COMPONENTS = (1, 2, 3, 4, 6, 8)
_MIXTURE_ROWS = 20_000
_HELD_ROWS = 1000
_KERNEL_BYTES = 4_000_000
# Relative to the usual width, n^(-1 / (d + 4)).
_NARROWEST, _WIDEST = 0.02, 3.0


@dataclass(eq=False, repr=False)
class PlugIn(RatioEstimator):
    """Estimate log p/q as the difference of two fitted log-densities.

    It is ::

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
            tell(
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


@dataclass(frozen=True)
class Components:
    """A mixture of normals or Student-t distributions, or one of them."""

    components_: list[Component]

    @property
    def n_components_(self) -> int:
        return len(self.components_)

    @property
    def bias_(self) -> float:
        """Bias of the log-density: that of the components, by their shares."""
        return float(sum(part.share * part.bias for part in self.components_))

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        return mixture_log_density(self.components_, X)


def fit_normal(sample: Sample, unbiased: bool) -> Components:
    """Fit a normal distribution; the noise of the fit is taken out if it is to be unbiased."""
    X = sample.rows
    if unbiased:
        return Components(GaussianAnchor().fit(X, sample.weight).components_)
    found = moments(sample)
    distinct = len(X) if len(X) > 10 * X.shape[1] else len(np.unique(X, axis=0))
    root, whitening, _ = shrunk_roots(found.covariance, np.inf, distinct)
    return Components([Component(1.0, found.mean, root, whitening)])


def fit_student_t(sample: Sample, unbiased: bool) -> Components:
    """Fit location, scale matrix and degrees of freedom of a Student-t distribution."""
    found = StudentTAnchor().fit(sample.rows, sample.weight).components_
    return Components(found if unbiased else [replace(one, rows=np.inf) for one in found])


def fit_mixture(
    sample: Sample,
    count: int | str,
    unbiased: bool,
    surroundings: Surroundings,
    rng: np.random.Generator,
) -> Components:
    """Fit a mixture of normals; "auto" is the number under which held-out rows are likeliest."""

    def fitted(part: Sample, count: int) -> Components:
        if count == 1:
            # In closed form, from all rows.
            return fit_normal(part, unbiased)
        found = MixtureAnchor(count).fit(evenly(part), None, surroundings).components_
        return Components(found if unbiased else [replace(one, rows=np.inf) for one in found])

    if not is_auto(count):
        return fitted(sample, int(count))
    train, held = (half.sample for half in Distinct.to_split(sample).hold_out(rng))
    best, misses = (-np.inf, 1), 0
    for number in _COMPONENTS:
        if len(train) < number * (2 * train.rows.shape[1] + 2) and number > 1:
            break
        value = float(held.mean(fitted(train, number).score_samples(held.rows)))
        misses = 0 if value > best[0] else misses + 1
        best = max(best, (value, number))
        if misses == 2:
            break
    return fitted(sample, best[1])


@dataclass(frozen=True)
class Kernels:
    """A normal kernel at every row, with the shape of the covariance of all.

    Centres are in the coordinates in which the sample is white; the bandwidth is relative to it.
    """

    mean_: Array
    whitening_: Array
    log_det_: float
    centres_: Array
    log_share_: Array
    bandwidth_: float
    bias_: float = 0.0

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,), some rows at a time."""
        Z = (X - self.mean_) @ self.whitening_
        out = np.empty(len(Z))
        for rows in slices(len(Z), max(1, _KERNEL_BYTES // (8 * len(self.centres_)))):
            square = squares(Z[rows], self.centres_)
            out[rows] = _density(square, self.log_share_, self.bandwidth_, Z.shape[1])
        return out - self.log_det_


def fit_kernels(sample: Sample, bandwidth: float | str, rng: np.random.Generator) -> Kernels:
    """Put a kernel at every row, and find its width."""
    found = Distinct.to_split(sample)
    of_rows = moments(sample)
    mean = of_rows.mean
    root, whitening, _ = shrunk_roots(of_rows.covariance, np.inf, len(found.rows))
    found = found.map(lambda X: (X - mean) @ whitening)
    width = _best_width(found, rng) if is_auto(bandwidth) else float(bandwidth)
    log_det = float(np.log(np.diag(root)).sum())
    return Kernels(mean, whitening, log_det, found.rows, np.log(found.share), width)


def _best_width(found: Distinct, rng: np.random.Generator) -> float:
    """The width under which held-out rows are likeliest, narrowed for the full number of rows."""
    known, held = found.hold_out(rng)
    judges = held.sample.take(slice(_HELD_ROWS))
    count, d = known.rows.shape
    rate = -1.0 / (d + 4)
    if count < 2:
        return float(len(found.rows) ** rate)
    square, log_share = squares(judges.rows, known.rows), np.log(known.share)

    def loss(log_width: float) -> float:
        return -float(judges.mean(_density(square, log_share, float(np.exp(log_width)), d)))

    usual = np.log(count) * rate
    bounds = (usual + np.log(_NARROWEST), usual + np.log(_WIDEST))
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02})
    return float(np.exp(best.x) * (len(found.rows) / count) ** rate)


def evenly(sample: Sample) -> Array:
    """Rows in a fixed order, each as often as its weight asks for: EM takes no weights."""
    found = Distinct.to_split(sample)
    count = min(found.size, _MIXTURE_ROWS)
    return found.at((np.arange(count) + 0.5) / count)


def _density(square: Array, log_share: Array, width: float, d: int) -> Array:
    """Log-density of the kernels, without the volume of the coordinates."""
    exponent = square * (-0.5 / width**2)
    exponent += log_share
    largest = exponent.max(axis=1)
    exponent -= largest[:, None]
    # Kernels e^-300 below the nearest are nothing, and cost a hundred times as much.
    np.maximum(exponent, -300.0, out=exponent)
    np.exp(exponent, out=exponent)
    inside = largest + np.log(exponent.sum(axis=1))
    return np.asarray(inside - d * (np.log(width) + 0.5 * np.log(2 * np.pi)))
