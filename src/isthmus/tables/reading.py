"""Tables from files: CSV, JSON lines and Parquet. Nothing in a file is ever executed."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from ..words import one_line
from .columns import TableError
from .dialect import check_text, dialect
from .sources import STDIN, check_size, opened

_TEXT = (".csv", ".tsv", ".txt")
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_PACKED = ".gz"

_HEAD = 64 * 1024
# Bytes of a row of names at most.
_LONGEST = 16 * 2**20


def read_table(path: str | os.PathLike[str]) -> dict[str, Any]:
    r"""Read a CSV, JSON lines or Parquet file as a dict of columns, in the order of the file.

    "-" is standard input. A text file is UTF-8 with the column names in its first row; its cells
    are separated by commas, semicolons, tabs or bars, whichever the first row has most of, and with
    semicolons numbers may have decimal commas. An empty cell, or an unquoted ``NA``, ``N/A``,
    ``NULL`` or ``nan``, is a missing value; so is an empty line of a file with one column, unless
    it is at the end. Text may be packed by gzip. Checksums of Parquet's
    pages are verified where the file has them. A file that cannot be read is refused in one line
    that names it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "p.csv")
    ...     _ = file.write_text("age;town\n31,5;Bonn\n42;Kiel\n")
    ...     table = read_table(file)
    >>> table["age"].to_pylist(), table["town"].to_pylist()
    ([31.5, 42.0], ['Bonn', 'Kiel'])
    """
    ending = _ending(path)
    with opened(path) as (source, name):
        try:
            head = source.read(_HEAD)
            source.seek(0)
            if not head:
                raise TableError(f"{name}: the file is empty.")
            reader = _reader(ending, head, name)
            table = reader(source)
            _check(table, name, is_text=reader is _read_text)
        except TableError:
            raise
        except (OSError, ValueError, TypeError, NotImplementedError, OverflowError) as error:
            # pyarrow's errors derive from these.
            raise TableError(_unreadable(name, error)) from None
    return dict(zip(table.column_names, table.columns, strict=True))


def names_in_file(path: str | os.PathLike[str]) -> list[str] | None:
    r"""Column names of a text or Parquet file from its beginning alone, before its rows are read.

    None where they cannot be told so: of standard input, of a pipe, of JSON lines, and of a file
    that cannot be read; :func:`read_table` says why.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "p.csv")
    ...     _ = file.write_text("age;town\n31,5;Bonn\n")
    ...     names_in_file(file)
    ['age', 'town']
    """
    ending = _ending(path)
    if ending is None or ending in _JSON or not Path(path).is_file():
        return None
    try:
        with opened(path) as (source, _):
            if ending in _PARQUET:
                from pyarrow import parquet

                with parquet.ParquetFile(source) as file:
                    return list(file.schema_arrow.names)
            head = source.readline(_LONGEST)
    except (OSError, ValueError, TypeError, NotImplementedError, OverflowError):
        return None
    text = head.decode("utf-8-sig", errors="replace")
    # A name with a line break in it, or no end of the line: only reading all of it tells.
    if text.count('"') % 2 or not text.endswith("\n"):
        return None
    return next(csv.reader([text.rstrip("\r\n")], delimiter=dialect(head).separator), None)


def _ending(path: str | os.PathLike[str]) -> str | None:
    """How the name of a file ends, packing apart; None where only the bytes can tell."""
    file = Path(path)
    if str(path) == STDIN or (file.exists() and not file.is_file()):
        return None
    name = file.name.lower().removesuffix(_PACKED)
    known = (*_TEXT, *_JSON, *_PARQUET)
    if not name.endswith(known):
        if not file.exists():
            raise TableError(f"{file}: there is no such file or folder.")
        shown = ", ".join((*known, ".csv.gz", ".tsv.gz", ".jsonl.gz"))
        raise TableError(f"{file}: the file name must end in one of {shown}.")
    return next(ending for ending in known if name.endswith(ending))


def _reader(ending: str | None, head: bytes, name: str) -> Callable[[BinaryIO], Any]:
    """What reads a table of which the name, or the first bytes, tell the form."""
    if ending in _PARQUET or (ending is None and head.startswith(b"PAR1")):
        return _read_parquet
    if ending in _JSON or (ending is None and head.lstrip()[:1] in (b"{", b"[")):
        return _read_json
    check_text(head, name)
    return _read_text


def _read_text(source: BinaryIO) -> Any:
    found = _cells(source, quoted_missing=False)
    # Some programs quote every cell. An empty one is text among text, and missing among numbers.
    doubtful = [at for at, column in enumerate(found.columns) if _has_empty_text(column)]
    if doubtful:
        source.seek(0)
        other = _cells(source, quoted_missing=True)
        for at in doubtful:
            if not _is_text(other.column(at)):
                found = found.set_column(at, other.field(at), other.column(at))
    return found


def _cells(source: BinaryIO, *, quoted_missing: bool) -> Any:
    from pyarrow import csv as reader

    form = dialect(source.read(_HEAD))
    source.seek(0)
    table = reader.read_csv(
        source,
        # One thread: only then does a message about a bad row give its number.
        read_options=reader.ReadOptions(use_threads=False),
        parse_options=reader.ParseOptions(
            delimiter=form.separator,
            newlines_in_values=True,
            ignore_empty_lines=not form.one_column,
        ),
        convert_options=reader.ConvertOptions(
            strings_can_be_null=True,
            quoted_strings_can_be_null=quoted_missing,
            decimal_point=form.decimal,
        ),
    )
    return table.slice(0, len(table) - _empty_at_the_end(source)) if form.one_column else table


def _empty_at_the_end(source: BinaryIO) -> int:
    """Empty lines after the last row, which editors leave there."""
    size = source.seek(0, os.SEEK_END)
    source.seek(max(0, size - _HEAD))
    ending = re.search(rb"(\r?\n)*$", source.read())
    return max(0, ending[0].count(b"\n") - 1) if ending else 0


def _is_text(column: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(column.type))


def _has_empty_text(column: Any) -> bool:
    from pyarrow import compute

    return _is_text(column) and bool(compute.any(compute.equal(column, "")).as_py())


def _read_json(source: BinaryIO) -> Any:
    import pyarrow as pa
    from pyarrow import json as reader

    first = source.read(_HEAD).lstrip()[:1]
    source.seek(0)
    if first != b"[":
        return reader.read_json(source, reader.ReadOptions(use_threads=False))
    rows = json.loads(source.read().decode("utf-8-sig"))
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("a list must hold one object for every row")
    return pa.Table.from_pylist(rows)


def _read_parquet(source: BinaryIO) -> Any:
    from pyarrow import parquet

    # Not parquet.read_table, which makes columns of folder names such as "year=2024".
    with parquet.ParquetFile(source, page_checksum_verification=True) as file:
        groups = range(file.metadata.num_row_groups)
        check_size(sum(file.metadata.row_group(k).total_byte_size for k in groups), "Parquet")
        return file.read()


def _unreadable(name: str, error: Exception) -> str:
    told = one_line(error)
    if "straddl" in told:
        return (
            f"{name}: a row must have at most 1 MB; received a longer one. Perhaps a quote is not "
            "closed, or it is no table."
        )
    return f"{name}: cannot be read as a table ({told})."


def _check(table: Any, name: str, *, is_text: bool) -> None:
    names = table.column_names
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice:
        raise TableError(f"{name}: column names must differ; received {twice!r} more than once.")
    if is_text and names and _looks_like_data(names):
        raise TableError(
            f"{name}: the first row must hold the column names; received the numbers "
            f"{', '.join(names[:4])}{', ...' if len(names) > 4 else ''}."
        )
    if not names:
        raise TableError(f"{name}: the table has no columns.")
    if table.num_rows == 0:
        raise TableError(f"{name}: the table has column names but no rows.")


def _looks_like_data(names: list[str]) -> bool:
    """Whether a header is a row of numbers; whole ones can be names, such as years."""
    try:
        for name in names:
            float(name)
    except ValueError:
        return False
    return not all(name.isdigit() for name in names)
