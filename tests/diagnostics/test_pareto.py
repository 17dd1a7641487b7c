"""The shape of a tail of weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isthmus.diagnostics import check_pareto, pareto_k
from isthmus.diagnostics.pareto import generalised_pareto_shape


@pytest.mark.parametrize("k", [-0.3, 0.0, 0.4, 0.8, 1.2])
def test_shape_of_pareto_draws(k):
    n = 20_000
    found = [
        generalised_pareto_shape(stats.genpareto.rvs(k, size=n, random_state=seed))
        for seed in range(5)
    ]
    # The maximum-likelihood estimate has standard deviation (1 + k)/sqrt(n) for k > -1/2; the
    # prior moves it by ten rows.
    assert np.max(np.abs(np.subtract(found, k))) < 4 * (1 + k) / np.sqrt(n) + 10 / n


def test_scale_does_not_matter():
    x = stats.genpareto.rvs(0.6, size=500, random_state=0)
    assert generalised_pareto_shape(1e8 * x) == pytest.approx(generalised_pareto_shape(x))
    log_weight = np.log(x)
    assert pareto_k(log_weight + 600.0) == pytest.approx(pareto_k(log_weight))


def test_agrees_with_arviz():
    arviz = pytest.importorskip("arviz")
    rng = np.random.default_rng(0)
    for scale in (0.3, 1.0, 3.0):
        log_weight = rng.normal(0.0, scale, 4000)
        assert pareto_k(log_weight) == pytest.approx(float(arviz.psislw(log_weight)[1]), abs=0.02)


class TestDegenerate:
    def test_equal_weights_have_no_tail(self):
        assert pareto_k(np.zeros(100)) == -np.inf
        check = check_pareto(np.zeros(100))
        assert check.verdict == "ok" and np.isfinite(check.value)

    @pytest.mark.parametrize(
        "log_weight",
        [
            np.zeros(10),
            np.full(100, -np.inf),
            np.r_[np.zeros(3), np.full(97, -np.inf)],
            np.r_[0.0, np.full(999, -5000.0)],
        ],
        ids=["few rows", "all zero", "three weights", "one weight"],
    )
    def test_what_cannot_be_told_is_bad(self, log_weight):
        assert pareto_k(log_weight) == np.inf
        check = check_pareto(log_weight)
        assert check.verdict == "fail" and check.value == np.inf
        assert check.concerns == "weights"


@pytest.mark.parametrize(("shape", "verdict"), [(0.2, "ok"), (0.6, "warn"), (1.2, "fail")])
def test_verdict(shape, verdict):
    # Exponential log-weights are Pareto weights; k errs by (1 + k)/sqrt(M), M = 3 sqrt(n) = 1340.
    log_weight = shape * np.random.default_rng(0).exponential(size=200_000)
    check = check_pareto(log_weight)
    assert check.verdict == verdict, check
    assert abs(check.value - shape) < 4 * (1 + shape) / np.sqrt(1340)


def test_weights_of_rows_count():
    rng = np.random.default_rng(0)
    log_weight = rng.normal(0, 1, 2000)
    zero = np.r_[np.ones(2000), np.zeros(50)]
    padded = check_pareto(np.r_[log_weight, np.full(50, 30.0)], zero)
    assert padded.value == check_pareto(log_weight).value
