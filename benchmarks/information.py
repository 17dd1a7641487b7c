"""Mutual information on tasks with known truth, with every rival beside it.

    python benchmarks/information.py [--quick] [--sets families mixtures ...] [--data DIR]
                                     [--methods auto ksg cca ...] [--tasks TEXT] [--seeds 1]
                                     [--more] [--join FILE] [--show] [--jobs 2]
    python benchmarks/information.py --least [--sets bmi families] [--methods auto ksg]
    python benchmarks/information.py --coverage [--replications 200]

Sets (the tasks and their truths are in ``_information_tasks.py``):

bmi
    Tasks of Czyż et al. (2023), "Beyond Normal": files NAME.npz in DIR (or in the folder that
    the environment variable BMI_DATA names) with x, y and the true mutual information mi.
    Left out, with a message, if there is no such folder.
families
    Six families of the public benchmark mutinfo, 1 to 3 pairs of columns, 2, 5 and 10 nats.
mixtures
    Mixtures of normals and Students, of dependent and independent pairs, bent and not.
adversarial
    Dependence that no closed form describes.
independent
    Independent x and y with outliers, sentinels, heavy tails, constants.
few
    50 to 500 rows of up to 30 columns a side.
high
    5 to 20 nats in 1 to 8 columns whose margins are not normal.
wide
    Normals of 10 to 160 columns a side with 10 to 80 nats.
discrete
    Integers, rounded and repeated values, counts, zero inflation, labels, mixed columns.

Every method has its default settings. Columns:

failed
    Runs without an answer: they cover nothing, and are not in the errors.
mean |error|, worst
    Estimate less truth, in nats.
covered, one-sided
    Share of the intervals that hold the truth. One without an upper end counts only if its lower
    end is positive or the truth is below .05; how many there are is the next column.
wrong
    Number of answers that are trusted and off by more than 20 % and .05 nats.
s
    Processor seconds of a run, in the mean, since the machine may be shared.

--least has the criterion of the BMI benchmark: the least of 100, 500, 1,000, 3,000, 5,000 and
10,000 rows from which on the mean estimate over ten seeds is within a factor of 1.5 of the
truth. Of the set bmi, which has one file a task, other seeds have other rows of it, as many as
share none: one sample of 10,000 rows, two of 5,000, three of 3,000.

--coverage has 200 replications in each of eight settings.

A part replaces what the record has of it and keeps the other parts; --more keeps what it has
of the same part, too, and adds what is missing. --join adds what the record of another run has,
of other methods or parts, where the modules that both name are of the same version. --show prints
the record, with every answer of the default. Both run nothing.
"""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _information_runs import METHODS, NETWORKS, SIZES, Case, least_rows, measured
from _information_scores import by_family, coverage_of, plain_name, show, summary
from _information_tasks import SETS, names, truth
from _record import Run, console, options, progress, versions
from joblib import Parallel, delayed, parallel_config

from isthmus.reproduce.record import loaded_parts, version_of

Found = dict[str, Any]
# Settings of the part coverage, from 100 to 10,000 rows.
SETTINGS = (
    ("few/normal 1v1, 100 rows", 100),
    ("few/normal 5v5, 500 rows", 250),
    ("independent/Cauchy 1v1, 300 rows", 300),
    ("adversarial/variance only 1v1", 500),
    ("families/Student df 2 1v1, 2 nats", 500),
    ("discrete/a label of 3 and normals 2v1", 500),
    ("mixtures/cross 1v1, 0.99", 1_000),
    ("discrete/two labels of 4 and 3", 10_000),
)
# A task of each set for a quick run, and its rows.
QUICK = (
    ("families/normal 2v2, 2 nats", 300),
    ("mixtures/cross 1v1, 0.99", 300),
    ("adversarial/thin ring 1v1", 300),
    ("independent/Cauchy 1v1, 300 rows", 200),
    ("few/normal 5v5, 100 rows", 100),
    ("high/Student df 3 2v2, 8 nats", 200),
    ("wide/mixed normal 20v20, 10 nats", 200),
    ("discrete/two labels of 4 and 3", 300),
)
# What rivals are made of.
RIVALS = ("copulas", "marginal", "mutual", "neighbours", "variational")
# Seconds between two looks of the record at a long run.
EVERY = 60.0


def folder(arguments: Namespace) -> Path | None:
    """Where the tasks of the set bmi are."""
    found = arguments.data or os.environ.get("BMI_DATA")
    return Path(found) if found and Path(found).is_dir() else None


