"""A density of levels and numbers: a tree of pairs of levels, and normal numbers given them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.levels import Layout
from ..data.sample import Sample, TwoSamples, bounded_rows
from ..data.validation import check_option
from ..maps.affine import AffineMap
from ..maps.coordinates import Surroundings
from ..maps.shared import SharedMaps
from ..typing import Array, BoolArray, IntArray
from .elliptical import SampleAnchor, elliptical_log_density
from .tree import LevelTree

_MAP_ROWS, _ROWS = 4000, 20_000
_LEVEL_ROWS = 5.0
_LEAST_GAIN = 0.005
_LEAST_VARIANCE = 1e-6
_FARTHEST = 1e10
_MOST_LEVELS = 300
_DIGITS = 9
_LEAST_ROWS, _MOST_DF = 10, 50.0
_DF_GRID = np.array([3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0])


class MixedAnchor(SampleAnchor):
    """A density of columns of levels and of numbers, against counting and Lebesgue measure.

    The levels are a tree of pairs. Numbers, behind increasing maps, are normal with means that
    depend on the levels, each drawn towards the mean of all, and with one covariance. Which
    columns have levels, and which 0/1 columns are one category, the rows of both samples say.

    Parameters
    ----------
    maps : str or None, default "auto"
        Maps of the numbers, as in :class:`~isthmus.maps.SharedMaps`.
    tails : {"normal", "student-t"}, default "normal"
        What the numbers are, given the levels; the degrees of freedom are the likeliest.

    Attributes
    ----------
    density_ : MixedDensity
        The fit, in the columns of the data.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> level = rng.integers(0, 2, 2000)
    >>> X = np.column_stack([level, rng.normal(3.0 * level, 1.0)])
    >>> found = MixedAnchor().fit(X).score_samples([[1.0, 3.0], [1.0, 0.0]])
    >>> found.round()  # log(1/2) - log(2 π) / 2 = -1.6, and 4.5 less
    array([-2., -6.])
    """

    def __init__(self, maps: Any = "auto", tails: str = "normal") -> None:
        self.maps = maps
        self.tails = tails

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Fit levels and numbers."""
        check_option(self.tails, "tails", ["normal", "student-t"])
        self.affine_ = None if surroundings is None else surroundings.affine
        own = sample.map(self._columns)
        others = own if surroundings is None else Sample.of(self._columns(surroundings.others))
        both = TwoSamples(own, others)
        self.density_ = MixedDensity.fit(both, Footing.of(both, self.maps))
        if self.tails == "student-t":
            self.density_ = self.density_.likeliest_tails(own)

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        out = self.density_.log_density(self._columns(np.asarray(X, dtype=np.float64)))
        # The volume of the coordinates is counted elsewhere, and levels have none.
        return out if self.affine_ is None else out - self.affine_.log_det

    def _columns(self, Z: Array) -> Array:
        """The columns of the data, without the rounding of the way back from coordinates."""
        affine: AffineMap | None = self.affine_
        if affine is None:
            return Z
        # A power of two, so that whole numbers stay what they are.
        unit = np.exp2(np.floor(np.log2(np.linalg.norm(affine.backward, axis=0) + 1e-290)))
        return np.asarray(np.round(affine.inverse(Z) / unit, _DIGITS) * unit)


@dataclass(frozen=True)
class Footing:
    """What two samples of levels and numbers have in common.

    Attributes
    ----------
    layout : Layout
        Without numbers that are constant or follow from the others.
    maps : tuple of SharedMaps
        An increasing map of every number.
    usual : ndarray of float
        A number of each column that is no atom.
    derived : ndarray of int
        Numbers that are constant or follow from the others.
    coefficients : ndarray of shape (1 + len(numbers), len(derived))
        How.
    """

    layout: Layout
    maps: tuple[SharedMaps, ...]
    usual: Array
    derived: IntArray
    coefficients: Array

    @classmethod
    def of(cls, samples: TwoSamples, maps: Any = "auto") -> Footing:
        """From rows of both samples."""
        layout = Layout.of(np.concatenate([sample.rows for sample in samples]))
        layout, derived, coefficients = _independent(layout, samples)
        at = [layout.at_atom(sample.rows) for sample in samples]
        found, usual = [], []
        for k, j in enumerate(layout.numbers):
            free = [
                sample.take(~a[:, k]).rows[:, [j]][: 4 * _MAP_ROWS]
                for sample, a in zip(samples, at, strict=True)
            ]
            some = [one[bounded_rows(len(one), _MAP_ROWS)] for one in free]
            if min(map(len, some)) < 10:
                some = [np.concatenate(some)] * 2
            found.append(_map(maps, some))
            usual.append(np.median(some[0]))
        return cls(layout, tuple(found), np.array(usual), derived, coefficients)

    def mapped(self, rows: Array) -> tuple[Array, Array]:
        """Numbers behind their maps, and the log-slopes of these, shape (n, d) each."""
        # A map need not be defined at an atom, such as the logarithm at zero.
        x = np.where(self.layout.at_atom(rows), self.usual, rows[:, self.layout.numbers])
        u, slope = np.empty(x.shape), np.empty(x.shape)
        for k, one in enumerate(self.maps):
            u[:, [k]], slope[:, k] = one(x[:, [k]]), one.log_derivative(x[:, [k]])
        return u, slope

    def rows(self, codes: IntArray, u: Array) -> Array:
        """Rows with these levels and mapped numbers."""
        x = np.column_stack([one.inverse(u[:, [k]]) for k, one in enumerate(self.maps)] or [u])
        layout = self.layout
        wide = layout.rows(codes, x, len(self.derived))
        with_constant = np.column_stack([np.ones(len(wide)), wide[:, layout.numbers]])
        wide[:, self.derived] = with_constant @ self.coefficients
        return wide


