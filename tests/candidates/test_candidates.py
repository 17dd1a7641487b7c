"""Candidates of a stack: what each finds, and what must hold for all of them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from isthmus.candidates import LIBRARY, Bumps, Focused, Neighbours, Ridge, Rows, Sparse, Trees
from isthmus.candidates.base import MOST_NATS, balanced, limited, log_loss
from isthmus.candidates.columns import Columns
from isthmus.candidates.sparse import Feature
from isthmus.candidates.trees import Bins
from isthmus.data.sample import TwoSamples
from isthmus.data.seeds import Seeds

NAMES = [one.name for one in LIBRARY]
SEEDS = Seeds(0)

# Share of the truth's gain that each must reach on two shifted columns. A regression with m
# coefficients loses about m / 2n nats of the .21 that there are; the others pay for their freedom.
LEAST = {
    "linear": 0.97,
    "sparse waves and products": 0.95,
    "bumps": 0.95,
    "neighbours": 0.93,
    "boosted trees": 0.9,
}


def shifted(n, d=2, seed=0, by=1.0):
    """Normals shifted in every column, and their true log-ratio."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(0.5 * by, 1, (n, d)), rng.normal(-0.5 * by, 1, (n, d))
    return TwoSamples.of(p, q), lambda x: by * x.sum(axis=1)


def checkerboard(n, seed=0):
    """Nine in ten rows of p on fields of equal parity, one in ten of q's."""
    rng = np.random.default_rng(seed)

    def draw(share):
        x = rng.uniform(0, 4, (20 * n, 2))
        even = np.floor(x).sum(axis=1) % 2 == 0
        keep = rng.random(len(x)) < np.where(even, share, 1 - share)
        return x[keep][:n]

    def truth(x):
        return np.where(np.floor(x).sum(axis=1) % 2 == 0, 1.0, -1.0) * np.log(9.0)

    return TwoSamples.of(draw(0.9), draw(0.1)), truth


def gained(fit, fresh, truth):
    """Share of the truth's gain in log-loss, over no difference at all, at rows of their own."""
    p, q = (sample.rows for sample in fresh)
    found = log_loss(
        (fit.log_ratio(p, np.zeros(len(p))), fit.log_ratio(q, np.zeros(len(q)))), fresh
    )
    best = log_loss((truth(p), truth(q)), fresh)
    return (np.log(2) - found) / (np.log(2) - best)


