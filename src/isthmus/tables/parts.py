"""Dates as numbers of days, and hours, weekdays and months of them where these are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .arrow import dates_of
from .columns import Column, Kind

PARTS = ("days", "hour", "weekday", "month")
"""What a date may become; all but days by the clock of its own time zone."""

_WEEKDAYS: tuple[str, ...] = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)
_MONTHS = tuple(
    "January February March April May June July August September October November December".split()
)


def date_parts(dates: Any, argument: str = "dates") -> tuple[str, ...]:
    """Parts of dates that are asked for, each once; refuse any other word.

    Examples
    --------
    >>> date_parts("days"), date_parts(["hour", "weekday"])
    (('days',), ('hour', 'weekday'))
    """
    parts = [dates] if isinstance(dates, str) else dates
    if not isinstance(parts, Sequence) or not parts or any(part not in PARTS for part in parts):
        raise ValueError(
            f"{argument} must be one or several of {', '.join(map(repr, PARTS))}; received "
            f"{dates!r}."
        )
    return tuple(dict.fromkeys(parts))


def part_of(column: Column, part: str) -> Column:
    """Number of days, hour, weekday or month of a column of dates; any other column as it is."""
    if column.kind != "date" or part == "days":
        return column
    name = f"{column.name} {part}"
    gone = np.isnan(column.wall)
    # The smallest unit of a clock is kept apart from the rounding of days.
    seconds = np.round(np.where(gone, 0.0, column.wall) * 86_400.0, 3)
    if part == "hour":
        hour = np.floor(seconds / 3600.0) % 24
        return Column(name, "number", np.where(gone, np.nan, hour))
    days = np.floor(seconds / 86_400.0).astype(np.int64)
    levels = _WEEKDAYS if part == "weekday" else _MONTHS
    if part == "weekday":
        code = (days + 3) % 7
    else:
        code = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    return Column(name, "category", codes=np.where(gone, -1, code), levels=levels)


def coerced(column: Column, kind: Kind) -> Column | None:
    """The column as one of another kind, where its values read so; None where they do not."""
    if column.kind == kind:
        return column
    if column.kind == "empty":
        if kind == "category":
            return Column(column.name, kind, codes=np.full(len(column), -1))
        return replace(column, kind=kind, wall=column.numbers)
    if kind == "category" and column.kind == "number":
        return column.as_levels()
    if kind == "number" and column.kind == "category":
        return column.as_numbers()
    if kind == "date" and column.kind == "category":
        return dates_of(column)
    return None


def joined(parts: Sequence[Column]) -> Column:
    """Columns of one name, one after the other; those without any value are of any kind."""
    kinds = [part.kind for part in parts if part.kind != "empty"]
    if "other" in kinds:
        first = next(part for part in parts if part.kind == "other")
        return replace(first, numbers=np.full(sum(map(len, parts)), np.nan))
    kind = kinds[0] if kinds else "empty"
    same = [coerced(part, kind) for part in parts]
    columns = [part for part in same if part is not None]
    assert len(columns) == len(parts), "kinds are compared before columns are joined"
    if kind == "category":
        return _levels_joined(columns)
    numbers = np.concatenate([part.numbers for part in columns])
    wall = np.concatenate([part.wall for part in columns]) if kind == "date" else numbers[:0]
    return Column(columns[0].name, kind, numbers, wall=wall)


def _levels_joined(columns: Sequence[Column]) -> Column:
    place: dict[str, int] = {}
    codes = []
    for column in columns:
        own = [place.setdefault(level, len(place)) for level in column.levels]
        codes.append(np.array([*own, -1], dtype=np.intp)[column.codes])
    return Column(columns[0].name, "category", codes=np.concatenate(codes), levels=tuple(place))
