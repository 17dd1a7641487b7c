"""One split, one paired gain."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.data.holdout import Gain, paired_gain, quarters, split_rows


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
