"""What passes the way out: no impossible number."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from isthmus.functionals import Estimate, get_divergence
from isthmus.functionals.possible import ABSURD, NO_LARGEST

VALUES = [-np.inf, -1e15, -3.0, -0.01, 0.0, 1e-300, 0.5, 0.7, 2.0, 1e25, 1e300, np.inf, np.nan]
ERRORS = [0.0, 1e-15, 0.01, 1.0, 1e9, 1e300, np.inf, np.nan]


@pytest.mark.parametrize("spec", ["kl", "js", "tv", "chi2"])
def test_whatever_was_worked_out(spec):
    divergence = get_divergence(spec)
    for value, error, further in itertools.product(VALUES, ERRORS, [(0.0, 0.0), (1.0, 5.0)]):
        e = divergence.estimate(value, error, further)
        assert 0.0 <= e.low <= e.value <= e.high <= divergence.upper
        assert not math.isinf(e.high) or e.reason
        assert e.std_error >= 0 and not math.isnan(e.std_error)
        # An interval of no length is that of a number without error.
        if e.low == e.high and e.value < divergence.upper:
            assert e.std_error <= 1e-12 * e.value  # to rounding


def test_noise_around_zero_has_an_interval():
    e = Estimate.within(-0.05, 0.01, -0.07, -0.03, lower=0.0)
    # It cannot be closer to the truth than zero is.
    assert (e.value, e.low, e.high, e.reason) == (0.0, 0.0, 0.05, "")


@pytest.mark.parametrize("value", [-1.1e15, -2.2e8, -np.inf])
def test_a_broken_fit_is_said(value):
    e = Estimate.within(value, 1.0, 0.0, 0.0, lower=0.0)
    assert (e.low, e.high) == (0.0, np.inf) and "impossible" in e.reason
    assert math.isinf(e.std_error) and e.unclipped == value


def test_above_the_largest_value():
    e = Estimate.within(5.6e14, 1.0, 5e14, 6e14, lower=0.0, upper=1.0)
    assert (e.value, e.low, e.high) == (1.0, 0.0, 1.0) and "impossible" in e.reason


def test_an_infinite_value_keeps_what_is_proven():
    e = Estimate.within(np.inf, 0.0, 3.0, np.inf, lower=0.0)
    assert (e.value, e.low, e.high, e.reason) == (np.inf, 3.0, np.inf, NO_LARGEST)


def test_an_error_larger_than_the_value_has_no_upper_end():
    e = Estimate.within(2.0, 3.0, -4.0, 8.0, lower=0.0)
    assert (e.low, e.high, e.reason) == (0.0, np.inf, ABSURD)
    # Near zero it is as it should be.
    assert Estimate.within(0.1, 0.3, -0.5, 0.7, lower=0.0).high == 0.7


class TestRowsThatItRestsOn:
    def test_all_rows_alike(self):
        t = np.full(50, 3.0)
        assert get_divergence("kl").rests_on(t, -t) == pytest.approx(50.0)

    @pytest.mark.parametrize("spec", ["kl", "js", "tv", "chi2"])
    def test_a_weight_that_is_all(self, spec):
        t = np.linspace(-1.0, 1.0, 50)
        weight = np.ones(50)
        weight[3] = 1e6
        assert get_divergence(spec).rests_on(t, t, weight) < 1.01

    def test_a_term_that_is_all(self):
        t = np.append(np.zeros(50), 200.0)
        assert get_divergence("chi2").rests_on(t, t) == pytest.approx(1.0)
        assert get_divergence("js").rests_on(t, t) > 1.0

    def test_terms_that_no_float_holds(self):
        t = np.full(20, 1000.0)
        assert get_divergence("renyi:2").rests_on(t, t) == pytest.approx(20.0)

    def test_nothing_is_no_division_by_zero(self):
        assert get_divergence("kl").rests_on(np.zeros(9), np.zeros(7)) == pytest.approx(7.0)
