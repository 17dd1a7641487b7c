"""Binary classifiers between consecutive samples, trained together: the neural critics of TRE.

Rhodes, Xu & Gutmann, "Telescoping Density-Ratio Estimation", NeurIPS 2020. For samples
of m_0, ..., m_{K+1} the network h_k of bridge k minimises the logistic loss ::

    E_{m_k}[log(1 + exp(-h_k(x)))] + E_{m_{k+1}}[log(1 + exp(h_k(x)))],

whose minimum is h_k = log m_k / m_{k+1}. The sum of all is log m_0 / m_{K+1}.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.sample import Sample
from ..typing import Array
from .batches import ClassBatches, Standard
from .lazy_torch import require_torch, seeded
from .networks import apply_stacked, evaluate_in_parts, mlp, stacked_mlps
from .training import Trained, Training, train


@dataclass(frozen=True)
class Bridges:
    """Networks between consecutive samples, in double precision, and how they were trained."""

    module: Any
    shared: bool
    standard: Standard
    report: Trained

    def log_ratios(self, rows: Array) -> Array:
        """Log m_k / m_{k+1} at rows, shape (n, K + 1); finite everywhere."""
        return evaluate_in_parts(
            lambda x: _heads(self.module, self.shared, x), rows, before=self.standard
        )


def fit_bridges(
    samples: Sequence[Sample],
    *,
    shared: bool = True,
    width: int = 128,
    depth: int = 2,
    validation: float = 0.15,
    batch_size: int = 256,
    settings: Training | None = None,
    rng: np.random.Generator,
    paired: bool = False,
) -> Bridges:
    """Train the classifiers between consecutive samples, of m_0, ..., m_{K+1}.

    ``shared`` is one body with a linear output for each bridge, in place of a network for each.
    ``paired`` says that row i of all samples was made of the same rows of p and q, so that it must
    be held out in all or in none.
    """
    torch = require_torch("fit_bridges")
    softplus = torch.nn.functional.softplus
    how, n = settings or Training(), len(samples) - 1
    if n < 1:
        raise ValueError(
            f"samples must hold at least two, of m_0 and m_1; received {len(samples)}."
        )
    batches = ClassBatches(
        samples,
        batch_size=batch_size,
        validation=validation,
        rng=rng,
        paired=paired,
        device=how.device,
    )
    with seeded(rng):
        make = mlp if shared else stacked_mlps
        module = make(batches.n_columns, n, width=width, depth=depth)
    each = torch.arange(n)

    def loss(generator: Any) -> Any:
        x = batches.draw(generator)
        if shared:
            h = module(x.reshape(-1, x.shape[-1])).view(n + 1, -1, n)
            upper, lower = h[each, :, each], h[each + 1, :, each]
        else:
            h = apply_stacked(module, torch.cat([x[:-1], x[1:]], dim=1))
            upper, lower = h.chunk(2, dim=1)
        return (softplus(-upper).mean() + softplus(lower).mean()) / 2

    def losses(c: int, rows: Any) -> Any:
        # A class is above in the bridge of its number and below in the one before.
        h = _heads(module, shared, rows)
        total = softplus(-h[:, c]) if c < n else 0.0
        return total + softplus(h[:, c - 1]) if c > 0 else total

    def held_out() -> float:
        return batches.held_out_mean(losses) / (2 * n)

    judge = None if batches.held is None else held_out
    report = train(module, loss, rng=rng, held_out=judge, settings=how)
    return Bridges(module.cpu().double(), shared, batches.standard, report)


def _heads(module: Any, shared: bool, x: Any) -> Any:
    """All bridges at the rows x, shape (n, K + 1)."""
    return module(x) if shared else apply_stacked(module, x).T
