"""What the three tables share: cells of problem, method, rows and seed, and how they are shown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..problems import DistributionPair
from .methods import FRESH_ROWS, METHODS, measure
from .record import Fields
from .results import distinct, mean_and_spread, number, select
from .runner import Difference, Experiment
from .samples import full_rows, pair
from .show import Table

# What the paper calls its runs: it repeats each with three seeds and prints their spread.
PAPER_RUNS = 3
# Our methods, and those of the paper that they repeat.
REPEATED = {
    **dict.fromkeys(("paper", "paper-rows", "paper-searched", "paper-newton"), "mdre"),
    **{name: name for name in ("bdre", "tre", "fdre")},
}
# Of which all seeds are run in any number of columns: the paper's training with its number of rows,
# whose numbers are compared with printed ones, and what takes seconds. Above so many columns all
# others have one.
OFTEN = ("paper-rows", "paper-searched", "plug-in")
MANY = 100
SEEDS_TOLD = (
    "Numbers without a ± are of one seed: networks that learn a function of time, and in 160 and "
    "320 columns all but the plug-in and the paper's training with 100,000 rows, take minutes "
    "each; where others have one seed too, the rest stands under “Not run”."
)
_PAPER_LABELS = {"mdre": "MDRE", "bdre": "BDRE", "tre": "TRE", "fdre": "F-DRE"}
# Flow matching takes a minute for thousands of rows of 40 columns.
_QUICK = {"fresh": 500, "steps": 60}

_CHASM = (
    "no row of p lies near one of q, so that the binary loss does not hold the log-ratio, and what "
    "does decides the number: here a penalty chosen by held-out likelihood and, where all rows are "
    "told apart whatever it is, the solver's tolerance; in the paper the end of training. Weaker "
    "penalties and finer tolerances were tried: the page of the rivals has them."
)
_UNPUBLISHED = (
    "The rate, batches and steps are those of the authors' notebook for 40 columns; those for more "
    "columns are not published. isthmus reproduce search looks for others by held-out loss."
)
_WHY = {
    "paper": _UNPUBLISHED,
    "paper-rows": _UNPUBLISHED,
    "paper-searched": "No setting of the grid with a lower held-out loss was found, whatever its "
    "KL: the grid is on the page of the search.",
    "bdre": f"Binary: {_CHASM}",
    "tre": "Penalties are chosen by held-out likelihood and shrink every bridge; the paper's were "
    "trained by gradient steps on 100,000 rows. More waymarks, more pairs and anchors were tried: "
    "the row with anchors and the page of the rivals have them.",
    "fdre": "A flow brings p and q no closer, and its classifier is binary, here of a quadratic "
    f"critic: {_CHASM}",
}
_TRE_NEARER = (
    "Every bridge is a convex problem that is solved here, with a penalty chosen by held-out "
    "likelihood; the paper's were trained by gradient steps and stay further from the truth."
)

COVERING = "its 95 % intervals that hold the truth and are no wider than it"
HOW_COMPARED = (
    "An asterisk marks a mean more than two standard errors from the paper's. The square of "
    "the standard error is s²/n + s'²/3, with s our spread over n seeds and s' the paper's over "
    "its three; where it prints no spread, s² (1/n + 1), as if its one run were one of ours."
)


def kl_cells(
    problems: Iterable[str],
    methods: Iterable[str],
    seeds: int,
    *,
    rows: int | None = None,
    quick: bool = False,
) -> list[Fields]:
    """Cells of every method that applies and is installed, all with the same rows of a problem.

    ``rows`` are by default those of a full run, in which a method may have a row of its own
    number beside them.
    """
    out = []
    for name in problems:
        problem = pair(name)
        for method in methods:
            how = METHODS[method]
            if not how.installed or how.make(problem, 0) is None:
                continue
            if how.rows is not None and rows is not None:
                continue
            size = rows or how.rows or full_rows(problem.dim)
            cell = {"problem": name, "method": method, "rows": size, "fresh": FRESH_ROWS}
            cell |= _QUICK if quick else {}
            out += [{**cell, "seed": seed} for seed in range(_seeds(method, problem.dim, seeds))]
    return out


def _seeds(method: str, dim: int, wanted: int) -> int:
    """Seeds of a method: in many columns, where fits take minutes, most have one."""
    few = METHODS[method].once or (dim > MANY and method not in OFTEN)
    return min(wanted, 1) if few else wanted


class KLTable(Experiment):
    """Base of the tables of KL divergences."""

    caption = ""
    methods: tuple[str, ...] = tuple(METHODS)

    def run(self, cell: Fields) -> Fields:
        """Fit and judge one method; see :func:`isthmus.reproduce.methods.measure`."""
        return measure(cell)

    def tables(self, results: list[Fields]) -> list[Table]:
        main = kl_table(self.caption, results, self.differences(results), self.methods)
        return [main, *self.further_tables(results)]

    def further_tables(self, results: list[Fields]) -> list[Table]:
        """Errors of the log-ratio, what it took, and what the methods are."""
        return [make(results, self.methods) for make in (error_table, cost_table, method_table)]

    def why(self, problem: str, method: str, ours: float, paper: float) -> str:
        """Why a method's mean is not the paper's, as a sentence; empty if it is not known."""
        truth = pair(problem).kl
        if method == "tre" and abs(ours - truth) < abs(paper - truth):
            return _TRE_NEARER
        return _WHY.get(method, "")

    def differences(self, results: list[Fields]) -> list[Difference]:
        """Means of methods of the paper that are more than two standard errors from its own."""
        out: list[Difference] = []
        # A quick run, with fewer steps and rows, says nothing about the paper's numbers.
        full = [each for each in results if "steps" not in each]
        for (name, method), kls in grouped(full, "problem", "method").items():
            paper, theirs = pair(name).paper, REPEATED.get(method, "")
            where = f"{short(name)}, {METHODS[method].label}"
            spread = paper.get(f"{theirs}_spread")
            out += self.difference(where, name, method, kls, paper.get(theirs), spread)
        return out

    def difference(
        self,
        where: str,
        problem: str,
        method: str,
        kls: Sequence[float],
        paper: float | None,
        spread: float | None = None,
    ) -> list[Difference]:
        """The difference of one mean from the paper's number, if there is one that counts."""
        errors = 0.0 if paper is None else distance(kls, paper, spread)
        if paper is None or errors <= 2.0:
            return []
        ours = statistics.mean(kls)
        return [Difference(where, ours, paper, errors, self.why(problem, method, ours, paper))]


