"""The closed-form spectral estimator: exact cases, integrals, and what it can and cannot do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from isthmus import stack
from isthmus.baselines import SpectralDRE
from isthmus.baselines.spectral import FeatureMoments, spectral_weights


@pytest.mark.parametrize("a", [0.02, 0.3, 0.4999, 0.5, 0.50049, 0.9, 0.999])
def test_weights_are_the_integrals(a):
    def mixed(s):
        return (1 - s) * (1 - a) + s * a

    ratio, kl = (part[0] for part in spectral_weights(np.array([a])))
    assert ratio == pytest.approx(quad(lambda s: 1 / mixed(s), 0, 1)[0], rel=1e-6)
    assert kl == pytest.approx(quad(lambda s: (1 - s) / mixed(s), 0, 1)[0], rel=1e-6)


def test_solution_is_the_integral_of_least_squares_solutions():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 30, 4))
    moments = FeatureMoments(A.mean(0), B.mean(0), A.T @ A / 30, B.T @ B / 30)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    shares, weights = 0.5 * (nodes + 1), 0.5 * weights
    ridge = 0.01 * np.linalg.eigvalsh(moments.second_p + moments.second_q).mean() * np.eye(4)
    gap = moments.mean_p - moments.mean_q
    solved = [
        np.linalg.solve((1 - s) * moments.second_q + s * moments.second_p + ridge, gap)
        for s in shares
    ]
    coef, kl = moments.solve(0.01)
    np.testing.assert_allclose(coef, weights @ np.array(solved), rtol=1e-8, atol=1e-10)
    assert kl == pytest.approx(weights @ ((1 - shares) * (np.array(solved) @ gap)), rel=1e-8)


def test_levels_are_counted_exactly():
    rng = np.random.default_rng(1)
    p, q = rng.integers(0, 4, (2, 300, 1)).astype(float)
    q[:100] = 0.0

    def levels(x):
        return (x == np.arange(4.0)).astype(float)

    model = SpectralDRE(levels, l2=0.0).fit(*stack(p, q))
    share_p, share_q = (levels(x).mean(axis=0) for x in (p, q))
    truth = np.log(share_p / share_q)
    np.testing.assert_allclose(model.log_ratio(np.arange(4.0)), truth, rtol=1e-9)
    assert model.kl_ == pytest.approx(share_p @ truth, rel=1e-9)


def test_overlapping_normals_over_seeds():
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        p, q = rng.normal(0.0, 1.0, (2000, 2)), rng.normal(0.5, 1.0, (2000, 2))
        model = SpectralDRE(random_state=seed).fit(*stack(p, q))
        fresh = rng.normal(0.0, 1.0, (2000, 2))
        errors.append(model.log_ratio(fresh).mean() - 0.25)
    # One estimate has a standard error of about sqrt(2 * .5 / 2000) = .022, from the rows and as
    # much from the fresh ones; four of them for the mean of five, and .02 for the ridge.
    assert abs(np.mean(errors)) < 4 * 0.03 / np.sqrt(5) + 0.02


def test_an_affine_map_changes_nothing():
    rng = np.random.default_rng(2)
    p, q = rng.normal(0.0, 1.0, (400, 2)), rng.normal(0.4, 1.2, (400, 2))
    A = np.array([[2.0, 1.0], [0.0, 30.0]])
    one = SpectralDRE(random_state=0).fit(*stack(p, q)).log_ratio(p)
    other = SpectralDRE(random_state=0).fit(*stack(p @ A + 7.0, q @ A + 7.0)).log_ratio(p @ A + 7.0)
    # Small penalties multiply rounding by up to 1e8.
    np.testing.assert_allclose(other, one, atol=1e-5)


def test_bad_parameters_are_named():
    X, y = stack(np.zeros((5, 1)) + np.arange(5.0)[:, None], np.arange(5.0)[:, None])
    with pytest.raises(ValueError, match="features must be"):
        SpectralDRE("cubic").fit(X, y)
    with pytest.raises(ValueError, match="l2 must be"):
        SpectralDRE(l2=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="quadratic features"):
        SpectralDRE("quadratic").fit(*stack(np.eye(120), 2.0 * np.eye(120)))
