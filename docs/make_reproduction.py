"""Make ``reproduction.md`` from the records of the full runs.

    isthmus reproduce all --out docs/reproduction
    python docs/make_reproduction.py

Nothing is run: tables and remarks are made of ``docs/reproduction/NAME/record.json``, and
figures are those that stand beside it; with ``--figures`` they are drawn again. The same
records give the same page.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from isthmus import reproduce as experiments
from isthmus.reproduce import show
from isthmus.reproduce.record import read

HERE = Path(__file__).parent
PAGE = HERE / "reproduction.md"
RECORDS = HERE / "reproduction"

HEAD = """# The paper's tables and figures, run again

Srivastava, Han, Xu, Rhodes & Gutmann, "Estimating the Density Ratio between Distributions with
High Discrepancy using Multinomial Logistic Regression", TMLR 2023. Every section is the outcome of
`isthmus reproduce NAME`; the record beside it has the settings, seeds, versions and every number.
This page is made from the records by [`make_reproduction.py`](make_reproduction.py).
"""


def records() -> dict[str, dict[str, Any]]:
    """Records of the full runs by name, in the order of the paper."""
    paths = {name: RECORDS / name / "record.json" for name in experiments.names()}
    return {name: read(path) for name, path in paths.items() if path.exists()}


def page() -> str:
    """The page."""
    found = records()
    parts = [HEAD, "## Contents\n"]
    parts.append(
        "\n".join(f"- [{experiments.load(name).title}](#{name})" for name in found) + "\n"
        if found
        else "No record is there yet.\n"
    )
    return "\n".join([*parts, *(section(name, record) for name, record in found.items())])


def section(name: str, record: dict[str, Any]) -> str:
    """One experiment: what it is, tables, figures, remarks, and how it was run."""
    experiment, results = experiments.load(name), record["results"]
    out = [f'<a id="{name}"></a>\n', f"## {experiment.title}\n", f"{experiment.about}\n"]
    out += [f"{show.as_markdown(table)}\n" for table in experiment.tables(results)]
    out += [f"![{figure}](reproduction/{name}/{figure}.svg)\n" for figure in record["figures"]]
    remarks = experiment.remarks(results)
    if remarks:
        out += ["**Remarks**\n", "\n".join(f"- {remark}" for remark in remarks) + "\n"]
    if record["failed"]:
        failed = [show.in_words(each) for each in record["failed"]]
        out += ["**Failed**\n", "\n".join(f"- {each}" for each in failed) + "\n"]
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
        f"[Record](reproduction/{name}/record.json).*"
    )


def draw() -> None:
    """Draw all figures again from the records."""
    for name, record in records().items():
        show.save_figures(experiments.load(name), record["results"], RECORDS / name)


if __name__ == "__main__":
    if "--figures" in sys.argv[1:]:
        draw()
    PAGE.write_text(page(), "utf-8")
    print(f"{PAGE.name}: {len(records())} of {len(experiments.names())} records")
