"""Frames of every library are read alike, and matched by the names of their columns."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isthmus.data.frames import as_frame, as_numpy, column_names, select_columns
from isthmus.data.validation import as_labels, as_rows

TABLE = {"a": [1, None, 3], "b": [0.5, 1.5, 2.5], "c": [True, None, False]}
EXPECTED = np.array([[1, 0.5, 1], [np.nan, 1.5, np.nan], [3, 2.5, 0]])

HOLDERS = {
    "pandas": pd.DataFrame,
    "pandas, its own missing values": lambda t: pd.DataFrame(t).convert_dtypes(),
    "pandas, arrow types": lambda t: pd.DataFrame(t).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "pyarrow table": pa.table,
    "pyarrow batch": pa.RecordBatch.from_pydict,
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
class TestEveryFrame:
    def test_has_names_and_numbers(self, hold):
        frame = hold(TABLE)
        assert as_frame(frame) is not None
        assert column_names(frame) == ["a", "b", "c"]
        np.testing.assert_array_equal(as_rows(frame, "X", missing=True), EXPECTED)
        with pytest.raises(ValueError, match="X must be finite; received NaN in 1 of 3 rows"):
            as_rows(frame, "X")

    def test_columns_are_brought_into_order(self, hold):
        found = select_columns(hold(TABLE), ["b", "c", "a"], "X")
        assert column_names(found) == ["b", "c", "a"]
        rows = as_rows(found, "X", missing=True)
        np.testing.assert_array_equal(rows, EXPECTED[:, [1, 2, 0]])

    def test_missing_and_extra_columns_are_named(self, hold):
        with pytest.raises(ValueError, match=r"missing \['d'\] and unexpected \['a', 'c'\]"):
            select_columns(hold(TABLE), ["b", "d"], "X")

    def test_dates_are_refused(self, hold):
        frame = hold({"t": [dt.datetime(2024, 1, 2)] * 3})
        with pytest.raises((ValueError, TypeError), match="X must hold numbers; received"):
            as_rows(frame, "X")

    def test_text_is_refused(self, hold):
        with pytest.raises((ValueError, TypeError), match="X must hold numbers; received"):
            as_rows(hold({"t": ["x", "y"]}), "X")


def test_columns_without_names_are_matched_by_position():
    numbered = pd.DataFrame([[1.0, 2.0]])
    twice = pd.DataFrame([[1.0, 2.0]], columns=[0, 0])
    for frame in (numbered, twice):
        assert column_names(frame) is None
        assert select_columns(frame, ["a", "b"], "X") is frame
        np.testing.assert_array_equal(as_rows(frame, "X"), [[1, 2]])


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), pa.table([[1.0], [2.0]], names=["a", "a"])],
    ids=["pandas", "pyarrow"],
)
def test_a_name_that_is_there_twice_is_refused(frame):
    with pytest.raises(ValueError, match=r"must be unique; received \['a'\] more than once"):
        column_names(frame)


@pytest.mark.parametrize(
    "thing", [np.eye(2), [[1.0]], {"a": [1.0]}, "text", None, pd.Series([1.0]), pl.Series([1.0])]
)
def test_what_is_not_a_frame(thing):
    assert as_frame(thing) is None
    assert column_names(thing) is None
    assert select_columns(thing, ["a"], "X") is thing


SERIES = {
    "pandas": pd.Series([1, None, 3]),
    "pandas, its own missing values": pd.Series([1, None, 3], dtype="Int8"),
    "polars": pl.Series([1, None, 3]),
    "pyarrow array": pa.array([1, None, 3]),
    "pyarrow chunks": pa.chunked_array([[1], [None, 3]]),
    "masked array": np.ma.masked_invalid([1.0, np.nan, 3.0]),
}


@pytest.mark.parametrize("series", SERIES.values(), ids=SERIES)
def test_series_are_columns(series):
    np.testing.assert_array_equal(as_rows(series, "X", missing=True), [[1], [np.nan], [3]])


@pytest.mark.parametrize("hold", [pd.Series, pl.Series, np.asarray])
def test_labels_keep_their_type(hold):
    for labels in ([0, 1, 1], [False, True, True], ["a", "b", "b"]):
        is_p, classes = as_labels(hold(labels), 3)
        assert is_p.tolist() == [False, True, True]
        assert classes.tolist() == sorted(set(labels))
    assert isinstance(as_numpy([1.0]), list)
