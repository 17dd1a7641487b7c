"""What the runs of the benchmark of mutual information amount to, and how it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from _information_runs import METHODS
from _record import console, table, verdict

Found = dict[str, Any]
# Mean absolute errors at 2, 5 and 10 nats of the best methods of the public benchmark mutinfo.
PUBLISHED = {
    "normal": (0.02, 0.30, 3.01),
    "uniform margins": (0.07, 0.58, 3.51),
    "Student": (0.03, 0.42, 3.19),
    "smoothed uniform": (0.07, 0.26, 3.45),
    "log-gamma-exponential": (0.02, 0.08, 1.07),
}
NATS = (2.0, 5.0, 10.0)
# Bars of coverage.
LOW, HIGH = 0.90, 0.98


def summary(results: list[Found]) -> list[Found]:
    """One line for each set and method."""
    out = []
    groups = dict.fromkeys(each["set"] for each in results)
    for group in groups:
        for method in METHODS:
            own = [each for each in results if each["set"] == group and each["method"] == method]
            if own:
                out.append({"set": group, "method": method, **scores(own)})
    return out


def scores(own: list[Found]) -> Found:
    """Errors, coverage and time of some runs; what failed covers nothing and has no error."""
    answered = [each for each in own if "failed" not in each]
    out: Found = {"runs": len(own), "failed": len(own) - len(answered)}
    out["coverage"] = sum(each["covered"] for each in answered) / len(own)
    if answered:
        worst = max(answered, key=lambda each: abs(each["error"]))
        out |= {
            "mean_error": float(np.mean([abs(each["error"]) for each in answered])),
            "worst_error": abs(worst["error"]),
            "worst_task": worst["task"],
            "one_sided": sum(each["one_sided"] for each in answered),
            "trusted": sum(each["trusted"] for each in answered),
            "wrong": sum(each["wrong"] for each in answered),
            "seconds": float(np.mean([each["seconds"] for each in answered])),
        }
    return out


def by_family(results: list[Found], method: str) -> list[Found]:
    """Mean absolute errors of the families at 2, 5 and 10 nats, beside the best published."""
    own = [
        each
        for each in results
        if each["set"] == "families" and each["method"] == method and "failed" not in each
    ]
    out = []
    for family, published in PUBLISHED.items():
        for nats, best in zip(NATS, published, strict=True):
            errors = [
                abs(each["error"])
                for each in own
                if each["task"].startswith(family) and each["truth"] == nats
            ]
            if errors:
                mean = float(np.mean(errors))
                line = {"family": family, "nats": nats, "runs": len(errors)}
                out.append({**line, "mean_error": mean, "published": best})
    return out


def plain_name(name: str) -> str:
    """The name of a task without its set, and without the rows that it has elsewhere."""
    return re.sub(r", \d+ rows$", "", name.split("/", 1)[-1])


def coverage_of(own: list[Found]) -> Found:
    """What the replications of one setting amount to."""
    answered = [each for each in own if "failed" not in each]
    errors = np.array([each["error"] for each in answered])
    closed = [each["high"] - each["low"] for each in answered if "high" in each]
    share = sum(each["covered"] for each in answered) / len(own)
    truth = own[0]["truth"]
    out: Found = {key: own[0][key] for key in ("set", "rows", "truth")}
    out["task"] = plain_name(own[0]["task"])
    out |= {
        "replications": len(own),
        "failed": len(own) - len(answered),
        "cover": share,
        "cover_error": float(np.sqrt(max(share * (1 - share), 1e-9) / len(own))),
        # No interval goes below zero, so that one around nothing cannot miss it from above.
        "met": bool(share >= LOW and (truth == 0.0 or share <= HIGH)),
        "below": sum(each.get("high", np.inf) < truth for each in answered) / len(own),
        "above": sum(each["low"] > truth for each in answered) / len(own),
        "one_sided": sum(each["one_sided"] for each in answered) / len(own),
        "trusted": sum(each["trusted"] for each in answered) / len(own),
        "bias": float(errors.mean()),
        "sd": float(errors.std()),
        "seconds": float(np.mean([each["seconds"] for each in answered])),
    }
    if closed:
        out["width"] = float(np.median(closed))
    return out


def show(record: Found, every: bool = False) -> None:
    """Tables of all parts that a record has."""
    if record.get("results"):
        show_summary(record["summary"])
        show_families(record["families"])
        show_answers(record["results"], every)
    if record.get("least"):
        show_least(record["least"])
    if record.get("coverage"):
        show_coverage(record["coverage"])


def short(name: str, most: int) -> str:
    """A name that leaves room for the numbers."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def show_summary(lines: Iterable[Found]) -> None:
    heads = ("runs", "failed", "mean |error|", "worst", "covered", "one-sided", "wrong", "s")
    caption = "wrong: trusted, and off by more than 20 % and .05 nats"
    shown = table("Sets and methods", "<set", "<method", *heads, "<worst task", caption=caption)
    for each in lines:
        cells = [each["set"], each["method"], str(each["runs"]), str(each["failed"])]
        if "mean_error" in each:
            cells += [f"{each['mean_error']:.3f}", f"{each['worst_error']:.3f}"]
            cells += [f"{each['coverage']:.0%}", str(each["one_sided"]), str(each["wrong"])]
            cells += [f"{each['seconds']:.1f}", short(each["worst_task"], 24)]
        shown.add_row(*cells)
    console.print(shown)


