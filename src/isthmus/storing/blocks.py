"""Tables of any length, some rows at a time: from a file or from standard input."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from json import loads
from pathlib import Path
from typing import Any

from ..data.frames import repeated
from ..data.source import Source
from ..tables.columns import TableError
from ..tables.dialect import check_text, dialect
from ..tables.sources import check_unpacked
from ..words import one_line

ROWS = 1 << 16
"""Rows that are scored at a time."""

_BYTES = 1 << 23
_FIRST = 1 << 20
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".arrows": "arrow",
}


@dataclass(frozen=True)
class Blocks:
    """A table some rows at a time.

    Attributes
    ----------
    names : list of str
        Names of its columns.
    parts : callable
        Given names of columns, the rows in their order: tables of pyarrow with these columns, or
        with those of them that a line of JSON has.
    total : int
        Rows, or bytes where the number of rows is not known; zero where nothing is.
    done : callable or None
        Says how many of the bytes were read; None where ``total`` is the number of rows.
    """

    names: list[str]
    parts: Callable[[list[str]], Iterator[Any]]
    total: int
    done: Callable[[], int] | None = None


@contextmanager
def opened(
    path: Path | None, text: Sequence[str] = (), numbers: Sequence[str] = ()
) -> Iterator[Blocks]:
    """Open a table for reading; None is standard input, whose form its first bytes tell.

    ``text`` and ``numbers`` are columns that are known to be so, whatever their first rows are.
    """
    label = "standard input" if path is None else str(path)
    with ExitStack() as stack:
        with _told_of(label):
            stream, size = stack.enter_context(_stream(path, label))
            form = _form(stream, path)
            if form == "csv":
                found = _csv(stream, size, text, numbers, label)
            else:
                found = {"parquet": _parquet, "arrow": _arrow, "json": _json}[form](stream, size)
            twice = repeated(found.names)
            if twice:
                raise TableError(f"column names must differ; received {twice!r} more than once.")
        yield replace(found, parts=lambda names: _read(found, names, label))


def of_source(source: Source) -> Blocks:
    """The same of what is read in parts."""

    def parts(names: list[str]) -> Iterator[Any]:
        for batch in source.only(names).batches():
            for begin in range(0, len(batch), ROWS):
                yield batch.slice(begin, ROWS)

    return Blocks(list(source.names or ()), parts, source.rows)


def _read(table: Blocks, names: list[str], label: str) -> Iterator[Any]:
    with _told_of(label):
        parts = table.parts(names)
    while True:
        with _told_of(label):
            part = next(parts, None)
        if part is None:
            return
        yield part


@contextmanager
def _told_of(label: str) -> Iterator[None]:
    """Say of which table an error of reading is."""
    try:
        yield
    except FileNotFoundError:
        raise TableError(f"{label}: there is no such file.") from None
    except TableError as error:
        told = str(error)
        raise TableError(told if told.startswith(label) else f"{label}: {told}") from None
    except (OSError, ValueError, TypeError, NotImplementedError, EOFError) as error:
        # pyarrow's errors derive from these.
        raise TableError(f"{label}: cannot be read as a table ({one_line(error)}).") from None


class _Counted(io.RawIOBase):
    """A stream that knows how many bytes were taken from it, and can show the first ones."""

    def __init__(self, inner: Any, packed: _Counted | None = None, label: str = "") -> None:
        super().__init__()
        self.inner, self.taken, self.first = inner, 0, b""
        self.packed, self.label = packed, label

    def readable(self) -> bool:
        return True

    def peek(self, size: int) -> bytes:
        """The first bytes, which are read again afterwards."""
        while len(self.first) < size:
            more = self.inner.read(size - len(self.first))
            if not more:
                break
            self.first += more
        return self.first[:size]

    def readinto(self, buffer: Any) -> int:
        if self.first:
            data, self.first = self.first[: len(buffer)], self.first[len(buffer) :]
        else:
            data = self.inner.read(len(buffer)) or b""
        buffer[: len(data)] = data
        self.taken += len(data)
        if self.packed is not None:
            check_unpacked(self.taken, self.packed.taken, self.label)
        return len(data)


@contextmanager
def _stream(path: Path | None, label: str) -> Iterator[tuple[_Counted, int]]:
    if path is None:
        yield _unpacked(_Counted(sys.stdin.buffer), label), 0
        return
    with path.open("rb") as file:
        size = path.stat().st_size
        if size == 0:
            raise TableError("the file is empty.")
        stream = _unpacked(_Counted(file), label)
        yield stream, 0 if isinstance(stream.inner, gzip.GzipFile) else size


def _unpacked(stream: _Counted, label: str) -> _Counted:
    if stream.peek(2) == b"\x1f\x8b":
        packed: Any = io.BufferedReader(stream)
        return _Counted(gzip.GzipFile(fileobj=packed), stream, label)
    return stream


def _form(stream: _Counted, path: Path | None) -> str:
    first = stream.peek(8)
    if first.startswith(b"PAR1"):
        return "parquet"
    if first.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    name = "" if path is None else path.name.lower().removesuffix(".gz")
    for suffix, form in _SUFFIXES.items():
        if name.endswith(suffix):
            return form
    if not first.strip():
        raise TableError("there is nothing in it.")
    return "json" if first.lstrip().startswith((b"{", b"[")) else "csv"


def _parquet(stream: _Counted, size: int) -> Blocks:
    from pyarrow import Table, parquet

    file: Any = stream.inner
    if not (hasattr(file, "seekable") and file.seekable()):
        file = io.BytesIO(io.BufferedReader(stream).read())
    else:
        file.seek(0)
    # Checksums of pages are verified where the file has them; a row group may be all of it.
    source = parquet.ParquetFile(file, page_checksum_verification=True, pre_buffer=False)
    rows = source.metadata.num_rows

    def parts(names: list[str]) -> Iterator[Any]:
        for batch in source.iter_batches(batch_size=ROWS, columns=names):
            yield Table.from_batches([batch])

    return Blocks(source.schema_arrow.names, parts, rows)


def _arrow(stream: _Counted, size: int) -> Blocks:
    from pyarrow import ipc

    if stream.peek(6) == b"ARROW1":
        data = io.BufferedReader(stream).read()
        file = ipc.open_file(io.BytesIO(data))
        batches = (file.get_batch(k) for k in range(file.num_record_batches))
        names = file.schema.names
    else:
        reader = ipc.open_stream(io.BufferedReader(stream, _BYTES))
        batches, names = iter(reader), reader.schema.names
    return Blocks(names, lambda wanted: _cut(batches, wanted), size, lambda: stream.taken)


def _cut(batches: Iterable[Any], names: list[str]) -> Iterator[Any]:
    """Columns of batches, so many rows at a time."""
    from pyarrow import Table

    for batch in batches:
        for begin in range(0, batch.num_rows, ROWS):
            yield Table.from_batches([batch.slice(begin, ROWS)]).select(names)


def _json(stream: _Counted, size: int) -> Blocks:
    from pyarrow import Table, json

    lines = io.BufferedReader(stream, _BYTES)
    if stream.peek(8).lstrip()[:1] == b"[":
        # A list has no lines to be read by.
        rows = loads(lines.read())
        if not rows or not all(isinstance(row, dict) for row in rows):
            raise TableError("a list must hold one object for every row.")
        every_row = Table.from_pylist(rows)
        batches = every_row.combine_chunks().to_batches()
        return Blocks(every_row.column_names, lambda names: _cut(batches, names), len(rows))

    def parts() -> Iterator[Any]:
        while True:
            chunk = lines.readlines(_BYTES)
            if not chunk:
                return
            data = b"".join(chunk)
            if data.strip():
                yield json.read_json(
                    io.BytesIO(data), read_options=json.ReadOptions(block_size=len(data) + 1)
                )

    found = parts()
    first = next(found, None)
    if first is None:
        raise TableError("there is nothing in it.")

    def every(names: list[str]) -> Iterator[Any]:
        for part in chain([first], found):
            yield part.select([name for name in names if name in part.column_names])

    return Blocks(first.column_names, every, size, lambda: stream.taken)


def _csv(
    stream: _Counted, size: int, text: Sequence[str], numbers: Sequence[str], label: str
) -> Blocks:
    import pyarrow as pa
    from pyarrow import csv

    first = stream.peek(_FIRST)
    whole = first[: first.rfind(b"\n") + 1] or first
    check_text(whole, label)
    form = dialect(whole)
    parse = csv.ParseOptions(
        delimiter=form.separator, newlines_in_values=True, ignore_empty_lines=not form.one_column
    )
    read = csv.ReadOptions(block_size=_BYTES)
    how: dict[str, Any] = {
        "strings_can_be_null": True,
        "quoted_strings_can_be_null": False,
        "decimal_point": form.decimal,
    }
    with csv.open_csv(
        io.BytesIO(whole), parse_options=parse, convert_options=csv.ConvertOptions(**how)
    ) as some:
        schema = some.schema
    inferred = dict(zip(schema.names, schema.types, strict=True))
    types = {name: pa.string() for name, kind in inferred.items() if pa.types.is_null(kind)}
    types |= {name: pa.string() for name in text if name in inferred}
    # Truth values are numbers to a model, and stay what they are here.
    types |= {name: pa.float64() for name in numbers if _may_be_float(inferred.get(name))}

    def parts(names: list[str]) -> Iterator[Any]:
        options = csv.ConvertOptions(**how, column_types=types, include_columns=names)
        source = io.BufferedReader(stream, _BYTES)
        return _cut(csv.open_csv(source, read, parse, options), names)

    return Blocks(schema.names, parts, size, lambda: stream.taken)


def _may_be_float(kind: Any) -> bool:
    from pyarrow import types

    return kind is not None and (types.is_integer(kind) or types.is_null(kind))
