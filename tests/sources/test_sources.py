"""Whatever holds the rows, they are the same rows in the same order."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyarrow import csv, parquet

from isthmus.data.engine import Here
from isthmus.data.source import Source
from isthmus.sources import as_source
from isthmus.sources import parquet as of_parquet
from isthmus.tables.columns import TableError
from isthmus.tables.frames import TableEncoder

ROWS = 700


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    town = rng.choice(["Bonn", "Kiel", None], ROWS)
    day = np.datetime64("2024-01-01") + rng.integers(0, 90, ROWS)
    return pa.table(
        {"x": rng.normal(size=ROWS), "town": town, "day": day, "n": np.arange(ROWS) % 7}
    )


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    found = tmp_path_factory.mktemp("rows") / "p"
    found.mkdir()
    for k, begin in enumerate(range(0, ROWS, 250)):
        parquet.write_table(rows.slice(begin, 250), found / f"part-{k}.parquet", row_group_size=100)
    (found / "_SUCCESS.parquet").write_bytes(b"no table")
    (found / "notes.txt").write_text("no table")
    return found


class Again:
    """Batches that are made anew each time."""

    def __init__(self, rows, make):
        self.rows, self.make = rows, make

    def __iter__(self):
        return (self.make(self.rows.slice(at, 333)) for at in range(0, ROWS, 333))


def as_dask(rows):
    frames = pytest.importorskip("dask.dataframe")
    return frames.from_pandas(rows.to_pandas(), npartitions=3)


FORMS = {
    "file": lambda rows, folder: whole_file(rows, folder),
    "text": lambda rows, folder: str(whole_file(rows, folder)),
    "folder": lambda rows, folder: folder,
    "csv": lambda rows, folder: text_file(rows, folder),
    "dataset": lambda rows, folder: ds.dataset(sorted(folder.glob("part*"))),
    "dataset in memory": lambda rows, folder: ds.dataset(rows),
    "lazy": lambda rows, folder: pl.scan_parquet(folder / "part*.parquet"),
    "lazy in memory": lambda rows, folder: pl.from_arrow(rows).lazy(),
    "list of tables": lambda rows, folder: [rows.slice(0, 9), rows.slice(9)],
    "tuple of batches": lambda rows, folder: tuple(rows.to_batches(max_chunksize=99)),
    "pandas again": lambda rows, folder: Again(rows, lambda some: some.to_pandas()),
    "polars again": lambda rows, folder: Again(rows, pl.from_arrow),
    "dicts again": lambda rows, folder: Again(rows, lambda some: some.to_pydict()),
    "dask": lambda rows, folder: as_dask(rows),
    "a source": lambda rows, folder: as_source(folder, "other"),
}


def whole_file(rows, folder):
    path = folder.parent / "whole.parquet"
    parquet.write_table(rows, path, row_group_size=123)
    return path


def text_file(rows, folder):
    path = folder.parent / "whole.csv"
    csv.write_csv(rows, path)
    return path


def everything(source):
    """All rows of a source, part by part."""
    tables = []
    for part in source.parts:
        batches = list(part.read(part.payload, source.names))
        assert sum(map(len, batches)) == part.rows
        tables += batches
    return tables


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_rows(form, rows, folder):
    source = as_source(FORMS[form](rows, folder), "p")
    assert source.rows == ROWS and source.label == "p"
    assert set(source.names) == set(rows.column_names)
    firsts = [part.first for part in source.parts]
    assert firsts == np.cumsum([0] + [part.rows for part in source.parts])[:-1].tolist()
    few = source.only(["town", "x"])
    for _ in range(2):
        tables = everything(few)
        assert all(table.column_names == ["town", "x"] for table in tables)
        read = {
            name: [v for table in tables for v in table[name].to_pylist()] for name in few.names
        }
        assert read["x"] == rows["x"].to_pylist()
        assert [v if isinstance(v, str) else None for v in read["town"]] == rows["town"].to_pylist()


@pytest.mark.parametrize("form", [form for form in FORMS if form != "csv"])
def test_every_form_is_decided_alike(form, rows, folder):
    q = rows.slice(0, 400).set_column(0, "x", pa.array(np.linspace(-1, 2, 400)))
    whole = TableEncoder(dates=["days", "weekday"])
    P, _ = whole.fit_transform(rows, q)
    encoder = TableEncoder(dates=["days", "weekday"])
    source = as_source(FORMS[form](rows, folder), "p")
    encoder.fit_sources(source, as_source([q], "q"), Here())
    assert encoder.plans == whole.plans and encoder.left_out_ == whole.left_out_
    made = [encoder.rows_of(batch)[0] for batch in everything(source.only(encoder.sources))]
    assert np.array_equal(np.concatenate(made), P)


def test_row_groups_make_parts_and_parts_are_read_alone(folder, monkeypatch):
    monkeypatch.setattr(of_parquet, "PART_ROWS", 200)
    source = as_source(folder, "p")
    assert [part.rows for part in source.parts] == [200, 50, 200, 50, 200]
    (table,) = source.parts[3].read(source.parts[3].payload, ("n",))
    assert table["n"].to_pylist() == [k % 7 for k in range(450, 500)]


def test_filters_are_pushed_down_and_columns_that_are_not_asked_for_are_not_read(rows, folder):
    wanted = [x for x, n in zip(rows["x"].to_pylist(), rows["n"].to_pylist(), strict=True) if n > 3]
    dataset = ds.dataset(sorted(folder.glob("part*"))).filter(ds.field("n") > 3)
    lazy = pl.scan_parquet(folder / "part*.parquet").filter(pl.col("n") > 3)
    for value in (dataset, lazy):
        source = as_source(value, "p").only(["x"])
        assert source.rows == len(wanted)
        tables = everything(source)
        assert [x for table in tables for x in table["x"].to_pylist()] == wanted
        assert all(table.column_names == ["x"] for table in tables)


def test_names_of_folders_are_columns(tmp_path):
    for place, value in (("year=2023/town=K%C3%B6ln", 1.0), ("year=2024/town=Ulm", 2.0)):
        (tmp_path / place).mkdir(parents=True)
        parquet.write_table(pa.table({"x": [value] * 3}), tmp_path / place / "a.parquet")
    empty = tmp_path / "year=2025/town=__HIVE_DEFAULT_PARTITION__"
    empty.mkdir(parents=True)
    parquet.write_table(pa.table({"x": [3.0]}), empty / "a.parquet")
    source = as_source(tmp_path, "p")
    assert source.names == ("x", "year", "town")
    tables = [table.to_pydict() for table in everything(source.only(["town", "year"]))]
    assert tables[0] == {"town": ["Köln"] * 3, "year": [2023] * 3}
    assert tables[2] == {"town": [None], "year": [2025]}
    # pyarrow reads the same.
    other = ds.dataset(tmp_path, partitioning="hive").to_table()
    assert other["year"].to_pylist() == [y for table in tables for y in table["year"]]


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((3, 2)),
        np.zeros(3),
        [1.0, 2.0],
        [[1.0, 2.0], [3.0, 4.0]],
        [np.zeros(2), np.zeros(2)],
        [],
        range(4),
        {"x": [1, 2]},
        pd.DataFrame({"x": [1]}),
        pd.Series([1.0]),
        pl.DataFrame({"x": [1]}),
        pa.table({"x": [1]}),
        pa.record_batch({"x": [1]}),
        3.0,
        None,
    ],
)
def test_ordinary_arrays_and_frames_are_no_sources(value):
    assert as_source(value, "p") is None


def test_arrays_in_batches():
    whole = np.arange(20.0).reshape(10, 2)
    source = as_source([whole[:3], whole[3:]], "p")
    assert source.names is None and source.n_columns == 2
    assert np.array_equal(np.concatenate(everything(source)), whole)


@pytest.mark.parametrize("shape", [(10,), (10, 2)])
def test_dask_arrays(shape):
    da = pytest.importorskip("dask.array")
    whole = np.arange(np.prod(shape), dtype=float).reshape(shape)
    lazy = da.from_array(whole, chunks=3)
    for value in (lazy, lazy[lazy.reshape(10, -1)[:, 0] >= 0]):  # of the latter no one knows sizes
        source = as_source(value, "p")
        assert source.rows == 10
        assert np.array_equal(np.concatenate(everything(source)), whole.reshape(10, -1))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ((x for x in [np.zeros((2, 2))]), "received a generator, which gives them once"),
        (iter([pa.table({"x": [1]})]), "which gives them once"),
        (pa.table({"x": [1]}).to_reader(), "received a RecordBatchReader, which gives them once"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], "received 3 in batch 1, and 2 in the first"),
        ([{"x": [1]}, {"y": [1]}], r"received \['y'\] in batch 1, and \['x'\] in the first"),
        ([{"x": []}], "p must have at least one row"),
        ("nothing.parquet", "nothing.parquet: there is no such file or folder"),
        ("nothing.csv", "nothing.csv: there is no such file"),
    ],
)
def test_what_cannot_be_read_again_or_has_no_rows_is_refused(value, told):
    with pytest.raises(TableError, match=told):
        as_source(value, "p")


def test_no_library_is_imported_for_a_value_of_another():
    code = (
        "import sys, numpy as np; from isthmus.sources import as_source; "
        "assert as_source(np.zeros((3, 2)), 'p') is None; "
        "assert as_source({'x': [1]}, 'p') is None; "
        "assert as_source([np.zeros((3, 2))], 'p').rows == 3; "
        "print([m for m in ('polars', 'dask', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_source_is_what_it_says(folder):
    assert isinstance(as_source(folder, "p"), Source)
