"""Files of data that were cut short or changed on the way: refused by name, or read as they are."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from isthmus.tables.columns import TableError
from isthmus.tables.reading import read_table

ROWS = 400


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """Bytes of the same table in every form."""
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=ROWS), "n": rng.integers(0, 9, ROWS), "t": ["a", "bc"] * 200}
    table = pa.table(columns)
    folder = tmp_path_factory.mktemp("whole")
    rows = zip(*(columns[name] for name in columns), strict=True)
    text = "x,n,t\n" + "".join(f"{x},{n},{t}\n" for x, n, t in rows)
    parquet.write_table(table, folder / "a.parquet", write_page_checksum=True)
    return {
        ".csv": text.encode(),
        ".csv.gz": gzip.compress(text.encode(), mtime=0),
        ".parquet": (folder / "a.parquet").read_bytes(),
    }


def read(path):
    """The table, or None if it was refused by the file's name."""
    try:
        found = read_table(path)
    except TableError as error:
        assert path.name in str(error) and "\n" not in str(error)
        return None
    return {name: pa.chunked_array(values).to_pylist() for name, values in found.items()}


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
def test_a_file_cut_short_is_refused(content, tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    whole = content[suffix]
    for end in np.linspace(0, len(whole) - 1, 40).astype(int):
        path.write_bytes(whole[:end])
        assert read(path) is None, f"{end} of {len(whole)} bytes"


def test_a_text_cut_short_has_its_first_rows_or_is_refused(content, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(content[".csv"])
    whole = read(path)
    for end in np.linspace(0, len(content[".csv"]) - 1, 40).astype(int):
        path.write_bytes(content[".csv"][:end])
        found = read(path)
        # All but the last row, which may have ended within a cell.
        kept = len(found["x"]) - 1 if found else 0
        assert found is None or found["x"][:kept] == whole["x"][:kept]


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
def test_a_flipped_bit_is_found_by_the_file_s_own_checksums(content, tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content[suffix])
    whole = read(path)
    rng = np.random.default_rng(1)
    for _ in range(150):
        changed = bytearray(content[suffix])
        place, bit = int(rng.integers(len(changed))), int(rng.integers(8))
        changed[place] ^= 1 << bit
        path.write_bytes(changed)
        found = read(path)
        # What no checksum covers are names and notes of the writer: numbers are covered.
        same = found is None or list(found.values()) == list(whole.values())
        assert same, f"byte {place}, bit {bit}"


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_garbage_is_refused(tmp_path, suffix):
    rng = np.random.default_rng(2)
    path = tmp_path / f"a{suffix}"
    for size in (1, 10, 1000):
        path.write_bytes(rng.bytes(size))
        assert read(path) is None
