"""Nearest neighbours: how many of each sample lie around a row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..typing import Array, IntArray
from .base import Rows, balanced, limited, log_loss
from .columns import Columns

_MOST_COLUMNS = 10
_SIZES = (8, 16, 32, 64, 128)
_CHOICE_ROWS = 1000
_MOST_ROWS, _FEW_ROWS = 10_000, 800
_FEW_COLUMNS = 4
_MANY_ROWS = 2000
_LEAST_ROWS = 60


@dataclass(frozen=True)
class Neighbours:
    """The share of p's rows among the nearest ones, as a log-ratio.

    Attributes
    ----------
    size : int or None
        Number of neighbours; None leaves it to rows that are left out.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.candidates import Neighbours
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (400, 2)), rng.normal(0.7, 1, (400, 2))
    >>> X, y = isthmus.stack(p, q)
    >>> model = isthmus.StackedMDRE([Neighbours()], random_state=0).fit(X, y)
    >>> bool(model.log_ratio(p).mean() > model.log_ratio(q).mean())
    True
    """

    size: int | None = None
    name = "neighbours"
    takes_before = False

    def suits(self, samples: TwoSamples) -> bool:
        """Whether there are few columns and some rows.

        With many rows, bumps and trees see in more columns what neighbours do, in less time.
        """
        most = _MOST_COLUMNS if samples.least <= _MANY_ROWS else _FEW_COLUMNS
        return samples.n_columns <= most and samples.least >= _LEAST_ROWS

    def settled(self, rows: Rows, seeds: Seeds) -> Neighbours:
        """Choose the number of neighbours by rows that are left out."""
        some = rows.bounded(_CHOICE_ROWS).samples
        fit, n = _nearest(some), len(some.p)
        if not len(fit.columns):
            return replace(self, size=_SIZES[0])
        at = fit.nearest(fit.rows, max(_SIZES) + 1)
        best, size = np.inf, _SIZES[0]
        for k in _SIZES:
            found = fit.counted(at[:, 1 : k + 1])
            loss = log_loss((found[:n], found[n:]), some)
            if loss < best:
                best, size = loss, k
        return replace(self, size=size)

    def fit(self, rows: Rows, seeds: Seeds) -> NeighboursFit:
        """Keep the rows, or so many of them."""
        settled = self.settled(rows, seeds) if self.size is None else self
        some = rows.bounded(
            _MOST_ROWS if len(Columns.of(rows.samples)) <= _FEW_COLUMNS else _FEW_ROWS
        )
        # Twice the neighbours for four times the rows.
        growth = np.sqrt(some.samples.least / _CHOICE_ROWS)
        size = int((settled.size or _SIZES[0]) * max(growth, 1.0))
        return replace(_nearest(some.samples), size=size)


@dataclass(frozen=True)
class NeighboursFit:
    """Rows that can be asked for the nearest."""

    columns: Columns
    rows: Array
    weight_p: Array
    weight_q: Array
    size: int = 0

    def counted(self, at: IntArray) -> Array:
        """Log-ratio of the weights of p and q among neighbours, with half a row of each."""
        unit = 0.5 * (self.weight_p + self.weight_q).sum() / len(self.weight_p)
        p = self.weight_p[at].sum(axis=1) + unit
        return np.asarray(np.log(p / (self.weight_q[at].sum(axis=1) + unit)))

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows; zero where no column varies, and all are as near."""
        if not len(self.columns):
            return np.zeros(len(rows))
        return limited(self.counted(self.nearest(self.columns.scores(rows), self.size)))

    def nearest(self, Z: Array, size: int) -> IntArray:
        """Places of the nearest rows of each."""
        # In many columns a tree of rows is slower than all distances.
        how = "kd_tree" if self.rows.shape[1] <= _FEW_COLUMNS else "brute"
        asked = NearestNeighbors(n_neighbors=min(size, len(self.rows)), algorithm=how)
        found = asked.fit(self.rows).kneighbors(Z, return_distance=False)
        return np.asarray(found)


def _nearest(samples: TwoSamples) -> NeighboursFit:
    columns = Columns.of(samples)
    Z = [columns.scores(sample.rows) for sample in samples]
    p, q = balanced(samples)
    zeros = [np.zeros(len(one)) for one in (p, q)]
    return NeighboursFit(
        columns,
        np.concatenate(Z),
        np.concatenate([p, zeros[1]]),
        np.concatenate([zeros[0], q]),
    )
