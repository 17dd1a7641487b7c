"""Log-ratios of a table of any length by a saved model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..comparison import Comparison
from ..tables.columns import TableError
from ..words import count, listed
from .blocks import Blocks, opened
from .comparison import SavedComparison
from .writing import form_of, written

LOG_RATIO, WEIGHT = "log_ratio", "weight"

Progress = Callable[[int, int, str], None]


def score_table(
    model: Any,
    source: Path | None,
    target: Path | None,
    *,
    weights: bool = False,
    keys: Sequence[str] = (),
    form: str | None = None,
    progress: Progress | None = None,
) -> int:
    r"""Score the rows of a table by a model and write a row for each, in their order.

    Parameters
    ----------
    model : SavedComparison or estimator
        From :func:`isthmus.load`.
    source, target : Path or None
        Files; None is standard input or output.
    weights : bool
        Whether to write p/q as well, which is not scaled: exp of the log-ratio.
    keys : sequence of str
        Columns of the table to write beside the scores.
    form : {"parquet", "csv", "arrow"}, optional
        Form of the output; by default that of the file's name, and CSV for standard output.
    progress : callable, optional
        Receives (done, total, what).

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
    ...     source, target = pathlib.Path(folder, "new.csv"), pathlib.Path(folder, "out.csv")
    ...     _ = source.write_text("id,age,town\n7,30,Bonn\n8,41,Kiel\n")
    ...     score_table(model, source, target, keys=["id"])
    ...     target.read_text().splitlines()[0]
    2
    '"id","log_ratio"'
    """
    form = form_of(target, form)
    made = [LOG_RATIO, *([WEIGHT] if weights else [])]
    taken = [name for name in keys if name in made]
    if taken:
        raise ValueError(
            f"--columns must not name {taken[0]!r}, which the scores are called; rename it first."
        )
    rows = 0
    with opened(source, **_known(model)) as table:
        _check_keys(table, keys, source)
        used = _used(model, table, keys, source)
        with written(target, form) as write:
            columns = list(dict.fromkeys([*keys, *used]))
            for part in table.parts(columns):
                whole = _complete(part, columns)
                write(_scored(model, whole, keys, used, weights, _label(source)))
                rows += part.num_rows
                if progress is not None:
                    done = rows if table.done is None else table.done()
                    progress(done, table.total, f"{rows:,} rows")
            if not rows:
                write(_nothing(keys, made))
    return rows


def _scored(
    model: Any, part: Any, keys: Sequence[str], used: list[str], weights: bool, label: str
) -> Any:
    """Keys and scores of some rows."""
    import pyarrow as pa

    rows = part.select(used)
    if _encoder(model) is None and not hasattr(_estimator(model), "feature_names_in_"):
        rows = np.column_stack([column.to_numpy() for column in rows.columns])
    try:
        log_ratio = model.log_ratio(rows)
    except ValueError as error:
        raise TableError(f"{label}: {error}") from None
    out = part.select(list(keys)).append_column(LOG_RATIO, pa.array(log_ratio))
    if weights:
        with np.errstate(over="ignore"):
            out = out.append_column(WEIGHT, pa.array(np.exp(log_ratio)))
    return out


def _complete(part: Any, names: Sequence[str]) -> Any:
    """Some rows with all columns: lines of JSON leave out what is missing."""
    import pyarrow as pa

    for name in names:
        if name not in part.column_names:
            part = part.append_column(name, pa.nulls(part.num_rows))
    return part


def _nothing(keys: Sequence[str], made: Sequence[str]) -> Any:
    """A table without rows: an empty day has its scores, too."""
    import pyarrow as pa

    return pa.table({**{name: pa.array([], pa.string()) for name in keys},
                     **{name: pa.array([], pa.float64()) for name in made}})  # fmt: skip


def _estimator(model: Any) -> Any:
    return model.estimator if isinstance(model, SavedComparison | Comparison) else model


def _encoder(model: Any) -> Any:
    return model.encoder if isinstance(model, SavedComparison | Comparison) else None


def _known(model: Any) -> dict[str, list[str]]:
    """Columns that the model knows to be text, or numbers."""
    encoder = _encoder(model)
    if encoder is None:
        return {"numbers": list(getattr(_estimator(model), "feature_names_in_", ()))}
    return {
        "text": [plan.source for plan in encoder.plans if plan.source_kind == "category"],
        "numbers": [plan.source for plan in encoder.plans if plan.source_kind == "number"],
    }


def _used(model: Any, table: Blocks, keys: Sequence[str], source: Path | None) -> list[str]:
    """Columns of the table that the model sees."""
    encoder, estimator = _encoder(model), _estimator(model)
    if encoder is not None:
        used = list(dict.fromkeys(plan.source for plan in encoder.plans))
    elif hasattr(estimator, "feature_names_in_"):
        used = list(estimator.feature_names_in_)
    else:
        used = [name for name in table.names if name not in set(keys)]
        if len(used) != estimator.n_features_in_:
            raise TableError(
                f"{_label(source)}: must have {count(estimator.n_features_in_, 'column')} beside "
                f"those of --columns, as the model was fitted to arrays without names; received "
                f"{len(used)}."
            )
    absent = [name for name in used if name not in set(table.names)]
    if absent:
        raise TableError(
            f"{_label(source)}: must have the columns that the model was fitted to; received a "
            f"table without {listed([repr(name) for name in absent])}."
        )
    return used


def _check_keys(table: Blocks, keys: Sequence[str], source: Path | None) -> None:
    absent = [name for name in keys if name not in set(table.names)]
    if absent:
        raise TableError(
            f"{_label(source)}: --columns must name columns of the table; received "
            f"{listed([repr(name) for name in absent])}. It has "
            f"{listed([repr(name) for name in table.names])}."
        )


def _label(source: Path | None) -> str:
    return "standard input" if source is None else str(source)
