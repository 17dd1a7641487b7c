"""Drawing rows of a sample, with or without weights."""

from __future__ import annotations

import numpy as np

from ..typing import Array, IntArray


def draw_rows(size: int, weight: Array | None, n: int, rng: np.random.Generator) -> IntArray:
    """Draw n row numbers with replacement, in proportion to the weights.

    A row of weight two is drawn as two equal rows next to each other would be.
    """
    u = rng.random(n)
    if weight is None:
        return np.minimum((u * size).astype(np.intp), size - 1)
    cumulative = np.cumsum(weight)
    found = np.searchsorted(cumulative, u * cumulative[-1], side="right")
    return np.asarray(np.minimum(found, size - 1), dtype=np.intp)
