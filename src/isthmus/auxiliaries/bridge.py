"""The default auxiliary: a heavy-tailed mixture that is placed by the data and known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..anchors import Component, fit_anchors, mixture_log_density
from ..anchors.elliptical import elliptical_log_density
from ..data.moments import clipped
from ..data.sample import Sample, TwoSamples
from ..data.validation import check_number
from ..maps.coordinates import Coordinates, fit_coordinates
from ..typing import Array
from .base import FittedAuxiliary
from .discrete import ValueTable, few_values

_DF_GRID = np.array([3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0])
_LEAST_DF, _MOST_DF = 1.0, 50.0


class Bridge(FittedAuxiliary):
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
    anchor : str, anchor or pair of these
        What is fitted to p and to q before its tails are made heavier: a name
        that :class:`MDRE` takes or an object with ``components_``. By default those
        of the estimator, or normals.
    maps : str, list of str or None
        Shared column maps, as in :class:`MDRE`: the mixture lives in the
        coordinates behind them.

    Attributes
    ----------
    components_ : list of lists of Component
        Those that lie on p, on q, and the wide one.
    discrete_ : ndarray of bool
        Which columns are of few values.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.auxiliaries import Bridge
    >>> rng = np.random.default_rng(0)
    >>> m = Bridge().fit(rng.normal(-9, 1, (500, 2)), rng.normal(9, 1, (500, 2)))
    >>> draws = m.sample(1000, rng)  # some lie on p, some on q, some between
    >>> bool((draws[:, 0] < -6).mean() > 0.2), bool((draws[:, 0] > 6).mean() > 0.2)
    (True, True)
    >>> m.log_density(draws).shape
    (1000,)
    """

    def __init__(self, wide: float = 0.2, anchor: Any = None, maps: Any = None) -> None:
        self.wide = wide
        self.anchor = anchor
        self.maps = maps

    def learn(self, samples: TwoSamples) -> None:
        """Fit the components to the samples."""
        check_number(self.wide, "wide", low=0, high=1, open_low=True, open_high=True)
        discrete = few_values(samples)
        if discrete.any():
            self.table_ = ValueTable(samples.map(lambda x: x[:, discrete]))
        if not discrete.all():
            others = samples.map(lambda x: x[:, ~discrete])
            where = fit_coordinates(others, maps=self.maps, warn=False)
            inside = others.map(where)
            self.place(where, fit_anchors(self.anchor or "gaussian", inside, where), inside)
        self.discrete_ = discrete

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

    def place(self, where: Coordinates, anchors: Sequence[Any], samples: TwoSamples) -> Bridge:
        """Put the components on fitted anchors of p and q, which live in these coordinates."""
        check_number(self.wide, "wide", low=0, high=1, open_low=True, open_high=True)
        self.where_ = where
        d = samples.n_columns
        self.discrete_ = np.zeros(len(where.affine.centre), dtype=bool)
        share = 0.5 * (1.0 - self.wide)
        self.components_: list[list[Any]] = [
            _heavier(anchor.components_, sample, share)
            for anchor, sample in zip(anchors, samples, strict=True)
        ]
        identity = np.eye(d)
        self.components_.append(
            [Component(self.wide, np.zeros(d), identity, identity, _wide_df(d))]
        )
        return self

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
        return self.where_.inverse(np.concatenate(rows))

    def lives_in(self, where: Coordinates) -> bool:
        """Whether these are the coordinates of its components, which all columns belong to."""
        return not self.discrete_.any() and self.where_ is where

    def mapped_log_density(self, Z: Array) -> Array:
        """Log-density at rows that are mapped to its coordinates, in the units of these."""
        return mixture_log_density([one for part in self.components_ for one in part], Z)

    def _components_log_density(self, x: Array) -> Array:
        return self.mapped_log_density(self.where_(x)) + self.where_.log_volume(x)


def _wide_df(d: int) -> float:
    """Degrees of freedom of the wide component: few in few dimensions.

    Rows thousands of times further out than the samples join nothing; they only
    make every quadratic function of x enormous there.
    """
    return min(max(0.5 * d, 3.0), _MOST_DF)


def _heavier(components: Sequence[Any], sample: Sample, share: float) -> list[Any]:
    """The components with heavier tails: m must reach further out than the sample."""
    out = []
    for component in components:
        df = component.df
        if np.isinf(df) and len(components) == 1:
            df = _degrees_of_freedom(clipped(sample).map(component.standard))
        heavy = min(max(0.5 * df, _LEAST_DF), _MOST_DF)
        out.append(component.exact(share * component.share, heavy))
    return out


def _degrees_of_freedom(sample: Sample) -> float:
    """Degrees of freedom at which whitened rows are likeliest, from a short list."""
    Z, share = sample.rows, sample.share
    square = np.einsum("ij,ij->i", Z, Z)
    d = Z.shape[1]
    scores: list[Any] = []
    for df in _DF_GRID:
        # A t with this covariance has its scale matrix smaller by (df - 2) / df.
        shrink = (df - 2.0) / df
        density = elliptical_log_density(square / shrink, d, df) - 0.5 * d * np.log(shrink)
        scores.append(share @ density)
    return float(_DF_GRID[int(np.argmax(scores))])
