"""Fill in the table of ``docs/how_to/covariate_shift.md`` from the record of a benchmark.

    python docs/make_shifted.py

Nothing is measured here: the record comes from ``benchmarks/conformal.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from _fill import fill_in, markdown

HERE = Path(__file__).parent
PAGE = HERE / "how_to" / "covariate_shift.md"
RECORD = HERE.parent / "benchmarks" / "records" / "conformal.json"
WAYS = ("plain", "logistic odds", "isthmus", "truth")


def coverage(record: dict[str, Any]) -> str:
    """The table: mean coverage of every way, with its standard error, and what was told of it."""
    rows = [
        [
            one["about"].rstrip("."),
            *(f"{100 * one[w]['coverage']:.1f} ± {100 * one[w]['std_error']:.1f}" for w in WAYS),
            f"{one['effective_rows']:.0f}",
            f"{one['loss']:.3f}",
            f"{one['true_loss']:.3f}",
        ]
        for one in record["results"]
    ]
    head = ["table and target", *WAYS, "effective rows", "`coverage_loss_`", "with the true ratio"]
    return f"{markdown(head, rows)}\n"


def main() -> None:
    """Fill in the page."""
    fill_in(PAGE, {"conformal": coverage(json.loads(RECORD.read_text("utf-8")))})


if __name__ == "__main__":
    main()
