"""Datasets of pyarrow and lazy frames of polars: what they leave out is never read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pickle import PicklingError
from typing import Any, NoReturn

from ..data.source import Source, joined
from ..tables.columns import TableError
from .told import batch_rows, each, naming


@dataclass(frozen=True)
class Fragment:
    """One file of a dataset, as it was found: what travels to whoever reads it.

    ``schema`` is that of the dataset, in which columns may be that the names of folders hold.
    """

    fragment: Any
    schema: Any
    stamp: tuple[int, int] | None

    @property
    def identity(self) -> list[Any] | None:
        """What another run must find to read the same rows."""
        return None if self.stamp is None else [self.fragment.path, *self.stamp]


@dataclass(frozen=True)
class Query:
    """A dataset with a filter, or a lazy frame: read as a whole, and in this process."""

    value: Any

    def __reduce__(self) -> NoReturn:
        raise PicklingError(
            "A filtered Dataset cannot be sent to the workers of a cluster; write what it selects "
            "to a folder of Parquet files, or give the files and no filter."
        )


def dataset_source(dataset: Any, label: str) -> Source:
    """A ``pyarrow.dataset.Dataset``; its filter, if it has one, is applied where it is read.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> rows = ds.dataset(pa.table({"x": [1.0, 2.0, 3.0], "y": [4, 5, 6]}))
    >>> source = dataset_source(rows.filter(ds.field("x") > 1), "p").only(["y"])
    >>> source.rows, [table.to_pydict() for table in source.batches()]
    (2, [{'y': [5, 6]}])
    """
    names = tuple(dataset.schema.names)
    try:
        fragments = list(dataset.get_fragments())
    except ValueError:
        # Which a filtered one does not give.
        with naming(label):
            rows = dataset.count_rows()
        pieces: list[tuple[int, Any]] = [(rows, Query(dataset))] if rows else []
        return _source(joined(pieces, read_query), names, label)
    pieces = []
    for one in sorted(fragments, key=lambda one: getattr(one, "path", "")):
        file = getattr(one, "path", label)
        with naming(file):
            rows, stamp = one.count_rows(), _stamp(one)
        if rows:
            pieces.append((rows, Fragment(one, dataset.schema, stamp)))
    return _source(joined(pieces, read_fragment), names, label)


def lazy_source(frame: Any, label: str) -> Source:
    """A ``polars.LazyFrame``: polars reads what its query needs, in every pass anew."""
    import polars

    if not hasattr(frame, "collect_batches"):
        raise ValueError(
            f"{label} must be collected first, or read by polars 1.34 or newer; received a "
            f"LazyFrame of polars {polars.__version__}."
        )
    with _of_polars(label):
        names = tuple(frame.collect_schema().names())
        rows = int(frame.select(polars.len()).collect(engine="streaming").item())
    pieces = [(rows, frame)] if rows else []
    return _source(joined(pieces, read_lazy), names, label)


def read_fragment(piece: Fragment, names: tuple[str, ...] | None) -> Iterator[Any]:
    """Tables with these columns of one file of a dataset."""
    import pyarrow as pa

    one = piece.fragment
    file = getattr(one, "path", "the dataset")
    if piece.stamp is not None and _stamp(one) != piece.stamp:
        raise TableError(
            f"{file}: the file must stay as it is while it is read; it has changed since it was "
            "first looked at, or is gone. Begin again."
        )
    with naming(file):
        scanner = one.scanner(
            schema=piece.schema,
            columns=list(names or ()),
            batch_size=batch_rows(names),
            batch_readahead=1,
            use_threads=False,
            **_options(one),
        )
    for batch in each(iter(scanner.to_batches()), file):
        if batch.num_rows:
            yield pa.Table.from_batches([batch])


def read_query(piece: Query, names: tuple[str, ...] | None) -> Iterator[Any]:
    """Tables with these columns of what a filter leaves."""
    import pyarrow as pa

    with naming("the dataset"):
        scanner = piece.value.scanner(
            columns=list(names or ()),
            batch_size=batch_rows(names),
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
        )
    for batch in each(iter(scanner.to_batches()), "the dataset"):
        if batch.num_rows:
            yield pa.Table.from_batches([batch])


def read_lazy(frame: Any, names: tuple[str, ...] | None) -> Iterator[Any]:
    """Tables with these columns of what a lazy frame gives, in its order."""
    batches = iter(
        frame.select(list(names or ())).collect_batches(
            chunk_size=batch_rows(names), maintain_order=True
        )
    )
    while True:
        with _of_polars("the LazyFrame"):
            batch = next(batches, None)
        if batch is None:
            return
        if len(batch):
            yield batch.to_arrow()


@contextmanager
def _of_polars(label: str) -> Iterator[None]:
    """Say in one sentence what polars could not do; its messages name the file."""
    from polars.exceptions import PolarsError

    with naming(label):
        try:
            yield
        except PolarsError as error:
            raise ValueError(str(error)) from None


def _stamp(one: Any) -> tuple[int, int] | None:
    """Size and time of the last change of a fragment's file; None where there is no file."""
    if not hasattr(one, "path"):
        return None
    found = one.filesystem.get_file_info(one.path)
    return (-1 if found.size is None else found.size, found.mtime_ns or 0)


def _options(one: Any) -> dict[str, Any]:
    """How Parquet is read: checksums of pages are verified where the file has them."""
    from pyarrow import dataset

    if not isinstance(getattr(one, "format", None), dataset.ParquetFileFormat):
        return {}
    how = dataset.ParquetFragmentScanOptions(
        page_checksum_verification=True, pre_buffer=False, use_buffered_stream=True
    )
    return {"fragment_scan_options": how}


def _source(parts: Any, names: tuple[str, ...], label: str) -> Source:
    if not names:
        raise TableError(f"{label} must have columns; received none.")
    if not parts:
        raise TableError(f"{label} must have at least one row; received none.")
    return Source(parts, names, len(names), label)
