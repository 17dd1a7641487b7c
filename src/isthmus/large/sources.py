"""Which samples are read in parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.memory import array_source
from ..data.source import Source
from ..data.validation import as_weight
from .sampling import LARGE


def large_sources(p: Any, q: Any, weight_p: Any, weight_q: Any) -> tuple[Source, Source] | None:
    """Two samples as sources, where either has more rows than are worked on as a whole."""
    if not (isinstance(p, np.ndarray) and isinstance(q, np.ndarray)):
        return None
    if max(len(p), len(q)) <= LARGE:
        return None
    return _source(p, "p", weight_p), _source(q, "q", weight_q)


def _source(rows: np.ndarray, label: str, weight: Any) -> Source:
    own = None if weight is None else as_weight(weight, len(rows), f"weight_{label}")
    return array_source(rows[:, None] if rows.ndim == 1 else rows, label, own)
