"""Networks of plain layers."""

from __future__ import annotations

from typing import Any

from ._torch import require_torch


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
        training starts from.
    """
    nn = require_torch("mlp").nn
    layers: list[Any] = []
    for i in range(depth):
        layers += [nn.Linear(n_in if i == 0 else width, width), getattr(nn, activation)()]
    last = nn.Linear(width if depth else n_in, n_out)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(*layers, last)
