"""Weighing candidates, and the record of it."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.data.sample import TwoSamples
from isthmus.functionals import get_divergence
from isthmus.selection.record import DENSITIES, Member, Selection, Trial
from isthmus.selection.weighing import error_of, in_race, weigh


def two(n, seed=0, by=1.0):
    """Rows in one column with log p/q = by times x, and that log-ratio."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(0.5 * by, 1, (n, 1)), rng.normal(-0.5 * by, 1, (n, 1))
    return TwoSamples.of(p, q), (by * p[:, 0], by * q[:, 0])


def noise(samples, seed, size=1.0):
    rng = np.random.default_rng(seed)
    return tuple(size * rng.normal(size=len(sample)) for sample in samples)


def folds(samples, count=5):
    return [np.arange(len(sample)) % count for sample in samples]


class TestWeigh:
    def test_the_first_alone_where_it_is_the_truth(self):
        samples, truth = two(1000)
        found = weigh([truth, noise(samples, 1), noise(samples, 2)], samples, *folds(samples))
        assert found.alone
        one, *others = found.members(["a", "b", "c"])
        assert one.coefficient == 1.0 and one.gain > 5 * one.std_error
        assert all(other.coefficient == 0.0 and other.gain < 0 for other in others)

    def test_another_that_is_better_takes_over(self):
        samples, truth = two(1000)
        found = weigh([noise(samples, 1), truth], samples, *folds(samples))
        assert not found.alone
        # Standard error of the coefficient of a true log-ratio: 2 / sqrt(2000 * .8).
        assert found.stack.coefficients[1] == pytest.approx(1.0, abs=0.15)
        assert found.stack.coefficients[0] < 0.1
        np.testing.assert_allclose(found.ratios[0], truth[0], atol=0.7)

    def test_halves_of_the_truth_are_added_up(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0.5, 1, (2000, 2)), rng.normal(-0.5, 1, (2000, 2))
        samples = TwoSamples.of(p, q)
        parts = [(p[:, j], q[:, j]) for j in range(2)]
        found = weigh(parts, samples, *folds(samples))
        assert not found.alone
        np.testing.assert_allclose(found.stack.coefficients, [1.0, 1.0], atol=0.15)

    def test_nothing_where_nobody_sees_a_difference(self):
        rng = np.random.default_rng(0)
        samples = TwoSamples.of(rng.normal(size=(500, 1)), rng.normal(size=(500, 1)))
        found = weigh([noise(samples, k) for k in range(4)], samples, *folds(samples))
        assert not found.alone
        assert found.stack.coefficients.max() < 0.1
        assert np.abs(np.concatenate(found.ratios)).max() < 0.5

    def test_small_coefficients_are_left_out(self):
        samples, truth = two(2000)
        every = [truth, *(noise(samples, k) for k in range(6))]
        coefficients = weigh(every, samples, *folds(samples)).stack.coefficients
        assert ((coefficients == 0.0) | (coefficients >= 0.01)).all()

    def test_rows_of_a_fold_are_weighed_by_the_others(self):
        # The labels of one fold are turned round: its own coefficients do not know of it.
        samples, truth = two(500)
        fold_p, fold_q = folds(samples)
        plain = weigh([truth], samples, fold_p, fold_q).ratios[0]
        turned = tuple(
            np.where(f == 0, -r, r) for r, f in zip(truth, (fold_p, fold_q), strict=True)
        )
        found = weigh([turned], samples, fold_p, fold_q).ratios[0]
        np.testing.assert_allclose(found[fold_p == 0], -plain[fold_p == 0], atol=0.1)

    def test_weights_of_rows(self):
        # By weight p is q: half of the rows of p are q's, and the others hardly count.
        rng = np.random.default_rng(0)
        p = np.concatenate([rng.normal(-0.5, 1, 500), rng.normal(0.5, 1, 500)])[:, None]
        q = rng.normal(-0.5, 1, (1000, 1))
        weight = np.repeat([1.0, 1e-6], 500)
        samples = TwoSamples.of(p, q, weight)
        found = weigh([(p[:, 0], q[:, 0])], samples, *folds(samples))
        assert found.stack.coefficients[0] < 0.15

    def test_infinite_and_missing_ratios_are_limited(self):
        samples, truth = two(300)
        wild = tuple(r.copy() for r in truth)
        wild[0][:3] = np.inf, -np.inf, np.nan
        found = weigh([wild, truth], samples, *folds(samples))
        assert np.isfinite(np.concatenate(found.ratios)).all()


