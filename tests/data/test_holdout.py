"""One split, one paired gain."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.data.holdout import (
    Gain,
    Split,
    halves,
    paired_gain,
    quarters,
    random_folds,
    split_rows,
)
from isthmus.data.sample import Sample


def test_a_split_holds_every_row_once():
    split = split_rows(103, np.random.default_rng(0))
    assert sorted([*split.train, *split.held]) == list(range(103))
    assert len(split.held) == 26


def test_a_split_of_many_rows_sees_some():
    split = split_rows(1000, np.random.default_rng(0), held=0.5, most=100)
    assert len(split.train) == len(split.held) == 50


def test_quarters_hold_out_every_row_once():
    order = np.random.default_rng(0).permutation(42)
    splits = quarters(order)
    assert sorted(np.concatenate([one.held for one in splits])) == list(range(42))
    for one in splits:
        assert sorted([*one.train, *one.held]) == list(range(42))


def test_paired_gain_is_a_mean_with_its_standard_error():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.3, 1, 4000), rng.normal(0, 1, 4000)
    gain = paired_gain([a], [b], [np.full(4000, 1 / 4000)])
    gap = a - b
    assert gain.mean == pytest.approx(gap.mean())
    assert gain.std_error == pytest.approx(gap.std() / np.sqrt(4000))


def test_priors_weigh_the_classes():
    one, share = [np.ones(2), np.full(2, 3.0)], [np.full(2, 0.5)] * 2
    gain = paired_gain(one, [np.zeros(2)] * 2, share, prior=[0.25, 0.75])
    assert gain == Gain(0.25 + 0.75 * 3.0, 0.0)


def test_one_row_does_not_decide():
    far = np.array([1e6, 0.0, 0.0, 0.0])
    gain = paired_gain([far], [np.zeros(4)], [np.full(4, 0.25)], most=10.0)
    assert gain.mean == 2.5


@pytest.mark.parametrize(
    ("gain", "rows", "proven"),
    [
        (Gain(0.1, 0.03), 1000, True),
        (Gain(0.1, 0.04), 1000, False),  # 2.5 standard errors
        (Gain(0.002, 0.0), 1000, False),  # two nats over all rows
    ],
)
def test_proven_takes_three_standard_errors_and_three_nats(gain, rows, proven):
    assert gain.proven(rows) is proven


def test_above_counts_its_own_standard_errors():
    assert Gain(0.4, 0.2).above(2.0)  # exactly two of them
    assert not Gain(0.39, 0.2).above(2.0)
    assert Gain(0.0, 0.0).above(2.0)


def test_what_is_just_at_the_threshold_is_not_proven():
    assert not Gain(3.0, 1.0).proven(1000)
    assert not Gain(0.003, 0.0).proven(1000)


def test_the_variance_is_that_of_all_classes():
    mine, share = [np.array([1.0, 3.0]), np.array([0.0, 4.0])], [np.full(2, 0.5)] * 2
    gain = paired_gain(mine, [np.zeros(2)] * 2, share, prior=[0.2, 0.8])
    # (1/4) * 2 * 1^2 and (1/4) * 2 * 2^2, weighed by the squares of the priors.
    assert gain.std_error == pytest.approx(np.sqrt(0.04 * 0.5 + 0.64 * 2.0))


def test_one_row_that_is_lost_does_not_decide():
    far = np.array([-1e6, 0.0, 0.0, 0.0])
    assert paired_gain([far], [np.zeros(4)], [np.full(4, 0.25)], most=10.0).mean == -2.5


def test_every_class_has_its_shares():
    with pytest.raises(ValueError, match="zip"):
        paired_gain([np.ones(2)] * 2, [np.zeros(2)] * 2, [np.full(2, 0.5)])


def test_parts_keep_the_order_in_which_rows_were_given():
    sample = Sample(np.arange(6.0)[:, None], np.arange(6.0))
    train, held = Split(np.array([5, 0, 3]), np.array([4, 1])).parts(sample)
    assert train.rows[:, 0].tolist() == [0.0, 3.0, 5.0] == train.weight.tolist()
    assert held.rows[:, 0].tolist() == [1.0, 4.0] == held.weight.tolist()


def test_a_number_of_rows_or_at_least_one_is_held_out():
    rng = np.random.default_rng(0)
    assert len(split_rows(20, rng, held=7).held) == 7
    assert len(split_rows(1000, rng, held=1).held) == 1
    assert len(split_rows(1, rng).held) == 1  # a quarter of one row, rounded, is none
    assert len(split_rows(3, rng, least=2).held) == 2


def test_halves_and_folds_hold_every_row_once():
    rng = np.random.default_rng(0)
    half = halves(9, rng)
    assert len(half.held) == 4 and sorted([*half.train, *half.held]) == list(range(9))
    assert not np.array_equal(halves(50, rng).held, np.arange(25))
    folds = random_folds(50, 3, rng)
    assert [len(fold.held) for fold in folds] == [17, 17, 16]
    assert sorted(np.concatenate([fold.held for fold in folds])) == list(range(50))
    assert not np.array_equal(folds[0].held, np.arange(17))
    assert len(quarters(np.arange(40))) == 4


def test_at_least_one_row_is_held_out():
    split = split_rows(3, np.random.default_rng(0), held=0.1)
    assert (len(split.train), len(split.held)) == (2, 1)
