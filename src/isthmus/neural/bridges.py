"""Binary classifiers between consecutive samples, trained together: the neural critics of TRE.

Rhodes, Xu & Gutmann, "Telescoping Density-Ratio Estimation", NeurIPS 2020. For samples
of m_0, ..., m_{K+1} the network h_k of bridge k minimises the logistic loss

    E_{m_k}[log(1 + exp(-h_k(x)))] + E_{m_{k+1}}[log(1 + exp(h_k(x)))],

whose minimum is h_k = log m_k / m_{k+1}. The sum of all is log m_0 / m_{K+1}.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.blocks import slices
from ..typing import Array
from .batches import ClassBatches, Standard
from .lazy_torch import require_torch, seeded
from .networks import apply_stacked, evaluate, mlp, stacked_mlps
from .training import Trained, Training, train

# Rows that a network with all its hidden units is evaluated at together.
_ROWS = 4096


@dataclass(frozen=True)
class Bridges:
    """Networks between consecutive samples.

    Attributes
    ----------
    module : torch.nn.Module
        In double precision.
    shared : bool
        Whether the bridges share a body.
    standard : Standard
        The map of the columns before the network.
    report : Trained
        How training went.
    """

    module: Any
    shared: bool
    standard: Standard
    report: Trained

    def log_ratios(self, rows: Array) -> Array:
        """Log m_k / m_{k+1} at rows, shape (n, K + 1); finite everywhere."""
        out = [
            evaluate(lambda x: _heads(self.module, self.shared, x), self.standard(rows[part]))
            for part in slices(len(rows), _ROWS)
        ]
        return np.concatenate(out)


def fit_bridges(
    samples: Sequence[Array],
    *,
    shared: bool = True,
    width: int = 128,
    depth: int = 2,
    validation: float = 0.15,
    batch_size: int = 256,
    settings: Training | None = None,
    rng: np.random.Generator,
    weights: Sequence[Array | None] | None = None,
    paired: bool | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Bridges:
    """Train the classifiers between consecutive samples.

    Parameters
    ----------
    samples : sequence of K + 2 ndarrays of shape (n_k, d)
        Rows of m_0, ..., m_{K+1}.
    shared : bool
        One body with a linear output for each bridge, or a network for each.
    width, depth : int
        Units of a hidden layer, and number of hidden layers.
    validation : float
        Share of the rows to hold out, whose loss decides when to stop.
    batch_size : int
        Rows of each sample in a batch.
    settings : Training, optional
    rng : numpy Generator
        Seeds the networks, the rows held out and the batches.
    weights : sequence of (ndarray of shape (n_k,) or None), optional
        Weights of the rows.
    paired : bool, optional
        Whether row i of all samples was made of the same rows of p and q, so that it
        must be held out in all or in none. By default it is taken to be so if there
        are more than two samples and all have the same number of rows.
    progress : callable, optional
        As of :func:`train`.

    Returns
    -------
    Bridges

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> samples = [rng.normal(mean, 1, (2000, 1)) for mean in (2, 1, 0)]
    >>> how = Training(steps=200, lr=5e-3)
    >>> bridges = fit_bridges(samples, width=16, settings=how, rng=rng)
    >>> bridges.log_ratios(np.array([[0.0], [2.0]])).shape
    (2, 2)
    """
    require_torch("fit_bridges")
    how = settings or Training()
    n_bridges = len(samples) - 1
    if n_bridges < 1:
        raise ValueError(
            f"samples must hold at least two, of m_0 and m_1; received {len(samples)}."
        )
    if paired is None:
        paired = n_bridges > 1 and len({len(rows) for rows in samples}) == 1
    batches = ClassBatches(
        samples,
        weights,
        batch_size=batch_size,
        validation=validation,
        rng=rng,
        paired=paired,
        device=how.device,
    )
    with seeded(rng):
        make = mlp if shared else stacked_mlps
        module = make(batches.n_columns, n_bridges, width=width, depth=depth)
    report = train(
        module,
        _loss(module, shared, batches, n_bridges),
        rng=rng,
        held_out=_held_out(module, shared, batches, n_bridges),
        settings=how,
        progress=progress,
    )
    return Bridges(module.cpu().double(), shared, batches.standard, report)


def _heads(module: Any, shared: bool, x: Any) -> Any:
    """All bridges at the rows x, shape (n, K + 1)."""
    return module(x) if shared else apply_stacked(module, x).T


def _loss(module: Any, shared: bool, batches: ClassBatches, n: int) -> Callable[[Any], Any]:
    torch = require_torch("fit_bridges")
    softplus = torch.nn.functional.softplus
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

    return loss


def _held_out(
    module: Any, shared: bool, batches: ClassBatches, n: int
) -> Callable[[], float] | None:
    """The same loss on rows held out; None if there are none."""
    if batches.held is None:
        return None
    softplus = require_torch("fit_bridges").nn.functional.softplus

    def losses(c: int, rows: Any) -> Any:
        # A class is above in the bridge of its number and below in the one before.
        h = _heads(module, shared, rows)
        total = softplus(-h[:, c]) if c < n else 0.0
        return total + softplus(h[:, c - 1]) if c > 0 else total

    return lambda: batches.held_out_mean(losses) / (2 * n)
