"""Fill in the numbers of ``mutual_information.md`` and draw its figure.

    python benchmarks/bmi.py --data DIR
    python docs/make_information.py

Nothing is run: everything is made of ``benchmarks/records/bmi.json``.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from _fill import fill_in
from matplotlib.figure import Figure

HERE = Path(__file__).parent
RECORD = HERE.parent / "benchmarks" / "records" / "bmi.json"
ENDS = ("low", "high")
mpl.rcParams["svg.hashsalt"] = "isthmus"


def summary(record: dict[str, Any]) -> str:
    """Mean and worst errors of every method on every set."""
    lines = ["| set | method | tasks | mean error | worst | intervals that cover | s a task |"]
    lines.append("|---|---|---|---|---|---|---|")
    for each in record["summary"]:
        lines.append(
            f"| {each['set']} | {each['method']} | {each['tasks']} | {each['mean_error']:.4f} "
            f"| {each['worst_error']:.3f} | {100 * each['coverage']:.0f} % "
            f"| {each['seconds']:.1f} |"
        )
    return "\n".join(lines)


def errors(record: dict[str, Any], sets: tuple[str, ...]) -> str:
    """Errors of all methods on the tasks of some sets."""
    own = [each for each in record["results"] if each["set"] in sets]
    methods = sorted({each["method"] for each in own}, key=lambda name: (name != "auto", name))
    lines = [f"| task | truth | {' | '.join(methods)} | ratio chosen |"]
    lines.append("|---" * (len(methods) + 3) + "|")
    for task in dict.fromkeys(each["task"] for each in own):
        row = {each["method"]: each for each in own if each["task"] == task}
        cells = [f"{row[name]['error']:+.3f}" if name in row else "" for name in methods]
        first = row.get("auto") or next(iter(row.values()))
        ratio = first["ratio"] if "auto" in row else ""
        lines.append(f"| {task} | {first['truth']:.3f} | {' | '.join(cells)} | {ratio} |")
    return "\n".join(lines)


def figure(record: dict[str, Any]) -> None:
    """Errors of the default with their intervals."""
    own = [r for r in record["results"] if r["set"] == "bmi" and r["method"] == "auto"]
    canvas = Figure(figsize=(7.2, 0.24 * len(own) + 1.0), layout="constrained")
    axes = canvas.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.axvline(0.0, color="#888888", linewidth=1)
    for place, each in enumerate(reversed(own)):
        low, high = (math.inf if each[end] is None else each[end] - each["truth"] for end in ENDS)
        colour = "#0072b2" if each["covered"] else "#d55e00"
        # An upper end that is not known is an arrow.
        ends = [low, high if math.isfinite(high) else max(low, each["error"])]
        axes.plot(ends, [place, place], color=colour, linewidth=1.5)
        if not math.isfinite(high):
            axes.plot(ends[1], place, ">", color=colour, markersize=5)
        axes.plot(each["error"], place, "o", color=colour, markersize=4)
    axes.set_yticks(range(len(own)), [each["task"] for each in reversed(own)], fontsize=7)
    axes.set_xlabel("estimate less truth, nats (orange: the interval misses the truth)")
    for suffix in ("svg", "png"):
        meta = {"Date": None} if suffix == "svg" else None
        canvas.savefig(HERE / "figures" / f"bmi.{suffix}", dpi=150, metadata=meta)


def main() -> None:
    """Fill in the page."""
    record = json.loads(RECORD.read_text("utf-8"))
    figure(record)
    blocks = {
        "summary": summary(record),
        "tasks": errors(record, ("bmi",)),
        "others": errors(record, ("gaussian", "high", "independent")),
    }
    fill_in(HERE / "mutual_information.md", blocks)


if __name__ == "__main__":
    main()
