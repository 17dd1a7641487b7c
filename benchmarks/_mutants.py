"""Mutants: small changes of the code, each of which some test should notice.

    make mutants
    python benchmarks/_mutants.py --modules "isthmus.data.holdout*" --sample 0

mutmut changes one thing at a time in the modules that ``[tool.mutmut]`` of pyproject.toml names and
runs the quick tests that reach it. All mutants of some modules are met, and of the others a sample
that is drawn with a seed. The record has the share that was noticed for each module and lists the
mutants that were not: one that no test can notice, since it does the same, stays there.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path

from _record import Run, console, options, table

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "pyproject.toml")
GOAL = 0.9
SEED = 0
WHOLE = ["isthmus.data.holdout*", "isthmus.model.objective*", "isthmus.functionals.weights*"]
UNSEEN = "not checked"
_LINE = re.compile(r"\s*(\S+__mutmut_\d+): (.+)")
# A test that takes too long may only have met a busy machine.
NOTICED = ("killed", "caught by type check")


def copy(folder: Path, *, anew: bool) -> None:
    """The code, to be changed; nothing is left of an earlier run if it is to be begun anew."""
    if anew:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)


def mutmut(folder: Path, *arguments: str, told: bool = True) -> str:
    """Run mutmut; what it prints, unless that is shown."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    out = subprocess.PIPE if told else None
    return subprocess.run(command, cwd=folder, check=True, stdout=out, text=True).stdout


def results(folder: Path) -> dict[str, str]:
    """What became of every mutant, by its name."""
    lines = mutmut(folder, "results", "--all", "true").splitlines()
    return dict(match.groups() for match in map(_LINE.fullmatch, lines) if match)


def mutate(folder: Path, modules: list[str], sample: int, jobs: int) -> dict[str, str]:
    """Meet all mutants of some modules and a sample of those of others."""
    run = ("run", "--max-children", str(jobs))
    mutmut(folder, *run, *modules, told=False)
    others = sorted(name for name, told in results(folder).items() if told == UNSEEN)
    drawn = random.Random(SEED).sample(others, min(sample, len(others)))
    if drawn:
        mutmut(folder, *run, *drawn, told=False)
    return {name: told for name, told in results(folder).items() if told != UNSEEN}


def meet_again(folder: Path, modules: list[str], jobs: int) -> dict[str, str]:
    """Meet those once more that earlier tests did not notice; no test was taken away since."""
    seen = {name: told for name, told in results(folder).items() if told != UNSEEN}
    left = [
        name
        for name, told in seen.items()
        if told not in NOTICED and any(fnmatch(name, pattern) for pattern in modules)
    ]
    if left:
        mutmut(folder, "run", "--max-children", str(jobs), *left, told=False)
    return {name: told for name, told in results(folder).items() if name in seen}


def changed(folder: Path, name: str) -> list[str]:
    """Lines that a mutant takes away and puts in."""
    return [
        line
        for line in mutmut(folder, "show", name).splitlines()
        if re.match(r"[-+](?![-+]{2})", line)
    ]


def module_of(name: str) -> str:
    """``isthmus.data.holdout`` of ``isthmus.data.holdout.x_halves__mutmut_1``."""
    return name.rpartition(".")[0]


def main() -> None:
    parser = options(__doc__ or "", "mutants")
    parser.add_argument("--modules", nargs="*", default=WHOLE, help="whose mutants are met")
    parser.add_argument("--sample", type=int, default=300, help="how many of the others are met")
    parser.add_argument("--again", action="store_true", help="only those not noticed last time")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.modules, arguments.sample = ["isthmus.data.holdout.x_halves*"], 0
    run = Run("mutants", arguments)
    run.settings = {
        "whole": arguments.modules,
        "sample": arguments.sample,
        "seed": SEED,
        "again": arguments.again,
        "quick": arguments.quick,
    }
    copy(arguments.folder, anew=not arguments.again)
    if arguments.again:
        found = meet_again(arguments.folder, arguments.modules, arguments.jobs)
    else:
        found = mutate(arguments.folder, arguments.modules, arguments.sample, arguments.jobs)
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
        met=every,
        modules={m: {"noticed": a, "of": b, "score": a / b} for m, (a, b) in counts.items()},
        survivors=survivors,
    )
    console.print(f"{score:.1%} of {every} mutants were noticed; the goal is {GOAL:.0%}.")
    sys.exit(score < GOAL)


if __name__ == "__main__":
    main()
