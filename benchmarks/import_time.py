"""How long ``import isthmus`` takes against ``import sklearn.linear_model`` alone.

    python benchmarks/import_time.py [--quick] [--repeats 10]

Each import runs in a fresh interpreter, the two in turn. Columns:

seconds (min, median)
    Wall time of the import statement, without the start of the interpreter.
ratio
    Against scikit-learn, by the minimum and by the median. The goal is at most 1.5.
heavy
    Which of torch, dask, matplotlib and the samplers were imported: none should be.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from _record import Run, console, options, progress, table, verdict

GOAL = 1.5
MODULES = {"isthmus": "isthmus", "scikit-learn": "sklearn.linear_model"}
HEAVY = ("torch", "dask", "matplotlib", "nutpie", "arviz")
CODE = """
import sys, time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start, *(m for m in {heavy!r} if m in sys.modules))
"""


def measure(module: str) -> tuple[float, list[str]]:
    code = CODE.format(module=module, heavy=HEAVY)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, *heavy = run.stdout.split()
    return float(seconds), heavy


def main() -> None:
    parser = options(__doc__, "import_time")
    parser.add_argument("--repeats", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.repeats = 1
    run = Run("import_time", arguments)

    seconds: dict[str, list[float]] = {name: [] for name in MODULES}
    heavy: dict[str, list[str]] = {}
    for module in [] if arguments.quick else MODULES.values():
        measure(module)  # so that no import pays for reading files from the disk
    with progress() as bar:
        task = bar.add_task("importing", total=arguments.repeats)
        for _ in range(arguments.repeats):
            for name, module in MODULES.items():
                spent, heavy[name] = measure(module)
                seconds[name].append(spent)
            bar.advance(task)

    results = {
        name: {"min": min(values), "median": statistics.median(values), "seconds": values}
        for name, values in seconds.items()
    }
    base = results["scikit-learn"]
    ratio = {key: results["isthmus"][key] / base[key] for key in ("min", "median")}
    out = table("Time to import", "<module", "min", "median", "ratio min", "ratio median", "<heavy")
    for name, result in results.items():
        mine = [result[key] / base[key] for key in ("min", "median")]
        out.add_row(
            MODULES[name],
            f"{result['min']:.3f} s",
            f"{result['median']:.3f} s",
            *(f"{value:.2f}" for value in mine),
            ", ".join(heavy[name]) or "none",
        )
    console.print(out)
    met = ratio["min"] <= GOAL
    console.print(f"Ratio (min) at most {GOAL}: {verdict(met)}")
    run.write(modules=MODULES, results=results, ratio=ratio, goal=GOAL, met=met, heavy=heavy)


if __name__ == "__main__":
    main()
