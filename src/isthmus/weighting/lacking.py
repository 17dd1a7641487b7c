"""What weights cannot do in a table: levels that the source lacks, columns that separate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..data.sample import TwoSamples
from ..tables.encoding import OTHER
from ..tables.frames import LeftOut, TableEncoder
from ..typing import BoolArray
from ..words import listed
from .quantities import MISSING, Quantity

_SHOWN = 4


@dataclass(frozen=True)
class Lacking:
    """Rows of the target with a level that surely only the target has.

    Attributes
    ----------
    rows : ndarray of bool
    rarer : mapping of str to str
        By the column, such a level among those that have no feature of their own.
    """

    rows: BoolArray
    rarer: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, every: tuple[Quantity, ...], samples: TwoSamples, encoder: TableEncoder | None
    ) -> Lacking:
        """Rows of p whose levels q does not have."""
        if encoder is None:
            return cls(np.zeros(len(samples.p), dtype=bool))
        told = {(one.name, one.level) for one in every}
        rarer: dict[str, str] = {}
        for one in encoder.one_sided_.levels:
            for level in one.levels if one.side == "p" else ():
                if level != MISSING and (one.column, level) not in told:
                    rarer.setdefault(one.column, level)
        return cls(encoder.one_sided_.p, rarer)

    def named(self, one: Quantity) -> str:
        """The label of a level, with an example where it stands for several."""
        if one.level == OTHER and one.name in self.rarer:
            return f"{one.label} such as {self.rarer[one.name]}"
        return one.label

    @property
    def example(self) -> str:
        """All of them in words."""
        return "rarer levels such as " + listed([f"{k}={v}" for k, v in self.rarer.items()], 2)

    def take(self, rows: BoolArray) -> Lacking:
        """The same of some rows."""
        return replace(self, rows=self.rows[rows])


def separating(encoder: TableEncoder | None) -> list[LeftOut]:
    """Columns that were left out because they alone tell the tables apart."""
    left = () if encoder is None else encoder.left_out_
    return [one for one in left if one.because == "separates"]


def separated(encoder: TableEncoder | None) -> str:
    """Say which columns no weights can balance, and what to do; nothing if there are none."""
    found = separating(encoder)
    if encoder is None or not found:
        return ""
    told = listed([f"{one.name!r} ({one.reason})" for one in found], _SHOWN)
    names = list(dict.fromkeys(one.source or one.name for one in found))
    one = len(found) == 1
    return (
        f"No weighting can help in {told}: the weights do not look at {'it' if one else 'them'}. "
        f"If {'it does' if one else 'they do'} not matter, say so: "
        f"{encoder.door.names('drop', names)}."
    )


def table_notes(encoder: TableEncoder | None) -> tuple[str, ...]:
    """What else was decided about the columns, a sentence each."""
    if encoder is None:
        return ()
    out = []
    other = [one for one in encoder.left_out_ if one.because not in ("asked", "separates")]
    if other:
        told = listed([f"{one.name!r} ({one.reason})" for one in other], _SHOWN)
        back = [one.source or one.name for one in other if one.because in _CAN_COME_BACK]
        brings = f" {encoder.door.names('keep', back[:1])} brings a column back." if back else ""
        out.append(f"Columns that the weights do not look at: {told}.{brings}")
    alone = [one for one in encoder.one_sided_.levels if one.side == "q"]
    if alone:
        told = listed([one.in_words(encoder.labels) for one in alone], _SHOWN)
        out.append(f"Rows of the source that the target has no use for: {told}.")
    lost = encoder.dropped_rows[::-1]
    if any(lost):
        out.append(
            f"Left out for missing values: {lost[0]:,} rows of the source, which have no weight, "
            f"and {lost[1]:,} of the target."
        )
    return tuple(out)


_CAN_COME_BACK = ("no name", "constant", "identifier", "levels")
