"""What the three tables share: cells of problem, method, rows and seed, and how they are shown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from .methods import FRESH_ROWS, METHODS, measure
from .record import Found
from .runner import Difference, Experiment
from .show import Table

if TYPE_CHECKING:
    from ..problems import DistributionPair

# What the paper calls its runs: it repeats each with three seeds and prints their spread.
PAPER_RUNS = 3
# Our methods, and those of the paper that they repeat.
REPEATED = {"paper": "mdre", "paper-adam": "mdre", "bdre": "bdre", "tre": "tre", "fdre": "fdre"}
_PAPER_LABELS = {"mdre": "MDRE", "bdre": "BDRE", "tre": "TRE", "fdre": "F-DRE"}
_QUICK = {"fresh": 2000, "steps": 60}

_CHASM = (
    "no row of p lies near one of q, so that the binary loss does not hold the log-ratio, and what "
    "does decides the number: here a penalty chosen by held-out likelihood, in the paper the end "
    "of training."
)
_WHY = {
    "paper-adam": "How far a number of steps leads depends on the rate, the batches and the start, "
    "none of which the paper prints.",
    "bdre": f"Binary: {_CHASM}",
    "tre": "TRE has as many rows here as it can use in the time, and its penalties are chosen by "
    "held-out likelihood; with fewer rows they are stronger and shrink every bridge.",
    "fdre": "A flow brings p and q no closer, and its classifier is binary, here of a quadratic "
    f"critic: {_CHASM}",
}
_TRE_NEARER = (
    "Every bridge is a convex problem that is solved here, with a penalty chosen by held-out "
    "likelihood; the paper's were trained by gradient steps and stay further from the truth."
)

HOW_COMPARED = (
    "An asterisk marks a mean more than two standard errors from the paper's. The square of "
    "the standard error is s²/n + s'²/3, with s our spread over n seeds and s' the paper's over "
    "its three; where it prints no spread, s² (1/n + 1), as if its one run were one of ours."
)


def load(name: str) -> DistributionPair:
    """The problem of this name; all of the paper's are pairs that know its numbers."""
    from .. import problems

    return cast("DistributionPair", problems.load(name))


def kl_cells(
    problems: Iterable[str],
    methods: Iterable[str],
    rows: int,
    seeds: int,
    *,
    quick: bool = False,
) -> list[Found]:
    """Cells of every method that applies and is installed, with the rows that it can afford."""
    out = []
    for name in problems:
        problem = load(name)
        for method in methods:
            how = METHODS[method]
            if not how.installed or how.make(problem, rows, 0) is None:
                continue
            affordable = how.rows(problem.dim, rows)
            cell = {"problem": name, "method": method, "rows": affordable, "fresh": FRESH_ROWS}
            cell |= _QUICK if quick else {}
            out += [{**cell, "seed": seed} for seed in range(seeds)]
    return out


class KLTable(Experiment):
    """Base of the tables of KL divergences."""

    def run(self, cell: Found) -> Found:
        """Fit and judge one method; see :func:`isthmus.reproduce.methods.measure`."""
        return measure(cell)

    def why(self, problem: str, method: str, ours: float, paper: float) -> str:
        """Why a method's mean is not the paper's, as a sentence; empty if it is not known."""
        truth = load(problem).kl
        if method == "tre" and abs(ours - truth) < abs(paper - truth):
            return _TRE_NEARER
        return _WHY.get(method, "")

    def differences(self, results: list[Found]) -> list[Difference]:
        """Means of methods of the paper that are more than two standard errors from its own."""
        out = []
        # A quick run, with fewer steps and rows, says nothing about the paper's numbers.
        full = [each for each in results if "steps" not in each]
        for (name, method), kls in grouped(full, "problem", "method").items():
            theirs = REPEATED.get(method)
            if theirs is None or theirs not in load(name).paper:
                continue
            ours = statistics.mean(kls)
            paper = load(name).paper[theirs]
            errors = distance(kls, paper, load(name).paper.get(f"{theirs}_spread"))
            if errors > 2.0:
                where = f"{short(name)}, {METHODS[method].label}"
                why = self.why(name, method, ours, paper)
                out.append(Difference(where, ours, paper, errors, why))
        return out


def grouped(results: list[Found], *keys: str, value: str = "kl") -> dict[tuple[Any, ...], Any]:
    """Values of results that share some keys, those that are numbers."""
    out: dict[tuple[Any, ...], list[float]] = {}
    for each in results:
        if each.get(value) is not None:
            out.setdefault(tuple(each[k] for k in keys), []).append(each[value])
    return out


def distance(ours: Sequence[float], paper: float, spread: float | None) -> float:
    """Distance of the mean of ours from the paper's number, in standard errors.

    Of a single seed of ours nothing is known but the paper's own spread.

    Examples
    --------
    >>> round(distance([10.0, 11.0, 12.0], 9.0, 1.0), 2)  # 2 / sqrt(1/3 + 1/3)
    2.45
    >>> distance([10.0], 9.0, None)  # nothing is known of the spread
    0.0
    """
    n = len(ours)
    own = statistics.stdev(ours) if n > 1 else spread or 0.0
    variance = own**2 / n + (own**2 if spread is None else spread**2 / PAPER_RUNS)
    gap = abs(statistics.mean(ours) - paper)
    return gap / math.sqrt(variance) if variance > 0 else 0.0


def short(name: str) -> str:
    """A problem's name without its table: "40-shifted"."""
    return name.split("/", 1)[-1]