def chosen(arguments: Namespace) -> list[tuple[str, int | None]]:
    """Names of the tasks to run, with their rows where these are not the task's own."""
    if arguments.quick:
        every: list[tuple[str, int | None]] = [
            each for each in QUICK if each[0].split("/")[0] in arguments.sets
        ]
    else:
        every = []
        for group in arguments.sets:
            if group != "bmi":
                every += [(name, None) for name in names(group)]
            elif (here := folder(arguments)) is not None:
                every += [(f"bmi/{path.stem}", None) for path in sorted(here.glob("*.npz"))]
            else:
                console.print(
                    "The set bmi is left out: --data or BMI_DATA must name the folder with it."
                )
    return [each for each in every if arguments.tasks in each[0]]


def cases(arguments: Namespace) -> Iterator[Case]:
    """The calls of the part with all tasks."""
    here, todo = str(folder(arguments) or ""), chosen(arguments)
    for method in arguments.methods:
        # One task is enough to see that a network runs.
        for name, rows in todo[:1] if arguments.quick and method in NETWORKS else todo:
            for seed in range(arguments.seeds):
                # A file is one sample: other seeds would change the method alone.
                if seed == 0 or not name.startswith("bmi/"):
                    yield Case(name, method, seed, rows, here, arguments.quick)


def in_parallel(
    what: Callable[..., Found | None], items: Iterable[tuple[Any, ...]], jobs: int, title: str
) -> Iterator[Found]:
    """Results of calls as they come, with one thread each."""
    todo = list(items)
    with parallel_config(backend="loky", inner_max_num_threads=1), progress() as bar:
        shown = bar.add_task(title, total=len(todo))
        workers = Parallel(n_jobs=jobs, return_as="generator_unordered")
        for found in workers(delayed(what)(*each) for each in todo):
            bar.advance(shown)
            if found is not None:
                yield found


class Record:
    """The record with its parts: a part that is run anew replaces the old one."""

    def __init__(self, run: Run, more: bool) -> None:
        self.run, self.more = run, more
        self.parts: Found = {"results": [], "least": [], "coverage": [], "runs": {}}
        if run.path.exists() and not run.settings["quick"]:
            old = json.loads(run.path.read_text())
            self.parts |= {key: old[key] for key in self.parts if key in old}
        self.saved = time.monotonic()

    def begin(self, part: str) -> list[Found]:
        """What is kept of a part, to be added to."""
        about = {
            "date": self.run.date.isoformat(timespec="seconds"),
            "settings": self.run.settings,
            "versions": versions(),
            "parts": parts(self.run.settings["methods"] if part != "coverage" else ["auto"]),
        }
        kept = self.parts["runs"].get(part, []) if self.more else []
        self.parts["runs"][part] = [*kept, about]
        self.parts[part] = self.parts[part] if self.more else []
        found: list[Found] = self.parts[part]
        return found

    def join(self, other: Found) -> None:
        """Add what the record of another run has and this one lacks, of parts by the same code."""
        mine = _versions(self.parts["runs"])
        for part, runs in other["runs"].items():
            theirs = _versions({part: runs})
            changed = [name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name]]
            if changed:
                console.print(f"{part} is left out: it is of other code ({', '.join(changed)}).")
                continue
            have = {_key(each) for each in self.parts[part]}
            self.parts[part] += [each for each in other[part] if _key(each) not in have]
            kept = self.parts["runs"].setdefault(part, [])
            kept += [run for run in runs if run not in kept]
        self.parts["results"].sort(key=place)

    def look(self) -> None:
        """Write it now and then: a long run that is stopped keeps what it has."""
        if not self.run.settings["quick"] and time.monotonic() - self.saved > EVERY:
            self.write()
            self.saved = time.monotonic()

    def write(self) -> None:
        self.run.write(**self.parts, **self.sums())

    def sums(self) -> Found:
        """What the results amount to."""
        results = self.parts["results"]
        return {"summary": summary(results), "families": by_family(results, "auto")}


def _key(found: Found) -> tuple[Any, ...]:
    """What a result is of."""
    return tuple(found.get(name) for name in ("set", "task", "method", "seed", "rows"))


def _versions(runs: dict[str, list[Found]]) -> Found:
    """Versions of the modules that runs name."""
    every = [run["parts"] for part in runs.values() for run in part]
    return {name: version for one in every for name, version in one.items()}


def parts(methods: list[str]) -> Found:
    """Versions of the modules that the answers of some methods come from."""
    loaded = [name for name in loaded_parts() if name.startswith("information")]
    used = loaded if "auto" in methods else [f"information.{name}" for name in RIVALS]
    return {name: version_of(name) for name in used}


