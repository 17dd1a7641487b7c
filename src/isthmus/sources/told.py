"""Errors of reading in one sentence that names the file; a file that is not the one it was."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..tables.columns import TableError
from ..words import one_line

BATCH_ROWS = 1 << 16
"""Rows that are read at a time, of tables that are not very wide."""

_NUMBERS = 1 << 22


def batch_rows(names: Collection[str] | None) -> int:
    """Rows to read at a time of so many columns, that these do not fill memory.

    Examples
    --------
    >>> batch_rows(["x"] * 20), batch_rows(["x"] * 1000)
    (65536, 4194)
    """
    return max(min(BATCH_ROWS, _NUMBERS // max(len(names or ()), 1)), 256)


@contextmanager
def naming(file: str, where: str = "") -> Iterator[None]:
    """Say of which file an error of reading is, and of which part of it."""
    try:
        yield
    except TableError:
        raise
    except FileNotFoundError:
        raise TableError(f"{file}: the file was there and is gone.") from None
    except (OSError, ValueError, TypeError, NotImplementedError, EOFError) as error:
        # pyarrow's errors derive from these.
        at = f"{where}: " if where else ""
        raise TableError(f"{file}: cannot be read as a table ({at}{one_line(error)}).") from None


def each(batches: Iterator[Any], file: str, where: str = "") -> Iterator[Any]:
    """The batches; an error of reading one says of which file it is."""
    while True:
        with naming(file, where):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


@dataclass(frozen=True)
class Stamp:
    """A file as it was found: its size in bytes and the time of its last change."""

    path: str
    size: int
    changed: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Stamp:
        """The file as it is now."""
        found = os.stat(path)
        return cls(str(path), found.st_size, found.st_mtime_ns)

    def check(self) -> None:
        """Refuse a file that is gone, or another one than it was."""
        try:
            now = Stamp.of(self.path)
        except FileNotFoundError:
            raise TableError(f"{self.path}: the file was there and is gone.") from None
        except OSError as error:
            raise TableError(f"{self.path}: cannot be read ({one_line(error)}).") from None
        if now != self:
            raise TableError(
                f"{self.path}: the file must stay as it is while it is read; it has changed since "
                "it was first looked at. Begin again."
            )
