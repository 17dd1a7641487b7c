"""Auxiliaries whose known density is a mixture placed by the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator

from .._affine import AffineMap, canonical_map, clipped, represented
from .._typing import Array
from .._validation import check_number
from ..anchors import GaussianAnchor
from ._rows import draw_rows
from .overlapping import _scale_root, student_t_draw, student_t_log_density

_CHUNK = 4096
_FEW_VALUES = 50
_REPEATS = 10
_DF_GRID = np.array([3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0])


class Bridge(BaseEstimator):
    """A heavy-tailed mixture fitted to both samples, whose density is known.

    One Student-t component lies on p, one on q, each with heavier tails than
    the sample that it follows, and a wide Cauchy covers both. It overlaps p and q
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

    Attributes
    ----------
    df_ : ndarray of shape (3,)
        Degrees of freedom of the components on p, on q and of the wide one.
    discrete_ : ndarray of bool
        Which columns are of few values.
    """

    def __init__(self, wide: float = 0.2) -> None:
        self.wide = wide

    def fit(
        self, p: Array, q: Array, weight_p: Array | None = None, weight_q: Array | None = None
    ) -> Bridge:
        """Fit the components to the samples."""
        check_number(self.wide, "wide", low=0, high=1, open_low=True, open_high=True)
        self.discrete_ = _few_values(p, q, weight_p, weight_q)
        if self.discrete_.any():
            self.table_ = _Table(p[:, self.discrete_], q[:, self.discrete_], weight_p, weight_q)
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
        fits, dfs = [], []
        for rows, weight in ((p, weight_p), (q, weight_q)):
            Z = self.map_(rows)
            fit = GaussianAnchor().fit(Z, weight)
            fits.append(fit)
            # Half of the best degrees of freedom: m must reach further out than the sample.
            dfs.append(max(2.0, 0.5 * _degrees_of_freedom(fit.whiten(clipped(Z, weight)), weight)))
        d = self.map_.forward.shape[1]
        wide = GaussianAnchor()
        wide.mean_, wide.cholesky_, wide.whitening_ = np.zeros(d), np.eye(d), np.eye(d)
        self.components_ = [*fits, wide]
        self.df_ = np.array([*dfs, 1.0])
        share = 0.5 * (1.0 - self.wide)
        self.share_ = np.array([share, share, self.wide])

    def _sample_components(self, n: int, rng: np.random.Generator) -> Array:
        counts = np.floor(n * self.share_).astype(int)
        counts[2] += n - counts.sum()
        d = self.map_.forward.shape[1]
        # p and q share their standard draws, so that swapping the two samples
        # swaps these rows and changes nothing else.
        seeds = rng.integers(2**63, size=2)
        rows = []
        for fit, df, count, seed in zip(
            self.components_, self.df_, counts, seeds[[0, 0, 1]], strict=True
        ):
            z = student_t_draw(count, d, df, np.random.default_rng(seed))
            rows.append(fit.mean_ + z @ fit.cholesky_.T)
        return self.map_.inverse(np.concatenate(rows))

    def _components_log_density(self, x: Array) -> Array:
        Z = self.map_(x)
        parts = np.empty((3, len(Z)))
        for k, (fit, df, share) in enumerate(
            zip(self.components_, self.df_, self.share_, strict=True)
        ):
            W = fit.whiten(Z)
            log_det = np.log(np.diag(fit.cholesky_)).sum()
            square = np.einsum("ij,ij->i", W, W)
            parts[k] = student_t_log_density(square, Z.shape[1], df) - log_det + np.log(share)
        return np.asarray(logsumexp(parts, axis=0)) + self.log_volume_


class SmoothedMixture(BaseEstimator):
    """The paper's mixture: p and q, each convolved with a normal, in equal parts.

    Some rows of each sample serve as centres, so that the density is that of a
    finite mixture of normals and known exactly.

    Parameters
    ----------
    bandwidth : float, array of shape (d,) or (d, d), optional
        Standard deviation of the normal, or its covariance matrix; by default
        half the spread of the pooled sample. The paper's is 1.
    n_centres : int
        Largest number of rows of each sample that serve as centres.
    """

    def __init__(self, bandwidth: float | Array | None = None, n_centres: int = 200) -> None:
        self.bandwidth = bandwidth
        self.n_centres = n_centres

    def fit(
        self, p: Array, q: Array, weight_p: Array | None = None, weight_q: Array | None = None
    ) -> SmoothedMixture:
        """Choose the centres and the bandwidth."""
        check_number(self.n_centres, "n_centres", low=1, integer=True)
        if self.bandwidth is None:
            pooled = canonical_map(p, q, weight_p, weight_q, warn=False)
            self.root_, self.inverse_root_ = 0.5 * pooled.backward, 2.0 * pooled.forward
            self.origin_ = pooled.centre
        else:
            self.root_ = _scale_root(self.bandwidth, p.shape[1], "bandwidth")
            self.inverse_root_ = np.asarray(np.linalg.inv(self.root_), dtype=np.float64)
            self.origin_ = p.mean(axis=0)
        centres, shares = [], []
        for rows, weight in ((p, weight_p), (q, weight_q)):
            # Evenly spaced row numbers represent a sorted file as well as a shuffled one.
            chosen = np.unique(np.linspace(0, len(rows) - 1, self.n_centres).astype(int))
            share = np.ones(len(chosen)) if weight is None else weight[chosen]
            if share.sum() == 0:
                share = np.ones(len(chosen))
            centres.append(rows[chosen])
            shares.append(0.5 * share / share.sum())
        self.centres_, self.share_ = np.concatenate(centres), np.concatenate(shares)
        self.log_volume_ = AffineMap(self.origin_, self.inverse_root_, self.root_).log_det
        return self

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows: a centre and a normal deviation from it."""
        chosen = rng.choice(len(self.centres_), size=n, p=self.share_)
        return self.centres_[chosen] + rng.standard_normal((n, len(self.root_))) @ self.root_

    def log_density(self, x: Array) -> Array:
        """Log-density at the rows of x, shape (n,), in chunks of rows."""
        C = (self.centres_ - self.origin_) @ self.inverse_root_
        d = C.shape[1]
        with np.errstate(divide="ignore"):
            constant = np.log(self.share_) - 0.5 * d * np.log(2 * np.pi) + self.log_volume_
        out = np.empty(len(x))
        for begin in range(0, len(x), _CHUNK):
            Z = (x[begin : begin + _CHUNK] - self.origin_) @ self.inverse_root_
            square = (Z**2).sum(1)[:, None] - 2 * Z @ C.T + (C**2).sum(1)
            out[begin : begin + _CHUNK] = logsumexp(constant - 0.5 * np.maximum(square, 0), axis=1)
        return out


