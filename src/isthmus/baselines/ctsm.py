"""CTSM: time scores learned by regression on those of paths between two given rows.

Yu, Klami, Hyvarinen, Korba & Chehab, "Density ratio estimation with conditional
probability paths", ICML 2025, arXiv:2502.02300.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_flag, check_number, check_option
from ..estimator import RatioEstimator
from ..model.checks import check_verbose
from ..neural import Trained, require_torch, seeded, train
from ..typing import Array
from .parameters import NetworkParameters
from .time_network import WAVES, Clock, NetworkScore, inputs
from .time_score import Path, fit_path, integrate, split_off

_HELD_OUT_ROWS = 8000


@dataclass(eq=False, repr=False)
class CTSM(NetworkParameters, RatioEstimator):
    r"""Estimate log p/q by integrating time scores that are learned by plain regression.

    As in :class:`DREInfinity` the log-ratio is :math:`\int_0^1 s(x, t) \, dt` with the time score
    :math:`s = \partial_t \log p_t(x)` of a path from q to p. Here x_t is a Brownian bridge
    between a row of q and one of p,

    .. math:: x_t = (1 - t) x_q + t x_p + \sqrt{k_t} \, \varepsilon , \qquad
        k_t = \sigma^2 t (1 - t) ,

    of which, given the two rows, the time score is known:

    .. math:: \partial_t \log p_t(x_t | x_p, x_q) = \sum_i \frac{\dot k_t}{2 k_t}
        (\varepsilon_i^2 - 1) + \frac{(x_p - x_q)_i \, \varepsilon_i}{\sqrt{k_t}} .

    Its mean given x_t is s(x_t, t), so that regression on it finds s: no derivative of the
    network is needed, neither in time nor in x. The squared error is divided by the variance of
    what is regressed on (the authors' time score normalisation).

    Parameters
    ----------
    vectorised : bool, default True
        A network with an output for each column, each regressed on its own term of the sum: the
        authors' CTSM-v. False regresses the sum (CTSM).
    noise : float, default 1.0
        The standard deviation sigma, in units of the two samples' spread within themselves.
    anchor : {"gaussian"} or None, default None
        Add the network to the time score of the same path between two normals, as in
        :class:`DREInfinity`, or to nothing, as in the paper.
    tol : float, default 1e-4
        Error of the integral, relative to one plus its size.
    width, depth, steps, batch_size, lr, weight_decay, validation, patience, random_state, verbose
        As in :class:`NNBD`, but for 3 layers of 256 units, 4000 steps with 512 rows at a rate
        of 0.002, and a patience of 15 looks, one every hundred steps.

    Attributes
    ----------
    path_, map_ : Path and AffineMap
        The path between normals, and coordinates in which both covariances are diagonal.
    score_ : NetworkScore
        The time score.
    training_ : Trained
        What happened in training.

    Notes
    -----
    Times are drawn evenly on a :class:`~isthmus.baselines.time_network.Clock` that runs slowly
    where the path between normals moves fast. The network is given rows in units of the path at
    their time. Both use two means and covariances, whether it is anchored or not.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import CTSM
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (2000, 2)), rng.normal(1, 1, (2000, 2))
    >>> model = CTSM(width=32, depth=2, steps=400, random_state=0).fit(*isthmus.stack(p, q))
    >>> model.log_ratio([[0.0, 0.0], [1.0, 1.0]]).round()  # truth: 1 and -1
    array([ 1., -1.])
    """

    crosses_chasm = True

    vectorised: bool = True
    _: KW_ONLY
    noise: float = 1.0
    anchor: str | None = None
    tol: float = 1e-4
    width: int = 256
    depth: int = 3
    steps: int = 4000
    batch_size: int = 512
    lr: float = 2e-3
    patience: int = 15

    def check_parameters(self) -> None:
        check_flag(self.vectorised, "vectorised")
        check_number(self.noise, "noise", low=0, open_low=True, open_high=True)
        check_option(self.anchor, "anchor", ["gaussian", None])
        check_number(self.tol, "tol", low=0, high=1, open_low=True, open_high=True)
        check_verbose(self.verbose)
        self.check_network()
        require_torch("CTSM")

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        p, q = map(Distinct.of, samples)
        fitted = fit_path(p, q, "linear")
        self.path_, self.map_ = replace(fitted.path, noise=self.noise), fitted.where
        self._bias = fitted.bias if self.anchor is not None else 0.0
        self.score_, self.training_ = fit_conditional(
            self.path_,
            p.map(self.map_),
            q.map(self.map_),
            self,
            parts=len(self.path_.mean_p) if self.vectorised else 1,
            anchored=self.anchor is not None,
            rng=seeds("network"),
            progress=self._say,
        )

    def _say(self, done: int, total: int, what: str) -> None:
        if self.verbose:
            print(f"CTSM step {done} of {total}: {what}")

    def evaluate(self, rows: Array) -> Array:
        return integrate(self.score_.score, self.map_(rows), self.tol) - self._bias


class Targets(NamedTuple):
    """Rows of x_t in the path's units, what to regress on, and its standard deviation.

    ``known`` is what the anchor says of the targets; all are of shape (n, d), the times (n, 1).
    """

    Z: Array
    tau: Array
    t: Array
    target: Array
    known: Array
    spread: Array


def conditional_targets(
    path: Path, clock: Clock, x_p: Array, x_q: Array, tau: Array, noise: Array
) -> Targets:
    """Time scores of bridges between given rows, a term for every column."""
    t = clock.time(tau)[:, None]
    # At the ends the bridge has no width; the last digit is far enough from them.
    t = np.clip(t, 1e-12, 1.0 - 1e-12)
    variance, slope = path.bridge(t)
    X = (1.0 - t) * x_q + t * x_p + np.sqrt(variance) * noise
    half = 0.5 * slope / variance
    target = half * (noise**2 - 1.0) + (x_p - x_q) * noise / np.sqrt(variance)
    square = (path.mean_p - path.mean_q) ** 2 + path.variance_p + path.variance_q
    spread = np.sqrt(2.0 * half**2 + square / variance)
    mean, total, *_ = path.moments(t)
    known = path.column_scores(X, t)
    return Targets((X - mean) / np.sqrt(total), tau[:, None], t, target, known, spread)


def fit_conditional(
    path: Path,
    p: Distinct,
    q: Distinct,
    how: NetworkParameters,
    *,
    parts: int,
    anchored: bool,
    rng: np.random.Generator,
    progress: Callable[[int, int, str], None],
) -> tuple[NetworkScore, Trained]:
    """Train a network of ``parts`` outputs by regression; parameters as in :class:`CTSM`."""
    torch = require_torch("CTSM")
    d, clock, size = len(path.mean_p), Clock(path), how.batch_size
    with seeded(rng):
        net = how.make_network(d + 1 + 2 * WAVES, parts)
    (fit_p, held_p), (fit_q, held_q) = (split_off(x, how.validation, rng) for x in (p, q))

    def tensors(targets: Targets) -> tuple[Any, ...]:
        """Inputs, wanted outputs per unit of the clock's scale, and weights."""
        wanted = targets.target - targets.known if anchored else targets.target
        spread = targets.spread
        if parts == 1:
            wanted = wanted.sum(axis=1, keepdims=True)
            spread = np.sqrt((spread**2).sum(axis=1, keepdims=True))
        scale = path.scale(targets.t[:, 0])[:, None]
        values = targets.Z, targets.tau, wanted / spread, scale / spread
        return tuple(torch.from_numpy(value.astype(np.float32)) for value in values)

    def squared_error(batch: tuple[Any, ...]) -> Any:
        z, tau, wanted, unit = batch
        # What is left of the targets without a network does not change with it: taken out, the
        # loss is a difference of which float32 keeps the digits.
        out = unit * net(inputs(z, tau))
        return (out * (out - 2.0 * wanted)).sum(1).mean()

    def loss(generator: Any) -> Any:
        u = torch.rand((3, size), generator=generator, dtype=torch.float64).numpy()
        noise = torch.randn((size, d), generator=generator, dtype=torch.float64).numpy()
        tau = (np.arange(size) + u[2]) / size
        targets = conditional_targets(path, clock, fit_p.at(u[0]), fit_q.at(u[1]), tau, noise)
        return squared_error(tensors(targets))

    held_out = None
    if held_p is not None and held_q is not None:
        pairs = [x.stratified(_HELD_OUT_ROWS, rng) for x in (held_p, held_q)]
        tau = (rng.permutation(_HELD_OUT_ROWS) + 0.5) / _HELD_OUT_ROWS
        noise = rng.standard_normal((_HELD_OUT_ROWS, d))
        judge = tensors(conditional_targets(path, clock, pairs[0], pairs[1], tau, noise))

        def held_out() -> float:
            return float(squared_error(judge))

    settings = how.training_settings()
    report = train(net, loss, rng=rng, held_out=held_out, settings=settings, progress=progress)
    return NetworkScore(path, clock, net.double(), anchored, parts), report
