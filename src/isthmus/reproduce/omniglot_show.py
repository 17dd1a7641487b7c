"""Tables, sentences and figures of the experiment on SpatialMultiOmniglot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import draw
from .record import Fields
from .results import distinct, mean, select, values
from .show import Table, duration

# Read off the paper's figures; mutual information and accuracy in per cent.
PAPER: dict[str, dict[int, tuple[float, float]]] = {
    "mdre": {4: (15.34, 100.0), 9: (34.46, 99.98)},
    "tre": {4: (14.60, 91.0), 9: (32.02, 85.0)},
    "single": {4: (7.68, 53.5), 9: (6.23, 24.1)},
    "mdre-1": {4: (10.66, 86.7)},
}
PAPER_TRUTH = {4: 15.68, 9: 34.43}
_PAPER_LABELS = {
    "mdre": "MDRE, K = d − 1",
    "tre": "TRE",
    "single": "single ratio",
    "mdre-1": "MDRE, K = 1",
}
_MAIN = {"single": "single ratio", "infonce": "InfoNCE", "tre": "TRE", "mdre": "MDRE"}
_ENCODERS = {"mdre": "two encoders", "mdre-one": "one encoder"}
_COLORS = {
    "single": "#e69f00",
    "infonce": "#228833",
    "tre": "#56b4e9",
    "mdre": "#cc79a7",
    "mdre-one": "#882255",
}
_KS = {"mdre-1": "K = 1", "mdre": "K = d − 1"}
# The paper's rule for the accuracy of every class, in per cent.
BAND = (50.0, 95.0)


def result_table(results: list[Fields], split: str, labels: Mapping[str, str]) -> Table:
    """Mutual information and accuracy of every method, for every number of cells."""
    mine = select(results, split=split)
    truths = {d: select(mine, d=d)[0]["truth"] for d in sorted(distinct(mine, "d"))}
    found = {}
    for method, label in labels.items():
        those = {d: select(mine, d=d, method=method) for d in truths}
        if any(those.values()):
            found[label] = {
                d: (mean(own, "mi"), 100 * mean(own, "accuracy"), f" ± {_error(own):.2f}")
                for d, own in those.items()
                if own
            }
    several = {d: len(distinct(select(mine, d=d), "seed")) for d in truths}
    seeds = ", ".join(f"{n} seed{'s' * (n > 1)} at d = {d}" for d, n in several.items())
    what = "shared between training and test" if split == "published" else "of hands held out"
    note = (
        "Nats, on fresh pairs; ± is the standard error over pairs for the critic as trained. "
        "The probe is the share of characters that a linear discriminant reads off g(u), "
        "over all cells. Over several seeds ± is the standard error of their mean."
    )
    title = f"The {split} split: drawings {what}; up to {seeds}"
    return _table(title, truths, found, note)


def paper_table() -> Table:
    """What the paper's figures show."""
    note = (
        "Read off the figures. The alphabets are the largest of the whole background set, and the "
        "encoders see whole grids."
    )
    found = {
        label: {d: (*told, "") for d, told in PAPER[method].items()}
        for method, label in _PAPER_LABELS.items()
    }
    return _table("The paper, on its split", PAPER_TRUTH, found, note)


def beside_tre(results: list[Fields]) -> str:
    """The first sentences of the page: whether MDRE's representations are better than TRE's."""
    told, behind = [], False
    for split, d in _places(results):
        mine = select(results, split=split, d=d)
        ours, theirs = (select(mine, method=name) for name in ("mdre", "tre"))
        if ours and theirs:
            a, b = (mean(those, "accuracy") for those in (ours, theirs))
            # What the characters of all pairs that were probed leave open, twice.
            spread = 2 * np.hypot(_probe_error(ours), _probe_error(theirs))
            behind = behind or b > a - spread
            found = "as good" if abs(a - b) <= spread else "better" if a > b else "worse"
            told.append(f"{found} at d = {d}, {split} split ({100 * a:.2f} and {100 * b:.2f} %)")
    if not told:
        return ""
    first = "The probe of MDRE beside that of TRE is "
    if behind:
        first = "TRE's representation is as good as MDRE's, or better, in some of these runs: the"
        first += " probe of MDRE beside that of TRE is "
    return f"{first}{_listed(told)}."


