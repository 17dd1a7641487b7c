"""Values that stand for something else, such as 9999 or -1 for what is not known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Array, BoolArray
from ..words import count, number
from .values import Values

# Rows that there must be beside a value, for their spread and tail to be known.
_LEAST_ROWS = 20
# A value in so many rows, or in this share, or so many times as often as most, is repeated.
_REPEATED, _SHARE = 3, 0.002
# Spreads of the other rows that a repeated value, and one that occurs once, lies apart.
_APART, _ALONE = 2.0, 10.0
# A tail like a power's reaches farther than this once in exp(8) times.
_TAIL, _TAIL_ROWS = 8.0, 12
# Standard errors by which two columns have their values in the same rows.
_TOGETHER = 4.0
_TOLD = 3
# Negative numbers that stand for what is not known, where all others are positive or zero.
_CODES = tuple(-(10.0**k) for k in range(6)) + tuple(1.0 - 10.0**k for k in range(1, 7))


@dataclass(frozen=True)
class Sentinel:
    """A value far from all others.

    Attributes
    ----------
    value : float
    rows : ndarray of bool
        Where it is.
    """

    value: float
    rows: BoolArray


def find_sentinel(column: Array) -> Sentinel | None:
    """The smallest or largest value of a column, if it lies apart from the others.

    It must be repeated and lie beyond a gap that is wide against the spread of the others, or lie
    farther out than even a heavy tail of them would reach; or be a usual code, such as -1, where
    no other value is negative.

    Parameters
    ----------
    column : ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> column = np.random.default_rng(0).normal(size=200)
    >>> find_sentinel(column) is None
    True
    >>> column[:5] = 9999.0
    >>> find_sentinel(column).value
    9999.0
    """
    values, rows = np.unique(column, return_counts=True)
    if len(values) < 3 or len(column) < _LEAST_ROWS:
        return None
    usual = float(np.median(rows))
    ends = [
        (values[end], values[inner], bool(rows[end] >= _least_repeats(len(column), usual)))
        for end, inner in ((-1, -2), (0, 1))
    ]
    for value, inner, repeated in ends:
        others = column[column != value]
        if len(others) >= _LEAST_ROWS and _is_apart(value, inner, others, repeated):
            return Sentinel(float(value), column == value)
    return None


def _least_repeats(n: int, usual: float) -> float:
    return max(_REPEATED, _SHARE * n, _REPEATED * usual)


def _is_apart(value: float, inner: float, others: Array, repeated: bool) -> bool:
    """Whether a value lies apart from others, of which one is the nearest to it."""
    if repeated and value < 0.0 <= inner and value in _CODES:
        return True
    centre = float(np.median(others))
    # In units of the spread of the others, which may be as wide as numbers can be.
    unit = 4.0 * float(np.subtract(*np.quantile(others / 4.0, [0.75, 0.25])))
    unit = max(unit, float(np.finfo(float).tiny), 1e-12 * abs(inner))
    gap, reach = abs(value / unit - inner / unit), abs(inner / unit - centre / unit)
    if gap < max(_APART if repeated else _ALONE, 0.5 * reach):
        return False
    # With a tail like a power's, of exponent a, log-distances of the farthest are exponential.
    far = np.sort(np.abs(others / unit - centre / unit))[-_TAIL_ROWS:]
    slope = float(np.log(np.maximum(far, 1e-3) / max(far[0], 1e-3)).mean())
    beyond = np.log((reach + gap) / max(far[-1], 1e-3))
    return bool(beyond > (1.0 if repeated else _TAIL) * max(slope, 1e-3))


def sentinel_notes(x: Values, y: Values) -> tuple[str, ...]:
    """Notes that name values far from all others, and those that x and y have in the same rows."""
    found = [
        (side, name, sentinel)
        for side, values in (("x", x), ("y", y))
        for name, sentinel in _of_columns(values)
    ]
    notes = []
    for side, name, sentinel in found[:_TOLD]:
        where = count(int(sentinel.rows.sum()), "row")
        notes.append(
            f"{name!r} of {side} is {number(sentinel.value)} in {where}, far from all other "
            "values. If that stands for a value that is missing, make it one (NaN)."
        )
    for a in found:
        for b in found:
            if a[0] == "x" and b[0] == "y" and _shared(a[2].rows, b[2].rows):
                both = count(int((a[2].rows & b[2].rows).sum()), "row")
                notes.append(
                    f"{a[1]!r} of x is {number(a[2].value)} and {b[1]!r} of y is "
                    f"{number(b[2].value)} in the same {both}, more than by chance: these rows "
                    "count as dependence. Make both missing (NaN), or leave the rows out."
                )
                return tuple(notes)
    return tuple(notes)


def _of_columns(values: Values) -> list[tuple[str, Sentinel]]:
    if values.discrete:
        return []
    out = []
    for j in values.numbers:
        sentinel = find_sentinel(values.array[:, j])
        if sentinel is not None:
            out.append((values.names[j] if values.names else f"column {j}", sentinel))
    return out


def _shared(a: BoolArray, b: BoolArray) -> bool:
    """Whether rows of one are rows of the other more often than by chance."""
    both, expected = float((a & b).sum()), float(a.mean() * b.sum())
    return both >= 1 and both - expected > _TOGETHER * np.sqrt(max(expected, 0.01))
