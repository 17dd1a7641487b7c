"""Folds of a cross-fitting: weights stay with their rows, and a row is not seen by its own fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus import StackedMDRE, compare, stack
from isthmus.baselines import KLIEP, kliep
from isthmus.data.sample import TwoSamples
from isthmus.estimator import RatioEstimator


class Means(RatioEstimator):
    """Log-ratio of two normals of unit variance: weighted means are all there is to it."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def learn(self, samples, seeds):
        self.p_, self.q_ = (float(s.share @ s.rows[:, 0]) for s in samples)

    def evaluate(self, rows):
        return (self.p_ - self.q_) * (rows[:, 0] - 0.5 * (self.p_ + self.q_))


def samples(n=60):
    rng = np.random.default_rng(0)
    # Weights go with the values, so that a mean without them is another.
    p, q = rng.normal(0.5, 1, (n, 1)), rng.normal(0, 1, (n, 1))
    return TwoSamples.of(p, q, np.exp(p[:, 0]), np.exp(-q[:, 0]))


def expected(both, fold_p, fold_q, k):
    """Log-ratios in fold k by weighted means of the others."""
    there = both.take(fold_p != k, fold_q != k)
    fit = Means()
    fit.learn(there, None)
    return [fit.evaluate(s.rows[fold == k]) for s, fold in zip(both, (fold_p, fold_q), strict=True)]


def test_fits_of_the_folds_are_weighted():
    both = samples()
    p, q = both
    c = compare(
        p.rows, q.rows, weight_p=p.weight, weight_q=q.weight, estimator=Means(), random_state=0
    )
    found = c.crossfit
    for k in range(found.fold_p.max() + 1):
        at_p, at_q = expected(both, found.fold_p, found.fold_q, k)
        np.testing.assert_allclose(found.log_ratio_p[found.fold_p == k], at_p)
        np.testing.assert_allclose(found.log_ratio_q[found.fold_q == k], at_q)


@dataclass(frozen=True)
class Candidate:
    """The same as a candidate of a stack, which writes down what it is shown."""

    seen: tuple
    name: str = "means"
    takes_before: bool = False

    def suits(self, samples):
        return True

    def settled(self, rows, seeds):
        return self

    def fit(self, rows, seeds):
        self.seen[0].append(rows.samples)
        model = Means()
        model.learn(rows.samples, seeds)
        return _Fitted(model)


@dataclass(frozen=True)
class _Fitted:
    model: Means

    def log_ratio(self, rows, before):
        return self.model.evaluate(rows)


def test_candidates_of_a_stack_see_weights_in_every_fold():
    both, seen = samples(), ([],)
    X, y = stack(both.p.rows, both.q.rows)
    weight = np.concatenate([both.p.weight, both.q.weight])
    StackedMDRE([Candidate(seen)], random_state=0).fit(X, y, weight)
    assert len(seen[0]) >= 10
    for shown in seen[0]:
        for sample, sign in zip(shown, (1.0, -1.0), strict=True):
            # Weights average one over all rows, and keep their ratios.
            ratio = sample.weight / np.exp(sign * sample.rows[:, 0])
            np.testing.assert_allclose(ratio, ratio[0])


def test_a_row_that_is_left_out_is_no_centre_of_kliep(monkeypatch):
    seen = []

    class Recorded(kliep.Likelihoods):
        """Writes down which share of the rows are at a centre."""

        def __init__(self, squares, n, width, mean):
            seen.append((n, float((squares(slice(0, n)).min(axis=1) == 0.0).mean())))
            super().__init__(squares, n, width, mean)

    monkeypatch.setattr(kliep, "Likelihoods", Recorded)
    rng = np.random.default_rng(0)
    X, y = stack(rng.normal(0, 1, 30), rng.normal(0.5, 1, 80))
    KLIEP(width=[0.3, 1.0], folds=5, standardise=False, random_state=0).fit(X, y)
    # All rows of p are centres: those that are fitted to are at home, and those left out are not.
    held, kept = ([share for n, share in seen if n == rows] for rows in (6, 24))
    assert len(held) == len(kept) >= 5
    assert set(kept) == {1.0} and set(held) == {0.0}
