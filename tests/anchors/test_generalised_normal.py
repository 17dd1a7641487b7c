"""The multivariate generalised normal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isthmus.anchors import GaussianAnchor, GeneralisedNormalAnchor
from isthmus.anchors.generalised_normal import PowerComponent, power_log_density

SHAPES = [0.4, 0.5, 1.0, 1.5, 2.5]


def standard(d: int, shape: float) -> PowerComponent:
    return PowerComponent(1.0, np.zeros(d), np.eye(d), np.eye(d), shape=shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_density_is_one_of_unit_covariance(shape):
    x = np.linspace(-60, 60, 600_001)
    line = np.exp(power_log_density(x**2, 1, shape))
    # The trapezoid rule errs by the square of the step, 4e-8, and more next to a kink.
    assert np.trapezoid(line, x) == pytest.approx(1.0, abs=1e-5)
    assert np.trapezoid(x**2 * line, x) == pytest.approx(1.0, abs=1e-4)
    r = x[x >= 0]
    plane = 2 * np.pi * r * np.exp(power_log_density(r**2, 2, shape))
    assert np.trapezoid(plane, r) == pytest.approx(1.0, abs=1e-5)
    assert np.trapezoid(r**2 * plane, r) == pytest.approx(2.0, abs=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_scipys_in_one_column(shape):
    x = np.linspace(-6, 6, 13)
    law = stats.gennorm(2 * shape)
    expected = law.logpdf(x * law.std()) + np.log(law.std())
    np.testing.assert_allclose(power_log_density(x**2, 1, shape), expected, rtol=1e-10)


@pytest.mark.parametrize("shape", [0.5, 0.7, 1.0, 1.5])
@pytest.mark.parametrize("d", [1, 3])
def test_maximum_likelihood_finds_the_parameters(d, shape):
    root = np.tril(np.full((d, d), 0.5)) + np.eye(d)
    one = PowerComponent(1.0, np.full(d, 3.0), root, np.linalg.inv(root).T, shape=shape)
    found = []
    for seed in range(8):
        fit = GeneralisedNormalAnchor().fit(one.sample(1000, np.random.default_rng(seed)))
        covariance = fit.component_.cholesky @ fit.component_.cholesky.T
        found.append([np.log(fit.shape_), fit.component_.mean[0], np.log(covariance[0, 0])])
    found = np.array(found)
    truth = np.array([np.log(shape), 3.0, np.log((root @ root.T)[0, 0])])
    # Eight fits tell the standard error of their mean to a quarter; four of these, and .01 nats.
    error = found.std(axis=0, ddof=1) / np.sqrt(8)
    assert (np.abs(found.mean(axis=0) - truth) < 4 * error + 0.01).all(), (
        found.mean(axis=0),
        truth,
    )


def test_rows_are_drawn_from_the_density(rng):
    rows = standard(2, 0.5).sample(4000, rng)
    # The radius of a plane's Laplace-like law: (scale r) has a gamma distribution of shape two.
    scale = np.sqrt(3.0) / 1.0
    assert stats.kstest(scale * np.linalg.norm(rows, axis=1), stats.gamma(2).cdf).pvalue > 1e-3


def test_a_normal_sample_has_a_normal_fit(rng):
    X = rng.normal(size=(4000, 3))
    fit = GeneralisedNormalAnchor().fit(X)
    # The shape's standard error is near .02 here.
    assert fit.shape_ == pytest.approx(1.0, abs=0.08)
    gap = fit.score_samples(X) - GaussianAnchor().fit(X).score_samples(X)
    assert np.abs(gap.mean()) < 2e-3
