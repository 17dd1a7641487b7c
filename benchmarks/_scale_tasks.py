"""What benchmarks/scale.py measures, each in a process of its own."""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _record import memory
from _scoring_pass import scoring_pass, write_rows
from pyarrow import parquet

import isthmus

COLUMNS = 20
FILE_ROWS = 1 << 20
BLOCK_ROWS = 1 << 16
Found = dict[str, Any]


def write_samples(folder: Path, rows: int, seed: int) -> None:
    """Rows of p and q in folders: normal, correlated, float32, a quarter of the columns shifted."""
    turn = np.random.default_rng(5).normal(size=(COLUMNS, COLUMNS)) / np.sqrt(COLUMNS)
    turn = (np.eye(COLUMNS) + 0.5 * turn).astype(np.float32)
    names = [f"x{k:02d}" for k in range(COLUMNS)]
    for k, (side, shift) in enumerate((("p", 0.3), ("q", 0.0))):
        (folder / side).mkdir(parents=True)
        for file, begin in enumerate(range(0, rows, FILE_ROWS)):
            rng = np.random.default_rng([seed, k, file])
            left = min(FILE_ROWS, rows - begin)
            with parquet.ParquetWriter(
                folder / side / f"{file:03d}.parquet",
                pa.schema([(name, pa.float32()) for name in names]),
                use_dictionary=False,
            ) as out:
                for first in range(0, left, 1 << 17):
                    size = min(1 << 17, left - first)
                    x = rng.standard_normal((size, COLUMNS), dtype=np.float32) @ turn
                    x[:, : COLUMNS // 4] += np.float32(shift)
                    columns = [np.ascontiguousarray(column) for column in x.T]
                    out.write_table(pa.table(dict(zip(names, columns, strict=True))))


def bare(task: Found) -> Found:
    """Read all columns of both samples, with one product of matrices a block: the least of three.

    The first one may find the files on disk, which is no processor's time but for what the system
    does; what is compared with it finds them in memory.
    """
    matrix = np.random.default_rng(0).normal(size=(COLUMNS, COLUMNS)).astype(np.float32)
    found = []
    for _ in range(3):
        start = _now()
        total = 0.0
        for path in sorted(Path(task["folder"]).glob("*/*.parquet")):
            with parquet.ParquetFile(path, pre_buffer=False) as file:
                for batch in file.iter_batches(BLOCK_ROWS, use_threads=False):
                    block = np.column_stack([column.to_numpy() for column in batch.columns])
                    total += float((block @ matrix)[0, 0])
        found.append(_spent(start))
    return min(found, key=lambda one: one["processor_seconds"])


def compared(task: Found) -> Found:
    """``isthmus.compare`` of two folders, in this process or on workers of one thread."""
    folder = Path(task["folder"])
    stages: list[tuple[str, float]] = []

    def progress(done: int, total: int, what: str) -> None:
        stages.append((what, time.perf_counter()))

    with _workers(task.get("workers", 0)) as client:
        start, base = _now(), memory()[0]
        c = isthmus.compare(
            folder / "p", folder / "q", random_state=0, client=client, progress=progress
        )
        found = _spent(start)
    kl = c.kl
    return {
        **found,
        "base_mb": base,
        "peak_mb": memory()[1],
        "rows": list(c.sizes),
        "passes": 0 if c.all_rows is None else c.all_rows.passes,
        "pass_seconds": _in_passes(stages),
        "kl": [kl.value, kl.low, kl.high],
        "rests_on": c.rests_on,
    }


def same(task: Found) -> Found:
    """Files against the same rows in memory: how far value and interval are apart."""
    folder = Path(task["folder"])
    write_samples(folder, task["rows"], seed=1)
    tables = [parquet.read_table(folder / side) for side in "pq"]
    arrays = [
        np.column_stack([column.to_numpy() for column in table.columns]).astype(np.float64)
        for table in tables
    ]
    found = [
        isthmus.compare(*pair, random_state=0)
        for pair in ((folder / "p", folder / "q"), tables, arrays)
    ]
    cleared(folder)
    kls = np.array([[c.kl.value, c.kl.low, c.kl.high] for c in found])
    return {
        "rows": task["rows"],
        "settings": sorted({c.rests_on for c in found}),
        "apart": float(np.abs(kls / kls[0] - 1.0).max()),
    }


def scored(task: Found) -> Found:
    """Log-ratios of rows to Parquet, over a bare pass that reads and writes.

    The model is that of very many normal rows, as in ``compare`` above.
    """
    rng = np.random.default_rng(0)
    names = [f"x{k}" for k in range(COLUMNS)]
    p, q = (
        pa.table(dict(zip(names, rng.normal(shift, 1.0, (COLUMNS, 250_000)), strict=True)))
        for shift in (0.3, 0.0)
    )
    model = isthmus.compare(p, q, random_state=0)
    with tempfile.TemporaryDirectory(dir=task["folder"]) as work:
        folder = write_rows(Path(work, "rows"), task["rows"], COLUMNS)
        found = scoring_pass(model, folder, Path(work), repeats=3)
    return {**found, "rows": task["rows"], "rests_on": model.rests_on}


def in_memory(task: Found) -> Found:
    """Peak memory of a comparison of arrays, over that of the arrays."""
    rng = np.random.default_rng(0)
    p, q = (rng.normal(shift, 1.0, (task["rows"], COLUMNS)) for shift in (0.1, 0.0))
    small = [rng.normal(size=(60, 2)) for _ in range(2)]
    isthmus.compare(*small, random_state=0)  # so that everything is imported
    base, start = memory()[0], _now()
    isthmus.compare(p, q, random_state=0)
    data = (p.nbytes + q.nbytes) / 1e6
    return {**_spent(start), "data_mb": data, "over_data": (memory()[1] - base + data) / data}


def log_ratio(task: Found) -> Found:
    """Scoring of an array, over one product with a matrix of as many columns."""
    rng = np.random.default_rng(0)
    p, q = rng.normal(0, 1, (5000, COLUMNS)), rng.normal(0.3, 1.2, (5000, COLUMNS))
    q[:, 1] += 0.4 * q[:, 0]
    skewed = np.exp(0.5 * p), np.exp(0.5 * q)
    rows, matrix = rng.normal(size=(task["rows"], COLUMNS)), rng.normal(size=(COLUMNS, COLUMNS))
    made: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "convex on normals": ((p, q), rows, {"anchor": "gaussian", "l2": 30.0}),
        "copula": ((p, q), rows, {"anchor": "copula", "l2": np.inf}),
        "copula of skewed columns": (
            skewed,
            np.exp(0.5 * rows),
            {"anchor": "copula", "l2": np.inf},
        ),
    }
    product = _least(lambda: rows @ matrix)
    found: Found = {"product": product}
    for name, (samples, asked, settings) in made.items():
        mdre = isthmus.MDRE(critic="quadratic", maps=None, random_state=0, **settings)
        mdre.fit(*isthmus.stack(*samples))
        found[name] = _least(lambda mdre=mdre, asked=asked: mdre.log_ratio(asked)) / product
    return found


