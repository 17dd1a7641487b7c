"""What is worked out in a quicker way for very many rows is what the candidates say."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.candidates import Bumps, Focused, Ridge, Rows, Sparse, Trees
from isthmus.candidates.columns import Columns
from isthmus.candidates.sparse import Feature
from isthmus.candidates.trees import TreesFit
from isthmus.data.seeds import Seeds
from isthmus.data.validation import as_two_samples
from isthmus.large.quick import QuickBumps, QuickLinear, QuickSparse, quick
from isthmus.large.quick_trees import QuickLargeTrees, QuickTrees, below
from isthmus.large.ranks import Line, Ranks
from isthmus.stacked import StackedMDRE
from isthmus.storing.trees import TreeSum


@pytest.fixture(scope="module")
def rows():
    """A normal column, a skewed one, one of two values, one that is constant, a normal one."""
    rng = np.random.default_rng(0)

    def some(shift):
        z = rng.normal(shift, 1, (600, 3))
        return np.column_stack([z[:, 0], np.exp(z[:, 1]), z[:, 2] > 0, np.ones(600), z[:, 2] ** 3])

    return some(0.5), some(0.0)


@pytest.fixture(scope="module")
def asked(rows):
    """Rows to ask about, some of them far out, and what was said of them before."""
    return np.concatenate([*rows, 50 * rows[1]]), np.random.default_rng(1).normal(size=1800)


@pytest.mark.parametrize("knots", [1, 2, 3, 4, 64, 65, 66, 300])
def test_lines_are_those_of_interp(knots):
    rng = np.random.default_rng(knots)
    x, y = np.sort(rng.normal(size=knots)), np.sort(rng.random(knots))
    at = np.concatenate([rng.normal(0, 3, 1000), x, np.nextafter(x, -9), np.nextafter(x, 9)])
    # Rounding alone: both have the same formula.
    assert Line.of(x, y)(at) == pytest.approx(np.interp(at, x, y), abs=1e-14)


def test_ranks_and_scores_are_those_of_the_columns(rows, asked):
    columns = Columns.of(as_two_samples(*rows))
    assert columns.kept.tolist() == [True, True, True, False, True]
    which = [1, 2, 3]
    ranks = Ranks.of(columns, which)
    assert ranks(asked[0]) == pytest.approx(columns.ranks(asked[0])[:, which], abs=1e-14)
    # A rank of a thousandth is the least, where the score has a slope of 300.
    assert ranks.scores(asked[0]) == pytest.approx(columns.scores(asked[0])[:, which], abs=1e-11)


def test_quick_lines_are_the_same(rows, asked):
    fit = Ridge().fit(Rows.of(as_two_samples(*rows)), Seeds(0))
    assert 0 < fit.features.columns.skewed.sum() < len(fit.features.columns)
    found = QuickLinear.of(fit).log_ratio(*asked)
    # Sums in another order.
    assert found == pytest.approx(fit.log_ratio(*asked), abs=1e-10)


def test_quick_lines_without_skewed_columns_or_any(asked):
    rng = np.random.default_rng(0)
    p, q = rng.normal(0.5, 1, (600, 5)), rng.normal(0, 1, (600, 5))
    for samples in (as_two_samples(p, q), as_two_samples(np.ones((60, 5)), np.ones((60, 5)))):
        fit = Ridge().fit(Rows.of(samples), Seeds(0))
        found = QuickLinear.of(fit).log_ratio(*asked)
        assert found == pytest.approx(fit.log_ratio(*asked), abs=1e-10)


@pytest.mark.parametrize("size", [0, 1, 3, 20])
def test_quick_waves_and_products_are_the_same(size, rows, asked):
    given = Rows(as_two_samples(*rows), *np.random.default_rng(2).normal(size=(2, 600)))
    fit = Sparse(size=size).fit(given, Seeds(0))
    kinds = {bool(feature.wave) for feature in fit.chosen}
    assert kinds == {True, False} or size < 20
    found = QuickSparse.of(fit).log_ratio(*asked)
    assert found == pytest.approx(fit.log_ratio(*asked), abs=1e-9)


def test_a_product_of_two_columns_is_told_apart_from_squares(rows, asked):
    fit = Sparse(size=3).fit(Rows.of(as_two_samples(*rows)), Seeds(0))
    fit = type(fit)(
        fit.columns,
        [Feature(0, 3, 0), Feature(3, 3, 0), Feature(1, 1, 5)],
        np.array([0.1, 0.9, 0.0, 0.2]),
        np.array([1.1, 2.0, 0.7, np.inf]),
        type(fit.regression)(np.array([0.3, -0.2, 0.5, 9.0]), 0.25, 1.0),
    )
    found = QuickSparse.of(fit).log_ratio(*asked)
    assert found == pytest.approx(fit.log_ratio(*asked), abs=1e-10)


@pytest.mark.parametrize("width", [0.02, 0.7])
def test_quick_bumps_are_the_same_bumps(width, rows, asked):
    for candidate in (Bumps(width=width), Focused(Bumps(width=width), columns=2)):
        fit = candidate.fit(Rows.of(as_two_samples(*rows)), Seeds(0))
        inner, at = getattr(fit, "fit", fit), getattr(fit, "at", slice(None))
        found = QuickBumps.of(inner).log_ratio(asked[0][:, at], asked[1])
        assert found == pytest.approx(fit.log_ratio(*asked), abs=1e-8)


def test_quick_trees_are_the_same_trees(rows, asked):
    given = Rows.of(as_two_samples(*rows))
    at, before = asked[0].copy(), asked[1]
    at[7, 1] = np.nan
    fit = Trees(leaves=6, rounds=30).fit(given, Seeds(0))
    found = QuickTrees.of(fit)
    assert np.array_equal(found.log_ratio(at, before), fit.log_ratio(at, before))
    stored = TreesFit(fit.bins, TreeSum.of(fit.trees))
    assert np.array_equal(QuickTrees.of(stored).log_ratio(at, before), fit.log_ratio(at, before))


@pytest.mark.parametrize("leaves", [2, 6, 31, 63, 64])
def test_quick_large_trees_are_the_same_trees(leaves, rows, asked):
    given = Rows(as_two_samples(*rows), *np.random.default_rng(2).normal(size=(2, 600)))
    at, before = asked[0].copy(), asked[1]
    at[7, 1], at[8, 0], at[9, 0] = np.nan, np.inf, -np.inf
    fit = Trees(leaves=leaves, rounds=15).fit(given, Seeds(0))
    found = QuickLargeTrees.of(fit)
    assert np.array_equal(found.log_ratio(at, before), fit.log_ratio(at, before))
    stored = QuickLargeTrees.of(TreesFit(fit.bins, TreeSum.of(fit.trees)))
    assert np.array_equal(stored.log_ratio(at, before), fit.log_ratio(at, before))
    assert QuickTrees.of(fit) is None or leaves < 9


def test_trees_of_too_many_leaves_stay_as_they_are():
    rng = np.random.default_rng(0)
    p, q = rng.normal(0.5, 1, (4000, 2)), rng.normal(0, 1, (4000, 2))
    fit = Trees(leaves=80, rounds=1).fit(Rows.of(as_two_samples(p, q)), Seeds(0))
    assert QuickLargeTrees.of(fit) is None


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 127, 128, 255, 256, 300])
def test_below_is_searchsorted(count):
    rng = np.random.default_rng(count)
    limits = np.unique(rng.normal(size=count))
    x = np.concatenate([rng.normal(0, 2, 500), limits, [np.inf, -np.inf, np.nan]])
    assert np.array_equal(below(limits, x), np.searchsorted(limits, x, side="left"))


def test_a_stack_says_the_same(rows, asked):
    varies = [0, 1, 2, 4]
    rows, asked = [one[:, varies] for one in rows], asked[0][:, varies]
    X, y = np.concatenate(rows), np.repeat([1, 0], 600)
    library = [Ridge(), Sparse(size=8), Trees(leaves=6, rounds=20), Bumps(width=0.7)]
    stack = StackedMDRE(library, random_state=0).fit(X, y)
    every = [one.fit(Rows.of(as_two_samples(*rows)), Seeds(0)) for one in library]
    stack.single_, stack.members_ = None, tuple((0.2, one) for one in every)
    found = quick(stack).evaluate(asked)
    assert found == pytest.approx(stack.evaluate(asked), abs=1e-8)
    assert {type(one).__name__ for _, one in quick(stack).members_} == {
        "QuickLinear", "QuickSparse", "QuickTrees", "QuickBumps"
    }  # fmt: skip
