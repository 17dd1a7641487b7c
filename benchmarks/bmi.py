"""Mutual information on tasks with known truth, with every rival beside it.

    python benchmarks/bmi.py [--quick] [--data DIR] [--sets bmi gaussian high independent]
                             [--methods auto ksg cca ...] [--tasks TEXT] [--more]

Sets:

bmi
    Tasks of Czyż et al. (2023), "Beyond Normal": files NAME.npz in DIR (or in the folder that
    the environment variable BMI_DATA names) with x, y and the true mutual information mi.
    Left out, with a message, if there is no such folder.
gaussian
    Normal x and y of 20 to 160 columns each, in independent pairs and with both sides mixed by
    random matrices; mutual information 10 to 80. Our method, cca and ksg.
high
    One column each with a correlation of up to 0.99999, and 10 columns each with 50 nats.
independent
    Independent x and y of 1, 10 and 50 columns each.

Every method has its default settings and one seed. Errors are estimate less truth, in nats.
Seconds are processor time, since the machine may be shared. --more keeps the results of the
record that is there, and adds those that it lacks.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _record import Run, console, options, progress, table

from isthmus import mutual_information

METHODS = ("auto", "ksg", "cca", "infonce", "dv", "mine", "nwj", "smile")
SETS = ("bmi", "gaussian", "high", "independent")
# Bars that were set beforehand: mean and largest error, and coverage.
MEAN_GOAL, WORST_GOAL, COVER_GOAL = 0.02, 0.08, 0.85

Task = tuple[str, str, np.ndarray, np.ndarray, float]


def bmi(folder: Path | None, quick: bool) -> Iterator[Task]:
    if quick:
        rng = np.random.default_rng(0)
        x, y = pairs(rng, 1000, 3, np.array([0.8, 0.8, 0.0]))
        turn = (x**2).sum(axis=1) / 3
        spiral = x.copy()
        spiral[:, 0] = np.cos(turn) * x[:, 0] - np.sin(turn) * x[:, 1]
        spiral[:, 1] = np.sin(turn) * x[:, 0] + np.cos(turn) * x[:, 1]
        yield "bmi", "spiral, drawn here", spiral, y, -float(np.log(1 - 0.8**2))
        return
    if folder is None or not folder.is_dir():
        console.print("The set bmi is left out: --data or BMI_DATA must name the folder with it.")
        return
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            yield (
                "bmi",
                path.stem,
                file["x"].astype(float),
                file["y"].astype(float),
                float(file["mi"]),
            )


def pairs(
    rng: np.random.Generator, n: int, d: int, rho: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray]:
    x, e = rng.normal(size=(2, n, d))
    return x, rho * x + np.sqrt(1 - np.square(rho)) * e


def gaussian(quick: bool) -> Iterator[Task]:
    for d, truth in ((4, 1.0),) if quick else ((40, 10.0), (80, 20.0), (160, 40.0), (320, 80.0)):
        rng = np.random.default_rng(d)
        rho = float(np.sqrt(1 - np.exp(-4 * truth / d)))
        x, y = pairs(rng, 500 if quick else 10_000, d // 2, rho)
        yield "gaussian", f"{d // 2} pairs, {truth:g} nats", x, y, truth
        left, right = rng.normal(size=(2, d // 2, d // 2))
        yield "gaussian", f"{d // 2} pairs mixed, {truth:g} nats", x @ left, y @ right, truth


def high(quick: bool) -> Iterator[Task]:
    n = 500 if quick else 10_000
    for rho in (0.999,) if quick else (0.999, 0.9999, 0.99999):
        x, y = pairs(np.random.default_rng(1), n, 1, rho)
        yield "high", f"correlation {rho}", x, y, -0.5 * float(np.log1p(-(rho**2)))
        yield "high", f"correlation {rho}, bent", x**3, np.exp(y), -0.5 * float(np.log1p(-(rho**2)))
    if not quick:
        rho = float(np.sqrt(-np.expm1(-10.0)))
        x, y = pairs(np.random.default_rng(2), n, 10, rho)
        yield "high", "10 pairs, 50 nats", x, y, 50.0


def independent(quick: bool) -> Iterator[Task]:
    for d in (1,) if quick else (1, 10, 50):
        x, y = np.random.default_rng(d).normal(size=(2, 500 if quick else 10_000, d))
        yield "independent", f"{d} and {d} columns", x, y, 0.0


def tasks(arguments: Any) -> Iterator[Task]:
    folder = arguments.data or (Path(os.environ["BMI_DATA"]) if "BMI_DATA" in os.environ else None)
    for name in arguments.sets:
        if name == "bmi":
            every = bmi(folder, arguments.quick)
        else:
            every = {"gaussian": gaussian, "high": high, "independent": independent}[name](
                arguments.quick
            )
        yield from (task for task in every if arguments.tasks in task[1])


def measured(task: Task, method: str, seed: int) -> dict[str, Any]:
    group, name, x, y, truth = task
    started = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = mutual_information(x, y, method=method, random_state=seed)
    return {
        "set": group,
        "task": name,
        "method": method,
        "ratio": found.method,
        "truth": truth,
        "value": found.value,
        "error": found.value - truth,
        "std_error": found.std_error,
        "low": found.low,
        "high": found.high,
        "lower_bound": found.lower_bound,
        "covered": bool(found.low <= truth <= found.high),
        "seconds": time.process_time() - started,
        "warnings": len(caught),
    }


def summary(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    out = []
    for group in SETS:
        for method in METHODS:
            own = [each for each in results if each["set"] == group and each["method"] == method]
            if own:
                errors = np.abs([each["error"] for each in own])
                out.append(
                    {
                        "set": group,
                        "method": method,
                        "tasks": len(own),
                        "mean_error": errors.mean(),
                        "worst_error": errors.max(),
                        "coverage": np.mean([each["covered"] for each in own]),
                        "seconds": np.mean([each["seconds"] for each in own]),
                    }
                )
    return out


def show(results: list[dict[str, Any]]) -> None:
    names = [name for name in METHODS if any(each["method"] == name for each in results)]
    for group in SETS:
        own = [each for each in results if each["set"] == group]
        if not own:
            continue
        shown = table(f"{group}: estimate less truth, nats", "<task", "truth", *names)
        for task in dict.fromkeys(each["task"] for each in own):
            row = {each["method"]: each for each in own if each["task"] == task}
            truth = next(iter(row.values()))["truth"]
            cells = [f"{row[name]['error']:+.3f}" if name in row else "" for name in names]
            shown.add_row(task, f"{truth:.3f}", *cells)
        console.print(shown)
    heads = ("mean |error|", "worst", "covered", "s")
    shown = table("Summary", "<set", "<method", "tasks", *heads)
    for each in summary(results):
        shown.add_row(
            each["set"], each["method"], str(each["tasks"]), f"{each['mean_error']:.4f}",
            f"{each['worst_error']:.3f}", f"{each['coverage']:.2f}", f"{each['seconds']:.1f}",
        )  # fmt: skip
    console.print(shown)


def main() -> None:
    parser = options(__doc__ or "", "bmi")
    parser.add_argument("--data", type=Path, default=None, help="folder with the tasks")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--tasks", default="", help="only tasks whose name contains this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--more", action="store_true", help="add to the record that is there")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.methods = [name for name in arguments.methods if name in ("auto", "ksg", "cca")]
    run = Run("bmi", arguments)
    # A folder of one machine is nobody else's business.
    run.settings.pop("data")
    results = []
    if arguments.more and run.path.exists():
        results = json.loads(run.path.read_text())["results"]
    with progress() as bar:
        for method in arguments.methods:
            todo = bar.add_task(method, total=None)
            for task in tasks(arguments):
                done = any(r["task"] == task[1] and r["method"] == method for r in results)
                if done or (task[0] != "bmi" and method not in ("auto", "ksg", "cca", "infonce")):
                    continue
                results.append(measured(task, method, arguments.seed))
                bar.update(todo, advance=1)
                if not arguments.quick:
                    # A long run that is stopped keeps what it has.
                    run.write(results=results, summary=summary(results))
    show(results)
    run.write(results=results, summary=summary(results))


if __name__ == "__main__":
    main()
