"""What is balanced: the number of a column, or the share of a level, at every encoded feature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..comparison import Comparison
from ..diagnostics.columns import column_blocks
from ..tables.columns import column_names, is_table
from ..words import listed


@dataclass(frozen=True)
class Quantity:
    """One encoded feature.

    Attributes
    ----------
    column : str
        Name of the column as it was given; ``x0``, ``x1``, ... where there are no names.
    label : str
        Name of the feature: that of the column, or ``town=Bonn`` for a level.
    level : str or None
        The level, where the feature is 1 for its rows and 0 for others.
    """

    column: str
    label: str
    level: str | None = None


def quantities(comparison: Comparison) -> tuple[Quantity, ...]:
    """Every encoded feature of a comparison, in order."""
    names = comparison.feature_names
    found = []
    for column, block in column_blocks(comparison):
        for j in range(block.start, block.stop):
            label = column if names is None else names[j]
            start = f"{column}="
            level = label[len(start) :] if label.startswith(start) else None
            if level is None and label == f"{column} is missing":
                level = "missing"
            found.append(Quantity(column, label, level))
    return tuple(found)


def check_balance_option(balance: Any, source: Any) -> None:
    """Refuse what cannot be balanced, before any work."""
    if balance is None or (isinstance(balance, str) and balance == "means"):
        return
    if isinstance(balance, str) or not isinstance(balance, Iterable):
        raise ValueError(f"balance must be 'means' or a list of columns; received {balance!r}.")
    if is_table(source):
        _refuse_unknown([str(name) for name in balance], column_names(source, "source"))


def chosen(every: Sequence[Quantity], balance: Any) -> list[int]:
    """Places of the features whose means are asked to be equal: all, or those of some columns."""
    if isinstance(balance, str):
        return list(range(len(every)))
    names = [str(name) for name in balance]
    _refuse_unknown(names, list(dict.fromkeys(one.column for one in every)))
    return [j for j, one in enumerate(every) if one.column in names]


def _refuse_unknown(names: Sequence[str], known: Sequence[str]) -> None:
    absent = [name for name in names if name not in known]
    if absent or not names:
        raise ValueError(
            f"balance must name columns that are compared, {listed(known)}; received "
            f"{absent if absent else 'none'}."
        )
