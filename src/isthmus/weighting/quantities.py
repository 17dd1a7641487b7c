"""What is balanced: the number of a column, or the share of a level, at every encoded feature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from ..data.sample import TwoSamples
from ..tables.encoding import Plan
from ..tables.frames import TableEncoder
from ..words import listed

Unit: TypeAlias = Literal["", "date", "s", "days"]
"""What a number counts: days since 1970, seconds or days of a duration, or anything."""

MISSING = "missing"


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
    part : str
        Name of what the feature is part of, where that is a part of a date, such as "time weekday".
    unit : str
        What a number counts.
    fill : float
        What stands for a missing number; NaN where none is missing.
    """

    column: str
    label: str
    level: str | None = None
    part: str = ""
    unit: Unit = ""
    fill: float = np.nan

    @property
    def name(self) -> str:
        """Name of the column, or of the part of a date."""
        return self.part or self.column


def quantities(samples: TwoSamples, encoder: TableEncoder | None) -> tuple[Quantity, ...]:
    """Every column of the encoded rows, in order."""
    if encoder is None:
        d = samples.n_columns
        names = ["x"] if d == 1 else [f"x{j}" for j in range(d)]
        return tuple(Quantity(name, name) for name in names)
    labels = iter(encoder.feature_names_)
    return tuple(
        Quantity(
            plan.source,
            next(labels),
            level,
            plan.name if plan.name != plan.source else "",
            _unit(plan) if level is None else "",
            plan.fill if level is None and (plan.indicator or plan.told_by) else np.nan,
        )
        for plan in encoder.plans
        for level in _levels(plan)
    )


def _levels(plan: Plan) -> list[str | None]:
    """What the features of a plan stand for: levels, or None for a number."""
    if plan.kind == "category":
        return list(plan.level_names)
    return [None, *[MISSING] * plan.indicator]


def _unit(plan: Plan) -> Unit:
    if plan.source_kind == "date" and plan.part == "days":
        return "date"
    if plan.source_kind == "duration":
        return "s" if plan.scale == 1.0 else "days"
    return ""


def check_balance_option(balance: Any) -> None:
    """Refuse what is no list of columns, before the tables are looked at."""
    if balance is None or (isinstance(balance, str) and balance == "means"):
        return
    if isinstance(balance, str) or not isinstance(balance, Iterable):
        raise ValueError(f"balance must be 'means' or a list of columns; received {balance!r}.")


def chosen(
    every: Sequence[Quantity], balance: Any, encoder: TableEncoder | None
) -> list[int] | None:
    """Places of the features whose means are asked to be equal: all, or those of some columns."""
    if balance is None:
        return None
    if isinstance(balance, str):
        return list(range(len(every)))
    names = [str(name) for name in balance]
    known = list(dict.fromkeys(name for one in every for name in (one.column, one.name)))
    absent = [name for name in names if name not in known]
    if absent or not names:
        left = {} if encoder is None else {one.name: one.reason for one in encoder.left_out_}
        told = [f"{name!r}" + (f" ({left[name]})" if name in left else "") for name in absent]
        raise ValueError(
            f"balance must name columns that are compared, {listed(known)}; received "
            f"{listed(told) if told else 'none'}."
        )
    return [j for j, one in enumerate(every) if one.column in names or one.name in names]
