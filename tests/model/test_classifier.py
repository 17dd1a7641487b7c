"""Classifiers as critics, trees chosen by themselves, and the paper's own settings."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import MDRE, compare, problems, stack
from isthmus.auxiliaries import Bridge, Cauchy, DimensionWiseMixing, LinearMixing
from isthmus.model.adam import Adam
from isthmus.model.classifier import is_classifier

GRID = np.linspace(-1.0, 2.0, 61)[:, None]


def trees(**settings):
    return HistGradientBoostingClassifier(**{"max_iter": 30, **settings})


def logistic():
    return make_pipeline(StandardScaler(), LogisticRegression())


def normals(n_p=4000, n_q=4000, seed=0):
    """N(0, 1) and N(1, 1), whose log-ratio is 1/2 - x."""
    rng = np.random.default_rng(seed)
    return stack(rng.normal(0, 1, n_p), rng.normal(1, 1, n_q))


def error(model):
    """Error of the log-ratio between one standard deviation below p and one above q."""
    return model.log_ratio(GRID) - (0.5 - GRID[:, 0])


def with_gaps(n=400, share=0.2, seed=0):
    """Two columns of normals with missing values, missing at random."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(0, 1, (n, 2)), rng.normal(1, 1, (n, 2))
    for rows in (p, q):
        rows[rng.random(rows.shape) < share] = np.nan
    return p, q


@pytest.fixture(scope="module")
def boosted():
    return MDRE(critic=trees(), random_state=0).fit(*normals())


class TestLogRatio:
    def test_logistic_regression_is_the_right_model(self):
        model = MDRE(auxiliaries=None, critic=logistic(), random_state=0).fit(*normals())
        # The slope has a standard error of about 1 / sqrt(8000 * .2), as p (1 - p) is .2 on
        # average, and so does the level; 1.5 away from the middle that makes .045.
        assert np.abs(error(model)).max() < 4 * 0.045

    def test_boosted_trees(self, boosted):
        # Steps of noise: a leaf holds 20 rows or more, so its log-odds are off by up to
        # 2 / sqrt(20) = .45, averaged over thirty trees. A ratio of one would be off by .77.
        assert np.abs(error(boosted)).mean() < 0.35
        # The noise cancels over the range.
        assert abs(error(boosted).mean()) < 0.15

    def test_other_pairs_of_classes(self, boosted):
        assert boosted.class_names_ == ["p", "q", "m1"]
        through = boosted.log_ratio(GRID, "p", "m1") + boosted.log_ratio(GRID, "m1", "q")
        np.testing.assert_allclose(through, boosted.log_ratio(GRID), atol=1e-9)
        # The density of m is known: that of p follows, log N(x; 0, 1).
        own = boosted.log_ratio(GRID, "p", "m1")
        own += boosted.auxiliaries_[0].log_density(GRID)
        truth = -0.5 * GRID[:, 0] ** 2 - 0.5 * np.log(2 * np.pi)
        assert abs((own - truth).mean()) < 0.2

    @pytest.mark.parametrize("critic", [trees(), logistic()], ids=["weights", "no weights"])
    @pytest.mark.parametrize("auxiliaries", ["auto", None])
    def test_unequal_samples_do_not_make_odds_of_the_ratio(self, critic, auxiliaries):
        model = MDRE(auxiliaries, critic=critic, random_state=0).fit(*normals(6000, 2000))
        # Odds would be off by log 3 = 1.1 everywhere.
        assert abs(error(model).mean()) < 0.2

    def test_a_given_prior_is_no_part_of_the_ratio(self):
        X, y = normals()
        model = MDRE(None, critic=trees(), prior=[0.8, 0.2], random_state=0).fit(X, y)
        assert abs(error(model).mean()) < 0.2
        np.testing.assert_allclose(np.exp(model.log_prior_), [0.8, 0.2])
        # But of the probabilities.
        odds = np.log(model.predict_proba(GRID)) @ [1.0, -1.0]
        np.testing.assert_allclose(odds, model.log_ratio(GRID) + np.log(4.0), atol=1e-6)


