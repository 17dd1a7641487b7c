"""Mutants: small changes of the code, each of which some test should notice.

    make mutants                     # all modules named in pyproject.toml
    python benchmarks/_mutants.py --modules "isthmus.data.holdout*"

mutmut changes one thing at a time in the modules that ``[tool.mutmut]`` of pyproject.toml names and
runs the quick tests that reach it. The record has the share that was noticed for each module and
lists the others: a mutant that no test can notice, since it does the same, stays there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from _record import Run, console, options, table

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "pyproject.toml")
GOAL = 0.9
_LINE = re.compile(r"\s*(\S+__mutmut_\d+): (.+)")
NOTICED = ("killed", "timeout", "suspicious", "caught by type check")


def mutate(folder: Path, modules: list[str], jobs: int) -> dict[str, str]:
    """Run mutmut on a copy of the code; what became of every mutant, by its name."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
    command = [sys.executable, "-m", "mutmut"]
    run = [*command, "run", "--max-children", str(jobs), *modules]
    subprocess.run(run, cwd=folder, check=True)
    results = subprocess.run(
        [*command, "results", "--all", "true"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    found = dict(
        match.groups() for match in map(_LINE.fullmatch, results.stdout.splitlines()) if match
    )
    return {name: told for name, told in found.items() if told != "not checked"}


def changed(folder: Path, name: str) -> list[str]:
    """Lines that a mutant takes away and puts in."""
    shown = subprocess.run(
        [sys.executable, "-m", "mutmut", "show", name], cwd=folder, capture_output=True, text=True
    )
    lines = shown.stdout.splitlines()
    return [line for line in lines if re.match(r"[-+](?![-+]{2})", line)]


def module_of(name: str) -> str:
    """``isthmus.data.holdout`` of ``isthmus.data.holdout.x_halves__mutmut_1``."""
    return name.rpartition(".")[0]


def main() -> None:
    parser = options(__doc__ or "", "mutants")
    parser.add_argument("--modules", nargs="*", default=[], help="patterns of mutants to run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.modules = ["isthmus.data.holdout.x_halves*"]
    run = Run("mutants", arguments)
    run.settings = {"modules": arguments.modules, "quick": arguments.quick}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    found = mutate(arguments.folder, arguments.modules, arguments.jobs)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, told in found.items():
        counts[module_of(name)][0] += told in NOTICED
        counts[module_of(name)][1] += 1
    shown = table("Mutants", "<module", "noticed", "of", "share")
    for module, (noticed, every) in sorted(counts.items()):
        shown.add_row(module, str(noticed), str(every), f"{noticed / every:.1%}")
    console.print(shown)
    noticed, every = (sum(pair[k] for pair in counts.values()) for k in (0, 1))
    score = noticed / every if every else 0.0
    survivors = {
        name: {"what": told, "change": changed(arguments.folder, name)}
        for name, told in sorted(found.items())
        if told not in NOTICED
    }
    run.write(
        score=score,
        modules={m: {"noticed": a, "of": b, "score": a / b} for m, (a, b) in counts.items()},
        survivors=survivors,
    )
    console.print(f"{score:.1%} of {every} mutants were noticed; the goal is {GOAL:.0%}.")
    sys.exit(score < GOAL)


if __name__ == "__main__":
    main()
