"""What ``isthmus reproduce`` does, once its options are read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from . import load, names, show
from .checking import check_record
from .runner import Experiment, Outcome, Stopped, run_experiment


@dataclass(frozen=True)
class Options:
    """Options of the command; see :func:`isthmus.reproduce.run_experiment`."""

    out: Path
    quick: bool
    seeds: int
    jobs: int
    anew: bool
    any_code: bool
    only: str = ""
    minutes: float | None = None


def show_list() -> None:
    """Print names and titles of all experiments."""
    wide = max(map(len, names()))
    for name in names():
        print(f"{name:<{wide}}  {load(name).title}")
    print("\nisthmus reproduce NAME runs one of them, isthmus reproduce all every one.")


def reproduce(experiments: list[Experiment], options: Options) -> int:
    """Run experiments one after the other; the exit code: 1 if a cell failed, 130 if stopped."""
    failed, total = False, 0.0
    for experiment in experiments:
        try:
            outcome = run_experiment(experiment, progress=True, found=_show, **vars(options))
        except Stopped as stopped:
            print(f"isthmus: {experiment.name}: {stopped}.", file=sys.stderr)
            return 130
        seconds = show.duration(outcome.record["wall_seconds"])
        print(f"\n{seconds} in all. Tables, figures and record: {outcome.folder}\n")
        failed = failed or bool(outcome.failed)
        total += outcome.record["wall_seconds"]
    if len(experiments) > 1:
        print(f"{len(experiments)} experiments took {show.duration(total)}.")
    return int(failed)


def check(experiments: list[Experiment], out: Path, jobs: int) -> int:
    """Run some cells of records again; the exit code: 1 if some gave other numbers."""
    differ = False
    for experiment in experiments:
        try:
            outcome = check_record(experiment, out, jobs=jobs, progress=True)
        except (Stopped, KeyboardInterrupt) as stopped:
            why = str(stopped) or "stopped; the record is as it was"
            print(f"isthmus: {experiment.name}: {why}.", file=sys.stderr)
            return 130
        if outcome is None:
            print(f"{experiment.name}: the record is of this code.")
            continue
        checked = outcome.record["checked"]
        told = f"{len(checked['cells'])} of {checked['of']} cells gave the same numbers again"
        if checked["removed"]:
            told += f"; removed, since others did not: {show.in_groups(checked['removed'])}"
        print(f"{experiment.name}: {told}.")
        differ = differ or bool(checked["removed"])
    return int(differ)


def _show(outcome: Outcome) -> None:
    """Print tables and remarks, and what failed."""
    print(f"{outcome.experiment.title}\n")
    for table in outcome.tables:
        print(show.as_text(table) + "\n")
    if outcome.record["results"]:
        for remark in outcome.experiment.remarks(outcome.record["results"]):
            print(f"- {remark}")
    missing = outcome.record["missing"]
    if missing:
        print(f"- {len(missing)} cells were not run: {show.in_groups(missing)}.")
    for each in outcome.failed:
        cell = {k: v for k, v in each.items() if k != "error"}
        print(f"failed: {show.in_words(cell)}: {each['error']}", file=sys.stderr)
