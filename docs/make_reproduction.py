"""Make ``reproduction.md`` and a page for each experiment from the records of the full runs.

    isthmus reproduce all --out docs/reproduction
    python docs/make_reproduction.py

Nothing is run: tables and remarks are made of ``docs/reproduction/NAME/record.json``, and
figures are those that stand beside it; with ``--figures`` they are drawn again. The same
records give the same pages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isthmus import reproduce as experiments
from isthmus.reproduce import show
from isthmus.reproduce.record import read

HERE = Path(__file__).parent
PAGE = HERE / "reproduction.md"
RECORDS = HERE / "reproduction"

HEAD = """# The paper reproduced

Srivastava, Han, Xu, Rhodes & Gutmann, "Estimating the Density Ratio between Distributions with
High Discrepancy using Multinomial Logistic Regression", TMLR 2023.

Every table and figure of the paper was run again, beside the truth and every rival. Each page is
the outcome of one command, `isthmus reproduce NAME`. The record at its end has the settings, seeds,
versions and every number. These pages are made from the records by
[`make_reproduction.py`](https://github.com/isthmus-ml/isthmus/blob/main/docs/make_reproduction.py).
"""


def records() -> dict[str, dict[str, Any]]:
    """Records of the full runs by name, in the order of the paper."""
    paths = {name: RECORDS / name / "record.json" for name in experiments.names()}
    return {name: read(path) for name, path in paths.items() if path.exists()}


def contents(names: Iterable[str]) -> str:
    """The page that lists the others."""
    titles = [f"- [{experiments.load(name).title}](reproduction/{name}.md)" for name in names]
    tree = ["```{toctree}", ":hidden:", "", *(f"reproduction/{name}" for name in names), "```"]
    return "\n".join([HEAD, *(titles or ["No record is there yet."]), "", *tree, ""])


def page(name: str, record: dict[str, Any]) -> str:
    """One experiment: what it is, tables, figures, remarks, and how it was run."""
    experiment, results = experiments.load(name), record["results"]
    lead = experiment.lead(results)
    out = [f"# {experiment.title}\n", *([f"{lead}\n"] if lead else []), f"{experiment.about}\n"]
    out += [f"{show.as_markdown(table)}\n" for table in experiment.tables(results)]
    out += [f"![{figure}]({name}/{figure}.svg)\n" for figure in record["figures"]]
    remarks = experiment.remarks(results)
    if remarks:
        out += ["## Remarks\n", "\n".join(f"- {remark}" for remark in remarks) + "\n"]
    if record["failed"]:
        failed = [show.in_words(each) for each in record["failed"]]
        out += ["## Failed\n", "\n".join(f"- {each}" for each in failed) + "\n"]
    return "\n".join([*out, f"{how(name, record)}\n"])


def how(name: str, record: dict[str, Any]) -> str:
    """How and when it was run, in a line."""
    settings, machine = record["settings"], record["machine"]
    versions = ", ".join(f"{what} {number}" for what, number in record["versions"].items())
    quick = " --quick" if settings["quick"] else ""
    return (
        f"*`isthmus reproduce {name}{quick} --seeds {settings['seeds']}` on {record['date'][:10]}: "
        f"{show.duration(record['wall_seconds'])} with {settings['jobs']} processes of one thread "
        f"on {machine['cpu_count']} cores ({machine['processor']}). {versions}. "
        f"[Record]({name}/record.json).*"
    )


def draw() -> None:
    """Draw all figures again from the records."""
    for name, record in records().items():
        show.save_figures(experiments.load(name), record["results"], RECORDS / name)


if __name__ == "__main__":
    if "--figures" in sys.argv[1:]:
        draw()
    found = records()
    PAGE.write_text(contents(found), "utf-8")
    for name, record in found.items():
        (RECORDS / f"{name}.md").write_text(page(name, record), "utf-8")
    print(f"{PAGE.name}: {len(found)} of {len(experiments.names())} records")
