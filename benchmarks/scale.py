"""Tables larger than memory: time, memory and passes of ``compare``, on files and on Dask.

    python benchmarks/scale.py [--quick] [--rows 20000000] [--sizes 100000 ... ] [--folder DIR]

Two folders of Parquet are made, of 20 float32 columns: correlated normals, p's shifted
in a quarter of the columns. ``--rows`` are those of p and q together. A measurement has a process
of its own with one thread.

bare
    One pass that reads all columns of both samples, with one 20 x 20 product of matrices a block.
compare
    ``isthmus.compare`` of the two folders, cross-fitting and intervals included. The goals are at
    most 15 times the processor seconds of the bare pass, and 2 GB of memory at the peak.
rows
    The same for fewer rows. The slope of log seconds against log rows is to be at most 1.05.
workers
    The passes on Dask, with one and two worker processes of one thread: wall seconds from the
    begin of each pass to its end, the least of three runs in turn, for other work on the machine
    only adds to them. Answers are to agree to 1e-9, and two to be 1.6 times as fast.
score
    Log-ratios to Parquet, over a bare pass that reads and writes: at most 3.
same
    Value and interval of files, of tables in memory and of arrays, relative to each other: 1e-6 at
    most, with the same settings.
in memory
    A comparison of arrays of a million rows each: peak memory over the data, at most 3.
log-ratio
    Processor seconds of ``log_ratio`` at an array, over one product of it with a 20 x 20 matrix: at
    most 8 for a convex critic on normals and 25 for a copula.
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from _record import Run, console, options, progress, table, verdict
from _scale_tasks import COLUMNS, cleared, one, write_samples
from accuracy import in_process

GOALS = {
    "compare_over_bare": 15.0,
    "peak_mb": 2000.0,
    "slope": 1.05,
    "workers_speed": 1.6,
    "workers_apart": 1e-9,
    "same_apart": 1e-6,
    "score_over_bare": 3.0,
    "memory_over_data": 3.0,
    "convex on normals": 8.0,
    "copula": 25.0,
}
AT_LEAST = {"workers_speed"}
REPEATS = 3
Found = dict[str, Any]


def measure(**task: Any) -> Found:
    found = in_process(__file__, task)
    if "error" in found:
        sys.exit(f"{task} failed: {found['error']}")
    return found


def parser_() -> Any:
    parser = options(__doc__, "scale")
    parser.add_argument("--rows", type=int, default=20_000_000, help="of p and q together")
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[100_000, 1_000_000, 4_000_000], help="fewer rows"
    )
    parser.add_argument("--workers-rows", type=int, default=20_000_000, help="rows on Dask")
    parser.add_argument("--memory-rows", type=int, default=1_000_000, help="rows of arrays")
    parser.add_argument("--folder", type=Path, default=None, help="where to put the files")
    return parser


def run_all(arguments: Any, work: Path) -> Found:
    """Every measurement, one after the other."""
    results: Found = {"sizes": []}
    sizes = sorted({*arguments.sizes, arguments.workers_rows, arguments.rows})
    with progress() as bar:
        task = bar.add_task("", total=len(sizes) + 4)
        for rows in sizes:
            bar.update(task, description=f"{rows:,} rows")
            folder = work / f"{rows}"
            write_samples(folder, rows // 2, seed=0)
            if rows == arguments.rows:
                results["bare"] = measure(what="bare", folder=str(folder))
            found = measure(what="compare", folder=str(folder))
            results["sizes"].append({"all_rows": rows, **found})
            if rows == arguments.workers_rows and find_spec("distributed") is not None:
                results["workers"] = on_workers(str(folder))
            cleared(folder)
            bar.advance(task)
        rows = arguments.memory_rows
        for what, key, more in (
            ("score", "score", {"folder": str(work), "rows": 2 * rows}),
            ("same", "same", {"folder": str(work / "same"), "rows": rows // 2}),
            ("in memory", "in_memory", {"rows": rows}),
            ("log-ratio", "log_ratio", {"rows": rows}),
        ):
            bar.update(task, description=what)
            results[key] = measure(what=what, **more)
            bar.advance(task)
    return results


def on_workers(folder: str) -> list[Found]:
    """One and two workers in turn, three times; of each the run with the quickest passes."""
    runs = [
        {"workers": k, **measure(what="compare", folder=folder, workers=k)}
        for _ in range(REPEATS)
        for k in (1, 2)
    ]
    return [
        min((run for run in runs if run["workers"] == k), key=lambda run: run["pass_seconds"])
        for k in (1, 2)
    ]


def judged(results: Found) -> dict[str, float]:
    """What the goals are about."""
    whole = results["sizes"][-1]
    x, y = (
        np.log([each[name] for each in results["sizes"]])
        for name in ("all_rows", "processor_seconds")
    )
    found = {
        "compare_over_bare": whole["processor_seconds"] / results["bare"]["processor_seconds"],
        "peak_mb": max(each["peak_mb"] for each in results["sizes"]),
        "slope": float(np.polyfit(x, y, 1)[0]) if len(x) > 1 else 0.0,
        "score_over_bare": results["score"]["ratio"],
        "same_apart": results["same"]["apart"] if len(results["same"]["settings"]) == 1 else np.inf,
        "memory_over_data": results["in_memory"]["over_data"],
        **{k: v for k, v in results["log_ratio"].items() if k != "product"},
    }
    if "workers" in results:
        first, second = results["workers"]
        if second["pass_seconds"]:  # tables of few rows take no pass
            found["workers_speed"] = first["pass_seconds"] / second["pass_seconds"]
        found["workers_apart"] = float(
            np.abs(np.array(first["kl"]) / np.array(second["kl"]) - 1.0).max()
        )
    return found


def show(results: Found, found: dict[str, float]) -> None:
    out = table(
        f"compare of {COLUMNS} columns", "rows", "processor s", "s", "in passes", "passes", "peak"
    )
    for each in results["sizes"]:
        out.add_row(
            f"{each['all_rows']:,}",
            f"{each['processor_seconds']:.1f}",
            f"{each['seconds']:.1f}",
            f"{each['pass_seconds']:.1f}",
            str(each["passes"]),
            f"{each['peak_mb']:.0f} MB",
        )
    console.print(out)
    console.print(f"bare pass: {results['bare']['processor_seconds']:.2f} processor s")
    goals = table("goals", "<what", "found", "goal", "met")
    for name, value in found.items():
        goal = GOALS.get(name)
        met = None if goal is None else value >= goal if name in AT_LEAST else value <= goal
        goals.add_row(name, f"{value:.3g}", "" if goal is None else f"{goal:g}", verdict(met))
    console.print(goals)


def main() -> None:
    if sys.argv[1:2] == ["--task"]:
        print(json.dumps(one(json.loads(sys.argv[2]))))
        return
    arguments = parser_().parse_args()
    if arguments.quick:
        arguments.rows, arguments.sizes = 3000, [1000]
        arguments.workers_rows, arguments.memory_rows = 1000, 1000
    run = Run("scale", arguments)
    run.settings.pop("folder")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as work:
        results = run_all(arguments, Path(work))
    found = judged(results)
    show(results, found)
    run.write(results={**results, "found": found}, goals=GOALS)


if __name__ == "__main__":
    main()
