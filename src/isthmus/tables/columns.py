"""Columns of any table a user has, in a few forms: numbers, dates, durations, or categories.

narwhals recognises the table, and pyarrow reads its columns; it is imported when a table
arrives, not with the package, and neither pandas nor polars is imported at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from ..data.frames import Frame, as_frame, raw_names, repeated
from ..typing import Array, BoolArray, IntArray

Kind: TypeAlias = Literal["number", "category", "date", "duration", "empty", "other"]


class TableError(ValueError):
    """A table, or a file with one, cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Column:
    """One column: numbers with NaN for missing, or codes into levels with -1 for missing.

    A date is the number of days since 1970, a duration one of seconds. A column of kind
    ``"empty"`` holds missing values only and fits any kind; one of kind ``"other"`` holds what
    is neither a number nor a level, and ``why`` says what.

    Attributes
    ----------
    wall : ndarray
        For dates, days by the clock of their own time zone, of which hours and weekdays are read.
    """

    name: str
    kind: Kind
    numbers: Array = field(default_factory=lambda: np.empty(0))
    codes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    levels: tuple[str, ...] = ()
    wall: Array = field(default_factory=lambda: np.empty(0))
    why: str = ""

    def __len__(self) -> int:
        return len(self.codes) if self.kind == "category" else len(self.numbers)

    @property
    def missing(self) -> BoolArray:
        """Which rows have no value."""
        return self.codes < 0 if self.kind == "category" else np.isnan(self.numbers)

    @property
    def infinite(self) -> int:
        """Number of rows with an infinite number."""
        return int(np.isinf(self.numbers).sum())

    @property
    def present(self) -> set[str]:
        """Levels that occur."""
        return {self.levels[code] for code in np.unique(self.codes) if code >= 0}

    @property
    def values(self) -> np.ndarray:
        """Numbers, or levels as text."""
        if self.kind == "category":
            return np.array(self.levels, dtype=object)[self.codes]
        return self.numbers

    def take(self, rows: BoolArray | IntArray) -> Column:
        """Return the column with some of its rows."""
        if self.kind == "category":
            return replace(self, codes=self.codes[rows])
        wall = self.wall[rows] if self.kind == "date" else self.wall
        return replace(self, numbers=self.numbers[rows], wall=wall)

    def seen(self) -> Column:
        """The column without levels that none of its rows has."""
        if self.kind != "category":
            return self
        there, codes = np.unique(self.codes, return_inverse=True)
        gone = int(len(there) and there[0] < 0)
        levels = tuple(self.levels[k] for k in there[gone:])
        return replace(self, codes=codes.reshape(-1) - gone, levels=levels)

    def as_levels(self) -> Column:
        """Numbers as levels of text, such as "3" and "0.5"; categories as they are."""
        if self.kind == "category":
            return self
        value, code = np.unique(self.numbers, return_inverse=True)
        there = ~np.isnan(value)
        codes = np.where(np.isnan(self.numbers), -1, code.reshape(-1))
        # As text, 1.0 and 1 are one and the same.
        levels = tuple(repr(float(x)).removesuffix(".0") for x in value[there])
        return Column(self.name, "category", codes=codes.astype(np.intp), levels=levels)

    def as_numbers(self) -> Column | None:
        """Levels that all read as numbers as these numbers; None where one does not."""
        if self.kind != "category":
            return self
        try:
            value = np.array([*map(float, self.levels), np.nan])
        except ValueError:
            return None
        return Column(self.name, "number", value[self.codes])


def is_table(obj: Any) -> bool:
    """Whether ``obj`` has named columns: a frame of any library that narwhals knows, or a dict.

    Examples
    --------
    >>> import numpy as np
    >>> is_table({"age": [31, 42]}), is_table(np.zeros((2, 1)))
    (True, False)
    """
    try:
        return isinstance(obj, Mapping) or as_frame(obj) is not None
    except DuplicateError:
        return True


def as_table(x: Any, name: str = "x") -> Any:
    """A series of dates, durations or text as a table of one column; anything else as it is."""
    series = nw.from_native(x, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series) or series.dtype.is_numeric():
        return x
    return x if series.dtype == nw.Boolean else {name: x}


def column_names(table: Any, label: str) -> list[str]:
    """Names of a table's columns, as text and each once."""
    return [name for name, _ in pairs_of(table, label)]


def as_columns(
    table: Any, label: str, keep: Iterable[str], *, tolerant: bool = False, text: bool = False
) -> dict[str, Column]:
    """Columns named in ``keep`` in their common form; the others are never looked at.

    One that is neither numbers nor levels is refused, or of kind "other" if ``tolerant``. Text
    that reads as dates is dates, unless ``text`` asks for what is there.
    """
    from .arrow import as_column

    wanted = set(keep)
    columns = {
        name: as_column(name, values, label, text=text)
        for name, values in pairs_of(table, label)
        if name in wanted
    }
    for column in columns.values():
        if column.kind == "other" and not tolerant:
            raise TableError(column.why)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise TableError(f"The columns of {label} must have one length; received {lengths}.")
    return columns


def pairs_of(table: Any, label: str) -> list[tuple[str, Any]]:
    """Names, as text and each once, with what the table holds under them."""
    pairs: list[tuple[str, Any]] = []
    if isinstance(table, Mapping):
        pairs = [(str(name), values) for name, values in table.items()]
    else:
        try:
            frame = as_frame(table)
        except DuplicateError:
            pairs = [(str(name), None) for name in raw_names(table)]
        else:
            pairs = _of_frame(frame, table, label)
    twice = repeated([name for name, _ in pairs])
    if twice:
        raise TableError(f"Column names of {label} must differ; received {twice!r} twice.")
    return pairs


def _of_frame(frame: Frame | None, table: Any, label: str) -> list[tuple[str, Any]]:
    received = f"{type(table).__module__}.{type(table).__name__}".removeprefix("builtins.")
    if frame is None:
        raise TableError(
            f"{label} must be a pandas or polars frame, a pyarrow table or a dict of columns; "
            f"received a {received}."
        )
    if isinstance(frame, nw.LazyFrame):
        raise TableError(
            f"{label} must be a table in memory; received a {received}: call its collect() first."
        )
    return [(str(series.name), series.to_native()) for series in frame.iter_columns()]
