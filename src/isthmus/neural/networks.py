"""Networks of plain layers, and how a trained one is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..typing import Array
from .lazy_torch import require_torch


def mlp(
    n_in: int, n_out: int, *, width: int = 128, depth: int = 2, activation: str = "SiLU"
) -> Any:
    """Make a multilayer perceptron whose last layer starts at zero.

    Parameters
    ----------
    n_in, n_out : int
        Numbers of inputs and outputs.
    width, depth : int
        Units of a hidden layer, and number of hidden layers.
    activation : str
        Name of an activation in ``torch.nn``.

    Returns
    -------
    torch.nn.Sequential
        It computes zero until it is trained, so that what it is added to is where
        training starts from. Weights are drawn from torch's own generator: make it
        inside :func:`seeded`.

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
    """Make n perceptrons with one output each, to be computed side by side.

    Parameters
    ----------
    n_in : int
        Number of inputs of each.
    n : int
        How many.
    width, depth : int
        As of :func:`mlp`, which each of them equals.

    Returns
    -------
    torch.nn.ParameterList
        Weights and biases of the layers in turn, each stacked over the networks;
        :func:`apply_stacked` computes with them.

    Examples
    --------
    >>> import torch
    >>> apply_stacked(stacked_mlps(3, 2, width=8), torch.ones(5, 3)).shape
    torch.Size([2, 5])
    """
    torch = require_torch("stacked_mlps")
    nets = [mlp(n_in, 1, width=width, depth=depth) for _ in range(n)]
    layers = [[part for part in net if hasattr(part, "weight")] for net in nets]
    stacked = torch.nn.ParameterList()
    for level in zip(*layers, strict=True):
        stacked.append(torch.stack([layer.weight.detach().T for layer in level]))
        stacked.append(torch.stack([layer.bias.detach()[None] for layer in level]))
    return stacked


def apply_stacked(stacked: Any, x: Any) -> Any:
    """Outputs of networks made by :func:`stacked_mlps`.

    Parameters
    ----------
    stacked : torch.nn.ParameterList
        The n networks.
    x : Tensor of shape (n, rows, n_in) or (rows, n_in)
        Inputs of each network, or of all.

    Returns
    -------
    Tensor of shape (n, rows)
    """
    torch = require_torch("apply_stacked")
    x = x.expand(len(stacked[0]), *x.shape[-2:])
    for i in range(0, len(stacked), 2):
        # One product of matrices for all networks is quicker than one for each.
        x = torch.baddbmm(stacked[i + 1], torch.nn.functional.silu(x) if i else x, stacked[i])
    return x.squeeze(-1)


def evaluate(function: Callable[[Any], Any], rows: Array) -> Array:
    """Outputs of a network at rows, in double precision.

    In single precision the value at a row would depend, in its last digits, on
    which rows are evaluated with it.

    Parameters
    ----------
    function : callable
        A module converted by ``module.double()``, or a function of such modules.
    rows : ndarray of shape (n, d)

    Returns
    -------
    ndarray
        Whatever the function returns for a tensor of these rows.
    """
    torch = require_torch("a neural network")
    with torch.no_grad():
        out = function(torch.from_numpy(np.array(rows, dtype=np.float64)))
    return np.asarray(out.numpy())
