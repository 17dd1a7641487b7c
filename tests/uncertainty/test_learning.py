"""Intervals that know what is still to be learned."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.crossfit import Smaller
from isthmus.functionals import get_divergence
from isthmus.uncertainty.learning import FAST, SLOW, further_end, learned_estimate

KL = get_divergence("kl")


def learned(scale, n=2000, seed=0):
    """A log-ratio of two shifted normals, learned as far as a share of it, at the same rows."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(0.5, 1, n), rng.normal(-0.5, 1, n)
    return scale * p, scale * q


def smaller(scale, share=1 / 3, full=0.9, **how):
    return Smaller(*learned(scale, **how), share, full)


def ratios(scale, **how):
    p, q = learned(scale, **how)
    return p, q, np.ones(len(p)), np.ones(len(q))


class TestAhead:
    @pytest.mark.parametrize("rate", [1 / 3, 0.5, 0.75, 1.0])
    def test_a_curve_that_follows_the_rate_is_followed_to_its_end(self, rate):
        share, full, end, c = 0.5, 0.8, 2.0, 0.3
        at_share, at_full = (end - c * x**-rate for x in (share, full))
        one = Smaller(np.zeros(1), np.zeros(1), share, full)
        assert at_full + one.ahead(rate) * (at_full - at_share) == pytest.approx(end)

    def test_slow_curves_lead_further(self):
        one = Smaller(np.zeros(1), np.zeros(1), 1 / 3, 0.9)
        assert one.ahead(1 / 3) > one.ahead(0.5) > one.ahead(0.75) > one.ahead(1.0) > 0


class TestLearnedEstimate:
    def test_without_fits_to_fewer_rows(self):
        found = learned_estimate(KL, ratios(0.8), None, 0.95)
        assert found.value == pytest.approx(float(KL.value(*ratios(0.8))))
        assert found.low < found.value < found.high and found.method == "learned"
        assert (found.high - found.value) / found.std_error == pytest.approx(1.96, abs=0.01)

    def test_a_flat_curve_changes_nothing(self):
        one, other = (learned_estimate(KL, ratios(0.8), s, 0.95) for s in (None, smaller(0.8)))
        assert other.value == one.value and other.high == one.high and other.low == one.low

    def test_a_falling_curve_is_not_followed(self):
        plain = learned_estimate(KL, ratios(0.8), None, 0.95)
        found = learned_estimate(KL, ratios(0.8), smaller(0.95), 0.95)
        assert found.value == plain.value and found.low == plain.low
        # Its noise may have hidden a gain: the upper end is a little further out.
        assert plain.high < found.high < plain.high + 0.02

    def test_a_rising_curve_is_followed(self):
        before, fewer = ratios(0.8), smaller(0.5)
        plain = learned_estimate(KL, before, None, 0.95)
        found = learned_estimate(KL, before, fewer, 0.95)
        gain = float(KL.value(*before)) - float(KL.value(*ratios(0.5)))
        # So many rows leave little doubt about the gain: almost all of it counts.
        ahead = fewer.ahead(FAST) * gain
        assert 0.9 * ahead < found.value - plain.value <= ahead
        assert found.std_error > plain.std_error
        # From what was learned to where the slow rate leads, and beyond by the error.
        assert found.low <= plain.value and found.high >= plain.value + fewer.ahead(SLOW) * gain

    def test_noise_is_not_followed(self):
        # A gain within its noise counts for a part of it at most.
        rng = np.random.default_rng(0)
        t = ratios(0.8, n=30)
        other = Smaller(*(r + rng.normal(0, 1, 30) for r in t[:2]), 0.5, 0.9)
        plain, found = (learned_estimate(KL, t, s, 0.95) for s in (None, other))
        gain = plain.value - float(KL.value(other.log_ratio_p, other.log_ratio_q))
        assert found.value - plain.value <= max(0.8 * other.ahead(FAST) * gain, 0.0)

    @pytest.mark.parametrize("spec", ["kl", "js", "tv", "hellinger", "chi2"])
    def test_stays_within_what_is_possible(self, spec):
        divergence = get_divergence(spec)
        found = learned_estimate(divergence, ratios(4.0), smaller(0.1), 0.95)
        assert 0 <= found.low <= found.high <= divergence.upper

    def test_infinite_ratios(self):
        p, q, *weights = ratios(1.0)
        p = np.r_[p[:-1], np.inf]
        found = learned_estimate(KL, (p, q, *weights), smaller(0.5), 0.95)
        assert found.high == np.inf and found.std_error == np.inf

    def test_the_scale_of_weights_is_irrelevant(self):
        p, q, *_ = ratios(0.8)
        weight = np.random.default_rng(0).uniform(0, 1, 2000)
        one, other = (
            learned_estimate(KL, (p, q, s * weight, np.full(2000, s)), smaller(0.5), 0.95)
            for s in (1.0, 64.0)
        )
        assert one.value == pytest.approx(other.value) and one.high == pytest.approx(other.high)


class TestFurtherEnd:
    def test_of_nothing(self):
        assert further_end(KL, ratios(0.8), None) == 0.0
        assert further_end(KL, ratios(0.8), smaller(0.8)) == 0.0
        assert further_end(KL, ratios(0.8), smaller(0.9)) == 0.0

    def test_where_the_curve_rises(self):
        fewer = smaller(0.5)
        gain = float(KL.value(*ratios(0.8))) - float(KL.value(*ratios(0.5)))
        assert further_end(KL, ratios(0.8), fewer) == pytest.approx(fewer.ahead(SLOW) * gain)
