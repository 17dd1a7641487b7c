"""Scoring a folder of Parquet files against a bare pass that reads and writes the same columns."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import isthmus

GOAL = 3.0
BATCH_ROWS = 1 << 16


def write_rows(folder: Path, rows: int, columns: int, seed: int = 0, files: int = 4) -> Path:
    """Rows of normal float32 numbers with a key, in several files."""
    folder.mkdir(parents=True)
    names = [f"x{k}" for k in range(columns)]
    for file in range(files):
        rng = np.random.default_rng([seed, file])
        n = rows // files
        some = rng.standard_normal((n, columns), dtype=np.float32) + np.float32(0.1)
        key = np.arange(file * n, (file + 1) * n)
        table = pa.table({"key": key, **dict(zip(names, some.T, strict=True))})
        parquet.write_table(table, folder / f"{file}.parquet", row_group_size=1 << 18)
    return folder


def bare_pass(folder: Path, target: Path) -> None:
    """Read all columns and write them again, block by block: nothing else is done."""
    target.mkdir()
    for path in sorted(folder.glob("*.parquet")):
        with (
            parquet.ParquetFile(path, pre_buffer=False) as file,
            parquet.ParquetWriter(
                target / path.name, file.schema_arrow, use_dictionary=["key"]
            ) as out,
        ):
            for batch in file.iter_batches(BATCH_ROWS, use_threads=False):
                out.write_table(pa.Table.from_batches([batch]))


def scoring_pass(model: Any, folder: Path, work: Path, repeats: int = 2) -> dict[str, float]:
    """Processor seconds of a bare pass and of scoring, each the least of several; their ratio."""
    ways: dict[str, Callable[[Path], object]] = {
        "bare": lambda target: bare_pass(folder, target),
        "scoring": lambda target: isthmus.score(model, folder, target, columns=["key"]),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, run in ways.items():
            target = work / name
            start = time.process_time()
            run(target)
            spent[name].append(time.process_time() - start)
            shutil.rmtree(target)
    least = {name: min(each) for name, each in spent.items()}
    return {**least, "ratio": least["scoring"] / least["bare"]}
