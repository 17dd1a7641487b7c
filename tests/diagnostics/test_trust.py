"""Checks of calibration, chasm, extrapolation, agreement, precision and the two-sample test."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from isthmus import MDRE, Check, Estimate, compare
from isthmus.baselines import BDRE
from isthmus.diagnostics import (
    TwoSampleTest,
    check_agreement,
    check_calibration,
    check_chasm,
    check_difference,
    check_effective_size,
    check_extrapolation,
    check_flexibility,
    check_normalisation,
    check_precision,
    check_tails,
    doubt,
)
from isthmus.diagnostics.agreement import Alternative
from isthmus.diagnostics.extrapolation import Neighbourhood
from isthmus.tables.columns import as_columns

FAST = {"auxiliaries": "bridge", "critic": "quadratic", "maps": None, "anchor": "gaussian"}


def ratios(n, seed, slope=1.0, shift=0.0):
    """Log-ratios of N(1, 1) and N(-1, 1), which are 2 x, distorted."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(1, 1, n), rng.normal(-1, 1, n)
    return shift + slope * 2 * p, shift + slope * 2 * q


class TestCalibration:
    @pytest.mark.parametrize("seed", range(5))
    def test_a_right_ratio_has_slope_one(self, seed):
        check = check_calibration(*ratios(3000, seed))
        assert check.verdict == "ok"
        assert abs(check.value - 1.0) < 4 * check.details["std_error"] < 0.3

    @pytest.mark.parametrize(("slope", "verdict"), [(0.4, "fail"), (1.3, "warn"), (4.0, "fail")])
    def test_a_distorted_ratio_has_the_inverse_slope(self, slope, verdict):
        check = check_calibration(*ratios(20_000, 0, slope))
        assert abs(check.value - 1 / slope) < 4 * check.details["std_error"]
        assert check.verdict == verdict
        assert ("too timid" if slope < 1 else "too extreme") in check.advice

    def test_a_shift_is_seen(self):
        check = check_calibration(*ratios(5000, 0, shift=0.7))
        assert abs(check.details["intercept"] + 0.7) < 0.25
        assert check.verdict == "fail" and "shifted" in check.advice

    def test_agrees_with_logistic_regression(self):
        p, q = ratios(2000, 1, 1.5)
        x, y = np.r_[p, q][:, None], np.repeat([1, 0], 2000)
        fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(x, y)
        check = check_calibration(p, q)
        # A prior worth one row in 4000.
        assert check.value == pytest.approx(fitted.coef_[0, 0], rel=2e-3)
        assert check.details["intercept"] == pytest.approx(fitted.intercept_[0], abs=2e-3)

    def test_a_weight_of_two_is_the_row_twice(self):
        p, q = ratios(300, 0)
        weight = np.random.default_rng(0).integers(1, 4, 300)
        weighted = check_calibration(p, q, weight.astype(float), None)
        repeated = check_calibration(np.repeat(p, weight), q)
        # But for the prior, worth a row of however many there are.
        assert weighted.value == pytest.approx(repeated.value, rel=5e-3)

    def test_sizes_of_the_samples_do_not_matter(self):
        p, q = ratios(20_000, 0)
        check = check_calibration(p, q[:500])
        assert check.verdict == "ok" and abs(check.details["intercept"]) < 0.3

    @pytest.mark.parametrize("value", [500.0, np.inf, 0.0])
    def test_what_cannot_be_judged_is_not_judged(self, value):
        check = check_calibration(np.full(100, value), np.full(100, -value))
        assert check.verdict == "ok" and "cannot be judged" in check.advice


class TestTails:
    @pytest.mark.parametrize(("df", "verdict"), [(np.inf, "ok"), (2.2, "warn"), (1.0, "fail")])
    def test_a_quadratic_of_heavy_tails(self, df, verdict):
        """The square of a Student-t has a tail of k = 2 / df."""
        rng = np.random.default_rng(0)
        x = rng.normal(size=20_000) if np.isinf(df) else rng.standard_t(df, 20_000)
        assert check_tails(x**2).verdict == verdict

    def test_infinite_values_fail(self):
        check = check_tails(np.r_[np.zeros(99), np.inf])
        assert check.verdict == "fail" and check.value == np.inf

    def test_few_or_equal_rows_are_not_judged(self):
        assert check_tails(np.arange(20.0)).verdict == "ok"
        assert check_tails(np.zeros(500)).verdict == "ok"

    def test_rows_of_weight_zero_are_not_there(self):
        x = np.random.default_rng(0).normal(size=1000)
        weight = np.r_[np.ones(1000), 0.0]
        assert check_tails(np.r_[x, np.inf], weight).value == check_tails(x).value


