"""A second opinion on two single columns: that of the matrix of all pairs of columns."""

from __future__ import annotations

from dataclasses import replace

from ..data.holdout import LIKELY
from ..data.seeds import Seeds
from .marginal import Marginal
from .quick import quick_information
from .result import Answer
from .single import SingleColumn
from .values import Values


def by_columns(x: Marginal, y: Marginal, seeds: Seeds) -> Answer:
    """The information of two columns as :func:`isthmus.mi_matrix` has it."""
    named = (("x", x), ("y", y))
    sides = [SingleColumn(name, Values(side.raw, False), seeds) for name, side in named]
    return quick_information(*sides)


def reached(found: Answer, other: Answer) -> Answer:
    """A number whose interval reaches to another where the two contradict each other.

    Where a check of the other fails, only what its bins prove counts.

    Examples
    --------
    >>> sure = Answer(0.9, 0.01, "mixture")
    >>> round(reached(sure, Answer(0.98, 0.01, "neighbours")).further[1], 2)
    0.08
    >>> reached(sure, Answer(0.91, 0.01, "neighbours")).further
    (0.0, 0.0)
    """
    below, above = found.further
    if not any(check.verdict == "fail" for check in other.checks.values()):
        gap = other.value - found.value
        if gap > above + LIKELY * found.std_error:
            above = gap
        elif -gap > below + LIKELY * found.std_error:
            below = -gap
    if other.proven is not None:
        least, error = other.proven
        above = max(above, least - LIKELY * error - found.value)
    return replace(found, further=(below, above))