class TestWhatTheyFind:
    @pytest.mark.parametrize(
        "candidate", [Ridge(), Sparse(), Bumps(), Neighbours(), Trees()], ids=lambda c: c.name
    )
    def test_a_shift(self, candidate):
        samples, truth = shifted(800)
        fresh, _ = shifted(4000, seed=1)
        assert candidate.suits(samples)
        fit = candidate.fit(Rows.of(samples), SEEDS)
        assert LEAST[candidate.name] < gained(fit, fresh, truth) < 1.02

    @pytest.mark.parametrize("candidate", [Bumps(), Neighbours(), Trees()], ids=lambda c: c.name)
    def test_a_checkerboard(self, candidate):
        samples, truth = checkerboard(1000)
        fresh, _ = checkerboard(2000, 1)
        assert gained(candidate.fit(Rows.of(samples), SEEDS), fresh, truth) > 0.5

    def test_linear_sees_no_checkerboard(self):
        samples, truth = checkerboard(1000)
        fresh, _ = checkerboard(2000, 1)
        # Nothing to be found, and little lost by looking.
        assert -0.02 < gained(Ridge().fit(Rows.of(samples), SEEDS), fresh, truth) < 0.05

    @pytest.mark.parametrize(
        "candidate", [Focused(Bumps(), 4), Focused(Trees(), 6)], ids=lambda c: c.name
    )
    def test_whether_two_of_fifty_columns_have_one_sign(self, candidate):
        rng = np.random.default_rng(0)

        def rows(n, same):
            x = rng.normal(size=(n, 50))
            if same:
                x[:, 7] = np.abs(x[:, 7]) * np.sign(x[:, 3])
            return x

        samples = TwoSamples.of(rows(1500, True), rows(1500, False))
        fresh = TwoSamples.of(rows(1500, True), rows(1500, False))
        assert candidate.suits(samples)
        fit = candidate.fit(Rows.of(samples), SEEDS)
        found = log_loss(tuple(fit.log_ratio(s.rows, np.zeros(len(s))) for s in fresh), fresh)
        # The best: where signs differ it is q, and otherwise p with chance 2/3.
        best = 0.5 * np.log(1.5) + 0.25 * np.log(3.0)
        assert (np.log(2) - found) / (np.log(2) - best) > 0.5

    def test_a_few_columns_are_looked_for_among_many_only(self):
        few = TwoSamples.of(np.zeros((200, 8)), np.zeros((200, 8)))
        assert not Focused(Bumps(), 4).suits(few)

    def test_sparse_finds_one_column_of_a_hundred(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(size=(1000, 100)), rng.normal(size=(1000, 100))
        p[:, 37] += 1.0
        fit = Sparse().fit(Rows.of(TwoSamples.of(p, q)), SEEDS)
        assert fit.chosen[0] == Feature(37, 37, 1)
        x = np.zeros((2, 100))
        x[:, 37] = [-0.5, 1.5]  # the truth is -1 and 1
        found = fit.log_ratio(x, np.zeros(2))
        # Slope over two standard deviations; its standard error is about .1, the ridge takes some.
        assert 1.3 < found[1] - found[0] < 2.7

    def test_sparse_finds_a_product_of_two_columns_of_fifty(self):
        rng = np.random.default_rng(1)
        p, q = rng.normal(size=(1000, 50)), rng.normal(size=(1000, 50))
        p[:, 7] = 0.8 * p[:, 31] + 0.6 * p[:, 7]  # a correlation of .8
        samples = TwoSamples.of(p, q)
        fit = Sparse().fit(Rows.of(samples), SEEDS)
        assert fit.chosen[0] == Feature(7, 31, 0)
        # With a product come the squares: the log-ratio of two normals needs them.
        assert {Feature(7, 7, 0), Feature(31, 31, 0)} < set(fit.chosen)

        def truth(x):
            a, b = x[:, 7], x[:, 31]
            return -0.5 * np.log(0.36) - 0.5 * ((a - 0.8 * b) ** 2 / 0.36 - a**2)

        p, q = rng.normal(size=(3000, 50)), rng.normal(size=(3000, 50))
        p[:, 7] = 0.8 * p[:, 31] + 0.6 * p[:, 7]
        assert gained(fit, TwoSamples.of(p, q), truth) > 0.75

    @pytest.mark.parametrize(
        "candidate", [one for one in LIBRARY if one.takes_before], ids=lambda c: c.name
    )
    def test_what_was_there_before_is_used(self, candidate):
        # Rows say nothing; the log-ratio before says all.
        rng = np.random.default_rng(0)
        samples = TwoSamples.of(rng.normal(size=(600, 2)), rng.normal(size=(600, 2)))
        before = rng.normal(0.5, 1, 600), rng.normal(-0.5, 1, 600)
        fit = candidate.fit(Rows(samples, *before), SEEDS)
        found = fit.log_ratio(np.zeros((3, 2)), np.array([-1.0, 0.0, 1.0]))
        assert found[0] < -0.5 < found[1] < 0.5 < found[2]

    @pytest.mark.parametrize(
        "candidate", [one for one in LIBRARY if not one.takes_before], ids=lambda c: c.name
    )
    def test_others_do_not_look_at_it(self, candidate):
        samples, _ = shifted(200)
        x = samples.p.rows
        fit = candidate.fit(Rows(samples, np.arange(200.0), np.arange(200.0)), SEEDS)
        plain = candidate.fit(Rows.of(samples), SEEDS)
        np.testing.assert_array_equal(
            fit.log_ratio(x, np.arange(200.0)), plain.log_ratio(x, np.zeros(200))
        )


@pytest.mark.parametrize("candidate", LIBRARY, ids=NAMES)
class TestWhatHoldsForAll:
    def test_answers_are_finite_and_limited(self, candidate):
        samples, _ = shifted(150, by=40.0)  # nothing overlaps
        fit = candidate.fit(Rows.of(samples), SEEDS)
        far = np.array([[1e9, -1e9], [0.0, 0.0], [-1e9, 1e9]])
        found = fit.log_ratio(far, np.array([1e6, 0.0, -np.inf]))
        assert found.shape == (3,) and (np.abs(found) <= MOST_NATS).all()

    def test_settled_chooses_once(self, candidate):
        samples, _ = shifted(200)
        rows = Rows.of(samples)
        one = candidate.settled(rows, SEEDS)
        assert one.name == candidate.name and one.takes_before == candidate.takes_before
        x, none = samples.q.rows, np.zeros(200)
        first = one.fit(rows, SEEDS).log_ratio(x, none)
        np.testing.assert_array_equal(first, one.fit(rows, SEEDS).log_ratio(x, none))

    def test_the_scale_of_weights_is_irrelevant(self, candidate):
        rng = np.random.default_rng(0)
        samples, _ = shifted(150)
        weight = rng.uniform(0.5, 2.0, 150)
        x, none = samples.q.rows, np.zeros(150)
        found = []
        for scale in (1.0, 64.0):  # a power of two: the same digits
            own = TwoSamples.of(samples.p.rows, x, scale * weight, np.full(150, scale))
            found.append(candidate.fit(Rows.of(own), SEEDS).log_ratio(x, none))
        np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-9)

    def test_weights_count(self, candidate):
        # By weight p is q moved to the right; without weights the samples are alike.
        rng = np.random.default_rng(0)
        p, q = rng.normal(size=(600, 1)), rng.normal(size=(600, 1))
        own = TwoSamples.of(p, q, np.exp(p[:, 0]), np.ones(600))
        fit = candidate.fit(Rows.of(own), SEEDS)
        found = fit.log_ratio(np.array([[-1.0], [1.0]]), np.zeros(2))
        assert 0.8 < found[1] - found[0] < 3.2  # the truth is 2

    def test_constant_and_repeated_columns(self, candidate):
        samples, _ = shifted(200, d=1)
        wider = samples.map(lambda x: np.column_stack([x, np.full(len(x), 7.0), x]))
        fit = candidate.fit(Rows.of(wider), SEEDS)
        x = np.array([[-1.0, 7.0, -1.0], [1.0, 7.0, 1.0]])
        found = fit.log_ratio(x, np.zeros(2))
        assert np.isfinite(found).all() and 0.5 < found[1] - found[0] < 4.5  # the truth is 2
        # A new value in a column that never varied changes nothing.
        x[:, 1] = [-50.0, 50.0]
        np.testing.assert_array_equal(fit.log_ratio(x, np.zeros(2)), found)

    def test_nothing_varies(self, candidate):
        same = TwoSamples.of(np.ones((100, 2)), np.ones((100, 2)))
        fit = candidate.fit(Rows.of(same), SEEDS)
        assert np.abs(fit.log_ratio(np.ones((3, 2)), np.zeros(3))).max() < 0.05

    def test_swapping_p_and_q_flips_the_sign(self, candidate):
        samples, _ = shifted(300)
        fresh, _ = shifted(200, seed=1)
        x, none = fresh.q.rows, np.zeros(200)
        there = candidate.fit(Rows.of(samples), SEEDS).log_ratio(x, none)
        back = candidate.fit(Rows.of(TwoSamples(samples.q, samples.p)), SEEDS).log_ratio(x, none)
        # Trees, and the rows that bumps and hold-outs draw, break ties by place: about the same.
        assert np.corrcoef(there, -back)[0, 1] > 0.98

    def test_pickles(self, candidate):
        samples, _ = shifted(100)
        fit = candidate.fit(Rows.of(samples), SEEDS)
        again = pickle.loads(pickle.dumps(fit))
        x, none = samples.p.rows, np.zeros(100)
        np.testing.assert_array_equal(again.log_ratio(x, none), fit.log_ratio(x, none))