def grouped(results: list[Fields], *names: str, value: str = "kl") -> dict[tuple[Any, ...], Any]:
    """Values of results that share some fields, those that are numbers."""
    out: dict[tuple[Any, ...], list[float]] = {}
    for each in results:
        if each.get(value) is not None:
            out.setdefault(tuple(each[name] for name in names), []).append(each[value])
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


def by_method(
    title: str,
    corner: str,
    results: list[Fields],
    methods: Iterable[str],
    told: Callable[[str, str], str],
    note: str,
) -> Table:
    """A row for each method that has something to tell, a column for each problem."""
    names = distinct(results, "problem")
    rows = [[METHODS[method].label, *(told(name, method) for name in names)] for method in methods]
    return Table(title, [corner, *map(short, names)], [row for row in rows if any(row[1:])], [note])


def kl_table(
    title: str, results: list[Fields], differences: list[Difference], methods: Iterable[str]
) -> Table:
    """Truth, the paper's numbers and ours: a row for each method, a column for each problem."""
    names = distinct(results, "problem")
    problems = [pair(name) for name in names]
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
        rests = [_rests(results, name, method) for name in names]
        rows.append([label, *map("".join, zip(row, stars, rests, strict=True))])
        cross = [mean_and_spread(crossed.get((name, method), [])) for name in names]
        if any(cross):
            rows.append([f"{label}, cross-fitted", *cross])
            rows.append([COVERING, *_coverage(results, problems)])
    # A column's name, and what stands behind it: its description without the table's name.
    told = [
        f"{short(each.name)}: {each.description.split(':', 1)[-1].strip()}" for each in problems
    ]
    columns = ["KL, nats", *map(short, names)]
    notes = [" ".join(told), SEEDS_TOLD, *([HOW_COMPARED] if flagged else [])]
    return Table(title, columns, rows, notes)


