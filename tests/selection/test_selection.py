"""What "auto" chooses, how it is recorded, and what cannot change it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GridSearchCV

from isthmus import MDRE, compare, problems, stack
from isthmus.anchors import (
    AutoAnchor,
    CopulaAnchor,
    GaussianAnchor,
    MixtureAnchor,
    Pooled,
    StudentTAnchor,
)
from isthmus.anchors.truncated import TruncatedAnchor
from isthmus.auxiliaries import LinearMixing
from isthmus.functionals import get_divergence
from isthmus.selection.choose import LEAST_ROWS
from isthmus.uncertainty.delta import choice_range

# The critic is no part of the choice of anchors, and takes longest.
ANCHORS_ONLY = {"auxiliaries": "bridge", "critic": "quadratic", "l2": np.inf, "random_state": 0}


def normals(n=400, d=2, seed=0, shift=0.7):
    rng = np.random.default_rng(seed)
    return stack(rng.normal(0, 1, (n, d)), rng.normal(shift, 1.3, (n, d)))


def kinds(model):
    """Families of the chosen anchors, for p and for q."""
    anchor = model.best_params_["anchor"]
    return [type(one) for one in anchor] if isinstance(anchor, tuple) else [type(anchor)] * 2


@pytest.fixture(scope="module")
def searched():
    X, y = normals()
    return X, y, MDRE(random_state=0).fit(X, y)


class TestClearCases:
    def test_normals_have_gaussian_anchors_and_no_residual(self, searched):
        _, _, model = searched
        table = model.selection_.summary()
        assert kinds(model) == [GaussianAnchor, GaussianAnchor], table
        assert model.best_params_["maps"] is None
        assert model.best_params_["l2"] == np.inf, table
        assert model.solution_.iterations == 0

    def test_lognormal_columns_are_mapped_or_have_margins_of_their_own(self):
        rng = np.random.default_rng(1)
        n, gap = 1000, 0.8
        p, q = np.exp(rng.normal(0, 1, (n, 2))), np.exp(rng.normal(gap, 1, (n, 2)))
        model = MDRE(**ANCHORS_ONLY).fit(*stack(p, q))
        table = model.selection_.summary()
        assert model.best_params_["maps"] is not None or CopulaAnchor in kinds(model), table
        # In the logarithms, two normals a gap apart in each of two columns: KL is gap^2, and its
        # standard error at maximum likelihood, by the delta method in means and widths:
        error = np.sqrt(2 * (gap**2 * 2 / n + 0.5 * gap**4 / n))
        assert abs(model.log_ratio(p).mean() - gap**2) < 4 * error, table

    def test_heavy_tails_have_student_t_anchors(self):
        rng = np.random.default_rng(2)
        n, d = 1000, 5

        def draw(df):
            return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(df, (n, 1)) / df)

        model = MDRE(**ANCHORS_ONLY).fit(*stack(draw(3), draw(30)))
        assert kinds(model)[0] is StudentTAnchor, model.selection_.summary()
        # Thirty degrees of freedom are nearly a normal.
        assert kinds(model)[1] in (StudentTAnchor, GaussianAnchor), model.selection_.summary()

    @pytest.mark.parametrize("seed", range(2))
    def test_tails_a_little_heavier_than_normal_are_seen(self, seed):
        # Twice the gain in log-likelihood is some 40 on average, where log n is 7.3.
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2000, 10)) / np.sqrt(rng.chisquare(30, (2000, 1)) / 30)
        assert AutoAnchor().fit(X).choice_ == "student-t"
        assert AutoAnchor().fit(rng.normal(size=(2000, 10))).choice_ == "gaussian"

    @pytest.mark.parametrize("seed", range(2))
    def test_many_columns_do_not_make_a_normal_heavy_tailed(self, seed):
        """With ten rows a column, fits without their noise would say otherwise every time."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(800, 60))
        assert AutoAnchor().fit(X).choice_ == "gaussian"
        tail = np.sqrt(rng.chisquare(10, size=(800, 1)) / 10)
        assert AutoAnchor().fit(X / tail).choice_ == "student-t"

    def test_one_shape_at_two_places_is_not_tried_where_shapes_differ(self):
        rng = np.random.default_rng(0)
        rows = [rng.normal(size=(1500, 5)), 4 + rng.normal(size=(1500, 5))]

        def tried(p, q):
            model = MDRE(random_state=0).fit(*stack(p, q))
            return [trial.name for trial in model.selection_.trials if "moved" in trial.name]

        assert tried(*rows)
        # A fifth wider: far apart as they are, the classes are told from each other all the same.
        assert not tried(rows[0], 4 + 1.2 * (rows[1] - 4))

    @pytest.mark.parametrize("seed", range(2))
    def test_a_shift_of_few_rows_in_many_columns_is_not_missed(self, seed):
        # Two covariances of 820 entries each are too many for 300 rows; one and two means are not.
        rng = np.random.default_rng(seed)
        n, d, kl = 300, 40, 2.0
        p, q = rng.normal(size=(n, d)) + np.sqrt(2 * kl / d), rng.normal(size=(n, d))
        model = MDRE(**ANCHORS_ONLY).fit(*stack(p, q))
        assert model.best_params_["anchor"].places == "two", model.selection_.summary()
        fresh = rng.normal(size=(4000, d)) + np.sqrt(2 * kl / d)
        # The shift in the coordinates of the true discriminant: gap^2 / 2, with gap known to
        # sqrt(2 / n), and squared distances to sqrt(2 d) / n through the other columns.
        gap = np.sqrt(2 * kl)
        error = gap * np.sqrt(2 / n) + np.sqrt(2 * d) / n
        assert abs(model.log_ratio(fresh).mean() - kl) < 4 * error, model.selection_.summary()

    def test_two_far_modes_are_a_mixture(self):
        rng = np.random.default_rng(3)
        n = 1000
        p = np.where(rng.random((n, 1)) < 0.5, -4.0, 4.0) + rng.normal(size=(n, 2))
        q = 2.0 * rng.normal(size=(n, 2))
        model = MDRE(**ANCHORS_ONLY).fit(*stack(p, q))
        assert kinds(model) == [MixtureAnchor, GaussianAnchor], model.selection_.summary()
        modes = [stats.multivariate_normal([m, m]).logpdf(p) for m in (-4.0, 4.0)]
        log_p = np.logaddexp(*modes) - np.log(2)
        truth = log_p - stats.multivariate_normal([0, 0], 4.0).logpdf(p)
        # By the delta method in the mean and the covariance of q, whose noise is multiplied by
        # how far the second moments of p are from those of q.
        scatter = p.T @ p / n / 4.0 - np.eye(2)
        error = np.sqrt(((p.mean(axis=0) ** 2).sum() / 4 + 0.5 * (scatter**2).sum()) / n)
        assert abs((model.log_ratio(p) - truth).mean()) < 4 * error

    def test_equal_distributions_have_one_anchor(self):
        rng = np.random.default_rng(4)
        X, y = stack(rng.normal(size=(600, 4)), rng.normal(size=(600, 4)))
        model = MDRE(random_state=0).fit(X, y)
        assert kinds(model) == [Pooled, Pooled], model.selection_.summary()
        # Two separate fits would be off by sqrt(2 * (4 + 10) / 600) = 0.2 nats at a row.
        assert np.abs(model.log_ratio(X)).max() < 0.05, model.selection_.summary()

    def test_normals_that_are_cut_off(self):
        problem = problems.load("table3/row1")
        p, q = problem.sample_p(1000, 0), problem.sample_q(1000, 0)
        model = MDRE(**ANCHORS_ONLY).fit(*stack(p, q))
        assert kinds(model) == [TruncatedAnchor, TruncatedAnchor], model.selection_.summary()

    def test_a_residual_that_no_anchor_sees_is_learned(self):
        # A ring against a normal: with a gaussian anchor given, the critic has it.
        rng = np.random.default_rng(6)
        angle = rng.uniform(0, 2 * np.pi, 600)
        p = 3.0 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.4 * rng.normal(size=(600, 2))
        q = 2.0 * rng.normal(size=(600, 2))
        given = {"auxiliaries": "bridge", "anchor": "gaussian", "maps": None}
        model = MDRE(**given, random_state=0).fit(*stack(p, q))
        assert np.isfinite(model.best_params_["l2"]), model.selection_.summary()
        assert model.best_params_["anchor"] == "gaussian"
        assert model.best_params_["maps"] is None
        on, centre = model.log_ratio([[3.0, 0.0], [0.0, 0.0]])
        # The truth is 1.4 on the ring, which is 0.4 thick, and far below zero in its middle.
        # A smooth critic falls short; one that saw nothing would have it the other way round.
        assert on > 0.5
        assert centre < -2.0


