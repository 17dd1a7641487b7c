"""Checks of anchors, penalty and bridge; the accuracy band as a score; errors by leaving out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GridSearchCV

from isthmus import MDRE, Check, compare, stack
from isthmus.auxiliaries import LinearMixing
from isthmus.diagnostics import accuracy_band, check_anchors, check_bridge, check_rising
from isthmus.selection.record import Selection, Trial
from isthmus.uncertainty.delta import jackknife_std_error

FAST = {"auxiliaries": "bridge", "critic": "quadratic", "maps": None}


class TestCheckAnchors:
    @pytest.mark.parametrize(
        ("means", "value", "verdict"),
        [
            ([5.0], 0.0, "ok"),
            ([5.0, 5.5, 4.7], 0.16, "ok"),
            ([5.0, 6.5], 0.3, "warn"),
            ([5.0, 2.0, 7.1], 1.02, "fail"),
            # Relative to the chosen, which comes first.
            ([1.0, 3.0], 2.0, "fail"),
            ([3.0, 1.0], 2 / 3, "warn"),
            # Below a tenth of a nat nothing is relative any more.
            ([0.001, 0.011], 0.1, "ok"),
            ([0.0, 0.05], 0.5, "warn"),
            ([-5.0, -5.5], 0.1, "ok"),
        ],
    )
    def test_verdict(self, means, value, verdict):
        check = check_anchors(means)
        assert check.value == pytest.approx(value)
        assert check.verdict == verdict
        assert check.details == {"means": means}
        assert check.concerns == "ratio"

    def test_advice_names_the_range(self):
        assert "2 to 7.1" in check_anchors([5.0, 2.0, 7.1]).advice
        assert check_anchors([5.0, 5.1]).advice == "Anchors that fit equally well agree."


class TestCheckRising:
    def test_verdict(self):
        assert (check_rising(False).value, check_rising(False).verdict) == (0.0, "ok")
        check = check_rising(True)
        assert (check.value, check.verdict) == (1.0, "warn")
        assert "HistGradientBoostingClassifier" in check.advice

    def trial(self, stage="critic", chosen=True, weakest=False):
        return Trial(stage, "some", -1.0, 0.1, 0.01, chosen, weakest)

    @pytest.mark.parametrize(
        ("trials", "rising"),
        [
            ([], False),
            ([{}], False),
            ([{}, {"weakest": True}], True),
            ([{}, {"weakest": True, "chosen": False}], False),
            # A later critic that stopped earlier was better still.
            ([{"weakest": True}, {}], False),
            ([{"weakest": True}, {"chosen": False}], True),
            # Only penalties count.
            ([{"stage": "anchor", "weakest": True}], False),
            ([{"weakest": True}, {"stage": "auxiliary"}], True),
        ],
    )
    def test_rising_is_read_off_the_trials(self, trials, rising):
        assert Selection([self.trial(**one) for one in trials]).rising is rising


class TestCheckBridge:
    @pytest.mark.parametrize("learned", [True, False])
    def test_overlap_is_ok(self, learned):
        check = check_bridge({"p": 0.7, "q": 0.9}, learned)
        assert (check.value, check.verdict) == (0.9, "ok")
        assert check.details == {"p": 0.7, "q": 0.9}
        assert "70% from p and 90% from q" in check.advice

    def test_one_side_without_overlap_is_a_chasm(self):
        for accuracy in ({"p": 1.0, "q": 0.6}, {"p": 0.6, "q": 0.999}):
            check = check_bridge(accuracy, True)
            assert check.verdict == "warn" and check.value == max(accuracy.values())
            assert "not bridged" in check.advice

    def test_anchors_alone_need_no_bridge(self):
        check = check_bridge({"p": 1.0, "q": 0.6}, False)
        assert check.verdict == "ok" and "anchors alone" in check.advice


class TestAccuracyBand:
    def test_is_minus_the_distance_from_the_middle(self):
        class Told:
            accuracy = (0.9, 0.7, 0.8)

            def class_log_likelihood(self, X, y):
                return np.zeros(3), np.array(self.accuracy)

        assert accuracy_band(Told(), None, None) == pytest.approx(-(0.8 - 0.725))
        Told.accuracy = (1.0, 1.0, 1.0)
        assert accuracy_band(Told(), None, None) == pytest.approx(-0.275)
        Told.accuracy = (0.6, 0.85, 0.725)
        assert accuracy_band(Told(), None, None) == pytest.approx(0.0)

    def test_grid_search(self):
        rng = np.random.default_rng(0)
        X, y = stack(rng.normal(-3, 1, (150, 1)), rng.normal(3, 1, (150, 1)))
        options = [LinearMixing([k / (n + 1) for k in range(1, n + 1)]) for n in (1, 4, 9)]
        model = MDRE(critic="quadratic", anchor="gaussian", maps=None, l2=np.inf, random_state=0)
        search = GridSearchCV(model, {"auxiliaries": options}, scoring=accuracy_band, cv=3)
        search.fit(X, y)
        score = search.cv_results_["mean_test_score"]
        assert search.best_score_ == max(score) <= 0
        # One is told from p and q too easily, nine are hardly told from each other.
        assert np.argmax(score) == 1, score
        assert len(search.best_estimator_.auxiliaries_) == 4


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    p, q = rng.normal(0, 1, (400, 2)), rng.normal(1, 1, (400, 2))
    return compare(p, q, estimator=MDRE(**FAST), folds=2, random_state=0)


class TestInComparison:
    def test_has_the_new_checks(self, comparison):
        checks = comparison.diagnostics
        for name in ("anchors", "rising", "bridge"):
            assert isinstance(checks[name], Check)
            assert checks[name].verdict == "ok", checks[name]
        chosen = comparison.estimator.selection_
        assert checks["anchors"].details["means"] == chosen.by_anchor
        assert set(checks["bridge"].details) == {"p", "q"}
        assert all(0.5 < value < 0.95 for value in checks["bridge"].details.values())

    def test_the_first_mean_by_anchors_is_the_kl_of_the_chosen(self, comparison):
        # Truth 1, over a hundred held-out rows, log p/q has standard deviation 2^.5.
        assert abs(comparison.estimator.selection_.by_anchor[0] - 1.0) < 4 * np.sqrt(2 / 100)

    def test_a_missing_bridge_is_seen(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(-20, 1, (300, 1)), rng.normal(20, 1, (300, 1))
        far = rng.normal(500, 1, (300, 1))
        for l2, verdict in ((1.0, "warn"), (np.inf, "ok")):
            estimator = MDRE(far, critic="quadratic", anchor="gaussian", maps=None, l2=l2)
            checks = compare(p, q, estimator=estimator, folds=2, random_state=0).diagnostics
            assert checks["bridge"].value > 0.99
            assert checks["bridge"].verdict == verdict
            # Nothing was chosen.
            assert "anchors" not in checks and "rising" not in checks

    def test_no_bridge_to_judge_without_auxiliaries(self):
        rng = np.random.default_rng(0)
        estimator = MDRE([], critic="quadratic", anchor="gaussian", maps=None, l2=1.0)
        comparison = compare(
            rng.normal(0, 1, 200), rng.normal(1, 1, 200), estimator=estimator, random_state=0
        )
        assert "bridge" not in comparison.diagnostics


def leave_one_out(folds):
    """Means without each fold; folds of shape (..., groups), their means."""
    groups = folds.shape[-1]
    return (folds.sum(axis=-1, keepdims=True) - folds) / (groups - 1)


class TestJackknife:
    def inflation(self, groups, level):
        tail = 0.5 + 0.5 * level
        return stats.t.ppf(tail, groups - 1) / stats.norm.ppf(tail)

    @pytest.mark.parametrize("groups", [5, 10])
    @pytest.mark.parametrize("level", [0.8, 0.95])
    def test_variance_of_a_mean(self, groups, level):
        """On average it is the variance over n, times what Student's t asks for."""
        rng = np.random.default_rng(groups)
        n, sd, repeats = 500, 3.0, 400
        rows = rng.normal(7.0, sd, (repeats, groups, n // groups))
        without = leave_one_out(rows.mean(axis=2))
        squares = np.array([jackknife_std_error(one, level) ** 2 for one in without])
        ratio = squares.mean() / (sd**2 / n) / self.inflation(groups, level) ** 2
        # Each square is chi-square on groups - 1 degrees of freedom.
        assert abs(ratio - 1.0) < 4 * np.sqrt(2 / (groups - 1) / repeats)

    def test_is_the_standard_error_of_fold_means_exactly(self):
        folds = np.array([1.0, 4.0, 2.0, 8.0, 5.0])
        expected = folds.std(ddof=1) / np.sqrt(5) * self.inflation(5, 0.9)
        assert jackknife_std_error(leave_one_out(folds), 0.9) == pytest.approx(expected)

    @pytest.mark.parametrize("groups", [5, 10])
    def test_normal_intervals_made_of_it_cover(self, groups):
        rng = np.random.default_rng(0)
        repeats, level = 3000, 0.95
        folds = rng.normal(0, 1, (repeats, groups))
        errors = np.array([jackknife_std_error(one, level) for one in leave_one_out(folds)])
        covered = np.abs(folds.mean(axis=1)) < stats.norm.ppf(0.975) * errors
        # Without Student's t five groups would cover 88 %.
        assert abs(covered.mean() - level) < 4 * np.sqrt(level * (1 - level) / repeats)

    def test_fits_that_agree_have_no_error(self):
        assert jackknife_std_error(np.full(5, 2.5), 0.95) == 0.0


@pytest.fixture(scope="module")
def estimates():
    """Student-t samples of two sizes, with anchors whose influence has no closed form."""
    out = {}
    estimator = MDRE(anchor="student-t", l2=np.inf, **FAST)
    for n in (250, 4000):
        rng = np.random.default_rng(n)
        p, q = rng.standard_t(4, n), 2.0 + rng.standard_t(4, n)
        out[n] = compare(p, q, estimator=estimator, folds=10, random_state=0)
    return out


class TestStudentT:
    def test_errors_are_found_by_leaving_folds_out(self, estimates):
        for comparison in estimates.values():
            assert not comparison.estimator.model_.has_influence
            assert len(comparison.crossfit.without) == 10

    @pytest.mark.parametrize("divergence", ["kl", "reverse-kl", "js"])
    def test_error_is_positive_and_shrinks_with_the_rows(self, estimates, divergence):
        few, many = (estimates[n].divergence(divergence) for n in (250, 4000))
        for estimate in (few, many):
            assert np.isfinite(estimate.std_error) and estimate.std_error > 0
            assert estimate.low < estimate.value < estimate.high
        # By four, were the errors known exactly; each is known to about a quarter.
        assert 2.0 < few.std_error / many.std_error < 8.0

    def test_the_fit_adds_to_the_error_of_evaluation(self, estimates):
        for n, comparison in estimates.items():
            evaluation = comparison.log_ratio_p.std() / np.sqrt(n)
            assert comparison.kl.std_error > evaluation

    def test_truth_within_four_errors(self, estimates):
        law = stats.t(4)
        truth = law.expect(lambda x: law.logpdf(x) - law.logpdf(x - 2.0))
        for comparison in estimates.values():
            assert abs(comparison.kl.value - truth) < 4 * comparison.kl.std_error

    def test_automatic_settings_have_an_error_too(self):
        rng = np.random.default_rng(1)
        p, q = rng.standard_t(3, 2000), 3.0 + rng.standard_t(3, 2000)
        comparison = compare(p, q, estimator=MDRE(**FAST), folds=5, random_state=0)
        assert not comparison.estimator.model_.has_influence
        assert 0 < comparison.kl.std_error < comparison.kl.value
