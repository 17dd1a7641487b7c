"""Fill in the numbers and the figure of ``docs/scale.md``.

    python docs/make_scale.py

Nothing is measured here: the record comes from ``benchmarks/scale.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from _fill import fill_in, markdown

HERE = Path(__file__).parent
PAGE = HERE / "scale.md"
RECORD = HERE.parent / "benchmarks" / "records" / "scale.json"
BILLION = 1_000_000_000
COLUMNS, BYTES = 20, 4
WORDS = {
    "compare_over_bare": "`compare` of all rows, over one bare pass",
    "peak_mb": "memory at the peak, MB",
    "slope": "exponent of time in rows",
    "workers_speed": "two workers of Dask over one, in the passes",
    "workers_apart": "relative difference of their answers",
    "same_apart": "relative difference of files, tables and arrays, same settings",
    "score_over_bare": "log-ratios to Parquet, over a bare pass that reads and writes",
    "memory_over_data": "a million rows in memory: peak over the data",
    "convex on normals": "`log_ratio`, convex critic on normals, over one product",
    "copula": "`log_ratio`, copula, over one product",
    "copula of skewed columns": "`log_ratio`, copula of skewed columns, over one product",
}
AT_LEAST = {"workers_speed"}


def sizes(record: dict[str, Any]) -> str:
    """Time, passes and memory by number of rows."""
    rows = [
        [
            f"{one['all_rows']:,}",
            f"{one['processor_seconds']:.0f}",
            f"{one['passes'] or 'in memory'}",
            f"{one['peak_mb']:.0f}",
            f"{one['kl'][0]:.4f}",
            f"{one['kl'][1]:.4f} to {one['kl'][2]:.4f}",
        ]
        for one in record["results"]["sizes"]
    ]
    head = ["rows of both", "processor seconds", "passes", "peak, MB", "KL", "95 % interval"]
    return markdown(head, rows)


def goals(record: dict[str, Any]) -> str:
    """What was found beside what was wanted."""
    rows = []
    for name, value in record["results"]["found"].items():
        goal = record["goals"].get(name)
        if goal is None:
            rows.append([WORDS[name], f"{value:.3g}", "", ""])
            continue
        at_least = name in AT_LEAST
        met = value >= goal if at_least else value <= goal
        bound = f"{'at least' if at_least else 'at most'} {goal:g}"
        rows.append([WORDS[name], f"{value:.3g}", bound, "yes" if met else "**no**"])
    return markdown(["what", "found", "wanted", "met"], rows)


def costs(record: dict[str, Any]) -> tuple[float, float, float]:
    """Seconds that do not depend on rows, seconds of a row, and what a second worker brings."""
    streamed = [one for one in record["results"]["sizes"] if one["passes"]]
    x = np.array([one["all_rows"] for one in streamed], dtype=float)
    y = np.array([one["processor_seconds"] for one in streamed])
    if len(x) < 2:
        return 0.0, float(y[0] / x[0]), 1.0
    slope, start = np.polyfit(x, y, 1)
    speed = record["results"]["found"].get("workers_speed", 2.0) / 2.0
    return max(float(start), 0.0), float(slope), min(float(speed), 1.0)


def billion(record: dict[str, Any]) -> str:
    """A comparison of a billion rows, from the measured constants."""
    start, slope, share = costs(record)
    passes = record["results"]["sizes"][-1]["passes"]
    size = BILLION * COLUMNS * BYTES
    told = []
    for workers in (1, 10, 100):
        used = workers if workers == 1 else workers * share
        seconds = start + slope * BILLION / used
        told.append(
            [
                f"{workers}",
                f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s",
                f"{size * passes / workers / 1e9:,.0f}",
            ]
        )
    table = markdown(["workers of one thread", "expected time", "GB read by each"], told)
    return (
        f"A billion rows of {COLUMNS} columns of {BYTES} bytes are {size / 1e9:.0f} GB, read "
        f"{passes} times. The constants of the record: {start:.0f} s for what is learned on the "
        f"sample, {1e6 * slope:.1f} s for a million rows in all passes together, and {share:.0%} "
        "of a worker's time put to use as soon as there are several.\n\n".replace("%", " %")
        + f"{table}\n\nThis is arithmetic, not a measurement: it takes for granted that storage "
        f"gives each worker {size * passes / 1e6 / (slope * BILLION):.0f} MB a second."
    )


def figure(record: dict[str, Any]) -> None:
    """Time and memory against rows, on logarithmic axes."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    found = record["results"]["sizes"]
    rows = [one["all_rows"] for one in found]
    with mpl.rc_context({"svg.hashsalt": "isthmus", "font.size": 10}):
        made, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
        left.loglog(rows, [one["processor_seconds"] for one in found], "o-", color="#0072b2")
        bare = record["results"]["bare"]["processor_seconds"]
        left.loglog(rows, [bare * n / rows[-1] for n in rows], "--", color="#888888")
        left.annotate("one bare pass", (rows[0], bare * rows[0] / rows[-1]), color="#666666")
        left.set(xlabel="rows of both samples", ylabel="processor seconds")
        right.semilogx(rows, [one["peak_mb"] for one in found], "o-", color="#d55e00")
        right.set(xlabel="rows of both samples", ylabel="memory at the peak, MB", ylim=(0, None))
        for ax in (left, right):
            ax.spines[["top", "right"]].set_visible(False)
        made.savefig(HERE / "figures" / "scale.svg", metadata={"Date": None})
        made.savefig(HERE / "figures" / "scale.png", dpi=150)
        plt.close(made)


def blocks(record: dict[str, Any]) -> dict[str, str]:
    """Text by the name of its place."""
    made = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    source = (
        f"*`benchmarks/scale.py`, {record['date'][:10]} ({made}), each in a process of one thread. "
        "[Record](../benchmarks/records/scale.json).*\n"
    )
    return {
        "sizes": f"{sizes(record)}\n\n{source}",
        "goals": f"{goals(record)}\n",
        "billion": f"{billion(record)}\n",
    }


def main() -> None:
    """Fill in the page and draw its figure."""
    record = json.loads(RECORD.read_text("utf-8"))
    fill_in(PAGE, blocks(record))
    figure(record)


if __name__ == "__main__":
    main()
