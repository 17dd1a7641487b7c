"""Fill in the tables of ``docs/accuracy.md`` and of the README from the records of benchmarks.

    python docs/make_accuracy.py [--any-code]

Nothing is measured here: the records come from ``benchmarks/wild.py`` and
``benchmarks/accuracy.py``. A table whose record is missing, or is of other code than the
package's, says so and has no numbers; with ``--any-code`` the record counts all the same,
for changes that touch words only.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _fill import fill_in, markdown

HERE = Path(__file__).parent
ROOT = HERE.parent
RECORDS = ROOT / "benchmarks" / "records"
MISSING = "No record of this is there yet: `python benchmarks/{}.py` makes it."
OLD = "The record of this is of other code: `python benchmarks/{}.py` makes it anew."
RIVALS = {
    "trees": "boosted trees",
    "ridge": "ridge",
    "neighbours": "neighbours",
    "normals": "two normals",
}
KINDS = {
    "tables": "Real tables that come with scikit-learn, thinned by known weights",
    "sparse": "A few columns of many differ",
    "edges": "Densities that end at edges",
    "curves": "Curves, waves and spreads",
    "counts": "Counts, levels and compositions",
    "chasms": "Samples that do not meet",
    "few rows": "Few rows",
    "nulls": "p = q",
}
BARS = {
    "within 10 %": "KL within 10 % of the truth",
    "within 20 %": "KL within 20 %",
    "intervals cover": "the interval holds the truth",
    "... those with two ends": "... of those with two ends",
    "... those without": "... of those without an upper end",
    "no upper end": "no upper end is given",
    "trusted, off by more than 20 %, truth outside": "trusted, off by more than 20 %, "
    "truth outside the interval",
    "within 5 %: trusted with two ends": "of answers within 5 %: trusted, with two ends",
    "tables: loss at most .01 (.03) above trees, ridge, nothing": "real tables: log-loss at most "
    "0.01 above the best of trees, ridge and nothing (0.03 below 100 rows)",
    "tables: loss below trees, ridge, nothing": "real tables: log-loss below all three",
    "all: loss at most .01 above the best rival": "log-loss at most 0.01 above the best rival",
    "nulls: lower end above zero": "p = q: lower end above zero",
    "at most 60 processor seconds": "at most 60 processor seconds",
    "failed": "runs that failed",
}
Record = dict[str, Any]


def measured(record: Record) -> str:
    """Where a table comes from."""
    told = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    name = record["benchmark"]
    return (
        f"*`benchmarks/{name}.py` on {record['date'][:10]} ({told}; code {record['code']}). "
        f"[Record](../benchmarks/records/{name}.json).*"
    )


def bars(record: Record) -> str:
    """What was found of every bar, with its goal."""
    rows = []
    for each in record["summary"]:
        goal = each.get("goal", "").replace(">=", "at least").replace("<=", "at most")
        goal = (
            goal.replace("%", " %").replace("at least 100 %", "all").replace("at most 0 %", "none")
        )
        met = {True: "yes", False: "**no**"}.get(each.get("met"), "")
        name = BARS.get(each["bar"], each["bar"])
        rows.append([name, f"{100 * each['share']:.0f} %", str(each["of"]), goal, met])
    return markdown(["of the runs", "share", "of", "goal", "met"], rows) + f"\n\n{measured(record)}"


def by_kind(record: Record) -> str:
    """One line for every kind: errors, intervals, trust and log-loss beside the rivals."""
    rows = []
    for kind in dict.fromkeys(r["kind"] for r in record["results"]):
        runs = [r for r in record["results"] if r["kind"] == kind]
        error = np.abs([r["error"] for r in runs])
        losses = [
            np.median([r["loss"] - r["rivals"][name] for r in both]) if both else np.nan
            for name in RIVALS
            for both in [[r for r in runs if name in r["rivals"] and "loss" in r]]
        ]
        rows.append(
            [
                *(kind, str(len(runs)), f"{100 * np.median(error):.0f} %"),
                f"{100 * np.mean(error <= 0.1):.0f} %" if kind != "nulls" else "",
                *(share(runs, key) for key in ("covered", "trusted", "two_ended")),
                *("" if np.isnan(loss) else signed(loss) for loss in losses),
                f"{np.median([r['seconds'] for r in runs]):.0f}",
            ]
        )
    head = ["kind", "runs", "median error", "within 10 %", "covers", "trusted", "two ends"]
    return markdown([*head, *(f"− {name}" for name in RIVALS.values()), "CPU s"], rows)


def share(runs: list[Record], key: str) -> str:
    """Share of the runs of which something holds."""
    return f"{100 * np.mean([r[key] for r in runs]):.0f} %"


def signed(value: float) -> str:
    """A difference of log-losses, none where it rounds to zero."""
    told = f"{value:+.3f}"
    return "0.000" if not told.strip("+-0.") else told.replace("-", "−")


def every_problem(record: Record) -> str:
    """Tables of all problems by kind, the seeds of each in one line."""
    out = []
    for kind, title in KINDS.items():
        found: dict[str, list[Record]] = {}
        for r in record["results"]:
            if r["kind"] == kind:
                found.setdefault(r["problem"], []).append(r)
        if found:
            out += [f"**{title}** (`{kind}`)", "", _problems(found), ""]
    if record["failed"]:
        out += ["Runs that failed:", ""]
        out += [f"- {r['problem']}, seed {r['seed']}: {r['error']}" for r in record["failed"]]
    return "\n".join(out).rstrip()


def _problems(found: dict[str, list[Record]]) -> str:
    rows = []
    for name, runs in found.items():
        first = runs[0]
        losses = [
            "/".join([f"{value:.3f}"] if np.isfinite(value) else [])
            for value in (_mean(runs, rival) for rival in RIVALS)
        ]
        ours = [r["loss"] for r in runs if "loss" in r]
        count = len(runs)
        rows.append(
            [
                f"{name.split('/')[1]}",
                f"{first['n_p']:,}, {first['n_q']:,} × {first['dim']}",
                f"{first['truth']:.3f}",
                " ".join(f"{r['kl']:.3f}" for r in runs),
                " ".join(_interval(r) for r in runs),
                *(f"{sum(r[key] for r in runs)}/{count}" for key in ("covered", "trusted")),
                f"{np.mean(ours):.3f}" if ours else "",
                *losses,
                f"{np.mean([r['bayes'] for r in runs]):.3f}",
                f"{np.mean([r['seconds'] for r in runs]):.0f}",
                first["rests_on"],
            ]
        )
    head = ["problem", "rows", "truth", "KL", "interval", "covers", "trusted", "log-loss"]
    return markdown(
        [*head, *RIVALS.values(), "of the truth", "CPU s", "rests on (first seed)"], rows
    )


def _mean(runs: list[Record], rival: str) -> float:
    values = [r["rivals"][rival] for r in runs if rival in r["rivals"]]
    return float(np.mean(values)) if values else np.nan


def _interval(r: Record) -> str:
    end = f"{r['high']:.3g}" if "high" in r else "∞"
    return f"[{r['low']:.3g}, {end}]"


def rests_on(record: Record) -> str:
    """How often each candidate counts, and how often the answer is that of densities."""
    runs = record["results"]
    counts: Counter[str] = Counter()
    for r in runs:
        told = r["rests_on"]
        if told.startswith("fitted densities:"):
            names = ["fitted densities alone"]
        else:
            names = [re.sub(r" \(\d+%\)$", "", one) for one in told.split(", ")]
        if told.startswith("no candidate"):
            names = ["no candidate, as none sees a difference"]
        counts.update(names)
    rows = [
        [name, str(count), f"{100 * count / len(runs):.0f} %"]
        for name, count in counts.most_common()
    ]
    told = "A run counts for every candidate whose coefficient is above zero."
    return markdown(["the answer rests on", "runs", "share"], rows) + f"\n\n{told}"


def failures(record: Record) -> str:
    """Runs that are off by more than 20 %, the worst that are trusted first."""
    wrong = [r for r in record["results"] if abs(r["error"]) > 0.2 and r["kind"] != "nulls"]
    wrong.sort(key=lambda r: (not r["trusted"], r["covered"], -abs(r["error"])))
    silent = [r for r in wrong if r["trusted"] and not r["covered"]]
    covered = [r["covered"] for r in wrong]
    rows = [
        [
            r["problem"].split("/")[1],
            str(r["seed"]),
            f"{r['truth']:.3f}",
            f"{r['kl']:.3f}",
            _interval(r),
            *("yes" if r[key] else "no" for key in ("covered", "trusted")),
            ", ".join(f"`{name}`" for name in r["objections"]) or "none",
        ]
        for r in wrong
        if r["trusted"] or not r["covered"]
    ]
    doubted, held = (sum(one) for one in ([not r["trusted"] for r in wrong], covered))
    told = (
        f"{len(wrong)} of {len(record['results'])} runs are off by more than 20 %. Of these "
        f"not trusted: {doubted}; with the truth within their interval: {held}; trusted, with an "
        f"interval that misses the truth: {len(silent)}. The table has those that are trusted, and "
        "those whose interval misses the truth."
    )
    head = ["problem", "seed", "truth", "KL", "interval", "covers", "trusted", "checks that object"]
    return f"{told}\n\n{markdown(head, rows)}" if rows else told


def old_sets(record: Record) -> str:
    """Tables of ``benchmarks/records/accuracy.json``."""
    titles = {
        "table2": "Table 2 of the paper, 20,000 rows a side",
        "table2-2k": "Table 2, 2,000 rows a side",
        "table3": "Table 3",
        "narrow": "Narrow against wide normals",
        "hard": "Problems where two fitted normals are off by more than 20 %",
        "same": "p = q",
    }
    out = []
    for name, title in titles.items():
        results = [each for each in record["results"] if each["set"] == name]
        if not results:
            continue
        seeds = " or ".join(map(str, sorted({len(each["seeds"]) for each in results})))
        rows = []
        for each in results:
            plug, count = each.get("plug_in") or {}, len(each["seeds"])
            rows.append(
                [
                    *(each["problem"].split("/")[1], f"{each['truth']:.3f}", f"{each['mean']:.3f}"),
                    *(_percent(each), f"{each['rmse']:.3f}", _percent(plug)),
                    f"{plug['rmse']:.3f}" if plug else "",
                    *(f"{each['warned']}/{count}", f"{each['seconds']:.0f}"),
                ]
            )
        head = ["problem", "truth", "mean", "error", "RMSE", "plug-in", "its RMSE", "warned", "s"]
        out += [f"**{title}** ({seeds} seeds)", "", markdown(head, rows), ""]
    return "\n".join([*out, measured(record)])


def _percent(each: Record) -> str:
    error = each.get("error_percent")
    return "" if error is None else f"{error:+.2f} %"


def for_readme(record: Record) -> str:
    """A few bars and the log-losses on real tables, for the first page."""
    found = {each["bar"]: each for each in record["summary"]}
    shown = (
        "within 10 %",
        "intervals cover",
        "trusted, off by more than 20 %, truth outside",
        "nulls: lower end above zero",
    )
    rows = [
        [BARS[name], f"{100 * found[name]['share']:.0f} % of {found[name]['of']}"]
        for name in shown
        if name in found
    ]
    tables = [r for r in record["results"] if r["kind"] == "tables" and "loss" in r]
    names = ["isthmus", *RIVALS.values()]
    losses = [np.mean([r["loss"] for r in tables])] if tables else []
    losses += [_mean(tables, rival) for rival in RIVALS] if tables else []
    told = markdown(["of the runs", "share"], rows)
    if tables:
        cells = [f"{value:.3f}" for value in losses]
        cells[int(np.nanargmin(losses))] = f"**{min(losses):.3f}**"
        told += "\n\n" + markdown(
            ["log-loss on real tables", *names], [["mean of all runs", *cells]]
        )
    return told


BLOCKS: dict[str, tuple[str, Callable[[Record], str]]] = {
    "bars": ("wild", bars),
    "by kind": ("wild", by_kind),
    "rests on": ("wild", rests_on),
    "failures": ("wild", failures),
    "problems": ("wild", every_problem),
    "old sets": ("accuracy", old_sets),
}


def block(name: str, make: Callable[[Record], str], any_code: bool, records: Path = RECORDS) -> str:
    """A table, or a sentence that says why there is none."""
    path = records / f"{name}.json"
    if not path.exists():
        return MISSING.format(name)
    record = json.loads(path.read_text("utf-8"))
    if not any_code and record["code"] != fingerprint():
        return OLD.format(name)
    return make(record)


def fingerprint() -> str:
    """Of the package's code, as the benchmarks have it."""
    sys.path.append(str(ROOT / "benchmarks"))
    from accuracy import fingerprint as of_code

    return str(of_code())


def main() -> None:
    """Fill in both pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--any-code", action="store_true", help="count records of other code too")
    any_code = parser.parse_args().any_code
    made = {mark: block(name, make, any_code) for mark, (name, make) in BLOCKS.items()}
    fill_in(HERE / "accuracy.md", made)
    fill_in(ROOT / "README.md", {"wild": block("wild", for_readme, any_code)})


if __name__ == "__main__":
    main()
