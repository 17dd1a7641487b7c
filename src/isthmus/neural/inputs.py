"""What a network sees of a row. Nothing here needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..maps.affine import Frame
from ..typing import Array


@dataclass(frozen=True)
class FrameInputs:
    """What a network sees of a row: where it lies in the frames of p and of q.

    For u = (z - centre) whiten in each frame these are asinh(u), which is u near the
    centre and grows like a logarithm, and log(1 + |u|^2 / d). Narrow classes are seen
    as sharply as wide ones, and no row is far.
    """

    frames: Sequence[Frame]

    def __call__(self, rows: Array, Z: Array) -> Array:
        """Inputs at rows, given as data and in coordinates, shape (n, 2 d + 2)."""
        out = []
        for frame in self.frames:
            u = (Z - frame.centre) @ frame.whiten
            radius = np.log1p((u**2).mean(axis=1, keepdims=True))
            out += [np.arcsinh(u), radius]
        return np.hstack(out)


def columns(rows: Array, Z: Array) -> Array:
    """The columns of the data as a network's inputs."""
    return rows
