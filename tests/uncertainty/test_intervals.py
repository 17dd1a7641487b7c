"""Intervals of divergences from posteriors and from the bootstrap."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from isthmus import MDRE, compare
from isthmus.uncertainty import influence as _influence
from isthmus.uncertainty import laplace


class TestIntervals:
    @pytest.mark.parametrize("kind", ["laplace", "bootstrap"])
    @pytest.mark.parametrize("spec", ["kl", "js", "tv"])
    def test_agree_with_the_delta_method(self, comparison, kind, spec):
        how = {"replicates": 100} if kind == "bootstrap" else {}
        delta = comparison.divergence(spec)
        found = comparison.divergence(spec, interval=kind, **how)
        assert found.value == delta.value and found.method == kind
        # 100 replicates: a standard deviation errs by 7 %, three of these, and what is not linear.
        assert found.std_error == pytest.approx(delta.std_error, rel=0.3)
        assert found.low < found.value < found.high
        # The ends are quantiles: with a relative error of two in a thousand draws, or in a
        # hundred replicates about half a standard error.
        assert found.low == pytest.approx(delta.low, abs=0.7 * delta.std_error)
        assert found.high == pytest.approx(delta.high, abs=0.7 * delta.std_error)

    def test_cover_the_truth(self):
        # 8 intervals at 95 %: fewer than 6 hits have probability 6e-3 (binomial), for each
        # of the two kinds.
        hits = {"laplace": 0, "bootstrap": 0}
        for seed in range(8):
            rng = np.random.default_rng([seed, 1])
            estimator = MDRE(critic="quadratic", anchor="gaussian", l2=np.inf, maps=None)
            p, q = rng.normal(0, 1, 150), rng.normal(1, 1, 150)
            c = compare(p, q, estimator=estimator, random_state=seed, folds=2)
            for kind, how in (("laplace", {}), ("bootstrap", {"replicates": 50})):
                kl = c.divergence("kl", interval=kind, **how)
                hits[kind] += kl.low <= 0.5 <= kl.high
        assert min(hits.values()) >= 6

    def test_levels_and_seeds(self, comparison):
        wide = comparison.divergence("kl", 0.99, "laplace")
        narrow = comparison.divergence("kl", 0.5, "laplace")
        assert wide.low < narrow.low < narrow.high < wide.high
        assert comparison.divergence("kl", 0.99, "laplace") == wide
        other = comparison.divergence("kl", 0.99, "laplace", random_state=1)
        assert other.to_dict() != wide.to_dict()

    def test_many_parameters(self, comparison, monkeypatch):
        exact = comparison.divergence("kl", interval="laplace")
        monkeypatch.setattr(_influence, "EXACT_LIMIT", 2)
        many = comparison.divergence("kl", interval="laplace", draws=200)
        # Four standard errors of a standard deviation of 200 draws.
        assert many.std_error == pytest.approx(exact.std_error, rel=0.2)

    def test_ranges(self):
        rng = np.random.default_rng(3)
        p = rng.normal(size=(200, 1))
        q = rng.normal(size=(200, 1))
        c = compare(p, q, critic="quadratic", random_state=0, folds=2)
        for spec, upper in (("kl", np.inf), ("js", np.log(2)), ("chi2", np.inf)):
            for kind, how in (("laplace", {}), ("bootstrap", {"replicates": 20})):
                found = c.divergence(spec, interval=kind, **how)
                assert 0 <= found.low <= found.high <= upper

    def test_a_stack_has_no_posterior_and_says_what_to_ask_for(self):
        rng = np.random.default_rng(3)
        p, q = (np.cos(rng.uniform(0, np.pi, 200) * k) for k in (1.0, 1.6))
        c = compare(p, q, random_state=0, folds=2)
        assert c.estimator.selection_.stacked
        for call in (
            lambda: c.divergence("kl", interval="laplace"),
            lambda: c.divergence("kl", interval="nuts"),
            lambda: c.divergence("kl", interval="bootstrap"),
            lambda: c.log_ratio([0.0], return_std=True),
        ):
            with pytest.raises(ValueError, match=r"must be an MDRE.*StackedMDRE.*critic="):
                call()

    def test_weights(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, 200), rng.normal(1, 1, 200)
        weight = rng.integers(0, 3, 200).astype(float)
        estimator = MDRE(critic="quadratic", anchor="gaussian", l2=3.0, oversample=5)
        c = compare(p, q, weight_p=weight, estimator=estimator, random_state=0, folds=2)
        delta = c.divergence("kl")
        for kind, how in (("laplace", {}), ("bootstrap", {"replicates": 100})):
            found = c.divergence("kl", interval=kind, **how)
            assert found.std_error == pytest.approx(delta.std_error, rel=0.35)

    def test_other_anchors_and_models(self):
        rng = np.random.default_rng(0)
        p, q = rng.standard_t(5, 200), rng.normal(1, 1, 200)
        estimator = MDRE(critic="quadratic", anchor="student-t", l2=3.0, oversample=5)
        c = compare(p, q, estimator=estimator, random_state=0, folds=2)
        with pytest.raises(ValueError, match="StudentTAnchor"):
            c.divergence("kl", interval="laplace")
        assert c.divergence("kl", interval="bootstrap", replicates=20).std_error > 0
        std = c.log_ratio([0.0, 3.0], return_std=True)[1]
        assert std.shape == (2,) and (std > 0).all()
        forest = MDRE(critic=RandomForestClassifier(10, max_depth=3), random_state=0)
        c = compare(p, q, estimator=forest, random_state=0, folds=2)
        for call in (
            lambda: c.divergence("kl", interval="bootstrap"),
            lambda: c.log_ratio([0.0], return_std=True),
        ):
            with pytest.raises(ValueError, match="critic must be one of"):
                call()

    def test_bad_parameters(self, comparison):
        with pytest.raises(ValueError, match="interval must be one of"):
            comparison.divergence("kl", interval="jackknife")
        with pytest.raises(ValueError, match="replicates"):
            comparison.divergence("kl", replicates=5)

    def test_standard_deviations_of_ratios(self, comparison):
        x = np.linspace(-2, 3, 6)
        mean, std = comparison.log_ratio(x, return_std=True)
        np.testing.assert_array_equal(mean, comparison.log_ratio(x))
        expected = laplace(comparison.estimator, covariance="sandwich")
        np.testing.assert_allclose(std, expected.log_ratio(x, return_std=True)[1])
        with_m = comparison.log_ratio(x, "p", "m1", return_std=True)
        assert (with_m[1] != std).all()
        again = pickle.loads(pickle.dumps(comparison))
        np.testing.assert_allclose(again.log_ratio(x, return_std=True)[1], std)
