"""Figures of the experiment on SpatialMultiOmniglot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import draw as _draw
from .omniglot_tables import mean, of
from .record import Found

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAIN = {"single": "single ratio", "infonce": "InfoNCE", "tre": "TRE", "mdre": "MDRE"}
_COLORS = {"single": "#e69f00", "infonce": "#228833", "tre": "#56b4e9", "mdre": "#cc79a7"}
_ENCODERS = {"mdre": ("two encoders", "#cc79a7"), "mdre-one": ("one encoder", "#882255")}
_KS = {"mdre-1": "K = 1", "mdre": "K = d − 1"}


def main_figure(results: list[Found]) -> Figure:
    """Mutual information, accuracy, and both against K: one row of panels for each split."""
    splits = [s for s in ("published", "honest") if of(results, split=s)]
    figure, axes = _draw.panels(len(splits), 3, height=2.6)
    entries: dict[str, Any] = {label: _COLORS[name] for name, label in _MAIN.items()}
    _draw.legend(figure, entries | {"truth": _draw.TRUTH}, columns=5)
    for row, split in zip(axes, splits, strict=True):
        mine = of(results, split=split)
        sizes = sorted({e["d"] for e in mine if e["method"] in _MAIN})
        _bars(row[0], mine, sizes, "mi", 1.0, _MAIN, _COLORS)
        _truths(row[0], mine, sizes)
        _bars(row[1], mine, sizes, "accuracy", 100.0, _MAIN, _COLORS)
        row[1].set_ylim(0, 104)
        _by_k(row[2], of(mine, d=4))
        _draw.heading(row[0], f"I(u, v), {split} split")
        _draw.heading(row[1], "accuracy of the probe, %")
        _draw.heading(row[2], "I(u, v) by K, d = 4")
    return figure


def appendix_figure(results: list[Found]) -> Figure:
    """Two encoders and one: mutual information and accuracy."""
    figure, axes = _draw.panels(1, 2, height=2.6)
    mine = of(results, split="published")
    both = {e["d"] for e in of(mine, method="mdre")} & {e["d"] for e in of(mine, method="mdre-one")}
    sizes = sorted(both)
    labels = {name: label for name, (label, _) in _ENCODERS.items()}
    colors = {name: color for name, (_, color) in _ENCODERS.items()}
    entries: dict[str, Any] = {labels[name]: colors[name] for name in labels}
    _draw.legend(figure, entries | {"truth": _draw.TRUTH})
    left, right = axes[0]
    _bars(left, mine, sizes, "mi", 1.0, labels, colors)
    _truths(left, mine, sizes)
    _bars(right, mine, sizes, "accuracy", 100.0, labels, colors)
    right.set_ylim(0, 104)
    _draw.heading(left, "I(u, v), published split")
    _draw.heading(right, "accuracy of the probe, %")
    return figure


def _bars(
    axes: Any,
    results: list[Found],
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
            those = of(results, d=d, method=name)
            if those:
                at = place + (i + 0.5) * width - 0.4
                axes.bar(at, unit * mean(those, key), width * 0.92, color=colors[name], zorder=2)
    axes.set_xticks(range(len(sizes)), [f"d = {d}" for d in sizes])


def _truths(axes: Any, results: list[Found], sizes: list[int]) -> None:
    for place, d in enumerate(sizes):
        truth = of(results, d=d)[0]["truth"]
        axes.plot(
            [place - 0.45, place + 0.45], [truth] * 2, color=_draw.TRUTH, linewidth=4, zorder=1
        )


def _by_k(axes: Any, results: list[Found]) -> None:
    there = [name for name in _KS if of(results, method=name)]
    for place, name in enumerate(there):
        those = of(results, method=name)
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
        axes.plot([-0.5, max(len(there) - 0.5, 0.5)], [truth] * 2, color=_draw.TRUTH, linewidth=4)
