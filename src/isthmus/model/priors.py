"""How often each class is drawn, and how much it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..typing import Array

# Draws of a known auxiliary are free: five times the data, more where these are few, fewer
# where their number would be what takes the time.
_AUXILIARY_VALUES = 1_000_000
_AUXILIARY_FACTOR = 5.0
_AUXILIARY_ROWS = 20_000


def draw_count(sizes: Sequence[int], n_columns: int, oversample: float | str | None) -> int:
    """How many rows of an auxiliary to draw.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of rows of p and of q.
    n_columns : int
    oversample : float, "auto" or None
        None for an auxiliary that is learned.
    """
    if oversample is None:
        return max(sizes)
    if oversample != "auto":
        return int(np.ceil(float(oversample) * max(sizes)))
    # Between unequal samples, as many as for two of their geometric mean.
    typical = np.sqrt(float(sizes[0]) * sizes[1])
    most = max(_AUXILIARY_FACTOR, _AUXILIARY_ROWS / typical)
    factor = min(max(_AUXILIARY_VALUES / (typical * n_columns), 2.0), most)
    return max(int(np.ceil(factor * typical)), 2 * max(sizes))


def class_prior(prior: Any, counts: Array, names: list[str]) -> Array:
    """Prior probabilities of the classes from the parameter ``prior``."""
    if isinstance(prior, str):
        share = counts if prior == "counts" else np.ones_like(counts)
        return np.asarray(share / share.sum())
    values = prior
    if isinstance(values, Mapping):
        if set(values) != set(names):
            raise ValueError(f"prior must have the keys {names}; received {list(values)}.")
        values = [values[name] for name in names]
    share = np.asarray(values, dtype=np.float64)
    if share.shape != counts.shape or not np.isfinite(share).all() or (share <= 0).any():
        raise ValueError(
            f"prior must be 'uniform', 'counts' or one positive number for each of the classes "
            f"{names}; received {prior!r}."
        )
    return np.asarray(share / share.sum())
