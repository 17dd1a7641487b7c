"""How informations of many columns are told: the interval, and whether it is trusted."""

from __future__ import annotations

from collections.abc import Sequence

from .. import words
from ..diagnostics.check import objections
from .result import Information


def is_trusted(one: Information) -> bool:
    """Whether no check speaks against a number and both ends of its interval are known."""
    return one.trusted and not one.one_sided


def verdict(one: Information) -> str:
    """That a number is not trusted, and why; empty if it is.

    Examples
    --------
    >>> verdict(Information(0.5, 0.1, 0.3, float("inf"), reason="labels hardly repeat"))
    'not trusted: labels hardly repeat'
    """
    if is_trusted(one):
        return ""
    # A wide interval keeps its ends, and has no reason why one is missing.
    why = one.reason or words.objection(list(objections(one.diagnostics)))
    return f"not trusted: {why}" if why else "not trusted"


def ends(one: Information) -> str:
    """The interval, with three digits after the point.

    Examples
    --------
    >>> ends(Information(0.5, 0.1, 0.3, 0.7))
    '0.300 to 0.700'
    """
    return f"at least {one.low:.3f}" if one.one_sided else f"{one.low:.3f} to {one.high:.3f}"


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int]) -> list[str]:
    """Lines of cells in columns, of which some are aligned to the right.

    Examples
    --------
    >>> aligned([("a", "10"), ("bcd", "2")], right=[1])
    ['a    10', 'bcd   2']
    """
    width = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(w) if k in right else cell.ljust(w)
            for k, (cell, w) in enumerate(zip(row, width, strict=True))
        ).rstrip()
        for row in rows
    ]
