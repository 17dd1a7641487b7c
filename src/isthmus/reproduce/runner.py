"""Run the cells of an experiment in processes of one thread, and keep every number.

Cells that are done stand in ``OUT/NAME/cells.jsonl``: a run that was stopped goes on
where it ended. Where there is a record alone, it goes on from that, if no part of the package
that it was made with has changed since. At the end there are ``record.json``, ``table.md``,
``table.txt`` and the figures beside it.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..files import written_whole
from . import record, show
from .draw import Figure, Figures
from .pool import run_cells
from .record import Fields
from .show import Table

__all__ = ["Difference", "Experiment", "Outcome", "Stopped", "Table", "run_experiment"]


@dataclass(frozen=True)
class Difference:
    """A number of ours that is not the paper's: their distance in standard errors, and why."""

    where: str
    ours: float
    paper: float
    errors: float
    why: str = ""

    def __str__(self) -> str:
        why = self.why or "**unexplained**."
        return (
            f"{self.where}: {self.ours:.2f}, the paper {self.paper:.2f} "
            f"({self.errors:.1f} standard errors apart). {why}"
        )


class Experiment:
    """Base of all experiments; a subclass is one table or figure.

    Attributes
    ----------
    name : str
        What the user types.
    title : str
        One line.
    about : str
        A few sentences: what it shows, what the paper did, what is done here.
    sizes : pair of int
        Rows of each sample, in a quick run and in a full one.
    quick_steps : int or None
        Steps of training in a quick run, for cells that train; a full one has the authors'.
    """

    name = ""
    title = ""
    about = ""
    sizes: tuple[int, int] = (0, 0)
    quick_steps: int | None = None

    def cells(self, quick: bool, seeds: int) -> list[Fields]:
        """Units of work: small dictionaries that JSON can hold, each different.

        By default there is one for each "seed". A quick run takes less than a minute of
        processor time, and has one seed.
        """
        cell: Fields = {"rows": self.sizes[not quick]}
        if quick and self.quick_steps is not None:
            cell["steps"] = self.quick_steps
        return [{**cell, "seed": seed} for seed in range(1 if quick else seeds)]

    def run(self, cell: Fields) -> Fields:
        """Numbers of one cell: whatever :func:`isthmus.reproduce.record.as_json` takes.

        It is called in a process with one thread that runs many cells. Numbers that
        are not finite become None.
        """
        raise NotImplementedError

    def lead(self, results: list[Fields]) -> str:
        """What the page begins with, before ``about``: what a reader must know first."""
        return ""

    def tables(self, results: list[Fields]) -> list[Table]:
        """Tables of the results, each the cell, its numbers and its ``seconds``."""
        return []

    def figures(self, results: list[Fields]) -> Figures:
        """Figures by name, made without pyplot; by default that of the first seed."""
        first = next((each for each in results if each.get("seed") == 0), None)
        figure = None if first is None else self.figure(first)
        return {} if figure is None else {self.name: figure}

    def figure(self, first: Fields) -> Figure | None:
        """The only figure, made of the numbers of the first seed."""
        return None

    def differences(self, results: list[Fields]) -> list[Difference]:
        """Numbers more than two standard errors from the paper's."""
        return []

    def remarks(self, results: list[Fields]) -> list[str]:
        """Sentences for the page: why numbers differ from the paper's, and what else to know."""
        return [str(each) for each in self.differences(results)]


@dataclass
class Outcome:
    """What a run ended with: its tables, what ``record.json`` holds, and the files written."""

    experiment: Experiment
    folder: Path
    record: Fields
    tables: list[Table]
    files: list[Path] = field(default_factory=list)

    @property
    def failed(self) -> list[Fields]:
        """Cells that ended with an error, which is in "error"."""
        failed: list[Fields] = self.record["failed"]
        return failed


class Stopped(Exception):
    """The user or a change of the code ended a run; what was done is kept."""


