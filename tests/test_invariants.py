"""No impossible number: what few rows, extreme columns, weights and separate samples give."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from isthmus import compare
from isthmus.data.telling import quiet

LIMITS = {"kl": np.inf, "reverse-kl": np.inf, "js": np.log(2), "tv": 1.0, "chi2": np.inf}


def possible(c):
    """Every divergence within what is possible, and an infinite end with a reason."""
    for spec, most in LIMITS.items():
        e = c.divergence(spec)
        assert 0.0 <= e.low <= e.value <= e.high <= most + 1e-12, (spec, e)
        assert e.reason or not math.isinf(e.high), (spec, e)
    with quiet("The rows of q reach"):
        bound = c.kl_lower_bound()
    assert 0.0 <= bound.low <= bound.value
    weights = c.weights()
    assert np.isfinite(weights).all() and (weights >= 0).all()
    return c


def normals(n, m, d=2, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    return rng.normal(shift, 1, (n, d)), rng.normal(0, 1, (m, d))


class TestNoRowCouldBeOfBoth:
    """The truth is infinite: it is said, with what is proven."""

    def apart(self, p, q):
        c = compare(p, q, random_state=0)
        possible(c)
        assert not c.trusted and c.kl == np.inf and c.kl.high == np.inf
        assert "no value of column" in c.kl.reason or "only in p (100 %" in c.kl.reason
        assert 0.0 < c.kl.low < 20.0
        assert c.divergence("js") == pytest.approx(np.log(2)) and c.divergence("tv") == 1.0

    def test_constants(self):
        self.apart(np.ones(24), np.zeros(24))

    def test_one_row_against_many(self):
        self.apart(np.full((60, 1), 0.3), np.random.default_rng(0).normal(size=(60, 1)))

    @pytest.mark.parametrize("n", [40, 300])
    def test_levels(self, n):
        rng = np.random.default_rng(0)
        p, q = (
            pd.DataFrame({"a": rng.choice(list(levels), n), "b": rng.normal(size=n)})
            for levels in ("xy", "uv")
        )
        with pytest.warns(UserWarning, match="levels"):
            self.apart(p, q)

    def test_codes(self):
        rng = np.random.default_rng(0)
        self.apart(rng.choice([0.0, 1.0], (60, 1)), rng.choice([2.0, 3.0], (60, 1)))


def test_counts_far_apart_are_numbers():
    # Poisson: KL = 4 log(4/90) + 86, some 73.5 nats, and no infinity.
    rng = np.random.default_rng(0)
    p, q = rng.poisson(4, (150, 1)), rng.poisson(90, (150, 1))
    assert math.isfinite(possible(compare(p, q, random_state=0)).kl.value)


class TestFewRows:
    @pytest.mark.parametrize(("n", "m"), [(4, 800), (5, 5), (4, 4), (800, 4)])
    def test_have_no_upper_end(self, n, m):
        c = possible(compare(*normals(n, m), random_state=0))
        if min(n, m) < 5 or n == 5:
            assert c.kl.high == np.inf and not c.trusted

    def test_a_weight_that_is_all_proves_nothing(self):
        p, q = normals(100, 100)
        weight = np.ones(100)
        weight[0] = 1e6
        c = possible(compare(p, q, weight_p=weight, random_state=0))
        assert c.kl.low == 0.0 and c.kl.high == np.inf and not c.trusted


class TestExtremes:
    def test_weights_of_any_size(self):
        p, q = normals(100, 100)
        plain = compare(p, q, random_state=0)
        scaled = compare(
            p, q, weight_p=np.full(100, 1e-300), weight_q=np.full(100, 1e300), random_state=0
        )
        assert scaled.kl.value == pytest.approx(plain.kl.value, abs=1e-9)

    @pytest.mark.parametrize("last", [1.0, 1e8])
    def test_weights_of_which_a_few_decide(self, last):
        p, q = normals(100, 100)
        weight = np.sort(10.0 ** np.random.default_rng(0).uniform(-300, 300, 100))
        weight[-1] *= last
        c = possible(compare(p, q, weight_p=weight, random_state=0))
        assert not c.trusted and c.kl.low == 0.0 and c.kl.high == np.inf

    def test_whole_numbers_at_their_ends(self):
        rng, ends = np.random.default_rng(0), np.iinfo(np.int64)
        p, q = (rng.integers(ends.min, ends.max, (80, 2)) for _ in range(2))
        assert possible(compare(p, q, random_state=0)).kl.value < 2.0

    def test_tails_of_tails(self):
        p, q = normals(150, 150, d=1, shift=0.3)
        assert possible(compare(np.exp(np.exp(p)), np.exp(np.exp(q)), random_state=0)).kl < 2.0

    def test_noise_on_a_large_number(self):
        # Rounded to eighths at 1e15; the KL is 0.5.
        p, q = normals(200, 200, d=1, shift=1.0)
        kl = possible(compare(p + 1e15, q + 1e15, random_state=0)).kl
        assert abs(kl.value - 0.5) < 4 * max(kl.std_error, 0.05)

    def test_too_small_to_vary(self):
        p, q = normals(50, 50, d=1)
        with pytest.raises(ValueError, match=r"vary by more than rounding.*span .*e-300"):
            compare(p * 1e-300, q * 1e-300)
        with pytest.raises(ValueError, match="same row throughout"):
            compare(p * 0.0, q * 0.0)


def test_a_rare_one_is_no_constant():
    rng = np.random.default_rng(0)
    p, q = np.zeros((4000, 1)), np.zeros((4000, 1))
    p[rng.permutation(4000)[:6]], q[7] = 1.0, 1.0
    c = possible(compare(p, q, random_state=0))
    # About 0.0015 log(6).
    assert c.kl.value < 0.02


def test_chi2_across_a_chasm_has_no_upper_end():
    rng = np.random.default_rng(0)
    c = possible(compare(rng.normal(-1, 0.08, 600), rng.normal(2, 0.15, 600), random_state=0))
    chi2 = c.divergence("chi2")
    assert c.kl.high < 400 and chi2.high == np.inf and chi2.reason and chi2.low < 1e4
