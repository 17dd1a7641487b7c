"""Files: what is read from them, and one line for every way in which they can be bad."""

from __future__ import annotations

import gzip
import io
import os
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isthmus.tables.frames import TableEncoder, TableError, read_table
from isthmus.tables.reading import names_in_file

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
        ("p.csv", TEXT.replace(",", ";")),
        ("p.txt", TEXT.replace(",", "|")),
        ("p.csv.gz", TEXT),
        ("p.jsonl", '{"age": 31, "town": "Bonn"}\n{"town": "NA"}\n{"age": 42}\n'),
        ("p.json", '[{"age": 31, "town": "Bonn"}, {"town": "NA"}, {"age": 42}]'),
    ],
)
def test_text_files(tmp_path, name, content):
    assert read(write(tmp_path, name, content)) == CELLS


def test_decimal_commas(tmp_path):
    path = write(tmp_path, "p.csv", 'a;b;c\n1,5;x;"2,25"\n-2;"y;z";3\n')
    assert read(path) == {"a": [1.5, -2.0], "b": ["x", "y;z"], "c": [2.25, 3.0]}
    # A number with a point says that the commas are something else.
    assert read(write(tmp_path, "p.csv", "a;b\n1,5;2.5\n"))["a"] == ["1,5"]


@pytest.mark.parametrize(
    "content", [TEXT, TEXT.replace(",", "\t"), gzip.compress(TEXT.encode(), mtime=0), "parquet"]
)
def test_standard_input_and_pipes_tell_their_form_by_their_bytes(tmp_path, monkeypatch, content):
    if content == "parquet":
        pq.write_table(pa.table(CELLS), tmp_path / "p.parquet")
        content = (tmp_path / "p.parquet").read_bytes()
    content = content.encode() if isinstance(content, str) else content
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read("-") == CELLS
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(content,))
    writer.start()
    assert read(fifo) == CELLS
    writer.join()


def test_a_flipped_byte_in_parquet_is_seen_where_pages_have_checksums(tmp_path):
    path = tmp_path / "p.parquet"
    table = pa.table({"x": [float(k) for k in range(1000)]})
    pq.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"p\.parquet: cannot be read.*[Cc]hecksum"):
        read_table(path)


def test_a_device_is_refused():
    with pytest.raises(TableError, match="must be a file or a pipe"):
        read_table("/dev/zero")


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
        ("p.csv", b"gr\xf6\xdfe,b\n1,2\n", "must be text in UTF-8.*iconv"),
        ("p.csv", "a,b\n1,2\n".encode("utf-16"), "must be text in UTF-8"),
        ("p.csv", b"a,b\n1," + b"x" * 3_000_000 + b"\n", "a row must have at most 1 MB"),
        ("p.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9], "is damaged"),
        ("p.csv.gz", gzip.compress(bytes(100_000_000), 9, mtime=0), "at most 300 times its size"),
        ("p.jsonl", '{"a": 1}\n{"a": ', "cannot be read as a table"),
        ("p.json", "[1, 2]", "one object for every row"),
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
    # Of what is not there, a wrong ending is not what is wrong.
    with pytest.raises(TableError, match=r"folder: there is no such file or folder"):
        read_table(tmp_path / "folder")
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x\n1\n\n3\n", [1, None, 3]),
        ("x\r\n1\r\n\r\n3\r\n", [1, None, 3]),
        ("x\n\n1\n3\n\n\n", [None, 1, 3]),
        ('"x"\n"1"\n""\n"3"\n', [1, None, 3]),
        ('"x";"y"\n"1,5";"a"\n"";"b"\n"2,5";""\n', [1.5, None, 2.5]),
        ("x,y\n1,a\n\n3,b\n", [1, 3]),
    ],
)
def test_empty_lines_and_empty_quoted_cells(tmp_path, text, expected):
    path = tmp_path / "p.csv"
    path.write_bytes(text.encode())
    table = read_table(path)
    assert table["x"].to_pylist() == expected
    if "y" in table:  # among text an empty quoted cell is text
        assert None not in table["y"].to_pylist()


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("p.csv", TEXT, ["age", "town"]),
        ("p.csv", "\ufeff" + TEXT.replace(",", ";").replace("\n", "\r\n"), ["age", "town"]),
        ("p.tsv.gz", gzip.compress(TEXT.replace(",", "\t").encode(), mtime=0), ["age", "town"]),
        ("p.csv", 'age,"town, or place"\n1,Bonn\n', ["age", "town, or place"]),
        # Only all of it tells, or nothing does.
        ("p.csv", 'age,"town\nor place"\n1,Bonn\n', None),
        ("p.csv", "age,town", None),
        ("p.csv", "", None),
        ("p.jsonl", '{"age": 31}\n', None),
        ("p.parquet", "no Parquet", None),
    ],
)
def test_names_of_columns_before_the_rows_are_read(tmp_path, name, content, expected):
    assert names_in_file(write(tmp_path, name, content)) == expected


def test_names_of_columns_of_parquet_and_of_no_file(tmp_path):
    pq.write_table(pa.table({"age": [31], "town": ["Bonn"]}), tmp_path / "p.parquet")
    assert names_in_file(tmp_path / "p.parquet") == ["age", "town"]
    assert names_in_file(tmp_path / "none.csv") is None
    assert names_in_file("-") is None
