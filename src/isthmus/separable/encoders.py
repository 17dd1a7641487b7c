"""Convolutional residual encoders: of one cell, shared by all cells, or of a whole grid.

He, Zhang, Ren & Sun, "Deep Residual Learning for Image Recognition", CVPR 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..data.validation import check_option
from ..neural.lazy_torch import require_torch

POOLS = ("flat", "mean")
NORMS = ("batch", "none")
PUBLISHED: dict[str, Any] = {"channels": (32, 64, 64), "strides": (1, 2, 2), "pool": "mean"}
"""Sizes of the paper's encoders."""


def residual_encoder(
    embedding: int = 32,
    *,
    size: tuple[int, int] = (28, 28),
    in_channels: int = 1,
    channels: Sequence[int] = (16, 16, 16),
    strides: Sequence[int] = (2, 2, 1),
    pool: str = "flat",
    norm: str = "batch",
) -> Any:
    """Make a residual network of 14 layers, from images to embeddings.

    A convolution of 5 x 5 pixels in steps of 3, three stages of two residual blocks of two
    convolutions each, and a dense layer.

    Parameters
    ----------
    embedding : int
        Numbers in an embedding. The last is one for all images, so that g(u)' W f(v) has terms
        that are linear in g(u) and in f(v); they would else be made of other cells' embeddings.
    size : tuple of two int
        Height and width of the images.
    in_channels : int
        Channels of the images.
    channels : sequence of 3 int
        Channels of the stages; the first convolution has 32 if ``pool`` is "flat", and those of
        the first stage otherwise.
    strides : sequence of 3 int
        Step of the first convolution of every stage.
    pool : {"flat", "mean"}
        What the dense layer sees: "mean" is the mean over all places, as in the paper. "flat" is
        every place, and the output of the first convolution besides: a short way from the
        image to the embedding, along which training begins sooner.
    norm : {"batch", "none"}
        What stands before every activation of the blocks, and behind the mean over places: batch
        normalisation, by which training takes a fraction of the steps, or nothing; the last
        convolution of every block then starts at zero, so that the network starts as a shallow
        one. In training an embedding depends on the other images of its batch if
        ``norm`` is "batch". Afterwards it depends on its image alone.

    Returns
    -------
    torch.nn.Module
        From tensors of shape (n, in_channels, height, width) to (n, embedding). Weights
        are drawn from torch's own generator: make it inside :func:`isthmus.neural.seeded`.

    Examples
    --------
    >>> import torch
    >>> residual_encoder(8)(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 8])
    >>> residual_encoder(8, size=(84, 84), **PUBLISHED)(torch.zeros(2, 1, 84, 84)).shape
    torch.Size([2, 8])
    """
    torch = require_torch("residual_encoder")
    nn = torch.nn
    from .modules import Residual, TwoWays

    check_option(pool, "pool", POOLS)
    check_option(norm, "norm", NORMS)
    batch = norm == "batch"
    flat = pool == "flat"
    first = 32 if flat else channels[0]
    stem = nn.Conv2d(in_channels, first, 5, 3, 2)
    # A convolution with half its width of margin: a place for every step that is begun.
    places = [-(-side // 3) for side in size]
    short = nn.Linear(first * places[0] * places[1], embedding - 1, bias=False)
    before, layers = first, []
    for after, step in zip(channels, strides, strict=True):
        # A step over one place is none, and gradients of it in 16 bits are not always finite.
        stride = step if max(places) > 1 else 1
        layers += [Residual(before, after, stride, batch), Residual(after, after, 1, batch)]
        before, places = after, [-(-side // stride) for side in places]
    layers += [nn.BatchNorm2d(before)] if batch else []
    layers += [nn.ReLU(), nn.Flatten() if flat else nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    # Means over many places differ little from one image to the next.
    layers += [nn.BatchNorm1d(before)] if batch and not flat else []
    seen = before * places[0] * places[1] if flat else before
    rest = nn.Sequential(*layers, nn.Linear(seen, embedding - 1))
    if flat:
        rest = TwoWays(rest, nn.Sequential(nn.ReLU(), nn.Flatten(), short))
    whole = nn.Sequential(stem, rest, nn.ConstantPad1d((0, 1), 1.0))
    # Channels beside one another in memory: convolutions on a processor are quicker.
    return whole.to(memory_format=torch.channels_last)


def dense_encoder(
    embedding: int = 32,
    *,
    size: tuple[int, int] = (28, 28),
    in_channels: int = 1,
    width: int = 256,
    norm: str = "batch",
) -> Any:
    """Make a perceptron of three layers, from small images to embeddings.

    On one core it is several times as quick as a convolutional network. It learns drawings by
    heart, and knows nothing of neighbouring pixels: of drawings of other hands it reads few.

    Parameters
    ----------
    embedding, size, in_channels, norm
        As of :func:`residual_encoder`, and so is what is returned.
    width : int
        Units of the two hidden layers.

    Examples
    --------
    >>> import torch
    >>> dense_encoder(8)(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 8])
    """
    nn = require_torch("dense_encoder").nn
    check_option(norm, "norm", NORMS)
    seen, layers = in_channels * size[0] * size[1], [nn.Flatten()]
    for _ in range(2):
        layers += [nn.Linear(seen, width)]
        layers += [nn.BatchNorm1d(width)] if norm == "batch" else []
        layers, seen = [*layers, nn.ReLU()], width
    return nn.Sequential(*layers, nn.Linear(width, embedding - 1), nn.ConstantPad1d((0, 1), 1.0))


def named_encoder(ratio: Any, shape: tuple[int, int, int]) -> Any:
    """A new encoder of the kind that a SeparableRatio asks for, of cells of such a shape."""
    channels, height, width = shape
    if not ratio.sees_cells:
        height, width = height * ratio.grid[0], width * ratio.grid[1]
    if ratio.encoder == "dense":
        how = {"size": (height, width), "in_channels": channels, "norm": ratio.norm}
        return dense_encoder(ratio.embedding, **how)
    return residual_encoder(
        ratio.embedding,
        size=(height, width),
        in_channels=channels,
        channels=ratio.channels,
        strides=ratio.strides,
        pool=ratio.pool,
        norm=ratio.norm,
    )