def run_tasks(record: Record, arguments: Namespace) -> None:
    """Every method on every task."""
    results = record.begin("results")
    done = {(f"{each['set']}/{each['task']}", each["method"], each["seed"]) for each in results}
    todo = ((case,) for case in cases(arguments) if case.key not in done)
    for found in in_parallel(measured, todo, arguments.jobs, "tasks"):
        results.append(found)
        record.look()
    results.sort(key=place)


def place(found: Found) -> tuple[Any, ...]:
    """Where a result stands: by sets, in the order of the set, files by their names; by methods."""
    group, name = found["set"], found["task"]
    own = names(group)
    within = own.index(f"{group}/{name}") if f"{group}/{name}" in own else 0
    return ("bmi", *SETS).index(group), within, name, METHODS.index(found["method"]), found["seed"]


def run_least(record: Record, arguments: Namespace) -> None:
    """The least number of rows of every task that has some information, and of every method."""
    results = record.begin("least")
    done = {(f"{each['set']}/{each['task']}", each["method"]) for each in results}
    every = [c for c in cases(arguments) if c.seed == 0 and (c.name, c.method) not in done]
    informed = (c for c in every if c.name.startswith("bmi/") or truth(c.name).value > 0)
    sizes, seeds = ((50, 100), 1) if arguments.quick else (SIZES, arguments.least_seeds)
    for found in in_parallel(
        least_rows, ((case, sizes, seeds) for case in informed), arguments.jobs, "least rows"
    ):
        results.append(found)
        record.look()


def run_coverage(record: Record, arguments: Namespace) -> None:
    """Replications of the settings; the record has one line for each."""
    results = record.begin("coverage")
    done = {(each["set"], each["task"]) for each in results}
    settings = SETTINGS[:2] if arguments.quick else SETTINGS
    for name, rows in settings:
        if (name.split("/")[0], plain_name(name)) in done or arguments.tasks not in name:
            continue
        items = ((Case(name, "auto", seed, rows),) for seed in range(arguments.replications))
        results.append(coverage_of(list(in_parallel(measured, items, arguments.jobs, name))))
        record.look()


def read_options() -> Namespace:
    parser = options(__doc__ or "", "information")
    sets = ("bmi", *SETS)
    parser.add_argument("--sets", nargs="+", choices=sets, default=None)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=None)
    parser.add_argument("--tasks", default="", help="only tasks whose set/name contains this")
    parser.add_argument("--seeds", type=int, default=1, help="samples of each task")
    parser.add_argument("--data", default=None, help="folder with the tasks of the set bmi")
    parser.add_argument("--more", action="store_true", help="keep what the record has")
    parser.add_argument("--least", action="store_true", help="the part with the least rows")
    parser.add_argument("--least-seeds", type=int, default=10, help="seeds of that part")
    parser.add_argument("--coverage", action="store_true", help="the part with replications")
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--join", default=None, help="the record of another run, to be added")
    parser.add_argument("--show", action="store_true", help="print the record only")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.sets is None:
        arguments.sets = ["bmi", "families"] if arguments.least else list(sets)
    if arguments.methods is None:
        arguments.methods = ["auto"] if arguments.least else list(METHODS)
    if find_spec("torch") is None:
        arguments.methods = [name for name in arguments.methods if name not in NETWORKS]
        console.print("Networks are left out: they need torch.")
    if arguments.quick:
        arguments.replications = 2
    return arguments


def main() -> None:
    """Run the parts that are asked for, show the tables, write the record."""
    arguments = read_options()
    run = Run("information", arguments)
    # A folder of one machine is nobody else's business.
    run.settings = {
        k: v for k, v in run.settings.items() if k not in ("data", "join", "show", "jobs")
    }
    if arguments.show:
        show(json.loads(run.path.read_text()), every=True)
        return
    record = Record(run, arguments.more)
    if arguments.join:
        record.join(json.loads(Path(arguments.join).read_text()))
        record.write()
        return
    if arguments.quick or not (arguments.least or arguments.coverage):
        run_tasks(record, arguments)
    if arguments.quick:
        first = {"tasks": QUICK[0][0], "methods": ["auto", "cca"]}
        run_least(record, Namespace(**vars(arguments) | first))
    elif arguments.least:
        run_least(record, arguments)
    if arguments.quick or arguments.coverage:
        run_coverage(record, arguments)
    show({**record.parts, **record.sums()})
    record.write()


if __name__ == "__main__":
    main()
