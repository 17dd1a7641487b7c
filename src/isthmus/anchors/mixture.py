"""The mixture anchor: for several modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.moments import clipped
from ..data.sample import Sample
from ..data.validation import check_number, check_option
from ..maps.coordinates import Surroundings
from ..typing import Array
from .elliptical import Component, ComponentAnchor, SampleAnchor, can_correct
from .gaussian import shrunk_roots

_ROWS = 20_000
_MANY = 4


class MixtureAnchor(SampleAnchor, ComponentAnchor):
    """A mixture of normals, by scikit-learn's EM.

    EM is started from k-means in the columns of the data and from a cut across
    the direction that looks least like one normal: of those in which the class
    is widest and in which the other class lies. The start that ends with the
    higher likelihood is kept.

    Parameters
    ----------
    n_components : int
        Number of normals.
    covariance : {"full", "shared", "line"}
        Every normal has a covariance of its own, or all share one, which takes
        fewer rows; or, as well, all means lie on a line in that direction, which
        takes hardly more rows than one normal does, in any number of dimensions.

    Attributes
    ----------
    components_ : list of Component
        The fit.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import MixtureAnchor
    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([rng.normal(-5, 1, (200, 1)), rng.normal(5, 1, (200, 1))])
    >>> anchor = MixtureAnchor(2).fit(rows)
    >>> sorted(round(float(component.mean[0])) for component in anchor.components_)
    [-5, 5]
    """

    normal_tails = True

    def __init__(self, n_components: int = 4, covariance: str = "full") -> None:
        self.n_components = n_components
        self.covariance = covariance

    @property
    def grows(self) -> bool:
        """Whether it stands for a density of any shape, and not for so many modes."""
        return bool(self.n_components >= _MANY and self.covariance != "line")

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Fit the mixture."""
        check_number(self.n_components, "n_components", low=1, integer=True)
        check_option(self.covariance, "covariance", ["full", "shared", "line"])
        size, X = float(sample.size), _evenly(clipped(sample))
        # Into the columns of the data, in units of this class.
        forward = np.eye(X.shape[1])
        if surroundings is not None and surroundings.columns is not None:
            forward = surroundings.columns
        scale = (X @ forward).std(axis=0)
        forward = forward / np.where(scale > 0, scale, 1.0)
        back, origin = np.linalg.inv(forward), X.mean(axis=0)
        U = (X - origin) @ forward
        k = _at_most(U, min(self.n_components, max(len(X) // (2 * X.shape[1] + 2), 1)))
        towards = None if surroundings is None else (surroundings.other - origin) @ forward
        fit = self._line if self.covariance == "line" else self._em
        if not U.any():  # rows that are all alike
            fit = self._em
        shares, means, covariances = fit(U, k, _flattest(U, towards))
        self.components_: list[Component] = []
        for share, mean, covariance in zip(shares, means, covariances, strict=True):
            rows = size * float(share) if self.covariance == "full" else size
            root, whitening, _ = shrunk_roots(back.T @ covariance @ back, np.inf, len(X))
            rows = rows if can_correct(rows, len(mean)) else np.inf
            self.components_.append(
                Component(float(share), origin + mean @ back, root, whitening, rows=rows)
            )

    def _em(self, U: Array, k: int, direction: Array) -> tuple[Array, Array, Any]:
        """Shares, means and covariances of the best of two starts."""
        kind = "full" if self.covariance == "full" else "tied"
        starts: list[Array | None] = [None]
        if U.shape[1] > 1 and k in (2, 3):
            rank = np.argsort(np.argsort(U @ direction, kind="stable"), kind="stable")
            starts.append(np.array([U[rank * k // len(U) == j].mean(axis=0) for j in range(k)]))
        best = max((_mixture(U, k, kind, start) for start in starts), key=lambda m: m.lower_bound_)
        return (
            best.weights_,
            best.means_,
            best.covariances_ if kind == "full" else [best.covariances_] * k,
        )

    def _line(self, U: Array, k: int, direction: Array) -> tuple[Array, Array, Any]:
        """The same with all means on a line: a problem of one dimension."""
        covariance = np.atleast_2d(np.cov(U.T, bias=True))
        spread = np.sqrt(direction @ covariance @ direction)
        best = _mixture((U @ direction / spread)[:, None], k, "tied", None)
        # Rows move along this line as their projection on the direction does.
        line = covariance @ direction / spread
        within = covariance - (1.0 - float(best.covariances_[0, 0])) * np.outer(line, line)
        return best.weights_, best.means_ * line, [within] * k


def _mixture(U: Array, k: int, kind: str, means: Array | None) -> Any:
    from sklearn.mixture import GaussianMixture

    class Mixture(GaussianMixture):
        """One that does not warn: an anchor need not be at its optimum, the critic learns the rest.

        To silence the warning would be to silence it in every thread.
        """

        converged_ = property(lambda self: True, lambda self, value: None)

    mixture = Mixture(
        k,
        covariance_type=kind,
        reg_covar=1e-6,
        max_iter=500 if U.shape[1] == 1 else 200,
        tol=1e-5 if U.shape[1] == 1 else 1e-4,
        means_init=means,
        random_state=0,
    )
    return mixture.fit(U)


def _at_most(U: Array, k: int) -> int:
    """As many normals as there are different rows, and no more than k."""
    return k if len(np.unique(U[:, 0])) >= k else min(k, len(np.unique(U, axis=0)))


def _flattest(U: Array, towards: Array | None) -> Array:
    """Whichever of two directions looks least like one normal."""
    covariance = np.atleast_2d(np.cov(U.T))
    directions = [np.linalg.eigh(covariance)[1][:, -1]]
    if towards is not None and towards.any():
        # Where a linear classifier would look for the other class.
        directions.append(np.linalg.lstsq(covariance, towards)[0])
    return np.asarray(min(directions, key=lambda v: _kurtosis(U @ v)))


def _kurtosis(x: Array) -> float:
    spread = x.std()
    return float(np.mean(((x - x.mean()) / spread) ** 4)) if spread > 0 else np.inf


def _evenly(sample: Sample) -> Array:
    """At most so many rows, in proportion to their weights, without a random draw."""
    X, weight = sample.rows, sample.weight
    if not sample.weighted:
        return X[:: -(-len(X) // _ROWS)]
    cumulative = np.cumsum(weight)
    levels = (np.arange(min(len(X), _ROWS)) + 0.5) / min(len(X), _ROWS) * cumulative[-1]
    return np.asarray(X[np.searchsorted(cumulative, levels)])
