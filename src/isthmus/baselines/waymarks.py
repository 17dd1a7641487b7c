"""The waymarks of TRE: how rows of p and q are paired and mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..data.distinct import Distinct
from ..data.holdout import LEAST_ROWS
from ..data.sample import Sample
from ..data.seeds import Seeds
from ..typing import Array, Auxiliary, Mixing


@dataclass(frozen=True)
class Chain:
    """Rows of p = m_0, of the waymarks m_1, ..., m_K, and of q = m_{K+1}.

    Waymarks that mix rows of p and q are made of pairs. If they are coupled, the same
    pairs serve for all, and neighbours differ by the step between them alone, not by
    the rows that they are made of.

    Attributes
    ----------
    ends : sequence of Distinct
        Rows of p and of q.
    waymarks : sequence of auxiliaries
        Fitted, in the order from p to q.
    centre : ndarray of shape (d,)
        The origin about which rows are mixed.
    pairings : int
        How often a row of the larger sample is used.
    coupled : bool
    seeds : Seeds
    part : {"all", "train", "held"}
        Whether the ends are all rows, those to fit to or those held out.
    drawn : int
        Number of rows of a waymark that does not mix.
    """

    ends: Sequence[Distinct]
    waymarks: Sequence[Auxiliary]
    centre: Array
    pairings: int
    coupled: bool
    seeds: Seeds
    part: str = "all"
    drawn: int = 0

    def __len__(self) -> int:
        return len(self.waymarks) + 2

    @property
    def is_paired(self) -> bool:
        """Whether the i-th rows of all classes are made of one pair."""
        return self.coupled and all(isinstance(one, Mixing) for one in self.waymarks)

    def split(self) -> tuple[Chain, Chain] | None:
        """A chain of rows to fit to and one of rows held out; None where there are too few.

        Waymarks to fit to are made of rows to fit to, so that no row has a share in both.
        """
        if min(len(end.rows) for end in self.ends) < LEAST_ROWS:
            return None
        halves = [end.hold_out(self.seeds("hold out")) for end in self.ends]
        train, held = (
            replace(self, ends=[half[k] for half in halves], part=part, drawn=self._count)
            for k, part in enumerate(("train", "held"))
        )
        return train, held

    def rows(self, k: int) -> Sample:
        """Rows of class k and their weights."""
        if k in (0, len(self) - 1):
            return self.ends[min(k, 1)].sample
        waymark = self.waymarks[k - 1]
        if isinstance(waymark, Mixing):
            rng = self.seeds(f"mixing {self._name(k)}")
            return Sample.of(self._mix(waymark, *self._pairs(k), rng))
        drawn = Sample.of(self.sample(k, self.drawn or self._count, self.seeds(f"m{k}")))
        if self.part == "all":
            return drawn
        halves = Distinct.to_split(drawn).hold_out(self.seeds(f"hold out m{k}"))
        return halves[self.part == "held"].sample

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows of class k anew."""
        if k in (0, len(self) - 1):
            return pair(self.ends, n, rng)[min(k, 1)]
        waymark = self.waymarks[k - 1]
        if isinstance(waymark, Mixing):
            return self._mix(waymark, *pair(self.ends, n, rng), rng)
        return np.asarray(waymark.sample(n, rng))

    def paired(self) -> list[Array]:
        """Rows of all classes, of which the i-th are all made of the i-th pair."""
        x_p, x_q = self._pairs(0)
        return [x_p, *(self.rows(k).rows for k in range(1, len(self) - 1)), x_q]

    def _mix(self, waymark: Mixing, x_p: Array, x_q: Array, rng: np.random.Generator) -> Array:
        return waymark.mix(x_p - self.centre, x_q - self.centre, rng) + self.centre

    def _name(self, k: int) -> str:
        """Name of what is random in class k, the same for all that share it."""
        return self.part if self.coupled else f"{self.part} {k}"

    @property
    def _count(self) -> int:
        return self.pairings * max(end.size for end in self.ends)

    def _pairs(self, k: int) -> tuple[Array, Array]:
        if self.coupled:
            return self._shared_pairs
        return pair(self.ends, self._count, self.seeds(f"pairs {self._name(k)}"))

    @cached_property
    def _shared_pairs(self) -> tuple[Array, Array]:
        return pair(self.ends, self._count, self.seeds(f"pairs {self._name(0)}"))


def pair(ends: Sequence[Distinct], count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Pair rows of two samples at random; every row occurs as often as its weight asks for."""
    x_p, x_q = (end.stratified(count, rng) for end in ends)
    return x_p, x_q
