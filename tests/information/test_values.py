"""What is made of the columns of an argument."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isthmus.information.sentinels import find_sentinel, sentinel_notes
from isthmus.information.values import Values, numbered, read_values

AGE = [31.0, 42.0, 37.0, 55.0] * 15
TOWN = ["Bonn", "Kiel", "Bonn", "Bonn"] * 15


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_all_kinds_are_read_alike(frame):
    numbers = np.arange(60.0) ** 1.5
    found = read_values(frame({"n": numbers, "town": TOWN}), "x")
    assert not found.discrete
    assert found.categories == (1,)
    assert found.names == ("n", "town")
    np.testing.assert_array_equal(found.array[:, 0], numbers)
    # The most frequent level is 0.
    np.testing.assert_array_equal(found.array[:, 1], [float(t == "Kiel") for t in TOWN])


def test_rows_of_a_list_may_mix_text_and_numbers():
    found = read_values([[0.37 * k, "ab"[k % 2]] for k in range(60)], "x")
    assert found.categories == (1,)
    assert found.array[5, 0] == pytest.approx(1.85)


def test_columns_of_few_values_are_one_label():
    found = read_values({"age": AGE, "town": TOWN}, "x")
    assert found.discrete
    assert len(np.unique(found.array)) == 4  # the town is a function of the age
    assert read_values([True, False] * 30, "x").discrete


def test_many_combinations_of_levels_stay_columns():
    rng = np.random.default_rng(0)
    letters = {name: rng.choice(list("abcdefgh"), 400) for name in "xyz"}
    found = read_values(letters, "x")
    assert not found.discrete
    assert found.categories == (0, 1, 2)


def test_counts_beside_numbers_stay_numbers():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=300), rng.poisson(4, 300), rng.integers(2, size=300)])
    assert read_values(table, "x").categories == (2,)
    assert read_values(table, "x", False).categories == ()


def test_missing_values_are_values_of_their_own():
    numbers = np.arange(100.0)
    numbers[:10] = np.nan
    found = read_values({"n": numbers, "town": [None, *(["Bonn", "Kiel", "Ulm"] * 33)]}, "x")
    assert found.names == ("n", "n is missing", "town")
    assert found.gaps == (1,)
    assert found.categories == (1, 2)
    assert found.array[:10, 0].tolist() == [54.5] * 10  # the median of the others
    assert found.array[:10, 1].all()
    assert found.array[0, 2] == 3.0  # the rarest level
    assert "'n' of x has 10 missing values in 100 rows" in found.notes[0]
    assert "a level of its own" in found.notes[1]


def test_dates_are_days():
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=k) for k in range(60)]
    for given in (days, np.array(days, dtype="datetime64[D]"), pd.Series(days)):
        assert np.diff(read_values(given, "x").array[:, 0]).tolist() == [1.0] * 59


def test_a_column_that_names_rows_is_left_out():
    names = [f"row {k}" for k in range(60)]
    found = read_values({"id": names, "n": np.arange(60.0)}, "x")
    assert found.names == ("n",)
    assert "without 'id', which has 60 levels in 60 rows" in found.notes[0]
    assert read_values(names, "x").discrete  # alone it is a label, of which checks say the rest
    with pytest.raises(ValueError, match="x must have a column with levels that repeat"):
        read_values({"id": names, "key": names[::-1]}, "x")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": [1.0, np.inf, 2.0]}, "x must be finite; received infinity in 'a'"),
        ({"a": [None, None]}, "x must have a value in some row of every column; .* 'a'"),
        ({}, "x must have at least one column"),
        ({"a": [1, 2], "b": [1]}, "The columns of x must have one length"),
        (np.zeros((3, 2), dtype=complex), "x must hold real numbers"),
    ],
)
def test_bad_columns_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        read_values(values, "x")


def test_rows_that_are_taken_are_numbered_anew():
    mixed = Values(np.column_stack([np.arange(6.0), [0, 1, 2, 0, 1, 2]]), False, (1,))
    assert mixed.take(np.array([1, 2, 5])).array[:, 1].tolist() == [1.0, 0.0, 0.0]
    assert mixed.array[1, 1] == 1.0  # the others are as they were
    assert numbered(np.array([5, 5, 1])).tolist() == [0, 0, 1]


# Sentinels.


@pytest.mark.parametrize(
    ("value", "rows"), [(99_999.0, 1), (-999_999.0, 3), (9_999.0, 20), (-99.0, 20)]
)
def test_a_value_far_from_all_others_is_found(value, rows):
    column = np.random.default_rng(0).gamma(4.0, 5.0, size=400)
    assert find_sentinel(column) is None
    column[:rows] = value
    found = find_sentinel(column)
    assert found.value == value
    assert found.rows.sum() == rows


def test_minus_one_among_counts_is_found():
    column = np.round(np.random.default_rng(0).exponential(30.0, size=1000))
    column[:150] = -1.0
    assert find_sentinel(column).value == -1.0


@pytest.mark.parametrize("power", [0.7, 1.0, 2.0])
def test_heavy_tails_have_no_sentinels(power):
    rng = np.random.default_rng(0)
    found = [find_sentinel(np.abs(rng.standard_cauchy(500)) ** (1 / power)) for _ in range(100)]
    # The largest of so heavy a tail lies apart by chance, once in exp(8) times or a bit more.
    assert sum(one is not None for one in found) <= 3


def test_a_shared_sentinel_is_named():
    x, y = np.random.default_rng(0).normal(size=(2, 300))
    x[:4] = y[:4] = -999.0
    notes = sentinel_notes(
        Values(x[:, None], False, names=("a",)), Values(y[:, None], False, names=("b",))
    )
    assert len(notes) == 3
    assert "'a' of x is −999 and 'b' of y is −999 in the same 4 rows" in notes[-1]
    y[:4], y[10:14] = 0.0, -999.0
    notes = sentinel_notes(Values(x[:, None], False), Values(y[:, None], False))
    assert len(notes) == 2  # not in the same rows
