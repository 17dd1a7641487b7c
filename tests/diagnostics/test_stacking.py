"""Checks of a stack."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import Estimate, compare
from isthmus.data.sample import Sample
from isthmus.diagnostics.stacking import check_learning, check_levels, check_separation
from isthmus.diagnostics.tails import check_bound


class TestLearning:
    @pytest.mark.parametrize(
        ("value", "high", "verdict"),
        [
            (1.0, 1.0, "ok"),
            (1.0, 0.5, "ok"),  # a curve that falls
            (1.0, 1.45, "ok"),
            (1.0, 1.6, "warn"),
            (1.0, 2.1, "fail"),
            (0.001, 0.04, "ok"),  # little may be missing, whatever the share
            (0.001, 0.2, "fail"),
            (-0.5, 0.2, "fail"),
        ],
    )
    def test_verdict(self, value, high, verdict):
        check = check_learning(value, high)
        assert check.verdict == verdict and check.advice.endswith(".")
        assert check.concerns == "ratio"


class TestSeparation:
    @pytest.mark.parametrize(("wrong", "verdict"), [(20, "ok"), (4, "warn"), (0, "fail")])
    def test_verdict(self, wrong, verdict):
        # So many of a hundred rows of p, and none of q's: half of that share.
        p = np.where(np.arange(100) < wrong, -1.0, 1.0)
        check = check_separation(Sample.of(p), Sample.of(-np.ones(100)))
        assert check.value == pytest.approx(wrong / 200) and check.verdict == verdict

    def test_rows_of_no_weight_are_not_there(self):
        p = Sample(np.r_[-1.0, np.ones(99)], np.r_[0.0, np.ones(99)])
        assert check_separation(p, Sample.of(-np.ones(100))).value == 0.0

    def test_a_ratio_of_one_counts_as_wrong(self):
        nothing = Sample.of(np.zeros(8))
        assert check_separation(nothing, nothing).value == 1.0


class TestLevels:
    def levels(self, p, q):
        return check_levels(*(Sample.of(np.array(x, dtype=float)[:, None]) for x in (p, q)))

    def test_levels_in_both(self):
        rng = np.random.default_rng(0)
        assert self.levels(rng.integers(0, 5, 300), rng.integers(0, 5, 300)).verdict == "ok"

    def test_a_level_that_one_lacks(self):
        check = self.levels([0] * 60 + [1] * 40, [0] * 100)
        assert check.verdict == "fail" and check.value == pytest.approx(0.4)
        assert "40.00%" in check.advice and "column 0" in check.advice
        assert self.levels([0] * 100, [0] * 60 + [1] * 40).verdict == "fail"

    def test_few_rows_of_it_prove_nothing(self):
        assert self.levels([0] * 95 + [1] * 5, [0] * 100).verdict == "ok"
        # Many rows here, of which few would be expected there.
        assert self.levels([0] * 9900 + [1] * 100, [0] * 100).verdict == "ok"

    def test_counts_thin_out_at_their_ends(self):
        p, q = [0] * 40 + [1] * 40 + [2] * 20, [0] * 60 + [1] * 60
        assert self.levels(p, q).verdict == "ok"
        # A gap between others is none of that.
        p, q = [0] * 40 + [1] * 40 + [2] * 20, [0] * 60 + [2] * 60
        assert self.levels(p, q).verdict == "fail"

    def test_numbers_are_no_levels(self):
        assert self.levels(np.arange(200), np.arange(200) + 1000).verdict == "ok"

    def test_the_worst_column_is_named(self):
        rng = np.random.default_rng(0)
        p, q = rng.integers(0, 2, (200, 3)), rng.integers(0, 2, (200, 3))
        p[:, 2] = 0
        check = check_levels(Sample.of(p.astype(float)), Sample.of(q.astype(float)))
        assert check.verdict == "fail" and "column 2" in check.advice


class TestFamiliesAcrossAChasm:
    def test_normals_are_one(self):
        rng = np.random.default_rng(0)
        c = compare(rng.normal(0, 1, (400, 2)), rng.normal(6, 1, (400, 2)), random_state=0)
        assert c.trusted and c.kl.low < 36.0 < c.kl.high

    def test_margins_of_any_shape_are_none(self):
        # Squares that do not meet: the truth is infinite.
        rng = np.random.default_rng(0)
        c = compare(rng.uniform(0, 1, (400, 2)), rng.uniform(2, 3, (400, 2)), random_state=0)
        assert not c.trusted and c.kl.high == np.inf and c.kl.low > 1.0


def test_an_interval_below_what_is_proven_is_refused():
    kl = Estimate(2.1, 0.06, low=1.97, high=2.22)
    assert check_bound(kl, 3.0).verdict == "fail" and check_bound(kl, 2.0).verdict == "ok"


@pytest.mark.parametrize("seed", range(3))
def test_few_rows_in_many_columns_have_no_impossible_divergence(seed):
    rng = np.random.default_rng(seed)
    with pytest.warns(UserWarning, match="linearly dependent"):
        c = compare(rng.normal(0.5, 1, (20, 50)), rng.normal(0, 1, (25, 50)), random_state=seed)
    for spec, most in (("js", np.log(2)), ("tv", 1.0), ("hellinger", 1.0)):
        assert c.divergence(spec).value <= most + 1e-12


def test_columns_of_any_unit():
    rng = np.random.default_rng(0)
    p, q, unit = rng.normal(0, 1, (300, 2)), rng.normal(0.7, 1, (300, 2)), np.array([1e-200, 1e200])
    c = compare(p * unit, q * unit, random_state=0)
    assert c.kl.low < 0.49 < c.kl.high