def number(value: float) -> str:
    """A number of nats with two digits after the point, or a few where it is enormous.

    Examples
    --------
    >>> number(203.317), number(-0.0812), number(42535.07)
    ('203.32', '-0.08', '4.3e+04')
    """
    return f"{value:.2f}" if abs(value) < 1e4 else f"{value:.1e}"


def mean_and_spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation over seeds; a spread needs two.

    Examples
    --------
    >>> mean_and_spread([10.0, 11.0, 12.0]), mean_and_spread([3.0]), mean_and_spread([])
    ('11.00 ± 1.00', '3.00', '')
    """
    if not values:
        return ""
    if len(values) == 1:
        return number(values[0])
    return f"{number(statistics.mean(values))} ± {number(statistics.stdev(values))}"


def kl_table(
    title: str,
    results: list[Found],
    differences: list[Difference],
    *,
    methods: Iterable[str],
) -> Table:
    """Truth, the paper's numbers and ours: a row for each method, a column for each problem."""
    names = list(dict.fromkeys(each["problem"] for each in results))
    problems = [load(name) for name in names]
    rows = [["truth", *(f"{problem.kl:.2f}" for problem in problems)]]
    if any(abs(problem.kl - problem.paper.get("truth", problem.kl)) > 0.05 for problem in problems):
        rows.append(["truth, as the paper has it", *_paper_row(problems, "truth")])
    for theirs, label in _PAPER_LABELS.items():
        row = _paper_row(problems, theirs)
        if any(row):
            rows.append([f"paper's {label}", *row])
    kls = grouped(results, "problem", "method")
    crossed = grouped(results, "problem", "method", value="compare")
    flagged = {each.where for each in differences}
    for method in methods:
        label = METHODS[method].label
        row = [mean_and_spread(kls.get((name, method), [])) for name in names]
        if not any(row):
            continue
        stars = ["*" if f"{short(name)}, {label}" in flagged else "" for name in names]
        rows.append([label, *(cell + star for cell, star in zip(row, stars, strict=True))])
        cross = [mean_and_spread(crossed.get((name, method), [])) for name in names]
        if any(cross):
            rows.append([f"{label}, cross-fitted", *cross])
            rows.append(["its 95 % intervals that hold the truth", *_coverage(results, problems)])
    columns = ["KL, nats", *(short(name) for name in names)]
    told = [_described(problem) for problem in problems]
    return Table(title, columns, rows, [" ".join(told), *([HOW_COMPARED] if flagged else [])])


def _described(problem: DistributionPair) -> str:
    """A column's name with what stands behind it: its description without the table's name."""
    what = problem.description.split(":", 1)[-1].strip()
    return f"{short(problem.name)}: {what}"


def _paper_row(problems: Sequence[DistributionPair], what: str) -> list[str]:
    row = []
    for problem in problems:
        value, spread = problem.paper.get(what), problem.paper.get(f"{what}_spread")
        told = "" if value is None else number(value)
        row.append(told if spread is None else f"{told} ± {number(spread)}")
    return row


def _coverage(results: list[Found], problems: Sequence[DistributionPair]) -> list[str]:
    row = []
    for problem in problems:
        mine = [
            each["low"] <= problem.kl <= each["high"]
            for each in results
            if each["problem"] == problem.name and each.get("compare") is not None
        ]
        row.append(f"{sum(mine)} of {len(mine)}" if mine else "")
    return row


def error_table(results: list[Found], methods: Iterable[str]) -> Table:
    """Root mean square errors of log p/q on fresh rows of p and of q."""
    names = list(dict.fromkeys(each["problem"] for each in results))
    on = {side: grouped(results, "problem", "method", value=f"rms_{side}") for side in "pq"}
    rows = []
    for method in methods:
        row = []
        for name in names:
            pair = [on[side].get((name, method)) for side in "pq"]
            told = [number(statistics.mean(values)) if values else "–" for values in pair]
            row.append("" if pair == [None, None] else " / ".join(told))
        if any(row):
            rows.append([METHODS[method].label, *row])
    note = (
        "Root mean square error of log p/q, in nats, on fresh rows of p / of q where the "
        "true log-ratio is finite; mean over seeds."
    )
    columns = ["on p / on q", *(short(name) for name in names)]
    return Table("Error of the log-ratio itself", columns, rows, [note])


def cost_table(results: list[Found], methods: Iterable[str]) -> Table:
    """Rows that each method was given, and seconds that it took."""
    names = list(dict.fromkeys(each["problem"] for each in results))
    seconds = grouped(results, "problem", "method", value="fit_seconds")
    rows_of = grouped(results, "problem", "method", value="rows")
    rows = []
    for method in methods:
        row = []
        for name in names:
            mine = seconds.get((name, method))
            used = rows_of.get((name, method), [0])[0]
            row.append(f"{used:,}: {statistics.mean(mine):.1f} s" if mine else "")
        if any(row):
            rows.append([METHODS[method].label, *row])
    note = (
        "Rows of each sample that the method was given, and processor seconds of its fit on one "
        "thread. A method that takes too long on all rows gets fewer. For the default it is "
        "compare(p, q), with its five further fits for the interval."
    )
    columns = ["rows: seconds", *(short(name) for name in names)]
    return Table("Rows and seconds", columns, rows, [note])


def method_table(results: list[Found], methods: Iterable[str]) -> Table:
    """What each method is; and which were not run."""
    run = {each["method"] for each in results}
    methods = list(methods)
    rows = [[METHODS[m].label, METHODS[m].about] for m in methods if m in run]
    absent = [METHODS[method].label for method in methods if method not in run]
    return Table(
        "Methods",
        ["method", "what it is here"],
        rows,
        [f"Not run: {', '.join(absent)}."] if absent else [],
    )
