"""Windows of a table: by date, by a number, by labels in their order, or by rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from ..tables.columns import Column, TableError
from ..typing import Array, IntArray
from ..words import count, printable

_SECONDS = {"min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_MONTHS = {"mo": 1, "q": 3, "y": 12}
_YEAR = 365.25 * 86400
_AUTO = ("1d", "1w", "1mo")
_AUTO_ROWS = 200
_MOST_WINDOWS = 20_000
_MOST_VALUES = 1000
USUAL_WINDOWS = 365.0
"""Windows a year where nothing says how many there are: one a day."""

Place = datetime | float | int | str


@dataclass(frozen=True)
class Slice:
    """Rows of one window, and where it lies; its end is not in it, except for labels."""

    start: Place
    end: Place
    label: str
    rows: IntArray


@dataclass(frozen=True)
class Slices:
    """All windows in their order.

    Attributes
    ----------
    each : tuple of Slice
    per_year : float or None
        How many of them there are in a year, where that is known.
    dates : ndarray or None
        The dates of the rows, where they have any.
    notes : tuple of str
    """

    each: tuple[Slice, ...]
    per_year: float | None = None
    dates: np.ndarray | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """Length of a window by the calendar, such as 1d, 2w or 3mo."""

    number: int
    unit: str

    @classmethod
    def of(cls, window: Any) -> Step:
        """Read a length.

        Examples
        --------
        >>> Step.of("2w")
        Step(number=2, unit='w')
        """
        found = re.fullmatch(r"\s*(\d*)\s*(min|h|d|w|mo|q|y)\s*", str(window), re.IGNORECASE)
        if not isinstance(window, str) or found is None or found[1].strip("0") == found[1] == "0":
            raise ValueError(
                "window must be a number and one of min, h, d, w, mo, q or y, such as '1d', where "
                f"the windows go by dates; received {window!r}."
            )
        number = int(found[1] or 1)
        if not number:
            raise ValueError(f"window must be longer than nothing; received {window!r}.")
        return cls(number, found[2].lower())

    def __str__(self) -> str:
        return f"{self.number}{self.unit}"

    @property
    def per_year(self) -> float:
        """Windows in a year."""
        if self.unit in _MONTHS:
            return 12.0 / (self.number * _MONTHS[self.unit])
        return _YEAR / (self.number * _SECONDS[self.unit])

    def split(self, dates: np.ndarray) -> tuple[IntArray, np.ndarray]:
        """Number of the window of every date, and the beginnings of windows 0, 1, ... and one more.

        Weeks begin on Mondays; several units together begin with that of the first date.
        """
        if self.unit in _MONTHS:
            size = _MONTHS[self.unit]
            month = dates.astype("M8[M]").astype(np.int64)
            first = int(month.min()) // size * size
            at = (month - first) // (size * self.number)
            steps = first + size * self.number * np.arange(_bounded(int(at.max())) + 2)
            return at, steps.astype("M8[M]").astype("M8[us]")
        size = _SECONDS[self.unit] * 1_000_000
        # The first day of 1970 was a Thursday.
        offset = 4 * _SECONDS["d"] * 1_000_000 if self.unit == "w" else 0
        time = dates.astype(np.int64) - offset
        first = int(time.min()) // size * size
        at = (time - first) // (size * self.number)
        starts = first + offset + size * self.number * np.arange(_bounded(int(at.max())) + 2)
        return at, starts.astype("M8[us]")

    def label(self, start: datetime, end: datetime) -> str:
        """The window in words."""
        if self.unit in ("min", "h"):
            return f"{start:%Y-%m-%d %H:%M}"
        last = (np.datetime64(end) - np.timedelta64(1, "D")).astype("M8[D]")
        first = np.datetime64(start, "D")
        if first == last:
            return str(first)
        if (self.number, self.unit) == (1, "mo"):
            return f"{start:%Y-%m}"
        return f"{first} to {last}"


def by_rows(n: int, window: Any) -> Slices:
    """All rows as one window, or so many rows at a time."""
    if window is None:
        return Slices((Slice(0, n, "all rows", np.arange(n)),))
    if isinstance(window, bool) or not isinstance(window, int | np.integer) or window < 1:
        raise ValueError(
            "window must be a number of rows where by is left out, or left out too; received "
            f"{window!r}. Name a column of dates with by to have windows such as '1d'."
        )
    size = int(window)
    begins = range(0, n, size)
    _bounded(len(begins))
    return Slices(
        tuple(
            Slice(
                k, min(k + size, n), f"rows {k + 1} to {min(k + size, n)}",
                np.arange(k, min(k + size, n)),
            )
            for k in begins
        )
    )  # fmt: skip


def by_values(column: Column, window: Any) -> Slices:
    """Windows by what a column says of the rows."""
    name = column.name
    if column.kind == "other":
        raise TableError(column.why)
    if column.kind == "empty":
        raise TableError(f"by must name a column with values; received {name!r}, which has none.")
    if column.kind == "date":
        return _by_dates(_instants(column.wall), window, name)
    if column.kind in ("number", "duration"):
        return _by_numbers(column.numbers, window, name)
    if window is not None:
        raise ValueError(
            f"window must be left out where by names labels, each of which is a window; received "
            f"{window!r} for {name!r}, whose values are not all dates as ISO 8601 writes them."
        )
    return _by_labels(column)


def _instants(days: Array) -> np.ndarray:
    """Days since 1970 as NumPy's dates, to the microsecond; NaN is NaT."""
    known = ~np.isnan(days)
    out = np.full(len(days), "NaT", dtype="M8[us]")
    out[known] = np.round(days[known] * 86400e6).astype(np.int64).astype("M8[us]")
    return out


