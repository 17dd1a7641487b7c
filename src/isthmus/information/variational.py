r"""Rivals: variational bounds of the mutual information with neural critics.

A critic T is trained on a bound, with all pairs of a batch as shuffled pairs, stopped by the
bound on held-out rows, and the bound is evaluated on a third part:

===========  ======================================================================
dv           :math:`E_p[T] - \log E_q[e^T]` (Donsker & Varadhan 1975)
mine         the same bound; its gradient uses a moving average of :math:`E_q[e^T]`
             (Belghazi et al. 2018)
nwj          :math:`E_p[T] - E_q[e^{T-1}]` (Nguyen, Wainwright & Jordan 2010)
smile        trained by the logistic loss; :math:`e^T` cut at :math:`e^{\pm 5}` in the
             bound (Song & Ermon 2020)
infonce      :class:`isthmus.baselines.InfoNCE` (van den Oord et al. 2018)
===========  ======================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.seeds import Seeds
from ..neural import Training, mlp, require_torch, seeded, train
from ..typing import Array

KINDS = ("dv", "mine", "nwj", "smile", "infonce")
_CUT = 5.0
# Of MINE's moving average.
_DECAY = 0.99


def variational_information(
    x: Array,
    y: Array,
    kind: str,
    seeds: Seeds,
    *,
    width: int = 64,
    depth: int = 2,
    embedding: int = 32,
    steps: int = 1000,
    batch_size: int = 256,
    lr: float = 2e-3,
) -> tuple[float, float]:
    """Estimate by one of the bounds, on a fifth of the rows that neither trained nor stopped.

    Parameters
    ----------
    x, y : ndarray of shape (n, d)
        Standardised rows.
    kind : {"dv", "mine", "nwj", "smile", "infonce"}
    seeds : Seeds
    width, depth, embedding : int
        The critic is the inner product of the outputs of two networks, plus a function of
        each side.
    steps, batch_size, lr
        As of :class:`isthmus.neural.Training`.

    Returns
    -------
    value, std_error : float
    """
    if kind == "infonce":
        return _infonce(x, y, seeds, width, depth, embedding, steps, batch_size, lr)
    torch = require_torch(f"method={kind!r}")
    order = seeds("split").permutation(len(x))
    test, held, fitted = np.split(order, [len(x) // 5, 2 * len(x) // 5])
    rng = seeds("network")
    with seeded(rng):
        nets = torch.nn.ModuleList(
            [mlp(side.shape[1], embedding + 1, width=width, depth=depth) for side in (x, y)]
        )
        # If both started at zero, neither would have a gradient.
        nets[1][-1].reset_parameters()
    both = [torch.as_tensor(side, dtype=torch.float32) for side in (x, y)]

    def critic(rows: Any) -> Any:
        """Scores of all pairs, own pairs on the diagonal."""
        f, g = nets[0](both[0][rows]), nets[1](both[1][rows])
        return f[:, :-1] @ g[:, :-1].T + f[:, -1:] + g[:, -1:].T

    training, bound = _losses(kind)
    trained, stopped, judged = (torch.as_tensor(part) for part in (fitted, held, test))
    size = min(batch_size, len(fitted))

    def loss(generator: Any) -> Any:
        pick = torch.randperm(len(trained), generator=generator)[:size]
        return training(critic(trained[pick]))

    how = Training(steps=steps, lr=lr, every=max(steps // 20, 1), patience=6)
    held_out = stopped[: 8 * size]
    train(nets, loss, rng=rng, held_out=lambda: -float(bound(critic(held_out))[0]), settings=how)
    with torch.no_grad():
        value, own = bound(critic(judged).double())
    return float(value), float(own.std() / math.sqrt(len(own)))


def _losses(kind: str) -> tuple[Callable[[Any], Any], Callable[[Any], tuple[Any, Any]]]:
    """The loss to train by, and the bound to report with the terms of own pairs."""
    torch = require_torch(f"method={kind!r}")
    softplus = torch.nn.functional.softplus
    moving: list[Any] = []

    def parts(scores: Any) -> tuple[Any, Any, float]:
        n = len(scores)
        other = ~torch.eye(n, dtype=torch.bool)
        return scores.diagonal(), scores[other], math.log(n * (n - 1))

    def dv(scores: Any) -> tuple[Any, Any]:
        own, rest, count = parts(scores)
        return own.mean() - torch.logsumexp(rest, 0) + count, own

    def nwj(scores: Any) -> tuple[Any, Any]:
        own, rest, _ = parts(scores)
        return own.mean() - torch.exp(rest - 1.0).mean(), own

    def smile(scores: Any) -> tuple[Any, Any]:
        own, rest, count = parts(scores)
        return own.mean() - torch.logsumexp(rest.clamp(-_CUT, _CUT), 0) + count, own

    def mine(scores: Any) -> Any:
        own, rest, _ = parts(scores)
        mass = torch.exp(rest).mean()
        now = mass.detach()
        moving[:] = [_DECAY * moving[0] + (1 - _DECAY) * now] if moving else [now]
        return mass / moving[0] - own.mean()

    def logistic(scores: Any) -> Any:
        own, rest, _ = parts(scores)
        return softplus(-own).mean() + softplus(rest).mean()

    bounds = {"dv": dv, "mine": dv, "nwj": nwj, "smile": smile}
    chosen = bounds[kind]
    special = {"mine": mine, "smile": logistic}
    return special.get(kind, lambda scores: -chosen(scores)[0]), chosen


def _infonce(
    x: Array, y: Array, seeds: Seeds, width: int, depth: int, embedding: int, steps: int,
    batch_size: int, lr: float,
) -> tuple[float, float]:  # fmt: skip
    from ..baselines import InfoNCE

    order = seeds("split").permutation(len(x))
    test, fitted = np.split(order, [len(x) // 5])
    model = InfoNCE.from_pairs(
        x[fitted],
        y[fitted],
        width=width,
        depth=depth,
        embedding=embedding,
        steps=steps,
        batch_size=batch_size,
        lr=lr,
        validation=0.25,
        patience=6,
        random_state=seeds("network"),
    )
    terms = model.log_ratio(np.hstack([x[test], y[test]]))
    return float(terms.mean()), float(terms.std() / math.sqrt(len(terms)))
