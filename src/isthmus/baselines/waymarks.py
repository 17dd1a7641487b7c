"""The waymarks of TRE: how rows of p and q are paired and mixed."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from ..auxiliaries import DimensionWiseMixing, LinearMixing, fit_auxiliary
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..typing import Array
from .distinct import Distinct
from .hold_out import as_sample, can_hold_out, collect, hold_out


class Chain:
    """Rows of p = m_0, of the waymarks m_1, ..., m_K, and of q = m_{K+1}.

    Waymarks that mix rows of p and q are made of pairs. If they are coupled, the same
    pairs serve for all, and neighbours differ by the step between them alone, not by
    the rows that they are made of.

    Parameters
    ----------
    samples : TwoSamples
    seeds : Seeds
    ends : list of Distinct
        Their rows, collected.
    waymarks : list of auxiliaries
        Unfitted, in the order from p to q.
    centre : ndarray of shape (d,)
        The origin about which rows are mixed.
    pairings : int
        How often a row of the larger sample is used.
    coupled : bool
    """

    def __init__(
        self,
        samples: TwoSamples,
        seeds: Seeds,
        ends: list[Distinct],
        waymarks: Sequence[Any],
        centre: Array,
        *,
        pairings: int,
        coupled: bool,
    ) -> None:
        self.centre, self.pairings, self.coupled = centre, pairings, coupled
        self.seeds = seeds
        self.waymarks = [fit_auxiliary(one, samples) for one in waymarks]
        self._ends: dict[str, list[Distinct]] = {"all": ends}
        self._pairs: dict[str, tuple[Array, Array]] = {}

    def __len__(self) -> int:
        return len(self.waymarks) + 2

    def rows(self, k: int, part: str = "all") -> Sample:
        """Rows of class k and their weights: all of them, those to "train" on or those "held" out.

        Waymarks to train on are made of rows to train on, so that no row has a share in both.
        """
        if k in (0, len(self) - 1):
            return as_sample(self._part(part)[0 if k == 0 else 1])
        waymark = self.waymarks[k - 1]
        if is_mixing(waymark):
            rng = self.seeds(f"mixing {part}" if self.coupled else f"mixing {part} {k}")
            return Sample.of(mix(waymark, *self._paired(part, k), self.centre, rng))
        drawn = self.sample(k, self._count("all"), self.seeds(f"m{k}"))
        if part == "all":
            return Sample.of(drawn)
        kept, held = hold_out(collect(drawn), self.seeds(f"hold out m{k}"))
        return as_sample(held if part == "held" else kept)

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows of class k anew."""
        if 0 < k < len(self) - 1 and not is_mixing(self.waymarks[k - 1]):
            return np.asarray(self.waymarks[k - 1].sample(n, rng))
        x_p, x_q = pair(self._ends["all"], n, rng)
        if k in (0, len(self) - 1):
            return x_p if k == 0 else x_q
        return mix(self.waymarks[k - 1], x_p, x_q, self.centre, rng)

    def paired(self) -> list[Array]:
        """Rows of all classes, of which the i-th are all made of the i-th pair."""
        x_p, x_q = self._paired("all", 0)
        return [x_p, *(self.rows(k).rows for k in range(1, len(self) - 1)), x_q]

    @property
    def is_paired(self) -> bool:
        """Whether the i-th rows of all classes are made of one pair."""
        return self.coupled and all(is_mixing(one) for one in self.waymarks)

    def forget(self) -> None:
        """Let go of pairs and splits, which can be made again."""
        self._pairs = {}
        self._ends = {"all": self._ends["all"]}

    @property
    def can_hold_out(self) -> bool:
        """Whether there are rows enough to choose penalties by."""
        return can_hold_out(self._ends["all"])

    def _part(self, part: str) -> list[Distinct]:
        if part not in self._ends:
            halves = [hold_out(end, self.seeds("hold out")) for end in self._ends["all"]]
            for name, parts in zip(("train", "held"), zip(*halves, strict=True), strict=True):
                self._ends[name] = list(parts)
        return self._ends[part]

    def _count(self, part: str) -> int:
        return self.pairings * max(end.size for end in self._part(part))

    def _paired(self, part: str, k: int) -> tuple[Array, Array]:
        name = f"pairs {part}" if self.coupled else f"pairs {part} {k}"
        if not self.coupled:
            return pair(self._part(part), self._count(part), self.seeds(name))
        if name not in self._pairs:
            self._pairs[name] = pair(self._part(part), self._count(part), self.seeds(name))
        return self._pairs[name]


def collect_ends(samples: TwoSamples) -> list[Distinct]:
    """The distinct rows of p and of q."""
    return [collect(one.rows, one.weight) for one in samples]


def pair(ends: Sequence[Distinct], count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Pair rows of two samples at random; every row occurs as often as its weight asks for."""
    x_p, x_q = (end.stratified(count, rng) for end in ends)
    return x_p, x_q


def is_mixing(waymark: Any) -> bool:
    """Whether a waymark is made of pairs of rows."""
    return isinstance(waymark, LinearMixing | DimensionWiseMixing)


def mix(waymark: Any, x_p: Array, x_q: Array, centre: Array, rng: np.random.Generator) -> Array:
    """Mix given pairs of rows about a centre."""
    given = copy(waymark)
    # A mixing auxiliary draws its pairs in this method; here they are drawn already.
    vars(given)["_pairs"] = lambda n, rng: (x_p - centre, x_q - centre)
    return np.asarray(given.sample(len(x_p), rng) + centre)
