r"""The ratio by way of conditional densities, column by column.

.. math:: \log\frac{p(y \mid x)}{p(y)}
    = \sum_k \log p(y_k \mid x, y_1 \dots y_{k-1}) - \log p(y_k \mid y_1 \dots y_{k-1})

Every factor is a regression with a residual of any shape: the column is a sum of smooth
functions of single columns, and products of two where these help, plus a residual whose spread is
the exponential of such a sum. What the other side says of the columns before, a function of several
columns, is one more column to it: a bend that mixes columns is undone one after another. Both sides
of the ratio are densities, so that its mass is one whatever the regression is; and x and y may be
so close to a function of each other that no other pair of rows looks like theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from ..typing import Array, BoolArray, IntArray
from .density import Line, fit_line
from .evaluation import LACKING, PairRatio
from .learners import Learner, best_learner, foretold
from .mixtures import fit_normals
from .splines import Features

# Rows for every feature, knots of a column, and of what was said of a column before.
_ROWS, _KNOTS, _SAID_KNOTS = 20, 40, 12
# Products that enter, and what their correlation with a residual must exceed, in standard errors.
_PRODUCTS, _CLEAR = 6, 6.0
# More columns than this have no products.
_FEW = 100
_RIDGE, _SPREAD_RIDGE = 1e-9, 1e-3
_STEPS = 4
# Share of its variance that what is said of a column must have beyond straight lines.
_STRAIGHT = 0.02
# How many times what noise gives a column has to give to the mean, or to the spread.
_MATTERS = 2.0, 3.0
# Components of a mixture that the explained side may have by itself.
_COMPONENTS = (1, 2, 4, 8)

Pair = tuple[Array, Array]


@dataclass(frozen=True)
class _Factor:
    """One column given others: parts of its mean and log-spread by x and by y, and its residual."""

    target: Array
    mean_x: Array
    mean_y: Array
    spread_x: Array
    spread_y: Array
    residual: Line

    def __call__(self, i: IntArray, j: IntArray) -> Array:
        spread = self.spread_x[i] + self.spread_y[j]
        return np.asarray(self.residual(self.scaled(i, j)) - spread)

    def spread(self, rows: IntArray) -> Array:
        """Spread of the residual at rows."""
        return np.asarray(np.exp(self.spread_x[rows] + self.spread_y[rows]))

    def scaled(self, i: IntArray, j: IntArray) -> Array:
        """Residuals in units of their spread."""
        gap = self.target[j] - self.mean_x[i] - self.mean_y[j]
        return np.asarray(gap * np.exp(-self.spread_x[i] - self.spread_y[j]))


class ConditionalRatio(PairRatio):
    """Conditional densities of the columns of y given x, or of x given y.

    Parameters
    ----------
    x, y : ndarray
    turned : bool
        Whether columns of x are explained by y.
    backwards : bool
        Whether they are explained from the last to the first.
    rows_each : int
        Rows that there must be for each feature.
    learners : mapping of (int, bool) to Learner, optional
        What says more than splines of some explained columns: of the mean, or of the spread.
    """

    normalised = True
    flexible = True
    lacks = LACKING

    def __init__(
        self,
        x: Array,
        y: Array,
        rng: np.random.Generator,
        turned: bool = False,
        backwards: bool = False,
        rows_each: int = _ROWS,
        learners: Mapping[tuple[int, bool], Learner] | None = None,
    ) -> None:
        self.turned, self.backwards, self.rng = turned, backwards, rng
        self.rows_each, self.learners = rows_each, dict(learners or {})
        given, explained = (y, x) if turned else (x, y)
        if backwards:
            explained = explained[:, ::-1]
        self.given, self.explained = given, explained
        names = sorted({one.name for one in self.learners.values()})
        self.name = ", ".join(["conditional", *names, *["x by y"] * turned])
        self._kinds: dict[tuple[int, int], tuple[bool, tuple[str, float]]] = {}
        self._used: dict[tuple[int, int], BoolArray] = {}
        self._said: dict[int, bool] = {}
        self._components: int | None = None
        self._products: list[tuple[int, int]] | None = None
        self._sides: tuple[Features, Features] | None = None

    def with_learners(self, rows: IntArray) -> ConditionalRatio | None:
        """The same with what learners see more in some rows; None where they do not."""
        width = self.given.shape[1]
        if width < 2:
            return None
        learners = {}
        for k, (inputs, residual) in enumerate(self.left_over(rows)):
            factor = self._factors[k]
            column = factor.target[rows], factor.spread(rows)
            for uneven in (False, True):
                what = (np.abs(residual),) if uneven else (residual, *column)
                learner, _ = best_learner(inputs[:, :width], *what)
                if learner is not None:
                    learners[k, uneven] = learner
        given, explained = self.given, self.explained[:, :: -1 if self.backwards else 1]
        x, y = (explained, given) if self.turned else (given, explained)
        own = self.turned, self.backwards, self.rows_each
        return ConditionalRatio(x, y, self.rng, *own, learners) if learners else None

    def fit(self, rows: IntArray) -> Self:
        both = self._features(len(rows))
        if self._products is None:
            self._products = self._sought(both, rows)
            self._sides = None
            both = self._features(len(rows))
        self._own = self._alone(both, rows)
        self._factors = []
        first = self.given.shape[1] + self.explained.shape[1]
        for k in range(self.explained.shape[1]):
            self._factors.append(self._factor(both, k, rows, True))
            if (k, False) in self.learners or (k, True) in self.learners:
                both = self._grown(both, k, rows), both[1]
                self._factors[-1] = self._factor(both, k, rows, True, grown=True)
            last = k + 1 == self.explained.shape[1]
            if not last and self._bent(k, self._factors[-1].mean_x, rows):
                said = _standard(self._factors[-1].mean_x)
                both = both[0].with_column(said, first + k, self._said_knots), both[1]
        return self

    def _grown(self, both: tuple[Features, Features], k: int, rows: IntArray) -> Features:
        """Features of the given side with what learners say of a column beyond its regression."""
        every, d = np.arange(len(self.given)), self.explained.shape[1]
        found, factor = both[0], self._factors[k]
        gap = factor.target - factor.mean_x - factor.mean_y
        for uneven, left in enumerate((gap, np.abs(factor.scaled(every, every)))):
            learner = self.learners.get((k, bool(uneven)))
            if learner is not None:
                target = factor.target if learner.whole else left
                said = _standard(foretold(learner, self.given, target, rows))
                number = self.given.shape[1] + (2 + uneven) * d + k
                found = found.with_column(said, number, self._said_knots)
        return found

    def _bent(self, k: int, said: Array, rows: IntArray) -> bool:
        """Whether what is said of a column is no straight function of the given columns."""
        if k not in self._said:
            # Of one column its own splines know all.
            own = np.column_stack([np.ones(len(rows)), self.given[rows]])
            rest = said[rows] - own @ _solved(own, said[rows])
            wide = self.given.shape[1] > 1
            self._said[k] = bool(wide and rest.var() > _STRAIGHT * said[rows].var())
        return self._said[k]

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        given, explained = (j, i) if self.turned else (i, j)
        return np.asarray(
            np.sum([one(given, explained) for one in self._factors], axis=0) - self._own[explained]
        )

    def left_over(self, rows: IntArray) -> Iterator[tuple[Array, Array]]:
        """For every column what it was explained by and its residual, in units of its spread."""
        for k, one in enumerate(self._factors):
            inputs = np.hstack([self.given[rows], self.explained[rows, :k]])
            yield inputs, np.clip(one.scaled(rows, rows), -4.0, 4.0)

    def _alone(self, both: tuple[Features, Features], rows: IntArray) -> Array:
        """Log-density of the explained rows by themselves.

        A density that fits badly would make the ratio too large: the better of two is taken.
        """
        every, d = np.arange(len(self.explained)), self.explained.shape[1]
        if self._components:
            return fit_normals(self.explained[rows], self._components, self.rng)(self.explained)
        own: Array = np.sum(
            [self._factor(both, k, rows, False)(every, every) for k in range(d)], axis=0
        )
        if d == 1:
            return own
        if self._components is None:
            judge = np.arange(len(rows)) % 4 == 0
            fitted, judged = self.explained[rows[~judge]], self.explained[rows[judge]]
            best, self._components = float(own[rows].mean()), 0
            for k in _COMPONENTS:
                if k * _ROWS * d > len(fitted):
                    break
                level = float(fit_normals(fitted, k, self.rng)(judged).mean())
                if level <= best:
                    break
                best, self._components = level, k
        if not self._components:
            return own
        return fit_normals(self.explained[rows], self._components, self.rng)(self.explained)

    def _features(self, n: int) -> tuple[Features, Features]:
        if self._sides is None:
            width = self.given.shape[1] + self.explained.shape[1]
            knots = int(min(n / (self.rows_each * width) - 2, _KNOTS))
            # Fits to fewer rows have the same features.
            self._said_knots = min(knots, _SAID_KNOTS)
            sides = [Features.of(z, knots) for z in (self.given, self.explained)]
            first = sides[0].with_products(self.given, self._products or [])
            self._sides = first, sides[1]
        return self._sides

    def _sought(self, both: tuple[Features, Features], rows: IntArray) -> list[tuple[int, int]]:
        """Products of two columns of the given side that residuals clearly follow."""
        z, d = self.given[rows], self.given.shape[1]
        if not 2 <= d <= _FEW:
            return []
        found: dict[tuple[int, int], float] = {}
        first, second = np.triu_indices(d, 1)
        square = z * z
        spread = np.sqrt(np.maximum((square.T @ square / len(z))[first, second], 1e-12))
        for k in range(self.explained.shape[1]):
            design, _ = _design(both, k, rows, True)
            target = self.explained[rows, k]
            residual = target - design @ _solved(design, target)
            residual = residual / max(float(residual.std()), 1e-12)
            clear = np.abs((z * residual[:, None]).T @ z)[first, second]
            clear = clear / (np.sqrt(len(z)) * spread)
            for at in np.argsort(-clear, kind="stable")[:_PRODUCTS]:
                if clear[at] > _CLEAR:
                    pair = int(first[at]), int(second[at])
                    found[pair] = max(found.get(pair, 0.0), float(clear[at]))
        return sorted(found, key=lambda pair: -found[pair])[:_PRODUCTS]

    def _groups(self, both: tuple[Features, Features], k: int, with_given: bool) -> IntArray:
        """The column that each feature of a factor is of; -1 for the constant."""
        given = both[0].column if with_given else both[0].column[:0]
        before = both[1].column[both[1].column < k] + self.given.shape[1]
        return np.concatenate([[-1], given, before])

    def _factor(
        self,
        both: tuple[Features, Features],
        k: int,
        rows: IntArray,
        with_given: bool,
        grown: bool = False,
    ) -> _Factor:
        """Column k given the columns before it, and the other side where that is asked for."""
        design, split = _design(both, k, rows, with_given)
        target = self.explained[rows, k]
        stage = k, with_given + grown
        used, fits = self._used.get(stage), None
        if used is None:
            fits = _fits(design, target, np.ones(design.shape[1], dtype=bool))
            used = _mattering(design, target, fits, self._groups(both, k, with_given))
            self._used[stage] = used
        if fits is None or not used.all():
            fits = _fits(design, target, used)
        kept = self._kinds.get(stage)
        made = []
        for uneven, (mean, spread) in enumerate(fits):
            if kept is not None and kept[0] != bool(uneven):
                continue
            log_spread = design @ spread
            scaled = (target - design @ mean) * np.exp(-log_spread)
            line, kind = fit_line(scaled, None if kept is None else kept[1])
            made.append(
                (float((line(scaled) - log_spread).mean()), bool(uneven), kind, mean, spread, line)
            )
        # Of a spread that varies as much must be gained as its features cost.
        cost = float(used.sum()) / len(rows)
        best = made[-1] if len(made) > 1 and made[1][0] > made[0][0] + cost else made[0]
        _, uneven, kind, mean, spread, line = best
        self._kinds.setdefault(stage, (uneven, kind))
        given, before = both[0].values, both[1].values[:, both[1].column < k]
        if not with_given:
            given = given[:, :0]

        def parts(one: Array) -> tuple[Array, Array]:
            return given @ one[1 : 1 + split], before @ one[1 + split :] + one[0]

        return _Factor(self.explained[:, k], *parts(mean), *parts(spread), line)


def _standard(column: Array) -> Array:
    """Of mean zero and variance one; nothing where it is constant."""
    spread = float(column.std())
    return (column - column.mean()) / spread if spread > 1e-9 else np.zeros(len(column))


def _design(
    both: tuple[Features, Features], k: int, rows: IntArray, with_given: bool
) -> tuple[Array, int]:
    """A constant, features of the given side and of the columns before k; how many are given."""
    before = both[1].values[:, both[1].column < k][rows]
    parts = [np.ones((len(rows), 1))]
    split = 0
    if with_given:
        parts.append(both[0].values[rows])
        split = both[0].values.shape[1]
    return np.hstack([*parts, before]), split


def _solved(
    design: Array, target: Array, weight: Array | None = None, gram: Array | None = None
) -> Array:
    """Least squares, each row with its weight; the products of the features may be known."""
    own, right = design, target
    if weight is not None:
        # Of a matrix and its own transpose half the products are enough.
        root = np.sqrt(weight)
        own, right = design * root[:, None], target * root
    gram = own.T @ own if gram is None else gram.copy()
    gram[np.diag_indices_from(gram)] *= 1.0 + _RIDGE
    gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(gram)
    factors = lu_factor(gram, overwrite_a=True, check_finite=False)
    found = lu_solve(factors, own.T @ right, check_finite=False)
    # A second step takes out what rounding left, which counts where residuals are tiny.
    rest = own.T @ (right - own @ found)
    return np.asarray(found + lu_solve(factors, rest, check_finite=False))


def _fits(design: Array, target: Array, used: BoolArray) -> list[Pair]:
    """Coefficients of mean and log-spread by the features in use: of an even spread, an uneven."""
    own = design if used.all() else design[:, used]
    gram = own.T @ own
    mean = _solved(own, target, gram=gram)
    residual = target - own @ mean
    flat = np.zeros(own.shape[1])
    flat[0] = np.log(max(float(residual.std()), 1e-300))
    found = [(mean, flat)]
    if own.shape[1] > 1:
        spread = _spread(own, residual, gram)
        weight = np.exp(-2.0 * (own @ spread))
        found.append((_solved(own, target, weight), spread))
    whole = np.zeros((len(found), 2, design.shape[1]))
    whole[:, :, used] = found
    return [(one[0], one[1]) for one in whole]


def _mattering(design: Array, target: Array, fits: Sequence[Pair], groups: IntArray) -> BoolArray:
    """Features of the columns whose part in fits by all of them is more than noise.

    Coefficients of k features that do not matter give a mean with k / n of the residual's
    variance, and a log-spread with a variance of k / (2 n).
    """
    n = len(design)
    mean, spread = fits[0][0], fits[-1][1]
    noise = float((target - design @ mean).var())
    used = groups < 0
    for group in np.unique(groups[groups >= 0]):
        own = groups == group
        parts = design[:, own] @ np.column_stack([mean[own], spread[own]])
        seen = parts.var(axis=0) * n / (own.sum() * np.array([max(noise, 1e-300), 0.5]))
        if seen[0] > _MATTERS[0] or seen[1] > _MATTERS[1]:
            used |= own
    return used


def _spread(design: Array, residual: Array, gram: Array) -> Array:
    """Coefficients of the logarithm of the spread: Gamma regression of squares, log link."""
    square = residual**2
    start = max(float(square.mean()), 1e-300)
    gram = gram / len(design)
    gram[np.diag_indices_from(gram)] += _SPREAD_RIDGE
    factors = lu_factor(gram, overwrite_a=True, check_finite=False)
    found = np.zeros(design.shape[1])
    found[0] = np.log(start)
    for _ in range(_STEPS):
        excess = np.clip(square * np.exp(-np.clip(design @ found, -600, 600)) - 1.0, -1.0, 6.0)
        step = lu_solve(factors, design.T @ excess / len(design), check_finite=False)
        found = found + step / max(1.0, 0.5 * float(np.abs(design @ step).max()))
    return np.asarray(0.5 * found)