class TestRecord:
    def test_every_stage_starts_once_and_is_measured(self, searched):
        _, _, model = searched
        trials = model.selection_.trials
        stages = [stage for stage, _ in itertools.groupby(trial.stage for trial in trials)]
        assert stages[:2] == ["anchor", "critic"]
        assert len(set(stages)) == len(stages)
        for stage in ("anchor", "critic"):
            mine = [trial for trial in trials if trial.stage == stage]
            start = [trial for trial in mine if trial.gain == 0.0 and trial.std_error == 0.0]
            assert start == mine[:1]
            assert mine[0].chosen
        values = np.array([[t.score, t.gain, t.std_error] for t in trials])
        assert np.isfinite(values).all()
        assert (values[:, 0] < 0).all()
        assert (values[:, 2] >= 0).all()

    def test_summary_has_a_line_for_every_trial(self, searched):
        _, _, model = searched
        selection = model.selection_
        lines = selection.summary().splitlines()
        assert len(lines) >= 1 + len(selection.trials)
        for line, trial in zip(lines[1:], selection.trials, strict=False):
            assert trial.name in line
            assert line.startswith("*") == trial.chosen

    def test_the_choice_can_be_given(self, searched):
        X, y, model = searched
        assert "auto" not in [v for v in model.best_params_.values() if isinstance(v, str)]
        given = MDRE(random_state=0).set_params(**model.best_params_).fit(X, y)
        assert given.selection_.trials == []
        assert given.selection_.rule == given.selection_.summary()
        np.testing.assert_array_equal(given.log_ratio(X), model.log_ratio(X))

    def test_what_was_given_is_kept(self):
        X, y = normals(300)
        model = MDRE("bridge", anchor="student-t", random_state=0).fit(X, y)
        assert [type(anchor) for anchor in model.anchors_] == [StudentTAnchor, StudentTAnchor]
        model = MDRE("bridge", maps=["asinh", None], critic="diagonal", random_state=0).fit(X, y)
        assert model.best_params_["maps"] == ["asinh", None]
        assert str(model.best_params_["critic"]) in ("diagonal", "Diagonal()")

    @pytest.mark.parametrize("critic", ["auto", "quadratic"])
    def test_a_penalty_that_was_given_is_kept(self, critic):
        X, y = normals(300)
        model = MDRE("bridge", critic=critic, l2=3.0, random_state=0).fit(X, y)
        assert model.best_params_["l2"] == 3.0, model.selection_.summary()
        assert model.l2_ == 3.0

    def test_the_estimators_own_parameters_stay_auto(self, searched):
        _, _, model = searched
        for name in model.best_params_:
            assert model.get_params()[name] == "auto"


