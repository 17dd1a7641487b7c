"""Fill the tables of the documentation in from the records of the benchmarks.

    python docs/make_tables.py

Nothing is run: what stands between the marks of a page is made of ``benchmarks/records``. A table
whose record is not there says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _fill import fill_in, markdown

HERE = Path(__file__).parent
RECORDS = HERE.parent / "benchmarks" / "records"
MISSING = "No record of this is there yet: `python benchmarks/{}.py` makes it."
Record = dict[str, Any]


def percent(value: float) -> str:
    """A share in per cent."""
    return f"{100 * value:.1f} %"


def coverage(record: Record) -> str:
    """Coverage of the default interval."""
    found = record.get("results") or record["cells"]
    head = ["problem", "rows", "truth", "cover", "90–98 %", "below", "above", "bias", "sd", "s.e."]
    rows = [
        [
            *(cell["cell"], f"{cell['rows']:,}", f"{cell['truth']:.2f}", percent(cell["cover"])),
            "yes" if cell["met"] else "no",
            *(percent(cell[key]) for key in ("below", "above")),
            *(f"{cell[key]:.3g}" for key in ("bias", "sd", "std_error")),
            f"{cell['width_over_limit']:.2f}" if cell.get("width_over_limit") else "",
        ]
        for cell in found
    ]
    count = found[0]["replications"]
    return markdown([*head, "width / limit"], rows) + f"\n\n{count} replications of each."


def kernel(record: Record) -> str:
    """Speed and agreement of the kernel methods with densratio and adapt."""
    head = [
        "method",
        "columns",
        "settings",
        "ours, s",
        "theirs, s",
        "ratio",
        "of CPU",
        "difference",
    ]
    rows = []
    for group in ("least_squares", "kliep"):
        for line in record["results"][group]:
            if "theirs" not in line:
                continue
            rows.append(
                [
                    *(line.get("method", "KLIEP"), str(line["dim"]), line["settings"]),
                    *(f"{line[who]['seconds']:.3f}" for who in ("ours", "theirs")),
                    *(f"{line[key]:.0f}" for key in ("ratio", "cpu_ratio")),
                    f"{line['difference']:.1e}",
                ]
            )
    peers = ", ".join(f"{name} {version}" for name, version in record["peers"].items())
    size = record["settings"]["rows"]
    return markdown(head, rows) + f"\n\n{size:,} rows of each sample; {peers}; one thread."


def convex(record: Record) -> str:
    """TRE and its like on TRE's task."""
    head = ["columns", "truth", "rows", "method", "KL", "published", "RMSE of log p/q", "CPU s"]
    rows = []
    for line in record["results"]["tre"]:
        paper = record["published"].get(str(line["dim"])) if line["method"] == "TRE" else None
        rows.append(
            [
                *(str(line["dim"]), f"{line['truth']:.0f}", f"{line['rows']:,}", line["method"]),
                f"{line['kl']:.2f}",
                f"{paper['tre']:.2f}" if paper else "",
                *(f"{line['rmse']:.2f}", f"{line['cpu_seconds']:.0f}"),
            ]
        )
    return markdown(head, rows)


def exponential(record: Record) -> str:
    """Exponential NCE on its authors' task."""
    lines = record["results"]["samples"]
    numbers = ("truth", "kl", "spread", "cpu_seconds")
    rows = [[line["method"], *(f"{line[key]:.2f}" for key in numbers)] for line in lines]
    return markdown(["method", "truth", "KL", "spread", "CPU s"], rows)


def flows(record: Record) -> str:
    """F-DRE and DRE-infinity on their authors' tasks."""
    names = {"fdre": "F-DRE", "infinity": "DRE-∞"}
    rows = [
        [
            f"{names[part]}, {line['method']}",
            *(str(line["dim"]), f"{line['rows']:,}", f"{line['truth']:.2f}"),
            f"{line['mean']:.2f}" + (f" ± {line['sd']:.2f}" if len(record["seeds"]) > 1 else ""),
            ", ".join(f"{value:g}" for value in line["published"]),
            f"{line['seconds']:.0f}",
        ]
        for part, lines in record["results"].items()
        for line in lines
    ]
    return markdown(["method", "columns", "rows", "truth", "ours", "published", "CPU s"], rows)


def pointwise(record: Record) -> str:
    """Error of log p/q at single rows, by method and KL."""
    kls = list(dict.fromkeys(line["kl"] for line in record["results"]))
    names = list(dict.fromkeys(line["method"] for line in record["results"]))
    rows = []
    for name in names:
        mine = {line["kl"]: line for line in record["results"] if line["method"] == name}
        cells = [" / ".join(f"{mine[kl][kind]:.2f}" for kind in ("p", "q", "midway")) for kl in kls]
        seconds = sum(line["seconds"] for line in mine.values()) / len(mine)
        rows.append([name, *cells, f"{seconds:.1f}"])
    for name in dict.fromkeys(line["method"] for line in record["published"]):
        theirs = {
            line["kl"]: line["value"] for line in record["published"] if line["method"] == name
        }
        rows.append([f"{name}, published", *(f"{theirs[kl]:.2f}" for kl in kls), ""])
    return markdown(["method", *(f"KL {kl:g}" for kl in kls), "CPU s"], rows)


def neural(record: Record) -> str:
    """NNBD's task, with known ratios and with images."""
    known = {
        (line["loss"], line["correction"], line["way"]): line
        for line in record["results"]["mixture"]
    }
    rows = []
    for line in record["results"]["classes"]:
        beside = known[line["loss"], line["correction"], line["way"]]
        rows.append(
            [
                f"{line['loss']}{'' if line['correction'] else ', uncorrected'}, {line['way']}",
                f"{line['value']:.3f} ± {line['sd']:.3f}",
                f"{beside['value']:.3f} ± {beside['sd']:.3f} of {beside['variance']:.2f}",
            ]
        )
    return markdown(["loss and training", "AUROC, digits", "mean squared error, 10-d"], rows)


def information(record: Record) -> str:
    """InfoNCE on correlated normals."""
    rows = [
        [
            f"{line['critic']}, batches of {line['batch']}",
            *(f"{line[key]:.2f}" for key in ("information", "value", "cap")),
        ]
        for line in record["results"]["info"]
    ]
    return markdown(["critic", "truth", "InfoNCE", "its cap"], rows)


PAGES: dict[str, dict[str, tuple[str, Callable[[Record], str]]]] = {
    "rivals.md": {
        "kernel": ("rival_kernel", kernel),
        "convex": ("rival_convex", convex),
        "exponential": ("rival_convex", exponential),
        "flows": ("rival_flows", flows),
        "pointwise": ("pointwise", pointwise),
        "neural": ("rival_neural", neural),
        "information": ("rival_neural", information),
    },
    "trust.md": {"coverage": ("interval_coverage", coverage)},
}


def block(name: str, make: Callable[[Record], str]) -> str:
    """A table, or a sentence that says that its record is missing."""
    path = RECORDS / f"{name}.json"
    if not path.exists():
        return MISSING.format(name)
    return make(json.loads(path.read_text("utf-8")))


def main() -> None:
    """Fill every page in."""
    for page, blocks in PAGES.items():
        made = {mark: block(name, make) for mark, (name, make) in blocks.items()}
        fill_in(HERE / page, made)


if __name__ == "__main__":
    main()