class TestProbabilities:
    @pytest.mark.parametrize(
        ("auxiliaries", "names"),
        [
            ("auto", ["p", "q", "m1"]),
            (None, ["p", "q"]),
            (LinearMixing([0.3, 0.7]), ["p", "q", "m1", "m2"]),
        ],
    )
    def test_columns_are_the_classes_and_rows_sum_to_one(self, auxiliaries, names):
        model = MDRE(auxiliaries, critic=trees(max_iter=5), random_state=0).fit(*normals(300, 400))
        probability = model.predict_proba(GRID)
        assert model.class_names_ == names
        assert probability.shape == (len(GRID), len(names))
        np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-12)
        assert (probability > 0).all()
        np.testing.assert_allclose(np.log(probability), model.predict_log_proba(GRID))

    def test_they_are_those_of_the_classifier(self, boosted):
        own = boosted.model_.classifier.predict_proba(GRID)
        np.testing.assert_allclose(boosted.predict_proba(GRID), own, atol=1e-9)

    def test_score_is_the_held_out_log_likelihood(self, boosted):
        X, y = normals(2000, 2000, seed=9)
        log_likelihood, accuracy = boosted.class_log_likelihood(X, y)
        # By chance: -log 3 and a third.
        assert boosted.score(X, y) == pytest.approx(log_likelihood.mean())
        assert boosted.score(X, y) > -np.log(3)
        assert accuracy.mean() > 0.4
        assert (boosted.predict(X) == y).mean() > 0.6


class TestMissingValues:
    def test_fit_and_log_ratio(self):
        p, q = with_gaps(2000)
        model = MDRE(critic=trees(), random_state=0).fit(*both(p, q))
        assert model.class_names_ == ["p", "q", "m1"]
        assert all(isinstance(one, DimensionWiseMixing) for one in model.auxiliaries_)
        # A row without anything is as likely under both; one without the second column has
        # the ratio of the first, 1/2 - x, and is told by it.
        x = np.array([[np.nan, np.nan], [-0.5, np.nan], [1.5, np.nan], [np.nan, 1.5]])
        np.testing.assert_allclose(model.log_ratio(x), [0.0, 1.0, -1.0, -1.0], atol=0.6)

    def test_a_missing_value_can_be_the_difference(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (2000, 2)), rng.normal(0, 1, (2000, 2))
        p[rng.random(2000) < 0.5, 0] = np.nan
        q[rng.random(2000) < 0.1, 0] = np.nan
        model = MDRE(critic=trees(), random_state=0).fit(*both(p, q))
        x = np.column_stack([np.full(200, np.nan), rng.normal(0, 1, 200)])
        assert abs(model.log_ratio(x).mean() - np.log(5)) < 0.35

    def test_compare(self):
        p, q = with_gaps()
        estimator = MDRE(critic=trees(max_iter=10))
        comparison = compare(p, q, estimator=estimator, folds=3, random_state=0)
        assert np.isfinite(comparison.log_ratio_p).all()
        assert np.isfinite(comparison.log_ratio(p)).all()
        assert 0 < comparison.kl.low < comparison.kl.value < comparison.kl.high
        assert isinstance(comparison.estimator.auxiliaries_[0], DimensionWiseMixing)

    def test_one_column_has_nothing_to_mix(self):
        p, q = with_gaps()
        model = MDRE(critic=trees(max_iter=5), random_state=0).fit(*both(p[:, :1], q[:, :1]))
        assert model.class_names_ == ["p", "q"]
        assert np.isfinite(model.log_ratio([[np.nan], [0.0]])).all()

    def test_without_gaps_the_bridge_is_taken(self, boosted):
        assert isinstance(boosted.auxiliaries_[0], Bridge)

    @pytest.mark.parametrize("critic", ["auto", "quadratic"])
    def test_our_critics_refuse_them(self, critic):
        p, q = with_gaps()
        bad = int(np.isnan(np.concatenate([p, q])).any(axis=1).sum())
        with pytest.raises(ValueError, match=f"X must be finite; received NaN in {bad} of 800"):
            MDRE(critic=critic).fit(*both(p, q))
        with pytest.raises(ValueError, match="p must be finite; received NaN"):
            compare(p, q, estimator=MDRE(critic=critic))
        model = MDRE(critic="quadratic", anchor="gaussian", maps=None, random_state=0)
        model.fit(*both(np.nan_to_num(p), np.nan_to_num(q)))
        with pytest.raises(ValueError, match="X must be finite; received NaN"):
            model.log_ratio(p)

    def test_infinity_is_refused_by_all(self):
        X, y = both(*with_gaps())
        X[3, 1] = np.inf
        with pytest.raises(ValueError, match="must be finite"):
            MDRE(critic=trees()).fit(X, y)


