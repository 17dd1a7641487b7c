"""The two-sample test: exact under the null, awake under shifts, deaf to what is irrelevant."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from isthmus import two_sample_test
from isthmus.diagnostics.two_sample import tail_scale

NULLS = {
    "normal": lambda rng, n: rng.normal(size=(n, 3)),
    "cauchy": lambda rng, n: rng.standard_cauchy((n, 2)),
    "counts": lambda rng, n: rng.poisson(0.7, (n, 2)),
    "constant": lambda rng, n: np.column_stack([np.ones(n), rng.integers(0, 2, n)]),
}


class TestSize:
    @pytest.mark.parametrize("name", NULLS)
    def test_p_values_are_uniform_or_larger(self, name):
        replications, level = 200, 0.1
        found = []
        for seed in range(replications):
            rng = np.random.default_rng([seed, len(name)])
            p, q = NULLS[name](rng, 20), NULLS[name](rng, 30)
            test = two_sample_test(p, q, n_permutations=39, random_state=seed)
            found.append(test.p_value)
        rejected = np.sum(np.array(found) <= level)
        # Exact but for ties, which only make p-values larger: beyond this quantile once in 10,000.
        assert rejected <= binom.ppf(1 - 1e-4, replications, level)
        if name in ("normal", "cauchy"):
            assert rejected >= binom.ppf(1e-4, replications, level)

    def test_the_least_p_value_is_one_over_the_permutations_and_one(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (100, 2)), rng.normal(50, 1, (100, 2))
        for count in (19, 99):
            test = two_sample_test(p, q, n_permutations=count, random_state=0)
            assert test.p_value == pytest.approx(1 / (count + 1))
            assert test.null.shape == (count,) and test.statistic > test.null.max()


def pair(kind, rng, n=150):
    p, q = rng.normal(size=(n, 6)), rng.normal(size=(n, 6))
    if kind == "mean":
        q += 0.4
    elif kind == "spread":
        q[:, 1] = 0.8 * q[:, 0] + 0.6 * q[:, 1]
    elif kind == "columns":
        q[:, 3] += 1.0
    elif kind == "shape":
        q = np.sign(q) * np.sqrt(np.abs(q) + 0.5)
    elif kind == "radius":
        q /= np.sqrt(rng.chisquare(2, (n, 1)) / 2)
    return p, q


class TestPower:
    @pytest.mark.parametrize("kind", ["mean", "spread", "columns", "shape", "radius"])
    def test_sees_every_kind_of_shift(self, kind):
        for seed in range(3):
            p, q = pair(kind, np.random.default_rng(seed))
            assert two_sample_test(p, q, n_permutations=199, random_state=0).p_value < 0.01

    def test_names_what_differs(self):
        p, q = pair("spread", np.random.default_rng(0))
        test = two_sample_test(p, q, random_state=0)
        assert test.kind == "spread" and "spread and correlations" in str(test)
        assert test.rejects() and test.rejects(0.01)

    def test_many_columns_and_few_rows(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(size=(60, 100)), rng.normal(size=(60, 100))
        quiet = two_sample_test(p, q, n_permutations=199, random_state=0)
        assert not quiet.rejects() and "Nothing tells" in str(quiet)
        assert two_sample_test(p, q + 0.4, n_permutations=199, random_state=0).rejects(0.01)
        # Every pair of columns correlates: only second moments know.
        half = rng.normal(size=(60, 50))
        tied = np.concatenate([half, half], axis=1) * np.sqrt(0.5) + q * np.sqrt(0.5)
        assert two_sample_test(p, tied, n_permutations=199, random_state=0).rejects(0.05)


class TestInvariance:
    def test_seeds(self):
        p, q = pair("mean", np.random.default_rng(0))
        first, second = (two_sample_test(p, q, random_state=3) for _ in range(2))
        assert first.p_value == second.p_value and first.statistic == second.statistic
        np.testing.assert_array_equal(first.null, second.null)

    def test_increasing_maps_and_units_do_not_matter(self):
        p, q = pair("columns", np.random.default_rng(1), 40)
        scale = 10.0 ** np.arange(-8, 10, 3)
        one = two_sample_test(p, q, n_permutations=99, random_state=0)
        two = two_sample_test(p * scale, q * scale, n_permutations=99, random_state=0)
        assert two.p_value == one.p_value
        assert two.statistic == pytest.approx(one.statistic, rel=1e-6)

    def test_a_duplicated_or_constant_column_is_no_trouble(self):
        p, q = pair("mean", np.random.default_rng(0), 60)
        for other in (
            (np.c_[p, p[:, :1]], np.c_[q, q[:, :1]]),
            (np.c_[p, np.ones(60)], np.c_[q, np.ones(60)]),
        ):
            assert two_sample_test(*other, n_permutations=99, random_state=0).rejects()

    def test_all_constant_tells_nothing(self):
        assert two_sample_test(np.ones((20, 2)), np.ones((30, 2)), random_state=0).p_value == 1.0

    def test_rows_are_capped_at_random(self):
        rng = np.random.default_rng(0)
        # The rows that differ are the last ones of a long file.
        p = rng.normal(size=(3000, 1))
        q = np.sort(rng.normal(0.5, 1, (3000, 1)), axis=0)
        assert two_sample_test(p, q, max_rows=300, n_permutations=99, random_state=0).rejects(0.05)


class TestInput:
    def test_frames_and_missing_values(self):
        rng = np.random.default_rng(0)
        p = pd.DataFrame({"x": rng.normal(size=200), "c": rng.choice(["u", "v"], 200)})
        q = pd.DataFrame({"c": rng.choice(["u", "v"], 200), "x": rng.normal(size=200)})
        assert two_sample_test(p, q, n_permutations=99, random_state=0).p_value > 0.01
        q.loc[:99, "x"] = np.nan
        assert two_sample_test(p, q, n_permutations=99, random_state=0).rejects(0.01)
        gaps = q["x"].to_numpy()[:, None]
        full = p["x"].to_numpy()[:, None]
        assert two_sample_test(full, gaps, n_permutations=99, random_state=0).rejects(0.01)

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"n_permutations": 5}, "n_permutations must be"),
            ({"max_rows": 1}, "max_rows must be"),
            ({"random_state": -1}, "random_state must be"),
        ],
    )
    def test_refusals(self, how, message):
        with pytest.raises(ValueError, match=message):
            two_sample_test(np.zeros((9, 1)), np.ones((9, 1)), **how)

    def test_columns_must_agree(self):
        with pytest.raises(ValueError, match="same columns"):
            two_sample_test(np.zeros((9, 1)), np.ones((9, 2)))


def test_tail_scale_orders_like_the_statistics_and_is_finite():
    found = np.random.default_rng(0).gamma(2.0, size=(500, 2))
    found[0] = [1e6, 1e-9]
    scale = tail_scale(found)
    assert np.isfinite(scale).all()
    for column, scaled in zip(found.T, scale.T, strict=True):
        assert (np.diff(scaled[np.argsort(column)]) >= 0).all()
    # One value for all: no evidence of anything.
    assert (tail_scale(np.ones((10, 1))) == 0).all()
