"""What is learned from rows of all classes: MDRE, TRE, the single ratio and InfoNCE.

Every loss takes the critics' values on rows of each class, tensors of shape (n critics, rows of
the class). MDRE and TRE have a critic for each pair of neighbours in the order p, auxiliaries, q,
which is the logarithm of their ratio; the sum of all is log p/q. They differ in the loss: of all
classes at once, or of each pair by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..neural.lazy_torch import require_torch
from ..typing import Array

METHODS = ("mdre", "tre", "single", "infonce")


@dataclass(frozen=True)
class Method:
    """How many critics a method has on so many classes, K + 2, and their loss."""

    name: str
    classes: int

    @property
    def sides(self) -> list[tuple[int, int]]:
        """The two classes whose log-ratio every critic is."""
        last = self.classes - 1
        return [(k, k + 1) for k in range(last)] if self.name in ("mdre", "tre") else [(0, last)]

    @property
    def n_critics(self) -> int:
        return len(self.sides)

    @property
    def uses(self) -> list[int]:
        """Classes whose rows the loss needs."""
        return sorted({y for side in self.sides for y in side})

    def loss(self, values: dict[int, Any]) -> Any:
        """Loss on rows of the classes, given the values of shape (n_critics, rows) of each.

        For InfoNCE the rows of q are those of each row of p, side by side.
        """
        torch = require_torch("training")
        softplus = torch.nn.functional.softplus
        if self.name == "infonce":
            own, others = self._own_and_others(values)
            every = torch.cat([own[:, None], others], dim=1)
            return (torch.logsumexp(every, dim=1) - own).mean()
        if self.name == "mdre":
            every = {y: scores(value) for y, value in values.items()}
            parts = [(h.logsumexp(0) - h[y]).mean() for y, h in every.items()]
        else:
            parts = [
                softplus(-values[a][k]).mean() + softplus(values[b][k]).mean()
                for k, (a, b) in enumerate(self.sides)
            ]
        return sum(parts) / len(parts)

    def accuracy(self, values: dict[int, Any]) -> dict[str, float]:
        """Share of each class's rows that are told rightly; of each critic's for TRE."""
        if self.name == "infonce":
            own, others = self._own_and_others(values)
            return {"accuracy p": float(_share(own > others.amax(1)))}
        if self.name == "mdre":
            return {
                f"accuracy {self._class(y)}": float(_share(scores(value).argmax(0) == y))
                for y, value in values.items()
            }
        return {
            f"accuracy {self._class(a)}/{self._class(b)}": 0.5
            * float(_share(values[a][k] > 0) + _share(values[b][k] <= 0))
            for k, (a, b) in enumerate(self.sides)
        }

    def _own_and_others(self, values: dict[int, Any]) -> tuple[Any, Any]:
        own = values[0][0]
        return own, values[self.classes - 1][0].view(len(own), -1)

    def _class(self, y: int) -> str:
        return "p" if y == 0 else "q" if y == self.classes - 1 else f"m{y}"


def _share(right: Any) -> Any:
    return right.float().mean()


def scores(bridges: Any) -> Any:
    """Critics h of all classes, that of q being zero, from h_k - h_(k+1), shape (classes, rows).

    A step that one pair of neighbours asks for leaves the ratios of all the others as they are.
    With a critic for each h_k it would not.

    Examples
    --------
    >>> import torch
    >>> scores(torch.tensor([[1.0], [2.0], [3.0]])).ravel().tolist()
    [6.0, 5.0, 3.0, 0.0]
    """
    torch = require_torch("training")
    n = len(bridges)
    return torch.ones(n + 1, n, dtype=bridges.dtype).triu() @ bridges


def capped(own: Any, others: Any, count: int) -> Any:
    """InfoNCE's log-ratio, at most log ``count``: the pair was to be found among so many.

    ``own`` are scores of pairs, shape (rows,), ``others`` those of the same u with other v,
    shape (rows, m).
    """
    torch = require_torch("InfoNCE")
    rest = others.logsumexp(1) + math.log(count - 1) - math.log(others.shape[1])
    return own - torch.logaddexp(own, rest) + math.log(count)


def best_scales(method: Method, batches: list[dict[int, Any]], bias: Any) -> tuple[Array, Array]:
    """Scales and shifts of the critics with the lowest loss on values of held-out pairs.

    Encoders that know their images by heart are too sure of themselves on others (Guo, Pleiss,
    Sun & Weinberger, "On Calibration of Modern Neural Networks", ICML 2017). Each of the losses is
    convex in them; ``scale * (value - bias) + shift`` are the new values. Scales are drawn towards
    one with the weight of one pair, since the loss has no minimum where all rows are told apart.
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
