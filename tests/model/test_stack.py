"""The regression on the critics of candidates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from isthmus.data.blocks import MemoryBlocks
from isthmus.data.sample import Sample
from isthmus.model.objective import Objective
from isthmus.model.stack import SharedCritic, fit_stack


def shares(*counts):
    return [np.full(n, 1 / n) for n in counts]


def halves(*ratios):
    """Critics of p and q from log-ratios of candidates at the rows of one class, (n, 2, K)."""
    both = np.column_stack(ratios)
    return np.stack([0.5 * both, -0.5 * both], axis=1)


def true_and_noise(n, seed=0):
    """Rows whose log-ratio is known, with a candidate that says so and one that says nothing."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(0.5, 1, n), rng.normal(-0.5, 1, n)
    return [halves(x, rng.normal(size=n)) for x in (p, q)]


@pytest.mark.parametrize("classes", [2, 3])
def test_the_gradient_is_that_of_the_value(classes):
    rng = np.random.default_rng(0)
    samples = [Sample(rng.normal(size=(20, classes * 4)), rng.uniform(1, 2, 20))] * classes
    critic = SharedCritic(4, classes)
    blocks = MemoryBlocks(
        classes=samples,
        offsets=[rng.normal(size=(20, classes)) for _ in range(classes)],
        log_prior=np.full(classes, -np.log(classes)),
        learned=np.ones(classes, dtype=bool),
    )
    objective = Objective(critic, blocks, 0.7)
    theta = 0.1 * rng.normal(size=critic.n_parameters)
    numeric = approx_fprime(theta, lambda t: objective.at(t).value, 1e-6)
    # Differences of a value of some hundreds, over steps of 1e-6.
    np.testing.assert_allclose(objective.at(theta).gradient, numeric, rtol=1e-4, atol=1e-3)


def test_coefficients_are_shared_and_constants_are_not():
    critic = SharedCritic(2, 3)
    X = np.arange(6.0)[None]  # classes times candidates
    values = critic.values(np.array([1.0, 10.0, 0.0, 0.1, 0.2]), X)
    np.testing.assert_allclose(values, [[10.0, 33.0, 56.0]])


def test_the_truth_gets_one_and_noise_nothing():
    critics = true_and_noise(4000)
    found = fit_stack(critics, shares(4000, 4000), np.array([0.0, 1.0]), 8000.0)
    # The coefficient of the truth has a standard error of 2 / sqrt(4000 * .8), that of noise half.
    assert found.coefficients[0] == pytest.approx(1.0, abs=0.1)
    assert 0 <= found.coefficients[1] < 0.06
    assert found.solution.converged
    assert np.abs(found.constants[0] - found.constants[1]) < 0.1


def test_a_candidate_with_the_wrong_sign_gets_zero():
    rng = np.random.default_rng(0)
    p, q = rng.normal(0.5, 1, 1000), rng.normal(-0.5, 1, 1000)
    critics = [halves(-x) for x in (p, q)]
    found = fit_stack(critics, shares(1000, 1000), np.array([1.0]), 2000.0)
    assert found.coefficients[0] == 0.0


def test_few_rows_stay_at_the_start():
    few = true_and_noise(6)
    start = np.array([0.0, 1.0])
    coefficients = {
        rows: fit_stack(few, shares(6, 6), start, rows).coefficients for rows in (0.01, 12.0, 1e4)
    }
    # What rows say counts as many times as there are of them, the ridge once.
    np.testing.assert_allclose(coefficients[0.01], start, atol=0.01)
    pulled = [np.linalg.norm(one - start) for one in coefficients.values()]
    assert pulled == sorted(pulled)


def test_two_candidates_that_say_the_same_share():
    rng = np.random.default_rng(0)
    p, q = rng.normal(0.5, 1, 2000), rng.normal(-0.5, 1, 2000)
    critics = [halves(x, x) for x in (p, q)]
    found = fit_stack(critics, shares(2000, 2000), np.zeros(2), 4000.0)
    assert found.coefficients[0] == pytest.approx(found.coefficients[1], abs=1e-4)
    assert found.coefficients.sum() == pytest.approx(1.0, abs=0.12)


def test_weights_are_repeated_rows():
    critics = true_and_noise(50)
    times = np.random.default_rng(1).integers(1, 4, 50)
    start = np.array([1.0, 0.0])
    weighted = fit_stack(critics, [times / times.sum(), shares(50)[0]], start, 100.0)
    more = [np.repeat(critics[0], times, axis=0), critics[1]]
    repeated = fit_stack(more, shares(times.sum(), 50), start, 100.0)
    np.testing.assert_allclose(weighted.coefficients, repeated.coefficients, atol=1e-4)


def test_applied_to_critics():
    critics = true_and_noise(100)
    found = fit_stack(critics, shares(100, 100), np.array([1.0, 0.0]), 200.0)
    h = found(critics[0])
    assert h.shape == (100, 2)
    np.testing.assert_allclose(
        h[:, 0] - h[:, 1],
        2 * critics[0][:, 0] @ found.coefficients + found.constants[0] - found.constants[1],
    )