class TestPrecision:
    @pytest.mark.parametrize(
        ("kl", "error", "value", "verdict"),
        [
            (10.0, 1.0, 0.1, "ok"),
            (10.0, 3.0, 0.3, "warn"),
            (10.0, 9.0, 0.9, "fail"),
            (0.0, 0.01, 0.1, "ok"),
            (0.0, 0.2, 2.0, "fail"),
            (np.inf, np.inf, np.inf, "fail"),
        ],
    )
    def test_verdict(self, kl, error, value, verdict):
        check = check_precision(Estimate.from_std_error(kl, error))
        assert check.value == pytest.approx(value) and check.verdict == verdict
        assert check.advice.endswith(".")

    def test_doubt_about_anchors_is_left_to_others(self):
        kl = Estimate.from_std_error(10.0, 5.0)
        assert check_precision(kl, 4.0).value == pytest.approx(0.3)
        assert check_precision(kl, 6.0).value == 0.0
        assert check_precision(kl, np.inf).value == 0.0


class TestChasm:
    near, far = np.full(100, -0.7), np.full(100, -30.0)

    @pytest.mark.parametrize(
        ("p", "q", "how", "verdict"),
        [
            (near, near, (True, True, True), "ok"),
            (near, far, (True, True, False), "fail"),
            (near, far, (True, True, True), "warn"),
            (far, near, (False, True, False), "fail"),
            (far, far, (True, False, True), "ok"),
            (np.r_[near[:80], far[:20]], near, (True, True, False), "warn"),
            (np.r_[near[:80], far[:20]], near, (False, True, False), "ok"),
        ],
    )
    def test_verdict(self, p, q, how, verdict):
        joined, learned, anchored = how
        check = check_chasm({"p": p, "q": q}, joined=joined, learned=learned, anchored=anchored)
        assert check.verdict == verdict
        assert check.value == max(np.mean(p < np.log(1e-3)), np.mean(q < np.log(1e-3)))


class TestExtrapolation:
    @pytest.mark.parametrize("d", [1, 5, 40])
    def test_rows_of_the_sample_are_inside(self, d):
        rng = np.random.default_rng(d)
        known = Neighbourhood(rng.normal(size=(1000, d)))
        outside = known.outside(rng.normal(size=(2000, d)))
        # One in 501 is expected, and that share has a standard deviation of its own size.
        assert outside.mean() < 5 / 501

    @pytest.mark.parametrize("d", [1, 5, 40])
    def test_rows_far_away_are_outside(self, d):
        rng = np.random.default_rng(d)
        known = Neighbourhood(rng.normal(size=(1000, d)))
        assert known.outside(rng.normal(12.0, 1.0, (100, d))).all()

    def test_a_hole_is_outside_and_units_do_not_matter(self):
        rng = np.random.default_rng(0)
        angle = rng.uniform(0, 2 * np.pi, 1000)
        ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(1000, 2))
        points = np.array([[0.0, 0.0], [1.0, 0.0]])
        for unit in (1.0, 1e8, 1e-8):
            assert Neighbourhood(unit * ring).outside(unit * points).tolist() == [True, False]

    def test_what_never_varied_must_not(self):
        rows = np.column_stack([np.random.default_rng(0).normal(size=200), np.zeros(200)])
        assert Neighbourhood(rows).outside(np.array([[0.0, 0.0], [0.0, 1.0]])).tolist() == [
            False,
            True,
        ]

    @pytest.mark.parametrize(("far", "verdict"), [(0, "ok"), (10, "warn"), (60, "fail")])
    def test_verdict(self, far, verdict):
        check = check_extrapolation(np.r_[np.full(far, 1.5), np.full(100 - far, 0.5)])
        assert check.verdict == verdict and check.value == far / 100
        assert check.details["outside"] == list(range(far))


