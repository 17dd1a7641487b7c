"""Tasks of mutual information with known truths, by sets.

    x, y, truth = task("sheared 2v2, 5 nats", seed=1)
    python benchmarks/_information_tasks.py  # works the truths out anew

A truth is exact (a closed form or a sum), integrated by quadrature, or the mean of the true
log-ratio over 2,000,000 drawn rows. The last two are kept in ``_information_truths.json``
with their standard errors. Names are unique within a set; ``task`` takes "set/name", too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from _information_families import families, few, high, wide
from _information_parts import CHUNK, Task
from _information_shapes import adversarial, mixtures
from _information_values import discrete, independent

FILE = Path(__file__).with_name("_information_truths.json")
SETS: dict[str, Callable[[], Iterator[Task]]] = {
    "families": families,
    "mixtures": mixtures,
    "adversarial": adversarial,
    "independent": independent,
    "few": few,
    "high": high,
    "wide": wide,
    "discrete": discrete,
}
# Rows of the Monte Carlo of a truth.
ROWS = 2_000_000


@dataclass(frozen=True)
class Truth:
    """A mutual information in nats, its standard error, and where it comes from."""

    value: float
    std_error: float
    how: str


@cache
def every() -> dict[str, Task]:
    """All tasks by "set/name"."""
    return {f"{group}/{each.name}": each for group, made in SETS.items() for each in made()}


def names(group: str) -> list[str]:
    """Names of the tasks of a set, with the set in front."""
    return [name for name in every() if name.startswith(f"{group}/")]


def find(name: str) -> str:
    """The full name of a task."""
    if name in every():
        return name
    found = [full for full in every() if full.split("/", 1)[1] == name]
    if not found:
        raise ValueError(f"name must be that of a task; received {name!r}.")
    return found[0]


def task(name: str, n: int | None = None, seed: int = 0) -> tuple[Any, Any, float]:
    """x and y of n rows (by default as many as the benchmark has), and the truth."""
    full = find(name)
    made = every()[full]
    # Tasks are drawn apart: two that share their copula are two samples of it.
    rng = np.random.default_rng([seed, crc32(full.encode())])
    x, y = made.sample(rng, made.rows if n is None else n)
    return x, y, truth(full).value


def truth(name: str) -> Truth:
    """The truth of a task."""
    full = find(name)
    exact = every()[full].exact
    if exact is not None:
        return Truth(exact, 0.0, "exact")
    return Truth(**_stored()[full])


@cache
def _stored() -> dict[str, dict[str, Any]]:
    return dict(json.loads(FILE.read_text("utf-8"))) if FILE.exists() else {}


def worked_out(made: Task, rows: int = ROWS) -> Truth:
    """The truth of a task by quadrature or Monte Carlo, whichever it has."""
    if made.integral is not None:
        return Truth(made.integral(), 0.0, "integrated")
    if made.log_ratio is None:
        raise ValueError(f"{made.name!r} must have an integral or a log-ratio; it has neither.")
    rng, terms = np.random.default_rng(20_240_601), []
    for start in range(0, rows, CHUNK):
        terms.append(made.log_ratio(*made.draw(rng, min(CHUNK, rows - start))))
    found = np.concatenate(terms)
    return Truth(float(found.mean()), float(found.std() / np.sqrt(rows)), "Monte Carlo")


def main() -> None:
    """Work out and store what is not exact."""
    stored = {}
    for name, made in every().items():
        if made.exact is None:
            stored[name] = asdict(worked_out(made))
            print(f"{name}: {stored[name]['value']:.5f} ± {stored[name]['std_error']:.5f}")
            FILE.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