def both(p, q):
    """The two samples in one array, without a look at their values."""
    return np.concatenate([p, q]), np.repeat([1, 0], [len(p), len(q)])


class TestWeights:
    @pytest.mark.parametrize("auxiliaries", ["auto", None])
    def test_two_counts_as_the_row_given_twice(self, auxiliaries):
        X, y = normals(600, 500)
        weight = np.where(X[:, 0] > 0.3, 2.0, 1.0)
        twice = np.repeat(np.arange(len(X)), weight.astype(int))

        def fitted(X, y, weight=None):
            critic = LogisticRegression(tol=1e-8, max_iter=1000)
            model = MDRE(auxiliaries, critic=critic, random_state=0)
            return model.fit(X, y, sample_weight=weight).log_ratio(GRID)

        weighted, repeated, plain = fitted(X, y, weight), fitted(X[twice], y[twice]), fitted(X, y)
        np.testing.assert_allclose(weighted, repeated, atol=1e-3)
        assert np.abs(weighted - plain).max() > 0.05

    def test_roughly_so_for_trees(self):
        X, y = normals(3000, 3000)
        weight = np.where((X[:, 0] > 0.3) & (y == 1), 2.0, 1.0)
        twice = np.repeat(np.arange(len(X)), weight.astype(int))
        # The bins of trees are made of rows, not of weights.
        model = MDRE(None, critic=trees(), random_state=0)
        weighted = clone(model).fit(X, y, sample_weight=weight).log_ratio(GRID)
        repeated = clone(model).fit(X[twice], y[twice]).log_ratio(GRID)
        plain = clone(model).fit(X, y).log_ratio(GRID)
        assert np.abs(weighted - repeated).mean() < 0.5 * np.abs(weighted - plain).mean()

    def test_a_scale_for_one_class_changes_nothing(self):
        X, y = normals(600, 500)
        model = MDRE(None, critic=LogisticRegression(), random_state=0)
        weighted = clone(model).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
        assert abs((weighted.log_ratio(GRID) - model.fit(X, y).log_ratio(GRID)).mean()) < 0.05

    def test_nor_where_the_classifier_takes_no_weights(self):
        X, y = normals(600, 500)
        model = MDRE(None, critic=logistic(), random_state=0)
        weighted = clone(model).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
        assert abs((weighted.log_ratio(GRID) - model.fit(X, y).log_ratio(GRID)).mean()) < 0.05


