"""Where the waymarks of TRE lie, and how many rows they are made of."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..auxiliaries.chain import separability
from ..data.distinct import Distinct
from ..maps.affine import AffineMap
from ..settings import is_auto
from ..typing import Array
from .waymarks import pair

FEWEST_ROWS = 20
FEW_WAYMARKS = 3
_MOST_WAYMARKS = 30
_ROWS = 4000
# Steps between waymarks are sought to 8 % over nine decades.
_HALVINGS, _SHORTEST = 8, 1e-9
_PAIRED_VALUES = 4_000_000
_MOST_PAIRINGS = 5
_ROWS_PER_COLUMN = 10


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
            warnings.warn(
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