class TestAgreement:
    @pytest.mark.parametrize(
        ("kl", "others", "error", "value", "verdict"),
        [
            (10.0, {}, 0.0, 0.0, "ok"),
            (10.0, {"a": 11.0}, 0.0, 0.1, "ok"),
            (10.0, {"a": 11.0, "b": 6.0}, 0.0, 4 / 6, "warn"),
            (28.0, {"a": 306.0}, 1.0, 278 / 28, "fail"),
            (306.0, {"a": 28.0}, 1.0, 278 / 28, "fail"),
            (0.0, {"a": 0.05}, 0.0, 0.5, "warn"),
            (0.1, {"a": 0.16}, 0.03, 0.0, "ok"),
            (3.0, {"a": np.inf}, 0.03, np.inf, "fail"),
        ],
    )
    def test_verdict(self, kl, others, error, value, verdict):
        check = check_agreement(kl, others, error)
        assert check.value == pytest.approx(value) and check.verdict == verdict
        assert check.details == {"kl": kl, **others}
        if verdict != "ok":
            assert "Another family" in check.advice

    def test_a_family_needs_its_evidence(self):
        assert Alternative("a", 1.0, -0.01, 0.02, -1.0).fits
        assert not Alternative("a", 1.0, -0.03, 0.02, -1.0).fits
        assert not Alternative("a", 1.0, 0.01, 0.02, 1.0).fits

    def test_a_logarithm_is_tried_across_a_chasm(self):
        """Normals or log-normals: 2000 rows of Gamma(60) do not say, and the KL is 28 or 300."""
        rng = np.random.default_rng(0)
        p, q = rng.gamma(3, 1, 2000), rng.gamma(60, 1, 2000)
        c = compare(p, q, estimator=MDRE(**FAST, l2=np.inf), folds=2, random_state=0)
        check = c.diagnostics["agreement"]
        assert check.verdict == "fail"
        assert check.details["log-normal for q"] > 5 * check.details["kl"]

    def test_bdre_across_a_chasm_disagrees(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(-1, 0.08, 300), rng.normal(2, 0.15, 300)
        c = compare(p, q, estimator=BDRE(), folds=2, random_state=0)
        assert c.diagnostics["agreement"].verdict == "fail"
        assert c.diagnostics["chasm"].verdict == "fail"
        assert not c.trusted


class TestDifference:
    @pytest.mark.parametrize(
        ("p_value", "kl", "error", "verdict"),
        [
            (0.001, 0.3, 0.05, "ok"),
            (0.5, 0.0, 0.01, "ok"),
            (0.001, 0.0, 0.05, "fail"),
            (0.008, 0.0, 0.05, "warn"),
            (0.04, 0.0, 0.05, "ok"),
            # Small, but not too small for 400 rows to see.
            (0.001, 0.02, 0.02, "ok"),
            (0.3, 1.0, 0.1, "warn"),
            (0.001, np.inf, np.inf, "ok"),
        ],
    )
    def test_verdict(self, p_value, kl, error, verdict):
        test = TwoSampleTest(9.0, p_value, "mean", 999, np.zeros(999))
        check = check_difference(test, Estimate.from_std_error(kl, error), 400, 400)
        assert check.verdict == verdict and check.value == p_value

    def test_a_fit_that_sees_nothing_is_contradicted(self):
        rng = np.random.default_rng(0)

        class Blind(BDRE):
            def evaluate(self, rows):
                return np.zeros(len(rows))

        p, q = rng.normal(0, 1, (150, 3)), rng.normal(0.6, 1, (150, 3))
        c = compare(p, q, estimator=Blind(), folds=2, random_state=0)
        assert c.diagnostics["difference"].verdict == "fail"
        assert "about zero" in c.diagnostics["difference"].advice


class TestFlexibility:
    def test_a_straight_line_sees_what_trees_do_not(self):
        rng = np.random.default_rng(1)
        p, q = rng.normal(0, 1, (150, 30)), rng.normal(0.25, 1, (150, 30))
        check = check_flexibility(p, q, np.zeros(150), np.zeros(150))
        assert check.verdict == "fail" and "straight line" in check.advice


def test_doubt_counts_the_ratio_only():
    checks = {
        "a": Check(0.0, "ok", ""),
        "b": Check(0.0, "warn", ""),
        "c": Check(0.0, "fail", ""),
        "d": Check(0.0, "fail", "", concerns="weights"),
        "precision": Check(0.5, "ok", ""),
    }
    assert doubt(checks) == pytest.approx(4.495)
    assert doubt({}) == 0.0
    assert doubt({"precision": Check(np.inf, "fail", "")}) == pytest.approx(3.99)


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    p, q = rng.normal(0, 1, (1000, 2)), rng.normal(1, 1, (1000, 2))
    return compare(p, q, estimator=MDRE(**FAST, l2=np.inf), folds=5, random_state=0)


class TestInComparison:
    def test_a_good_fit_passes_all(self, comparison):
        names = {"pareto", "tails", "precision", "calibration", "chasm", "agreement", "difference"}
        assert names < set(comparison.diagnostics)
        for name in names - {"pareto"}:
            assert comparison.diagnostics[name].verdict == "ok", comparison.diagnostics[name]
        assert doubt(comparison.diagnostics) < 1

    def test_numbers_are_those_of_the_functions(self, comparison):
        found = comparison.diagnostics
        sides = comparison.log_ratio_p, comparison.log_ratio_q
        assert found["calibration"].value == check_calibration(*sides).value
        assert found["precision"].value == pytest.approx(
            comparison.kl.std_error / comparison.kl.value
        )
        # The truth is KL = 1, and the normal family is the model's own.
        assert found["agreement"].details["kl"] == pytest.approx(
            found["agreement"].details["normal for q"]
        )

    def test_extrapolation(self, comparison):
        rng = np.random.default_rng(1)
        assert comparison.extrapolation(rng.normal(0.5, 1, (400, 2))).verdict == "ok"
        far = comparison.extrapolation(np.full((10, 2), 30.0))
        assert far.value == 1.0 and far.verdict == "fail"
        mixed = comparison.extrapolation([[0.0, 0.0], [0.0, -40.0], [1.0, 1.0]])
        assert mixed.details["outside"] == [1]
        with pytest.raises(ValueError, match="2 columns"):
            comparison.extrapolation([[0.0]])

    def test_survives_pickling(self, comparison):
        again = pickle.loads(pickle.dumps(comparison))
        assert again.extrapolation([[0.0, 0.0]]).value == 0.0
        assert again.diagnostics["difference"].value == comparison.diagnostics["difference"].value

    def test_is_the_same_again(self, comparison):
        again = pickle.loads(pickle.dumps(comparison))
        for name, check in comparison.diagnostics.items():
            assert again.diagnostics[name].value == check.value, name

    def test_weighted_samples_have_the_checks_that_weights_allow(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, 200), rng.normal(1, 1, 200)
        c = compare(
            p, q, weight_p=rng.integers(0, 3, 200), estimator=MDRE(**FAST, l2=np.inf), folds=2
        )
        assert {"pareto", "calibration", "chasm", "precision"} < set(c.diagnostics)
        assert not {"difference", "agreement"} & set(c.diagnostics)


class TestInfiniteRatios:
    """A ratio that is zero at every row of q is an answer, and no reason to raise."""

    def test_checks_by_themselves(self):
        none = np.full(50, -np.inf)
        assert check_effective_size(none).verdict == "fail"
        assert check_effective_size(none).value == 0.0
        assert check_normalisation(none, None, "E_q[p/q]", "the rows of q").verdict == "fail"

    def test_in_a_comparison(self):
        class Certain(BDRE):
            def evaluate(self, rows):
                return np.where(rows[:, 0] > 0, np.inf, -np.inf)

        rng = np.random.default_rng(0)
        p, q = rng.uniform(1, 2, (60, 1)), rng.uniform(-2, -1, (60, 1))
        c = compare(p, q, estimator=Certain(), folds=2, random_state=0)
        found = c.diagnostics
        assert not c.trusted
        assert found["tails"].verdict == "fail" and found["precision"].verdict == "fail"

    def test_finite_over_p(self):
        class Half(BDRE):
            def evaluate(self, rows):
                return np.where(rows[:, 0] > 0, 2.0, -np.inf)

        rng = np.random.default_rng(0)
        p, q = rng.uniform(1, 2, (60, 1)), rng.uniform(-2, -1, (60, 1))
        c = compare(p, q, estimator=Half(), folds=2, random_state=0)
        assert c.diagnostics["effective_sample_size"].verdict == "fail"
        assert not c.trusted


def test_text_with_a_nul_is_not_cut():
    text = np.array(["a\0b", "a\0c", "a"])
    assert as_columns({"x": text}, "p", ["x"])["x"].levels == ("a\0b", "a\0c", "a")


def test_probability_of_other_classes_follows_from_the_ratio():
    from isthmus.diagnostics.chasm import others_of

    rng = np.random.default_rng(0)
    c = compare(rng.normal(0, 1, 60), rng.normal(2, 1, 60), estimator=BDRE(), random_state=0)
    others = others_of(c, {})
    np.testing.assert_allclose(np.exp(others["p"]), 1 - expit(c.log_ratio_p))
    np.testing.assert_allclose(np.exp(others["q"]), expit(c.log_ratio_q))