def _listed(told: list[str]) -> str:
    return ", ".join(told[:-1]) + f" and {told[-1]}" if len(told) > 1 else told[0]


def _probe_error(those: list[Fields]) -> float:
    """Standard error of the mean accuracy, over seeds or over the characters that were read."""
    shares = values(those, "accuracy")
    read = sum(len(each["probe"]) * each["probed"] for each in those)
    share = float(np.mean(shares))
    chance = np.sqrt(max(share * (1 - share), 1e-6) / read)
    between = np.std(shares, ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else 0.0
    return float(max(chance, between))


def _places(results: list[Fields]) -> list[tuple[str, int]]:
    """Splits and numbers of cells, the published split first."""
    found = {(each["split"], each["d"]) for each in results}
    return sorted(found, key=lambda place: (place[0] != "published", place[1]))


def class_table(results: list[Fields], labels: Mapping[str, str]) -> Table:
    """Accuracy of MDRE on every class beside the paper's band, and what ideal critics have."""
    low, high = BAND
    rows = []
    for split, d in _places(results):
        for method, label in labels.items():
            those = select(results, split=split, d=d, method=method)
            if not those or "q" not in those[0]["classes"]:
                continue
            shares = {
                name: 100 * float(np.mean([each["classes"][name] for each in those]))
                for name in those[0]["classes"]
            }
            inner = [share for name, share in shares.items() if name not in ("p", "q")]
            within = sum(low <= share <= high for share in shares.values())
            rows.append([f"{label}, {split} split", str(d), f"{shares['p']:.1f}"])
            rows[-1] += [f"{min(inner):.1f} to {max(inner):.1f}", f"{shares['q']:.1f}"]
            rows[-1] += [f"{within} of {len(shares)}"]
    columns = ["method", "d", "p", "auxiliaries", "q", f"in {low:.0f} to {high:.0f} %"]
    note = (
        "Per cent of held-out rows, at the step that was kept and before scale and shift; mean "
        "over seeds. The last column counts classes in the paper's band."
    )
    return Table("Accuracy of every class", columns, rows, [note])


def about_the_band(results: list[Fields]) -> list[str]:
    """What accuracy the best critics would have on the classes of nested mixing."""
    sizes = [each["sizes"] for each in select(results, method="mdre", split="published")]
    if not sizes:
        return []
    shares = [100 * (1 - 1 / size) for size in min(sizes, key=len)]
    return [
        "A row of class k is a row of class k − 1, and counted wrong, where cell k was given the "
        "character that it had, one time in l_k. The exact critics therefore have an accuracy "
        "of 100 % on p and of 1 − 1/l_k on class k: at "
        f"d = {len(shares)} {', '.join(f'{share:.1f}' for share in shares)} %. "
        "With alphabets of more than 20 characters the paper's band of 50 to 95 % is met only by "
        "critics that are not exact."
    ]


def _table(
    title: str,
    truths: Mapping[int, float],
    found: Mapping[str, Mapping[int, tuple[float, float, str]]],
    note: str,
) -> Table:
    """Three columns for each number of cells, of an estimate, a probe's accuracy and an error."""
    columns, rows = ["method"], [["truth"]]
    for d, truth in truths.items():
        columns += [f"d = {d}: I(u, v)", "of the truth", "probe"]
        rows[0] += [f"{truth:.2f}", "", ""]
    for label, by_size in found.items():
        rows.append([label])
        for d, truth in truths.items():
            told = ["", "", ""]
            if d in by_size:
                value, share, error = by_size[d]
                told = [f"{value:.2f}{error}", f"{100 * value / truth:.1f} %", f"{share:.2f} %"]
            rows[-1] += told
    return Table(title, columns, rows, [note])


def _error(those: list[Fields]) -> float:
    """Standard error of the mean over seeds, or of the only one over its pairs."""
    if len(those) == 1:
        return float(those[0]["mi_error"])
    return float(np.std(values(those, "mi"), ddof=1) / np.sqrt(len(those)))


def by_method(results: list[Fields], labels: Mapping[str, str]) -> list[str]:
    """How far each method's mutual information is from the truth."""
    out = []
    for split in ("published", "honest"):
        for d in sorted(distinct(select(results, split=split), "d")):
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
    apart = ("mdre-whole",)
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
                f"{duration(each['cpu_seconds'])} of one core. {_curves(each['history'])}"
            )
    if any(each["data"] == "omniglot" for each in results):
        out.append(
            "The truth differs from the paper's, since the alphabets are those of the two small "
            "background sets, which are used again where there are fewer than d."
        )
    return out


