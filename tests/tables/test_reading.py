"""Files: what is read from them, and one line for every way in which they can be bad."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isthmus.tables.frames import TableEncoder, TableError, read_table

TEXT = 'age,town\n31,Bonn\n,"NA"\n42,NA\n'
CELLS = {"age": [31, None, 42], "town": ["Bonn", "NA", None]}


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path):
    return {name: column.to_pylist() for name, column in read_table(path).items()}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.csv", TEXT),
        ("P.CSV", TEXT),
        ("p.csv", "\ufeff" + TEXT),
        ("p.csv", TEXT.replace("\n", "\r\n")),
        ("p.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("p.tsv", TEXT.replace(",", "\t")),
        ("p.tsv.gz", gzip.compress(TEXT.replace(",", "\t").encode(), mtime=0)),
    ],
)
def test_text_files(tmp_path, name, content):
    assert read(write(tmp_path, name, content)) == CELLS


@pytest.mark.parametrize("suffix", ["parquet", "pq"])
def test_parquet(tmp_path, suffix):
    folder = tmp_path / "year=2024"
    folder.mkdir()
    pq.write_table(pa.table(CELLS), folder / f"p.{suffix}")
    # The folder's name must not become a column.
    assert read(folder / f"p.{suffix}") == CELLS


def test_types_are_found_beyond_the_first_block(tmp_path):
    rows = 300_000  # well over pyarrow's block of one megabyte
    path = write(tmp_path, "p.csv", "x\n" + "1\n" * rows + "2.5\n" + "1\n" * rows)
    column = read_table(path)["x"]
    assert len(column) == 2 * rows + 1
    assert column[rows].as_py() == 2.5


def test_a_cell_may_hold_a_line_break(tmp_path):
    assert read(write(tmp_path, "p.csv", 'a,b\n1,"x\ny"\n')) == {"a": [1], "b": ["x\ny"]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", "", "the file is empty"),
        ("p.csv", "\n\n", "cannot be read as a table"),
        ("p.csv", "a,b\n", "column names but no rows"),
        ("p.csv", "a,b\n1,2\n3\n", "Row #3: Expected 2 columns, got 1"),
        ("p.csv", "a,b\n1,2,3\n", "Expected 2 columns, got 3"),
        ("p.csv", "a,b,a\n1,2,3\n", r"must differ; received \['a'\]"),
        ("p.csv", "0.5,1.5\n2.5,3.5\n", "first row must hold the column names"),
        ("p.csv", "a;b\n1;2\n", "separated by commas"),
        ("p.csv.gz", "a,b\n1,2\n", "cannot be read as a table"),
        ("p.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9], "cannot be read as a table"),
        ("p.parquet", "a,b\n1,2\n", "cannot be read as a table"),
        ("p.parquet", "PAR1", "cannot be read as a table"),
        ("p.xlsx", "a", "must end in one of .csv"),
        ("p", "a", "must end in one of .csv"),
        ("p.pkl", b"cos\nsystem\n(S'exit 1'\ntR.", "must end in one of .csv"),
    ],
)
def test_bad_files_are_refused_in_one_line_that_names_them(tmp_path, name, content, message):
    path = write(tmp_path, name, content)
    with pytest.raises(TableError, match=message) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_no_file_and_a_directory(tmp_path):
    with pytest.raises(TableError, match=r"none\.csv: there is no such file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match="received a directory"):
        read_table(tmp_path / "folder.csv")


def test_bytes_that_are_not_text_are_left_out_or_refused(tmp_path):
    path = write(tmp_path, "p.csv", b"a,b\n1,Z\xfcrich\n")
    encoder = TableEncoder()
    assert encoder.fit_transform(read_table(path), read_table(path))[0] == [[1.0]]
    assert "must hold numbers or text in UTF-8" in encoder.summary()["b"]
    with pytest.raises(TableError, match="'b' of p must hold numbers or text in UTF-8"):
        TableEncoder(keep=["b"]).fit(read_table(path), read_table(path))


def test_dates_in_a_file_are_days(tmp_path):
    path = write(tmp_path, "p.csv", "x,when\n1,2024-01-02\n2,2024-01-04\n")
    got = TableEncoder().fit_transform(read_table(path), read_table(path))[0]
    assert got.tolist() == [[19724.0, 1.0], [19726.0, 2.0]]


def test_a_header_of_whole_numbers_is_a_header(tmp_path):
    assert read(write(tmp_path, "p.csv", "0,1\n2.5,3.5\n")) == {"0": [2.5], "1": [3.5]}
