"""Networks of plain layers, and how a trained one is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.blocks import slices
from ..typing import Array
from .lazy_torch import require_torch

# Rows that a network with all its hidden units is evaluated at together.
_ROWS = 4096


def mlp(
    n_in: int, n_out: int, *, width: int = 128, depth: int = 2, activation: str = "SiLU"
) -> Any:
    """Make a multilayer perceptron whose last layer starts at zero.

    It computes zero until it is trained, so that what it is added to is where training starts
    from. ``depth`` is the number of hidden layers of ``width`` units each. Weights are drawn from
    torch's own generator: make it inside :func:`seeded`.

    Examples
    --------
    >>> import torch
    >>> mlp(3, 2, width=8)(torch.ones(1, 3)).tolist()
    [[0.0, 0.0]]
    """
    nn = require_torch("mlp").nn
    layers: list[Any] = []
    for i in range(depth):
        layers += [nn.Linear(n_in if i == 0 else width, width), getattr(nn, activation)()]
    last = nn.Linear(width if depth else n_in, n_out)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(*layers, last)


def stacked_mlps(n_in: int, n: int, *, width: int = 128, depth: int = 2) -> Any:
    """Make n perceptrons with one output each: weights and biases, stacked over the networks."""
    torch = require_torch("stacked_mlps")
    nets = [mlp(n_in, 1, width=width, depth=depth) for _ in range(n)]
    stacked = torch.nn.ParameterList()
    # Every second part is an activation.
    for level in zip(*(net[::2] for net in nets), strict=True):
        stacked.append(torch.stack([layer.weight.detach().T for layer in level]))
        stacked.append(torch.stack([layer.bias.detach()[None] for layer in level]))
    return stacked


def apply_stacked(stacked: Any, x: Any) -> Any:
    """Outputs (n, rows) of n stacked networks at inputs (n, rows, n_in), or (rows, n_in) of all."""
    torch = require_torch("apply_stacked")
    x = x.expand(len(stacked[0]), *x.shape[-2:])
    for i in range(0, len(stacked), 2):
        # One product of matrices for all networks is quicker than one for each.
        x = torch.baddbmm(stacked[i + 1], torch.nn.functional.silu(x) if i else x, stacked[i])
    return x.squeeze(-1)


def evaluate(function: Callable[[Any], Any], rows: Array) -> Array:
    """Outputs at rows of a function of networks that are in double precision.

    In single precision the value at a row would depend, in its last digits, on
    which rows are evaluated with it.
    """
    torch = require_torch("a neural network")
    with torch.no_grad():
        out = function(torch.from_numpy(np.array(rows, dtype=np.float64)))
    return np.asarray(out.numpy())


def evaluate_in_parts(
    function: Callable[[Any], Any], rows: Array, before: Callable[[Array], Array]
) -> Array:
    """The same with a map of the rows before it, some rows at a time."""
    parts = slices(len(rows), _ROWS)
    out = [evaluate(function, before(rows[part])) for part in parts]
    return np.concatenate(out) if out else np.zeros((0, 0))
