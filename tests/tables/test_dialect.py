"""One way to read text: by whole tables and block by block."""

from __future__ import annotations

import gzip

import pytest

from isthmus.storing.blocks import opened
from isthmus.tables.columns import TableError
from isthmus.tables.dialect import Dialect, dialect
from isthmus.tables.reading import read_table

TEXTS = {
    "commas": "a,b\n1.5,x\n2.5,y\n",
    "semicolons": "a;b\n1,5;x\n2,5;y\n",
    "semicolons and points": "a;b\n1.5;x, z\n2.5;y\n",
    "tabs": "a\tb\n1,5\tx\n2,5\ty\n",
    "quoted names": '"a;c,d,e";b\n1,5;x\n2,5;y\n',
    "a mark first": "\ufeffa;b\n1,5;x\n2,5;y\n",
}


def by_blocks(file):
    with opened(file) as table:
        names = list(table.names)
        parts = list(table.parts(names))
    return {name: [v for part in parts for v in part[name].to_pylist()] for name in names}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_whole_tables_and_blocks_are_read_alike(tmp_path, text, packed):
    file = tmp_path / ("t.csv.gz" if packed else "t.csv")
    data = text.encode()
    file.write_bytes(gzip.compress(data) if packed else data)
    whole = {name: column.to_pylist() for name, column in read_table(file).items()}
    assert by_blocks(file) == whole
    assert next(iter(whole.values())) == [1.5, 2.5]


def test_a_decimal_point_anywhere_speaks_against_commas():
    assert dialect(b"a;b\n1,5;2\n1.5;3\n") == Dialect(";", ".", one_column=False)
    assert dialect(b"a\n") == Dialect(",", ".", one_column=True)


def test_other_encodings_are_refused_alike(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes("größe;b\n1;2\n".encode("latin-1"))
    told = []
    for read in (read_table, by_blocks):
        with pytest.raises(TableError, match="UTF-8") as caught:
            read(file)
        told.append(str(caught.value))
    assert told[0] == told[1] and told[0].count("t.csv") == 1


def test_what_unpacks_to_far_more_is_refused_by_both(tmp_path):
    file = tmp_path / "t.csv.gz"
    with gzip.open(file, "wb") as out:
        out.write(b"a\n")
        for _ in range(70):
            out.write(b"1\n" * (1 << 19))
    for read in (read_table, by_blocks):
        with pytest.raises(TableError, match="must unpack to at most"):
            read(file)
