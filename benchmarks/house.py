"""Processor time of `compare` in this tree against that in another: what keeping house costs.

    python benchmarks/house.py [--against DIR] [--sizes 500x5 ...] [--repeats 4] [--tree DIR]

Two samples of normals, the second moved by a half and wider by a fifth in every column, are
compared with defaults, and the checks are made. Every run has a process of its own with one thread,
and the two trees take turns, so that whatever else the machine does befalls both alike. Columns:

rows, columns
    Size of each sample.
compare, checks
    Least processor time of the runs, in seconds, of `compare` with the KL, and of
    `diagnostics`; without the imports and the draws.
then
    The same in the tree given by --against, which is asked for its src. Without it only this
    tree is timed.
ratio
    The sum of both here over the sum there.
same
    Whether both found the same KL, to a relative 1e-8.

The largest size is run once in each tree. A ratio within some 5 % of one is noise.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from _record import Run, console, limit_threads, options, progress, table

HERE = Path(__file__).parents[1]
SIZES = ("500x5", "2000x10", "20000x20")
QUICK = ("100x2",)
"""Numbers in a sample from which a size is run once only."""
CLOSE = 1e-8

JOB = """
import json, sys, time, warnings
import numpy as np
import isthmus
warnings.simplefilter("ignore")
n, d, seed = map(int, sys.argv[1:])
rng = np.random.default_rng(seed)
p, q = rng.normal(size=(n, d)), rng.normal(0.5, 1.2, (n, d))
compare = isthmus.compare  # its import is not what is measured
clock = [time.process_time()]
c = compare(p, q, random_state=0)
kl = c.kl.value
clock.append(time.process_time())
checks = {name: check.verdict for name, check in c.diagnostics.items()}
clock.append(time.process_time())
found = {"kl": kl, "compare": clock[1] - clock[0], "checks": clock[2] - clock[1]}
print(json.dumps({**found, "tree": isthmus.__path__[0]}))
"""


def timed(tree: Path, size: tuple[int, int, int]) -> dict[str, Any]:
    """One run of a tree in a process of its own."""
    source = (tree / "src").resolve()
    child = subprocess.run(
        [sys.executable, "-c", JOB, *map(str, size)],
        env={**limit_threads(1), "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
    )
    if child.returncode:
        raise RuntimeError(f"The run of {tree} failed:\n{child.stderr}")
    found: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    used = Path(found.pop("tree"))
    if used.parent != source:
        raise RuntimeError(f"The run was to use {source}; it used {used}.")
    return found


def average(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over samples: what the search for settings tries differs from sample to sample."""
    found = {part: sum(each[part] for each in runs) / len(runs) for part in ("compare", "checks")}
    found["total"] = found["compare"] + found["checks"]
    return {**found, "kl": runs[0]["kl"], "runs": [each["compare"] for each in runs]}


def main() -> None:
    parser = options(__doc__, "house")
    parser.add_argument("--against", type=Path, default=None, help="a tree with the code of before")
    parser.add_argument("--tree", type=Path, default=HERE, help="the tree to time (default: this)")
    parser.add_argument("--sizes", nargs="+", default=None, help="such as 500x5")
    parser.add_argument("--repeats", type=int, default=4, help="samples of each size")
    arguments = parser.parse_args()
    sizes = arguments.sizes or (QUICK if arguments.quick else SIZES)
    trees = {"now": arguments.tree}
    if arguments.against is not None:
        trees["then"] = arguments.against
    # Where the trees lie on this machine is nobody's business.
    arguments.tree, arguments.against = "now" in trees, "then" in trees
    run = Run("house", arguments)
    results: list[dict[str, Any]] = []
    with progress() as bar:
        task = bar.add_task("sizes", total=len(sizes))
        for size in sizes:
            n, d = map(int, size.split("x"))
            runs: dict[str, list[dict[str, Any]]] = {name: [] for name in trees}
            for seed in range(1 if arguments.quick else arguments.repeats):
                # In turn, and the other one first the next time.
                for name in sorted(trees, reverse=bool(seed % 2)):
                    runs[name].append(timed(trees[name], (n, d, seed)))
            line: dict[str, Any] = {"rows": n, "columns": d}
            line |= {name: average(each) for name, each in runs.items()}
            if "then" in line:
                now, then = line["now"], line["then"]
                line["ratio"] = now["total"] / then["total"]
                line["same"] = abs(now["kl"] - then["kl"]) <= CLOSE * abs(then["kl"])
            results.append(line)
            bar.advance(task)
    out = table(
        "Processor time of compare, seconds",
        *("rows", "columns", "KL", "compare", "checks", "then: compare", "checks", "ratio", "same"),
    )
    for line in results:
        cells = [str(line["rows"]), str(line["columns"]), f"{line['now']['kl']:.4f}"]
        for name in trees:
            cells += [f"{line[name][part]:.2f}" for part in ("compare", "checks")]
        if "then" in line:
            cells += [f"{line['ratio']:.2f}", "yes" if line["same"] else "no"]
        out.add_row(*cells)
    console.print(out)
    run.write(results=results)


if __name__ == "__main__":
    main()