class TestAsAnEstimator:
    def test_reproducible(self):
        X, y = normals(400, 300)

        def run(seed):
            critic = trees(max_iter=5, early_stopping=True)
            return MDRE(critic=critic, random_state=seed).fit(X, y).log_ratio(GRID)

        np.testing.assert_array_equal(run(0), run(0))
        assert not np.array_equal(run(0), run(1))

    def test_reproducible_within_a_pipeline(self):
        X, y = normals(400, 300)

        def run():
            forest = RandomForestClassifier(5, max_depth=4)
            critic = make_pipeline(StandardScaler(), forest)
            return MDRE(None, critic=critic, random_state=0).fit(X, y).log_ratio(GRID)

        np.testing.assert_array_equal(run(), run())

    def test_a_seed_of_the_classifier_is_kept(self):
        model = MDRE(critic=trees(max_iter=2, random_state=5), random_state=0)
        assert model.fit(*normals(300, 300)).model_.classifier.random_state == 5

    def test_the_callers_classifier_is_not_changed(self):
        given = trees(max_iter=5)
        before = given.get_params()
        model = MDRE(critic=given, random_state=0).fit(*normals(300, 300))
        assert given.get_params() == before
        assert not hasattr(given, "classes_")
        assert model.critic is given
        assert model.best_params_["critic"] is given
        assert model.model_.classifier is not given

    def test_clone_and_pickle(self, boosted):
        again = pickle.loads(pickle.dumps(boosted))
        np.testing.assert_array_equal(again.log_ratio(GRID), boosted.log_ratio(GRID))
        copy = clone(boosted)
        assert not hasattr(copy, "class_names_")
        assert copy.critic.get_params() == boosted.critic.get_params()
        copy.fit(*normals())
        np.testing.assert_array_equal(copy.log_ratio(GRID), boosted.log_ratio(GRID))

    def test_there_is_no_objective(self, boosted):
        for name in ("objective_", "critic_", "solution_", "anchors_", "l2_"):
            with pytest.raises(AttributeError):
                getattr(boosted, name)
            assert not hasattr(boosted, name)
        with pytest.raises(AttributeError, match="unless the critic is a classifier"):
            _ = boosted.objective_

    def test_a_refit_with_another_critic_leaves_nothing_behind(self):
        X, y = normals(300, 300)
        model = MDRE(critic="quadratic", anchor="gaussian", maps=None, random_state=0).fit(X, y)
        assert hasattr(model, "objective_") and hasattr(model, "solution_")
        model.set_params(critic=trees(max_iter=5)).fit(X, y)
        assert not hasattr(model, "objective_") and not hasattr(model, "solution_")
        model.set_params(critic="quadratic").fit(X, y)
        assert hasattr(model, "objective_")

    def test_what_counts_as_a_classifier(self):
        assert is_classifier(trees()) and is_classifier(logistic())
        assert not is_classifier("quadratic") and not is_classifier(None)
        with pytest.raises(ValueError, match="critic must be one of"):
            MDRE(critic=StandardScaler()).fit(*normals(50, 50))


class TestCompare:
    @pytest.fixture
    def comparison(self):
        X, y = normals(1500, 1000)
        estimator = MDRE(None, critic=logistic())
        return compare(X[y == 1], X[y == 0], estimator=estimator, folds=5, random_state=0)

    def test_interval(self, comparison):
        kl = comparison.kl
        assert 0 < kl.std_error < 0.2
        assert kl.low < 0.5 < kl.high, "the truth"
        # log p/q has standard deviation one: the error of evaluation alone.
        assert kl.std_error > 0.9 / np.sqrt(1500)
        assert comparison.divergence("js").std_error > 0

    def test_checks(self, comparison):
        checks = comparison.diagnostics
        assert {"accuracy", "normalisation_p", "normalisation_q"} <= set(checks)
        assert checks["normalisation_q"].verdict == "ok"
        assert not {"convergence", "anchors", "bridge"} & set(checks)
        assert checks["support"].verdict == "ok"
        assert comparison.trusted
        assert "kl=" in repr(comparison)


class TestChosenTrees:
    def test_zero_inflated_amounts(self):
        problem = problems.load("hard/zero-inflated")
        X, y = stack(problem.sample_p(3000, 0), problem.sample_q(3000, 0))
        fresh = problem.sample_p(20_000, 99)
        automatic = MDRE(random_state=0).fit(X, y)
        table = automatic.selection_.summary()
        assert isinstance(automatic.best_params_["critic"], HistGradientBoostingClassifier), table
        assert automatic.best_params_["anchor"] is None
        assert [t.name for t in automatic.selection_.trials if t.chosen][-1] == "boosted trees"
        assert len(automatic.selection_.reasons) == len(automatic.auxiliaries_)
        smooth = MDRE(critic="quadratic", random_state=0).fit(X, y)
        off = abs(automatic.log_ratio(fresh).mean() - problem.kl)
        # Of 0.91: about a tenth against a third.
        assert off < 0.12
        assert off < 0.5 * abs(smooth.log_ratio(fresh).mean() - problem.kl)
        # The choice can be set again, and gives the same.
        again = MDRE(random_state=0, **automatic.best_params_).fit(X, y)
        np.testing.assert_array_equal(again.log_ratio(fresh[:50]), automatic.log_ratio(fresh[:50]))

    def test_not_for_smooth_samples(self):
        rng = np.random.default_rng(0)
        model = MDRE(anchor="gaussian", maps=None, random_state=0)
        model.fit(*stack(rng.normal(0, 1, 300), rng.normal(1, 1, 300)))
        assert "boosted trees" not in [trial.name for trial in model.selection_.trials]


