"""Time scores by a neural network, after the paper."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.distinct import Distinct
from ..neural import Trained, evaluate, require_torch, seeded, train
from ..typing import Array
from .parameters import NetworkParameters
from .time_score import Path, split_off

WAVES = 3
_GRID = 4001
_HELD_OUT_ROWS = 4000


class Clock:
    """Tells how much of the way from q to p is done: tau(t), from 0 to 1.

    It is the integral of :meth:`Path.scale` up to t, as a share of the whole. At an
    even pace in tau a narrow end, which takes a thousandth of t, gets its due.
    """

    def __init__(self, path: Path) -> None:
        # Dense at both ends, to where rounding ends.
        grid = 1.0 / (1.0 + np.exp(-np.linspace(-30.0, 30.0, _GRID)))
        grid[0], grid[-1] = 0.0, 1.0
        scale = path.scale(grid)
        steps = 0.5 * (scale[1:] + scale[:-1]) * np.diff(grid)
        self.times = grid
        self.length = float(steps.sum())
        self.taus = np.concatenate([[0.0], np.cumsum(steps) / self.length])

    def tau(self, t: Any) -> Array:
        """Share of the way at time t."""
        return np.asarray(np.interp(t, self.times, self.taus))

    def time(self, tau: Any) -> Array:
        """Time at a share of the way."""
        return np.asarray(np.interp(tau, self.taus, self.times))


@dataclass
class NetworkScore:
    """A time score s(x, t) = scale(t) net(z, tau), plus that of the normal path if it is anchored.

    z = (x - mean_t) / sd_t are the coordinates in which the normal path is standard. The first
    output of the network, or the sum of the first ``parts``, is the time score; the others,
    if any, are the data score of z.
    """

    path: Path
    clock: Clock
    net: Any
    anchored: bool
    parts: int = 1

    def score(self, Y: Array, t: float) -> Array:
        """Time score at the rows of Y, shape (n,)."""
        mean, variance, *_ = self.path.moments(t)
        tau = np.full((len(Y), 1), float(self.clock.tau(t)))
        rows = np.hstack([(Y - mean) / np.sqrt(variance), tau])
        net, parts = self.net, self.parts
        out = evaluate(lambda x: net(inputs(x[:, :-1], x[:, -1:]))[:, :parts].sum(1), rows)
        score = float(self.path.scale(np.array([t]))[0]) * out
        return score + self.path.score(Y, t) if self.anchored else score


@dataclass
class Batch:
    """Rows of x_t, with what the objective needs of them, as tensors of shape (n, .).

    The network is differentiated in the direction (dz, dtau); the ends are rows of q at the
    beginning and of p at the end.
    """

    z: Any
    tau: Any
    dz: Any
    dtau: Any
    normal: Any
    ends: tuple[Any, Any] | None


def fit_network(
    path: Path,
    p: Distinct,
    q: Distinct,
    how: NetworkParameters,
    *,
    objective: str,
    joint: bool,
    anchored: bool,
    rng: np.random.Generator,
    progress: Callable[[int, int, str], None],
) -> tuple[NetworkScore, Trained]:
    """Train the network; parameters as in :class:`~isthmus.baselines.DREInfinity`."""
    torch = require_torch("DREInfinity")
    d, clock, size = len(path.mean_p), Clock(path), how.batch_size
    with seeded(rng):
        net = how.make_network(d + 1 + 2 * WAVES, 1 + d * joint)
    (fit_p, held_p), (fit_q, held_q) = (split_off(x, how.validation, rng) for x in (p, q))

    def loss(generator: Any) -> Any:
        u = torch.rand((3, size), generator=generator, dtype=torch.float64).numpy()
        # One time in each part of the way.
        tau = (np.arange(size) + u[2]) / size
        batch = make_batch(path, clock, fit_p.at(u[0]), fit_q.at(u[1]), tau, objective)
        probe = None
        if joint:
            probe = torch.randint(0, 2, batch.z.shape, generator=generator) * 2.0 - 1.0
        return time_score_loss(net, batch, clock.length, anchored, probe)

    held_out = None
    if held_p is not None and held_q is not None:
        count = min(max(held_p.size, held_q.size), _HELD_OUT_ROWS)
        pairs = held_p.stratified(count, rng), held_q.stratified(count, rng)
        tau = (rng.permutation(count) + 0.5) / count
        judge = make_batch(path, clock, *pairs, tau, objective)

        def held_out() -> float:
            # The data score serves the time score, which alone is judged.
            return float(time_score_loss(net, judge, clock.length, anchored, None))

    settings = how.training_settings()
    report = train(net, loss, rng=rng, held_out=held_out, settings=settings, progress=progress)
    return NetworkScore(path, clock, net.double(), anchored), report


def make_batch(
    path: Path, clock: Clock, x_p: Array, x_q: Array, tau: Array, objective: str
) -> Batch:
    """Everything but the network is computed in double precision and without gradients."""
    t = clock.time(tau)[:, None]
    Z, U, normal = path.rows(t, x_p, x_q)
    scale = path.scale(t[:, 0])[:, None]
    if objective == "path":
        # Minus the motion of x_t at a fixed t.
        dz, dtau, ends = -U / scale, np.zeros_like(t), None
    else:
        # The passing of t at a fixed x.
        _, variance, d_mean, d_variance = path.moments(t)
        dz = -(d_mean / np.sqrt(variance) + 0.5 * Z * d_variance / variance) / scale
        dtau = np.full_like(t, 1.0 / clock.length)
        ends = (
            _tensor((x_q - path.mean_q) / np.sqrt(path.variance_q)),
            _tensor((x_p - path.mean_p) / np.sqrt(path.variance_p)),
        )
    normal = normal[:, None] / scale
    z, tau, dz, dtau, normal = (_tensor(x) for x in (Z, tau[:, None], dz, dtau, normal))
    return Batch(z, tau, dz, dtau, normal, ends)


def time_score_loss(net: Any, batch: Batch, length: float, anchored: bool, probe: Any) -> Any:
    """Time score matching per unit of the clock; see :class:`~isthmus.baselines.DREInfinity`."""
    torch = require_torch("DREInfinity")
    with torch.enable_grad():
        z = batch.z.clone().requires_grad_(True)
        tau = batch.tau.clone().requires_grad_(True)
        out = net(inputs(z, tau))
        s = out[:, :1]
        slope_z, slope_tau = torch.autograd.grad(s.sum(), (z, tau), create_graph=True)
        along = (slope_z * batch.dz).sum(1, keepdim=True) + slope_tau * batch.dtau
        loss = (s * s + 2.0 * along).mean()
        if anchored:
            loss = loss + 2.0 * (s * batch.normal).mean()
        if batch.ends is not None:
            first, last = (
                net(inputs(end, torch.full((len(end), 1), when)))[:, 0].mean()
                for end, when in zip(batch.ends, (0.0, 1.0), strict=True)
            )
            loss = loss + (2.0 / length) * (first - last)
        if probe is not None:
            data = out[:, 1:]
            turned = torch.autograd.grad((data * probe).sum(), z, create_graph=True)[0]
            loss = loss + (data * data + 2.0 * turned * probe).mean()
    return loss


def inputs(z: Any, tau: Any) -> Any:
    """Coordinates and an embedding of the time."""
    torch = require_torch("DREInfinity")
    angles = [math.pi * k * tau for k in range(1, WAVES + 1)]
    waves = [wave for angle in angles for wave in (torch.sin(angle), torch.cos(angle))]
    return torch.cat([z, 2.0 * tau - 1.0, *waves], dim=1)


def _tensor(values: Array) -> Any:
    return require_torch("DREInfinity").from_numpy(np.ascontiguousarray(values, dtype=np.float32))
