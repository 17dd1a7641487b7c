"""The waymarks of TRE: where they lie, and how rows of p and q are paired and mixed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..auxiliaries.chain import separability
from ..data.distinct import Distinct
from ..data.holdout import LEAST_ROWS
from ..data.sample import Sample
from ..data.seeds import Seeds
from ..data.telling import tell
from ..maps.affine import AffineMap
from ..settings import is_auto
from ..typing import Array, Auxiliary, Mixing

FEWEST_ROWS = 20
FEW_WAYMARKS = 3
_MOST_WAYMARKS = 30
_ROWS = 4000
# Steps between waymarks are sought to 8 % over nine decades.
_HALVINGS, _SHORTEST = 8, 1e-9
_PAIRED_VALUES = 4_000_000
_MOST_PAIRINGS = 5
_ROWS_PER_COLUMN = 10


@dataclass(frozen=True)
class Chain:
    """Rows of p = m_0, of the waymarks m_1, ..., m_K, and of q = m_{K+1}.

    Waymarks that mix rows of p and q are made of pairs. If they are coupled, the same
    pairs serve for all, and neighbours differ by the step between them alone, not by
    the rows that they are made of.

    The ends are rows of p and of q: all, those to "train" on or those "held" out. Rows are mixed
    about a centre, and one of the larger sample is used ``pairings`` times. Of a fitted waymark
    that does not mix, ``drawn`` rows are drawn, or else as many as there are pairs.
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


def default_pairings(ends: Sequence[Distinct]) -> int:
    """As many pairings as are cheap, up to five; one where rows are few for their columns."""
    d = ends[0].rows.shape[1]
    if min(len(end.rows) for end in ends) < _ROWS_PER_COLUMN * d:
        # Rows used again and again would look like many rows in few directions.
        return 1
    largest = max(end.size for end in ends)
    return int(np.clip(_PAIRED_VALUES // (largest * d), 1, _MOST_PAIRINGS))


def check_alphas(alphas: Any, waymarks: Any, n_waymarks: Any) -> None:
    """Refuse positions of waymarks that do not fit."""
    if not (isinstance(waymarks, str) and waymarks == "linear"):
        raise ValueError(
            f"alphas must be None unless waymarks is 'linear'; received {alphas!r} with "
            f"waymarks={waymarks!r}."
        )
    try:
        places = np.asarray(alphas, dtype=np.float64)
    except (TypeError, ValueError):
        places = np.array(np.nan)
    inside = places.ndim == 1 and np.all((places > 0) & (places < 1))
    if not inside or np.any(np.diff(places) <= 0):
        raise ValueError(
            f"alphas must be a list of increasing numbers between 0 and 1; received {alphas!r}."
        )
    if not is_auto(n_waymarks) and n_waymarks != len(places):
        raise ValueError(
            f"n_waymarks must be 'auto' or the number of alphas; received {n_waymarks!r} and "
            f"{len(places)} alphas."
        )


def even_alphas(count: int) -> list[float]:
    """Positions at equal distances, without the ends."""
    return [k / (count + 1) for k in range(1, count + 1)]


def place_linear(
    ends: Sequence[Distinct], form: str, limit: float, where: AffineMap, rng: np.random.Generator
) -> list[float]:
    """Positions of as few waymarks as keep neighbours from being told apart.

    From p on, each waymark lies as far from the one before as it may: no more than ``limit``
    of held-out rows of two neighbours can be told apart by the quadratic rule of two fitted
    normals. Rows are mixed about the origin of the coordinates ``where``.
    """
    x_p, x_q = map(where, _interleaved(ends, rng))

    def at(alpha: float) -> Array:
        keep = 1.0 - alpha if form == "convex" else np.sqrt(1.0 - alpha**2)
        return np.asarray(keep * x_p + alpha * x_q)

    alphas: list[float] = []
    here, rows = 0.0, x_p
    while len(alphas) < _MOST_WAYMARKS and separability(rows, x_q) > limit:
        near, far = 1.0, 0.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (near + far)
            there = here + (1.0 - here) * _SHORTEST**middle
            if separability(rows, at(there)) > limit:
                far = middle
            else:
                near = middle
        if near == 1.0:
            tell(
                "p can be told from the nearest waymark however close it lies, as where values "
                f"repeat: {FEW_WAYMARKS} waymarks at equal distances are used.",
                stacklevel=6,
            )
            return even_alphas(FEW_WAYMARKS)
        here += (1.0 - here) * _SHORTEST**near
        rows = at(here)
        alphas.append(here)
    return alphas


def place_blocks(
    ends: Sequence[Distinct], limit: float, where: AffineMap, rng: np.random.Generator
) -> int:
    """Number of waymarks of dimension-wise mixing: one less than blocks, which are doubled."""
    x_p, x_q = _interleaved(ends, rng)
    d = x_p.shape[1]
    blocks = 1
    while blocks < d:
        edges = np.linspace(0, d, blocks + 1).round().astype(int)
        rows = [np.hstack([x_q[:, :edge], x_p[:, edge:]]) for edge in edges]
        if max(separability(where(a), where(b)) for a, b in itertools.pairwise(rows)) <= limit:
            break
        blocks = min(2 * blocks, d)
    return blocks - 1


def _interleaved(ends: Sequence[Distinct], rng: np.random.Generator) -> Array:
    """Pairs whose even rows and odd rows have nothing in common: one to fit to, one to judge."""
    split = [end.hold_out(rng, held=0.5) for end in ends]
    size = min(_ROWS // 2, max(len(one[0].rows) for one in split))
    out = np.empty((2, 2 * size, ends[0].rows.shape[1]))
    for begin in (0, 1):
        out[:, begin::2] = pair([one[begin] for one in split], size, rng)
    return out