class _Table:
    """Rows of few values, each with its share of the two samples in equal parts."""

    def __init__(self, p: Array, q: Array, weight_p: Array | None, weight_q: Array | None) -> None:
        shares = [
            np.full(len(rows), 0.5 / len(rows)) if weight is None else 0.5 * weight / weight.sum()
            for rows, weight in ((p, weight_p), (q, weight_q))
        ]
        values, place = np.unique(np.concatenate([p, q]), axis=0, return_inverse=True)
        self.values = values
        self.share: Array = np.bincount(place.ravel(), np.concatenate(shares)).astype(float)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows."""
        return self.values[draw_rows(len(self.values), self.share, n, rng)]

    def log_probability(self, x: Array) -> Array:
        """Log-probability of every row: -inf for one that neither sample has."""
        known = {
            tuple(row): np.log(share) for row, share in zip(self.values, self.share, strict=True)
        }
        rows, place = np.unique(x, axis=0, return_inverse=True)
        found = np.array([known.get(tuple(row), -np.inf) for row in rows])
        return found[place.ravel()]


def _few_values(p: Array, q: Array, weight_p: Array | None, weight_q: Array | None) -> np.ndarray:
    """Columns that repeat a small number of values, and together few rows of them."""
    rows = np.concatenate([p, q])
    size = sum(
        len(part) if weight is None else represented(weight)
        for part, weight in ((p, weight_p), (q, weight_q))
    )
    values = np.array([len(np.unique(column)) for column in rows.T])
    few = (values > 1) & (values <= _FEW_VALUES) & (size >= _REPEATS * values)
    if not few.any() or len(np.unique(rows[:, few], axis=0)) * _REPEATS > size:
        return np.zeros(len(values), dtype=bool)
    # A constant column goes with the others, unless these are constant too.
    return few | (values == 1) if (few | (values == 1)).all() else few


def _degrees_of_freedom(Z: Array, weight: Array | None) -> float:
    """Degrees of freedom at which whitened rows are likeliest, from a short list."""
    square = np.einsum("ij,ij->i", Z, Z)
    d = Z.shape[1]
    scores: list[Any] = []
    for df in _DF_GRID:
        # A t with this covariance has its scale matrix smaller by (df - 2) / df.
        shrink = (df - 2.0) / df
        density = student_t_log_density(square / shrink, d, df) - 0.5 * d * np.log(shrink)
        scores.append(np.average(density, weights=weight))
    return float(_DF_GRID[int(np.argmax(scores))])