class TestWhomTheySuit:
    @pytest.mark.parametrize(
        ("candidate", "rows", "columns", "suits"),
        [
            (Ridge(), 2, 1000, True),
            (Ridge(), 500, 1001, False),
            (Sparse(), 39, 2, False),
            (Sparse(), 40, 2000, True),
            (Sparse(), 40, 2001, False),
            (Bumps(), 60, 10, True),
            (Bumps(), 60, 11, False),
            (Bumps(), 59, 2, False),
            (Neighbours(), 60, 10, True),
            (Neighbours(), 59, 10, False),
            (Trees(), 25, 3, True),
            (Trees(), 24, 3, False),
        ],
    )
    def test_rows_and_columns(self, candidate, rows, columns, suits):
        wide = TwoSamples.of(np.zeros((rows, columns)), np.zeros((rows + 5, columns)))
        assert candidate.suits(wide) is suits


class TestColumns:
    def test_repeated_rows_are_weights(self):
        rng = np.random.default_rng(0)
        p, q = rng.gamma(1.0, 1.0, (80, 2)), rng.normal(size=(90, 2))
        times = rng.integers(1, 4, 80)
        weighted = Columns.of(TwoSamples.of(p, q, times.astype(float)))
        repeated = Columns.of(TwoSamples.of(np.repeat(p, times, axis=0), q))
        np.testing.assert_allclose(weighted.centre, repeated.centre)
        np.testing.assert_allclose(weighted.scale, repeated.scale)
        np.testing.assert_array_equal(weighted.skewed, repeated.skewed)
        np.testing.assert_allclose(weighted.ranks(q), repeated.ranks(q), atol=1e-12)

    def test_ranks_are_of_both_samples_alike(self):
        # A hundred rows of p count as much as a thousand of q.
        p, q = np.linspace(1, 2, 100)[:, None], np.linspace(-1, 0, 1000)[:, None]
        found = Columns.of(TwoSamples.of(p, q))
        assert found.ranks(np.array([[0.5]]))[0, 0] == pytest.approx(0.5, abs=0.01)
        np.testing.assert_allclose(
            found.ranks(np.array([[-9.0], [9.0]])).ravel(), [0, 1], atol=0.01
        )

    def test_far_values_are_drawn_in(self):
        rng = np.random.default_rng(0)
        p = rng.normal(size=(200, 1))
        p[0] = 1e12
        found = Columns.of(TwoSamples.of(p, rng.normal(size=(200, 1))))
        assert np.abs(found.standard(np.array([[1e15], [-1e15]]))).max() <= 6.0
        assert np.abs(found.scores(np.array([[1e15], [-1e15]]))).max() < 4.0
        assert found.skewed.tolist() == [True]

    def test_overflow_leaves_a_column_out(self):
        rng = np.random.default_rng(0)
        p = np.column_stack([rng.normal(size=50) * 1e200, rng.normal(size=50)])
        found = Columns.of(TwoSamples.of(p, p[::-1]))
        assert found.kept.tolist() == [False, True] and len(found) == 1


