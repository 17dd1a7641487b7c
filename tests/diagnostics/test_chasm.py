"""Whether the classes overlap: accuracy, bridge and chasm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.model_selection import GridSearchCV

from isthmus import MDRE, compare, stack
from isthmus.auxiliaries import LinearMixing
from isthmus.baselines import BDRE
from isthmus.diagnostics import (
    accuracy_band,
    check_bridge,
    check_chasm,
)
from isthmus.diagnostics.chasm import others_of


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


def test_probability_of_other_classes_follows_from_the_ratio():
    rng = np.random.default_rng(0)
    c = compare(rng.normal(0, 1, 60), rng.normal(2, 1, 60), estimator=BDRE(), random_state=0)
    others = others_of(c, {})
    np.testing.assert_allclose(np.exp(others["p"]), 1 - expit(c.log_ratio_p))
    np.testing.assert_allclose(np.exp(others["q"]), expit(c.log_ratio_q))
