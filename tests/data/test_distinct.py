"""Distinct rows: what they depend on, how they are split, thinned and drawn."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.data.distinct import Distinct, hold_out_of_both
from isthmus.data.holdout import LEAST_ROWS
from isthmus.data.sample import Sample, TwoSamples
from isthmus.data.seeds import Seeds


def same(one, other):
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_allclose(one.share, other.share, rtol=1e-14)
    assert one.size == other.size


@pytest.mark.parametrize("levels", [3, 10**6])
def test_order_and_the_way_weights_are_given_do_not_matter(levels):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, levels, (50, 2)).astype(float)
    times = rng.integers(1, 4, 50)
    order = rng.permutation(times.sum())
    weighted = Distinct.of(Sample(rows, times.astype(float)))
    same(weighted, Distinct.of(Sample.of(np.repeat(rows, times, axis=0)[order])))
    assert weighted.share.sum() == pytest.approx(1)
    # Sorted by the first column, then by the second.
    assert weighted.rows.tolist() == sorted(np.unique(rows, axis=0).tolist())


def test_where_most_rows_are_repeated_each_can_be_held_out():
    rows = np.random.default_rng(0).integers(0, 3, (50, 2)).astype(float)
    apart = Distinct.to_split(Sample.of(rows))
    assert apart.rows.tolist() == sorted(rows.tolist())
    few = np.vstack([rows[:1], np.random.default_rng(1).normal(size=(50, 2)), rows[:1]])
    same(Distinct.to_split(Sample.of(few)), Distinct.of(Sample.of(few)))


def test_weights_are_one_where_nothing_is_weighted():
    rows = np.random.default_rng(0).normal(size=(49, 2))
    # 1/49 times 49 is not one in floating-point numbers.
    assert not Distinct.of(Sample.of(rows)).sample.weighted
    assert Distinct.of(Sample.of(np.repeat(rows, 2, axis=0))).weight == pytest.approx(2)


def test_rows_held_out_are_a_share_and_nothing_is_in_both_parts():
    found = Distinct.of(Sample.of(np.arange(100.0)[:, None]))
    train, held = found.hold_out(np.random.default_rng(0))
    assert (len(train.rows), len(held.rows)) == (75, 25)
    assert sorted([*train.rows[:, 0], *held.rows[:, 0]]) == list(range(100))
    assert (train.size, held.size) == (75, 25)
    some = found.hold_out(np.random.default_rng(0), most=40)
    assert [len(part.rows) for part in some] == [30, 10]


def test_few_rows_are_not_held_out():
    rows = np.random.default_rng(0).normal(size=(LEAST_ROWS, 1))
    assert hold_out_of_both(TwoSamples.of(rows, rows[1:]), Seeds(0)) is None
    train, held = hold_out_of_both(TwoSamples.of(rows, rows), Seeds(0))
    # One seed for both: equal samples are split alike.
    np.testing.assert_array_equal(train.p.rows, train.q.rows)
    assert len(held.p) == LEAST_ROWS // 4


def test_rows_are_drawn_as_often_as_their_share_asks_for():
    found = Distinct.of(Sample(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 5.0])))
    drawn = found.stratified(16, np.random.default_rng(0))[:, 0]
    assert [int((drawn == k).sum()) for k in range(3)] == [2, 4, 10]
    assert found.at(np.array([0.0, 1.0]))[:, 0].tolist() == [0.0, 2.0]


def test_a_thinned_sample_keeps_the_shares():
    rows = np.repeat(np.arange(500.0), np.r_[300, np.ones(499, int)])[:, None]
    sample = Distinct.of(Sample.of(rows))
    assert len(sample.rows) == 500 and sample.share[0] == 300 / 799 and sample.size == 799
    few = sample.thin(80, np.random.default_rng(0))
    # Steps of 1/80 of the mass: each row's share is kept to within one of them.
    assert few.rows[0] == 0 and abs(few.share[0] - 300 / 799) <= 1 / 80
    assert few.share.sum() == pytest.approx(1) and len(few.rows) < 80
    assert abs(few.share @ few.rows[:, 0] - sample.share @ rows[299:, 0]) < 499 / 80


def test_folds_share_out_rows_and_copies():
    rows = np.concatenate([np.zeros(10), np.arange(1.0, 16.0)])[:, None]
    sample = Distinct.of(Sample.of(rows))
    folds = sample.folds(5, np.random.default_rng(0))
    np.testing.assert_allclose(folds.sum(axis=1), sample.share)
    np.testing.assert_allclose(folds.sum(axis=0), 0.2)  # 25 rows in five folds
    assert ((folds[1:] > 0).sum(axis=1) == 1).all() and (folds[0] > 0).sum() > 1
