"""Tables from files: CSV and Parquet. Nothing in a file is ever executed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..words import one_line
from .columns import TableError

_CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_PARQUET = (".parquet", ".pq")


def read_table(path: str | os.PathLike[str]) -> dict[str, Any]:
    r"""Read a CSV or Parquet file as a dict of columns, in the order of the file.

    A text file is UTF-8 with the column names in its first row; an empty cell, or an
    unquoted ``NA``, ``N/A``, ``NULL`` or ``nan``, is a missing value. A file that cannot be
    read is refused in one line that names it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "p.csv")
    ...     _ = file.write_text("age,town\n31,Bonn\n42,Kiel\n")
    ...     table = read_table(file)
    >>> table["age"].to_pylist(), table["town"].to_pylist()
    ([31, 42], ['Bonn', 'Kiel'])
    """
    file = Path(path)
    name = file.name.lower()
    if not name.endswith(_CSV + _PARQUET):
        known = ", ".join(_CSV + _PARQUET)
        raise TableError(f"{file}: the file name must end in one of {known}.")
    if file.is_dir():
        raise TableError(f"{file}: must be a file; received a directory.")
    try:
        if file.stat().st_size == 0:
            raise TableError(f"{file}: the file is empty.")
        table = _read_parquet(file) if name.endswith(_PARQUET) else _read_csv(file)
    except FileNotFoundError:
        raise TableError(f"{file}: there is no such file.") from None
    except TableError:
        raise
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        # pyarrow's errors derive from these.
        raise TableError(f"{file}: cannot be read as a table ({one_line(error)}).") from None
    _check(table, file, is_text=name.endswith(_CSV))
    return dict(zip(table.column_names, table.columns, strict=True))


def _read_csv(file: Path) -> Any:
    from pyarrow import csv

    return csv.read_csv(
        file,
        # One thread: only then does a message about a bad row give its number.
        read_options=csv.ReadOptions(use_threads=False),
        parse_options=csv.ParseOptions(
            delimiter="\t" if _is_tabbed(file) else ",", newlines_in_values=True
        ),
        convert_options=csv.ConvertOptions(
            strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def _read_parquet(file: Path) -> Any:
    from pyarrow import parquet

    # Not parquet.read_table, which makes columns of folder names such as "year=2024".
    with parquet.ParquetFile(file, page_checksum_verification=True) as source:
        return source.read()


def _check(table: Any, file: Path, *, is_text: bool) -> None:
    names = table.column_names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{file}: column names must differ; received {twice!r} more than once.")
    if is_text and names and _looks_like_data(names):
        raise TableError(
            f"{file}: the first row must hold the column names; received the numbers "
            f"{', '.join(names[:4])}{', ...' if len(names) > 4 else ''}."
        )
    if is_text and len(names) == 1 and ";" in names[0]:
        raise TableError(
            f"{file}: cells must be separated by commas; received one column {names[0]!r}, which "
            "looks separated by semicolons."
        )
    if not names:
        raise TableError(f"{file}: the table has no columns.")
    if table.num_rows == 0:
        raise TableError(f"{file}: the table has column names but no rows.")


def _is_tabbed(file: Path) -> bool:
    return file.name.lower().removesuffix(".gz").endswith(".tsv")


def _looks_like_data(names: list[str]) -> bool:
    """Whether a header is a row of numbers; whole ones can be names, such as years."""
    try:
        for name in names:
            float(name)
    except ValueError:
        return False
    return not all(name.isdigit() for name in names)
