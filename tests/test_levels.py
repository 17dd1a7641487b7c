"""Tables with levels: levels stay levels, from the auxiliary to the answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from isthmus import MDRE, compare, stack
from isthmus.anchors import MixedAnchor
from isthmus.anchors.tree import LevelTree
from isthmus.auxiliaries import Bridge, ShuffledColumns
from isthmus.auxiliaries.chain import build_chain
from isthmus.candidates import LevelDensities, Rows, Trees
from isthmus.candidates.base import log_loss
from isthmus.candidates.trees import Bins
from isthmus.data.levels import Layout, categories
from isthmus.data.sample import TwoSamples
from isthmus.data.seeds import Seeds


def shares(s: float) -> np.ndarray:
    weight = np.exp(0.5 * s * np.arange(6))
    return weight / weight.sum()


def mixed(n: int, s: float, rng: np.random.Generator) -> np.ndarray:
    """Three numbers, a 0/1 column, a category of six levels and a count; s parts p and q."""
    z = rng.normal(s, 1.0, (n, 3))
    z[:, 1] = np.exp(0.4 * z[:, 1])
    level = rng.choice(6, size=n, p=shares(0.5 * s))
    yes = rng.random(n) < 1.0 / (1.0 + np.exp(-0.5 * s))
    return np.column_stack([z, yes, np.eye(6)[level], rng.poisson(3.0 + 0.5 * s, n)])


def mixed_log_ratio(x: np.ndarray, s: float) -> np.ndarray:
    """Log of mixed(s) over mixed(-s)."""
    z = np.column_stack([x[:, 0], np.log(x[:, 1]) / 0.4, x[:, 2]])
    level = x[:, 4:10].argmax(axis=1)
    out = 2.0 * s * z.sum(axis=1) + 0.5 * s * (2.0 * x[:, 3] - 1.0)
    out += np.log(shares(0.5 * s) / shares(-0.5 * s))[level]
    count = [stats.poisson(3.0 + 0.5 * t).logpmf(x[:, 10]) for t in (s, -s)]
    return np.asarray(out + count[0] - count[1])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def far(rng):
    return mixed(1500, 2.0, rng), mixed(1500, -2.0, rng)


class TestLayout:
    def test_columns_are_told_apart(self, far):
        layout = Layout.of(np.concatenate(far))
        assert [one.columns for one in layout.levels] == [(3,), (4, 5, 6, 7, 8, 9), (10,)]
        assert layout.numbers.tolist() == [0, 1, 2]

    def test_codes_and_back(self, far):
        rows = np.concatenate(far)
        layout = Layout.of(rows)
        again = layout.rows(layout.codes(rows), rows[:, layout.numbers])
        np.testing.assert_array_equal(again, rows)

    def test_the_order_of_columns_does_not_matter(self, rng):
        town = np.eye(4)[rng.integers(0, 4, 200)]
        X = np.column_stack([town[:, :2], rng.normal(size=200), town[:, 2:]])
        assert categories(X) == [(0, 1, 3, 4)]

    def test_a_missing_category_is_a_level(self, rng):
        code = rng.integers(0, 4, 200)
        assert categories(np.eye(4)[code]) == [(0, 1, 2, 3)]
        # Without the column that says where it is missing, no set adds up to one.
        assert categories(np.eye(4)[code][:, :3]) == []

    def test_a_value_of_many_rows_is_an_atom(self, rng):
        x = np.where(rng.random(500) < 0.3, 0.0, rng.gamma(2.0, 1.0, 500))
        layout = Layout.of(x[:, None])
        assert layout.atoms.tolist() == [0.0]
        np.testing.assert_array_equal(layout.at_atom(x[:, None])[:, 0], x == 0.0)

    def test_a_level_that_no_row_had(self, rng):
        X = np.eye(3)[rng.integers(0, 3, 100)]
        assert Layout.of(X).codes(np.zeros((1, 3))).tolist() == [[3]]


class TestTree:
    def test_probabilities_add_up_to_one(self, rng):
        codes = rng.integers(0, 2, (300, 3))
        codes[:, 2] = codes[:, 0] ^ (rng.random(300) < 0.1)
        tree = LevelTree.fit(codes, np.ones(300), [2, 2, 2])
        every = np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3)
        assert np.exp(tree.log_probability(every)).sum() == pytest.approx(1.0, rel=1e-12)
        assert {tree.parent[0], tree.parent[2]} == {-1, 0} or tree.parent[0] == 2
        assert tree.parent[1] == -1

    def test_draws_have_the_probabilities(self, rng):
        codes = rng.integers(0, 3, (500, 2))
        codes[:, 1] = (codes[:, 0] + (rng.random(500) < 0.2)) % 3
        tree = LevelTree.fit(codes, np.ones(500), [3, 3], unseen=0.0)
        drawn = tree.sample(20_000, rng)
        assert drawn.max() == 2
        cell = np.bincount(drawn @ [3, 1], minlength=9)
        every = np.stack(np.meshgrid(range(3), range(3), indexing="ij"), -1).reshape(-1, 2)
        expected = 20_000 * np.exp(tree.log_probability(every))
        assert stats.chisquare(cell, expected * cell.sum() / expected.sum()).pvalue > 1e-3

    def test_a_level_without_rows_is_not_impossible(self, rng):
        tree = LevelTree.fit(rng.integers(0, 2, (50, 1)), np.ones(50), [4])
        assert np.isfinite(tree.log_probability(np.arange(5)[:, None])).all()


class TestShuffled:
    def test_draws_are_rows_that_a_table_can_have(self, far, rng):
        x = ShuffledColumns().fit(*far).sample(3000, rng)
        assert set(np.unique(x[:, 3:10])) == {0.0, 1.0}
        np.testing.assert_array_equal(x[:, 4:10].sum(axis=1), 1.0)
        assert np.isin(x[:, 10], np.concatenate(far)[:, 10]).all()

    def test_the_density_is_that_of_the_draws(self, far, rng):
        m = ShuffledColumns().fit(*far)
        x = m.sample(20_000, rng)
        for part in m.parts_:
            ratio = np.exp(part.log_density(x) - m.log_density(x))
            # Five standard errors of a mean of weights that are at most five.
            assert ratio.mean() == pytest.approx(1.0, abs=5 * ratio.std() / np.sqrt(len(x)))

    def test_zeros_and_dependent_columns_are_kept(self, rng):
        def draw(s):
            rain = np.where(rng.random(600) < 0.4, 0.0, rng.gamma(2.0, 1.0 + s, 600))
            a, b = rng.normal(s, 1.0, (2, 600))
            return np.column_stack([rain, a, b, a + b, np.full(600, 7.0)])

        m = ShuffledColumns().fit(draw(0.0), draw(1.0))
        x = m.sample(4000, rng)
        assert 0.3 < (x[:, 0] == 0.0).mean() < 0.5
        np.testing.assert_allclose(x[:, 3], x[:, 1] + x[:, 2], atol=1e-8)
        np.testing.assert_allclose(x[:, 4], 7.0)
        assert np.isfinite(m.log_density(x)).all()

    def test_auto_takes_it_where_columns_have_levels(self, far, rng):
        assert isinstance(build_chain(*far, rng)[0].auxiliary, ShuffledColumns)
        numbers = [rows[:, [0, 2]] for rows in far]
        assert isinstance(build_chain(*numbers, rng)[0].auxiliary, Bridge)

    def test_no_draws_off_the_subspace(self, rng):
        # A count that is the sum of two 0/1 columns would not be one after shuffling.
        rows = [(rng.random((400, 2)) < share).astype(float) for share in (0.2, 0.8)]
        rows = [np.column_stack([x, x.sum(axis=1), rng.normal(size=400)]) for x in rows]
        assert isinstance(build_chain(*rows, rng)[0].auxiliary, Bridge)


class TestMixedAnchor:
    def test_mass_is_one_over_levels_and_numbers(self, rng):
        level = rng.integers(0, 2, 800)
        X = np.column_stack([level, np.exp(rng.normal(level, 0.5))])
        line = np.geomspace(1e-4, 1e4, 40_001)
        fit = MixedAnchor().fit(X)
        mass = sum(
            np.trapezoid(
                np.exp(fit.score_samples(np.column_stack([np.full_like(line, k), line]))), line
            )
            for k in (0.0, 1.0)
        )
        # Less than one row in 800 is for a level that nobody has seen.
        assert mass == pytest.approx(1.0, abs=2e-3)

    def test_coordinates_do_not_matter(self, far):
        # An MDRE fits its anchors in coordinates that mix all columns.
        X, y = stack(*far)
        model = MDRE(None, anchor=MixedAnchor(), maps=None, critic="quadratic", l2=np.inf)
        with pytest.warns(UserWarning, match="linearly dependent"):
            found = model.fit(X, y).log_ratio(X)
        both = TwoSamples.of(*far)
        direct = LevelDensities().fit(Rows.of(both), Seeds(0))
        expected = direct.p.log_density(X) - direct.q.log_density(X)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)

    def test_student_t_numbers(self, rng):
        X = np.column_stack([rng.integers(0, 2, 2000), rng.standard_t(3, 2000)])
        normal, heavy = (MixedAnchor(None, tails).fit(X) for tails in ("normal", "student-t"))
        assert heavy.score_samples(X).mean() > normal.score_samples(X).mean() + 0.05
        assert heavy.density_.df < 10

    def test_tails_must_be_known(self, rng):
        with pytest.raises(ValueError, match=r"tails.*'cauchy'"):
            MixedAnchor(tails="cauchy").fit(rng.normal(size=(50, 2)))


class TestCandidates:
    def test_densities_of_levels_tell_samples_apart(self, rng):
        train = TwoSamples.of(mixed(1500, 0.3, rng), mixed(1500, -0.3, rng))
        test = TwoSamples.of(mixed(4000, 0.3, rng), mixed(4000, -0.3, rng))
        rows = Rows.of(train)
        assert LevelDensities().suits(train)
        fit = LevelDensities().settled(rows, Seeds(0)).fit(rows, Seeds(0))
        found = [fit.log_ratio(one.rows, np.zeros(len(one))) for one in test]
        truth = [mixed_log_ratio(one.rows, 0.3) for one in test]
        # Some twenty parameters a side cost about as many half nats in 1,500 rows.
        assert log_loss((found[0], found[1]), test) < log_loss((truth[0], truth[1]), test) + 0.02

    def test_numbers_alone_are_left_to_others(self, rng):
        assert not LevelDensities().suits(TwoSamples.of(*rng.normal(size=(2, 200, 3))))

    def test_trees_see_one_category(self, rng):
        X = np.column_stack([rng.normal(size=400), np.eye(30)[rng.integers(0, 30, 400)]])
        bins = Bins.of(X)
        assert bins(X).shape == (400, 2)
        np.testing.assert_array_equal(bins(X)[:, 0], X[:, 1:].argmax(axis=1))
        assert np.isnan(bins(np.zeros((1, 31)))[0, 0])

    def test_trees_split_many_levels(self, rng):
        effect = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)

        def draw(n, s):
            share = np.exp(0.5 * s * effect)
            level = rng.choice(40, size=n, p=share / share.sum())
            return np.column_stack([rng.normal(size=n), np.eye(40)[level]])

        train = Rows.of(TwoSamples.of(draw(1500, 1.0), draw(1500, -1.0)))
        fit = Trees(leaves=6, rounds=30).fit(train, Seeds(0))
        rows = np.column_stack([np.zeros(40), np.eye(40)])
        found = fit.log_ratio(rows, np.zeros(40))
        assert np.corrcoef(found, effect)[0, 1] > 0.95


class TestCompare:
    def test_across_a_chasm_the_mass_is_one(self, far, rng):
        with pytest.warns(UserWarning, match="linearly dependent"):
            c = compare(*far, random_state=0)
        assert isinstance(c.estimator.auxiliaries_[0], ShuffledColumns)
        for name in ("normalisation_p", "normalisation_q"):
            check = c.diagnostics[name]
            assert check.verdict == "ok"
            assert "m1" in check.advice
            assert check.value == pytest.approx(1.0, abs=0.1)
        truth = mixed_log_ratio(mixed(100_000, 2.0, rng), 2.0).mean()
        assert c.kl.low < truth < c.kl.high

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_frames_as_users_have_them(self, frame, rng):
        def draw(n, s):
            town = [f"t{k:02d}" for k in rng.choice(25, size=n, p=_tilted(25, 0.04 * s))]
            if s > 0:
                town[:2] = ["only here"] * 2
            amount = np.where(rng.random(n) < 0.3, 0.0, rng.gamma(2.0, 1.0 + 0.3 * s, n))
            age = rng.normal(40 + 4 * s, 10, n)
            age[rng.random(n) < 0.05] = np.nan
            kind = [None if u < 0.05 else "new" if u < 0.5 else "old" for u in rng.random(n)]
            return frame(
                {
                    "town": town,
                    "amount": amount,
                    "age": age.tolist(),
                    "kind": kind,
                    "visits": rng.poisson(3, n),
                }
            )

        p, q = draw(700, 1.0), draw(800, -1.0)
        # Two rows of a level are no proof that the other table lacks it: no warning.
        c = compare(p, q, missing="indicator", folds=2, random_state=0)
        assert 0 < c.kl.low
        for name in ("normalisation_p", "normalisation_q", "calibration"):
            assert c.diagnostics[name].verdict == "ok"
        assert np.isfinite(c.log_ratio(q)).all()

    def test_known_weights_come_out(self, rng):
        """Covariate shift on a table of prices: p is q, thinned by known weights."""
        n = 20_000
        carat = np.exp(rng.normal(-0.4, 0.58, n))
        cut = rng.choice(5, size=n, p=[0.03, 0.09, 0.22, 0.26, 0.40])
        price = np.exp(8.4 + 1.7 * np.log(carat) + 0.05 * cut + rng.normal(0, 0.13, n)).round()
        names = np.array(["fair", "good", "very good", "premium", "ideal"])
        table = {"carat": carat.round(2), "cut": names[cut], "price": price}
        log_weight = np.minimum(1.2 * (np.log(carat) + 0.4) + 0.25 * (cut - 3), 2.0)
        keep = np.flatnonzero(rng.random(n) < np.exp(log_weight - 2.0))[:1500]
        rest = np.arange(n - 2000, n)
        p, q = ({k: v[at] for k, v in table.items()} for at in (keep, rest))
        c = compare(p, q, random_state=0)
        assert np.corrcoef(c.log_ratio(q), log_weight[rest])[0, 1] > 0.97


def _tilted(k: int, s: float) -> np.ndarray:
    weight = np.exp(s * np.arange(k))
    return np.asarray(weight / weight.sum())
