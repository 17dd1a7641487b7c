"""The parameters of SeparableRatio: what is refused, and the networks and training they ask for."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

from ..data.validation import check_flag, check_number, check_option
from ..neural import parameters
from ..neural.lazy_torch import require_torch
from ..neural.training import Training
from .encoders import POOLS, dense_encoder, residual_encoder
from .images import check_grid
from .losses import METHODS
from .mixing import MIXINGS
from .rows import Inputs
from .sources import join_cells

IMAGES = 1024
"""Images that are encoded together."""


def is_cellwise(estimator: Any) -> bool:
    """Whether its encoders see one cell at a time."""
    if isinstance(estimator.encoder, str):
        return estimator.encoder in ("cells", "dense")
    return bool(estimator.by_cell)


def training_of(estimator: Any) -> Training:
    """How to train, with 20 looks at the held-out loss."""
    return replace(parameters.training_of(estimator), checkpoint=estimator.checkpoint)


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that do not fit."""
    require_torch("SeparableRatio")
    check_option(estimator.method, "method", METHODS)
    check_option(estimator.mixing, "mixing", MIXINGS)
    check_option(estimator.pool, "pool", POOLS)
    check_option(estimator.interaction, "interaction", ("all", "cells"))
    check_grid(estimator.grid)
    encoder = estimator.encoder
    modules = encoder if isinstance(encoder, (tuple, list)) else (encoder,) * 2
    if isinstance(encoder, str):
        check_option(encoder, "encoder", ("cells", "dense", "whole"))
    elif len(modules) != 2 or not all(hasattr(each, "parameters") for each in modules):
        raise ValueError(
            "encoder must be 'cells', 'dense', 'whole', a torch module or a pair of them; received "
            f"{encoder!r}."
        )
    for name in ("by_cell", "one_encoder", "calibrate"):
        check_flag(getattr(estimator, name), name)
    for name in ("channels", "strides"):
        given = getattr(estimator, name)
        if not isinstance(given, (tuple, list)) or len(given) != 3:
            raise ValueError(f"{name} must be three integers; received {given!r}.")
        for each in given:
            check_number(each, name, low=1, integer=True)
    check_number(estimator.l2, "l2", low=0)
    check_number(estimator.embedding, "embedding", low=2, integer=True)
    check_number(estimator.batch_size, "batch_size", low=2, integer=True)
    check_number(estimator.group, "group", low=2, integer=True)
    check_number(estimator.validation, "validation", low=0, high=1, open_high=True)
    training_of(estimator).check()


def make_critic(estimator: Any, batch: Any, inputs: tuple[Inputs, Inputs], n: int) -> Any:
    """The critic with n classes, untrained; a batch says how large images and embeddings are."""
    torch = require_torch("SeparableRatio")
    from .modules import SeparableCritic

    given = estimator.encoder
    shapes = [tuple(images.shape[1:]) for images in (batch.u, batch.v)]
    if estimator.one_encoder and shapes[0] != shapes[1]:
        raise ValueError(
            "one_encoder must be False where u and v have images of different shapes; their cells "
            f"have {shapes[0]} and {shapes[1]}."
        )
    if isinstance(given, str):
        g = _encoder(estimator, batch.u)
        f = g if estimator.one_encoder else _encoder(estimator, batch.v)
    else:
        g, f = copy.deepcopy(given if isinstance(given, (tuple, list)) else (given, given))
        # A module that is given once makes two encoders, unless one is asked for.
        f = g if estimator.one_encoder else copy.deepcopy(f)
    if is_cellwise(estimator):
        shown = [batch.u[:2], batch.v[:2]]
    else:
        cells = (x[at[:2]] for x, at in ((batch.u, batch.at_u), (batch.v, batch.at_v)))
        shown = [join_cells(each, estimator.grid) for each in cells]
    with torch.no_grad():
        sides = zip((g, f), inputs, shown, strict=True)
        sizes = [tuple(encoder(standard(x)).shape) for encoder, standard, x in sides]
    # What encoders make of images says how large embeddings are.
    if sizes[0][1:] != sizes[1][1:] or len(sizes[0]) != 2 or sizes[0][0] != len(shown[0]):
        raise ValueError(
            "encoder must be of modules that give embeddings of one shape (n, size); received "
            f"{sizes[0]} and {sizes[1]} for {len(shown[0])} and {len(shown[1])} images."
        )
    d = math.prod(estimator.grid) if is_cellwise(estimator) else 1
    return SeparableCritic(g, f, sizes[0][1], d, n, full=estimator.interaction == "all")


def _encoder(estimator: Any, cells: Any) -> Any:
    """A new encoder of the kind that is asked for, of images with such cells."""
    height, width = cells.shape[2:]
    if not is_cellwise(estimator):
        height, width = height * estimator.grid[0], width * estimator.grid[1]
    how: dict[str, Any] = {"size": (height, width), "in_channels": cells.shape[1]}
    if estimator.encoder == "dense":
        return dense_encoder(estimator.embedding, **how)
    how |= {name: getattr(estimator, name) for name in ("channels", "strides", "pool")}
    return residual_encoder(estimator.embedding, **how)