@dataclass(frozen=True)
class MixedDensity:
    """Levels as a tree, and numbers given them.

    Attributes
    ----------
    footing : Footing
    tree : LevelTree
    effects : ndarray of shape (1 + total number of levels, d)
        Mean of the numbers, and what each level adds to it.
    covariance : ndarray of shape (d, d)
        Of the numbers, given the levels; the scale matrix where df is finite.
    df : float
        Degrees of freedom; infinite for normal numbers.
    """

    footing: Footing
    tree: LevelTree
    effects: Array
    covariance: Array
    df: float = np.inf

    @classmethod
    def fit(
        cls,
        samples: TwoSamples,
        footing: Footing,
        *,
        related: bool = True,
        unseen: float = 0.5,
    ) -> MixedDensity:
        """Fit to the first of two samples.

        ``related`` is False for levels that depend on nothing and numbers that do not depend on
        levels; ``unseen`` is as in :meth:`LevelTree.fit`.
        """
        layout = footing.layout
        codes = [layout.codes(sample.rows) for sample in samples]
        weight = samples.p.share * samples.p.size
        sizes = layout.sizes
        tree = LevelTree.fit(codes[0], weight, sizes, codes[1], pairs=related, unseen=unseen)
        some = bounded_rows(len(samples.p), _ROWS)
        u, _ = footing.mapped(samples.p.rows[some])
        free = ~layout.at_atom(samples.p.rows[some])
        ones = _ones(codes[0][some], sizes if related and sum(sizes) <= _MOST_LEVELS else [])
        effects = _effects(ones, u, free, weight[some])
        covariance = _covariance(np.where(free, u - ones @ effects, 0.0), free, weight[some])
        return cls(footing, tree, effects, covariance)

    def log_density(self, rows: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        layout = self.footing.layout
        codes = layout.codes(rows)
        out = self.tree.log_probability(codes)
        if not len(layout.numbers):
            return out
        u, slope = self.footing.mapped(rows)
        free = ~layout.at_atom(rows)
        gap = u - self._means(codes)
        out += np.where(free, slope, 0.0).sum(axis=1)
        for at, rows_there in _patterns(free):
            if at.any():
                square, log_det = self._square(gap[rows_there][:, at], at)
                out[rows_there] += elliptical_log_density(square, int(at.sum()), self.df) - log_det
        return out

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows."""
        codes = self.tree.sample(n, rng)
        d = len(self.covariance)
        deviation = rng.standard_normal((n, d)) @ np.linalg.cholesky(self.covariance).T
        if np.isfinite(self.df):
            deviation *= np.sqrt(self.df / rng.chisquare(self.df, n))[:, None]
        return self.footing.rows(codes, self._means(codes) + deviation)

    def likeliest_tails(self, sample: Sample) -> MixedDensity:
        """The same covariance with the degrees of freedom at which rows are likeliest."""
        some = sample.take(bounded_rows(len(sample), _ROWS))
        layout = self.footing.layout
        some = some.take(np.flatnonzero((~layout.at_atom(some.rows)).all(axis=1)))
        d = len(layout.numbers)
        if not d or len(some) < _LEAST_ROWS:
            return self
        gap = self.footing.mapped(some.rows)[0] - self._means(layout.codes(some.rows))
        square, _ = self._square(gap, np.ones(d, dtype=bool))
        scores = []
        for df in _DF_GRID:
            # A t with this covariance has its scale matrix smaller by (df - 2) / df.
            shrink = (df - 2.0) / df
            density = elliptical_log_density(square / shrink, d, df) - 0.5 * d * np.log(shrink)
            scores.append(float(some.share @ density))
        df = float(_DF_GRID[int(np.argmax(scores))])
        return replace(self, df=df, covariance=self.covariance * (df - 2.0) / df)

    def heavier(self, sample: Sample) -> MixedDensity:
        """The same with tails that reach further out than those of the rows."""
        df = self.likeliest_tails(sample).df
        return self.with_df(float(np.clip(0.5 * df, 1.0, _MOST_DF)))

    def with_df(self, df: float) -> MixedDensity:
        """The same with so many degrees of freedom."""
        return replace(self, df=df)

    def _means(self, codes: IntArray) -> Array:
        sizes = self.footing.layout.sizes if len(self.effects) > 1 else []
        return np.asarray(_ones(codes, sizes) @ self.effects)

    def _square(self, gap: Array, at: BoolArray) -> tuple[Array, float]:
        """Squared radii of some of the numbers, and the log-volume of their unit."""
        root = np.linalg.cholesky(self.covariance[np.ix_(at, at)])
        # Beyond, no density is known; squares have to exist.
        z = np.clip(np.linalg.solve(root, gap.T), -_FARTHEST, _FARTHEST)
        return (z**2).sum(axis=0), float(np.log(np.diag(root)).sum())


def _map(kind: Any, both: list[Array]) -> SharedMaps:
    """A map of one number; of itself it takes a formula, such as the logarithm.

    A map of any shape would make the whole column normal, whose modes may be those of levels.
    """
    found = SharedMaps(kind).fit(*both)
    if found.kinds_ != ["quantile"] or kind == "quantile":
        return found
    scores = {name: gain for name, gain in found.scores_[0].items() if name != "quantile"}
    best = max(scores, key=lambda name: scores[name], default=None)
    return SharedMaps(best if best and scores[best] > _LEAST_GAIN else None).fit(*both)


def _ones(codes: IntArray, sizes: list[int]) -> Array:
    """A constant, and a 0/1 column for each level of each set, shape (n, 1 + sum(sizes))."""
    out = np.zeros((len(codes), 1 + sum(sizes)))
    out[:, 0] = 1.0
    begin = 1
    for k, size in enumerate(sizes):
        known = np.flatnonzero(codes[:, k] < size)
        out[known, begin + codes[known, k]] = 1.0
        begin += size
    return out


def _effects(ones: Array, u: Array, free: BoolArray, weight: Array) -> Array:
    """Means of the numbers and what levels add; every level is given some rows of the mean."""
    penalty = np.full(ones.shape[1], _LEVEL_ROWS)
    penalty[0] = 1e-6
    out = np.zeros((ones.shape[1], u.shape[1]))
    for at, columns in _patterns(free.T):
        weighted = ones[at] * weight[at, None]
        hessian = weighted.T @ ones[at] + np.diag(penalty)
        out[:, columns] = np.linalg.solve(hessian, weighted.T @ u[np.ix_(at, columns)])
    return out


def _covariance(gap: Array, free: BoolArray, weight: Array) -> Array:
    """Covariance of what is left, over the rows in which both of two numbers are."""
    d = gap.shape[1]
    if not d:
        return np.zeros((0, 0))
    mass = free.astype(float)
    pairs = mass.T @ (mass * weight[:, None])
    # Ten rows of independent columns.
    spread = np.diag(gap.T @ (gap * weight[:, None])) / np.maximum(np.diag(pairs), 1e-300)
    total = gap.T @ (gap * weight[:, None]) + 10.0 * np.diag(spread)
    covariance = total / (pairs + 10.0)
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    steady = (vectors * np.maximum(values, _LEAST_VARIANCE)) @ vectors.T
    return np.asarray(steady * np.outer(scale, scale))


def _patterns(free: BoolArray) -> Iterator[tuple[BoolArray, IntArray]]:
    """Different rows of a table of truths, and where each occurs."""
    if free.all():
        yield np.ones(free.shape[1], dtype=bool), np.arange(len(free))
        return
    # Each row as one word of bits: rows of many columns take long to sort.
    bits = np.ascontiguousarray(np.packbits(free, axis=1))
    word = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, place = np.unique(word, return_index=True, return_inverse=True)
    for k, row in enumerate(first):
        yield free[row], np.flatnonzero(place == k)


def _independent(layout: Layout, samples: TwoSamples) -> tuple[Layout, IntArray, Array]:
    """Set numbers apart that are constant or follow from the others."""
    rows = np.concatenate([sample.rows[:, layout.numbers] for sample in samples])
    d = rows.shape[1]
    spread = rows.std(axis=0) if len(rows) else np.ones(d)
    varies = spread > 1e-12 * np.maximum(np.abs(rows).max(axis=0, initial=0.0), 1e-300)
    unit = np.where(varies, spread, 1.0)
    Z = (rows - rows.mean(axis=0)) / unit
    gram = Z.T @ Z / max(len(Z), 1)
    kept: list[int] = []
    for j in np.flatnonzero(varies):
        rest = 1.0
        if kept:
            beta = np.linalg.lstsq(gram[np.ix_(kept, kept)], gram[kept, j], rcond=None)[0]
            rest = float(gram[j, j] - gram[kept, j] @ beta)
        if rest > 1e-9:
            kept.append(int(j))
    others = np.setdiff1d(np.arange(d), kept)
    X = np.column_stack([np.ones(len(rows)), rows[:, kept]])
    coefficients = np.linalg.lstsq(X, rows[:, others], rcond=None)[0]
    smaller = replace(layout, numbers=layout.numbers[kept], atoms=layout.atoms[kept])
    return smaller, layout.numbers[others], np.asarray(coefficients)
