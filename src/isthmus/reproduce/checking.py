"""Whether a record still holds: some of its cells are run again by the present code.

A change of the code that touches no number of an experiment need not throw away hours of it. Of
every word that tells cells apart (a problem, a method) the quickest cell is run again. Where
it gives what it gave, the record says so and holds. A cell that gives something else goes, and the
next quickest of the word is asked: training that diverges depends on the rounding of the
machine. A word of which none gives the same loses all its cells. What goes is missing, and the next
run makes it anew.
"""

from __future__ import annotations

import datetime
import math
from contextlib import closing
from pathlib import Path
from typing import Any

from . import record, show
from .pool import run_cells
from .record import Fields
from .runner import Experiment, Outcome, Stopped, finish

# Linear algebra adds up in another order on another machine, and solvers stop where they may.
_RELATIVE = 1e-6
# Cells of a word that are asked at most.
_ASKED = 3
_ASIDE = ("used", "parts", "warnings")


def check_record(
    experiment: Experiment, out: Path, *, jobs: int = 1, progress: bool = False
) -> Outcome | None:
    """Run some cells of a record again and write what came of it; None if it is of this code.

    Parameters
    ----------
    experiment : Experiment
    out : Path
        Folder with ``experiment.name / record.json``.
    jobs : int
        Number of processes, of one thread each.
    progress : bool
        Tell on stderr what is running.

    Raises
    ------
    Stopped
        If there is no record, or a cell failed.
    """
    folder = out / experiment.name
    if not (folder / "record.json").exists():
        raise Stopped(f"there is no record in {folder}: nothing can be checked")
    found = record.read(folder / "record.json")
    if not record.changed_parts(found):
        return None
    settings = found["settings"]
    cells = [record.as_json(one) for one in experiment.cells(settings["quick"], settings["seeds"])]
    pairs = [(cell, each) for each in found["results"] for cell in cells if _is_of(each, cell)]
    same: dict[str, bool] = {}
    parts: set[str] = set(found.get("parts", ()))
    for _ in range(_ASKED):
        again = quickest(pairs, same)
        with (
            show.reporting(experiment.name, again, [], jobs, wanted=progress) as report,
            closing(run_cells(experiment, again, jobs, report)) as answers,
        ):
            for cell, answer in answers:
                if "error" in answer:
                    raise Stopped(f"{show.in_words(cell)} failed: {answer['error']}")
                before = next(each for own, each in pairs if own == cell)
                same[record.key(cell)] = agree(before, record.as_json(answer))
                parts |= set(answer["parts"])
    run = [(cell, same[record.key(cell)]) for cell, _ in pairs if record.key(cell) in same]
    gone = contradicted(run)
    left = [
        (cell, each)
        for cell, each in pairs
        if same.get(record.key(cell), True) and not gone & set(_words(cell))
    ]
    kept = [record.key(cell) for cell, _ in left]
    results = [each for _, each in left]
    head = {name: value for name, value in found.items() if name != "results"} | {
        "missing": [cell for cell in cells if record.key(cell) not in kept],
        "parts": {name: record.version_of(name) for name in sorted(parts)},
        "checked": {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "made_with": found.get("checked", {}).get("made_with", found.get("parts", {})),
            "cells": [cell for cell, agrees in run if agrees],
            "of": len(pairs),
            "removed": [cell for cell, _ in pairs if record.key(cell) not in kept],
        },
    }
    tables = experiment.tables(results) if results else []
    return finish(Outcome(experiment, folder, {**head, "results": results}, tables))


def quickest(pairs: list[tuple[Fields, Fields]], same: dict[str, bool]) -> list[Fields]:
    """Cells to run next: of every word of which none gave the same yet, the one that took least.

    ``same`` says of cells that were run again, by their keys, whether they gave the same.

    Examples
    --------
    >>> took = [
    ...     ({"method": "a", "seed": 0}, {"seconds": 2.0}),
    ...     ({"method": "a", "seed": 1}, {"seconds": 1.0}),
    ...     ({"method": "b", "seed": 0}, {"seconds": 9.0}),
    ... ]
    >>> quickest(took, {})
    [{'method': 'a', 'seed': 1}, {'method': 'b', 'seed': 0}]
    >>> quickest(took, {record.key(took[1][0]): False, record.key(took[2][0]): True})
    [{'method': 'a', 'seed': 0}]
    """
    good = {word for cell, _ in pairs if same.get(record.key(cell)) for word in _words(cell)}
    best: dict[Any, tuple[float, Fields]] = {}
    for cell, each in pairs:
        for word in _words(cell):
            if word in good or record.key(cell) in same:
                continue
            if word not in best or each["seconds"] < best[word][0]:
                best[word] = each["seconds"], cell
    return list({record.key(cell): cell for _, cell in best.values()}.values())


def contradicted(run: list[tuple[Fields, bool]]) -> set[tuple[str, str]]:
    """Words of which no cell that was run again gave the same.

    Examples
    --------
    >>> run = [({"problem": "x", "method": "a"}, True), ({"problem": "x", "method": "b"}, False)]
    >>> contradicted(run)
    {('method', 'b')}
    """
    good = {word for cell, same in run for word in _words(cell) if same}
    bad = {word for cell, same in run for word in _words(cell) if not same}
    return bad - good


def agree(before: Any, now: Any) -> bool:
    """Whether all numbers of a cell are the same to rounding, but for seconds.

    Examples
    --------
    >>> agree({"kl": 2.0, "seconds": 3.0}, {"kl": 2.0 + 1e-9, "seconds": 4.0, "parts": []})
    True
    >>> agree({"kl": [2.0]}, {"kl": [2.1]})
    False
    """
    if isinstance(before, dict) and isinstance(now, dict):
        names = [name for name in now if not (name.endswith("seconds") or name in _ASIDE)]
        return all(name in before and agree(before[name], now[name]) for name in names)
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(agree, before, now))
    numbers = (int, float)
    if isinstance(before, numbers) and isinstance(now, numbers):
        return math.isclose(before, now, rel_tol=_RELATIVE, abs_tol=1e-9)
    return bool(before == now)


def _words(cell: Fields) -> list[tuple[str, str]]:
    """Names and words of a cell; one that has none shares the empty one with all others."""
    return [(name, one) for name, one in cell.items() if isinstance(one, str)] or [("", "")]


def _is_of(each: Fields, cell: Fields) -> bool:
    """Whether a result is that of a cell."""
    return all(name in each and each[name] == value for name, value in cell.items())
