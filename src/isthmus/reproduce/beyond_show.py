"""What the page beyond normals says: who beats whom, on which kinds, and what is not known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .beyond_kinds import ADDS_UP, APART, CONTROL, how_apart, pair_of
from .methods import Method
from .record import Fields
from .results import averaged, compact, distinct, mean, number, select
from .show import Table

Methods = Mapping[str, Method]
"""Methods by name, in the order of the tables."""

OURS = "mdre"
# Other forms of our own, which are no rivals: what MDRE rests on, and what it is without its parts.
OWN = ("mdre", "anchors", "binary", "free", "network", "densities")
JUDGES = {"kl": "KL", "rms_p": "rows of p", "rms_q": "rows of q", "rms_m": "rows between"}
_ON = {
    ADDS_UP: "far apart over all columns together",
    APART: "far apart in every column",
    CONTROL: "control",
}
_WHY = (
    "Where many columns add up, rows of every column lie on both sides: log p/q can be learned, "
    "and an auxiliary is what keeps the loss from being content once p and q are told apart. Where "
    "p and q are apart in every column, no row says how q goes on at the rows of p, and what a "
    "method says there is its family's. Along parabolas the critic of quadratics and splines has "
    "no products such as x₁²x₂, which a network can learn."
)
_MARKS = {1: "", 0: " =", -1: " <"}
_MARKED = "“=” marks errors that seeds do not tell from MDRE's, “<” those that are smaller."


def errors(results: list[Fields], kind: str, method: str, judge: str) -> dict[int, float]:
    """Errors of a method on a kind by seed; of the KL, its distance from the truth."""
    out = {}
    for each in select(results, kind=kind, method=method):
        value = each[judge]
        if value is not None:
            out[each["seed"]] = abs(value - each["truth"]) if judge == "kl" else value
    return out


def verdict(results: list[Fields], kind: str, other: str, judge: str) -> int:
    """1 if MDRE's error is smaller than another's, −1 if it is larger, 0 if seeds do not tell.

    A difference counts beyond two standard errors of its mean over the seeds, draw by draw. Of a
    method with one seed the spread is taken to be MDRE's own.

    Examples
    --------
    >>> def cell(method, seed, value):
    ...     return {"kind": "a", "method": method, "seed": seed, "rms_p": value}
    >>> some = [cell("mdre", s, 1.0 + 0.1 * s) for s in range(3)]
    >>> some += [cell("tre", s, 2.0 + 0.2 * s) for s in range(3)]
    >>> verdict(some, "a", "tre", "rms_p"), verdict(some, "a", "bdre", "rms_p")
    (1, 0)
    """
    ours, theirs = (errors(results, kind, name, judge) for name in (OURS, other))
    gaps = np.array([theirs[seed] - ours[seed] for seed in ours if seed in theirs])
    if len(gaps) == 0 or len(ours) < 2:
        return 0
    if len(gaps) == 1:
        error = math.sqrt(2.0) * float(np.std(list(ours.values()), ddof=1))
    else:
        error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    return int(np.sign(gaps.mean())) if abs(gaps.mean()) > 2.0 * error else 0


def judged(results: list[Fields], kind: str, judge: str) -> bool:
    """Whether any row of a kind has a log-ratio that can be judged."""
    return bool(errors(results, kind, OURS, judge))


def rivals(results: list[Fields]) -> list[str]:
    """Names of the rivals that were run."""
    return [name for name in distinct(results, "method") if name not in OWN]


def kinds_of(results: list[Fields]) -> list[str]:
    """Kinds that count: those on which normals are wrong."""
    return [kind for kind in distinct(results, "kind") if how_apart(kind) != CONTROL]


def summary(results: list[Fields]) -> str:
    """What a reader must know first: on how many kinds the claim holds, and on which not."""
    kinds, others = kinds_of(results), rivals(results)
    told = []
    for judge, words in JUDGES.items():
        counted = [kind for kind in kinds if judged(results, kind, judge)]
        beaten = {
            name: [kind for kind in counted if verdict(results, kind, name, judge) == 1]
            for name in ("anchors", "binary", *others)
        }
        all_of = [kind for kind in counted if all(kind in beaten[name] for name in others)]
        told.append(
            f"By {words} MDRE beats its anchors on {len(beaten['anchors'])} of {len(counted)} "
            f"kinds, itself without auxiliaries on {len(beaten['binary'])} and all rivals at once "
            f"on {len(all_of)}{_in_brackets(all_of)}."
        )
    never = [
        kind
        for kind in kinds
        if all(verdict(results, kind, "anchors", judge) < 1 for judge in JUDGES)
    ]
    if never:
        told.append(f"That it beats its anchors cannot be shown at all on {', '.join(never)}.")
    better = [
        kind for kind in kinds if verdict(results, kind, "densities", "rms_p") == -1
    ]  # Of all that is no regression, the strongest.
    if better:
        told.append(
            "Two densities whose families and maps held-out rows chose are better than the "
            f"regression on normals on {', '.join(better)}, by rows of p."
        )
    return " ".join(told)


def _in_brackets(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def remarks(results: list[Fields]) -> list[str]:
    """For each kind, how many methods MDRE beats and how many beat it; and why."""
    others = [name for name in distinct(results, "method") if name != OURS]
    out = []
    for kind in distinct(results, "kind"):
        told = []
        for judge, words in JUDGES.items():
            signs = [verdict(results, kind, name, judge) for name in others]
            count = f"{signs.count(1)} and {signs.count(-1)} by {words}"
            told.append(count if judged(results, kind, judge) else f"nothing is known by {words}")
        out.append(
            f"{kind}, {_ON[how_apart(kind)]}: of {len(others)} others MDRE beats, and is beaten "
            f"by, {'; '.join(told)}."
        )
    return [*out, _WHY]


def tables(results: list[Fields], methods: Methods) -> list[Table]:
    """Counts first, then KL and errors, then what the methods are."""
    there = {name: methods[name] for name in methods if name in distinct(results, "method")}
    return [
        _counts_table(results, there),
        _kl_table(results, there),
        *(_error_table(results, there, judge) for judge in list(JUDGES)[1:]),
        _method_table(results, there),
    ]


def _counts_table(results: list[Fields], methods: Methods) -> Table:
    """On how many kinds MDRE beats each other method, and is beaten."""
    kinds, rows = kinds_of(results), []
    for name in methods:
        if name == OURS:
            continue
        signs = {j: [verdict(results, kind, name, j) for kind in kinds] for j in JUDGES}
        cells = [f"{each.count(1)} / {each.count(-1)}" for each in signs.values()]
        rows.append([methods[name].label, *cells])
    note = (
        f"Of {len(kinds)} kinds, without the control: those on which MDRE beats the method of "
        "the row / is beaten by it, beyond two standard errors; on the others seeds do not tell, "
        "or no log-ratio is within ±200."
    )
    columns = ["MDRE against", *(f"by {words}" for words in JUDGES.values())]
    return Table("On how many kinds MDRE beats each", columns, rows, [note])


def _by_kind(
    title: str,
    results: list[Fields],
    methods: Methods,
    told: Callable[[str, str], str],
    notes: Sequence[str],
) -> Table:
    """A row for each method, a column for each kind."""
    kinds = distinct(results, "kind")
    rows = [[methods[name].label, *(told(kind, name) for kind in kinds)] for name in methods]
    return Table(title, ["nats", *kinds], rows, list(notes))


def _mark(results: list[Fields], kind: str, name: str, judge: str) -> str:
    if name == OURS or not errors(results, kind, name, judge):
        return ""
    return _MARKS[verdict(results, kind, name, judge)]


def _kl_table(results: list[Fields], methods: Methods) -> Table:
    def told(kind: str, name: str) -> str:
        mark = _mark(results, kind, name, "kl")
        return averaged(select(results, kind=kind, method=name), "kl") + mark

    kinds = distinct(results, "kind")
    words = [f"{kind}: {pair_of(kind).description.rstrip('.')}." for kind in kinds]
    notes = [_MARKED, " ".join(words)]
    table = _by_kind("KL(p‖q), mean ± spread over seeds", results, methods, told, notes)
    table.rows.insert(0, ["truth", *(number(pair_of(kind).kl) for kind in kinds)])
    return table


def _error_table(results: list[Fields], methods: Methods, judge: str) -> Table:
    def told(kind: str, name: str) -> str:
        if not errors(results, kind, name, judge):
            return "–"
        mine = select(results, kind=kind, method=name)
        return compact(mean(mine, judge)) + _mark(results, kind, name, judge)

    title = f"Root mean square error of log p/q on {JUDGES[judge]}"
    return _by_kind(title, results, methods, told, [f"Mean over seeds. {_MARKED}"])


def _method_table(results: list[Fields], methods: Methods) -> Table:
    """What each method is, and its time."""
    rows = [
        [how.label, how.about, f"{mean(select(results, method=name), 'fit_seconds'):.1f}"]
        for name, how in methods.items()
    ]
    columns = ["method", "what it is here", "seconds"]
    return Table("Methods", columns, rows, ["Processor seconds of a fit, mean over all cells."])
