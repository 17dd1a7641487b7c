"""Rows outside both samples."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.diagnostics import (
    check_extrapolation,
)
from isthmus.diagnostics.extrapolation import Neighbourhood


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
