"""Few rows for many columns, bends within one side, and what intervals then reach over."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from isthmus import mutual_information
from isthmus.information.checks import check_bound
from isthmus.information.conditional import ConditionalRatio
from isthmus.information.focused import FocusedRatio
from isthmus.information.mixtures import MixtureRatio
from isthmus.information.result import Answer
from isthmus.information.straight import straightened


def found(x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mutual_information(x, y, random_state=0)


def test_one_square_of_ten_columns_is_seen_in_200_rows():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 10))
    y = x[:, [4]] ** 2 + 0.5 * rng.normal(size=(200, 1))
    i = found(x, y)  # the truth is 0.803
    assert i.lower_bound > 0.1
    assert i.low <= 0.803 <= i.high


def test_an_interval_reaches_to_families_that_are_not_refused():
    # A step in 60 rows: the normal copula is not refused, and gives about half of the truth, 0.93.
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 1))
    y = 2.0 * np.sign(x) + 0.4 * rng.normal(size=(60, 1))
    assert found(x, y).high > 0.6


@pytest.mark.parametrize("seed", range(4))
def test_independent_rows_have_a_lower_end_of_zero(seed):
    rng = np.random.default_rng(seed)
    assert found(rng.normal(size=(80, 6)), rng.standard_t(2, size=(80, 2))).low == 0.0


def test_columns_that_matter_are_found_on_either_side():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(150, 9)), rng.normal(size=(150, 7))
    y[:, 5] = x[:, 3] + 0.4 * y[:, 5]
    ratio = FocusedRatio(x, y, rng).fit(np.arange(150))
    assert (3 in ratio.columns[0], 5 in ratio.columns[1]) == (True, True)
    assert sum(map(len, ratio.columns)) <= 3


def test_columns_that_do_not_matter_leave_the_factors():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 6))
    y = np.sin(2 * x[:, [0]]) + 0.3 * rng.normal(size=(1500, 1))
    rows, new = np.arange(1000), np.arange(1000, 1500)
    all_columns = ConditionalRatio(x, y, rng).fit(rows)
    alone = ConditionalRatio(x[:, :1], y, rng).fit(rows)
    gap = alone.log_ratio(new, new).mean() - all_columns.log_ratio(new, new).mean()
    # Five columns more, with five splines each, would cost 25 / (2 * 1000) = 0.0125 for the mean
    # and as much for the spread.
    assert gap < 0.02


def test_bends_within_one_side_are_taken_off_and_found():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1500, 2))
    y = z[:, [1]] + 0.5 * rng.normal(size=(1500, 1))
    bent = np.column_stack([z[:, 0], z[:, 1] + 4 * np.sin(3 * z[:, 0])])
    straight = straightened(bent)
    assert straight is not None
    assert abs(np.corrcoef(straight[:, 1], z[:, 1])[0, 1]) > 0.98
    truth = -0.5 * np.log(1 - 1 / 1.25)
    i = found(bent, y)
    assert i.low <= truth <= i.high
    assert i.value == pytest.approx(truth, abs=0.12)


def test_few_rows_and_single_columns_are_not_straightened():
    rng = np.random.default_rng(0)
    assert straightened(rng.normal(size=(60, 3))) is None
    assert straightened(rng.normal(size=(5000, 1))) is None


def test_a_mixture_does_not_exceed_the_truth_across_a_chasm():
    # One-sided noise of an exponential column: two components fit neither margin.
    rng = np.random.default_rng(0)
    x = rng.exponential(size=(4000, 1))
    y = x + 0.002 * rng.exponential(size=(4000, 1))
    ratio = MixtureRatio(x, y, 2, 1, rng).fit(np.arange(3000))
    new = np.arange(3000, 4000)
    # h(y) - h(noise), with y as good as exponential: 1 - (1 + log 0.002).
    assert ratio.log_ratio(new, new).mean() < -np.log(0.002) + 0.1


def test_few_rows_are_not_asked_to_prove_what_they_cannot():
    answer = Answer(2.5, 0.05, "gaussian")
    assert check_bound(answer, 0.0, 100).verdict == "ok"
    assert check_bound(answer, 0.0, 10_000).verdict == "fail"


def test_few_columns_are_few_however_many_rows_there_are():
    # Every column explained costs as many features as come before it: fifty of them took minutes.
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(4000, 1))
    x, y = (shared + rng.normal(size=(4000, 30)) for _ in range(2))
    of_x, of_y = FocusedRatio(x, y, rng).fit(np.arange(4000)).columns
    assert 2 <= len(of_x) + len(of_y) <= 16
