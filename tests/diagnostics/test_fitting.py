"""Convergence, penalty and flexibility."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.diagnostics import (
    check_flexibility,
    check_rising,
)
from isthmus.selection.record import Selection, Trial


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


class TestFlexibility:
    def test_a_straight_line_sees_what_trees_do_not(self):
        rng = np.random.default_rng(1)
        p, q = rng.normal(0, 1, (150, 30)), rng.normal(0.25, 1, (150, 30))
        check = check_flexibility(p, q, np.zeros(150), np.zeros(150))
        assert check.verdict == "fail" and "straight line" in check.advice
