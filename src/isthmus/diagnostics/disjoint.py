"""Whether p and q have no value of a column in common, so that no row could be of both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.sample import TwoSamples
from ..typing import Array
from ..words import printable
from .check import Check
from .columns import column_blocks
from .evidence import Evidence

_LEVELS = 2
_REPEATS = 2


def disjoint_column(samples: TwoSamples, blocks: Sequence[tuple[str, slice]]) -> str | None:
    """Name of the first column of which p and q share no value, though values repeat.

    A column of numbers is no such column, however far apart its values are: its density goes on
    between them. One of levels is, and so is one that has one or two values in a sample.

    Parameters
    ----------
    samples : TwoSamples
    blocks : sequence of (str, slice)
        Every column of the table with its place among the encoded ones.

    Examples
    --------
    >>> import numpy as np
    >>> p, q = np.array([0.0, 1, 0, 1])[:, None], np.array([2.0, 3, 3, 2])[:, None]
    >>> disjoint_column(TwoSamples.of(p, q), [("x", slice(0, 1))])
    'x'
    >>> disjoint_column(TwoSamples.of(p, np.minimum(q, 1)), [("x", slice(0, 1))])
    """
    for name, block in blocks:
        both = [_values(sample.rows[:, block]) for sample in samples.positive()]
        if any(is_level for is_level, _ in both) and not both[0][1] & both[1][1]:
            return name
    return None


def _values(rows: Array) -> tuple[bool, set[bytes]]:
    """Whether rows take few values, each several times, and these values."""
    found = np.unique(rows[np.isfinite(rows).all(axis=1)] + 0.0, axis=0)
    one_hot = rows.shape[1] > 1
    few = (one_hot or len(found) <= _LEVELS) and _REPEATS * len(found) <= len(rows)
    return few, set(map(np.ndarray.tobytes, found))


def disjoint(e: Evidence) -> Check | None:
    """The check on the support, where there is such a column."""
    name = disjoint_column(e.comparison.samples, column_blocks(e.comparison))
    if name is None:
        return None
    told = printable(name, 40)
    return Check(
        1.0,
        "fail",
        f"p and q have no value of column {told} in common: no row could be of both, and "
        "the divergences are as large as they can be. Leave the column out.",
        details={"disjoint": told},
    )
