"""What a problem of this set has beyond a pair of distributions, and how one is added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...typing import Array, RandomState
from .. import truths
from ..base import Distribution, as_generator
from ..pair import DistributionPair
from ..registry import register
from ..truths import Truth
from .distributions import Population

Sides = tuple[Distribution, Distribution]
PREFIX = "wild/"


@dataclass(eq=False)
class Wild(DistributionPair):
    """A pair of distributions with a kind and with the numbers of rows that it is drawn with.

    Parameters
    ----------
    kind : str
        "tables", "sparse", "edges", "curves", "counts", "chasms", "few rows" or "nulls".
    n_p, n_q : int
        Rows of one draw of the benchmark.

    Examples
    --------
    >>> from isthmus import problems
    >>> problem = problems.load("wild/l-shape")
    >>> problem.kind, problem.n_p, round(problem.kl, 3)
    ('edges', 2000, 0.446)
    """

    kind: str = ""
    n_p: int = 0
    n_q: int = 0

    @property
    def finite(self) -> bool:
        """Whether all rows are those of a table, so that there are no others to test on."""
        return False

    def samples(self, rng: RandomState | None = None) -> tuple[Array, Array]:
        """One draw of p and of q, of the numbers of rows that the problem names."""
        return self.sample_p(self.n_p, rng), self.sample_q(self.n_q, rng)


@dataclass(eq=False)
class Thinned(Wild):
    r"""A real table: q is a half of its rows, p the other half, thinned by known weights.

    A row x of the other half is kept with probability :math:`\pi(x)`, so that over the rows
    of the table :math:`\log p/q = \log\pi(x) - \log\bar\pi`, and the KL is a finite sum. No
    row comes twice, and the number of rows of p is random: ``n_p`` is its mean.

    ``sample_p`` and ``sample_q`` draw rows independently, with replacement, from the same
    two distributions.

    Examples
    --------
    >>> from isthmus import problems
    >>> problem = problems.load("wild/breast-cancer-linear")
    >>> p, q = problem.samples(0)
    >>> q.shape, abs(len(p) - problem.n_p) < 40
    ((284, 30), True)
    """

    @property
    def finite(self) -> bool:
        """Whether all rows are those of a table: they are."""
        return True

    def samples(self, rng: RandomState | None = None) -> tuple[Array, Array]:
        """One draw of p and of q: disjoint rows of the table."""
        p, generator = self.p, as_generator(rng, "split")
        assert isinstance(p, Population)
        order = generator.permutation(len(p.rows))
        q_rows, rest = order[: self.n_q], order[self.n_q :]
        kept = generator.random(len(rest)) < p.raw[rest]
        return p.rows[rest[kept]], p.rows[q_rows]


def wild(
    kind: str, n_p: int, n_q: int, truth: Callable[..., Truth] = truths.exact
) -> Callable[[Callable[[], Sides]], Callable[[], Sides]]:
    """Register the function below as a problem: its name, its docstring, and p and q.

    Parameters
    ----------
    kind : str
    n_p, n_q : int
        Rows of one draw.
    truth : callable
        ``truth(p, q) -> Truth``, picklable.
    """

    def add(sides: Callable[[], Sides]) -> Callable[[], Sides]:
        name = name_of(sides)

        def make() -> Wild:
            p, q = sides()
            return Wild(name, p, q, truth, words_of(sides), kind=kind, n_p=n_p, n_q=n_q)

        register(name, make)
        return sides

    return add


def table(kind: str = "tables") -> Callable[..., Callable[[], tuple[Array, Array]]]:
    r"""Register the function below, which returns rows and their :math:`\pi(x)`, as a problem."""

    def add(read: Callable[[], tuple[Array, Array]]) -> Callable[[], tuple[Array, Array]]:
        name = name_of(read)

        def make() -> Thinned:
            rows, keep = read()
            n_q = len(rows) // 2
            n_p = round((len(rows) - n_q) * float(np.mean(keep)))
            sides = Population(rows, keep), Population(rows, np.ones(len(rows)))
            return Thinned(
                name, *sides, finite_sum, words_of(read), kind=kind, n_p=n_p, n_q=n_q
            )  # fmt: skip

        register(name, make)
        return read

    return add


def finite_sum(p: Population, q: Population) -> Truth:
    """KL over the rows of a table."""
    rows, weight = p.nodes()
    terms = p.log_density(rows) - q.log_density(rows)
    return Truth(float(weight @ terms), 0.0, "closed form")


def name_of(function: Callable[..., object]) -> str:
    """Turn the name of a function into that of its problem."""
    return PREFIX + function.__name__.replace("_", "-")


def words_of(function: Callable[..., object]) -> str:
    """First line of a docstring, which every problem must have."""
    return (function.__doc__ or "").strip().splitlines()[0]
