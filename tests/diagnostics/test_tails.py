"""Tails and precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from isthmus import Estimate
from isthmus.diagnostics import (
    check_precision,
    check_tails,
)


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
            (10.0, 9.0, 0.9, "warn"),
            (0.0, 0.01, 0.1, "ok"),
            (0.0, 0.2, 2.0, "warn"),
            (np.inf, np.inf, np.inf, "fail"),
        ],
    )
    def test_verdict(self, kl, error, value, verdict):
        # However wide an interval is, it is no objection: it says so itself.
        check = check_precision(Estimate.from_std_error(kl, error))
        assert check.value == pytest.approx(value) and check.verdict == verdict
        assert check.advice.endswith(".")

    @pytest.mark.parametrize(
        ("value", "low", "high", "verdict"),
        [
            (51.0, 0.0, 363.0, "warn"),
            (51.0, 40.0, 363.0, "ok"),  # at least 40, and that is something
            (51.0, 0.0, 110.0, "ok"),
            (0.001, 0.0, 0.028, "ok"),  # small, and known to be
            (0.001, 0.0, 0.5, "warn"),
            (51.0, 0.0, np.inf, "ok"),  # one end: why is said with it
        ],
    )
    def test_an_interval_that_tells_nothing_is_a_warning(self, value, low, high, verdict):
        # What the choice of anchors leaves open makes it so wide, and not the standard error.
        check = check_precision(Estimate(value, 0.001, low, high))
        assert check.verdict == verdict and check.advice.endswith(".")

    def test_doubt_about_anchors_is_left_to_others(self):
        kl = Estimate.from_std_error(10.0, 1.0)
        wider = replace(kl, low=0.0, high=kl.high + 50.0)
        assert check_precision(wider).value == check_precision(kl).value
