"""Log-ratios of a table of any length by a saved model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import monotonic
from typing import Any

from ..data.blocks import slices
from ..data.engine import engine_of
from ..data.memory import PART_ROWS
from ..data.source import Source
from ..sources import as_source
from ..tables.columns import TableError, as_table, is_table
from ..tables.door import Door
from ..words import rate
from .blocks import Blocks, of_source, opened
from .folders import score_folder
from .scored import Scores, known_kinds
from .writing import form_of, is_folder, written

Progress = Callable[[int, int, str], None]


def score(
    model: Any,
    rows: Any,
    target: str | os.PathLike[str] | None,
    *,
    weights: bool = False,
    columns: Sequence[str] = (),
    form: str | None = None,
    client: Any = None,
    progress: Progress | None = None,
    door: Door | None = None,
) -> int:
    r"""Score the rows of a table by a model and write a row for each, in their order.

    Memory is bounded by a block of rows, whatever their number. Nothing is there that is not whole.

    Parameters
    ----------
    model : Comparison, SavedComparison or estimator
        What has a ``log_ratio``, such as what :func:`isthmus.load` returns.
    rows : path or source of rows
        A file, a folder of Parquet files, a Dataset of pyarrow, a LazyFrame of polars, a frame of
        Dask or in memory, or batches; None is standard input.
    target : path
        A file that ends in .parquet, .csv or .arrow; or a folder, with a Parquet file for
        each part of the rows. One that was stopped is beside it under a name that ends in
        .unfinished, and the same call goes on with it. None is standard output.
    weights : bool
        Whether to write p/q as well, which is not scaled: exp of the log-ratio.
    columns : sequence of str
        Columns of the table to write beside the scores, such as a key.
    form : {"parquet", "csv", "arrow"}, optional
        Form of the output; by default that of the file's name, and CSV for standard output.
    client : dask.distributed.Client, optional
        Whose workers write the files of a folder, which all of them must reach; by default the
        current client if there is one, and this process otherwise.
    progress : callable, optional
        Receives (done, total, what).
    door : Door, optional
        What messages call the arguments.

    Returns
    -------
    int
        The number of rows.

    Examples
    --------
    >>> import pathlib, tempfile, isthmus
    >>> p = {"age": [31.0, 42.0, 37.0, 29.0] * 50, "town": ["Bonn", "Kiel"] * 100}
    >>> q = {"age": [33.0, 40.0, 38.0, 31.0] * 50, "town": ["Kiel", "Bonn"] * 100}
    >>> model = isthmus.compare(p, q, critic="quadratic", random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new, out = pathlib.Path(folder, "new.csv"), pathlib.Path(folder, "out.csv")
    ...     _ = new.write_text("id,age,town\n7,30,Bonn\n8,41,Kiel\n")
    ...     isthmus.score(model, new, out, columns=["id"])
    ...     out.read_text().splitlines()[0]
    2
    '"id","log_ratio"'
    """
    door = door or Door()
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names; received the text {columns!r}.")
    source = Path(rows) if isinstance(rows, str) else rows
    out = None if target is None else Path(target)
    whole = is_folder(out, form)
    form = "parquet" if whole else form_of(out, form, door)
    label = _label(source)
    with _opened(source, model, whole=whole) as (table, found):
        scores = Scores.of(model, table.names, columns, weights, label, door)
        if whole:
            assert found is not None and out is not None
            return score_folder(scores, found, out, engine_of(client), door, progress)
        count, begun = 0, monotonic()
        with written(out, form) as write:
            for part in table.parts(scores.columns):
                write(scores(part))
                count += part.num_rows
                if progress is not None:
                    done = count if table.done is None else table.done()
                    told = f"{count:,} rows, {rate(count, monotonic() - begun)}"
                    progress(done, table.total, told)
            if not count:
                write(scores.nothing())
    return count


def _opened(
    source: Any, model: Any, *, whole: bool
) -> AbstractContextManager[tuple[Blocks, Source | None]]:
    """Blocks of a table, and the source that they are of where it is read in parts."""
    is_file = source is None or (isinstance(source, Path) and not source.is_dir())
    if is_file and not whole:
        return _File(source, model)
    if is_file and (source is None or source.suffix.lower() not in (".parquet", ".pq")):
        raise TableError(
            f"{_label(source)}: must be Parquet where the scores are written to a folder; name a "
            "file to write in place of it."
        )
    found = as_source(source, _label(source))
    if found is None and is_table(as_table(source)):
        found = as_source(_sliced(as_table(source)), "The table")
    if found is None or found.names is None:
        raise ValueError(
            "The rows to score must be a table with named columns, in a file or in parts; received "
            f"a {type(source).__name__}."
        )
    return nullcontext((of_source(found), found))


def _sliced(table: Any) -> list[Any]:
    """A frame in memory as some rows after the other; a dict of columns as it is."""
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return [table]
    return [frame[at].to_native() for at in slices(len(frame), PART_ROWS)] or [table]


class _File:
    """A file or standard input."""

    def __init__(self, source: Path | None, model: Any) -> None:
        self.blocks = opened(source, **known_kinds(model))

    def __enter__(self) -> tuple[Blocks, None]:
        return self.blocks.__enter__(), None

    def __exit__(self, *exc: Any) -> Any:
        return self.blocks.__exit__(*exc)


def _label(source: Any) -> str:
    if source is None:
        return "standard input"
    return str(source) if isinstance(source, str | os.PathLike) else "The table"
