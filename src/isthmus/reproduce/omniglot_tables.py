"""Tables and sentences of the experiment on SpatialMultiOmniglot."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .record import Found
from .show import Table, duration

# Read off the paper's figures; mutual information and accuracy in per cent.
PAPER: dict[str, dict[int, tuple[float, float]]] = {
    "mdre": {4: (15.34, 100.0), 9: (34.46, 99.98)},
    "tre": {4: (14.60, 91.0), 9: (32.02, 85.0)},
    "single": {4: (7.68, 53.5), 9: (6.23, 24.1)},
    "mdre-1": {4: (10.66, 86.7)},
}
PAPER_TRUTH = {4: 15.68, 9: 34.43}


def of(results: list[Found], **wanted: object) -> list[Found]:
    """Results with these values."""
    return [e for e in results if all(e[key] == value for key, value in wanted.items())]


def mean(results: list[Found], key: str) -> float:
    """Mean over seeds."""
    return float(np.mean([each[key] for each in results]))


def result_table(results: list[Found], split: str, labels: Mapping[str, str]) -> Table:
    """Mutual information and accuracy of every method, for every number of cells."""
    mine = of(results, split=split)
    sizes = sorted({each["d"] for each in mine})
    columns, rows = ["method"], [["truth"]]
    for d in sizes:
        truth = of(mine, d=d)[0]["truth"]
        columns += [f"d = {d}: I(u, v)", "of the truth", "probe"]
        rows[0] += [f"{truth:.2f}", "", ""]
    for method, label in labels.items():
        row = [label]
        for d in sizes:
            those = of(mine, d=d, method=method)
            if not those:
                row += ["", "", ""]
                continue
            value, truth = mean(those, "mi"), those[0]["truth"]
            row += [_with_error(those), f"{100 * value / truth:.1f} %"]
            row += [f"{100 * mean(those, 'accuracy'):.2f} %"]
        if any(row[1:]):
            rows.append(row)
    seeds = len({each["seed"] for each in mine})
    what = "shared between training and test" if split == "published" else "of hands held out"
    note = (
        "Nats, on fresh pairs; ± is the standard error over pairs for the critic as trained. "
        "The probe is the share of characters that a linear classifier reads off g(u), "
        "over all cells."
    )
    title = f"The {split} split: drawings {what}, up to {seeds} seed{'s' * (seeds > 1)}"
    return Table(title, columns, rows, [note])


def _with_error(those: list[Found]) -> str:
    values = [each["mi"] for each in those]
    if len(values) > 1:
        error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    else:
        error = float(those[0]["mi_error"])
    return f"{np.mean(values):.2f} ± {error:.2f}"


def paper_table() -> Table:
    """What the paper's figures show."""
    names = {"mdre": "MDRE, K = d − 1", "tre": "TRE", "single": "single ratio"}
    names["mdre-1"] = "MDRE, K = 1"
    rows = [["truth", *(x for d in (4, 9) for x in (f"{PAPER_TRUTH[d]:.2f}", "", ""))]]
    for method, label in names.items():
        row = [label]
        for d in (4, 9):
            value, share = PAPER[method].get(d, (None, None))
            row += (
                ["", "", ""]
                if value is None or share is None
                else [f"{value:.2f}", f"{100 * value / PAPER_TRUTH[d]:.1f} %", f"{share:.2f} %"]
            )
        rows.append(row)
    columns = [
        "method",
        *(x for d in (4, 9) for x in (f"d = {d}: I(u, v)", "of the truth", "probe")),
    ]
    note = (
        "Read off the figures. The alphabets are the largest of the whole background set, and the "
        "encoders see whole grids."
    )
    return Table("The paper, on its split", columns, rows, [note])


def by_method(results: list[Found], labels: Mapping[str, str]) -> list[str]:
    """How far each method's mutual information is from the truth."""
    out = []
    for split in ("published", "honest"):
        for d in sorted({each["d"] for each in of(results, split=split)}):
            told = []
            for method, label in labels.items():
                those = of(results, split=split, d=d, method=method)
                if those:
                    missed = 100 * (mean(those, "mi") / those[0]["truth"] - 1)
                    told.append(f"{label} {missed:+.1f} %".replace("-", "−"))
            out.append(
                f"d = {d}, {split} split, distance of I(u, v) from the truth: {', '.join(told)}."
            )
    return out


def what_was_used(results: list[Found], labels: Mapping[str, str]) -> list[str]:
    """Sizes and times."""
    out = []
    apart = ("mdre-whole", "mdre-conv")
    for split, d in sorted({(each["split"], each["d"]) for each in results}, reverse=True):
        those = [e for e in of(results, split=split, d=d) if e["method"] not in apart]
        if not those:
            continue
        one, took = those[0], [each["cpu_seconds"] for each in those]
        seeds = len({each["seed"] for each in those})
        out.append(
            f"d = {d}, {split} split: alphabets of {', '.join(map(str, one['sizes']))} characters; "
            f"{one['steps']:,} steps with {one['images_per_step']:,} drawings encoded in each; "
            f"{seeds} seed{'s' * (seeds > 1)}; "
            f"{duration(min(took))} to {duration(max(took))} of one core for a method."
        )
    for each in results:
        if each["method"] in apart:
            out.append(
                f"{labels[each['method']]}, d = {each['d']}: {each['steps']:,} steps with "
                f"{each['images_per_step']:,} images encoded in each; "
                f"{duration(each['cpu_seconds'])} of one core."
            )
    if any(each["data"] == "omniglot" for each in results):
        out.append(
            "The truth differs from the paper's, since the alphabets are those of the two small "
            "background sets, which are used again where there are fewer than d."
        )
    return out
