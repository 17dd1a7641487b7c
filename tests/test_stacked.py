"""The stack as an estimator, and as the default of a comparison."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from isthmus import MDRE, StackedMDRE, compare, stack
from isthmus.candidates import LIBRARY, Neighbours, Ridge, Trees
from isthmus.candidates.base import limited


def wave(n, seed=0):
    """A wave in one of two columns: no family has it. The log-ratio is 1.2 sin(6 x) less a bit."""
    rng = np.random.default_rng(seed)

    def draw(tilt):
        x = rng.uniform(-1, 1, (6 * n, 2))
        keep = rng.random(len(x)) < np.exp(tilt * (np.sin(6 * x[:, 0]) - 1))
        return x[keep][:n]

    return draw(1.2), draw(0.0)


@pytest.fixture(scope="module")
def waves():
    X, y = stack(*wave(400))
    return X, y, StackedMDRE(random_state=0, folds=3).fit(X, y)


def told(model):
    return model.selection_.summary()


class TestFit:
    def test_a_wave_is_found(self, waves):
        _, _, model = waves
        p, q = wave(3000, 1)
        found = np.concatenate([model.log_ratio(x) for x in (p, q)])
        truth = 1.2 * np.sin(6 * np.concatenate([p, q])[:, 0])
        # The truth has a spread of .8; three quarters of its variance are found from 400 rows.
        assert np.corrcoef(found, truth)[0, 1] ** 2 > 0.75, told(model)
        assert model.single_ is None and model.selection_.stacked
        assert model.score(*stack(p, q)) > -np.log(2) + 0.05

    def test_the_ratio_is_the_weighted_sum_of_the_members(self, waves):
        X, _, model = waves
        before = np.zeros(len(X))
        if model.densities_ is not None:
            before = limited(model.densities_.log_ratio(X))
        total = model.constant_ + model.first_ * before
        for coefficient, member in model.members_:
            total = total + coefficient * member.log_ratio(
                X, before if model.before_ else 0 * before
            )
        np.testing.assert_allclose(model.log_ratio(X), total, atol=1e-9)
        counted = [one.coefficient for one in model.selection_.members if one.coefficient > 0]
        assert len(counted) == len(model.members_) + (model.first_ > 0)

    def test_coefficients_are_not_negative(self, waves):
        assert all(one.coefficient >= 0 for one in waves[2].selection_.members)
        assert model_names(waves[2])[0] == "fitted densities"

    def test_normals_rest_on_normals(self):
        rng = np.random.default_rng(0)
        X, y = stack(rng.normal(0.5, 1, (600, 3)), rng.normal(-0.5, 1.5, (600, 3)))
        model = StackedMDRE(random_state=0, folds=3).fit(X, y)
        assert isinstance(model.single_, MDRE) and not model.selection_.stacked, told(model)
        np.testing.assert_array_equal(model.log_ratio(X), model.single_.log_ratio(X))
        assert "normal" in model.selection_.rests_on

    def test_across_a_chasm_it_is_mdre_with_an_auxiliary(self):
        rng = np.random.default_rng(0)
        X, y = stack(rng.normal(-1, 0.1, 300), rng.normal(1, 0.2, 300))
        model = StackedMDRE(random_state=0, folds=3).fit(X, y)
        assert model.single_ is not None and len(model.single_.class_names_) > 2
        # The truth is 50.7; the error of q's width, of 6 % in its square, is most of it.
        assert abs(model.log_ratio([[-1.0]])[0] - 50.7) < 10

    def test_columns_of_levels_have_no_density_to_search_for(self):
        rng = np.random.default_rng(0)
        p = rng.binomial(1, [0.7, 0.5, 0.5], (400, 3)).astype(float)
        q = rng.binomial(1, [0.3, 0.5, 0.5], (400, 3)).astype(float)
        model = StackedMDRE(random_state=0, folds=3).fit(*stack(p, q))
        one, other = model.log_ratio([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        # log(7/3) and its negative, with a standard error of about .15.
        assert one - other == pytest.approx(2 * np.log(7 / 3), abs=0.6)

    def test_candidates_that_are_given(self):
        X, y = stack(*wave(300))
        model = StackedMDRE([Trees(), Neighbours()], folds=2, random_state=0).fit(X, y)
        assert model_names(model) == ["fitted densities", "boosted trees", "neighbours"]
        none = StackedMDRE([], folds=2, random_state=0).fit(X, y)
        assert model_names(none) == ["fitted densities"]
        assert np.isfinite(none.log_ratio(X)).all()

    def test_rows_of_weight_zero_are_not_there(self):
        X, y = stack(*wave(150))
        weight = np.random.default_rng(0).integers(0, 2, len(X)).astype(float)
        wild = np.where(weight[:, None] > 0, X, 1e6)
        settings = {"folds": 2, "random_state": 0}
        one = StackedMDRE([Ridge(), Neighbours()], **settings).fit(wild, y, weight)
        other = StackedMDRE([Ridge(), Neighbours()], **settings).fit(X[weight > 0], y[weight > 0])
        np.testing.assert_array_equal(one.log_ratio(X), other.log_ratio(X))

    def test_the_scale_of_weights_is_irrelevant(self):
        X, y = stack(*wave(150))
        weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
        one, other = (
            StackedMDRE(folds=2, random_state=0).fit(X, y, scale * weight) for scale in (1.0, 64.0)
        )
        np.testing.assert_allclose(one.log_ratio(X), other.log_ratio(X), atol=1e-6)

    def test_swapping_p_and_q(self):
        X, y = stack(*wave(300))
        there = StackedMDRE(random_state=0, folds=3).fit(X, y).log_ratio(X)
        back = StackedMDRE(random_state=0, folds=3).fit(X, 1 - y).log_ratio(X)
        # Rows that candidates draw are others: the same up to what 300 rows leave open.
        assert np.corrcoef(there, -back)[0, 1] > 0.97
        assert abs(np.mean(there + back)) < 0.1


def model_names(model):
    return [one.name for one in model.selection_.members]


class TestBehaviour:
    def test_the_same_seed_gives_the_same(self, waves):
        X, y, model = waves
        again = StackedMDRE(random_state=0, folds=3).fit(X, y)
        np.testing.assert_array_equal(again.log_ratio(X), model.log_ratio(X))
        np.testing.assert_array_equal(again.crossfit_.log_ratio_p, model.crossfit_.log_ratio_p)

    def test_jobs_make_no_difference(self, waves):
        X, y, model = waves
        two = StackedMDRE(random_state=0, folds=3, n_jobs=2).fit(X, y)
        np.testing.assert_array_equal(two.log_ratio(X), model.log_ratio(X))
        np.testing.assert_array_equal(two.crossfit_.log_ratio_q, model.crossfit_.log_ratio_q)
        np.testing.assert_array_equal(
            two.crossfit_.smaller.log_ratio_p, model.crossfit_.smaller.log_ratio_p
        )

    def test_pickles_and_clones(self, waves):
        X, _, model = waves
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.log_ratio(X), model.log_ratio(X))
        assert again.selection_.rests_on == model.selection_.rests_on
        assert clone(model).get_params() == model.get_params()
        assert not hasattr(clone(model), "members_")

    def test_a_refused_fit_loses_nothing(self, waves):
        X, y, _ = waves
        model = StackedMDRE([Ridge()], folds=2, random_state=0).fit(X, y)
        before = model.log_ratio(X)
        with pytest.raises(ValueError, match="X"):
            model.fit(np.full_like(X, np.nan), y)
        with pytest.raises(ValueError, match="folds"):
            model.set_params(folds=1).fit(X, y)
        np.testing.assert_array_equal(model.log_ratio(X), before)

    def test_a_second_fit_leaves_nothing_of_the_first(self, waves):
        X, y, _ = waves
        rng = np.random.default_rng(0)
        far = stack(rng.normal(-1, 0.1, (100, 1)), rng.normal(1, 0.2, (100, 1)))
        model = StackedMDRE(folds=2, random_state=0).fit(X, y).fit(*far)
        once = StackedMDRE(folds=2, random_state=0).fit(*far)
        np.testing.assert_array_equal(model.log_ratio(far[0]), once.log_ratio(far[0]))
        assert model.selection_.members == [] and model.n_features_in_ == 1

    @pytest.mark.parametrize(
        ("how", "match"),
        [
            ({"folds": 1}, "folds"),
            ({"folds": 2.5}, "folds"),
            ({"n_jobs": "many"}, "n_jobs"),
            ({"random_state": -1}, "random_state"),
        ],
    )
    def test_bad_parameters(self, waves, how, match):
        X, y, _ = waves
        with pytest.raises(ValueError, match=match):
            StackedMDRE(**how).fit(X, y)

    @pytest.mark.parametrize("n", [3, 12, 30])
    @pytest.mark.parametrize("folds", [None, 2])
    def test_few_rows(self, n, folds):
        rng = np.random.default_rng(0)
        X, y = stack(rng.normal(size=(n, 3)), rng.normal(0.5, 1, (n + 2, 3)))
        model = StackedMDRE(folds=folds, random_state=0).fit(X, y)
        assert np.isfinite(model.log_ratio(X)).all()
        if folds == 2 and n > 3:
            c = compare(*(X[y == k] for k in (1, 0)), folds=2, random_state=0)
            assert 0 <= c.kl.low <= c.kl.high

    @pytest.mark.parametrize(("rows", "folds"), [(2, None), (5, 5)])
    def test_too_few_rows_are_refused(self, rows, folds):
        X, y = stack(np.arange(rows * 1.0), np.arange(20.0))
        with pytest.raises(ValueError, match=rf"folds, {folds or 2}; received {rows} and 20"):
            StackedMDRE(folds=folds).fit(X, y)


class TestInAComparison:
    def test_the_default(self):
        c = compare(*wave(400), random_state=0, folds=3)
        assert isinstance(c.estimator, StackedMDRE) and c.kl.method == "learned"
        assert c.rests_on == c.estimator.selection_.rests_on
        # The truth by a mean over many rows: .33 nats.
        x = np.random.default_rng(0).uniform(-1, 1, 100_000)
        density = np.exp(1.2 * np.sin(6 * x))
        truth = float((density * np.log(density / density.mean())).mean() / density.mean())
        assert c.kl.low < truth < c.kl.high
        assert c.trusted

    def test_a_critic_asks_for_one_mdre(self):
        c = compare(*wave(100), critic="quadratic", folds=2, random_state=0)
        assert isinstance(c.estimator, MDRE)

    def test_pickles(self):
        c = compare(*wave(150), random_state=0, folds=2)
        again = pickle.loads(pickle.dumps(c))
        assert again.kl == c.kl and again.rests_on == c.rests_on
        assert dict(again.diagnostics) == dict(c.diagnostics)

    def test_only_an_mdre_has_auxiliaries_and_deviations(self):
        c = compare(*wave(200), random_state=0, folds=2)
        assert isinstance(c.estimator, StackedMDRE)
        with pytest.raises(ValueError, match=r"must be an MDRE.*critic="):
            c.log_ratio([[0.0, 0.0]], return_std=True)
        with pytest.raises(ValueError, match=r"numerator and denominator.*'m1'.*critic="):
            c.log_ratio([[0.0, 0.0]], "p", "m1")

    def test_rows_that_repeat_leak_nothing(self):
        # p = q over 0/1 columns: a row has copies in every fold, and none may tell its label.
        values = []
        for seed in range(6):
            rng = np.random.default_rng(seed)
            p, q = (rng.binomial(1, [0.5, 0.3, 0.1, 0.5], (300, 4)).astype(float) for _ in "pq")
            c = compare(p, q, random_state=seed, folds=5)
            assert c.kl.low == 0.0 and c.trusted, c.estimator.selection_.summary()
            values.append(c.kl.value)
        # Counting sixteen levels would give 15 / 2 * (1 / 300 + 1 / 300) = .05 nats of noise.
        assert np.abs(values).max() < 0.05 and abs(np.mean(values)) < 0.02


def test_the_library_is_named():
    names = [one.name for one in LIBRARY]
    assert len(set(names)) == len(names) and all(names)
