"""Samples of the posterior by the No-U-Turn sampler."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from isthmus import uncertainty
from isthmus.uncertainty import influence as _influence
from isthmus.uncertainty import laplace, nuts
from isthmus.uncertainty.fit import fit_of
from isthmus.uncertainty.target import Target


@pytest.fixture(scope="module")
def sampled(paper):
    pytest.importorskip("nutpie")
    return nuts(paper, draws=500, random_state=0, progress=False)


class TestNuts:
    def test_converges(self, sampled):
        assert sampled.rhat <= 1.01 and sampled.ess >= 400 and sampled.divergences == 0
        assert sampled.draws.shape == (2000, 9) and sampled.steps > 2000

    def test_moments_are_those_of_the_posterior(self, paper, sampled, grid):
        # Laplace draws, weighted by the ratio of the densities, know the posterior without a chain.
        target = Target(fit_of(paper))
        z = np.random.default_rng(0).standard_normal((4000, target.size))
        log_weight = np.array([target.log_density(one)[0] for one in z]) + 0.5 * (z**2).sum(axis=1)
        share = np.exp(log_weight - log_weight.max())
        share /= share.sum()
        size = 1.0 / (share**2).sum()
        assert size > 500
        draws = uncertainty.Posterior(fit_of(paper), target.theta(z), "laplace").log_ratio_draws(
            grid
        )
        mean = share @ draws
        std = np.sqrt(share @ (draws - mean) ** 2)
        found = sampled.log_ratio(grid, return_std=True)
        # Four standard errors of a mean and of a standard deviation (tails as heavy as a t of
        # ten degrees double its variance), for the smaller of the two sizes.
        size = min(size, sampled.ess)
        assert (np.abs(found[0] - mean) < 4 * std * np.sqrt(2 / size)).all()
        assert (np.abs(found[1] / std - 1) < 4 * np.sqrt(2 / size)).all()

    def test_agrees_with_laplace(self, paper, sampled, grid):
        exact = laplace(paper).log_ratio(grid, return_std=True)
        found = sampled.log_ratio(grid, return_std=True)
        # 300 rows a class: skewness of the order of one over their root, and Monte Carlo.
        np.testing.assert_allclose(found[1], exact[1], rtol=0.15)
        assert (np.abs(found[0] - exact[0]) < 0.3 * exact[1]).all()

    def test_result_is_arviz(self, sampled):
        arviz = pytest.importorskip("arviz")
        data = sampled.inference_data
        assert isinstance(data, arviz.InferenceData)
        assert data.posterior["theta"].sizes == {"chain": 4, "draw": 500, "class": 3, "feature": 3}
        assert list(data.posterior["class"].values) == ["p", "q", "m1"]
        flat = data.posterior["theta"].values.reshape(2000, -1)
        np.testing.assert_array_equal(sampled.draws, flat)
        assert {"mean", "sd", "r_hat"} <= set(sampled.summary().columns)

    def test_draws_can_be_repeated_on_any_number_of_cores(self, paper):
        pytest.importorskip("nutpie")
        how = {"draws": 20, "tune": 40, "chains": 2, "progress": False}
        with pytest.warns(UserWarning, match="effective sample size"):
            one, two, other = (
                nuts(paper, cores=cores, random_state=seed, **how)
                for cores, seed in ((1, 0), (2, 0), (1, 1))
            )
        np.testing.assert_array_equal(one.draws, two.draws)
        assert not np.array_equal(one.draws, other.draws)

    def test_calibrated(self, known, plane):
        pytest.importorskip("nutpie")
        with pytest.warns(UserWarning, match=r"weigh 2 each .* calibrated\(\)"):
            sampled = nuts(known, draws=500, chains=2, random_state=0, progress=False)
        x = plane()[0][::40]
        expected = laplace(known, covariance="sandwich").log_ratio(x, return_std=True)[1]
        found = sampled.calibrated().log_ratio(x, return_std=True)[1]
        # Four standard errors of a standard deviation of 400 effective draws, and skewness.
        np.testing.assert_allclose(found, expected, rtol=0.2)

    def test_interval(self, comparison):
        pytest.importorskip("nutpie")
        delta = comparison.divergence("kl")
        kl = comparison.divergence("kl", interval="nuts", draws=300, chains=2)
        assert kl.std_error == pytest.approx(delta.std_error, rel=0.2)
        assert kl.method == "nuts"

    def test_raw_prior(self, paper, grid):
        pytest.importorskip("nutpie")
        sampled = nuts(paper, prior="raw", draws=500, chains=2, random_state=0, progress=False)
        exact = laplace(paper, prior="raw").log_ratio(grid, return_std=True)
        np.testing.assert_allclose(sampled.log_ratio(grid, return_std=True)[1], exact[1], rtol=0.25)
        with pytest.raises(ValueError, match="prior must be 'fit'"):
            sampled.calibrated()

    def test_one_chain_has_no_rhat(self, paper):
        pytest.importorskip("nutpie")
        sampled = nuts(paper, draws=700, chains=1, random_state=0, progress=False)
        assert np.isnan(sampled.rhat)

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"draws": 0}, "draws must be"),
            ({"tune": 5}, "tune must be"),
            ({"chains": 0}, "chains must be"),
            ({"cores": 0}, "cores must be"),
            ({"target_accept": 1.0}, "target_accept must be"),
            ({"progress": "yes"}, "progress must be"),
        ],
    )
    def test_bad_parameters(self, paper, how, message):
        with pytest.raises(ValueError, match=message):
            nuts(paper, **how)

    def test_too_many_parameters_are_refused(self, known, monkeypatch):
        pytest.importorskip("nutpie")
        monkeypatch.setattr(_influence, "EXACT_LIMIT", 5)
        with pytest.raises(ValueError, match="at most 5 parameters"):
            nuts(known)

    @pytest.mark.parametrize("missing", ["nutpie", "arviz"])
    def test_a_missing_package_is_named(self, paper, missing, monkeypatch):
        if missing == "nutpie":
            pytest.importorskip("arviz")
        monkeypatch.setitem(sys.modules, missing, None)
        with pytest.raises(ImportError, match=r"isthmus\[bayes\]"):
            nuts(paper)