class TestRace:
    def test_who_is_beaten_beyond_doubt_is_out(self):
        samples, truth = two(1000)
        found = in_race([truth, noise(samples, 1, 3.0), noise(samples, 2, 0.01)], samples)
        assert 0 in found and 1 not in found

    def test_who_is_about_as_good_stays(self):
        samples, truth = two(300)
        near = tuple(0.9 * r for r in truth)
        assert in_race([truth, near], samples) == [0, 1]

    def test_who_adds_something_stays(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal([1.5, 0.3], 1, (2000, 2)), rng.normal(0, 1, (2000, 2))
        samples = TwoSamples.of(p, q)
        # Worse than the other by far, but it knows of a column of its own.
        parts = [(1.5 * (x[0] - 0.75), 1.5 * (x[1] - 0.75)) for x in [(p[:, 0], q[:, 0])]]
        parts.append((0.3 * (p[:, 1] - 0.15), 0.3 * (q[:, 1] - 0.15)))
        assert in_race(parts, samples) == [0, 1]


def test_the_share_of_rows_on_the_wrong_side():
    samples = TwoSamples.of(np.zeros((4, 1)), np.zeros((2, 1)), np.array([1.0, 1.0, 2.0, 0.0]))
    right = np.ones(4), -np.ones(2)
    assert error_of(right, samples) == 0.0
    assert error_of((-right[0], -right[1]), samples) == 1.0
    assert error_of((np.zeros(4), np.zeros(2)), samples) == 0.5
    # A row of weight two of four in p, which counts for half.
    assert error_of((np.array([1.0, 1.0, -1.0, -1.0]), -np.ones(2)), samples) == 0.25


class TestRecord:
    FITTED = Trial("anchor", "GaussianAnchor() for p, StudentTAnchor() for q", 0, 0, 0, True)

    def test_stacked(self):
        first, other = Member(DENSITIES, 1.0, 0.1, 0.01), Member("linear", 0.0, 0.0, 0.01)
        assert not Selection(members=[first, other]).stacked
        assert not Selection([self.FITTED]).stacked
        assert Selection(members=[first, Member("linear", 0.2, 0.1, 0.01)]).stacked
        assert Selection(members=[Member(DENSITIES, 0.9, 0.1, 0.01), other]).stacked

    def test_what_it_rests_on(self):
        def rests_on(*coefficients):
            names = (DENSITIES, "linear", "bumps")
            members = [Member(n, a, 0.1, 0.1) for n, a in zip(names, coefficients, strict=True)]
            return Selection([self.FITTED], members=members).rests_on

        assert rests_on(0.2, 0.0, 0.6) == "bumps (75%), fitted densities (25%)"
        assert rests_on(0.0, 0.7, 0.0) == "linear"
        assert rests_on(1.0, 0.0, 0.0) == "fitted densities: normal for p, Student-t for q"
        assert rests_on(0.0, 0.0, 0.0) == "no candidate, as none sees a difference"
        assert Selection(rule="A rule.").rests_on == "fitted densities: A rule."

    def test_the_summary_shows_members_and_trials(self):
        found = Selection([self.FITTED], members=[Member("linear", 0.5, 0.25, 0.125)]).summary()
        assert "0.500  +0.25000  0.12500  linear" in found and "GaussianAnchor()" in found

    @pytest.mark.parametrize("spec", ["kl", "reverse-kl", "js", "chi2", "tv", "hellinger"])
    def test_what_would_not_have_been_seen(self, spec):
        divergence = get_divergence(spec)

        def unseen(gain, error, coefficient=0.0):
            return Selection(members=[Member("a", coefficient, gain, error)]).unseen(divergence)

        # A candidate that loses by far would not have noticed less than its noise either.
        assert unseen(-1.0, 0.1) == unseen(-0.1, 0.1) > 0.0
        assert unseen(0.0, 0.01, coefficient=0.5) == 0.0
        assert Selection().unseen(divergence) == 0.0
        # More noise hides more.
        hidden = [unseen(0.0, error) for error in (1e-4, 1e-3, 1e-2, 1.0)]
        assert hidden == sorted(hidden) and 0 < hidden[0] and hidden[-1] <= divergence.upper

    def test_a_coin_that_is_seen_by_so_many_nats(self):
        # For a tilt e of a coin, the KL is 2 e^2 and the gain in likelihood a quarter of that.
        kl = Selection(members=[Member("a", 0.0, 0.0, 1e-4)]).unseen(get_divergence("kl"))
        assert kl == pytest.approx(4 * 2e-4, rel=0.02)
