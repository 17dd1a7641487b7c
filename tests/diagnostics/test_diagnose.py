"""All checks of a comparison."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from isthmus import MDRE, Check, compare
from isthmus.baselines import BDRE
from isthmus.diagnostics import (
    check_calibration,
    check_effective_size,
    check_normalisation,
    doubt,
)
from isthmus.diagnostics.diagnose import CHECKS

FREE = {"auxiliaries": "bridge", "critic": "quadratic", "maps": None}


FAST = {"auxiliaries": "bridge", "critic": "quadratic", "maps": None, "anchor": "gaussian"}


@pytest.fixture(scope="module")
def chosen():
    rng = np.random.default_rng(0)
    p, q = rng.normal(0, 1, (400, 2)), rng.normal(1, 1, (400, 2))
    return compare(p, q, estimator=MDRE(**FREE), folds=2, random_state=0)


class TestChosenInComparison:
    def test_has_the_new_checks(self, chosen):
        checks = chosen.diagnostics
        for name in ("anchors", "rising", "bridge"):
            assert isinstance(checks[name], Check)
            assert checks[name].verdict == "ok", checks[name]
        selection = chosen.estimator.selection_
        assert checks["anchors"].details["means"] == selection.by_anchor
        assert set(checks["bridge"].details) == {"p", "q"}
        assert all(0.5 < value < 0.95 for value in checks["bridge"].details.values())

    def test_the_first_mean_by_anchors_is_the_kl_of_the_chosen(self, chosen):
        # Truth 1, over a hundred held-out rows, log p/q has standard deviation 2^.5.
        assert abs(chosen.estimator.selection_.by_anchor[0] - 1.0) < 4 * np.sqrt(2 / 100)

    def test_a_missing_bridge_is_seen(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(-20, 1, (300, 1)), rng.normal(20, 1, (300, 1))
        far = rng.normal(500, 1, (300, 1))
        for l2, verdict in ((1.0, "warn"), (np.inf, "ok")):
            estimator = MDRE(far, critic="quadratic", anchor="gaussian", maps=None, l2=l2)
            checks = compare(p, q, estimator=estimator, folds=2, random_state=0).diagnostics
            assert checks["bridge"].value > 0.99
            assert checks["bridge"].verdict == verdict
            # Nothing was chosen.
            assert "anchors" not in checks and "rising" not in checks

    def test_no_bridge_to_judge_without_auxiliaries(self):
        rng = np.random.default_rng(0)
        estimator = MDRE([], critic="quadratic", anchor="gaussian", maps=None, l2=1.0)
        comparison = compare(
            rng.normal(0, 1, 200), rng.normal(1, 1, 200), estimator=estimator, random_state=0
        )
        assert "bridge" not in comparison.diagnostics


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


class Foreign(BaseEstimator):
    """Another's estimator, which knows nothing of this library."""

    def fit(self, X, y):
        self.l2_, self.auxiliaries_, self.selection_ = None, 3, "none"
        return self

    def log_ratio(self, X):
        return 0.5 - np.asarray(X)[:, 0]


class OwnWords(BDRE):
    """One whose record of its choices is of a kind of its own."""

    def learn(self, samples, seeds):
        super().learn(samples, seeds)
        self.selection_ = {1.0: 0.5}


@pytest.mark.parametrize("estimator", [Foreign(), OwnWords()], ids=["foreign", "own words"])
def test_checks_ask_estimators_for_nothing_that_they_need_not_have(estimator):
    rng = np.random.default_rng(0)
    p, q = rng.normal(0, 1, (150, 1)), rng.normal(1, 1, (150, 1))
    c = compare(p, q, estimator=estimator, folds=2, random_state=0)
    assert {"agreement", "chasm", "precision", "support"} < set(c.diagnostics)
    assert not {"anchors", "rising", "bridge", "accuracy"} & set(c.diagnostics)
    assert c.diagnostics["agreement"].verdict == "ok"


class TestOfAStack:
    def test_what_it_checks(self):
        rng = np.random.default_rng(0)
        p, q = rng.gamma(2.0, 1.0, (200, 2)), rng.gamma(3.0, 1.0, (200, 2))
        few = compare(p, q, folds=2, random_state=0)
        assert few.estimator.selection_.stacked, few.estimator.selection_.summary()
        # Held-out rows have weighed the families against other candidates already.
        assert not {"anchors", "rising", "bridge", "chasm"} & set(few.diagnostics)
        assert {"learning", "separation", "support", "calibration"} < set(few.diagnostics)
        assert few.diagnostics["separation"].verdict == "ok"
        assert [name for name in CHECKS if name in few.diagnostics] == list(few.diagnostics)


def test_every_check_is_named_once_and_in_order(chosen):
    assert [name for name in CHECKS if name in chosen.diagnostics] == list(chosen.diagnostics)
    # What is still to be learned, and from what, is asked of stacks.
    stacks = {"learning", "separation", "reach"}
    assert set(CHECKS) - set(chosen.diagnostics) - {"family"} == stacks
