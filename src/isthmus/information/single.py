"""One column of a table, with what every pair that it is in needs, worked out once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.seeds import Seeds
from ..typing import Array, IntArray
from .binned import in_bins
from .counts import entropy_limit
from .marginal import Marginal
from .sentinels import find_sentinel
from .values import Values

# Rows of a cell of the table of two binned columns, and bins at most.
_ROWS_PER_CELL, _MOST_BINS = 20, 40


@dataclass(frozen=True)
class SingleColumn:
    """One column.

    Attributes
    ----------
    name : str
    values : Values
        One label for each row, or one column of numbers, with perhaps one more that says where
        numbers are missing.
    seeds : Seeds
        Draws equal numbers apart.

    Examples
    --------
    >>> column = SingleColumn("a", Values(np.array([0, 1, 0, 1]), True), Seeds(0))
    >>> column.constant, round(column.entropy, 3)
    (False, 0.693)
    """

    name: str
    values: Values
    seeds: Seeds

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def constant(self) -> bool:
        """Whether all rows are the same."""
        return self.values.constant

    @property
    def plain(self) -> bool:
        """Whether it is numbers and nothing else."""
        return not (self.values.discrete or self.values.categories)

    @cached_property
    def marginal(self) -> Marginal:
        """Ranks of plain numbers."""
        return Marginal.of(self.values.array, self.seeds(f"ties of {self.name}"))

    @cached_property
    def bins(self) -> tuple[IntArray, IntArray]:
        """Bins of plain numbers, and about half as many."""
        count = int(np.clip(np.sqrt(len(self) / _ROWS_PER_CELL), 4, _MOST_BINS))
        fine, coarse = (in_bins(self.values.array[:, 0], m) for m in (count, count // 2))
        return fine, coarse

    @cached_property
    def label(self) -> IntArray:
        """A label for every value that occurs."""
        if self.values.discrete:
            return np.asarray(self.values.array)
        found = np.unique(self.values.array, axis=0 if self.values.categories else None,
                          return_inverse=True)[1]  # fmt: skip
        return found.reshape(-1)

    @cached_property
    def known(self) -> IntArray:
        """Numbers of rows of the different values."""
        return np.bincount(self.label)

    @cached_property
    def limit(self) -> float:
        """What the entropy can be at most; infinite where values hardly repeat."""
        return 0.0 if self.constant else entropy_limit(self.known)

    @property
    def entropy(self) -> float:
        """Entropy of the values as they are counted; infinite for numbers that hardly repeat."""
        if not self.values.discrete and np.isinf(self.limit):
            return np.inf
        share: Array = self.known / self.known.sum()
        return abs(float(share @ np.log(share)))

    @cached_property
    def strange(self) -> bool:
        """Whether it has a value far from all others, which may stand for something else."""
        values = self.values
        return any(find_sentinel(values.array[:, j]) is not None for j in values.numbers)
