"""Density ratios along the trajectories of a flow that is learned by flow matching.

Antipov, Palma, Consoli, Guennemann, Dittadi & Theis, "Flow-based density ratio
estimation for intractable distributions with applications in genomics", 2026, arXiv:2602.24201.
Flow matching is from Lipman et al., ICLR 2023, arXiv:2210.02747.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..data.blocks import slices
from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_number, check_option
from ..estimator import RatioEstimator
from ..maps.affine import canonical_map
from ..model.checks import check_verbose
from ..neural import require_torch, seeded, train
from ..typing import Array
from .parameters import NetworkParameters
from .time_score import split_off
from .velocity import NormalVelocity, Velocity, fit_velocities, inputs

_HELD_OUT_ROWS = 4000
# Columns up to which the divergence of the network is exact.
_EXACT_COLUMNS = 12
_PROBES = 8
_ROWS_AT_A_TIME = 2048


@dataclass(eq=False, repr=False)
class FlowMatching(NetworkParameters, RatioEstimator):
    r"""Estimate log p/q by following a flow from the data to noise.

    Noise z and a row of p or of q make x_t = (1 - t) z + t x. One network, told which of the two
    it is, learns the velocity u(x, t, c) by flow matching, the regression of x - z on x_t.
    The score of x_t follows from it, :math:`s = -(x - t u) / (1 - t)`. Along a trajectory
    of the flow of p, :math:`\dot x_t = u_p(x_t, t)`, the ratio of the two densities changes by

    .. math:: \frac{d}{dt} \log \frac{p_t(x_t)}{q_t(x_t)} = \nabla \cdot (u_q - u_p)
        + (u_q - u_p)' s_q ,

    and at t = 0 both are the noise. Backwards from x at t = 1 the integral is log p(x)/q(x), at
    the cost of one trajectory rather than one for each density.

    Parameters
    ----------
    end : float, default 0.01
        How far from t = 1 the trajectory begins: there the score is a quotient of two
        small numbers.
    ode_steps : int, default 24
        Steps of the Runge-Kutta method of fourth order, of equal length in log(1 - t).
    anchor : {"gaussian"} or None, default None
        Add the network to the velocities of two fitted normals, or to that of the pooled sample's
        normal, which is the same for p and for q.
    width, depth, steps, batch_size, lr, weight_decay, validation, patience, random_state, verbose
        As in :class:`NNBD`, but for 3 layers of 128 units, 4000 steps with 512 rows
        at a rate of 0.002, and a patience of 15 looks, one every hundred steps.

    Attributes
    ----------
    map_ : AffineMap
        Coordinates in which the pooled sample is white, as the noise is.
    velocities_ : tuple of Velocity
        Of p and of q.
    training_ : Trained
        What happened in training.

    Notes
    -----
    The authors learn velocity and score by two heads; here the score follows from the velocity,
    which is exact for this path. The divergence of the network is exact in up to 12 columns. Above
    that it is the mean over eight fixed random directions (Hutchinson), the same for all rows.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import FlowMatching
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (2000, 2)), rng.normal(1, 1, (2000, 2))
    >>> model = FlowMatching(width=32, depth=2, steps=400, random_state=0)
    >>> model.fit(*isthmus.stack(p, q)).log_ratio([[0.0, 0.0], [1.0, 1.0]]).round()  # 1 and -1
    array([ 1., -1.])
    """

    crosses_chasm = True

    end: float = 0.01
    _: KW_ONLY
    ode_steps: int = 24
    anchor: str | None = None
    width: int = 128
    depth: int = 3
    steps: int = 4000
    batch_size: int = 512
    lr: float = 2e-3
    patience: int = 15

    def check_parameters(self) -> None:
        check_number(self.end, "end", low=0, high=1, open_low=True, open_high=True)
        check_number(self.ode_steps, "ode_steps", low=1, integer=True)
        check_option(self.anchor, "anchor", ["gaussian", None])
        check_verbose(self.verbose)
        self.check_network()
        require_torch("FlowMatching")

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        self.map_ = canonical_map(samples)
        p, q = (Distinct.of(sample).map(self.map_) for sample in samples)
        bases, self._bias = fit_velocities(p, q, anchored=self.anchor is not None)
        net = self._train(p, q, bases, seeds)
        d, rng = p.rows.shape[1], seeds("probes")
        directions = np.eye(d)
        if d > _EXACT_COLUMNS:
            # Their outer products add up to about the identity.
            directions = rng.choice([-1.0, 1.0], (_PROBES, d)) / math.sqrt(_PROBES)
        self.velocities_ = tuple(
            Velocity(base, net, float(c), directions) for c, base in enumerate(bases)
        )

    def _train(
        self, p: Distinct, q: Distinct, bases: tuple[NormalVelocity, ...], seeds: Seeds
    ) -> Any:
        """The network that is added to the velocities of two normals."""
        torch, rng, size = require_torch("FlowMatching"), seeds("network"), self.batch_size
        d = p.rows.shape[1]
        with seeded(rng):
            net = self.make_network(inputs(np.zeros((1, d)), np.zeros((1, 1)), 0.0).shape[1], d)
        halves = [split_off(x, self.validation, rng) for x in (p, q)]

        def tensors(c: int, x: Array, z: Array, t: Array) -> tuple[Any, Any]:
            X = (1.0 - t) * z + t * x
            values = inputs(X, t, float(c)), x - z - bases[c].at(X, t)
            given, wanted = (torch.from_numpy(value.astype(np.float32)) for value in values)
            return given, wanted

        def squared_error(batches: list[tuple[Any, Any]]) -> Any:
            # What does not depend on the network is left out.
            parts = []
            for given, wanted in batches:
                out = net(given)
                parts.append((out * (out - 2.0 * wanted)).sum(1).mean())
            return 0.5 * sum(parts)

        def loss(generator: Any) -> Any:
            u = torch.rand((3, size), generator=generator, dtype=torch.float64).numpy()
            z = torch.randn((2, size, d), generator=generator, dtype=torch.float64).numpy()
            t = ((np.arange(size) + u[2]) / size * (1.0 - self.end))[:, None]
            return squared_error(
                [tensors(c, half[0].at(u[c]), z[c], t) for c, half in enumerate(halves)]
            )

        held_out = None
        if halves[0][1] is not None and halves[1][1] is not None:
            n = _HELD_OUT_ROWS
            judges = []
            for c, (_, held) in enumerate(halves):
                assert held is not None
                t = ((rng.permutation(n) + 0.5) / n * (1.0 - self.end))[:, None]
                judges.append(tensors(c, held.stratified(n, rng), rng.standard_normal((n, d)), t))

            def held_out() -> float:
                return float(squared_error(judges))

        self.training_ = train(
            net,
            loss,
            rng=rng,
            held_out=held_out,
            settings=self.training_settings(),
            progress=self._say,
        )
        return net.double()

    def _say(self, done: int, total: int, what: str) -> None:
        if self.verbose:
            print(f"FlowMatching step {done} of {total}: {what}")

    def evaluate(self, rows: Array) -> Array:
        Y = self.map_(rows)
        parts = [self._follow(Y[part]) for part in slices(len(Y), _ROWS_AT_A_TIME)]
        return np.concatenate(parts) - self._bias if parts else np.zeros(0)

    def _follow(self, Y: Array) -> Array:
        """Integral along the trajectories that end in the rows, by the Runge-Kutta method."""
        # In u = log(1 - t) from log(end) up to 0; dt = -(1 - t) du.
        step = -math.log(self.end) / self.ode_steps
        X, total, at = (1.0 - self.end) * Y, np.zeros(len(Y)), math.log(self.end)
        for _ in range(self.ode_steps):
            moves, gains = list[Array](), list[Array]()
            for share in (0.0, 0.5, 0.5, 1.0):
                here = X + share * step * moves[-1] if moves else X
                move, gain = self._slopes(here, min(at + share * step, 0.0))
                moves.append(move)
                gains.append(gain)
            X = X + step / 6.0 * (moves[0] + 2.0 * moves[1] + 2.0 * moves[2] + moves[3])
            total += step / 6.0 * (gains[0] + 2.0 * gains[1] + 2.0 * gains[2] + gains[3])
            at += step
        return total

    def _slopes(self, X: Array, log_left: float) -> tuple[Array, Array]:
        """Per unit of log(1 - t): how rows move backwards, and what the log-ratio gains."""
        left = math.exp(log_left)
        t = 1.0 - left
        (u_p, div_p), (u_q, div_q) = (one.with_divergence(X, t) for one in self.velocities_)
        score = -(X - t * u_q) / left
        gain = div_q - div_p + ((u_q - u_p) * score).sum(axis=1)
        return -left * u_p, left * gain
