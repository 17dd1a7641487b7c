"""The copula anchor: for margins of any shape."""

from __future__ import annotations

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
from .generalised_normal import LIGHT
from .margins import KINDS, LAWS, Margin, fit_margins
from .sources import independent

_ROWS = 10_000
_WORST_CONDITION = 1e-20
_STARTS, _FEW_COLUMNS = 3, 20
# Normal scores beyond this are those of no row: one of a million lies there.
_OUTSIDE = 5.0
# Mean of log(2 cosh z) of a standard normal z.
_NORMAL_CONTRAST = 1.0677


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
        # A column's values side by side, as each is worked on by itself.
        U = self.columns.T @ np.subtract(X, self.place).T
        slopes = np.full(len(X), np.linalg.slogdet(self.columns)[1])
        for k, margin in enumerate(self.margins):
            U[k], log_slope = margin.evaluate(U[k])
            slopes += log_slope
        return np.asarray(self.base.log_density(U.T) + slopes)

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
    margins : str or sequence of str
        "quantile": smoothed quantile maps, of any shape. Otherwise formulas, each margin's
        chosen by Schwarz's criterion: "student-t" and "generalised-normal", with the normal;
        "exponential": normal, logistic, Laplace, Gumbel, and two exponential tails with rates of
        their own; "families": all of these. A sequence names the laws to choose among, some of
        :data:`~isthmus.anchors.margins.LAWS`. Where the criterion asks for no correlation
        of the scores, there is none: far out, the noise of one is a matter of many nats.

    Attributes
    ----------
    component_ : WarpedComponent
        The fit.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import CopulaAnchor
    >>> rows = np.random.default_rng(0).gamma(2.0, size=(1000, 2))
    >>> points = np.array([[1.0, 1.0], [9.0, 9.0]])
    >>> density = np.exp(CopulaAnchor().fit(rows).score_samples(points))
    >>> bool(density[0] > 100 * density[1])
    True
    """

    def __init__(self, axes: str = "columns", margins: str | Sequence[str] = "quantile") -> None:
        self.axes = axes
        self.margins = margins

    @property
    def grows(self) -> bool:
        """Whether margins are of any shape."""
        return self.margins == "quantile"

    def silent(self, X: Array) -> float:
        """Share of rows at which the fit says nothing: far outside a margin that has no tails.

        A margin of any shape has none, nor has one that falls off as if it had an edge.
        """
        fit = self.component_
        outside = np.zeros(len(X), dtype=bool)
        for margin, u in zip(fit.margins, ((X - fit.place) @ fit.columns).T, strict=True):
            if not isinstance(margin, Margin) or _has_edge(margin):
                outside |= np.abs(margin.evaluate(u)[0]) > _OUTSIDE
        return float(outside.mean())

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Fit margins and copula."""
        check_option(self.axes, "axes", ["columns", "canonical", "independent"])
        if isinstance(self.margins, str):
            check_option(self.margins, "margins", ["quantile", *KINDS])
        else:
            for law in self.margins:
                check_option(law, "margins", list(LAWS))
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
            laws = KINDS[self.margins] if isinstance(self.margins, str) else self.margins
            found = [
                fit_margins(u, sample.share, sample.size, {"": laws})[""] for u in (X @ columns).T
            ]
            self.join(sample, columns, found)

    @property
    def family(self) -> str:
        """Axes and the smallest kind that has all laws of the margins."""
        kind = self.margins
        if not isinstance(kind, str):
            kind = next(name for name, laws in KINDS.items() if set(kind) <= set(laws))
        return f"{kind} {self.axes}"

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


def _has_edge(margin: Margin) -> bool:
    return margin.law == "power" and margin.shape[0] > LIGHT


def _mapped(functions: Sequence[Callable[[Array], Array]], U: Array) -> Array:
    """Every column by a function of its own."""
    return np.column_stack([f(u) for f, u in zip(functions, U.T, strict=True)])


def source_axes(X: Array) -> Array:
    """Matrix that takes rows apart into independent sources, or into principal axes.

    Of several starts, the one whose sources are furthest from normal ones: FastICA ends in the
    optimum that is next to its start.
    """
    whitening = np.asarray(GaussianAnchor().fit(X).component_.whitening)
    if len(X) <= X.shape[1]:
        # There are no more independent sources than rows; any axes will do.
        return whitening
    centred = X[:: -(-len(X) // _ROWS)]
    centred = centred - centred.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    if values[0] <= _WORST_CONDITION * values[-1]:
        return whitening
    axes = vectors / np.sqrt(values)
    white, best, top = centred @ axes, axes, -np.inf
    for start in range(_STARTS if X.shape[1] <= _FEW_COLUMNS else 1):
        turn = independent(white, np.random.RandomState(start))
        sources = white @ turn
        # What is maximised, over all sources.
        contrast = np.logaddexp(sources, -sources).mean(axis=0) - _NORMAL_CONTRAST
        if float(contrast @ contrast) > top:
            best, top = axes @ turn, float(contrast @ contrast)
    return np.asarray(best)
