"""Importance weights and effective sample size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isthmus.functionals import effective_sample_size, importance_weights


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


def test_the_ratio_itself():
    r = np.array([0.0, 0.2, 5.0])
    with np.errstate(divide="ignore"):
        t = np.log(r)
    np.testing.assert_allclose(importance_weights(t, normalise=False), r, rtol=1e-15)
    largest = importance_weights([1e4, np.inf], normalise=False)
    assert np.isfinite(largest).all() and (largest > 1e307).all()
    with pytest.raises(ValueError, match=r"^log_ratio must not contain NaN"):
        importance_weights([np.nan], normalise=False)


def test_every_set_of_rows_has_a_scale_of_its_own():
    t = np.array([[1000.0, 1000.0], [-1000.0, -1000.0]])
    np.testing.assert_array_equal(importance_weights(t), np.ones((2, 2)))
    np.testing.assert_array_equal(effective_sample_size(t), [2.0, 2.0])


def test_the_refusal_begins_with_the_argument():
    with pytest.raises(ValueError, match=r"^log_ratio must be below \+inf.* a maximum of inf\.$"):
        importance_weights([0.0, np.inf])


def test_rounding_does_not_lead_beyond_the_number_of_rows():
    # Some of these sums, squared and divided, are above n by their last digit.
    rng = np.random.default_rng(0)
    for n in range(2, 60):
        assert effective_sample_size(rng.normal(size=n) * 1e-9) <= n
