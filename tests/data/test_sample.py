"""Weighted samples, and the bounded number of rows that a search sees."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.data.sample import Sample, TwoSamples, bounded_rows, row_hash, stacked


class TestSample:
    def test_weights_are_one_where_none_are_given(self):
        sample = Sample.of(np.zeros((3, 2)))
        assert sample.weight.tolist() == [1.0, 1.0, 1.0]
        assert not sample.weighted
        assert Sample.of(np.zeros((3, 2)), np.array([1.0, 2.0, 1.0])).weighted

    def test_shares_add_up_to_one(self):
        share = Sample(np.zeros((3, 1)), np.array([1.0, 2.0, 5.0])).share
        np.testing.assert_allclose(share, [0.125, 0.25, 0.625])

    @pytest.mark.parametrize(
        ("weight", "size"),
        [([1, 1, 1], 3), ([2, 2, 2], 6), ([0.2, 0.3, 0.5], 3), ([1e9, 1e9, 1e9], 30)],
    )
    def test_size_counts_repetitions_within_limits(self, weight, size):
        assert Sample(np.zeros((3, 1)), np.array(weight, dtype=float)).size == size

    def test_rows_of_weight_zero_are_not_there(self):
        sample = Sample(np.arange(3.0)[:, None], np.array([1.0, 0.0, 2.0]))
        assert sample.positive().rows[:, 0].tolist() == [0.0, 2.0]
        whole = Sample.of(np.arange(3.0)[:, None])
        assert whole.positive() is whole

    def test_mean_is_weighted(self):
        sample = Sample(np.array([[0.0], [4.0]]), np.array([3.0, 1.0]))
        assert sample.mean(sample.rows).tolist() == [1.0]

    def test_it_is_frozen(self):
        with pytest.raises(AttributeError):
            Sample.of(np.zeros((2, 1))).rows = np.ones((2, 1))


class TestTwoSamples:
    def test_take_map_and_names(self):
        both = TwoSamples(Sample.of(np.zeros((3, 2))), Sample.of(np.ones((4, 2))), names=("a", "b"))
        some = both.take(np.array([0, 2]), slice(1)).map(lambda x: x + 1)
        assert [len(sample) for sample in some] == [2, 1]
        assert some.names == ("a", "b") and some.q.rows.tolist() == [[2.0, 2.0]]

    def test_stacked_labels_the_numerator_one(self):
        X, y, weight = stacked(TwoSamples.of(np.zeros((2, 1)), np.ones((3, 1))))
        assert y.tolist() == [1, 1, 0, 0, 0] and X.shape == (5, 1) and weight.sum() == 5


class TestBoundedRows:
    def test_few_rows_are_all_there(self):
        assert bounded_rows(5, 5).tolist() == [0, 1, 2, 3, 4]
        both = TwoSamples.of(np.zeros((5, 1)), np.zeros((4, 1)))
        assert both.bounded(5) is both

    def test_as_many_as_asked_in_order_and_without_repetition(self):
        at = bounded_rows(100_000, 1000)
        assert len(at) == 1000 and (np.diff(at) > 0).all()

    def test_they_are_spread_evenly(self):
        at = bounded_rows(100_000, 10_000)
        counts = np.bincount(at // 10_000, minlength=10)
        # Five standard errors of a count of about 1000 out of 10,000.
        assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000 * 0.9)

    def test_they_depend_on_block_and_row_alone(self):
        assert np.array_equal(row_hash(3, 50), row_hash(3, 100)[:50])
        assert not np.intersect1d(row_hash(0, 1000), row_hash(1, 1000)).size
