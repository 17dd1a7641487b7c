"""Write the measured table of docs/neural.md from the record of benchmarks/neural.py.

python docs/make_neural.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
RECORD = DOCS.parent / "benchmarks" / "records" / "neural.json"
PAGE = DOCS / "neural.md"
MARKS = re.compile(r"(<!-- measured -->\n).*?(<!-- end -->)", re.DOTALL)

PARTS = {
    "auto": "defaults of `compare`",
    "residual": "on normal anchors",
    "mixing": "mixed classes, K = 1",
    "throughput": "throughput",
}


def rows(record: dict[str, Any]) -> str:
    """The table, one line for each problem and method."""
    count, ratio = record["settings"]["rows"], record["goals"]["ratio"]
    out = [
        f"{count:,} rows of each side, {record['settings']['seeds']} seed(s); the goal is "
        f"{record['goals']['percent']:g} %, and {ratio:.0%} of the bare loop's steps.",
        "",
        "| what | problem | critic | truth | found | error | goal |",
        "|---|---|---|---|---|---|---|",
    ]
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
        out.append(f"| {' | '.join([PARTS[line['part']], *cells, goal])} |")
    return "\n".join(out) + "\n"


def main() -> None:
    """Put the table between the marks of the page."""
    record = json.loads(RECORD.read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    PAGE.write_text(MARKS.sub(lambda m: m[1] + rows(record) + m[2], page), "utf-8")


if __name__ == "__main__":
    main()
