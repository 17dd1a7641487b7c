"""A scale and a shift of every critic, by held-out pairs.

Encoders that know their images by heart are too sure of themselves on others. With the critics'
values given, each of the losses is convex in a scale and a shift of every critic.

Guo, Pleiss, Sun & Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..neural.lazy_torch import require_torch
from ..typing import Array
from .losses import Method


def best_scales(method: Method, batches: list[dict[int, Any]], bias: Any) -> tuple[Array, Array]:
    """Scales and shifts of the critics with the lowest loss.

    Parameters
    ----------
    method : Method
    batches : list of dict of Tensor
        The critics' values on rows of the classes of held-out pairs, as for :meth:`Method.loss`.
    bias : Tensor of shape (n_critics,)
        What is added to the bilinear form in these values.

    Returns
    -------
    scale, shift : ndarray of shape (n_critics,)
        ``scale * form + shift`` are the new values. Scales are drawn towards one with the
        weight of one pair, since the loss has no minimum where all rows are told apart.
    """
    torch = require_torch("SeparableRatio")
    offset = bias.detach().double()[:, None]
    n = method.n_critics
    pairs = sum(values[0].shape[1] for values in batches)

    def loss(theta: Array) -> tuple[float, Array]:
        now = torch.from_numpy(theta).requires_grad_()
        scale, shift = now[:n, None], now[n:, None]
        total = 0.5 * (scale - 1.0).square().sum() / pairs
        for values in batches:
            moved = {y: scale * (v.double() - offset) + shift for y, v in values.items()}
            total = total + method.loss(moved) / len(batches)
        total.backward()
        return total.item(), now.grad.numpy()

    start = np.concatenate([np.ones(n), offset[:, 0].numpy()])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-7}).x
    return found[:n], found[n:]
