"""Standard errors by leaving out folds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isthmus import MDRE, compare
from isthmus.functionals import get_divergence
from isthmus.uncertainty.delta import choice_range, jackknife_std_error

FAST = {"auxiliaries": "bridge", "critic": "quadratic", "maps": None}


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


class TestChoiceRange:
    def alternatives(self, *values):
        return [(np.full(4, value), np.full(3, -value)) for value in values]

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ([], (0.0, 0.0)),
            ([3.0], (0.0, 0.0)),
            ([3.0, 3.0], (0.0, 0.0)),
            ([3.0, 1.0, 2.0], (2.0, 0.0)),
            ([3.0, 4.0, 9.0], (0.0, 6.0)),
            ([3.0, 2.0, 9.0], (1.0, 6.0)),
        ],
    )
    def test_it_is_the_distance_of_the_furthest(self, values, expected):
        assert choice_range(get_divergence("kl"), self.alternatives(*values)) == expected
        assert choice_range(get_divergence("reverse-kl"), self.alternatives(*values)) == expected

    def test_an_alternative_beyond_all_numbers_leaves_that_end_open(self):
        assert choice_range(get_divergence("kl"), self.alternatives(3.0, np.inf)) == (0.0, np.inf)

    def test_tails_that_rows_cannot_tell_apart_widen_the_interval_across_a_chasm(self):
        rng = np.random.default_rng(0)
        p, q = rng.logistic(size=(500, 2)), rng.logistic(12.0, size=(500, 2))
        far = compare(p, q, random_state=0).kl
        # The mean of log p/q of a logistic moved by 12, twice.
        x = np.linspace(-60, 60, 200_001)
        gap = stats.logistic.logpdf(x) - stats.logistic.logpdf(x, 12.0)
        truth = 2 * np.trapezoid(np.exp(stats.logistic.logpdf(x)) * gap, x)
        assert far.low < truth < far.high
        half = stats.norm.ppf(0.975) * far.std_error
        assert far.high - far.low > 2 * half + 0.1 * truth
        near = compare(p, q - 11.5, random_state=0).kl
        half = stats.norm.ppf(0.975) * near.std_error
        assert near.high - near.value < half + 0.1
