"""Make ``reproduction.md`` and a page for each experiment from the records of the full runs.

    isthmus reproduce all --out docs/reproduction
    python docs/make_reproduction.py

Nothing is run: tables and remarks are made of ``docs/reproduction/NAME/record.json``, and
figures are those that stand beside it; with ``--figures`` they are drawn again. The same
records give the same pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isthmus import reproduce as experiments
from isthmus.reproduce import show
from isthmus.reproduce.record import changed_parts, read
from isthmus.reproduce.search import PROBLEMS, chosen, grid
from isthmus.reproduce.searched import PATH as SEARCHED

HERE = Path(__file__).parent
PAGE = HERE / "reproduction.md"
RECORDS = HERE / "reproduction"

HEAD = """# The paper reproduced

Srivastava, Han, Xu, Rhodes & Gutmann, "Estimating the Density Ratio between Distributions with
High Discrepancy using Multinomial Logistic Regression", TMLR 2023.

Every table and figure of the paper is run again, beside the truth and every rival. Each page is
the outcome of one command, `isthmus reproduce NAME`; `isthmus reproduce all` runs them all and says
how long that took. The record at the end of a page has the settings, seeds, versions and every
number, and the versions of the parts of the library that it was made with: a page whose record is
of other code has no numbers until it is run again, or until `isthmus reproduce NAME --check` has
run the quickest part of every problem and method again and got the same; methods that give other
numbers are taken out. The page then says so. What could not be run yet stands at its end. These
pages are made from the records by
[`make_reproduction.py`](https://github.com/isthmus-ml/isthmus/blob/main/docs/make_reproduction.py).

[Beyond normals](reproduction/beyond.md) is not in the paper: kinds of problems on which two fitted
normals are wrong, where the paper's claim can be tested.

The paper compares representations with TRE and a single ratio only, and refers to TRE's paper for
Wasserstein predictive coding (WPC) and contrastive predictive coding: it has no number of WPC to
repeat, and it is not run here.
"""


def records() -> dict[str, dict[str, Any]]:
    """Records of the full runs by name, in the order of the paper."""
    paths = {name: RECORDS / name / "record.json" for name in experiments.names()}
    return {name: read(path) for name, path in paths.items() if path.exists()}


def contents(names: Iterable[str]) -> str:
    """The page that lists the others."""
    found = records()
    titles = [
        f"- [{experiments.load(name).title}](reproduction/{name}.md){state(found[name])}"
        for name in names
    ]
    tree = ["```{toctree}", ":hidden:", "", *(f"reproduction/{name}" for name in names), "```"]
    return "\n".join(
        [HEAD, *(titles or ["No record is there yet."]), "", taken(found), "", *tree, ""]
    )


def state(record: dict[str, Any]) -> str:
    """What is to be known of a record before its page is opened."""
    if changed_parts(record):
        return ": to be run again"
    cells = len(record["results"]) + len(record.get("missing", []))
    done = len(record["results"])
    return "" if done == cells else f": {done} of {cells} parts are run, its page says which"


def taken(found: dict[str, dict[str, Any]]) -> str:
    """How long the runs behind the numbers took."""
    shown = [record for record in found.values() if not changed_parts(record)]
    seconds = sum(each["seconds"] for record in shown for each in record["results"])
    return (
        f"The runs behind the numbers of these pages took {show.duration(seconds)} of one core; "
        "`--quick` takes less than a minute of processor time each."
    )


def page(name: str, record: dict[str, Any]) -> str:
    """One experiment: what it is, tables, figures, remarks, and how it was run."""
    experiment, results = experiments.load(name), record["results"]
    lead = experiment.lead(results)
    out = [f"# {experiment.title}\n", *([f"{lead}\n"] if lead else []), f"{experiment.about}\n"]
    changed = changed_parts(record)
    if changed:
        return "\n".join([out[0], f"{experiment.about}\n", f"{stale(name, record, changed)}\n"])
    out += [f"{show.as_markdown(table)}\n" for table in experiment.tables(results)]
    out += [f"![{figure}]({name}/{figure}.svg)\n" for figure in record["figures"]]
    remarks = experiment.remarks(results)
    if remarks:
        out += ["## Remarks\n", "\n".join(f"- {remark}" for remark in remarks) + "\n"]
    if record.get("missing"):
        out += ["## Not run\n", f"{not_run(record['missing'])}\n"]
    if record["failed"]:
        failed = [show.in_words(each) for each in record["failed"]]
        out += ["## Failed\n", "\n".join(f"- {each}" for each in failed) + "\n"]
    return "\n".join([*out, f"{how(name, record)}\n"])


def not_run(missing: list[dict[str, Any]]) -> str:
    """Cells that were not run: a line for each problem."""
    first = next(iter(missing[0]))
    groups: dict[str, list[dict[str, Any]]] = {}
    for cell in missing:
        groups.setdefault(cell[first], []).append({k: v for k, v in cell.items() if k != first})
    told = {name: show.in_groups(cells).strip() for name, cells in groups.items()}
    return "\n".join(f"- {name}: {words}." for name, words in told.items())


def stale(name: str, record: dict[str, Any], changed: list[str]) -> str:
    """Why a page has no numbers."""
    some = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
    return (
        f"**No numbers here yet.** The [record]({name}/record.json) is of {record['date'][:10]} "
        f"and of other code; since then these parts have changed: {some}. "
        f"`isthmus reproduce {name}` makes it anew; the last time it took "
        f"{show.duration(record['wall_seconds'])} with {processes(record['settings']['jobs'])}."
    )


def processes(jobs: int) -> str:
    """A number of processes in words."""
    return "1 process" if jobs == 1 else f"{jobs} processes"


def how(name: str, record: dict[str, Any]) -> str:
    """How and when it was run, in a line."""
    settings, machine = record["settings"], record["machine"]
    versions = ", ".join(f"{what} {number}" for what, number in record["versions"].items())
    quick = " --quick" if settings["quick"] else ""
    checked = record.get("checked")
    held = ""
    if checked:
        cells, of = len(checked["cells"]), checked["of"]
        held = (
            f" The code has changed since; on {checked['date'][:10]} {cells} of {of} parts, the "
            "quickest of every problem and method, were run again and gave the same numbers."
        )
    return (
        f"*`isthmus reproduce {name}{quick} --seeds {settings['seeds']}` on {record['date'][:10]}: "
        f"{show.duration(record['wall_seconds'])} with {processes(settings['jobs'])} of one thread "
        f"on {machine['cpu_count']} cores ({machine['processor']}). {versions}. "
        f"[Record]({name}/record.json).{held}*"
    )


def write_searched(results: list[dict[str, Any]]) -> None:
    """What the search chose, for Table 2: of the problems with which it is done."""
    done = [n for n in PROBLEMS if sum(e["problem"] == n for e in results) == len(grid())]
    best = {name: chosen(results, name) for name in done}
    found = {name: {what: one[what] for what in grid()[0]} for name, one in best.items()}
    SEARCHED.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def draw() -> None:
    """Draw all figures again from the records."""
    for name, record in records().items():
        show.save_figures(experiments.load(name), record["results"], RECORDS / name)


if __name__ == "__main__":
    if "--figures" in sys.argv[1:]:
        draw()
    found = records()
    if "search" in found:
        write_searched(found["search"]["results"])
    PAGE.write_text(contents(found), "utf-8")
    for name, record in found.items():
        (RECORDS / f"{name}.md").write_text(page(name, record), "utf-8")
    print(f"{PAGE.name}: {len(found)} of {len(experiments.names())} records")
