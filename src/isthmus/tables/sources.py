"""Bytes of a table: from a file, a pipe or standard input, never more than there is room for."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..words import one_line
from .columns import TableError

STDIN = "-"

MOST_BYTES = 4 * 2**30
"""Bytes of text that are read at most, compressed ones after they are unpacked."""

_BLOCK = 1 << 20
_RATIO, _FREE = 300, 64 * 2**20
_GZIP = b"\x1f\x8b"


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, str]]:
    """The unpacked bytes of a file, a pipe or "-", that can be read twice; and what to call it."""
    if str(path) == STDIN:
        name = "standard input"
        with _unpacked(io.BytesIO(_all_of(sys.stdin.buffer, name)), None, name) as source:
            yield source, name
        return
    file = Path(path)
    try:
        kind = file.stat()
        if stat.S_ISDIR(kind.st_mode):
            raise TableError(f"{file}: must be a file; received a directory.")
        if not (stat.S_ISREG(kind.st_mode) or stat.S_ISFIFO(kind.st_mode)):
            raise TableError(f"{file}: must be a file or a pipe; received neither.")
        with file.open("rb") as source:
            if stat.S_ISFIFO(kind.st_mode):
                with _unpacked(io.BytesIO(_all_of(source, str(file))), None, str(file)) as inner:
                    yield inner, str(file)
            else:
                check_size(kind.st_size, str(file))
                with _unpacked(source, kind.st_size, str(file)) as inner:
                    yield inner, str(file)
    except FileNotFoundError:
        raise TableError(f"{file}: there is no such file.") from None
    except OSError as error:
        raise TableError(f"{file}: cannot be read ({one_line(error)}).") from None


def check_size(size: int, name: str) -> None:
    """Refuse more bytes than there is room for, before any is read."""
    if size > MOST_BYTES:
        raise TableError(
            f"{name}: a table must have at most {MOST_BYTES >> 30} GB; received about "
            f"{size / 2**30:.1f} GB. Take some of its rows."
        )


def check_unpacked(size: int, packed: int, name: str) -> None:
    """Refuse far more bytes than they were packed into, before there are too many."""
    if size > max(_FREE, _RATIO * packed):
        raise TableError(
            f"{name}: must unpack to at most {_RATIO} times its size; received "
            f"{packed:,} bytes that unpack to more than {size >> 20} MB. Unpack it yourself if "
            "you trust it."
        )


@contextmanager
def _unpacked(source: BinaryIO, packed: int | None, name: str) -> Iterator[BinaryIO]:
    """The source, or what is packed in it, counted while it is read."""
    head = source.read(2)
    source.seek(0)
    if head != _GZIP:
        yield source
        return
    if packed is None:
        packed = source.seek(0, io.SEEK_END)
        source.seek(0)
    with gzip.GzipFile(fileobj=source) as inner:
        try:
            yield io.BytesIO(_all_of(inner, name, packed))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise TableError(f"{name}: is damaged ({one_line(error)}).") from None


def _all_of(source: BinaryIO | gzip.GzipFile, name: str, packed: int | None = None) -> bytes:
    """All bytes, unless they are too many, or far too many for what they were packed into."""
    blocks, size = [], 0
    while block := source.read(_BLOCK):
        size += len(block)
        check_size(size, name)
        if packed is not None:
            check_unpacked(size, packed, name)
        blocks.append(block)
    return b"".join(blocks)