TASKS: dict[str, Callable[[Found], Found]] = {
    "bare": bare,
    "compare": compared,
    "score": scored,
    "same": same,
    "in memory": in_memory,
    "log-ratio": log_ratio,
}


def one(task: Found) -> Found:
    """What one process measures."""
    warnings.simplefilter("ignore")
    return TASKS[task["what"]](task)


def cleared(folder: Path) -> None:
    """The folder, gone."""
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _workers(count: int) -> Iterator[Any]:
    if not count:
        with nullcontext() as nothing:
            yield nothing
        return
    from distributed import Client, LocalCluster

    how = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=count, **how) as cluster, Client(cluster) as client:
        # The first task of a worker imports; that is no part of a pass.
        client.run(_import)
        yield client


def _import() -> None:
    import isthmus.large.comparing
    import isthmus.sources.parquet  # noqa: F401


def _in_passes(stages: list[tuple[str, float]]) -> float:
    """Seconds from the begin of each pass over the rows to the end of its last part."""
    ends: dict[str, list[float]] = {}
    for what, at in stages:
        if what.startswith("pass "):
            ends.setdefault(what.partition(",")[0], []).append(at)
    return sum(times[-1] - times[0] for times in ends.values())


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _spent(start: tuple[float, float]) -> Found:
    return {
        "seconds": time.perf_counter() - start[0],
        "processor_seconds": time.process_time() - start[1],
    }


def _least(run: Callable[[], object], repeats: int = 3) -> float:
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        spent.append(time.process_time() - start)
    return min(spent)
