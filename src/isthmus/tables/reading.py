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
from .sources import STDIN, check_size, opened

_TEXT = (".csv", ".tsv", ".txt")
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_PACKED = ".gz"

_HEAD = 64 * 1024
_SEPARATORS = (",", ";", "\t", "|")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_POINT = re.compile(r"[+-]?\d+\.\d+")


def read_table(path: str | os.PathLike[str]) -> dict[str, Any]:
    r"""Read a CSV, JSON lines or Parquet file as a dict of columns, in the order of the file.

    "-" is standard input. A text file is UTF-8 with the column names in its first row; its cells
    are separated by commas, semicolons, tabs or bars, whichever the first row has most of, and with
    semicolons numbers may have decimal commas. An empty cell, or an unquoted ``NA``, ``N/A``,
    ``NULL`` or ``nan``, is a missing value. Text may be packed by gzip. Checksums of Parquet's
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
        except UnicodeDecodeError:
            raise TableError(_not_utf8(name)) from None
        except (OSError, ValueError, TypeError, NotImplementedError, OverflowError) as error:
            # pyarrow's errors derive from these.
            raise TableError(_unreadable(name, error)) from None
    return dict(zip(table.column_names, table.columns, strict=True))


def _ending(path: str | os.PathLike[str]) -> str | None:
    """How the name of a file ends, packing apart; None where only the bytes can tell."""
    file = Path(path)
    if str(path) == STDIN or (file.exists() and not file.is_file()):
        return None
    name = file.name.lower().removesuffix(_PACKED)
    known = (*_TEXT, *_JSON, *_PARQUET)
    if not name.endswith(known):
        shown = ", ".join((*known, ".csv.gz", ".tsv.gz", ".jsonl.gz"))
        raise TableError(f"{file}: the file name must end in one of {shown}.")
    return next(ending for ending in known if name.endswith(ending))


def _reader(ending: str | None, head: bytes, name: str) -> Callable[[BinaryIO], Any]:
    """What reads a table of which the name, or the first bytes, tell the form."""
    if ending in _PARQUET or (ending is None and head.startswith(b"PAR1")):
        return _read_parquet
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError(_not_utf8(name))
    if ending in _JSON or (ending is None and head.lstrip()[:1] in (b"{", b"[")):
        return _read_json
    # The names of columns must be text; a cell that is not is told of where it is used.
    head.partition(b"\n")[0].decode("utf-8-sig")
    return _read_text


def _read_text(source: BinaryIO) -> Any:
    from pyarrow import csv as reader

    head = source.read(_HEAD).decode("utf-8-sig", errors="replace")
    source.seek(0)
    separator = _separator(head)
    return reader.read_csv(
        source,
        # One thread: only then does a message about a bad row give its number.
        read_options=reader.ReadOptions(use_threads=False),
        parse_options=reader.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=reader.ConvertOptions(
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            decimal_point="," if separator != "," and _has_commas(head, separator) else ".",
        ),
    )


def _separator(head: str) -> str:
    """The separator of which the first row has most, outside quotes; a comma if it has none."""
    first = re.sub(r'"[^"]*"', "", head.partition("\n")[0])
    return max(_SEPARATORS, key=first.count)


def _has_commas(head: str, separator: str) -> bool:
    """Whether numbers have decimal commas: some do, and none has a decimal point."""
    rows = head.splitlines()[1:200]
    cells = [cell.strip() for row in csv.reader(rows, delimiter=separator) for cell in row]
    return any(map(_COMMA.fullmatch, cells)) and not any(map(_POINT.fullmatch, cells))


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


def _not_utf8(name: str) -> str:
    return (
        f"{name}: the names of its columns must be text in UTF-8; received another encoding. Save "
        "it as UTF-8, such as by: iconv -f latin1 -t utf8."
    )


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
