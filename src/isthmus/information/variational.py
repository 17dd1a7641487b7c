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
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..data.seeds import Seeds
from ..neural import Training, mlp, require_torch, seeded, train
from ..typing import Array

_CUT = 5.0
# Exponents are cut here, since squares of gradients of larger ones are infinite in 32 bits.
_MOST = 30.0
# Of MINE's moving average.
_DECAY = 0.99
# Looks at held-out pairs without a gain before training ends.
_PATIENCE = 6


@dataclass(frozen=True)
class CriticSettings:
    """The critic is the inner product of the outputs of two networks, plus a function of each."""

    width: int = 64
    depth: int = 2
    embedding: int = 32
    steps: int = 1000
    batch_size: int = 256
    lr: float = 2e-3


def variational_information(
    x: Array, y: Array, kind: str, seeds: Seeds, settings: CriticSettings
) -> tuple[float, float]:
    """Value and standard error by one of the bounds, for standardised rows.

    They come from a fifth of the rows, which neither trained nor stopped the critic.
    """
    n, rng = len(x), seeds("network")
    test, held, fitted = np.split(seeds("split").permutation(n), [n // 5, 2 * n // 5])
    if kind == "infonce":
        from ..baselines import InfoNCE

        rest = np.concatenate([held, fitted])
        stopping: dict[str, Any] = {"validation": 0.25, "patience": _PATIENCE}
        model = InfoNCE.from_pairs(
            x[rest], y[rest], **asdict(settings), **stopping, random_state=rng
        )
        terms = model.log_ratio(np.hstack([x[test], y[test]]))
        return float(terms.mean()), float(terms.std() / math.sqrt(len(terms)))
    torch = require_torch(f"method={kind!r}")
    outputs, width, depth = settings.embedding + 1, settings.width, settings.depth
    with seeded(rng):
        nets = torch.nn.ModuleList(
            [mlp(side.shape[1], outputs, width=width, depth=depth) for side in (x, y)]
        )
        # If both started at zero, neither would have a gradient.
        nets[1][-1].reset_parameters()
    both = [torch.as_tensor(side, dtype=torch.float32) for side in (x, y)]

    def scores(rows: Any) -> tuple[Any, Any]:
        """Scores of the pairs that belong together, and of all others."""
        f, g = nets[0](both[0][rows]), nets[1](both[1][rows])
        every = f[:, :-1] @ g[:, :-1].T + f[:, -1:] + g[:, -1:].T
        # Without the diagonal rows are one longer and one fewer: a view, where a mask would copy.
        n = len(every)
        return every.diagonal(), every.reshape(-1)[1:].view(n - 1, n + 1)[:, :-1].reshape(-1)

    training, bound = _losses(kind)
    trained, stopped, tested = (torch.as_tensor(part) for part in (fitted, held, test))
    size = min(settings.batch_size, len(fitted))

    def loss(generator: Any) -> Any:
        pick = torch.randperm(len(trained), generator=generator)[:size]
        return training(*scores(trained[pick]))

    how = Training(
        steps=settings.steps,
        lr=settings.lr,
        every=max(settings.steps // 20, 1),
        patience=_PATIENCE,
    )
    some = stopped[: 8 * size]
    train(nets, loss, rng=rng, held_out=lambda: -float(bound(*scores(some))), settings=how)
    with torch.no_grad():
        own, others = (part.double() for part in scores(tested))
        return float(bound(own, others)), float(own.std() / math.sqrt(len(own)))


def _losses(kind: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The loss to train by, and the bound to report, of the scores of own and of other pairs."""
    torch = require_torch(f"method={kind!r}")
    softplus = torch.nn.functional.softplus
    moving: list[Any] = []

    def dv(own: Any, others: Any) -> Any:
        return own.mean() - torch.logsumexp(others, 0) + math.log(len(others))

    def ratio(scores: Any) -> Any:
        return torch.exp(scores.clamp(max=_MOST))

    def nwj(own: Any, others: Any) -> Any:
        return own.mean() - ratio(others - 1.0).mean()

    def smile(own: Any, others: Any) -> Any:
        return dv(own, others.clamp(-_CUT, _CUT))

    def mine(own: Any, others: Any) -> Any:
        mass = ratio(others).mean()
        now = mass.detach()
        moving[:] = [_DECAY * moving[0] + (1 - _DECAY) * now] if moving else [now]
        return mass / moving[0] - own.mean()

    def logistic(own: Any, others: Any) -> Any:
        return softplus(-own).mean() + softplus(others).mean()

    bound = {"dv": dv, "mine": dv, "nwj": nwj, "smile": smile}[kind]
    special = {"mine": mine, "smile": logistic}
    return special.get(kind, lambda own, others: -bound(own, others)), bound