class TestPaper:
    def test_parameters(self):
        model = MDRE.paper("table2/40-shifted", random_state=7)
        (mixing,) = model.auxiliaries
        assert isinstance(mixing, LinearMixing)
        assert (mixing.alphas, mixing.form, mixing.merged) == ((0.35, 0.5, 0.85), "sqrt", False)
        assert model.critic == "quadratic"
        assert model.anchor is None and model.maps is None
        assert model.l2 == 0.0 and model.known_density is False
        assert model.random_state == 7 and mixing.paired is True
        # What the authors' notebooks have.
        assert model.solver == Adam(lr=0.05, steps=2000, batch_size=500, decay=True)
        one = MDRE.paper("table1/row1").solver
        assert one == Adam(lr=0.01, steps=52_800, batch_size=500, decay=False, replacement=False)
        # The rest is as ever.
        untouched = {"prior", "oversample", "tol", "max_iter", "verbose"}
        ours = MDRE().get_params(deep=False)
        theirs = model.get_params(deep=False)
        assert {name: theirs[name] for name in untouched} == {
            name: ours[name] for name in untouched
        }

    def test_others_can_be_set_and_none_is_shared(self):
        model = MDRE.paper("table1/row1", l2=0.5, known_density=True, solver="newton")
        assert (model.l2, model.known_density, model.random_state) == (0.5, True, None)
        assert isinstance(model.auxiliaries[0], Cauchy)
        assert MDRE.paper("table1/row1").auxiliaries[0] is not model.auxiliaries[0]
        assert MDRE.paper("table1/row1").l2 == 0.0

    @pytest.mark.parametrize("name", [n for n in problems.names() if n.startswith("table")])
    def test_every_problem_of_the_paper_has_its_settings(self, name):
        model = MDRE.paper(name)
        assert model.anchor is None and len(model.auxiliaries) >= 1
        assert [str(one) for one in model.auxiliaries] == [
            str(one) for one in problems.load(name).auxiliaries
        ]

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("hard/ring", "one of the paper's; received 'hard/ring'"),
            ("table2/41", "registered problem; received 'table2/41'"),
            (None, "registered problem; received None"),
        ],
    )
    def test_other_problems_are_refused(self, name, words):
        with pytest.raises(ValueError, match=words):
            MDRE.paper(name)

    def test_an_unknown_parameter_is_refused(self):
        with pytest.raises(TypeError, match="nonsense"):
            MDRE.paper("table1/row1", nonsense=1)

    def test_fits_as_many_draws_as_rows_and_learns_them(self):
        problem = problems.load("table1/row1")
        X, y = stack(problem.sample_p(500, 0), problem.sample_q(400, 0))
        model = MDRE.paper("table1/row1", solver="newton", random_state=0).fit(X, y)
        assert model.anchors_ == [] and model.l2_ == 0.0
        assert list(model.model_.offsets.learned) == [0, 1, 2]
        assert [len(sample) for sample in model.fitted_to_.rows(model.model_.offsets).given] == [
            500,
            400,
            500,
        ]
        # The paper's own estimate is within a few per cent at a hundred thousand rows.
        assert abs(model.log_ratio(problem.sample_p(5000, 1)).mean() / problem.kl - 1) < 0.25
