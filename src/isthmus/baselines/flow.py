"""Normalising flows for F-DRE: made with zuko, trained with the library's one loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..neural import ClassBatches, Trained, Training, evaluate, require_torch, seeded, train
from ..typing import Array

FLOWS = {"maf": "MAF", "nsf": "NSF", "realnvp": "RealNVP"}
# Standard deviations beyond which rows are drawn in.
_CALM = 6.0

Progress = Callable[[int, int, str], None] | None


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


def train_flow(
    flow: Any,
    head: Any,
    batches: ClassBatches,
    alpha: float,
    settings: Training,
    rng: np.random.Generator,
    progress: Progress,
) -> Trained:
    """Fit a flow to the mixture of p and q, with a classifier on top of it if one is given.

    Parameters
    ----------
    flow : flow of zuko
    head : torch.nn.Module or None
        Classifier of z, trained with the flow.
    batches : ClassBatches
        Rows of p, then of q.
    alpha : float
        Share of the classifier's cross-entropy in the objective.
    settings : Training
    rng : numpy Generator
    progress : callable, optional
    """
    torch = require_torch("FDRE")
    softplus = torch.nn.functional.softplus
    module = flow if head is None else torch.nn.ModuleList([flow, head])

    def losses(c: int, rows: Any, alpha: float = alpha) -> Any:
        model = flow()
        z, log_det = model.transform.call_and_ladj(rows)
        likelihood = model.base.log_prob(z) + log_det
        if head is None:
            return -likelihood
        sign = -1.0 if c == 0 else 1.0
        return alpha * softplus(sign * head(z)[:, 0]) - (1.0 - alpha) * likelihood

    def loss(generator: Any) -> Any:
        return 0.5 * sum(losses(c, rows).mean() for c, rows in enumerate(batches.draw(generator)))

    held_out = None
    if batches.held is not None:
        # The classifier alone is judged: the flow improves for long after it is too sure.
        judged = losses if head is None else partial(losses, alpha=1.0)
        held_out = lambda: 0.5 * batches.held_out_mean(judged)  # noqa: E731
    return train(module, loss, rng=rng, held_out=held_out, settings=settings, progress=progress)


def train_classifier(
    net: Any,
    batches: ClassBatches,
    settings: Training,
    rng: np.random.Generator,
    progress: Progress,
) -> Trained:
    """Train a network to tell p from q by binary cross-entropy."""
    softplus = require_torch("FDRE").nn.functional.softplus

    def losses(c: int, rows: Any) -> Any:
        return softplus((-1.0 if c == 0 else 1.0) * net(rows)[:, 0])

    def loss(generator: Any) -> Any:
        return 0.5 * sum(losses(c, rows).mean() for c, rows in enumerate(batches.draw(generator)))

    held_out = None if batches.held is None else lambda: 0.5 * batches.held_out_mean(losses)
    return train(net, loss, rng=rng, held_out=held_out, settings=settings, progress=progress)


def features(flow: Any, rows: Array) -> Array:
    """The flow's features z of rows, in double precision, shape (n, d)."""
    return evaluate(lambda x: flow().transform(x), rows)


def seeded_make(make: Callable[[], Any], rng: np.random.Generator) -> Any:
    """Make a network with weights drawn from a seed."""
    with seeded(rng):
        return make()
