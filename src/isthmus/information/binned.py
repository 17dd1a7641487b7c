"""Mutual information of one column and a label, quickly: by bins of the column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.seeds import Seeds
from ..diagnostics.check import Check, advised, graded
from ..diagnostics.tails import LEAST_KL
from ..typing import IntArray
from .counts import entropy_limit, table_information
from .result import Answer
from .values import Values, joint_label, numbered

# Rows of every class in every bin, in the mean, and bins at most.
_ROWS_PER_CELL, _MOST_BINS = 20, 64
# Nats that twice as many bins may bring, whatever the value is, and shares of the value. So many
# nats, of the log 2 that they can bring at most, are too many whatever the value is.
_LITTLE, _GAINED, _STEEP = 0.03, (0.15, 0.3), 0.35


def binned_information(x: Values, label: IntArray, seeds: Seeds) -> Answer:
    """Mutual information of one column of numbers and a label, from a table of bins.

    Bins have as many rows each as repeated values allow; a value that is missing has its own. With
    a smooth density what bins lose falls with the square of their number, so that a third of what
    twice as many bring is still to come.

    Parameters
    ----------
    x : Values
        One column of numbers, and perhaps one that says where it is missing.
    label : ndarray of int
    seeds : Seeds

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> label = rng.integers(2, size=4000)
    >>> x = Values((2.0 * label + rng.normal(size=4000))[:, None], False)
    >>> bool(abs(binned_information(x, label, Seeds(0)).value - 0.336) < 0.03)
    True
    """
    n, classes = len(label), int(label.max()) + 1
    bins = int(np.clip(n // (_ROWS_PER_CELL * classes), 4, _MOST_BINS))
    codes = [x.array[:, j] for j in x.categories]
    column = x.array[:, x.numbers[0]]
    tables = (
        table_information(joint_label([in_bins(column, m), *codes]), label, seeds)
        for m in (bins, bins // 2)
    )
    return replace(led_on(*tables), most=entropy_limit(np.bincount(label)))


def led_on(fine: Answer, coarse: Answer) -> Answer:
    """The information of columns in bins, from a table of these and one of half as many.

    The entropy of bins is no limit to it.

    Examples
    --------
    >>> found = led_on(Answer(0.33, 0.01, "table"), Answer(0.30, 0.01, "table"))
    >>> round(found.value, 2), found.checks["learning"].verdict
    (0.34, 'ok')
    """
    gain = max(fine.value - coarse.value, 0.0)
    ahead, (down, up) = gain / 3.0, fine.further
    return replace(
        fine,
        value=fine.value + ahead,
        method="bins",
        further=(down + ahead, up + 2.0 * ahead),
        most=np.inf,
        checks={**fine.checks, "learning": _check_bins(fine.value, gain)},
    )


def _check_bins(value: float, gain: float) -> Check:
    """Whether bins are fine enough."""
    share = 0.0 if gain <= _LITTLE else gain / max(value, LEAST_KL)
    return advised(
        share,
        "fail" if gain > _STEEP else graded(share, *_GAINED),
        f"Twice as many bins say {gain:.2g} nats more",
        warn=": finer ones, of more rows, would tell.",
        fail=": finer ones, of more rows, would say more. Only the lower end is known.",
    )


def in_bins(column: np.ndarray, count: int) -> IntArray:
    """Bin of each row, of at most so many with as many rows each as repeated values allow.

    Examples
    --------
    >>> in_bins(np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]), 3).tolist()
    [0, 0, 0, 2, 1, 1]
    """
    edges = np.quantile(column, np.arange(1, count) / count, method="inverted_cdf")
    return numbered(np.searchsorted(np.unique(edges), column, side="left"))
