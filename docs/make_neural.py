"""Write the measured table of docs/neural.md from the record of benchmarks/neural.py.

python docs/make_neural.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from _fill import fill_in, markdown

DOCS = Path(__file__).parent
RECORD = DOCS.parent / "benchmarks" / "records" / "neural.json"

PARTS = {
    "auto": "defaults of `compare`",
    "residual": "on normal anchors",
    "mixing": "mixed classes, K = 1",
    "throughput": "throughput",
}


def rows(record: dict[str, Any]) -> str:
    """The table, one line for each problem and method."""
    count, ratio = record["settings"]["rows"], record["goals"]["ratio"]
    told = (
        f"{count:,} rows of each side, {record['settings']['seeds']} seed(s); the goal is "
        f"{record['goals']['percent']:g} %, and {ratio:.0%} of the bare loop's steps."
    )
    out = []
    for line in record["results"]:
        goal = {True: "met", False: "missed"}.get(line.get("goal"), "")
        if line["part"] == "throughput":
            cells = [f"{line['what']} columns", "mlp", "", f"{line['ratio']:.0%} of bare", ""]
        else:
            method = line["method"]
            if line["part"] == "auto":
                method = f"auto: {', '.join(line['chosen'])}"
            cells = [line["what"], method, f"{line['truth']:.3f}", f"{line['mean']:.3f}"]
            cells.append(f"{line['error_percent']:+.1f} %")
        out.append([PARTS[line["part"]], *cells, goal])
    head = ["what", "problem", "critic", "truth", "found", "error", "goal"]
    return f"{told}\n\n{markdown(head, out)}"


def main() -> None:
    """Put the table between the marks of the page."""
    record = json.loads(RECORD.read_text("utf-8"))
    fill_in(DOCS / "neural.md", {"measured": rows(record)})


if __name__ == "__main__":
    main()
