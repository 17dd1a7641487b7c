"""Scores to a file or to standard output, block by block."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..files import check_target, written_whole
from ..tables.door import Door

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".arrow": "arrow",
    ".feather": "arrow",
}
FORMATS = ("parquet", "csv", "arrow")


def target_of(door: Door) -> str:
    """What messages call the output."""
    return "-o" if door.command else "target"


def form_of(target: Path | None, form: str | None, door: Door) -> str:
    """Form of the output: as asked for, or by the file's name, or CSV for standard output."""
    output, name = target_of(door), "--format" if door.command else "form"
    if form is not None:
        if form not in FORMATS:
            raise ValueError(f"{name} must be one of {', '.join(FORMATS)}; received {form!r}.")
        if target is None and form == "parquet":
            raise ValueError(
                f"{name} must be csv or arrow where the output is standard output; received "
                "parquet, which cannot be written to a pipe."
            )
        if target is not None:
            check_target(target, output)
        return form
    if target is None:
        return "csv"
    check_target(target, output, tuple(SUFFIXES))
    return SUFFIXES[target.suffix.lower()]


def is_folder(target: Path | None, form: str | None) -> bool:
    """Whether scores go to a folder of Parquet files: its name has no ending, or it is there."""
    if target is None or form not in (None, "parquet"):
        return False
    return target.is_dir() or (form is None and not target.suffix)


@contextmanager
def written(target: Path | None, form: str) -> Iterator[Any]:
    """Give a function that writes a table of scores; all have the columns of the first."""
    if target is None:
        with _writer(sys.stdout.buffer, form, stream=True) as write:
            yield write
        sys.stdout.buffer.flush()
        return
    with (
        written_whole(target) as draft,
        draft.open("wb") as file,
        _writer(file, form, stream=False) as write,
    ):
        yield write


@contextmanager
def _writer(sink: Any, form: str, *, stream: bool) -> Iterator[Any]:
    found: list[Any] = []

    def write(table: Any) -> None:
        if not found:
            found.extend((_opened(sink, form, table.schema, stream), table.schema))
        # A block of a text file whose keys are all missing has no type of its own.
        found[0].write_table(table.cast(found[1]))

    try:
        yield write
    finally:
        if found:
            found[0].close()


def _opened(sink: Any, form: str, schema: Any, stream: bool) -> Any:
    if form == "parquet":
        return parquet_writer(sink, schema)
    if form == "csv":
        from pyarrow import csv

        return csv.CSVWriter(sink, schema)
    from pyarrow import ipc

    return ipc.new_stream(sink, schema) if stream else ipc.new_file(sink, schema)


def parquet_writer(sink: Any, schema: Any) -> Any:
    """A writer of scores, with checksums that tell a reader of a damaged page."""
    from pyarrow import parquet

    # Hardly two scores are equal: to look for repetitions would be in vain.
    scores = ("log_ratio", "weight")
    keys = [name for name in schema.names if name not in scores]
    return parquet.ParquetWriter(sink, schema, use_dictionary=keys, write_page_checksum=True)
