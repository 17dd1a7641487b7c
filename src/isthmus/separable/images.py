"""Images: checked, cut into cells, joined again, brought to one scale and distorted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..neural.lazy_torch import require_torch


@dataclass(frozen=True)
class Inputs:
    """From images to what encoders see: about zero mean and unit variance."""

    centre: float
    scale: float

    @classmethod
    def of(cls, images: Any) -> Inputs:
        """Found from some of the images, a tensor."""
        values = images.double()
        scale = float(values.std(correction=0))
        return cls(float(values.mean()), scale if scale > 0 else 1.0)

    def __call__(self, images: Any) -> Any:
        torch = require_torch("training")
        # A copy, which may then be changed in place.
        return images.to(torch.float32, copy=True).sub_(self.centre).mul_(1.0 / self.scale)


def as_cells(images: Any, grid: Any, name: str) -> np.ndarray:
    """Cells of images, shape (n, d, channels, h, w); bytes stay bytes, all else becomes float32."""
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


def split_cells(images: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """Cells of shape (n, d, channels, h, w) of images of shape (n, channels, H, W)."""
    n, channels, height, width = images.shape
    rows, columns = grid
    if height % rows or width % columns:
        raise ValueError(
            f"grid must divide the images, of {height} x {width} pixels; received {grid}."
        )
    cells = images.reshape(n, channels, rows, height // rows, columns, width // columns)
    out = cells.transpose(0, 2, 4, 1, 3, 5)
    return out.reshape(n, rows * columns, channels, height // rows, width // columns)


def join_cells(cells: Any, grid: tuple[int, int]) -> Any:
    """Images of shape (n, channels, H, W) of cells of shape (n, d, channels, h, w); a tensor."""
    n, _, channels, h, w = cells.shape
    rows, columns = grid
    whole = cells.view(n, rows, columns, channels, h, w).permute(0, 3, 1, 4, 2, 5)
    return whole.reshape(n, channels, rows * h, columns * w)


def distorted(images: Any, size: float, generator: Any) -> Any:
    """Images under random affine maps; what comes in is zero."""
    torch = require_torch("OmniglotSource")
    maps = torch.eye(2, 3) + size * torch.randn(len(images), 2, 3, generator=generator)
    places = torch.nn.functional.affine_grid(maps, list(images.shape), align_corners=False)
    return torch.nn.functional.grid_sample(images.float(), places, align_corners=False)
