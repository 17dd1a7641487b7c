"""Normalising flows for F-DRE: made with zuko, trained with the library's one loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..neural import ClassBatches, Trained, Training, require_torch, train
from ..typing import Array

FLOWS = {"maf": "MAF", "nsf": "NSF", "realnvp": "RealNVP"}
# Standard deviations beyond which rows are drawn in.
_CALM = 6.0

Progress = Callable[[int, int, str], None] | None
Losses = Callable[[int, Any], Any]
"""From a class, 0 for p and 1 for q, and its rows to a loss of each."""


def calm(Y: Array) -> Array:
    """Draw far values in, logarithmically: an increasing map that leaves |y| <= 6 as it is.

    Examples
    --------
    >>> import numpy as np
    >>> calm(np.array([-2.0, 6.0, 1e6])).round(1)
    array([-2. ,  6. , 19.8])
    """
    size = np.abs(Y)
    with np.errstate(invalid="ignore"):
        far = np.sign(Y) * (_CALM + np.log1p(np.maximum(size - _CALM, 0.0)))
    return np.where(size > _CALM, far, Y)


def require_zuko() -> Any:
    """Import zuko, or say how to get it."""
    require_torch("FDRE")
    try:
        import zuko
    except ImportError:
        raise ImportError(
            "FDRE must have zuko; it is not installed. Install it with: "
            "pip install 'isthmus[neural]'"
        ) from None
    return zuko


def make_flow(flow: Any, columns: int, transforms: int, width: int, depth: int) -> Any:
    """Make a flow by name, or by the function given."""
    if callable(flow):
        made = flow(columns)
        if not hasattr(made, "parameters") or not callable(made):
            raise ValueError(
                "flow must be a function that returns a flow of zuko for a number of columns; "
                f"received one that returns a {type(made).__name__}."
            )
        return made
    make = getattr(require_zuko().flows, FLOWS[flow])
    return make(columns, transforms=transforms, hidden_features=(width,) * depth)


def quadratic_head(columns: int) -> Any:
    """A quadratic function of z that starts at zero."""
    torch = require_torch("FDRE")
    base: Any = torch.nn.Module

    class Head(base):
        def __init__(self) -> None:
            super().__init__()
            self.W = torch.nn.Parameter(torch.zeros(columns, columns))
            self.linear = torch.nn.Linear(columns, 1)
            torch.nn.init.zeros_(self.linear.weight)
            torch.nn.init.zeros_(self.linear.bias)

        def forward(self, z: Any) -> Any:
            return ((z @ self.W) * z).sum(1, keepdim=True) + self.linear(z)

    return Head()


def flow_losses(flow: Any, head: Any, alpha: float) -> tuple[Any, Losses, Losses]:
    """What to train, its loss and the one to judge by.

    A flow is fitted to the mixture of p and q. If there is a head, a classifier of z, it is
    trained with the flow, and its cross-entropy has a share ``alpha`` in the objective.
    """

    def losses(c: int, rows: Any, alpha: float = alpha) -> Any:
        model = flow()
        z, log_det = model.transform.call_and_ladj(rows)
        likelihood = model.base.log_prob(z) + log_det
        if head is None:
            return -likelihood
        return alpha * cross_entropy(c, head(z)) - (1.0 - alpha) * likelihood

    if head is None:
        return flow, losses, losses
    # The classifier alone is judged: the flow improves for long after it is too sure.
    module = require_torch("FDRE").nn.ModuleList([flow, head])
    return module, losses, partial(losses, alpha=1.0)


def cross_entropy(c: int, h: Any) -> Any:
    """Loss of a classifier of p and q at rows of class c, shape (n,)."""
    softplus = require_torch("FDRE").nn.functional.softplus
    return softplus((-1.0 if c == 0 else 1.0) * h[:, 0])


def train_on(
    module: Any,
    losses: Losses,
    judged: Losses,
    batches: ClassBatches,
    settings: Training,
    rng: np.random.Generator,
    progress: Progress,
) -> Trained:
    """Lower the mean of a loss of rows of p and q; another one, at rows held out, judges."""

    def loss(generator: Any) -> Any:
        return 0.5 * sum(losses(c, rows).mean() for c, rows in enumerate(batches.draw(generator)))

    held_out = None if batches.held is None else lambda: 0.5 * batches.held_out_mean(judged)
    return train(module, loss, rng=rng, held_out=held_out, settings=settings, progress=progress)
