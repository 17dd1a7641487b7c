"""Files that are damaged, differ, or change while they are read: one sentence that names them."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyarrow import parquet

from isthmus.data.engine import Here
from isthmus.sources import as_source
from isthmus.sources.datasets import Query
from isthmus.tables.columns import TableError
from isthmus.tables.frames import TableEncoder


def write(path, n=400, **columns):
    rng = np.random.default_rng(n)
    table = pa.table({"x": rng.normal(size=n), "t": ["a", "bc"] * (n // 2), **columns})
    # No compression: its own checks must not be what finds the change.
    parquet.write_table(
        table, path, row_group_size=100, write_page_checksum=True, compression="none",
        use_dictionary=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        write(tmp_path / name)
    return tmp_path


def read(source):
    return [table for table in source.batches()]


def refused(source, *names):
    """The one sentence that says why, with the names in it."""
    with pytest.raises(TableError) as caught:
        read(source)
    told = str(caught.value)
    assert "\n" not in told
    for name in names:
        assert name in told
    return told


FORMS = {
    "folder": lambda folder: as_source(folder, "p"),
    "dataset": lambda folder: as_source(ds.dataset(folder), "p"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_changed_bit_in_a_row_group_is_found_by_its_checksum(form, folder):
    path = folder / "b.parquet"
    column = parquet.ParquetFile(path).metadata.row_group(2).column(0)
    at = column.data_page_offset + column.total_compressed_size // 2
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    source = FORMS[form](folder)
    told = refused(source, "b.parquet", "cannot be read as a table")
    assert form == "dataset" or "row groups 0 to 3" in told
    # The other column is whole, and so is the other file.
    assert sum(map(len, read(source.only(["t"])))) == 800


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_is_gone_or_another_one_in_a_later_pass(form, folder):
    source = FORMS[form](folder)
    assert sum(map(len, read(source))) == 800
    path = folder / "b.parquet"
    content, was = path.read_bytes(), path.stat()
    write(path, 600)
    refused(source, "b.parquet", "must stay as it is")
    # The same size is not the same file.
    path.write_bytes(content)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns + 10**9))
    refused(source, "b.parquet", "must stay as it is")
    path.unlink()
    refused(source, "b.parquet", "gone")


def test_a_file_that_is_gone_within_a_pass(folder):
    batches = as_source(folder, "p").batches()
    next(batches)
    (folder / "b.parquet").unlink()
    with pytest.raises(TableError, match=r"b\.parquet: the file was there and is gone"):
        list(batches)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"y": np.zeros(400)}, "received 'y' in b.parquet and not in a.parquet"),
        ({"x": ["text"] * 400}, "column 'x' must hold the same kind of values"),
        ({"t": pa.array([0] * 400, pa.timestamp("s"))}, "received dates, and text in a.parq"),
    ],
)
def test_columns_that_differ_between_files(columns, told, folder):
    write(folder / "b.parquet", **columns)
    with pytest.raises(TableError, match=rf"^{folder / 'b.parquet'}: .*{told}"):
        as_source(folder, "p")


def test_columns_that_are_missing_from_a_file(folder):
    parquet.write_table(pa.table({"x": [1.0]}), folder / "b.parquet")
    with pytest.raises(TableError, match=r"b\.parquet: .*'t' in a\.parquet and not in b\.parquet"):
        as_source(folder, "p")


def test_types_of_one_kind_and_columns_without_values_fit_together(folder):
    table = pa.table({"t": pa.nulls(3), "x": pa.array([1, 2, 3], pa.int16())})
    parquet.write_table(table, folder / "b.parquet")
    parquet.write_table(table.slice(0, 1), folder / "0.parquet")
    source = as_source(folder, "p")
    encoder = TableEncoder()
    encoder.fit_sources(source, as_source(folder / "a.parquet", "q"), Here())
    assert [plan.name for plan in encoder.plans] == ["t", "x"]
    assert encoder.plans[0].indicator


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "a folder must hold files whose names end in .parquet"),
        (b"", "c.parquet: the file is empty"),
        (b"PAR1 and nothing else", "c.parquet: cannot be read as a table"),
    ],
)
def test_folders_without_a_table(content, told, tmp_path):
    if content is not None:
        (tmp_path / "c.parquet").write_bytes(content)
    with pytest.raises(TableError, match=told) as caught:
        as_source(tmp_path, "p")
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_folder_of_files_without_rows(tmp_path):
    parquet.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "a.parquet")
    with pytest.raises(TableError, match="column names but no rows"):
        as_source(tmp_path, "p")


def test_a_query_cannot_travel_and_says_so(folder):
    source = as_source(ds.dataset(folder).filter(ds.field("x") > 0), "p")
    assert isinstance(source.parts[0].payload, Query)
    with pytest.raises(pickle.PicklingError, match="filtered Dataset cannot be sent"):
        pickle.dumps(source.parts[0])
    # Files can.
    for form in FORMS.values():
        part = pickle.loads(pickle.dumps(form(folder).parts[0]))
        assert sum(map(len, part.read(part.payload, ("x",)))) == part.rows
