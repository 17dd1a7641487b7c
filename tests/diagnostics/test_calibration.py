"""Calibration of the class probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from isthmus.diagnostics import (
    check_calibration,
)


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

    @pytest.mark.parametrize("seed", range(3))
    def test_advice_names_the_direction(self, seed):
        timid, bold = (check_calibration(*ratios(5000, seed, slope)) for slope in (0.5, 2.5))
        assert timid.value > 1.5 and "weaker penalty" in timid.advice
        assert "stronger" not in timid.advice
        assert bold.value < 0.6 and "stronger penalty" in bold.advice
        assert "weaker" not in bold.advice

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
