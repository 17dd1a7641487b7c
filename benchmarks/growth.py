"""How time and memory of ``compare`` and of one fit grow with rows and columns.

    python benchmarks/growth.py [--quick] [--sizes 1000 ... 1000000] [--dims 5 ... 320]
        [--rows 20000] [--repeats 3] [--seed 0]

p is normal with a quarter of a nat per column within pairs of columns, q is the standard
normal, as in Table 2. Each measurement has a process of its own with one thread:

compare
    ``isthmus.compare`` with its defaults.
fit
    One ``MDRE`` with fixed settings: no maps, normal anchors, quadratic critics and a
    fixed penalty, so that nothing is chosen.

Columns:

seconds
    Wall time, without making the data. The line below a table is the slope of
    log seconds against log rows, by least squares over all sizes and over the last two.
memory, peak
    Peak of the process less what it held with imports and data loaded, and in all.
ratio
    Seconds of ``compare`` over those of one fit, by the medians of some repeats taken in
    turn, at 40 columns. The goal is at most 3.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
from _record import Run, console, memory, options, progress, table, verdict
from accuracy import in_process

from isthmus import MDRE, compare, stack
from isthmus.problems import Gaussian, correlation_for

METHODS = ("compare", "fit")
FIXED = {"auxiliaries": "bridge", "maps": None, "anchor": "gaussian"}
FIXED |= {"critic": "quadratic", "l2": 1000.0}
RATIO_GOAL = 3.0
Found = dict[str, Any]


def one(task: Found) -> Found:
    """What one process measures."""
    warnings.simplefilter("ignore")
    dim, rows, seed = task["dim"], task["rows"], task["seed"]
    rng = np.random.default_rng(seed)
    p = Gaussian(0.0, rho=correlation_for(dim / 4, dim), dim=dim).sample(rows, rng)
    q = Gaussian(0.0, dim=dim).sample(rows, rng)
    X, y = stack(p, q)
    known = MDRE().get_params(deep=False)
    model = MDRE(random_state=seed, **{k: v for k, v in FIXED.items() if k in known})
    base = memory()[0]
    start = time.perf_counter()
    if task["method"] == "compare":
        compare(p, q, random_state=seed)
    else:
        model.fit(X, y)
    seconds = time.perf_counter() - start
    peak = memory()[1]
    return {"seconds": seconds, "memory_mb": peak - base, "peak_mb": peak}


def measure(task: Found) -> Found:
    found = in_process(__file__, task)
    if "error" in found:
        sys.exit(f"{task} failed: {found['error']}")
    return {**task, **found}


def slope(found: list[Found], method: str, last: int = 0) -> float:
    """Of log seconds against log rows, over the last few sizes or all of them."""
    mine = [each for each in found if each["method"] == method][-last:]
    x, y = (np.log([each[name] for each in mine]) for name in ("rows", "seconds"))
    return float(np.polyfit(x, y, 1)[0])


def show(title: str, found: list[Found], varies: str) -> None:
    heads = (f"{method} {what}" for what in ("s", "memory", "peak") for method in METHODS)
    out = table(title, varies, *heads)
    for value in dict.fromkeys(each[varies] for each in found):
        here = {each["method"]: each for each in found if each[varies] == value}
        cells = [f"{here[m]['seconds']:.2f}" for m in METHODS]
        cells += [f"{here[m][what]:.0f} MB" for what in ("memory_mb", "peak_mb") for m in METHODS]
        out.add_row(f"{value:,}", *cells)
    console.print(out)


def main() -> None:
    if sys.argv[1:2] == ["--task"]:
        print(json.dumps(one(json.loads(sys.argv[2]))))
        return
    parser = options(__doc__, "growth")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000],
        help="rows of both sides in all, at 10 columns",
    )
    parser.add_argument(
        "--dims",
        type=int,
        nargs="+",
        default=[5, 10, 20, 40, 80, 160, 320],
        help="columns, at --rows rows of each side",
    )
    parser.add_argument("--rows", type=int, default=20_000, help="of each side, for --dims")
    parser.add_argument("--repeats", type=int, default=3, help="of the ratio's measurements")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    dim_of_sizes, dim_of_ratio = 10, 40
    if arguments.quick:
        arguments.sizes, arguments.dims, arguments.rows = [200, 300], [1], 150
        arguments.repeats, dim_of_sizes, dim_of_ratio = 1, 1, 2
    run = Run("growth", arguments)

    shapes = {
        "rows": [(dim_of_sizes, size // 2) for size in sorted(arguments.sizes)],
        "columns": [(dim, arguments.rows) for dim in sorted(arguments.dims)],
        "ratio": [(dim_of_ratio, arguments.rows)] * arguments.repeats,
    }
    results: Found = {}
    with progress() as bar:
        task = bar.add_task("", total=len(METHODS) * sum(map(len, shapes.values())))
        for part, pairs in shapes.items():
            results[part] = []
            for dim, rows in pairs:
                for method in METHODS:
                    bar.update(task, description=f"{method}, {dim} columns, {rows:,} rows a side")
                    job = {"method": method, "dim": dim, "rows": rows, "seed": arguments.seed}
                    results[part].append(measure(job))
                    bar.advance(task)

    show(f"{dim_of_sizes} columns; rows of each side", results["rows"], "rows")
    results["slopes"] = {
        method: {"all": slope(results["rows"], method), "last": slope(results["rows"], method, 2)}
        for method in METHODS
    }
    for method, found in results["slopes"].items():
        console.print(
            f"{method}: slope {found['all']:.2f}, between the last two {found['last']:.2f}"
        )
    show(f"{arguments.rows:,} rows of each side; columns", results["columns"], "dim")
    seconds = {
        m: float(np.median([each["seconds"] for each in results["ratio"] if each["method"] == m]))
        for m in METHODS
    }
    ratio = seconds["compare"] / seconds["fit"]
    results["compare_over_fit"] = {"dim": dim_of_ratio, "rows": arguments.rows, "ratio": ratio}
    met = ratio <= RATIO_GOAL
    console.print(
        f"compare over fit at {dim_of_ratio} columns: {seconds['compare']:.2f} s / "
        f"{seconds['fit']:.2f} s = {ratio:.2f}; at most {RATIO_GOAL:g}: {verdict(met)}"
    )
    run.write(results=results, fixed=FIXED, goals={"compare_over_fit": RATIO_GOAL}, met=met)


if __name__ == "__main__":
    main()