class TestSteadiness:
    def test_the_same_seed_gives_the_same_answer(self, searched):
        X, y, model = searched
        again = MDRE(random_state=0).fit(X, y)
        assert again.selection_ == model.selection_
        np.testing.assert_array_equal(again.log_ratio(X), model.log_ratio(X))

    @pytest.mark.parametrize("side", [0, 1])
    def test_an_outlier_does_not_make_the_anchors_one(self, side):
        X, y = normals(500, 1)
        plain = MDRE(**ANCHORS_ONLY).fit(X, y)
        wild = X.copy()
        wild[np.flatnonzero(y == side)[7]] = 1e4
        model = MDRE(**ANCHORS_ONLY).fit(wild, y)
        for one in (plain, model):
            means = [anchor.component_.mean[0] for anchor in one.anchors_]
            assert means[0] != means[1], one.selection_.summary()

    def test_weights_count_in_the_choice(self):
        # By weight the two samples are alike; rows of next to no weight lie elsewhere.
        rng = np.random.default_rng(0)
        n = 400
        p, q = (
            np.concatenate([rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + 4.0])
            for _ in range(2)
        )
        X, y = stack(p, q)
        weight = np.tile(np.repeat([1.0, 1e-3], n), 2)
        model = MDRE(**ANCHORS_ONLY).fit(X, y, weight)
        without = MDRE(**ANCHORS_ONLY).fit(X[weight == 1], y[weight == 1])
        assert kinds(without) == [Pooled, Pooled], without.selection_.summary()
        assert kinds(model) == [Pooled, Pooled], model.selection_.summary()

    @pytest.mark.parametrize("count", [LEAST_ROWS - 1, LEAST_ROWS])
    def test_few_rows_have_a_rule(self, count):
        rng = np.random.default_rng(0)
        X, y = stack(rng.gamma(2.0, 1.0, (count, 2)), rng.gamma(3.0, 1.0, (2 * count, 2)))
        model = MDRE(random_state=0).fit(X, y)
        if count == LEAST_ROWS:
            assert model.selection_.trials
            return
        assert model.selection_.trials == []
        assert f"Fewer than {LEAST_ROWS} rows" in model.selection_.summary()
        assert model.best_params_["maps"] is None
        assert model.best_params_["anchor"] == "gaussian"
        assert model.best_params_["critic"] == "quadratic"
        # The number of coefficients of a class: one, two, and three products.
        assert model.l2_ == 6.0


