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
from .margins import KINDS, Margin, fit_margins

_ROWS = 10_000
_WORST_CONDITION = 1e10


@dataclass(frozen=True)
class WarpedComponent:
    """An elliptical component behind a map of every column: the interface of ``Component``."""

    base: Component
    columns: Array  # Matrix from the rows to the columns that are mapped.
    margins: Sequence[QuantileMap | Margin]  # The map of every column.
    place: float | Array = 0.0  # What is taken off the rows first.

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
        return self.base.standard(_mapped(self.margins, (X - self.place) @ self.columns))

    def log_density(self, X: Array) -> Array:
        U = (X - self.place) @ self.columns
        pairs = [m.evaluate(u) for m, u in zip(self.margins, U.T, strict=True)]
        out = self.base.log_density(np.column_stack([z for z, _ in pairs]))
        out += np.linalg.slogdet(self.columns)[1]
        for _, log_slope in pairs:
            out += log_slope
        return np.asarray(out)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        U = _mapped([margin.inverse for margin in self.margins], self.base.sample(n, rng))
        return np.asarray(self.place + U @ np.linalg.inv(self.columns))

    def exact(self, share: float, df: float) -> WarpedComponent:
        return replace(self, base=self.base.exact(share, df))

    def moved(self, by: Array) -> WarpedComponent:
        return replace(self, place=self.place + by)


class CopulaAnchor(SampleAnchor, OneComponent):
    """Margins of any shape, joined by a normal copula.

    Every column is brought to normal scores; a normal distribution is fitted to the scores.

    Parameters
    ----------
    axes : {"columns", "canonical", "independent"}
        Which margins: those of the columns of the data, those of the
        estimator's coordinates, or those of the independent sources that the
        columns are mixtures of, by scikit-learn's FastICA.
    margins : str
        "quantile": smoothed quantile maps, of any shape. Otherwise formulas, each margin's
        chosen by Schwarz's criterion: "student-t" and "generalised-normal", with the normal;
        "exponential": normal, logistic, Laplace, Gumbel, and two exponential tails with rates of
        their own; "families": all of these. Where the criterion asks for no correlation
        of the scores, there is none: far out, the noise of one is a matter of many nats.

    Attributes
    ----------
    component_ : WarpedComponent
        The fit.
    """

    def __init__(self, axes: str = "columns", margins: str = "quantile") -> None:
        self.axes = axes
        self.margins = margins

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Fit margins and copula."""
        check_option(self.axes, "axes", ["columns", "canonical", "independent"])
        check_option(self.margins, "margins", ["quantile", *KINDS])
        X, weight = sample.rows, sample.weight
        columns = np.eye(X.shape[1])
        if self.axes == "independent":
            columns = source_axes(X)
        elif self.axes == "columns" and surroundings is not None:
            columns = columns if surroundings.columns is None else surroundings.columns
        if self.margins == "quantile":
            margins = [QuantileMap().fit(u, weight) for u in (X @ columns).T]
            base = GaussianAnchor().fit(_mapped(margins, X @ columns), weight).component_
            self.component_ = WarpedComponent(base, columns, margins)
        else:
            kinds = [self.margins]
            U = X @ columns
            found = [fit_margins(u, sample.share, sample.size, kinds)[self.margins] for u in U.T]
            self.join(sample, columns, found)

    def join(self, sample: Sample, columns: Array, margins: Sequence[Margin]) -> CopulaAnchor:
        """Fit the copula to margins that are known, those of the rows times ``columns``."""
        d = len(columns)
        scores = _mapped(margins, sample.rows @ columns)
        base = Component(1.0, np.zeros(d), np.eye(d), np.eye(d))
        correlated = GaussianAnchor().fit(scores, sample.weight).component_
        gain = replace(correlated, rows=np.inf).log_density(scores) - base.log_density(scores)
        pairs = d * (d - 1) // 2
        if 2.0 * sample.size * float(sample.share @ gain) > pairs * np.log(sample.size):
            base = correlated
        self.component_ = WarpedComponent(base, columns, margins)
        return self


def _mapped(functions: Sequence[Callable[[Array], Array]], U: Array) -> Array:
    """Every column by a function of its own."""
    return np.column_stack([f(u) for f, u in zip(functions, U.T, strict=True)])


def source_axes(X: Array) -> Array:
    """Matrix that takes rows apart into independent sources, or into principal axes."""
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    if len(X) <= X.shape[1]:
        # There are no more independent sources than rows; any axes will do.
        return GaussianAnchor().fit(X).component_.whitening
    ica = FastICA(whiten="unit-variance", max_iter=60, tol=1e-3, random_state=0)
    with warnings.catch_warnings():
        # Where there are no sources there is nothing to converge to; any axes will do.
        warnings.simplefilter("ignore", ConvergenceWarning)
        ica.fit(X[:: -(-len(X) // _ROWS)])
    found = np.asarray(ica.components_.T)
    square = found.shape[0] == found.shape[1] and np.linalg.cond(found) < _WORST_CONDITION
    return found if square else GaussianAnchor().fit(X).component_.whitening