def run_experiment(
    experiment: Experiment,
    out: Path,
    *,
    quick: bool = False,
    seeds: int = 3,
    jobs: int = 2,
    progress: bool = False,
    anew: bool = False,
    any_code: bool = False,
    only: str = "",
    minutes: float | None = None,
    cells: list[Fields] | None = None,
    found: Callable[[Outcome], None] | None = None,
) -> Outcome:
    """Run what is missing and write tables, figures and record to ``out / experiment.name``.

    Parameters
    ----------
    experiment : Experiment
    out : Path
        Folder; made if it is not there.
    quick, seeds
        See :meth:`Experiment.cells`.
    jobs : int
        Number of processes, of one thread each.
    progress : bool
        Tell on stderr what is running: as a bar on a terminal, else in lines.
    anew : bool
        Forget what there is.
    any_code : bool
        Use cells that were run with other code of the package.
    only : str
        Run only cells in whose words this occurs. The record has what was run before as well, and
        says what is missing.
    minutes : float, optional
        Begin no cell after so many.
    cells : list of dict, optional
        Some of the experiment's cells, in place of all.
    found : callable, optional
        Called with the outcome before tables, figures and record are written, which may fail.

    Raises
    ------
    Stopped
        If the run was interrupted.
    """
    wanted = experiment.cells(quick, seeds) if cells is None else cells
    by_key = {record.key(cell): cell for cell in wanted}
    if len(by_key) < len(wanted):
        raise ValueError(f"cells of {experiment.name} must differ; received two that are equal.")
    folder = out / experiment.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cells.jsonl"
    if anew:
        path.unlink(missing_ok=True)
    code = record.fingerprint(type(experiment).__module__)
    checked = None if anew else record.checked(folder / "record.json")
    if not anew and not path.exists():
        for line in record.cells_of(folder / "record.json", wanted):
            record.append(path, {"code": code, **line})
    kept = [each for each in record.lines_of(path) if any_code or each.get("code") == code]
    done = {record.key(each["cell"]): each for each in kept if "found" in each}
    # Seed by seed, so that a run that was stopped has whole tables of fewer seeds.
    missing = sorted(
        (cell for k, cell in by_key.items() if k not in done and only in show.in_words(cell)),
        key=lambda cell: cell.get("seed", 0),
    )
    until = None if minutes is None else time.monotonic() + 60.0 * minutes
    begin, failed = time.perf_counter(), []
    known = [(each["cell"], each["found"]["seconds"]) for k, each in done.items() if k in by_key]
    with (
        show.reporting(experiment.name, wanted, known, jobs, wanted=progress) as report,
        closing(run_cells(experiment, missing, jobs, report, until)) as answers,
    ):
        try:
            for cell, answer in answers:
                line = {"code": code, "cell": cell}
                if "error" in answer:
                    failed.append({**cell, **answer})
                    line |= answer
                else:
                    done[record.key(cell)] = line = {**line, "found": answer}
                record.append(path, line)
                if not any_code and record.fingerprint(type(experiment).__module__) != code:
                    raise Stopped("the package's code has changed: run again, or with --any-code")
        except KeyboardInterrupt:
            have = sum(k in done for k in by_key)
            raise Stopped(
                f"stopped; {have} of {len(by_key)} cells are kept in {path}, and the same "
                "command goes on from there"
            ) from None
        finally:
            wall = round(time.perf_counter() - begin, 1)
            if missing:
                record.append(path, {"code": code, "session": {"wall_seconds": wall}})
    results = [{**cell, **done[k]["found"]} for k, cell in by_key.items() if k in done]
    walls = [each["session"]["wall_seconds"] for each in kept if "session" in each]
    # A run that was killed left no session behind, but its cells did: it took at least as long.
    least = sum(each["seconds"] for each in results) / jobs
    head = {
        "format": record.FORMAT,
        "experiment": experiment.name,
        "title": experiment.title,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "settings": {"quick": quick, "seeds": seeds, "jobs": jobs, "threads": 1},
        "seeds": sorted({cell["seed"] for cell in wanted if "seed" in cell}),
        "versions": record.versions({name for each in results for name in each["used"]}),
        "machine": record.machine(),
        "wall_seconds": round(max(sum(walls) + (wall if missing else 0.0), least), 1),
        "code": sorted({done[k]["code"] for k in by_key if k in done}),
        "parts": record.versions_of(results),
        "missing": [cell for k, cell in by_key.items() if k not in done],
        "failed": failed,
        **({} if checked is None else {"checked": checked}),
    }
    aside = ("used", "parts")
    results = [{k: v for k, v in each.items() if k not in aside} for each in results]
    tables = experiment.tables(results) if results else []
    outcome = Outcome(experiment, folder, {**head, "results": results}, tables)
    if found is not None:
        found(outcome)
    return finish(outcome)


def finish(outcome: Outcome) -> Outcome:
    """Write tables, figures and the record of results."""
    experiment, folder, results = outcome.experiment, outcome.folder, outcome.record["results"]
    files = []
    for name, written in (("table.md", show.as_markdown), ("table.txt", show.as_text)):
        if outcome.tables:
            files.append(folder / name)
            with written_whole(files[-1]) as draft:
                draft.write_text("\n\n".join(map(written, outcome.tables)) + "\n", "utf-8")
    figures = show.save_figures(experiment, results, folder) if results else []
    head = {name: value for name, value in outcome.record.items() if name != "results"}
    head["figures"] = [path.stem for path in figures if path.suffix == ".svg"]
    record.write(folder / "record.json", head, results)
    whole = {**head, "results": results}
    return replace(outcome, record=whole, files=files + figures)
