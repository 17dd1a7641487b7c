"""Files of Parquet: one, or all in a folder, in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..data.memory import PART_ROWS
from ..data.source import Source, joined
from ..tables.columns import TableError
from ..words import listed, one_line
from .told import BATCH_ROWS, Stamp, batch_rows, each, naming

SUFFIXES = (".parquet", ".pq")

_NULL = "__HIVE_DEFAULT_PARTITION__"

Constants = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Groups:
    """Some row groups of a file: what travels to whoever reads them.

    Attributes
    ----------
    stamp : Stamp
        The file as it was found.
    groups : tuple of int
    rows : int
    constants : tuple of pairs
        Columns that the names of folders hold, such as year=2024, and their values.
    """

    stamp: Stamp
    groups: tuple[int, ...]
    rows: int
    constants: Constants = ()

    @property
    def identity(self) -> list[Any]:
        """What another run must find to read the same rows."""
        stamp = self.stamp
        return [stamp.path, stamp.size, stamp.changed, self.groups, self.constants]


def parquet_source(path: Path, label: str) -> Source:
    """A file of Parquet, or a folder of them, of which all have the same columns.

    Names of folders such as ``year=2024`` are columns, too. Names that begin with a dot or an
    underscore are not looked at.

    Examples
    --------
    >>> import pathlib, tempfile, pyarrow as pa
    >>> from pyarrow import parquet
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     for year in (2023, 2024):
    ...         (folder / f"year={year}").mkdir()
    ...         parquet.write_table(pa.table({"x": [1.0, 2.0]}), folder / f"year={year}/a.parquet")
    ...     source = parquet_source(folder, "p")
    ...     tables = [table.to_pydict() for table in source.batches()]
    >>> source.names, source.rows, tables[1]
    (('x', 'year'), 4, {'x': [1.0, 2.0], 'year': [2024, 2024]})
    """
    files = _files(path)
    constants = _constants(path, files)
    kinds: dict[str, str] = {}
    names: list[str] = []
    pieces: list[tuple[int, Groups]] = []
    for file in files:
        found, sizes, stamp = _footer(file)
        own = {**found, **{name: _kind_of_value(value) for name, value in constants[file]}}
        if file == files[0]:
            kinds, names = own, list(own)
        _check_same(kinds, own, file, files[0])
        # What has no value in one file is of the kind that it is of in another.
        kinds = {name: own[name] if kind == "null" else kind for name, kind in kinds.items()}
        pieces += _pieces(sizes, stamp, constants[file])
    if not pieces:
        raise TableError(f"{path}: the table has column names but no rows.")
    return Source(joined(pieces, read_groups), tuple(names), len(names), label)


def read_groups(piece: Groups, names: tuple[str, ...] | None) -> Iterator[Any]:
    """Tables of pyarrow with these columns; checksums of pages are verified where there are any."""
    import pyarrow as pa
    from pyarrow import parquet

    assert names is not None, "files have names"
    piece.stamp.check()
    path, constants = piece.stamp.path, dict(piece.constants)
    stored = [name for name in names if name not in constants]
    where = _where(piece.groups)
    with naming(path, where):
        # Not all of a row group at once: some files are one.
        file = parquet.ParquetFile(
            path, page_checksum_verification=True, pre_buffer=False, buffer_size=1 << 20
        )
    done = 0
    with file:
        groups = list(piece.groups)
        for batch in each(_batches(file, groups, stored, piece.rows), path, where):
            table = pa.Table.from_batches([batch]) if stored else batch
            for name, value in constants.items():
                if name in names:
                    column = pa.repeat(pa.scalar(value, _type_of(value)), len(table))
                    table = table.append_column(name, column)
            done += len(table)
            yield table.select(list(names))
    if done != piece.rows:
        raise TableError(
            f"{path}: {where} must have {piece.rows:,} rows, as the file says; received {done:,}."
        )


def _batches(file: Any, groups: list[int], stored: list[str], rows: int) -> Iterator[Any]:
    import pyarrow as pa

    if stored:
        yield from file.iter_batches(batch_rows(stored), groups, stored, use_threads=False)
        return
    # Only columns that are not in the file are asked for.
    for begin in range(0, rows, BATCH_ROWS):
        nothing = pa.nulls(min(BATCH_ROWS, rows - begin))
        yield pa.table({"": nothing})


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.exists():
        raise TableError(f"{path}: there is no such file or folder.")
    if not path.is_dir():
        raise TableError(f"{path}: must be a file or a folder; received neither.")
    try:
        found = sorted(
            file
            for file in path.rglob("*")
            if file.suffix.lower() in SUFFIXES
            and file.is_file()
            and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        )
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({one_line(error)}).") from None
    if not found:
        raise TableError(
            f"{path}: a folder must hold files whose names end in .parquet; received none."
        )
    return found


def _footer(file: Path) -> tuple[dict[str, str], list[int], Stamp]:
    """Kinds of the columns, rows of every row group, and the file as it is."""
    from pyarrow import parquet

    with naming(str(file)):
        stamp = Stamp.of(file)
        if not stamp.size:
            raise TableError(f"{file}: the file is empty.")
        with parquet.ParquetFile(file) as found:
            schema, metadata = found.schema_arrow, found.metadata
            sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    names = schema.names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{file}: column names must differ; received {twice!r} more than once.")
    if not names:
        raise TableError(f"{file}: the table has no columns.")
    return {field.name: _kind_of(field.type) for field in schema}, sizes, stamp


def _pieces(sizes: list[int], stamp: Stamp, constants: Constants) -> list[tuple[int, Groups]]:
    """Row groups, so many together as make a part."""
    out: list[Groups] = []
    for k, rows in enumerate(sizes):
        if not rows:
            continue
        if out and out[-1].rows + rows <= PART_ROWS:
            last = out[-1]
            out[-1] = replace(last, groups=(*last.groups, k), rows=last.rows + rows)
        else:
            out.append(Groups(stamp, (k,), rows, constants))
    return [(piece.rows, piece) for piece in out]


def _check_same(kinds: Mapping[str, str], own: Mapping[str, str], file: Path, first: Path) -> None:
    """Refuse a file whose columns are not those of the first one."""
    for absent, holder, other in (
        (sorted({*kinds} - {*own}), first, file),
        (sorted({*own} - {*kinds}), file, first),
    ):
        if absent:
            raise TableError(
                f"{file}: all files of a folder must have the same columns; received "
                f"{listed([repr(name) for name in absent])} in {holder.name} and not in "
                f"{other.name}."
            )
    for name, kind in own.items():
        if kind != kinds[name] and "null" not in (kind, kinds[name]):
            raise TableError(
                f"{file}: column {name!r} must hold the same kind of values in all files of a "
                f"folder; received {kind}, and {kinds[name]} in {first.name}."
            )


def _constants(path: Path, files: list[Path]) -> dict[Path, Constants]:
    """Columns in the names of folders, such as year=2024: numbers where all are whole numbers."""
    if path.is_file():
        return {path: ()}
    found: dict[Path, dict[str, str | None]] = {}
    for file in files:
        pairs = (part.partition("=") for part in file.relative_to(path).parts[:-1] if "=" in part)
        found[file] = {
            unquote(name): None if value == _NULL else unquote(value) for name, _, value in pairs
        }
    whole = {
        name: all(
            own[name] is None or own[name].removeprefix("-").isdecimal()  # type: ignore[union-attr]
            for own in found.values()
            if name in own
        )
        for names in found.values()
        for name in names
    }
    return {
        file: tuple(
            (name, int(value) if whole[name] and value is not None else value)
            for name, value in own.items()
        )
        for file, own in found.items()
    }


def _type_of(value: Any) -> Any:
    import pyarrow as pa

    return pa.null() if value is None else pa.int64() if isinstance(value, int) else pa.string()


def _kind_of_value(value: Any) -> str:
    return _kind_of(_type_of(value))


def _kind_of(kind: Any) -> str:
    """What a column holds, in words; types of one kind become the same numbers."""
    from pyarrow import types

    if types.is_null(kind):
        return "null"
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_boolean(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "dates"
    if types.is_duration(kind) or types.is_time(kind):
        return "durations"
    return str(kind)


def _where(groups: tuple[int, ...]) -> str:
    """Which row groups, in words."""
    if len(groups) == 1:
        return f"row group {groups[0]}"
    return f"row groups {groups[0]} to {groups[-1]}"
