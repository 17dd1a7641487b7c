"""Fill in the tables of ``docs/how_to/drift.md`` from the record of a benchmark.

    python docs/make_drift.py

Nothing is measured here: the record comes from ``benchmarks/drift.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from _fill import fill_in, markdown

HERE = Path(__file__).parent
PAGE = HERE / "how_to" / "drift.md"
RECORD = HERE.parent / "benchmarks" / "records" / "drift.json"


def measured(results: dict[str, Any]) -> str:
    """Alarms without drift, what is found, and what it costs."""
    quiet, power, speed = results["false_alarms"], results.get("power", {}), results["speed"]
    rows = [
        [f"{one['level']:.4g}", f"{one['expected']:.1f}", str(one["alarms"])]
        for one in quiet["levels"]
    ]
    found = " and ".join(
        f"{100 * power[kind]['found']:.0f} % ({power[kind]['replications']} replications; {what})"
        for kind, what in (
            ("mean", "a mean moved by 0.2 standard deviations"),
            ("correlation", "a correlation of 0.2 where there was none"),
        )
        if kind in power
    )
    told = f"Of drift in one of 15 columns, or in two, the first two windows find {found}. "
    cost = f"{speed['windows']} windows of {speed['rows']:,} rows and {speed['columns']} columns "
    cost += f"take {speed['seconds']:.0f} s of processor time"
    if "ratio" in speed:
        cost += f", {speed['ratio']:.1f} times what evidently's tests of single columns take"
    head = ["threshold", "alarms expected", "alarms"]
    return (
        f"Without drift, {quiet['replications']} windows of {quiet['rows']:,} rows, each with a "
        f"reference of its own:\n\n{markdown(head, rows)}\n\n{told if found else ''}{cost}.\n"
    )


def main() -> None:
    """Fill in the page."""
    fill_in(PAGE, {"measured": measured(json.loads(RECORD.read_text("utf-8"))["results"])})


if __name__ == "__main__":
    main()
