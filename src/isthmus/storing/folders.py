"""Scores to a folder of files that is there when it is whole, and goes on where it stopped.

Every part of the source becomes a file in a folder beside the target, whose name ends in
``.unfinished``; each is there when it is whole. Once all are, the folder takes the name of the
target. What a run that was stopped has left is gone on with by one that is asked the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from .._version import __version__
from ..data.engine import Engine
from ..data.source import Batch, Part, Source
from ..files import written_whole
from ..tables.columns import TableError
from ..tables.door import Door
from ..words import rate
from .scored import LOG_RATIO, Scores, made
from .writing import parquet_writer, target_of

MANIFEST = "_isthmus.json"
"""What is in the folder; readers of Parquet skip names with an underscore."""

UNFINISHED = ".unfinished"

_PROBE = 256

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class WritePart:
    """Score the rows of a part and write them to its file; returns the number of rows.

    Attributes
    ----------
    scores : Scores
    folder : str
    files : dict of int to str
        Names of files by the number of the first row of their part.
    """

    scores: Scores
    folder: str
    files: dict[int, str]

    def __call__(self, batches: Iterator[Batch], first: int) -> int:
        """Read, score and write."""
        from pyarrow import parquet

        rows, writer = 0, None
        with written_whole(Path(self.folder, self.files[first])) as draft:
            with draft.open("wb") as file:
                try:
                    for batch in batches:
                        table = self.scores(batch)
                        if writer is None:
                            writer = parquet_writer(file, table.schema)
                        writer.write_table(table.cast(writer.schema))
                        rows += len(table)
                finally:
                    if writer is not None:
                        writer.close()
            found = parquet.read_metadata(draft).num_rows
        assert found == rows
        return rows


def score_folder(
    scores: Scores,
    source: Source,
    target: Path,
    engine: Engine,
    door: Door,
    progress: Progress | None = None,
) -> int:
    """Write the scores of all rows of a source to a folder; returns the number of rows."""
    source = source.only(scores.columns)
    job = _job(scores, source)
    if _manifest(target).get("job") == job:
        return source.rows  # which was done before
    check_folder(target, target_of(door))
    work = target.with_name(target.name + UNFINISHED)
    before = _manifest(work).get("job")
    if before is None:
        # Nothing is removed that a run like this has not written.
        check_folder(work, f"What {target_of(door)} becomes with {UNFINISHED}")
    elif before != job:
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(exist_ok=True)
    _write(work / MANIFEST, {"job": job})
    files = {part.first: f"part-{k:05d}.parquet" for k, part in enumerate(source.parts)}
    left = [part for part in source.parts if not _is_done(work / files[part.first], part)]
    done = source.rows - sum(part.rows for part in left)
    task = WritePart(scores, str(work), files)
    found, begun = done, monotonic()
    for part, rows in zip(left, engine.map(task, left, source.names), strict=True):
        if rows != part.rows:
            raise TableError(
                f"{scores.label}: must have the same rows in every pass; received {rows:,} where "
                f"there were {part.rows:,}."
            )
        done += rows
        if progress is not None:
            told = f"{done:,} rows, {rate(done - found, monotonic() - begun)}"
            progress(done, source.rows, told)
    _write(work / MANIFEST, {"job": job, "rows": source.rows, "files": sorted(files.values())})
    _finish(work, target)
    return source.rows


def check_folder(target: Path, argument: str) -> None:
    """Refuse a target that holds something else, before anything long is begun."""
    if target.is_file():
        raise ValueError(f"{argument} must be a folder; received the file {target}.")
    if target.is_dir() and any(target.iterdir()):
        raise ValueError(
            f"{argument} must be a new folder, or an empty one; received {target}, which holds "
            f"{min(path.name for path in target.iterdir())}."
        )
    if not target.resolve().parent.is_dir():
        raise ValueError(f"{argument} must be in a folder that exists; received {target}.")


def _job(scores: Scores, source: Source) -> dict[str, Any]:
    """What was asked for: the same rows, columns and model give the same."""
    parts = [_identity(part) for part in source.parts]
    text = json.dumps(parts) if all(one is not None for one in parts) else os.urandom(16).hex()
    return {
        "isthmus": __version__,
        "rows": source.rows,
        "columns": [*scores.keys, *made(scores.weights)],
        "source": hashlib.sha256(text.encode()).hexdigest(),
        "model": _fingerprint(scores, source),
    }


def _identity(part: Part) -> Any:
    """What tells whether a part is the same as in another run; None where nothing does."""
    # Asked of the class: a partition of Dask has any attribute that one may think of.
    if not hasattr(type(part.payload), "identity"):
        return None
    known = part.payload.identity
    return None if known is None else [part.rows, known]


def _fingerprint(scores: Scores, source: Source) -> str:
    """Log-ratios of the first rows: those of another model differ."""
    first = next(source.batches()).slice(0, _PROBE)
    found = np.ascontiguousarray(scores(first)[LOG_RATIO].to_numpy())
    return hashlib.sha256(found.tobytes()).hexdigest()


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_done(file: Path, part: Part) -> bool:
    """Whether a part was written by an earlier run; what is there was written whole."""
    from pyarrow import lib, parquet

    try:
        return int(parquet.read_metadata(file).num_rows) == part.rows
    except (OSError, lib.ArrowException):
        return False


def _write(path: Path, content: dict[str, Any]) -> None:
    with written_whole(path) as draft:
        draft.write_text(json.dumps(content, indent=1))


def _finish(work: Path, target: Path) -> None:
    """Give the folder its name; an empty one may be in its place."""
    if target.is_dir():
        target.rmdir()
    os.replace(work, target)