def _curves(history: Mapping[str, list[float]]) -> str:
    """Training loss and held-out loss on the way: whether more steps would help."""
    last = len(history["step"]) - 1
    looks = sorted({last // 4, last // 2, 3 * last // 4, last})
    told = ", ".join(f"{history['loss'][i]:.2f} and {history['held_out'][i]:.2f}" for i in looks)
    steps = ", ".join(f"{history['step'][i]:,.0f}" for i in looks)
    return f"Training loss and held-out loss after {steps} steps: {told}."


def main_figure(results: list[Fields]) -> draw.Figure:
    """Mutual information, accuracy, and both against K: one row of panels for each split."""
    splits = [s for s in ("published", "honest") if select(results, split=s)]
    figure, axes = draw.panels(len(splits), 3, height=2.6)
    draw.legend(figure, {**_legend(_MAIN), "truth": draw.TRUTH}, columns=5)
    for row, split in zip(axes, splits, strict=True):
        mine = select(results, split=split)
        sizes = sorted({e["d"] for e in mine if e["method"] in _MAIN})
        _mi_and_accuracy(row[:2], mine, sizes, _MAIN, split)
        _by_k(row[2], select(mine, d=4))
        draw.heading(row[2], "I(u, v) by K, d = 4")
    return figure


def appendix_figure(results: list[Fields]) -> draw.Figure:
    """Two encoders and one: mutual information and accuracy."""
    figure, axes = draw.panels(1, 2, height=2.6)
    mine = select(results, split="published")
    sizes = [set(distinct(select(mine, method=name), "d")) for name in _ENCODERS]
    draw.legend(figure, {**_legend(_ENCODERS), "truth": draw.TRUTH})
    _mi_and_accuracy(axes[0], mine, sorted(sizes[0] & sizes[1]), _ENCODERS, "published")
    return figure


def _legend(methods: Mapping[str, str]) -> dict[str, Any]:
    return {label: _COLORS[name] for name, label in methods.items()}


def _mi_and_accuracy(
    panels: Any, results: list[Fields], sizes: list[int], methods: Mapping[str, str], split: str
) -> None:
    """For each number of cells a bar for each method: mutual information beside accuracy."""
    width = 0.8 / len(methods)
    for panel, field, unit in zip(panels, ("mi", "accuracy"), (1.0, 100.0), strict=True):
        for i, name in enumerate(methods):
            for place, d in enumerate(sizes):
                those = select(results, d=d, method=name)
                if those:
                    at, height = place + (i + 0.5) * width - 0.4, unit * mean(those, field)
                    panel.bar(at, height, width * 0.92, color=_COLORS[name], zorder=2)
        panel.set_xticks(range(len(sizes)), [f"d = {d}" for d in sizes])
    left, right = panels
    for place, d in enumerate(sizes):
        truth = select(results, d=d)[0]["truth"]
        ends = [place - 0.45, place + 0.45]
        left.plot(ends, [truth] * 2, color=draw.TRUTH, linewidth=4, zorder=1)
    right.set_ylim(0, 104)
    draw.heading(left, f"I(u, v), {split} split")
    draw.heading(right, "accuracy of the probe, %")


def _by_k(axes: Any, results: list[Fields]) -> None:
    there = [name for name in _KS if select(results, method=name)]
    for place, name in enumerate(there):
        those = select(results, method=name)
        axes.bar(place, mean(those, "mi"), 0.6, color=_COLORS["mdre"], zorder=2)
        share = f"{100 * mean(those, 'accuracy'):.1f} %"
        draw.annotate(axes, share, (place, 0.0), (0, 4), ha="center", fontsize=8.5)
    axes.set_xticks(range(len(there)), [_KS[name] for name in there])
    if results:
        truth = results[0]["truth"]
        axes.plot([-0.5, max(len(there) - 0.5, 0.5)], [truth] * 2, color=draw.TRUTH, linewidth=4)