def show_families(lines: list[Found]) -> None:
    if not lines:
        return
    heads = ("nats", "runs", "mean |error|", "published", "not behind")
    shown = table("Families, method auto", "<family", *heads)
    for each in lines:
        shown.add_row(
            each["family"], f"{each['nats']:g}", str(each["runs"]), f"{each['mean_error']:.3f}",
            f"{each['published']:.2f}", verdict(each["mean_error"] <= each["published"]),
        )  # fmt: skip
    console.print(shown)


def show_answers(results: list[Found], every: bool) -> None:
    """Answers of the default: all, or those that failed, miss the truth or have no upper end."""
    own = [each for each in results if each["method"] == "auto"]
    kept = [each for each in own if every or not each.get("covered") or each["one_sided"]]
    title = "Answers of auto" if every else "Answers of auto that miss, or have no upper end"
    heads = ("seed", "truth", "value", "low", "high", "s")
    shown = table(title, "<set", "<task", *heads, "<covered", "<trusted", "<ratio")
    for each in kept:
        cells = [each["set"], short(each["task"], 36), str(each["seed"]), f"{each['truth']:.3f}"]
        if "failed" in each:
            shown.add_row(*cells, "", "", "", "", "[red]failed[/]", "", each["failed"][:50])
            continue
        high = f"{each['high']:.3f}" if "high" in each else "inf"
        cells += [f"{each['value']:.3f}", f"{each['low']:.3f}", high, f"{each['seconds']:.1f}"]
        cells += [verdict(each["covered"]), "yes" if each["trusted"] else "no", each["ratio"]]
        shown.add_row(*cells)
    console.print(shown)


def show_least(lines: list[Found]) -> None:
    methods = [name for name in METHODS if any(each["method"] == name for each in lines)]
    title = "Least rows from which on the mean over seeds is within a factor of 1.5"
    shown = table(title, "<set", "<task", "truth", *methods)
    for group, name in dict.fromkeys((each["set"], each["task"]) for each in lines):
        row = {e["method"]: e for e in lines if (e["set"], e["task"]) == (group, name)}
        truth = next(iter(row.values()))["truth"]
        cells = [str(row[m].get("least", "none")) if m in row else "" for m in methods]
        shown.add_row(group, name, f"{truth:.3f}", *cells)
    console.print(shown)


def show_coverage(lines: list[Found]) -> None:
    heads = ("rows", "truth", "cover", "ok", "below", "above", "open")
    caption = "below, above: of the truth; open: without an upper end"
    shown = table(
        "Coverage of 95 % intervals", "<set", "<task", *heads, "bias", "sd", "width", "s",
        caption=caption,
    )  # fmt: skip
    for each in lines:
        shown.add_row(
            each["set"], short(each["task"], 22), str(each["rows"]), f"{each['truth']:.3f}",
            f"{each['cover']:.1%}", verdict(each["met"]), f"{each['below']:.0%}",
            f"{each['above']:.0%}", f"{each['one_sided']:.0%}",
            f"{each['bias']:+.3f}", f"{each['sd']:.3f}", f"{each.get('width', np.inf):.3f}",
            f"{each['seconds']:.1f}",
        )  # fmt: skip
    console.print(shown)
