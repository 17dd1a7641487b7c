"""Fill in the numbers of ``mutual_information.md`` and draw its figure.

    python benchmarks/information.py --data DIR
    python benchmarks/information.py --data DIR --least
    python benchmarks/information.py --coverage
    python docs/make_information.py

Nothing is run: everything is made of ``benchmarks/records/information.json``, and a part that
is not in it is said to be missing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from _fill import fill_in, markdown
from matplotlib.figure import Figure

from isthmus.reproduce.record import changed_parts

HERE = Path(__file__).parent
RECORD = HERE.parent / "benchmarks" / "records" / "information.json"
MISSING = "No record of this is there yet: `python benchmarks/information.py{}` makes it."
PICTURE = "![Errors of the default on the BMI tasks, with 95 % intervals](figures/information.svg)"
# Answers that the page shows of those that miss the truth.
MOST = 40
# Modules that only show answers, or ask for those of many columns.
SHOWING = [f"information.{name}" for name in ("telling", "pairs", "matrix", "scores", "selecting")]
Record = dict[str, Any]
mpl.rcParams["svg.hashsalt"] = "isthmus"


def methods_of(lines: list[Record]) -> list[str]:
    """Methods that occur, the default first."""
    found = dict.fromkeys(each["method"] for each in lines)
    return sorted(found, key=lambda name: name != "auto")


def percent(share: float, digits: int = 0) -> str:
    """A share as the pages write it."""
    return f"{100 * share:.{digits}f} %"


def headline(record: Record) -> str:
    """The first sentence of the page."""
    own = {e["set"]: e for e in record["summary"] if e["method"] == "auto" and "mean_error" in e}
    if "bmi" not in own:
        return "How close the estimates come to known truths is [measured below](#measured)."
    bmi, runs = own["bmi"], sum(each["runs"] for each in own.values())
    held = sum(each["runs"] * each["coverage"] for each in own.values()) / runs
    return (
        f"**On {bmi['runs']} tasks of the field's benchmark the mean error is "
        f"{bmi['mean_error']:.3f} nats; over {runs} tasks of all kinds {percent(held)} of the "
        f"intervals hold the truth** ([the tables](#measured))."
    )


def ran(record: Record) -> str:
    """Where the tables come from."""
    versions = ", ".join(f"{name} {value}" for name, value in record["versions"].items())
    return (
        f"*`benchmarks/information.py`, {record['date'][:10]} ({versions}). "
        "[Record](../benchmarks/records/information.json).*\n\n" + older(record)
    )


def older(record: Record) -> str:
    """What was measured by code that has changed since."""
    told = []
    for part, runs in record.get("runs", {}).items():
        for run in runs:
            changed = [name for name in changed_parts(run) if name not in SHOWING]
            if changed and record.get(part):
                methods = run["settings"]["methods"] if part != "coverage" else ["auto"]
                told.append(
                    f"- Part *{part}*, {', '.join(methods)}, {run['date'][:16]}: "
                    f"{', '.join(changed)}."
                )
    if not told:
        return "All of it was measured by the present code."
    return "Measured by code that has changed since in these modules:\n\n" + "\n".join(told)


def summary(record: Record) -> str:
    """The default on every set."""
    head = ["set", "runs", "mean error", "worst", "intervals that hold the truth"]
    head += ["without an upper end", "trusted and wrong", "failed", "s"]
    rows = []
    for each in record["summary"]:
        if each["method"] == "auto" and "mean_error" in each:
            rows.append(
                [
                    each["set"], str(each["runs"]), f"{each['mean_error']:.3f}",
                    f"{each['worst_error']:.2f}", percent(each["coverage"]),
                    str(each["one_sided"]), str(each["wrong"]), str(each["failed"]),
                    f"{each['seconds']:.1f}",
                ]
            )  # fmt: skip
    return markdown(head, rows)


def rivals(record: Record) -> str:
    """Mean errors of all methods on all sets, and the share of intervals that hold the truth."""
    lines = record["summary"]
    methods = methods_of(lines)
    rows = []
    for group in dict.fromkeys(each["set"] for each in lines):
        own = {each["method"]: each for each in lines if each["set"] == group}
        cells = []
        for name in methods:
            each = own.get(name, {})
            known = "mean_error" in each
            cells.append(f"{each['mean_error']:.2f} ({percent(each['coverage'])})" if known else "")
        rows.append([group, *cells])
    return markdown(["set", *methods], rows)


def families(record: Record) -> str:
    """The families beside the best that others have published."""
    rows = [
        [
            each["family"], f"{each['nats']:g}", f"{each['mean_error']:.3f}",
            f"{each['published']:.2f}", str(each["runs"]),
        ]
        for each in record["families"]
    ]  # fmt: skip
    return markdown(["family", "nats", "mean error", "best published", "runs"], rows)


def tasks(record: Record) -> str:
    """Errors of all methods on the BMI tasks."""
    own = [each for each in record["results"] if each["set"] == "bmi" and "error" in each]
    methods = methods_of(own)
    rows = []
    for name in dict.fromkeys(each["task"] for each in own):
        row = {each["method"]: each for each in own if each["task"] == name}
        cells = [f"{row[m]['error']:+.3f}" if m in row else "" for m in methods]
        first = next(iter(row.values()))
        ratio = row["auto"]["ratio"] if "auto" in row else ""
        rows.append([name, f"{first['truth']:.3f}", *cells, ratio])
    return markdown(["task", "truth", *methods, "ratio chosen"], rows)


def missed(record: Record) -> str:
    """Answers of the default whose interval misses the truth, the worst first."""
    own = [
        each
        for each in record["results"]
        if each["method"] == "auto" and "error" in each and not each["covered"]
    ]
    own.sort(key=lambda each: -abs(each["error"]))
    rows = []
    for each in own[:MOST]:
        high = f"{each['high']:.3f}" if "high" in each else "none"
        rows.append(
            [
                each["set"], each["task"], f"{each['truth']:.3f}", f"{each['value']:.3f}",
                f"{each['low']:.3f}", high, "yes" if each["trusted"] else "no",
            ]
        )  # fmt: skip
    shown = markdown(["set", "task", "truth", "value", "low", "high", "trusted"], rows)
    more = f"\n\n{len(own) - MOST} more are in the record." if len(own) > MOST else ""
    return shown + more


def least(record: Record) -> str:
    """How many tasks need at most so many rows."""
    lines, rows = record["least"], []
    sizes = sorted({int(size) for each in lines for size in each["means"]})
    for group in dict.fromkeys(each["set"] for each in lines):
        for method in methods_of(lines):
            own = [e for e in lines if e["set"] == group and e["method"] == method]
            if own:
                need = [each.get("least", math.inf) for each in own]
                counts = [str(sum(one <= size for one in need)) for size in sizes]
                rows.append([group, method, str(len(own)), *counts])
    return markdown(["set", "method", "tasks", *(f"{size:,} rows" for size in sizes)], rows)


def coverage(record: Record) -> str:
    """Replications of the settings."""
    head = ["set", "task", "rows", "truth", "hold the truth", "miss it from below", "from above"]
    head += ["without an upper end", "median width", "bias", "standard deviation"]
    rows = []
    for each in record["coverage"]:
        width = f"{each['width']:.3f}" if "width" in each else ""
        rows.append(
            [
                each["set"], each["task"], f"{each['rows']:,}", f"{each['truth']:.3f}",
                f"{percent(each['cover'], 1)} ± {100 * each['cover_error']:.1f}",
                percent(each["below"], 1), percent(each["above"], 1),
                percent(each["one_sided"]), width,
                f"{each['bias']:+.3f}", f"{each['sd']:.3f}",
            ]
        )  # fmt: skip
    return markdown(head, rows)


def shown(record: Record) -> list[Record]:
    """Answers of the default on the BMI tasks."""
    return [
        each
        for each in record.get("results", [])
        if each["set"] == "bmi" and each["method"] == "auto" and "error" in each
    ]


def draw(own: list[Record]) -> None:
    """Errors with their intervals."""
    canvas = Figure(figsize=(7.2, 0.24 * len(own) + 1.0), layout="constrained")
    axes = canvas.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.axvline(0.0, color="#888888", linewidth=1)
    for place, each in enumerate(reversed(own)):
        low = each["low"] - each["truth"]
        high = each["high"] - each["truth"] if "high" in each else max(low, each["error"])
        colour = "#0072b2" if each["covered"] else "#d55e00"
        axes.plot([low, high], [place, place], color=colour, linewidth=1.5)
        if each["one_sided"]:
            # An upper end that is not known is an arrow.
            axes.plot(high, place, ">", color=colour, markersize=5)
        axes.plot(each["error"], place, "o", color=colour, markersize=4)
    axes.set_yticks(range(len(own)), [each["task"] for each in reversed(own)], fontsize=7)
    axes.set_xlabel("estimate less truth, nats (orange: the interval misses the truth)")
    for suffix in ("svg", "png"):
        meta = {"Date": None} if suffix == "svg" else None
        canvas.savefig(HERE / "figures" / f"information.{suffix}", dpi=150, metadata=meta)


def blocks(record: Record) -> dict[str, str]:
    """Text of every block of the page."""
    results = record.get("results", [])
    made: dict[str, tuple[Callable[[Record], str], bool, str]] = {
        "headline": (headline, True, ""),
        "ran": (ran, bool(results), ""),
        "summary": (summary, bool(results), ""),
        "rivals": (rivals, bool(results), ""),
        "families": (families, bool(record.get("families")), ""),
        "bmi tasks": (tasks, any(e["set"] == "bmi" for e in results), " --data DIR"),
        "figure": (lambda _: PICTURE, bool(shown(record)), " --data DIR"),
        "missed": (missed, bool(results), ""),
        "least rows": (least, bool(record.get("least")), " --least"),
        "coverage": (coverage, bool(record.get("coverage")), " --coverage"),
    }
    return {
        name: part(record) if there else MISSING.format(option)
        for name, (part, there, option) in made.items()
    }


def main() -> None:
    """Fill in the page."""
    record: Record = {"summary": []}
    if RECORD.exists():
        record = json.loads(RECORD.read_text("utf-8"))
    if shown(record):
        draw(shown(record))
    fill_in(HERE / "mutual_information.md", blocks(record))


if __name__ == "__main__":
    main()