def _paper_row(problems: Sequence[DistributionPair], what: str) -> list[str]:
    row = []
    for problem in problems:
        value, spread = problem.paper.get(what), problem.paper.get(f"{what}_spread")
        told = "" if value is None else number(value)
        row.append(told if spread is None else f"{told} ± {number(spread)}")
    return row


def _rests(results: list[Fields], name: str, method: str) -> str:
    """What the answers of a method rest on, in brackets; that of most seeds first."""
    told = [
        each["rests_on"].removeprefix("fitted densities: ")
        for each in select(results, problem=name, method=method)
        if each.get("rests_on")
    ]
    often = sorted(dict.fromkeys(told), key=told.count, reverse=True)
    return f" ({' / '.join(often)})" if often else ""


def covers(low: float, high: float | None, truth: float) -> bool:
    """Whether an interval says something that is true: it holds the truth and is no wider.

    Examples
    --------
    >>> covers(90.0, 110.0, 100.0), covers(0.0, 363.0, 100.0), covers(90.0, None, 100.0)
    (True, False, False)
    """
    return high is not None and low <= truth <= high and high - low <= truth


def _coverage(results: list[Fields], problems: Sequence[DistributionPair]) -> list[str]:
    row = []
    for problem in problems:
        mine = [
            covers(each["low"], each["high"], problem.kl)
            for each in select(results, problem=problem.name)
            if each.get("compare") is not None
        ]
        row.append(f"{sum(mine)} of {len(mine)}" if mine else "")
    return row


def error_table(results: list[Fields], methods: Iterable[str]) -> Table:
    """Root mean square errors of log p/q on fresh rows of p and of q."""
    on = {side: grouped(results, "problem", "method", value=f"rms_{side}") for side in "pq"}

    def told(name: str, method: str) -> str:
        both = [on[side].get((name, method)) for side in "pq"]
        parts = [number(statistics.mean(each)) if each else "–" for each in both]
        return " / ".join(parts) if any(both) else ""

    note = (
        "Root mean square error of log p/q, in nats, on fresh rows of p / of q where the "
        "true log-ratio is finite; mean over seeds."
    )
    title = "Error of the log-ratio itself"
    return by_method(title, "on p / on q", results, methods, told, note)


def cost_table(results: list[Fields], methods: Iterable[str]) -> Table:
    """Rows that each method was given, and seconds that it took."""
    seconds = grouped(results, "problem", "method", value="fit_seconds")
    rows = grouped(results, "problem", "method", value="rows")

    def told(name: str, method: str) -> str:
        taken = seconds.get((name, method))
        return f"{rows[name, method][0]:,}: {statistics.mean(taken):.1f} s" if taken else ""

    note = (
        "Rows of each sample that the method was given, and processor seconds of its fit on one "
        "thread. All methods have the same rows of a problem, but for those that say "
        "otherwise. For the default it is compare(p, q), with its further fits for the interval."
    )
    return by_method("Rows and seconds", "rows: seconds", results, methods, told, note)


def method_table(results: list[Fields], methods: Iterable[str]) -> Table:
    """What each method is; and which were not run."""
    there = set(distinct(results, "method"))
    listed = list(methods)
    rows = [[METHODS[m].label, METHODS[m].about] for m in listed if m in there]
    absent = ", ".join(METHODS[m].label for m in listed if m not in there)
    notes = [f"Not run: {absent}."] if absent else []
    return Table("Methods", ["method", "what it is here"], rows, notes)