def _by_dates(dates: np.ndarray, window: Any, name: str) -> Slices:
    known = np.flatnonzero(~np.isnat(dates))
    notes = _left_out(len(dates) - len(known), name)
    if window is None:
        step = _automatic(dates[known])
        notes = (*notes, f"windows of {step}, since no length was given (window)")
    else:
        step = Step.of(window)
    at, starts = step.split(dates[known])
    slices = []
    for k, rows in _grouped(at):
        start, end = (one.astype("M8[us]").item() for one in starts[k : k + 2])
        slices.append(Slice(start, end, step.label(start, end), known[rows]))
    return Slices(tuple(slices), step.per_year, dates, notes)


def _automatic(dates: np.ndarray) -> Step:
    """The shortest usual window that has rows enough."""
    for text in _AUTO:
        step = Step.of(text)
        if np.median(np.unique(step.split(dates)[0], return_counts=True)[1]) >= _AUTO_ROWS:
            break
    return step


def _by_numbers(numbers: np.ndarray, window: Any, name: str) -> Slices:
    known = np.flatnonzero(np.isfinite(numbers))
    notes = _left_out(len(numbers) - len(known), name)
    values = numbers[known]
    if window is None:
        distinct, at = np.unique(values, return_inverse=True)
        if len(distinct) > _MOST_VALUES:
            raise ValueError(
                f"window must be given where by has many values: {name!r} has {len(distinct):,}. "
                "It is the width of a window in the units of the column."
            )
        slices = tuple(
            Slice(float(distinct[k]), float(distinct[k]), f"{name} = {distinct[k]:.10g}",
                  known[rows])
            for k, rows in _grouped(at)
        )  # fmt: skip
        return Slices(slices, None, None, notes)
    if isinstance(window, bool) or not isinstance(window, int | float) or not 0 < window < np.inf:
        raise ValueError(
            f"window must be a width above 0 where by names numbers; received {window!r} for "
            f"{name!r}."
        )
    width = float(window)
    first = np.floor(values.min() / width) * width
    at = np.floor((values - first) / width).astype(np.int64)
    _bounded(int(at.max()))
    slices = tuple(
        Slice(first + k * width, first + (k + 1) * width,
              f"{name} {first + k * width:.10g} to {first + (k + 1) * width:.10g}", known[rows])
        for k, rows in _grouped(at)
    )  # fmt: skip
    return Slices(slices, None, None, notes)


def _by_labels(column: Column) -> Slices:
    """Every label in the order of a category, or of first appearance."""
    if len(column.levels) > _MOST_VALUES:
        raise ValueError(
            f"by must name a column of at most {_MOST_VALUES:,} labels; received {column.name!r} "
            f"with {len(column.levels):,}."
        )
    known = np.flatnonzero(column.codes >= 0)
    slices = tuple(
        Slice(column.levels[k], column.levels[k], printable(column.levels[k]), known[rows])
        for k, rows in _grouped(column.codes[known])
    )
    return Slices(slices, None, None, _left_out(len(column) - len(known), column.name))


def _grouped(at: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Numbers of windows that have rows, in order, with the places of these."""
    order = np.argsort(at, kind="stable")
    present, begin = np.unique(at[order], return_index=True)
    for k, rows in zip(present, np.split(order, begin[1:]), strict=True):
        yield int(k), rows


def _left_out(number: int, name: str) -> tuple[str, ...]:
    return (f"{count(number, 'row')} without a value of {name!r} left out",) if number else ()


def _bounded(number: int) -> int:
    if number > _MOST_WINDOWS:
        raise ValueError(
            f"window must give at most {_MOST_WINDOWS:,} windows; received one that gives "
            f"{number:,}. Take longer windows."
        )
    return number