def test_grid_search_over_the_number_of_auxiliaries():
    X, y = normals(200)
    alphas = [[0.5], [0.33, 0.67], [0.25, 0.5, 0.75]]
    grid = {"auxiliaries": [LinearMixing(a) for a in alphas]}
    given = {"maps": None, "anchor": "gaussian", "critic": "quadratic", "random_state": 0}
    search = GridSearchCV(MDRE(**given), grid, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_
    assert len(best.class_names_) == 2 + len(search.best_params_["auxiliaries"].alphas)
    assert np.isfinite(best.log_ratio(X)).all()


class TestAlternatives:
    def test_anchors_that_fit_as_well_widen_the_interval(self):
        rng = np.random.default_rng(103)
        p, q = rng.logistic(size=(500, 2)), rng.logistic(12.0, size=(500, 2))
        c = compare(p, q, random_state=103)
        selection = c.estimator.selection_
        values = np.array(selection.by_anchor)
        assert len(values) > 1, selection.summary()
        divergence = get_divergence("kl")
        below, above = choice_range(divergence, c.estimator.facts.alternatives)
        assert below == pytest.approx(max(0.0, values[0] - values.min()))
        assert above == pytest.approx(max(0.0, values.max() - values[0]))
        # Normals or Student-t, which no row refuses where the other sample lies, count too.
        gaps = [divergence.value(*rival) - c.by_fit("kl").value for rival in c.crossfit.rivals]
        below, above = max(below, *(-gap for gap in gaps)), max(above, *gaps)
        # As the fit has it: where a check objects, the interval is a bound and has one end.
        kl = c.by_fit("kl")
        half = 1.959964 * kl.std_error
        assert kl.low == pytest.approx(max(0.0, kl.value - half - below), abs=1e-4)
        assert kl.high == pytest.approx(kl.value + half + above, rel=1e-5)

    def test_settings_that_were_given_have_none(self):
        X, y = normals(200)
        model = MDRE(anchor="gaussian", maps=None, critic="quadratic", l2=np.inf).fit(X, y)
        assert choice_range(get_divergence("kl"), model.facts.alternatives) == (0.0, 0.0)
