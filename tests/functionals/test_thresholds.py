"""Lower bounds by data processing: that they hold, and that they see what is there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom

from isthmus.functionals import Bound, column_bound, get_divergence, lower_end, threshold_bound

RUNS = 300
# Four standard errors of a share of 5 % among 300 runs above it.
MOST = 0.05 + 4 * np.sqrt(0.05 * 0.95 / RUNS)


def normal(shift):
    return lambda rng, n: (rng.normal(shift, 1, n), rng.normal(0, 1, n))


def coins(a, b):
    return lambda rng, n: ((rng.random(n) < a) * 1.0, (rng.random(n) < b) * 1.0)


def heavy(rng, n):
    return rng.standard_cauchy(n), rng.standard_cauchy(n)


def kl_of_coins(a, b):
    return a * np.log(a / b) + (1 - a) * np.log((1 - a) / (1 - b))


CASES = {
    "same": (normal(0.0), 0.0),
    "same, heavy": (heavy, 0.0),
    "same, ties": (coins(0.3, 0.3), 0.0),
    "near": (normal(0.1), 0.005),
    "far": (normal(3.0), 4.5),
    "coins": (coins(0.5, 0.3), kl_of_coins(0.5, 0.3)),
    "rare": (coins(0.02, 0.01), kl_of_coins(0.02, 0.01)),
}


@pytest.mark.parametrize("n", [25, 400])
@pytest.mark.parametrize("name", CASES)
class TestCoverage:
    def test_of_thresholds(self, name, n):
        draw, kl = CASES[name]
        rng = np.random.default_rng(0)
        found = [threshold_bound(*draw(rng, n)) for _ in range(RUNS)]
        assert np.mean(np.array(found) > kl) <= MOST

    def test_of_all_together_for_a_ratio_that_is_wrong(self, name, n):
        draw, kl = CASES[name]
        rng, above = np.random.default_rng(1), 0
        for _ in range(RUNS):
            p, q = draw(rng, n)
            above += lower_end(0.7 * p, 0.7 * q, columns=(p[:, None], q[:, None])).low > kl
        assert above / RUNS <= MOST

    def test_of_the_tails_at_one_level(self, name, n):
        # Where nothing is given away, thresholds in the tails err as often as they may.
        draw, kl = CASES[name]
        rng = np.random.default_rng(2)
        found = [threshold_bound(*draw(rng, n), 0.5) for _ in range(RUNS)]
        assert np.mean(np.array(found) > kl) <= 0.5 + 4 * np.sqrt(0.25 / RUNS)


class TestThresholds:
    def test_beyond_all_rows_of_q_is_the_bound_of_clopper_and_pearson(self):
        # All rows of p lie above all of q. Half of the risk goes to the tails, in 7 thresholds
        # with two chances each; a coin that never fell in 500 throws.
        p, q = np.arange(500) + 1000.0, np.arange(500.0)
        each = 0.05 * 0.5 / 14
        high, low = beta.ppf(1 - each, 1, 500), beta.ppf(each, 500, 1)
        assert binom.cdf(0, 500, high) == pytest.approx(each)
        found = threshold_bound(p, q, both_sides=False)
        assert found == pytest.approx(kl_of_coins(low, high), rel=1e-9)

    def test_ties_do_not_make_a_tail_smaller(self):
        # Where 3 % of the rows lie above in order, 2 % do in value; which rows stand at the
        # threshold is chance, and the exact bound is that for 30 of 1000.
        p, q = np.ones(1000), np.repeat([0.0, 1.0], [980, 20])
        each = 0.05 * 0.5 / 14
        high, low = beta.ppf(1 - each, 31, 970), beta.ppf(each, 1000, 1)
        found = threshold_bound(p, q, both_sides=False)
        assert found == pytest.approx(kl_of_coins(low, high), rel=1e-9)

    def test_one_side_sees_one_side(self):
        rng = np.random.default_rng(0)
        p, q = normal(-1.0)(rng, 1000)
        assert threshold_bound(p, q, both_sides=False) == 0.0 < threshold_bound(p, q)

    def test_invariance_under_increasing_maps(self):
        p, q = normal(1.0)(np.random.default_rng(0), 300)
        assert threshold_bound(np.exp(p), np.exp(q)) == threshold_bound(p, q)

    def test_equal_weights_are_none_and_a_row_without_weight_is_not_there(self):
        p, q = normal(1.0)(np.random.default_rng(0), 300)
        bound = threshold_bound(p, q)
        assert threshold_bound(p, q, weight_p=np.full(300, 7.0)) == pytest.approx(bound, rel=1e-9)
        more, weight = np.append(q, [99.0] * 50), np.repeat([1.0, 0.0], [300, 50])
        assert threshold_bound(p, more, weight_q=weight) == pytest.approx(bound, rel=1e-9)

    @pytest.mark.parametrize(
        "spec",
        [
            "reverse-kl",
            "js",
            "hellinger",
            "tv",
            "chi2",
            "neyman",
            "alpha:0.5",
            "renyi:2",
            np.square,
        ],
    )
    def test_other_divergences(self, spec):
        spec = (lambda r: (r - 1) ** 2) if callable(spec) else spec
        p, q = normal(1.0)(np.random.default_rng(0), 4000)
        truth = get_divergence(spec).value(p - 0.5, q - 0.5)
        found = threshold_bound(p, q, divergence=spec)
        assert 0.15 * truth < found < truth
        assert 0.15 * truth < lower_end(p - 0.5, q - 0.5, divergence=spec).low < truth
        assert threshold_bound(p[:2000], p[2000:], divergence=spec) == 0.0

    def test_infinite_values_are_values(self):
        p, q = np.full(200, np.inf), np.r_[np.full(100, -np.inf), np.zeros(100)]
        assert threshold_bound(p, q) > 2.0

    def test_refusals(self):
        with pytest.raises(ValueError, match="must have one axis"):
            threshold_bound(np.zeros((2, 3)), np.zeros(3))
        with pytest.raises(ValueError, match="level must be a number"):
            threshold_bound([1.0], [1.0], 2.0)
        with pytest.raises(ValueError, match="NaN"):
            threshold_bound([np.nan], [1.0])


class TestColumns:
    def test_best_is_named_and_all_are_counted(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(size=(1000, 30)), rng.normal(size=(1000, 30))
        p[:, 17] += 1.0
        found, alone = column_bound(p, q), threshold_bound(p[:, 17], q[:, 17])
        assert found.by == "column 17" and 0.0 < found.low < alone

    def test_missing_values_are_a_value(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(size=(500, 2)), rng.normal(size=(500, 2))
        p[:250, 1] = np.nan
        assert column_bound(p, q).by == "column 1"

    def test_nothing_is_proven_of_equal_samples(self):
        rng = np.random.default_rng(0)
        assert column_bound(rng.normal(size=(300, 5)), rng.normal(size=(300, 5))) == Bound()

    def test_refusals(self):
        with pytest.raises(ValueError, match="same columns; received 2 and 3"):
            column_bound(np.zeros((4, 2)), np.zeros((4, 3)))
        with pytest.raises(ValueError, match="q must have rows and columns"):
            column_bound(np.zeros((4, 2)), np.zeros(4))


class TestLowerEnd:
    def test_a_good_ratio_gets_near_the_truth(self):
        # A standard error of the mean of t is 1 / sqrt(5000); the cut costs some hundredths.
        p, q = normal(1.0)(np.random.default_rng(0), 5000)
        found = lower_end(p - 0.5, q - 0.5)
        assert 0.4 < found.low < 0.5 and found.by == "held-out log-ratios"

    def test_a_useless_ratio_leaves_the_columns(self):
        p, q = normal(1.0)(np.random.default_rng(0), 1000)
        found = lower_end(np.zeros(1000), np.zeros(1000), columns=(p[:, None], q[:, None]))
        assert found.low > 0.05 and found.by == "column 0"

    def test_another_model_may_know_more(self):
        p, q = normal(1.0)(np.random.default_rng(0), 1000)
        found = lower_end(np.zeros(1000), np.zeros(1000), others=[(-p, -q), (p - 0.5, q - 0.5)])
        assert found.low > 0.3 and found.by == "held-out log-ratios of model 2"
        found = lower_end(0 * p, 0 * q, others=[(p, q)], divergence="tv")
        assert found.low > 0.2 and found.by == "thresholds of held-out log-ratios of model 1"

    @pytest.mark.parametrize("spec", ["kl", "reverse-kl", "js"])
    def test_across_a_chasm_it_is_some_nats_and_not_the_ratio(self, spec):
        rng = np.random.default_rng(0)
        t_p, t_q = rng.normal(200, 20, 1000), rng.normal(-200, 20, 1000)
        low = lower_end(t_p, t_q, divergence=spec).low
        assert (3.0 if spec != "js" else 0.6) < low < (np.log(1000) if spec != "js" else np.log(2))

    def test_infinite_log_ratios(self):
        t = np.r_[np.full(50, np.inf), np.zeros(50)]
        assert lower_end(t, -t).low > 0.0
        assert lower_end(-t, t) == Bound()

    def test_a_mad_row_costs_little(self):
        p, q = normal(1.0)(np.random.default_rng(0), 5000)
        t_p, t_q = p - 0.5, q - 0.5
        t_q[0], t_p[0] = 500.0, -500.0
        assert lower_end(t_p, t_q).low > 0.35
