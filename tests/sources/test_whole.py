"""Sources where rows have to be in memory: mutual information, and weights with a certificate."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import isthmus
from isthmus.data.sample import bounded_rows
from isthmus.sources import whole
from isthmus.sources.whole import drawn_together, in_memory
from isthmus.tables.columns import TableError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for x and one for y, cut otherwise."""
    found = tmp_path_factory.mktemp("pairs")
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    y = 0.8 * x + 0.6 * rng.normal(size=600)
    for name, values, size in (("x", x, 200), ("y", y, 300)):
        (found / name).mkdir()
        for begin in range(0, 600, size):
            table = pa.table({name: values[begin : begin + size]})
            parquet.write_table(table, found / name / f"{begin:03d}.parquet", row_group_size=70)
    return found


def test_rows_of_pairs_stay_together(folder):
    x, y = (parquet.read_table(folder / name)[name].to_numpy() for name in "xy")
    at = bounded_rows(600, 50)
    for other in (folder / "y", y, pd.DataFrame({"y": y}), pl.Series(y)):
        (a, b, none), told = drawn_together({"x": folder / "x", "y": other, "given": None}, 50)
        assert np.array_equal(a["x"].to_numpy(), x[at]) and none is None
        assert np.array_equal(np.asarray(b).ravel(), y[at])
        assert told == "50 of 600 rows were drawn, by hashes of their places."
    (a, _), told = drawn_together({"x": folder / "x", "y": y}, 600)
    assert len(a) == 600 and told == ""
    with pytest.raises(TableError, match="x and y must have the same number of rows; received 600"):
        drawn_together({"x": folder / "x", "y": y[:9]}, 50)


def test_mutual_information_of_files_is_that_of_their_rows(folder):
    x, y = (parquet.read_table(folder / name)[name].to_numpy() for name in "xy")
    kept = {"method": "gaussian", "random_state": 0}
    whole = isthmus.mutual_information(x, y, **kept)
    lazy = pl.scan_parquet(folder / "x" / "*.parquet")
    for first in (folder / "x", str(folder / "x"), lazy):
        assert isthmus.mutual_information(first, folder / "y", **kept) == whole
    some = isthmus.mutual_information(folder / "x", folder / "y", max_rows=300, **kept)
    at = bounded_rows(600, 300)
    assert some.value == isthmus.mutual_information(x[at], y[at], **kept).value
    assert "300 of 600 rows were drawn" in " ".join(some.notes)


def test_weights_of_files_are_those_of_their_rows(folder, monkeypatch):
    x, y = (parquet.read_table(folder / name) for name in "xy")
    y = y.rename_columns(["x"])
    expected = isthmus.importance_weights(x, y, random_state=0)
    batches = [y.slice(0, 100), y.slice(100)]
    found = isthmus.importance_weights(folder / "x", batches, random_state=0)
    assert np.array_equal(found.values, expected.values)
    monkeypatch.setattr(whole, "MOST_NUMBERS", 500)
    with pytest.raises(TableError, match="source must have at most 500 numbers"):
        isthmus.importance_weights(folder / "x", y, random_state=0)
    assert in_memory(y, "target", "") is y
