"""Scores to a file or to standard output, block by block."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..files import check_target, written_whole

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".arrow": "arrow",
    ".feather": "arrow",
}
FORMATS = ("parquet", "csv", "arrow")


def form_of(target: Path | None, form: str | None) -> str:
    """Form of the output: as asked for, or by the file's name, or CSV for standard output."""
    if form is not None:
        if form not in FORMATS:
            raise ValueError(f"--format must be one of {', '.join(FORMATS)}; received {form!r}.")
        if target is None and form == "parquet":
            raise ValueError(
                "--format must be csv or arrow where the output is standard output; received "
                "parquet, which cannot be written to a pipe."
            )
        if target is not None:
            check_target(target, "-o")
        return form
    if target is None:
        return "csv"
    check_target(target, "-o", tuple(SUFFIXES))
    return SUFFIXES[target.suffix.lower()]


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
        from pyarrow import parquet

        # Hardly two scores are equal: to look for repetitions would be in vain.
        scores = ("log_ratio", "weight")
        keys = [name for name in schema.names if name not in scores]
        return parquet.ParquetWriter(sink, schema, use_dictionary=keys)
    if form == "csv":
        from pyarrow import csv

        return csv.CSVWriter(sink, schema)
    from pyarrow import ipc

    return ipc.new_stream(sink, schema) if stream else ipc.new_file(sink, schema)
