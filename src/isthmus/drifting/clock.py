"""Columns that repeat the calendar: the month of a date says when a row was, not what it is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..tables.columns import Column

# The column may be of another time zone than the date.
_MOSTLY = 0.5


def repeats_calendar(columns: Mapping[str, Column], dates: np.ndarray, name: str) -> dict[str, str]:
    """Columns of numbers that are a part of the date in every row, with the reason.

    A date of a neighbouring time zone counts too.

    Examples
    --------
    >>> import numpy as np
    >>> dates = np.arange("2013-02-01", "2013-02-05", dtype="M8[D]").astype("M8[us]")
    >>> repeats_calendar({"dd": Column("dd", "number", np.arange(1.0, 5.0))}, dates, "date")
    {'dd': "is the day of 'date'"}
    """
    known = ~np.isnat(dates)
    shifts = (np.timedelta64(hours, "h") for hours in (0, -14, 14))
    here, earlier, later = (_parts(dates[known] + shift) for shift in shifts)
    out = {}
    for column in columns.values():
        if column.kind != "number":
            continue
        values = column.numbers[known]
        for word, part in here.items():
            same = values == part
            near = same | (values == earlier[word]) | (values == later[word])
            if near.all() and same.mean() >= _MOSTLY:
                out[column.name] = f"is the {word} of {name!r}"
                break
    return out


def _parts(dates: np.ndarray) -> dict[str, np.ndarray]:
    """Parts of dates that are the same all day."""
    day = dates.astype("M8[D]")
    month = day.astype("M8[M]")
    year = month.astype("M8[Y]")
    months = month.astype(np.int64) - year.astype("M8[M]").astype(np.int64) + 1
    of_year = (day - year.astype("M8[D]")).astype(np.int64) + 1
    # The first day of 1970 was a Thursday; weeks of ISO 8601 belong to the year of their Thursday.
    weekday = (day.astype(np.int64) + 3) % 7
    thursday = day + (3 - weekday).astype("m8[D]")
    start = thursday.astype("M8[Y]").astype("M8[D]")
    week = (thursday - start).astype(np.int64) // 7 + 1
    return {
        "year": year.astype(np.int64) + 1970,
        "month": months,
        "day": (day - month.astype("M8[D]")).astype(np.int64) + 1,
        "day of the year": of_year,
        "quarter": (months - 1) // 3 + 1,
        "week": week,
        "weekday": weekday,
        "weekday, counted from one,": weekday + 1,
        "weekday, counted from Sunday,": (weekday + 1) % 7,
    }
