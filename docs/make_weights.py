"""Fill in the tables of ``docs/how_to/weights.md`` from the record of a benchmark.

    python docs/make_weights.py

Nothing is measured here: the record comes from ``benchmarks/weights.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from _fill import fill_in, markdown

HERE = Path(__file__).parent
PAGE = HERE / "how_to" / "weights.md"
RECORD = HERE.parent / "benchmarks" / "records" / "weights.json"


def models(record: dict[str, Any]) -> str:
    """Errors of weighted models over those with logistic odds."""
    rows = [
        [
            one["shift"],
            one["model"],
            *(f"{one[way]:.3f}" for way in ("none", "isthmus", "true", "hep_ml")),
            f"{one['std_error']:.3f}",
            f"{one['cost']:.1f}",
        ]
        for one in record["results"]["models"]
    ]
    head = ["diamonds that are", "model", "no weights", "isthmus", "true ratio", "hep_ml"]
    return f"{markdown([*head, 'std. error', 'time over hep_ml'], rows)}\n"


def means(record: dict[str, Any]) -> str:
    """How often means of the trimmed source are those of held-out rows of the target."""
    rows = [
        [
            one["table"],
            f"{one['rows']:,}",
            one["population"],
            f"{100 * one['ratio']['within_two']:.0f} % of {one['ratio']['count']}",
            f"{one['ratio']['largest']:.1f}",
        ]
        for one in record["results"]["means"]
    ]
    head = ["table", "rows", "population that remains", "within two standard errors", "largest gap"]
    return f"{markdown(head, rows)}\n"


def main() -> None:
    """Fill in the page."""
    record = json.loads(RECORD.read_text("utf-8"))
    fill_in(PAGE, {"models": models(record), "means": means(record)})


if __name__ == "__main__":
    main()
