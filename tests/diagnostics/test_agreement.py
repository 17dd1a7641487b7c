"""Whether anchors and families that fit as well give the same KL."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import MDRE, compare
from isthmus.baselines import BDRE
from isthmus.data.holdout import Gain
from isthmus.diagnostics import (
    check_agreement,
    check_anchors,
)

FAST = {"auxiliaries": "bridge", "critic": "quadratic", "maps": None, "anchor": "gaussian"}


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
        assert Gain(-0.01, 0.02).above(-1.0)
        assert not Gain(-0.03, 0.02).above(-1.0)
        assert not Gain(0.01, 0.02).above(1.0)

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
