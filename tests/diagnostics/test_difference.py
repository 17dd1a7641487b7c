"""Whether the KL agrees with a two-sample test."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import Estimate, compare
from isthmus.baselines import BDRE
from isthmus.diagnostics import (
    TwoSampleTest,
    check_difference,
)


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
