"""The copula anchor: for margins of any shape."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data.sample import Sample
from ..data.validation import check_option
from ..maps import QuantileMap
from ..maps.coordinates import Surroundings
from ..typing import Array
from .elliptical import Component, OneComponent, SampleAnchor
from .gaussian import GaussianAnchor

_ROWS = 10_000


@dataclass(frozen=True)
class WarpedComponent:
    """An elliptical component behind a map of every column: the interface of ``Component``."""

    base: Component
    columns: Array  # Matrix from the rows to the columns that are mapped.
    margins: Sequence[QuantileMap]  # The map of every column.

    @property
    def share(self) -> float:
        return self.base.share

    @property
    def df(self) -> float:
        return self.base.df

    @property
    def bias(self) -> float:
        return self.base.bias

    def standard(self, X: Array) -> Array:
        return self.base.standard(_mapped(self.margins, X @ self.columns))

    def log_density(self, X: Array) -> Array:
        pairs = [m.evaluate(u) for m, u in zip(self.margins, (X @ self.columns).T, strict=True)]
        out = self.base.log_density(np.column_stack([z for z, _ in pairs]))
        out += np.linalg.slogdet(self.columns)[1]
        for _, log_slope in pairs:
            out += log_slope
        return np.asarray(out)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        U = _mapped([margin.inverse for margin in self.margins], self.base.sample(n, rng))
        return np.asarray(U @ np.linalg.inv(self.columns))

    def exact(self, share: float, df: float) -> WarpedComponent:
        return replace(self, base=self.base.exact(share, df))


class CopulaAnchor(SampleAnchor, OneComponent):
    """Margins of any shape, joined by a normal copula.

    Every column is brought to normal scores by a smoothed quantile map; a
    normal distribution is fitted to the scores.

    Parameters
    ----------
    axes : {"columns", "canonical", "independent"}
        Which margins: those of the columns of the data, those of the
        estimator's coordinates, or those of the independent sources that the
        columns are mixtures of, by scikit-learn's FastICA.

    Attributes
    ----------
    component_ : WarpedComponent
        The fit.
    """

    def __init__(self, axes: str = "columns") -> None:
        self.axes = axes

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Fit margins and copula."""
        check_option(self.axes, "axes", ["columns", "canonical", "independent"])
        X, weight = sample.rows, sample.weight
        columns = np.eye(X.shape[1])
        if self.axes == "independent":
            columns = _sources(X)
        elif self.axes == "columns" and surroundings is not None:
            columns = columns if surroundings.columns is None else surroundings.columns
        margins = [QuantileMap().fit(u, weight) for u in (X @ columns).T]
        base = GaussianAnchor().fit(_mapped(margins, X @ columns), weight).component_
        self.component_ = WarpedComponent(base, columns, margins)


def _mapped(functions: Sequence[Callable[[Array], Array]], U: Array) -> Array:
    """Every column by a function of its own."""
    return np.column_stack([f(u) for f, u in zip(functions, U.T, strict=True)])


def _sources(X: Array) -> Array:
    """Matrix that takes rows apart into independent sources."""
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    ica = FastICA(whiten="unit-variance", max_iter=60, tol=1e-3, random_state=0)
    with warnings.catch_warnings():
        # Where there are no sources there is nothing to converge to; any axes will do.
        warnings.simplefilter("ignore", ConvergenceWarning)
        ica.fit(X[:: -(-len(X) // _ROWS)])
    return np.asarray(ica.components_.T)
