"""Images from outside, checked and cut into cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..data.validation import check_number
from .sources import split_cells


def check_grid(grid: Any) -> None:
    """Refuse what is not a number of rows and one of columns."""
    if not isinstance(grid, (tuple, list)) or len(grid) != 2:
        raise ValueError(f"grid must be two integers, rows and columns; received {grid!r}.")
    for each in grid:
        check_number(each, "grid", low=1, integer=True)


def as_cells(images: Any, grid: Any, name: str) -> np.ndarray:
    """Cells of images, shape (n, d, channels, h, w); bytes stay bytes, all else becomes float32.

    Examples
    --------
    >>> import numpy as np
    >>> as_cells(np.zeros((3, 8, 8)), (2, 2), "u").shape
    (3, 4, 1, 4, 4)
    """
    raw = np.asarray(images)
    if raw.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers; received {raw.dtype}.")
    if raw.ndim not in (3, 4) or not math.prod(raw.shape):
        raise ValueError(
            f"{name} must have shape (n, height, width) or (n, channels, height, width), none of "
            f"them zero; received {raw.shape}."
        )
    if raw.dtype != np.uint8:
        raw = raw.astype(np.float32)
        if not np.isfinite(raw).all():
            raise ValueError(f"{name} must be finite in single precision; received values beyond.")
    whole = raw[:, None] if raw.ndim == 3 else raw
    return np.ascontiguousarray(split_cells(whole, tuple(grid)))
