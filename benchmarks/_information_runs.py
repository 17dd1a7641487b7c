"""Single runs of the benchmark of mutual information: one task, one method, one seed."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from _information_tasks import task

from isthmus import mutual_information
from isthmus.data.seeds import Seeds
from isthmus.information import Information
from isthmus.information.variational import CriticSettings, variational_information
from isthmus.neural import require_torch

NETWORKS = ("infonce", "dv", "mine", "nwj", "smile")
METHODS = ("auto", "ksg", "cca", "gaussian", *NETWORKS)
# The criterion of the BMI benchmark: the mean within this factor, at so many rows and all more.
FACTOR, SIZES = 1.5, (100, 500, 1_000, 3_000, 5_000, 10_000)
# Steps of the networks of a quick run.
FEW_STEPS = 60
# Trusted and off by more than both: wrong.
RELATIVE, ABSOLUTE = 0.2, 0.05

Found = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One call: a task by "set/name", a method, a seed; rows where not those of the task."""

    name: str
    method: str = "auto"
    seed: int = 0
    rows: int | None = None
    folder: str = ""
    """Where the tasks of the set bmi are."""
    quick: bool = False

    @property
    def key(self) -> tuple[str, str, int]:
        return self.name, self.method, self.seed


def drawn(case: Case) -> tuple[Any, Any, float]:
    """Rows of x and y, and the truth."""
    group, name = case.name.split("/", 1)
    if group != "bmi":
        return task(case.name, case.rows, case.seed)
    with np.load(Path(case.folder) / f"{name}.npz") as file:
        x, y, truth = file["x"].astype(float), file["y"].astype(float), float(file["mi"])
    if case.rows is not None:
        order = np.random.default_rng(crc32(name.encode())).permutation(len(x))
        rows = order[case.seed * case.rows : (case.seed + 1) * case.rows]
        x, y = x[rows], y[rows]
    return x, y, truth


def samples_apart(case: Case, size: int, wanted: int) -> int:
    """How many samples of a size share no row: of a file as many as it has room for."""
    group, name = case.name.split("/", 1)
    if group != "bmi":
        return wanted
    with np.load(Path(case.folder) / f"{name}.npz") as file:
        return min(wanted, len(file["x"]) // size)


def applies(method: str, x: Any, y: Any) -> bool:
    """Whether a method can be asked: rivals take arrays, whose labels they get as numbers."""
    return method == "auto" or (isinstance(x, np.ndarray) and isinstance(y, np.ndarray))


def estimate(case: Case, x: Any, y: Any) -> Information:
    """What a method answers, with its default settings."""
    if case.method == "auto":
        return mutual_information(x, y, random_state=case.seed)
    x, y = (_numbers(side) for side in (x, y))
    if not case.quick or case.method not in NETWORKS:
        return mutual_information(
            x, y, method=case.method, discrete_x=False, discrete_y=False, random_state=case.seed
        )
    sides = [(side - side.mean(axis=0)) / side.std(axis=0) for side in (x, y)]
    settings = CriticSettings(steps=FEW_STEPS)
    value, error = variational_information(*sides, case.method, Seeds(case.seed), settings)
    return Information(value, error, value - 2 * error, value + 2 * error, method=case.method)


def _numbers(side: np.ndarray) -> np.ndarray:
    """Columns of numbers; labels are numbered in the order of their names."""
    if side.dtype.kind not in "biuf":
        side = np.unique(side, return_inverse=True)[1]
    return np.asarray(side, dtype=float).reshape(len(side), -1)


def measured(case: Case) -> Found | None:
    """One answer, judged; None where a method does not apply, "failed" where it has no answer."""
    x, y, truth = drawn(case)
    if not applies(case.method, x, y):
        return None
    group, name = case.name.split("/", 1)
    out: Found = {"set": group, "task": name, "method": case.method, "seed": case.seed}
    out |= {"rows": len(x), "truth": truth}
    if case.method in NETWORKS:
        # Its import is not part of the time.
        require_torch(f"method={case.method!r}")
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = estimate(case, x, y)
        except Exception as error:
            # Whatever it is, it is an answer that a user does not get.
            return out | {"failed": f"{type(error).__name__}: {error}"[:200]}
    out["seconds"] = time.process_time() - started
    if not math.isfinite(found.value):
        return out | {"failed": f"the value is {found.value}"}
    return out | judged(found, truth)


def judged(found: Information, truth: float) -> Found:
    """An answer beside the truth; an upper end that is infinite is left out."""
    error = found.value - truth
    out: Found = {
        "value": found.value,
        "error": error,
        "low": found.low,
        "one_sided": not math.isfinite(found.high),
        "covered": covers(found.low, found.high, truth),
        "trusted": found.trusted,
        "wrong": found.trusted and abs(error) > max(RELATIVE * truth, ABSOLUTE),
        "lower_bound": found.lower_bound,
        "ratio": found.method,
    }
    if math.isfinite(found.high):
        out["high"] = found.high
    return out


def covers(low: float, high: float, truth: float) -> bool:
    """Whether an interval holds the truth.

    One from zero to infinity says nothing, and counts only where there is next to nothing.
    """
    says = math.isfinite(high) or low > 0 or truth < ABSOLUTE
    return bool(low <= truth <= high and says)


def least_rows(case: Case, sizes: tuple[int, ...], seeds: int) -> Found | None:
    """The least number of rows from which on the mean over seeds is within a factor of 1.5.

    From the largest down, until one is not; "least" is left out where the largest is not. A file
    has fewer samples of many rows that share none.
    """
    group, name = case.name.split("/", 1)
    out: Found = {"set": group, "task": name, "method": case.method, "seeds": seeds, "means": {}}
    started = time.process_time()
    for size in sorted(sizes, reverse=True):
        values = []
        for seed in range(samples_apart(case, size, seeds)):
            one = Case(case.name, case.method, seed, size, case.folder, case.quick)
            found = measured(one)
            if found is None:
                return None
            out["truth"] = found["truth"]
            values.append(found.get("value", math.nan))
        mean = float(np.mean(values))
        out["means"][size] = mean
        # Not a number, and zero or less, are outside.
        if not (mean > 0 and abs(math.log(mean / out["truth"])) < math.log(FACTOR)):
            break
        out["least"] = size
    return out | {"seconds": time.process_time() - started}
