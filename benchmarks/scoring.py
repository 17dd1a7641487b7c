"""Rows a second that a saved model scores, against a bare ``predict_proba`` of the same model.

    python benchmarks/scoring.py [--quick] [--rows 100000] [--repeats 3]

Models: boosted trees as a critic, whose bare ``predict_proba`` is scikit-learn's own; the stack of
``compare`` on a table with categories; two densities. All in one process and in turn, by processor
time. Columns:

bare
    Rows a second, in thousands, of ``predict_proba`` of the fitted model on numbers in memory.
log_ratio
    Of ``log_ratio`` of the loaded model at the same numbers, as a share of the bare one.
frame
    The same at the table as it was read, which is encoded first.
parquet, csv
    What ``isthmus score`` does: read a file, encode, score, and write a Parquet file.

The goal is half of the bare throughput for each. Two densities are quicker than the reading of
text: for them the share of a CSV file says what pyarrow's parser takes.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _record import Run, console, options, progress, table, verdict
from pyarrow import csv, parquet
from sklearn.ensemble import HistGradientBoostingClassifier

import isthmus

GOAL = 0.5
TOWNS = ["Bonn", "Kiel", "Ulm", "Trier", "Jena"]


def rows(n: int, shift: float, seed: int) -> dict[str, Any]:
    """A table with four numbers and a category; p and q differ by a shift and in the shape."""
    rng = np.random.default_rng(seed)
    weight = np.linspace(1.0, 1.0 + shift, len(TOWNS))
    numbers = rng.normal(0.0, 1.0, (n, 4))
    numbers[:, 0] += shift
    numbers[:, 1] = np.abs(numbers[:, 1]) * np.sign(numbers[:, 2]) if shift else numbers[:, 1]
    columns: dict[str, Any] = {f"x{k}": numbers[:, k] for k in range(4)}
    columns["town"] = rng.choice(TOWNS, n, p=weight / weight.sum())
    return columns


def models(n: int) -> dict[str, tuple[Any, Any]]:
    """Comparisons, and what their bare predict_proba is asked of."""
    p, q = rows(n, 0.0, 0), rows(n, 0.5, 1)
    trees = isthmus.compare(
        p,
        q,
        critic=HistGradientBoostingClassifier(max_iter=100, random_state=0),
        folds=2,
        random_state=0,
    )
    stack = isthmus.compare(p, q, folds=2, random_state=0)
    numbers = [{k: v for k, v in one.items() if k != "town"} for one in (p, q)]
    normal = isthmus.MDRE(None, anchor="gaussian", critic="quadratic", maps=None, l2=np.inf)
    densities = isthmus.compare(*numbers, estimator=normal, folds=2, random_state=0)
    return {
        "boosted trees": (trees, trees.estimator.model_.classifier),
        "stack": (stack, stack.estimator),
        "two densities": (densities, densities.estimator),
    }


def seconds(ways: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Least processor time of several runs of each, in turn: others only add to it."""
    out: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, work in ways.items():
            start = time.process_time()
            work()
            out[name].append(time.process_time() - start)
    return {name: min(spent) for name, spent in out.items()}


def measure(model: Any, bare: Any, folder: Path, n: int, repeats: int) -> dict[str, float]:
    loaded = isthmus.load(model.save(folder / "model.isthmus"))
    new = pa.table(rows(n, 0.2, 2))
    used = new if "town" in loaded.encoder.summary() else new.drop(["town"])
    parquet.write_table(new, folder / "new.parquet")
    csv.write_csv(new, folder / "new.csv")
    numbers, target = loaded.encode(used), folder / "out.parquet"
    ways: dict[str, Callable[[], object]] = {
        "bare": lambda: bare.predict_proba(numbers),
        "log_ratio": lambda: loaded.estimator.log_ratio(numbers),
        "frame": lambda: loaded.log_ratio(used),
        "parquet": lambda: isthmus.score(loaded, folder / "new.parquet", target),
        "csv": lambda: isthmus.score(loaded, folder / "new.csv", target),
    }
    return seconds(ways, repeats)


def main() -> None:
    parser = options(__doc__, "scoring")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--train", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rows, arguments.train, arguments.repeats = 500, 60, 1
    run = Run("scoring", arguments)
    warnings.simplefilter("ignore")

    results = {}
    made = models(arguments.train)
    with progress() as bar, tempfile.TemporaryDirectory() as folder:
        task = bar.add_task("scoring", total=len(made))
        for name, (model, bare) in made.items():
            results[name] = measure(model, bare, Path(folder), arguments.rows, arguments.repeats)
            bar.advance(task)

    ways = ("log_ratio", "frame", "parquet", "csv")
    ratio = {
        name: {way: each["bare"] / each[way] for way in ways} for name, each in results.items()
    }
    out = table("Throughput of a saved model", "<model", "bare, 1000 rows/s", *ways)
    for name, each in results.items():
        shares = (f"{ratio[name][way]:.2f}" for way in ways)
        out.add_row(name, f"{arguments.rows / each['bare'] / 1000:,.0f}", *shares)
    console.print(out)
    met = all(share >= GOAL for each in ratio.values() for share in each.values())
    console.print(f"Every share at least {GOAL}: {verdict(met)}")
    run.write(results=results, ratio=ratio, goal=GOAL, met=met)


if __name__ == "__main__":
    main()
