"""CTSM and flow matching: what they regress on, their formulas, and small fits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from isthmus import stack
from isthmus.baselines import CTSM, FlowMatching, PlugIn
from isthmus.baselines.ctsm import conditional_targets
from isthmus.baselines.time_network import Clock
from isthmus.baselines.time_score import Path, integrate
from isthmus.baselines.velocity import NormalVelocity, Velocity, inputs
from isthmus.neural import mlp, seeded

PATH = Path(
    "linear",
    mean_p=np.array([1.0, -0.5]),
    mean_q=np.array([-1.0, 0.0]),
    variance_p=np.array([0.3, 0.8]),
    variance_q=np.array([0.7, 0.2]),
    noise=0.8,
)
# Nothing is learned: one step of no length.
STILL = {"steps": 1, "lr": 1e-300, "width": 4, "depth": 1}


def normals(seed=0, n=1500):
    rng = np.random.default_rng(seed)
    p = rng.standard_normal((n, 2)) @ np.array([[0.8, 0.4], [0.0, 0.5]])
    return p, rng.normal(0.7, 1.2, (n, 2))


def rows_of_path(n, rng):
    x_p = PATH.mean_p + np.sqrt(PATH.variance_p) * rng.standard_normal((n, 2))
    x_q = PATH.mean_q + np.sqrt(PATH.variance_q) * rng.standard_normal((n, 2))
    return x_p, x_q, rng.standard_normal((n, 2))


class TestBridge:
    def test_score_of_the_path_is_the_derivative_of_its_log_density(self):
        Y, h = np.random.default_rng(0).normal(0, 1, (20, 2)), 1e-5

        def log_density(t):
            mean, variance, *_ = PATH.moments(t)
            return norm.logpdf(Y, mean, np.sqrt(variance)).sum(axis=1)

        for t in (0.1, 0.5, 0.9):
            numeric = (log_density(t + h) - log_density(t - h)) / (2 * h)
            np.testing.assert_allclose(PATH.score(Y, t), numeric, rtol=1e-6, atol=1e-6)

    def test_noise_changes_the_path_and_not_its_integral(self):
        Y = np.random.default_rng(0).normal(0, 1, (20, 2))
        still = integrate(replace(PATH, noise=0.0).score, Y, 1e-8)
        np.testing.assert_allclose(integrate(PATH.score, Y, 1e-8), still, rtol=1e-6, atol=1e-6)


class TestTargets:
    def test_are_derivatives_of_the_conditional_log_density(self):
        rng, clock, h = np.random.default_rng(0), Clock(PATH), 1e-6
        x_p, x_q, noise = rows_of_path(30, rng)
        tau = rng.uniform(0.1, 0.9, 30)
        found = conditional_targets(PATH, clock, x_p, x_q, tau, noise)
        t = found.t
        X = (1 - t) * x_q + t * x_p + PATH.noise * np.sqrt(t * (1 - t)) * noise

        def log_density(t):
            return norm.logpdf(X, (1 - t) * x_q + t * x_p, PATH.noise * np.sqrt(t * (1 - t)))

        numeric = (log_density(t + h) - log_density(t - h)) / (2 * h)
        np.testing.assert_allclose(found.target, numeric, rtol=1e-5, atol=1e-5)

    def test_average_to_the_time_score(self):
        rng, clock, n = np.random.default_rng(1), Clock(PATH), 200_000
        tau = np.full(n, clock.tau(0.4))
        x_p, x_q, noise = rows_of_path(n, rng)
        found = conditional_targets(PATH, clock, x_p, x_q, tau, noise)
        # The mean of the target given x_t is the score: the difference is orthogonal to
        # every function of x_t, here to 1, z and z^2.
        rest = found.target - found.known
        for function in (np.ones_like(found.Z), found.Z, found.Z**2):
            product = rest * function
            error = product.std(axis=0) / np.sqrt(n)
            assert (np.abs(product.mean(axis=0)) < 4 * error).all()
        np.testing.assert_allclose(found.target.std(axis=0), found.spread[0], rtol=0.02)


@pytest.mark.parametrize("vectorised", [True, False])
def test_ctsm_that_is_anchored_starts_from_two_normals(vectorised):
    p, q = normals()
    model = CTSM(vectorised, anchor="gaussian", tol=1e-6, **STILL).fit(*stack(p, q))
    exact = PlugIn(unbiased=True).fit(*stack(p, q)).log_ratio(p[:100])
    np.testing.assert_allclose(model.log_ratio(p[:100]), exact, rtol=1e-4, atol=1e-4)


def test_ctsm_without_anchor_starts_from_nothing():
    p, q = normals()
    assert not CTSM(**STILL).fit(*stack(p, q)).log_ratio(p).any()


def test_flow_that_is_anchored_starts_from_two_normals():
    p, q = normals()
    settings = {"anchor": "gaussian", "end": 1e-3, "ode_steps": 60, **STILL}
    model = FlowMatching(**settings).fit(*stack(p, q))
    exact = PlugIn(unbiased=True).fit(*stack(p, q)).log_ratio(p[:100])
    # Rows are taken for those of t = .999: an error of the order of .001 of their log-ratio.
    np.testing.assert_allclose(model.log_ratio(p[:100]), exact, rtol=0.01, atol=0.01)


def test_flow_without_anchor_starts_from_nothing():
    p, q = normals()
    assert not FlowMatching(**STILL).fit(*stack(p, q)).log_ratio(p[:50]).any()


class TestVelocity:
    def test_of_a_normal_is_the_regression_on_its_rows(self):
        rng, n, t = np.random.default_rng(0), 200_000, 0.7
        base = NormalVelocity(np.array([0.5, -1.0]), np.array([0.2, 2.0]), np.eye(2))
        x = base.mean + np.sqrt(base.variances) * rng.standard_normal((n, 2))
        z = rng.standard_normal((n, 2))
        X = (1 - t) * z + t * x
        rest = x - z - base.at(X, t)
        for function in (np.ones_like(X), X):
            product = rest * function
            assert (np.abs(product.mean(axis=0)) < 4 * product.std(axis=0) / np.sqrt(n)).all()

    def test_divergence_is_that_of_differences(self):
        import torch

        X, h, t = np.random.default_rng(0).normal(size=(6, 3)), 1e-5, 0.6
        with seeded(np.random.default_rng(0)):
            net = mlp(inputs(X, np.zeros((6, 1)), 0.0).shape[1], 3, width=8, depth=2)
            torch.nn.init.normal_(net[-1].weight)
        base = NormalVelocity(np.zeros(3), np.array([0.5, 1.0, 2.0]), np.eye(3))
        one = Velocity(base, net.double(), 1.0, np.eye(3))
        numeric = np.zeros(6)
        for i, step in enumerate(h * np.eye(3)):
            ahead, behind = (one.with_divergence(X + s * step, t)[0] for s in (1, -1))
            numeric += (ahead - behind)[:, i] / (2 * h)
        np.testing.assert_allclose(one.with_divergence(X, t)[1], numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("make", [CTSM, FlowMatching])
def test_shifted_normals_are_learned(make):
    errors, still = [], []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        p, q = rng.normal(0.0, 1.0, (1500, 1)), rng.normal(2.0, 1.0, (1500, 1))
        model = make(width=32, depth=2, steps=500, batch_size=256, lr=5e-3, random_state=seed)
        rows = np.linspace(-1.0, 3.0, 21)
        truth = 2.0 - 2.0 * rows
        errors.append(np.abs(model.fit(*stack(p, q)).log_ratio(rows) - truth).mean())
        still.append(np.abs(truth).mean())
    # Means of 1,500 rows leave an error of .1; a fifth of the ratio's size is .42.
    assert np.mean(errors) < 0.2 * np.mean(still)


@pytest.mark.parametrize("make", [CTSM, FlowMatching])
def test_bad_parameters_are_named(make):
    with pytest.raises(ValueError, match="anchor must be"):
        make(anchor="student-t").fit(*stack(*normals(n=30)))
    with pytest.raises(ValueError, match=r"(noise|end) must be"):
        make(**{"noise" if make is CTSM else "end": -1.0}).fit(*stack(*normals(n=30)))
