"""Fill in the tables of ``docs/trust.md``, and draw its figure, from the records of benchmarks.

    python docs/make_trust.py

Blocks are those between ``<!-- name -->`` and ``<!-- end of name -->``. Nothing is measured
here: the records come from ``benchmarks/detector.py`` and ``benchmarks/two_sample.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _fill import fill_in, markdown

HERE = Path(__file__).parent
RECORDS = HERE.parent / "benchmarks" / "records"
MISSING = "No record of this is there yet: `python benchmarks/detector.py` makes it."
PICTURE = "![Every fit: its error, and how much the checks doubt it.](figures/detector.svg)"
OK, WARN, FAIL = "#0072b2", "#e69f00", "#d55e00"


def read(name: str) -> dict[str, Any]:
    """Read one record."""
    record: dict[str, Any] = json.loads((RECORDS / f"{name}.json").read_text("utf-8"))
    return record


def ran(record: dict[str, Any], name: str) -> str:
    """Say where a table comes from."""
    versions = ", ".join(f"{k} {v}" for k, v in record["versions"].items())
    return (
        f"*`benchmarks/{name}.py` on {record['date'][:10]}: "
        f"{record['wall_seconds'] / 60:.0f} min on a busy machine ({versions}). "
        f"[Record](../benchmarks/records/{name}.json).*"
    )


def detector() -> dict[str, str]:
    """Tables of the detector, or that there is no record of it."""
    if not (RECORDS / "detector.json").exists():
        return dict.fromkeys(("detector", "by check", "fits"), MISSING)
    record = read("detector")
    found, goals = record["summary"], record["goals"]
    low, high = found["auc_interval"]
    classes = found["classes"]
    alarms = classes["within 5 %"]["flagged"]
    told = (
        f"Over {found['fits']} fits the AUC of `doubt` is **{found['auc']:.3f}** (95 % interval "
        f'{low:.2f} to {high:.2f}; goal {goals["auc"]}), and that of "some check objects" alone '
        f"{found['auc_flagged']:.3f}. Of the answers within 5 %, **{alarms:.0%}** were flagged "
        f"(goal: at most {goals['false_alarms']:.0%})."
    )
    by_error = markdown(
        ["error of the KL", "fits", "some check objects", "some check fails"],
        [
            [name, str(each["fits"]), f"{each['flagged']:.0%}", f"{each['failed']:.0%}"]
            for name, each in classes.items()
        ],
    )
    by_check = markdown(
        ["check", *classes],
        [[f"`{name}`", *map(str, each.values())] for name, each in found["checks"].items()],
    )
    fits = markdown(
        "kind | samples | settings | rows | truth | found | error | doubt | objects".split(" | "),
        [
            [
                each["kind"],
                each["problem"],
                each["model"],
                str(each["rows"]),
                f"{each['truth']:.3g}",
                f"{each['found']:.3g}",
                f"{100 * each['error']:.0f} %",
                f"{each['doubt']:.1f}",
                ", ".join(f"{name} ({v})" for name, v in each["flags"].items()) or "none",
            ]
            for each in sorted(record["results"], key=lambda one: one["error"])
        ],
    )
    return {
        "detector": f"{told}\n\n{by_error}\n\n{PICTURE}",
        "by check": by_check,
        "fits": f"{fits}\n\n{ran(record, 'detector')}",
    }


def figure(results: list[dict[str, Any]]) -> None:
    """Draw every fit: its error against how much the checks doubt it."""
    drawn, ax = plt.subplots(figsize=(8.0, 4.0), layout="constrained")
    error = np.clip([each["error"] for each in results], 1e-3, 30.0)
    score = np.array([each["doubt"] for each in results])
    worst = [
        FAIL if "fail" in each["flags"].values() else WARN if each["flags"] else OK
        for each in results
    ]
    ax.axvspan(1e-3, 0.05, color="#8c8c8c", alpha=0.12, linewidth=0)
    ax.axvline(0.2, color="#8c8c8c", linewidth=1)
    for color, name in ((OK, "all passed"), (WARN, "some warn"), (FAIL, "some fail")):
        here = np.array([one == color for one in worst])
        ax.scatter(error[here], score[here], s=34, color=color, linewidths=0, label=name, alpha=0.8)
    ax.set_xscale("log")
    ax.set_xlabel("relative error of the KL (grey: within 5 %; line: 20 %)")
    ax.set_ylabel("doubt")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    plt.rcParams["svg.hashsalt"] = "isthmus"
    drawn.savefig(HERE / "figures" / "detector.svg", metadata={"Date": None})
    plt.close(drawn)


def two_sample() -> dict[str, str]:
    """Size and power of the test."""
    record = read("two_sample")
    results = record["results"]
    size = markdown(
        ["both samples", "rejected at 5 %", "standard error", "replications"],
        [
            [
                each["null"],
                f"{each['rate']:.1%}",
                f"{each['std_error']:.1%}",
                str(each["replications"]),
            ]
            for each in results["size"]
        ],
    )
    methods = list(dict.fromkeys(each["method"] for each in results["power"]))
    shifts = list(dict.fromkeys(each["shift"] for each in results["power"]))
    found = {(each["shift"], each["method"]): each for each in results["power"]}
    rows = []
    for shift in shifts:
        best = max(found[shift, method]["rate"] for method in methods)
        shares = [found[shift, method]["rate"] for method in methods]
        told = [f"**{rate:.0%}**" if rate == best else f"{rate:.0%}" for rate in shares]
        rows.append([shift, *told])
    seconds = [np.mean([found[s, m]["seconds"] for s in shifts]) for m in methods]
    rows.append(["milliseconds", *(f"{1e3 * one:.0f}" for one in seconds)])
    power = markdown(["shift", *methods], rows)
    count = results["power"][0]["replications"]
    return {
        "size": size,
        "power": f"{power}\n\nShares of {count} replications, with standard errors of up to "
        f"{50 / np.sqrt(count):.0f} points. 1000 rows in 10 columns take "
        f"{results['seconds_1000x10']:.2f} s.\n\n{ran(record, 'two_sample')}",
    }


if __name__ == "__main__":
    if (RECORDS / "detector.json").exists():
        figure(read("detector")["results"])
    fill_in(HERE / "trust.md", detector() | two_sample())
