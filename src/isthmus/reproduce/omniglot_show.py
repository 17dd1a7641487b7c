"""Tables, sentences and figures of the experiment on SpatialMultiOmniglot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import draw
from .record import Fields
from .results import mean, select
from .show import Table, duration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Read off the paper's figures; mutual information and accuracy in per cent.
PAPER: dict[str, dict[int, tuple[float, float]]] = {
    "mdre": {4: (15.34, 100.0), 9: (34.46, 99.98)},
    "tre": {4: (14.60, 91.0), 9: (32.02, 85.0)},
    "single": {4: (7.68, 53.5), 9: (6.23, 24.1)},
    "mdre-1": {4: (10.66, 86.7)},
}
PAPER_TRUTH = {4: 15.68, 9: 34.43}
_MAIN = {"single": "single ratio", "infonce": "InfoNCE", "tre": "TRE", "mdre": "MDRE"}
_COLORS = {"single": "#e69f00", "infonce": "#228833", "tre": "#56b4e9", "mdre": "#cc79a7"}
_ENCODERS = {"mdre": ("two encoders", "#cc79a7"), "mdre-one": ("one encoder", "#882255")}
_KS = {"mdre-1": "K = 1", "mdre": "K = d − 1"}


def result_table(results: list[Fields], split: str, labels: Mapping[str, str]) -> Table:
    """Mutual information and accuracy of every method, for every number of cells."""
    mine = select(results, split=split)
    sizes = sorted({each["d"] for each in mine})
    columns, rows = ["method"], [["truth"]]
    for d in sizes:
        truth = select(mine, d=d)[0]["truth"]
        columns += [f"d = {d}: I(u, v)", "of the truth", "probe"]
        rows[0] += [f"{truth:.2f}", "", ""]
    for method, label in labels.items():
        row = [label]
        for d in sizes:
            those = select(mine, d=d, method=method)
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


def _with_error(those: list[Fields]) -> str:
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


def by_method(results: list[Fields], labels: Mapping[str, str]) -> list[str]:
    """How far each method's mutual information is from the truth."""
    out = []
    for split in ("published", "honest"):
        for d in sorted({each["d"] for each in select(results, split=split)}):
            told = []
            for method, label in labels.items():
                those = select(results, split=split, d=d, method=method)
                if those:
                    missed = 100 * (mean(those, "mi") / those[0]["truth"] - 1)
                    told.append(f"{label} {missed:+.1f} %".replace("-", "−"))
            out.append(
                f"d = {d}, {split} split, distance of I(u, v) from the truth: {', '.join(told)}."
            )
    return out


def what_was_used(results: list[Fields], labels: Mapping[str, str]) -> list[str]:
    """Sizes and times."""
    out = []
    apart = ("mdre-whole", "mdre-conv")
    for split, d in sorted({(each["split"], each["d"]) for each in results}, reverse=True):
        those = [e for e in select(results, split=split, d=d) if e["method"] not in apart]
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


def main_figure(results: list[Fields]) -> Figure:
    """Mutual information, accuracy, and both against K: one row of panels for each split."""
    splits = [s for s in ("published", "honest") if select(results, split=s)]
    figure, axes = draw.panels(len(splits), 3, height=2.6)
    entries: dict[str, Any] = {label: _COLORS[name] for name, label in _MAIN.items()}
    draw.legend(figure, entries | {"truth": draw.TRUTH}, columns=5)
    for row, split in zip(axes, splits, strict=True):
        mine = select(results, split=split)
        sizes = sorted({e["d"] for e in mine if e["method"] in _MAIN})
        _bars(row[0], mine, sizes, "mi", 1.0, _MAIN, _COLORS)
        _truths(row[0], mine, sizes)
        _bars(row[1], mine, sizes, "accuracy", 100.0, _MAIN, _COLORS)
        row[1].set_ylim(0, 104)
        _by_k(row[2], select(mine, d=4))
        draw.heading(row[0], f"I(u, v), {split} split")
        draw.heading(row[1], "accuracy of the probe, %")
        draw.heading(row[2], "I(u, v) by K, d = 4")
    return figure


def appendix_figure(results: list[Fields]) -> Figure:
    """Two encoders and one: mutual information and accuracy."""
    figure, axes = draw.panels(1, 2, height=2.6)
    mine = select(results, split="published")
    both = {e["d"] for e in select(mine, method="mdre")} & {
        e["d"] for e in select(mine, method="mdre-one")
    }
    sizes = sorted(both)
    labels = {name: label for name, (label, _) in _ENCODERS.items()}
    colors = {name: color for name, (_, color) in _ENCODERS.items()}
    entries: dict[str, Any] = {labels[name]: colors[name] for name in labels}
    draw.legend(figure, entries | {"truth": draw.TRUTH})
    left, right = axes[0]
    _bars(left, mine, sizes, "mi", 1.0, labels, colors)
    _truths(left, mine, sizes)
    _bars(right, mine, sizes, "accuracy", 100.0, labels, colors)
    right.set_ylim(0, 104)
    draw.heading(left, "I(u, v), published split")
    draw.heading(right, "accuracy of the probe, %")
    return figure


def _bars(
    axes: Any,
    results: list[Fields],
    sizes: list[int],
    key: str,
    unit: float,
    labels: dict[str, str],
    colors: dict[str, str],
) -> None:
    """For each number of cells a bar for each method."""
    width = 0.8 / len(labels)
    for i, name in enumerate(labels):
        for place, d in enumerate(sizes):
            those = select(results, d=d, method=name)
            if those:
                at = place + (i + 0.5) * width - 0.4
                axes.bar(at, unit * mean(those, key), width * 0.92, color=colors[name], zorder=2)
    axes.set_xticks(range(len(sizes)), [f"d = {d}" for d in sizes])


def _truths(axes: Any, results: list[Fields], sizes: list[int]) -> None:
    for place, d in enumerate(sizes):
        truth = select(results, d=d)[0]["truth"]
        axes.plot(
            [place - 0.45, place + 0.45], [truth] * 2, color=draw.TRUTH, linewidth=4, zorder=1
        )


def _by_k(axes: Any, results: list[Fields]) -> None:
    there = [name for name in _KS if select(results, method=name)]
    for place, name in enumerate(there):
        those = select(results, method=name)
        value = mean(those, "mi")
        axes.bar(place, value, 0.6, color=_COLORS["mdre"], zorder=2)
        share = f"{100 * mean(those, 'accuracy'):.1f} %"
        axes.annotate(
            share,
            (place, 0.0),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
        )
    axes.set_xticks(range(len(there)), [_KS[name] for name in there])
    if results:
        truth = results[0]["truth"]
        axes.plot([-0.5, max(len(there) - 0.5, 0.5)], [truth] * 2, color=draw.TRUTH, linewidth=4)
