"""Convolutional residual encoders: of one cell, shared by all cells, or of a whole grid.

He, Zhang, Ren & Sun, "Deep Residual Learning for Image Recognition", CVPR 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..neural._torch import require_torch

PUBLISHED = (32, 64, 64)
"""Channels of the three stages in the paper."""


def residual_encoder(
    embedding: int = 32,
    *,
    channels: Sequence[int] = PUBLISHED,
    in_channels: int = 1,
    strides: Sequence[int] = (1, 2, 2),
    pool: str = "mean",
) -> Any:
    """Make a residual network of 14 layers, from images to embeddings.

    A convolution of 5 x 5 pixels in steps of 3, three stages of two residual blocks of two
    convolutions each, and a dense layer. There is no batch normalisation: an embedding
    depends on its image alone. Instead the last convolution of every block starts at
    zero, so that the network starts as a shallow one.

    Parameters
    ----------
    embedding : int
        Numbers in an embedding.
    channels : sequence of 3 int
        Channels of the stages; the default is the paper's.
    in_channels : int
        Channels of the images.
    strides : sequence of 3 int
        Step of the first convolution of every stage.
    pool : {"mean", "flat"}
        Whether the dense layer sees the mean over all places, as in the paper, or 2 x 2
        means, which tell where things are.

    Returns
    -------
    torch.nn.Module
        From tensors of shape (n, in_channels, height, width) to (n, embedding). Weights
        are drawn from torch's own generator: make it inside :func:`isthmus.neural.seeded`.

    Examples
    --------
    >>> import torch
    >>> residual_encoder(8, channels=(4, 8, 8))(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 8])
    """
    nn = require_torch("residual_encoder").nn
    from ._modules import Residual

    layers: list[Any] = [nn.Conv2d(in_channels, channels[0], 5, 3, 2)]
    before = channels[0]
    for after, stride in zip(channels, strides, strict=True):
        layers += [Residual(before, after, stride), Residual(after, after, 1)]
        before = after
    places = 1 if pool == "mean" else 2
    layers += [nn.ReLU(), nn.AdaptiveAvgPool2d(places), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(before * places**2, embedding))
