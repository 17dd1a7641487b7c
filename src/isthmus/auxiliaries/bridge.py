"""The default auxiliary: a heavy-tailed mixture that is placed by the data and known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._affine import canonical_map, clipped
from .._typing import Array
from .._validation import check_number
from ..anchors import Component, fit_anchor, mixture_log_density, resolve_anchor
from ..anchors.elliptical import elliptical_log_density
from ._discrete import ValueTable, few_values

_DF_GRID = np.array([3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0])
_LEAST_DF, _MOST_DF = 1.0, 50.0


class Bridge(BaseEstimator):
    """A heavy-tailed mixture fitted to both samples, whose density is known.

    Student-t components lie on p and on q, with heavier tails than the samples
    that they follow, and a wide one covers both. It overlaps p and q
    in any dimension, and since its density is known nothing about it has to be
    learned: the critics of p and q are tied to it, not to each other across the
    chasm.

    Columns of few values, such as categories and counts, have no density. They
    are drawn together, apart from the others, as they occur in the two samples
    in equal parts.

    Parameters
    ----------
    wide : float in (0, 1)
        Share of the wide component; p and q have equal parts of the rest.
    anchor : str or anchor
        What is fitted to p and to q before its tails are made heavier, by a name
        that :class:`MDRE` takes or an object with ``components_``.

    Attributes
    ----------
    components_ : list of lists of Component
        Those that lie on p, on q, and the wide one.
    discrete_ : ndarray of bool
        Which columns are of few values.
    """

    def __init__(self, wide: float = 0.2, anchor: Any = "gaussian") -> None:
        self.wide = wide
        self.anchor = anchor

    def fit(
        self, p: Array, q: Array, weight_p: Array | None = None, weight_q: Array | None = None
    ) -> Bridge:
        """Fit the components to the samples."""
        check_number(self.wide, "wide", low=0, high=1, open_low=True, open_high=True)
        self.discrete_ = few_values(p, q, weight_p, weight_q)
        if self.discrete_.any():
            self.table_ = ValueTable(p[:, self.discrete_], q[:, self.discrete_], weight_p, weight_q)
            p, q = p[:, ~self.discrete_], q[:, ~self.discrete_]
        if not self.discrete_.all():
            self._fit_components(p, q, weight_p, weight_q)
        return self

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows, every component with its exact share."""
        out = np.empty((n, len(self.discrete_)))
        if self.discrete_.any():
            out[:, self.discrete_] = self.table_.sample(n, rng)
        if not self.discrete_.all():
            out[:, ~self.discrete_] = self._sample_components(n, rng)
        return out

    def log_density(self, x: Array) -> Array:
        """Log-density at the rows of x, shape (n,)."""
        out = np.zeros(len(x))
        if self.discrete_.any():
            out += self.table_.log_probability(x[:, self.discrete_])
        if not self.discrete_.all():
            out += self._components_log_density(x[:, ~self.discrete_])
        return out

    def _fit_components(
        self, p: Array, q: Array, weight_p: Array | None, weight_q: Array | None
    ) -> None:
        self.map_ = canonical_map(p, q, weight_p, weight_q, warn=False)
        self.log_volume_ = self.map_.log_det
        d = self.map_.forward.shape[1]
        share = 0.5 * (1.0 - self.wide)
        self.components_: list[list[Component]] = []
        for rows, weight in ((p, weight_p), (q, weight_q)):
            Z = self.map_(rows)
            fit = fit_anchor(resolve_anchor(self.anchor), Z, weight)
            self.components_.append(_heavier(fit.components_, Z, weight, share))
        identity = np.eye(d)
        self.components_.append(
            [Component(self.wide, np.zeros(d), identity, identity, _wide_df(d))]
        )

    def _sample_components(self, n: int, rng: np.random.Generator) -> Array:
        counts = [np.floor([n * c.share for c in part]).astype(int) for part in self.components_]
        counts[2] += n - sum(count.sum() for count in counts)
        # p and q share their standard draws, so that swapping the two samples
        # swaps these rows and changes nothing else.
        shared, own = rng.integers(2**63, size=2)
        rows = []
        for part, count, seed in zip(self.components_, counts, (shared, shared, own), strict=True):
            for k, (component, size) in enumerate(zip(part, count, strict=True)):
                rows.append(component.sample(size, np.random.default_rng([seed, k])))
        return self.map_.inverse(np.concatenate(rows))

    def _components_log_density(self, x: Array) -> Array:
        every = [component for part in self.components_ for component in part]
        return mixture_log_density(every, self.map_(x)) + self.log_volume_


def _wide_df(d: int) -> float:
    """Degrees of freedom of the wide component: a Cauchy in few dimensions.

    In many, rows thousands of times further out than the samples join nothing;
    they only make every quadratic function of x enormous there.
    """
    return min(max(0.5 * d, 1.0), _MOST_DF)


def _heavier(
    components: list[Component], Z: Array, weight: Array | None, share: float
) -> list[Component]:
    """The components with heavier tails: m must reach further out than the sample."""
    out = []
    for component in components:
        df = component.df
        if np.isinf(df) and len(components) == 1:
            W = (clipped(Z, weight) - component.mean) @ component.whitening
            df = _degrees_of_freedom(W, weight)
        heavy = min(max(0.5 * df, _LEAST_DF), _MOST_DF)
        out.append(replace(component, df=heavy, share=share * component.share))
    return out


def _degrees_of_freedom(Z: Array, weight: Array | None) -> float:
    """Degrees of freedom at which whitened rows are likeliest, from a short list."""
    square = np.einsum("ij,ij->i", Z, Z)
    d = Z.shape[1]
    scores: list[Any] = []
    for df in _DF_GRID:
        # A t with this covariance has its scale matrix smaller by (df - 2) / df.
        shrink = (df - 2.0) / df
        density = elliptical_log_density(square / shrink, d, df) - 0.5 * d * np.log(shrink)
        scores.append(np.average(density, weights=weight))
    return float(_DF_GRID[int(np.argmax(scores))])
