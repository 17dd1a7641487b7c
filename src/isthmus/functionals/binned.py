"""Log-ratios of any number of rows in narrow bins, from which divergences follow.

A divergence is a mean of a function of the log-ratio. Over the rows of a bin that function is
nearly straight, so that the bin's mean and weight stand for its rows: exactly for KL, and up to the
square of the bin's width, some 1e-8, for the others. Bins add up, so that no row is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Array, IntArray
from .arrays import check_log_ratio
from .divergences import Divergence

_PER_NAT = 2048
_STRAIGHT = 16.0
"""Log-ratios up to which bins have one width; beyond, the width grows with the log-ratio."""

_FARTHEST = 1e9


@dataclass(frozen=True)
class Binned:
    """Numbers of rows in bins; two of them add up.

    Attributes
    ----------
    keys : ndarray of int, shape (k,)
        Numbers of the bins that hold rows, in order.
    sums : ndarray of shape (3, k)
        For every bin the sums of weights, of weighted numbers and of squared weights.
    rows : int
        Number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.random.default_rng(0).normal(size=1000)
    >>> both = Binned.of(t[:300]) + Binned.of(t[300:])
    >>> both.rows, bool(np.isclose(np.average(both.values, weights=both.weight), t.mean()))
    (1000, True)
    """

    keys: IntArray
    sums: Array
    rows: int

    @classmethod
    def of(cls, values: Array, weight: Array | None = None) -> Binned:
        """Put numbers into bins, with weights of one unless given."""
        t = check_log_ratio("log_ratio", values)
        size = np.abs(np.clip(t, -_FARTHEST, _FARTHEST))
        far = size > _STRAIGHT
        if far.any():
            size = np.where(
                far, _STRAIGHT * (1.0 + np.log(np.maximum(size, 1.0) / _STRAIGHT)), size
            )
        key = np.rint(_PER_NAT * np.copysign(size, t)).astype(np.int64)
        first = int(key.min())
        key -= first
        counts = np.bincount(key)
        there = np.flatnonzero(counts)
        if weight is None:
            sums = [counts[there], np.bincount(key, t)[there], counts[there]]
        else:
            sums = [np.bincount(key, w)[there] for w in (weight, weight * t, weight**2)]
        return cls(there + first, np.array(sums, dtype=np.float64), len(t))

    def __add__(self, other: Binned) -> Binned:
        keys = np.union1d(self.keys, other.keys)
        sums = np.zeros((3, len(keys)))
        for one in (self, other):
            sums[:, np.searchsorted(keys, one.keys)] += one.sums
        return Binned(keys, sums, self.rows + other.rows)

    @property
    def weight(self) -> Array:
        """Weight of the rows of every bin."""
        return np.asarray(self.sums[0])

    @property
    def values(self) -> Array:
        """Mean of the rows of every bin."""
        return np.asarray(self.sums[1] / self.sums[0])

    @property
    def square(self) -> Array:
        """For every bin the sum of the squares of the shares that its rows have in the sample."""
        return np.asarray(self.sums[2] / self.sums[0].sum() ** 2)

    def quantile(self, level: float) -> float:
        """The value below which rows have this share of the weight."""
        share = np.cumsum(self.sums[0]) / self.sums[0].sum()
        at = np.searchsorted(share, level)
        return float(self.values[min(int(at), len(self.keys) - 1)])

    def variance(self, terms: Array) -> float:
        """Variance of the weighted mean of terms, one for every bin; infinite where one is."""
        share = self.sums[0] / self.sums[0].sum()
        if not np.isfinite(terms).all():
            return np.inf
        with np.errstate(over="ignore", invalid="ignore"):
            found = float(self.square @ (terms - share @ terms) ** 2)
        return found if np.isfinite(found) else np.inf


@dataclass(frozen=True)
class BinnedRatios:
    """Log-ratios of the rows of p and of q in bins: what divergences of very many rows need.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import get_divergence
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0.5, 1, 5000), rng.normal(-0.5, 1, 5000)  # the log-ratio of these is x
    >>> both = BinnedRatios(Binned.of(p), Binned.of(q))
    >>> js = get_divergence("js")
    >>> bool(np.isclose(both.value(js), js.value(p, q), rtol=1e-7))
    True
    """

    p: Binned
    q: Binned

    @property
    def ratios(self) -> tuple[Array, Array, Array, Array]:
        """Log-ratios of the bins of p and of q, and their weights: what functionals take."""
        return self.p.values, self.q.values, self.p.weight, self.q.weight

    def value(self, divergence: Divergence) -> float:
        """A divergence of all rows."""
        return float(divergence.value(*self.ratios))

    def std_error(self, divergence: Divergence) -> float:
        """Its standard error, where the log-ratio is given."""
        terms = divergence.linearise(*self.ratios)
        return float(np.sqrt(self.p.variance(terms.p) + self.q.variance(terms.q)))

    def efficient_error(self, divergence: Divergence, top: float) -> float:
        """The error of the best estimate that learns the ratio from these rows.

        Log-ratios of rows of q count up to that quantile of p's; see
        :meth:`~isthmus.functionals.Divergence.influences`.
        """
        p, q, *weights = self.ratios
        terms = divergence.influences(p, np.minimum(q, self.p.quantile(top)), *weights)
        return float(np.sqrt(self.p.variance(terms[0]) + self.q.variance(terms[1])))

    def rests_on(self, divergence: Divergence) -> float:
        """How many rows a divergence rests on; see :meth:`~.Divergence.rests_on`."""
        terms = divergence.linearise(*self.ratios)
        sizes = [1.0 / float(one.square.sum()) for one in (self.p, self.q)]
        total = squares = 0.0
        for one, term in ((self.p, np.abs(terms.p)), (self.q, np.abs(terms.q))):
            total += float(one.weight @ term) / float(one.weight.sum())
            squares += float(one.square @ term**2)
        if 0.0 < squares < np.inf:
            sizes.append(total**2 / squares)
        return min(sizes)
