"""Sums and differences of informations, and means over strata, with all that goes with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data.telling import quiet
from ..diagnostics.check import Check, advised, graded
from ..typing import Array, IntArray
from ..words import VERDICTS, count
from .result import Answer
from .values import Values

Pair = Callable[[Values, Values], Answer]
"""How the information of two arguments is found."""

# Rows that a stratum must have, beside one for every column.
_LEAST = 20
# Strata with fewer of the rows than this in all have room in the interval, and fail nothing.
_SMALL = 0.1


@dataclass(frozen=True)
class Part:
    """One term of a sum.

    Attributes
    ----------
    name : str
        What it is the information of.
    answer : Answer
    sign : float
        -1 for a term that is taken off.
    """

    name: str
    answer: Answer
    sign: float = 1.0

    @property
    def further(self) -> tuple[float, float]:
        """How much further down and up the sum reaches for it."""
        down, up = self.answer.further
        # What no row shows is missing from the whole as well as from what is taken off.
        return (down, up) if self.sign > 0 else (up - self.answer.unseen, down)


def summed(parts: Sequence[Part], method: str) -> Answer:
    """The sum of terms that come from the same rows.

    Examples
    --------
    >>> one = Answer(0.5, 0.03, "a"), Answer(0.2, 0.04, "b")
    >>> found = summed([Part("whole", one[0]), Part("part", one[1], -1.0)], "difference")
    >>> round(found.value, 2), round(found.std_error, 2)
    (0.3, 0.05)
    """
    value = sum(part.sign * part.answer.value for part in parts)
    variance, terms = _variance(parts)
    down, up = (sum(part.further[k] for part in parts) for k in (0, 1))
    error = float(np.sqrt(variance))
    return Answer(
        value,
        error,
        method,
        terms,
        trials=tuple(trial for part in parts for trial in part.answer.trials),
        further=(down, up),
        most=sum(part.answer.most for part in parts if part.sign > 0),
        checks=worst([(part.name, part.answer.checks) for part in parts]),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.answer.notes)),
        infinite=any(part.answer.infinite for part in parts if part.sign > 0),
        proven=(value - down, error),
        unseen=sum(part.answer.unseen for part in parts if part.sign > 0),
    )


def strata(x: Values, y: Values, label: IntArray, pair: Pair, argument: str = "given") -> Answer:
    """Mean information of x and y where a label is known, weighed by the shares of the labels.

    Labels of few rows are left out; a check says how many rows that are.
    """
    least = _LEAST + sum(1 if one.discrete else one.array.shape[1] for one in (x, y))
    rows = np.bincount(label)
    kept = np.flatnonzero(rows >= least)
    if not len(kept):
        raise ValueError(
            f"{argument} must have at least {least} rows of some value; received {len(rows)} "
            f"values in {len(label)} rows. Join values, or give numbers."
        )
    total = int(rows[kept].sum())
    found, shares = [], []
    with quiet("n is small"):
        for each in kept:
            own = label == each
            found.append(pair(x.take(own), y.take(own)))
            shares.append(rows[each] / total)
    places = [np.flatnonzero(label == each) for each in kept]
    answer = _mean(found, np.array(shares), places if total == len(label) else [])
    left = 1.0 - total / len(label)
    if not left:
        return answer
    told = (
        f"{left:.1%} of the rows were left out: {count(len(rows) - len(kept), 'value')} of "
        f"{argument} had fewer than {least} rows."
    )
    check = advised(
        left,
        graded(left, 0.05, 0.3),
        told[:-1],
        warn=": join rare values.",
        fail=": join rare values. What these rows would tell is not known.",
    )
    return replace(answer, checks={**answer.checks, "strata": check}, notes=(*answer.notes, told))


def _mean(found: Sequence[Answer], shares: Array, places: Sequence[IntArray]) -> Answer:
    """The mean of answers from different rows."""
    small = _small(found, shares)
    found = [_allowed(one) if k in small else one for k, one in enumerate(found)]
    terms = None
    if places and all(one.terms is not None for one in found):
        terms = np.empty(sum(map(len, places)))
        for one, at in zip(found, places, strict=True):
            terms[at] = one.terms
    value = float(shares @ [one.value for one in found])
    error = float(np.linalg.norm(shares * [one.std_error for one in found]))
    down, up = (float(shares @ [one.further[k] for one in found]) for k in (0, 1))
    names = sorted({one.method for one in found})
    return Answer(
        value,
        error,
        f"strata of {', '.join(names)}",
        terms,
        further=(down, up),
        most=float(shares @ [one.most for one in found]),
        checks=worst([("a stratum", one.checks) for one in found]),
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
        infinite=any(one.infinite for one in found),
        proven=(value - down, error),
        unseen=float(shares @ [one.unseen for one in found]),
    )


def _small(found: Sequence[Answer], shares: Array) -> set[int]:
    """Strata that fail a check, whose information is bounded, and that have few rows in all."""
    out: set[int] = set()
    for k in np.argsort(shares, kind="stable"):
        one = found[k]
        fails = any(check.verdict == "fail" for check in one.checks.values())
        if fails and np.isfinite(one.most) and shares[[*out, k]].sum() <= _SMALL:
            out.add(int(k))
    return out


def _allowed(one: Answer) -> Answer:
    """With room for anything possible in place of checks that fail."""
    checks = {
        name: replace(check, verdict="warn") if check.verdict == "fail" else check
        for name, check in one.checks.items()
    }
    further = max(one.value, 0.0), max(one.most - one.value, 0.0)
    return replace(one, checks=checks, further=further)


def worst(found: Sequence[tuple[str, Mapping[str, Check]]]) -> dict[str, Check]:
    """Of every check the one with the worst verdict, with the name of the term that it is of.

    Examples
    --------
    >>> good, bad = Check(1.0, "ok", "Fine."), Check(3.0, "warn", "Look.")
    >>> worst([("x", {"a": good}), ("y", {"a": bad})])["a"].advice
    'Of y: Look.'
    """
    out: dict[str, Check] = {}
    for name, checks in found:
        for key, check in checks.items():
            rank = VERDICTS.index(check.verdict)
            if key not in out or rank < VERDICTS.index(out[key].verdict):
                told = f"Of {name}: {check.advice}" if name and len(found) > 1 else check.advice
                out[key] = replace(check, advice=told)
    return out


def _variance(parts: Sequence[Part]) -> tuple[float, Array | None]:
    """Variance of a sum, and the terms of its rows where all have some."""
    total = sum(part.answer.std_error**2 for part in parts)
    every = [part.sign * part.answer.terms for part in parts if part.answer.terms is not None]
    if len(every) < len(parts):
        return total, None
    # They are means over the same rows: what noise they share cancels, or adds up.
    n, terms = len(every[0]), np.sum(every, axis=0)
    own = sum(float(each.var()) for each in every) / n
    return max(total - own, 0.0) + float(terms.var()) / n, terms
