"""Mutual information of all pairs of columns."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from ..data.frames import as_numpy
from ..data.seeds import Seeds
from ..data.telling import quiet
from ..data.threads import limited_threads
from ..data.validation import check_number
from ..diagnostics.check import Check
from ..tables.columns import as_table, column_names, is_table
from ..typing import RandomState
from .finishing import finished
from .pairs import InformationMatrix
from .quick import quick_information
from .reading import Read, read_singles
from .result import Answer, Information
from .single import SingleColumn

MOST_COLUMNS = 300
"""Columns of a matrix, unless more are asked for: they have 44,850 pairs."""

_LEAST = 20

Progress = Callable[[int, int, str], None]
"""Is told how many pairs of how many are done, and which is next."""


def mi_matrix(
    table: Any,
    *,
    level: float = 0.95,
    max_columns: int = MOST_COLUMNS,
    random_state: RandomState = None,
    progress: Progress | None = None,
) -> InformationMatrix:
    """Mutual information of all pairs of columns, each with an interval and a verdict.

    Labels are counted. Numbers are compared with labels by a table of bins, and with each other by
    the normal copula of their ranks and by bins; where these see dependence, nearest neighbours
    say how much. A missing value is a level of its own, whatever the column is. A pair of 10,000
    rows takes some 0.05 seconds; :func:`isthmus.mutual_information` takes more care with one.

    Parameters
    ----------
    table : array-like or frame of shape (n, d)
        Text, booleans and numbers with at most 20 values that repeat are labels. Dates are days.
    level : float
        Coverage of the intervals.
    max_columns : int
        More columns are refused, before any work: the number of pairs grows with their square.
    random_state : int, Generator, RandomState or None
        Draws equal numbers apart, and shuffles.
    progress : callable, optional
        Called with the number of pairs that are done, that of all, and the names of the next.

    Returns
    -------
    InformationMatrix
        Where a pair cannot be worked out its value is 0, with no upper end, and it is not trusted.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.information import mi_matrix
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 2000))
    >>> m = mi_matrix(np.column_stack([a, a**2 + 0.1 * b, b]), random_state=0)
    >>> m.top(1)[0][:2]
    ('column 0', 'column 1')
    """
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    check_number(max_columns, "max_columns", low=2, integer=True)
    check_width(_width(table), int(max_columns))
    read = read_singles(table, "table", Seeds(random_state))
    if len(read.columns) < 2:
        left = "".join(f" {name!r} was left out: {why}" for name, why in read.left_out.items())
        raise ValueError(
            f"table must have at least two columns; received {len(read.columns)}.{left}"
        )
    if read.n_rows < _LEAST:
        raise ValueError(f"table must have at least {_LEAST} rows; received {read.n_rows}.")
    with limited_threads():
        return _matrix(read, level, progress)


def check_width(columns: int, most: int, argument: str = "table") -> None:
    """Refuse more columns than there is time for.

    Examples
    --------
    >>> check_width(20_000, 300)
    Traceback (most recent call last):
    ...
    ValueError: table must have at most 300 columns; received 20,000, ...
    """
    if columns > most:
        pairs = columns * (columns - 1) // 2
        raise ValueError(
            f"{argument} must have at most {most:,} columns; received {columns:,}, which have "
            f"{pairs:,} pairs. Name the columns to compare, or rank all of them against one: "
            "mi_scores(X, y)."
        )


def of_pair(x: SingleColumn, y: SingleColumn, level: float) -> Information:
    """Mutual information of two columns; what goes wrong with them stops no other pair."""
    try:
        with quiet():
            found = quick_information(x, y)
    except (ValueError, ArithmeticError) as error:
        told = Check(0.0, "fail", f"It could not be worked out: {error}")
        most = min(x.limit, y.limit)
        found = Answer(0.0, 0.0, "none", checks={"worked_out": told}, most=most)
    return finished(found, len(x), level)


def _matrix(read: Read, level: float, progress: Progress | None) -> InformationMatrix:
    columns = read.columns
    total = len(columns) * (len(columns) - 1) // 2
    pairs = []
    for done, (x, y) in enumerate(combinations(columns, 2)):
        if progress is not None:
            progress(done, total, f"{x.name} and {y.name}")
        pairs.append(of_pair(x, y, level))
    return InformationMatrix(
        [column.name for column in columns],
        tuple(pairs),
        np.array([column.entropy for column in columns]),
        n_rows=read.n_rows,
        level=level,
        notes=read.notes,
        left_out=read.left_out,
    )


def _width(table: Any) -> int:
    """Number of columns, before any of them is looked at."""
    table = as_table(table, "column 0")
    if is_table(table):
        return len(column_names(table, "table"))
    shape = np.shape(as_numpy(table))
    return int(shape[1]) if len(shape) > 1 else 1