class TestSmallParts:
    def test_bins_of_few_values_are_the_values(self):
        X = np.array([[0.0], [1.0], [1.0], [5.0]])
        bins = Bins.of(X)
        assert len(np.unique(bins(X))) == 3
        assert (np.diff(bins(np.array([[-1.0], [0.5], [3.0], [9.0]]))[:, 0]) >= 0).all()

    def test_balanced_weights(self):
        own = TwoSamples.of(np.zeros((2, 1)), np.zeros((6, 1)), np.array([3.0, 1.0]))
        p, q = balanced(own)
        np.testing.assert_allclose(p, [3.0, 1.0])
        np.testing.assert_allclose(q, np.full(6, 4 / 6))

    def test_limited(self):
        found = limited(np.array([np.nan, np.inf, -np.inf, 3.0]))
        np.testing.assert_array_equal(found, [0.0, MOST_NATS, -MOST_NATS, 3.0])

    def test_rows_are_bounded_the_same_each_time(self):
        samples, _ = shifted(300)
        rows = Rows(samples, np.arange(300.0), np.arange(300.0))
        few = rows.bounded(100)
        assert len(few.samples.p) == len(few.samples.q) == 100
        np.testing.assert_array_equal(few.before_p, rows.bounded(100).before_p)
        np.testing.assert_array_equal(samples.p.rows[few.before_p.astype(int)], few.samples.p.rows)
        assert rows.bounded(300) is rows
