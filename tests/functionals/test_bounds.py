"""Bounds on KL, importance weights and effective sample size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isthmus.functionals import (
    donsker_varadhan,
    effective_sample_size,
    get_divergence,
    importance_weights,
    nwj,
)

BOUNDS = [donsker_varadhan, nwj]


@st.composite
def pairs_and_functions(draw):
    size = draw(st.integers(2, 6))
    numbers = st.lists(st.floats(-4, 4), min_size=size, max_size=size)
    p, q = np.exp(draw(numbers)), np.exp(draw(numbers))
    return p / p.sum(), q / q.sum(), np.array(draw(numbers))


@settings(max_examples=100, deadline=None)
@given(pairs_and_functions())
def test_bounds_are_ordered_below_kl_and_tight_at_the_log_ratio(case):
    p, q, t = case
    log_ratio = np.log(p / q)
    kl = get_divergence("kl").value(log_ratio, log_ratio, p, q)
    dv, lower = donsker_varadhan(t, t, p, q), nwj(t, t, p, q)
    assert lower <= dv + 1e-12 * (1 + abs(lower))
    assert dv <= kl + 1e-12
    # Formulas written out, with nothing in log space.
    assert dv == pytest.approx(p @ t - np.log(q @ np.exp(t)), abs=1e-12)
    assert lower == pytest.approx(p @ t - q @ np.exp(t) + 1, rel=1e-12, abs=1e-12)
    for bound in BOUNDS:
        assert bound(log_ratio, log_ratio, p, q) == pytest.approx(kl, abs=1e-11)
    assert donsker_varadhan(t + 5, t + 5, p, q) == pytest.approx(dv, abs=1e-11)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_on_gaussian_samples(bound, seed):
    # p = N(1, 1), q = N(0, 1): t = x - 1/2, KL = 1/2. E_q[e^t] has mean 1, variance e - 1;
    # E_p[t] has variance 1.
    rng = np.random.default_rng(seed)
    n = 20_000
    t_p, t_q = rng.normal(1, 1, n) - 0.5, rng.normal(0, 1, n) - 0.5
    assert abs(bound(t_p, t_q) - 0.5) <= 4 * np.sqrt((1 + np.e - 1) / n)
    # Half the slope: the bounds fall clearly below 1/2, to values known in closed form.
    weaker = {donsker_varadhan: 0.375, nwj: 0.25 - np.exp(-0.125) + 1}[bound]
    assert abs(bound(t_p / 2, t_q / 2) - weaker) <= 4 * np.sqrt((0.25 + np.exp(0.25)) / n)


@pytest.mark.filterwarnings("error")
def test_bounds_at_extremes():
    assert donsker_varadhan([1000.0], [-1000.0, -1000.0]) == pytest.approx(2000.0)
    assert donsker_varadhan([1000.0], [1000.0, -1000.0]) == pytest.approx(np.log(2))
    assert nwj([1000.0], [-1000.0]) == 1001.0
    assert nwj([1000.0], [1000.0]) == -np.inf
    assert donsker_varadhan([1.0], [-np.inf]) == np.inf
    assert nwj([1.0], [-np.inf]) == 2.0
    # A term may overflow, or the sum of a thousand, where their mean does not.
    assert nwj([0.0], np.full(1000, 709.0)) == pytest.approx(-np.exp(709.0))
    one_large = np.full(1000, -1000.0)
    one_large[0] = 712.0
    assert nwj([0.0], one_large) == pytest.approx(-np.exp(712 - np.log(1000)))
    for bound in BOUNDS:
        with pytest.raises(ValueError, match="opposite sign"):
            bound([np.inf], [np.inf])


@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_share_the_conventions(bound):
    rng = np.random.default_rng(4)
    t_p, t_q = rng.normal(1, 1, (3, 8)), rng.normal(-1, 1, (3, 6))
    together = bound(t_p, t_q)
    assert together == pytest.approx([bound(a, b) for a, b in zip(t_p, t_q, strict=True)])
    assert isinstance(bound(t_p[0], t_q[0]), float)
    n_p, n_q = np.array([0, 1, 2, 3, 0, 1, 1, 1]), np.array([1, 0, 2, 1, 3, 1])
    repeated = bound(np.repeat(t_p[0], n_p), np.repeat(t_q[0], n_q))
    assert bound(t_p[0], t_q[0], n_p, n_q) == pytest.approx(repeated, rel=1e-12)
    with pytest.raises(ValueError, match="log_r_q must not contain NaN"):
        bound([0.0], [np.nan])
    with pytest.raises(ValueError, match="weight_p must be finite and at least 0"):
        bound([0.0], [0.0], [-1.0])


def test_importance_weights_are_proportional_to_the_ratio_with_mean_one():
    r = np.array([0.2, 1.0, 5.0])
    for shift in (-1000.0, 0.0, 1000.0):
        w = importance_weights(np.log(r) + shift)
        np.testing.assert_allclose(w, r / r.mean(), rtol=1e-12)
    draws = np.log([r, 100 * r**2])
    np.testing.assert_allclose(importance_weights(draws).mean(axis=-1), 1.0, rtol=1e-14)


@pytest.mark.filterwarnings("error")
def test_weights_at_extremes():
    np.testing.assert_array_equal(importance_weights([1000.0, -1000.0]), [2.0, 0.0])
    np.testing.assert_array_equal(importance_weights([0.0, -np.inf]), [2.0, 0.0])
    np.testing.assert_array_equal(importance_weights([1e308, -1e308]), [2.0, 0.0])
    assert effective_sample_size([1000.0, -1000.0]) == 1.0
    assert effective_sample_size([-1000.0] * 7) == 7.0
    for function in (importance_weights, effective_sample_size):
        for bad in ([np.inf, 0.0], [-np.inf, -np.inf], [[0.0], [np.inf]]):
            with pytest.raises(ValueError, match=r"log_ratio must be below \+inf"):
                function(bad)
        with pytest.raises(ValueError, match="log_ratio must not contain NaN"):
            function([np.nan])
        with pytest.raises(ValueError, match="at least one axis"):
            function([])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8))
def test_effective_sample_size_is_kishs(t):
    r = np.exp(t)
    size = effective_sample_size(np.array(t) + 900)
    assert size == pytest.approx(r.sum() ** 2 / (r**2).sum(), rel=1e-9)
    assert 1 <= size <= len(t)


def test_effective_sample_size_of_draws_and_its_link_to_chi2():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    rows = np.repeat(np.log(p / q), [2, 2, 6])  # ten rows that are exactly q
    chi2 = np.sum((p - q) ** 2 / q)
    assert effective_sample_size(rows) == pytest.approx(10 / (1 + chi2), rel=1e-12)
    draws = np.stack([rows, np.zeros(10)])
    np.testing.assert_allclose(effective_sample_size(draws), [10 / (1 + chi2), 10.0])
