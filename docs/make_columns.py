"""Fill in the tables of matrices and scores of ``docs/mutual_information.md``.

    python docs/make_columns.py

Nothing is measured here: the record comes from ``benchmarks/mi_columns.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from _fill import fill_in, markdown

HERE = Path(__file__).parent
PAGE = HERE / "mutual_information.md"
RECORD = HERE.parent / "benchmarks" / "records" / "mi_columns.json"


def scores(record: dict[str, Any]) -> str:
    """Errors of scores by kind of column, beside scikit-learn's."""
    found = {
        (one["target"], one["kind"], one["method"] == "mi_scores"): one
        for one in record["results"]["scores"]
    }
    rows = []
    for target, kind in dict.fromkeys((target, kind) for target, kind, _ in found):
        own, other = (found[target, kind, ours] for ours in (True, False))
        rows.append([
            target,
            kind,
            f"{own['truth']:.3f}",
            f"{own['mean_error']:.4f}",
            f"{other['mean_error']:.4f}",
            f"{own['impossible']} / {other['impossible']}",
            f"{own['coverage']:.0%}".replace("%", " %"),
        ])  # fmt: skip
    head = ["y", "columns", "truth", "error", "scikit-learn's error", "impossible", "covered"]
    settings, times = record["settings"], {}
    for (target, _, ours), one in found.items():
        times.setdefault(target, {})[ours] = one["seconds"]
    told = "; ".join(
        f"with a {target} {each[True]:.0f} s against {each[False]:.0f} s of processor time"
        for target, each in times.items()
    )
    return (
        f"Scores of {settings['columns']:,} columns in {settings['rows']:,} rows, in nats, beside "
        f"`mutual_info_classif` and `mutual_info_regression` in one run: {told}. *Impossible* are "
        "scores above an entropy, ours and scikit-learn's; *covered* is the share of the intervals "
        f"of `mi_ranking` that hold the truth.\n\n{markdown(head, rows)}\n"
    )


def pairs(record: dict[str, Any]) -> str:
    """Intervals of real pairs beside what bins show."""
    rows = []
    for one in record["results"]["pairs"]:
        within = f"at least {one['low']:.3f}"
        if one["trusted"]:
            within = f"{one['low']:.3f} to {one['high']:.3f}"
        rows.append([
            f"{one['x']}, {one['y']}",
            f"{one['rows']:,}",
            f"{one['bound']:.3f} ± {one['bound_error']:.3f}",
            f"`{one['method']}`",
            f"{one['value']:.3f}",
            within,
            "yes" if one["holds"] else "no",
        ])  # fmt: skip
    head = ["pair", "rows", "bins show", "by", "value", "95 % interval", "not below the bins"]
    return (
        "Real columns, with ties: a table of 30 x 30 bins (fewer below 9,000 rows), less what "
        f"shuffled rows show, says at least how much they share.\n\n{markdown(head, rows)}\n"
    )


def blocks(record: dict[str, Any]) -> dict[str, str]:
    """Text by the name of its place."""
    made = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    source = (
        f"*`benchmarks/mi_columns.py`, {record['date'][:10]} ({made}). "
        "[Record](../benchmarks/records/mi_columns.json).*\n"
    )
    return {"columns": f"{scores(record)}\n{pairs(record)}\n{source}"}


def main() -> None:
    """Fill in the page."""
    fill_in(PAGE, blocks(json.loads(RECORD.read_text("utf-8"))))


if __name__ == "__main__":
    main()
