"""The waymarks of TRE: how rows of p and q are paired and mixed, and where waymarks lie."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from .._affine import AffineMap, represented
from .._estimator import TwoSamples
from .._typing import Array
from ..auxiliaries import DimensionWiseMixing, LinearMixing, fit_auxiliary
from ..auxiliaries.chain import separability
from ._binary import Part, hold_out
from ._distinct import Distinct

FORMS = {"sqrt": "sqrt", "convex": "linear"}
FEWEST_ROWS = 20
_MOST_WAYMARKS = 30
_FEW_WAYMARKS = 3
_ROWS = 4000
# Steps between waymarks are sought to 8 % over nine decades.
_HALVINGS, _SHORTEST = 8, 1e-9
_PAIRED_VALUES = 4_000_000
_MOST_PAIRINGS = 5


class Chain:
    """Rows of p = m_0, of the waymarks m_1, ..., m_K, and of q = m_{K+1}.

    Waymarks that mix rows of p and q are made of pairs. If they are coupled, the same
    pairs serve for all, and neighbours differ by the step between them alone, not by
    the rows that they are made of.

    Parameters
    ----------
    samples : TwoSamples
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
        waymarks: Sequence[Any],
        centre: Array,
        *,
        pairings: int,
        coupled: bool,
    ) -> None:
        self.centre, self.pairings, self.coupled = centre, pairings, coupled
        self.seeds = samples.seeds
        self.waymarks = [
            fit_auxiliary(one, samples.p, samples.q, *samples.weights) for one in waymarks
        ]
        ends = [(samples.p, samples.weight_p), (samples.q, samples.weight_q)]
        self._ends: dict[str, list[Part]] = {"all": ends}
        self._pairs: dict[str, tuple[Array, Array]] = {}

    def __len__(self) -> int:
        return len(self.waymarks) + 2

    def rows(self, k: int, part: str = "all") -> Part:
        """Rows of class k and their weights: all of them, those to "train" on or those "held" out.

        Waymarks to train on are made of rows to train on, so that no row has a share in both.
        """
        if k in (0, len(self) - 1):
            return self._part(part)[0 if k == 0 else 1]
        waymark = self.waymarks[k - 1]
        if is_mixing(waymark):
            rng = self.seeds(f"mixing {part}" if self.coupled else f"mixing {part} {k}")
            return mix(waymark, *self._paired(part, k), self.centre, rng), None
        drawn = self.sample(k, self._count("all"), self.seeds(f"m{k}"))
        if part == "all":
            return drawn, None
        return hold_out(drawn, None, self.seeds(f"hold out m{k}"))[part == "held"]

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
        return [x_p, *(self.rows(k)[0] for k in range(1, len(self) - 1)), x_q]

    def forget(self) -> None:
        """Let go of pairs and splits, which can be made again."""
        self._pairs = {}
        self._ends = {"all": self._ends["all"]}

    def _part(self, part: str) -> list[Part]:
        if part not in self._ends:
            halves = [hold_out(*end, self.seeds("hold out")) for end in self._ends["all"]]
            for name, parts in zip(("train", "held"), zip(*halves, strict=True), strict=True):
                self._ends[name] = list(parts)
        return self._ends[part]

    def _count(self, part: str) -> int:
        sizes = (
            len(rows) if weight is None else represented(weight)
            for rows, weight in self._part(part)
        )
        return self.pairings * max(sizes)

    def _paired(self, part: str, k: int) -> tuple[Array, Array]:
        name = f"pairs {part}" if self.coupled else f"pairs {part} {k}"
        if not self.coupled:
            return pair(self._part(part), self._count(part), self.seeds(name))
        if name not in self._pairs:
            self._pairs[name] = pair(self._part(part), self._count(part), self.seeds(name))
        return self._pairs[name]


def pair(parts: Sequence[Part], count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Pair rows of two samples at random; every row occurs as often as its weight asks for."""
    x_p, x_q = (Distinct.of(*part).stratified(count, rng) for part in parts)
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


def default_pairings(sizes: Sequence[int], n_columns: int) -> int:
    """As many pairings as are cheap, up to five."""
    return int(np.clip(_PAIRED_VALUES // (max(sizes) * n_columns), 1, _MOST_PAIRINGS))


def even_alphas(count: int) -> list[float]:
    """Positions at equal distances, without the ends."""
    return [k / (count + 1) for k in range(1, count + 1)]


def place_linear(
    parts: Sequence[Part], form: str, limit: float, where: AffineMap, rng: np.random.Generator
) -> list[float]:
    """Positions of as few waymarks as keep neighbours from being told apart.

    From p on, each waymark lies as far from the one before as it may.

    Parameters
    ----------
    parts : pair of (rows, weight)
    form : {"sqrt", "convex"}
    limit : float
        Largest share of held-out rows of two neighbours that may be told apart by
        the quadratic rule of two fitted normals.
    where : AffineMap
        Coordinates to measure in; rows are mixed about their origin.
    rng : Generator
    """
    x_p, x_q = _interleaved(parts, where, rng)

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
            warnings.warn(
                "p can be told from the nearest waymark however close it lies, as where values "
                f"repeat: {_FEW_WAYMARKS} waymarks at equal distances are used.",
                stacklevel=6,
            )
            return even_alphas(_FEW_WAYMARKS)
        here += (1.0 - here) * _SHORTEST**near
        rows = at(here)
        alphas.append(here)
    return alphas


def place_blocks(
    parts: Sequence[Part], limit: float, where: AffineMap, rng: np.random.Generator
) -> int:
    """Number of waymarks of dimension-wise mixing: one less than blocks, which are doubled.

    Parameters and rule are those of :func:`place_linear`.
    """
    x_p, x_q = _interleaved(parts, None, rng)
    d = x_p.shape[1]
    blocks = 1
    while blocks < d:
        edges = np.linspace(0, d, blocks + 1).round().astype(int)
        rows = [np.hstack([x_q[:, :edge], x_p[:, edge:]]) for edge in edges]
        if max(separability(where(a), where(b)) for a, b in itertools.pairwise(rows)) <= limit:
            break
        blocks = min(2 * blocks, d)
    return blocks - 1


def _interleaved(
    parts: Sequence[Part], where: Callable[[Array], Array] | None, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Pairs whose even rows and odd rows have nothing in common: one to fit to, one to judge."""
    split = [hold_out(*part, rng, held=0.5) for part in parts]
    size = min(_ROWS // 2, max(len(rows) for rows, _ in (one[0] for one in split)))
    out = np.empty((2, 2 * size, parts[0][0].shape[1]))
    for begin in (0, 1):
        out[:, begin::2] = pair([one[begin] for one in split], size, rng)
    if where is None:
        return out[0], out[1]
    return where(out[0]), where(out[1])
