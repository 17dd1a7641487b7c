"""Rows of a problem for one cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import stack
from ..problems import DistributionPair, load
from ..typing import Array
from .record import Fields

_ROWS = {1: 33_333, 40: 100_000, 160: 50_000, 320: 20_000}


def full_rows(dim: int) -> int:
    """Rows of each sample in a full run, the same for every method.

    The authors have 33,000 in one column and 100,000 in 40. In more columns convex fits to so
    many rows take hours each, so that all methods have fewer.

    Examples
    --------
    >>> full_rows(1), full_rows(40), full_rows(320)
    (33333, 100000, 20000)
    """
    return _ROWS[max(least for least in _ROWS if least <= dim)]


@dataclass(frozen=True)
class Samples:
    """Rows of p and of q to fit to, and a generator for all that is drawn after them."""

    problem: DistributionPair
    p: Array
    q: Array
    rng: np.random.Generator

    @classmethod
    def of(cls, name: str, cell: Fields) -> Samples:
        """Rows of a problem, by a cell's number of "rows" of each side and its "seed"."""
        problem, rows, seed = pair(name), cell["rows"], cell["seed"]
        p, q = problem.sample_p(rows, seed), problem.sample_q(rows, seed)
        return cls(problem, p, q, np.random.default_rng([seed, 1]))

    @property
    def stacked(self) -> tuple[Any, Any]:
        """Rows and labels."""
        X, y = stack(self.p, self.q)
        return X, y

    def fresh(self, n: int) -> dict[str, Array]:
        """Rows of p and of q that were not fitted to."""
        return {"p": self.problem.sample_p(n, self.rng), "q": self.problem.sample_q(n, self.rng)}


def pair(name: str) -> DistributionPair:
    """The problem of this name; all of the paper's are pairs that know its numbers."""
    problem = load(name)
    assert isinstance(problem, DistributionPair)
    return problem
