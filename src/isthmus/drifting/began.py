"""When drift began: the stretch of windows whose p-values are least like chance.

Without drift a valid p-value is uniform, so that its normal score z has mean zero and variance one.
A stretch with drift has a larger mean, and a variance of at least one, which are fitted. The
likeliest stretch around the alarms is the answer; beginnings that are nearly as likely make the
interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from scipy.special import ndtri_exp

from ..typing import Array, IntArray
from .when import Place

# The surprise of a p-value that rounds to one.
_LEAST = 1e-3


@dataclass(frozen=True)
class Began:
    """When the drift began, with an interval.

    Attributes
    ----------
    at, low, high : date, number or label
        Start of the first window with drift; and of the earliest and latest that it may be.
    ended : date, number or label, or None
        Start of the first window after it, where the drift did not last to the end.
    label : str
        The first window with drift in words.
    first : int
        Its place among the windows that were judged.
    level : float
        Coverage of the interval.
    """

    at: Place
    low: Place
    high: Place
    ended: Place | None
    label: str
    first: int
    level: float

    def __str__(self) -> str:
        told = f"{shown(self.at)}"
        if (self.low, self.high) != (self.at, self.at):
            told += f" ({100 * self.level:g} % interval {shown(self.low)} to {shown(self.high)})"
        return told if self.ended is None else f"{told}, until {shown(self.ended)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything in a form that JSON can hold."""
        return {
            "at": plain(self.at),
            "low": plain(self.low),
            "high": plain(self.high),
            "ended": None if self.ended is None else plain(self.ended),
            "window": self.label,
            "level": self.level,
        }


def find_beginning(
    starts: Sequence[Place],
    labels: Sequence[str],
    surprises: Sequence[float],
    alarms: Sequence[bool],
    level: float,
) -> Began | None:
    """The likeliest stretch of drift among windows in their order; None without an alarm.

    ``surprises`` are minus the logs of the windows' p-values.

    Examples
    --------
    >>> e = [0.5, 1.2, 0.2, 0.7, 9.0, 12.0, 8.0, 5.0]
    >>> found = find_beginning(range(8), list("abcdefgh"), e, [x > 6 for x in e], 0.95)
    >>> found.at, found.low, found.high, found.ended
    (4, 3, 4, None)
    """
    if not any(alarms):
        return None
    # A window that is no surprise at all has a p-value of one, whose quantile is infinite.
    score = -ndtri_exp(-np.maximum(np.asarray(surprises, dtype=np.float64), _LEAST))
    total = len(score)
    first, last = _stretch(score, np.flatnonzero(alarms))
    begins = np.arange(last)
    likely = _gain(score, begins, np.full(last, last))
    # What a wrong beginning gains over the right one is, on either side of it, about an
    # exponential variable (Siegmund, 1988): this is the quantile of the larger of the two.
    reach = -np.log(1.0 - np.sqrt(level))
    near = np.flatnonzero(likely >= likely[first] - reach)
    return Began(
        at=starts[first],
        low=starts[int(near.min())],
        high=starts[int(near.max())],
        ended=starts[last] if last < total else None,
        label=labels[first],
        first=int(first),
        level=level,
    )


def _stretch(score: Array, alarms: IntArray) -> tuple[int, int]:
    """Begin and end of the likeliest stretch that holds an alarm, each improved in turn."""
    total = len(score)
    strongest = int(alarms[np.argmax(score[alarms])])
    best, at = -np.inf, (0, total)
    for begin, end in ((strongest, strongest + 1), (int(alarms[0]), total)):
        while True:
            ends = np.arange(begin + 1, total + 1)
            new_end = int(ends[np.argmax(_gain(score, np.full(len(ends), begin), ends))])
            begins = np.arange(new_end)
            new_begin = int(np.argmax(_gain(score, begins, np.full(len(begins), new_end))))
            if (new_begin, new_end) == (begin, end):
                break
            begin, end = new_begin, new_end
        value = float(_gain(score, np.array([begin]), np.array([end]))[0])
        if value > best:
            best, at = value, (begin, end)
    return at


def _gain(score: Array, begins: IntArray, ends: IntArray) -> Array:
    """Log-likelihood that a stretch has a mean and a spread of its own, over that of no drift."""
    first, second = (np.concatenate([[0.0], np.cumsum(score**k)]) for k in (1, 2))
    length = ends - begins
    squares = second[ends] - second[begins]
    mean = np.maximum((first[ends] - first[begins]) / length, 0.0)
    around = squares - 2.0 * mean * (first[ends] - first[begins]) + length * mean**2
    variance = np.maximum(around / length, 1.0)
    return np.asarray(0.5 * (squares - length * np.log(variance) - around / variance))


def shown(place: Place) -> str:
    """A date, a number or a label as people write it."""
    if isinstance(place, datetime):
        midnight = (place.hour, place.minute, place.second) == (0, 0, 0)
        return place.strftime("%Y-%m-%d" if midnight else "%Y-%m-%d %H:%M")
    return f"{place:.10g}" if isinstance(place, float) else str(place)


def plain(place: Place) -> str | float | int:
    """A date, a number or a label as JSON can hold it."""
    if isinstance(place, datetime):
        return str(place.isoformat())
    return place
