"""Cost of ``isthmus.compare`` on ordinary tables, over that of a cross-fit of boosted trees.

    python benchmarks/ordinary.py [--quick] [--repeats 3] [--jobs]

Tables have skewed columns, normal ones, a count and a 0/1 column; p is shifted a little. In one
process with one thread, ``compare`` (stack, interval and checks included) and
scikit-learn's HistGradientBoostingClassifier with its defaults, fitted in five folds, run in turn;
both are given the same rows. Columns:

ratio
    Processor seconds of ``compare`` over those of the trees, the median of the repeats. The goal is
    at most 6.
no stop
    The same against trees that do not stop early. Their default stops early above 10,000 rows.
n_jobs=2
    Wall seconds with one job over those with two (with --jobs, on two idle cores). The goal is 1.6.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from _record import THREAD_VARIABLES, Run, console, options, table, verdict

# Before anything loads a library of linear algebra.
os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict

from isthmus import compare

SIZES = ((2_000, 10), (8_000, 10), (20_000, 20))
GOAL, JOBS_GOAL = 6.0, 1.6


def ordinary(n: int, d: int, shift: float, rng: np.random.Generator) -> np.ndarray:
    """Rows of a table: half of the columns skewed, the last two a count and a 0/1 column."""
    X = rng.normal(size=(n, d))
    X[:, 1] += 0.5 * X[:, 0]
    X[:, : d // 2] = np.exp(0.8 * X[:, : d // 2] + 0.5 * shift)
    X[:, -2] = rng.poisson(np.exp(0.5 * X[:, -2] + shift))
    X[:, -1] = X[:, -1] + shift > 0
    return X


def seconds(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    begin = clock()
    work()
    return clock() - begin


def trees(p: np.ndarray, q: np.ndarray, **how: Any) -> None:
    X, y = np.concatenate([p, q]), np.repeat([1, 0], [len(p), len(q)])
    model = HistGradientBoostingClassifier(random_state=0, **how)
    cross_val_predict(model, X, y, cv=5, method="predict_proba")


def whole(p: np.ndarray, q: np.ndarray, n_jobs: int | None = None) -> None:
    c = compare(p, q, random_state=0, n_jobs=n_jobs)
    _ = c.kl, c.trusted


def measured(n: int, d: int, repeats: int, jobs: bool) -> dict[str, Any]:
    found: list[list[float]] = []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        p, q = ordinary(n, d, 0.3, rng), ordinary(n, d, 0.0, rng)
        found.append(
            [
                seconds(lambda p=p, q=q: whole(p, q), time.process_time),
                seconds(lambda p=p, q=q: trees(p, q), time.process_time),
                seconds(lambda p=p, q=q: trees(p, q, early_stopping=False), time.process_time),
            ]
        )
    ours, theirs, unstopped = np.array(found).T
    out = {
        "rows": n,
        "columns": d,
        "seconds": ours.tolist(),
        "trees": theirs.tolist(),
        "trees_unstopped": unstopped.tolist(),
        "ratio": float(np.median(ours / theirs)),
        "ratio_unstopped": float(np.median(ours / unstopped)),
    }
    if jobs:
        one, two = (seconds(lambda k=k: whole(p, q, k), time.perf_counter) for k in (1, 2))
        out["speed_up"] = one / two
    return out


def main() -> None:
    parser = options(__doc__ or "", "ordinary")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", action="store_true", help="measure n_jobs=2 as well")
    arguments = parser.parse_args()
    run = Run("ordinary", arguments)
    sizes = ((300, 4),) if arguments.quick else SIZES
    repeats = 1 if arguments.quick else arguments.repeats
    whole(*(ordinary(200, 4, shift, np.random.default_rng(0)) for shift in (0.0, 0.3)))
    results = [measured(n, d, repeats, arguments.jobs) for n, d in sizes]
    shown = table("compare over boosted trees", "rows", "columns", "s", "ratio", "no stop", "jobs")
    for one in results:
        shown.add_row(
            f"{one['rows']:,}",
            str(one["columns"]),
            f"{np.median(one['seconds']):.1f}",
            f"{one['ratio']:.1f} {verdict(one['ratio'] <= GOAL)}",
            f"{one['ratio_unstopped']:.1f}",
            f"{one['speed_up']:.2f}" if "speed_up" in one else "",
        )
    console.print(shown)
    run.write(results=results, goals={"ratio": GOAL, "speed_up": JOBS_GOAL})


if __name__ == "__main__":
    main()
