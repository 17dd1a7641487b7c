"""What `drift` answers with: windows, alarms, the beginning; as text, frame, picture and page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from .. import words
from ..functionals import Estimate
from .began import Began, plain
from .columns import ColumnDrift
from .pairs import PairDrift
from .segments import Segment
from .telling import advice, answer, ends, in_nats
from .when import Place

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SHORT = 0.25
"""Share of the usual number of rows below which a window leads no answer."""


@dataclass(frozen=True)
class Window:
    """One window and how it differs from the reference.

    Attributes
    ----------
    start, end : date, number, label or row
        Where it lies; the end is not in it, except for labels.
    label : str
        The same in words.
    rows : int
    estimate : Estimate or None
        The divergence from the reference; None where there are too few rows.
    p_value : float or None
        Probability of a difference at least as large without drift, if rows are independent.
    alarm : bool
        Whether the p-value is at most `Drift.threshold`.
    columns : tuple of ColumnDrift
        Every column, the one that differs most first.
    pairs : tuple of PairDrift
        Pairs of columns whose correlation changed.
    segments : tuple of Segment
        Rows that are new or gone, in words, where there is an alarm.
    notes : tuple of str
    """

    start: Place
    end: Place
    label: str
    rows: int
    estimate: Estimate | None
    p_value: float | None
    alarm: bool
    columns: tuple[ColumnDrift, ...] = ()
    pairs: tuple[PairDrift, ...] = ()
    segments: tuple[Segment, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def carried_by(self) -> tuple[str, ...]:
        """Names of the columns that differ, the one that differs most first."""
        return tuple(one.name for one in self.columns if one.differs)

    def to_dict(self) -> dict[str, Any]:
        """Everything in a form that JSON can hold."""
        return {
            "start": plain(self.start),
            "end": plain(self.end),
            "label": self.label,
            "rows": self.rows,
            "estimate": None if self.estimate is None else self.estimate.to_dict(),
            "p_value": self.p_value,
            "alarm": self.alarm,
            "columns": [one.to_dict() for one in self.columns],
            "pairs": [one.to_dict() for one in self.pairs],
            "segments": [one.to_dict() for one in self.segments],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Drift:
    """What :func:`isthmus.drift` found.

    Attributes
    ----------
    windows : tuple of Window
        All windows in their order.
    began : Began or None
        When drift began, with an interval; None where no window raises an alarm.
    divergence : str
        Name of the divergence.
    level : float
        Coverage of the intervals.
    alarms_per_year, windows_per_year : float
        False alarms asked for, and windows that there are in a year.
    reference_rows : int
    left_out : mapping of str to str
        Columns that were not compared, with the reason.
    notes : tuple of str

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> quiet, moved = rng.normal(0, 1, (900, 2)), rng.normal(0.5, 1, (600, 2))
    >>> found = isthmus.drift(
    ...     rng.normal(0, 1, (900, 2)), np.concatenate([quiet, moved]), window=300, random_state=0
    ... )
    >>> [window.alarm for window in found.windows], found.began.at
    ([False, False, False, True, True], 900)
    """

    windows: tuple[Window, ...]
    began: Began | None
    divergence: str
    level: float
    alarms_per_year: float
    windows_per_year: float
    reference_rows: int
    by: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def threshold(self) -> float:
        """The p-value up to which a window raises an alarm."""
        return min(1.0, self.alarms_per_year / self.windows_per_year)

    @property
    def alarms(self) -> tuple[Window, ...]:
        """Windows that raise an alarm."""
        return tuple(one for one in self.windows if one.alarm)

    def is_short(self, window: Window) -> bool:
        """Whether a window has less than a quarter of the rows of the usual one.

        So are the first and the last of a table that begins or ends within them: what is special
        about such a window is mostly its hours.
        """
        rows = [one.rows for one in self.windows if one.estimate is not None]
        return bool(rows) and window.rows < _SHORT * median(rows)

    @property
    def ranked(self) -> tuple[Window, ...]:
        """Windows that were judged, by what their divergence is at least, the largest first.

        Short windows come after all others.
        """
        judged = [(one.estimate, one) for one in self.windows if one.estimate is not None]
        judged.sort(
            key=lambda pair: (not self.is_short(pair[1]), pair[0].low, pair[0].value), reverse=True
        )
        return tuple(one for _, one in judged)

    @property
    def largest(self) -> Window | None:
        """The window whose divergence is surely largest, by the lower end of its interval."""
        return next(iter(self.ranked), None)

    @property
    def answer(self) -> str:
        """The answer in a sentence or two."""
        return answer(self)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do, a sentence each."""
        return advice(self)

    def size(self, window: Window) -> tuple[str, str]:
        """Divergence of a window and its interval, as text; empty where it was not judged."""
        e = window.estimate
        return ("", "") if e is None else (in_nats(e.value), ends(e))

    def above(self, limit: float) -> tuple[Window, ...]:
        """Windows whose divergence is above a limit, their whole interval included.

        Examples
        --------
        >>> import numpy as np, isthmus
        >>> rng = np.random.default_rng(0)
        >>> found = isthmus.drift(rng.normal(0, 1, 900), rng.normal(3, 1, 900), random_state=0)
        >>> len(found.above(0.05)), len(found.above(0.69))
        (1, 0)
        """
        return tuple(
            one for one in self.windows if one.estimate is not None and one.estimate.low > limit
        )

    def to_frame(self) -> Any:
        """One row for every window, as a pandas frame."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_frame needs pandas, which is not installed; to_dict needs nothing."
            ) from None
        return pd.DataFrame(
            [
                {
                    "window": one.label,
                    "start": one.start,
                    "end": one.end,
                    "rows": one.rows,
                    self.divergence: None if one.estimate is None else one.estimate.value,
                    "low": None if one.estimate is None else one.estimate.low,
                    "high": None if one.estimate is None else one.estimate.high,
                    "p_value": one.p_value,
                    "alarm": one.alarm,
                    "columns": ", ".join(one.carried_by),
                }
                for one in self.windows
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything in a form that strict JSON can hold."""
        return {
            "answer": self.answer,
            "advice": list(self.advice),
            "began": None if self.began is None else self.began.to_dict(),
            "alarms": [one.label for one in self.alarms],
            "divergence": self.divergence,
            "level": self.level,
            "alarms_per_year": self.alarms_per_year,
            "windows_per_year": self.windows_per_year,
            "threshold": self.threshold,
            "reference_rows": self.reference_rows,
            "by": self.by,
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
            "windows": [one.to_dict() for one in self.windows],
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the divergence of every window with its interval, alarms and the beginning marked.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        """
        from ..plots import drift_line

        judged = [one for one in self.windows if one.estimate is not None]
        estimates = [one.estimate for one in judged if one.estimate is not None]
        dated = all(hasattr(one.start, "strftime") for one in judged)
        return drift_line(
            [one.start for one in judged] if dated else [one.label for one in judged],
            [one.value for one in estimates],
            [one.low for one in estimates],
            [one.high for one in estimates],
            alarms=[one.alarm for one in judged],
            began=None if self.began is None else self.began.first,
            name=words.divergence(self.divergence)[1],
            ax=ax,
        )

    def report(self, path: str | os.PathLike[str], *, title: str = "Drift") -> Path:
        """Write everything as one page of HTML: the line, the day, the columns, what to do.

        Parameters
        ----------
        path : str or path-like
            Where to write. A file of that name is replaced once the page is complete.
        title : str
            Heading of the page.
        """
        from ..report import write_drift

        return write_drift(self, path, title=title)

    def _repr_html_(self) -> str:
        from ..report import drift_summary

        return drift_summary(self)

    def __str__(self) -> str:
        rows = [("window", "rows", self.divergence, "interval", "p", "", "carried by")]
        for one in self.windows:
            value, interval = self.size(one)
            p = "" if one.p_value is None else f"{one.p_value:.3g}"
            carried = words.listed([words.printable(name, 24) for name in one.carried_by], 3)
            rows.append((one.label, f"{one.rows:,}", value, interval, p, "!" * one.alarm, carried))
        width = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        right = (False, True, True, True, True, False, False)
        lines = [
            "  ".join(
                cell.rjust(w) if to_right else cell.ljust(w)
                for cell, w, to_right in zip(row, width, right, strict=True)
            ).rstrip()
            for row in rows
        ]
        return "\n".join([self.answer, "", *lines])
