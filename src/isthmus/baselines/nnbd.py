"""NNBD: a Bregman divergence that is kept from falling without end.

Kato & Teshima, "Non-Negative Bregman Divergence Minimization for Deep Direct Density
Ratio Estimation", ICML 2021, arXiv:2006.06979.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_expit

from ..data.blocks import slices
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_flag, check_option
from ..estimator import RatioEstimator
from ..neural import ClassBatches, Trained, evaluate, require_torch, seeded, train
from ..neural.parameters import check_shared, training_of
from ..neural.training import printed
from ..settings import is_auto
from ..typing import Array
from .parameters import NetworkParameters, check_unless_auto

# Bounds that "auto" tries, what a larger one must gain, and the authors' own for where no rows
# can be held out. Losses do not fall and then rise along them: all are tried.
BOUNDS = (2.0, 5.0, 20.0, 100.0, 1e3, 1e6)
_GAIN, FEW_ROWS_BOUND = 1e-5, 3.0
_ROWS = 4096
# Below this softplus is exp, to the last digit.
_LOW = -40.0


class Loss(NamedTuple):
    """A Bregman divergence in terms of the network's output h, with C = 1 / bound.

    ``positive(h)`` is f'(r) r - f(r), less its lower bound; ``rest(h, C)`` is f'(r) less C times
    that; ``log_ratio(h, C)`` is log r; ``start(C)`` is the h at which r = 1.
    """

    positive: Callable[[Any], Any]
    rest: Callable[[Any, float], Any]
    log_ratio: Callable[[Array, float], Array]
    start: Callable[[float], float]


def losses() -> dict[str, Loss]:
    torch = require_torch("NNBD")
    softplus, log_sigmoid = torch.nn.functional.softplus, torch.nn.functional.logsigmoid

    def half_square(h: Any) -> Any:
        return softplus(h) ** 2 / 2

    def log_softplus(h: Any) -> Any:
        return torch.where(h < _LOW, h, softplus(h.clamp(min=_LOW)).log())

    def log_ratio(h: Array, c: float) -> Array:
        return np.where(h < _LOW, h, np.log(np.logaddexp(0.0, np.maximum(h, _LOW))))

    one = math.log(math.expm1(1.0))
    return {
        "lsif": Loss(
            half_square, lambda h, c: softplus(h) - c * half_square(h), log_ratio, lambda c: one
        ),
        "ukl": Loss(
            softplus, lambda h, c: log_softplus(h) - c * softplus(h), log_ratio, lambda c: one
        ),
        "binary-kl": Loss(
            softplus, lambda h, c: log_sigmoid(h) - c * softplus(h), lambda h, c: h, lambda c: 0.0
        ),
        "pu": Loss(
            softplus,
            lambda h, c: c * log_sigmoid(h),
            lambda h, c: log_expit(h) - math.log(c),
            lambda c: -math.log(1.0 / c - 1.0),
        ),
    }


@dataclass(eq=False, repr=False)
class NNBD(NetworkParameters, RatioEstimator):
    """Estimate p/q by a network whose empirical Bregman divergence is kept from falling too far.

    With a convex f and a model r of the ratio, the Bregman divergence is, up to a constant, ::

        BD(r) = E_q[f'(r) r - f(r)] - E_p[f'(r)].

    On a finite sample a flexible model lowers it without end, by letting r grow at the rows of
    p. If p/q is at most R, then for C = 1 / R and any function g >= 0, E_q[g] - C E_p[g] >= 0. The
    authors take g = f'(r) r - f(r), add and subtract C E_p[g], and correct the
    part that must not be negative::

        nnBD(r) = -E_p[f'(r) - C g(r)] + max(0, E_q[g(r)] - C E_p[g(r)]).

    In a batch in which that part is negative, its gradient is followed upwards instead, as in
    their algorithm.

    **What the bound does.** The derivative of f'(r) - C g(r) is f''(r)(1 - C r): at rows of p
    nothing is gained by an r above R. With "pu" the bound is built into the model,
    r = R sigmoid(h). The estimate of KL(p‖q) is therefore at most about log R, whatever the truth:
    log 5 = 1.609 explains the 1.60 that the MDRE paper reports for a divergence of 100. Where p and
    q do not overlap, the part to be corrected is held at zero by lifting r at rows of q too: the
    mean of r under q, which should be one, is then above it. A bound that is too large corrects
    nothing.

    Parameters
    ----------
    loss : {"lsif", "ukl", "binary-kl", "pu"}, default "lsif"
        The function f and the model r of the network's output h.

        ============  ==================================================  =====================
        "lsif"        f = (r - 1)² / 2, least squares                     r = softplus(h)
        "ukl"         f = r log r - r, unnormalised Kullback-Leibler      r = softplus(h)
        "binary-kl"   f = r log r - (1 + r) log(1 + r), logistic          r = exp(h)
        "pu"          f = log(1 - C r) + C r (log C r - log(1 - C r))     r = R sigmoid(h)
        ============  ==================================================  =====================

        The authors' code has r = h for "lsif" and r = max(h, 0) for the second and third: zero or
        less at some rows, where there is no log-ratio. For "pu" it has the model above.
    bound : float or "auto", default "auto"
        R, the largest value of p/q, above 1. The authors know it where q is a mixture that
        contains p with a known share: its inverse. "auto" trains with 2, 5, 20, 100, 1e3 and 1e6
        and takes the one with the lowest logistic loss on the rows held out.
    correction : bool, default True
        False minimises BD itself.
    width, depth : int, default 128 and 2
        Units of a hidden layer, and number of hidden layers.
    steps : int, default 2000
        Largest number of steps.
    batch_size : int, default 256
        Rows of each sample in a batch.
    lr, weight_decay : float, default 1e-3 and 1e-5
        Learning rate and weight decay.
    validation : float, default 0.15
        Share of the rows to hold out, for stopping and for choosing the bound.
    patience : int, default 10
        How often the held-out loss may fail to fall before training stops; it is looked at
        20 times in all.
    random_state : int, Generator, RandomState or None, default None
        Seeds network, rows held out and batches.
    verbose : int, default 0
        Print a line at every look if positive.

    Attributes
    ----------
    bound_, selection_ : float and dict
        The bound that was used, and the held-out logistic loss of every bound that was tried;
        empty if none was chosen.
    training_, n_iter_ : Trained and int
        How training went, and the number of steps.
    module_, standard_ : torch.nn.Module and Standard
        The network, in double precision, and the map of the columns before it.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import NNBD
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(20, 1, (500, 1)), rng.normal(0, 1, (500, 1)))
    >>> nnbd = NNBD("pu", bound=5, width=16, steps=300, lr=1e-2, random_state=0).fit(X, y)
    >>> np.exp(nnbd.log_ratio([[20.0]])).round()  # the truth is exp(200)
    array([5.])
    """

    loss: str = "lsif"
    _: KW_ONLY
    bound: float | str = "auto"
    correction: bool = True

    def check_parameters(self) -> None:
        require_torch("NNBD")
        check_option(self.loss, "loss", losses())
        check_unless_auto(self.bound, "bound", low=1, open_low=True, high=1e30)
        check_flag(self.correction, "correction")
        check_shared(self)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        batches = self.make_batches(samples, seeds("held out"))
        self.standard_ = batches.standard
        self.selection_: dict[float, float] = {}
        if not is_auto(self.bound) or batches.held is None:
            self.bound_ = FEW_ROWS_BOUND if is_auto(self.bound) else float(self.bound)
            self.module_, self.training_ = self._train(batches, self.bound_, seeds)
        else:
            best = math.inf
            for bound in BOUNDS:
                module, report = self._train(batches, bound, seeds)
                now = self.selection_[bound] = self._logistic(module, bound, batches)
                if now < best - _GAIN:
                    best = now
                    self.bound_, self.module_, self.training_ = bound, module, report
        self.n_iter_ = self.training_.steps

    def _train(self, batches: ClassBatches, bound: float, seeds: Seeds) -> tuple[Any, Trained]:
        torch = require_torch("NNBD")
        kind, c, rng = losses()[self.loss], 1.0 / bound, seeds("network")
        with seeded(rng):
            module = self.make_network(batches.n_columns)
        torch.nn.init.constant_(module[-1].bias, kind.start(c))

        def loss(generator: Any) -> Any:
            h_p, h_q = module(batches.draw(generator)).squeeze(-1)
            rest = -kind.rest(h_p, c).mean()
            part = kind.positive(h_q).mean() - c * kind.positive(h_p).mean()
            if not self.correction:
                return rest + part
            return torch.where(part >= 0, rest + part, -part)

        def terms(label: int, rows: Any) -> Any:
            h = module(rows).squeeze(-1)
            return kind.positive(h) if label else -kind.rest(h, c) - c * kind.positive(h)

        # Held out, the divergence cannot be lowered at the rows it is judged by: no correction.
        report = train(
            module,
            loss,
            rng=rng,
            held_out=None if batches.held is None else lambda: batches.held_out_mean(terms),
            settings=training_of(self),
            progress=printed(f"NNBD, bound {bound:g}", self.verbose),
        )
        return module.double(), report

    def _logistic(self, module: Any, bound: float, batches: ClassBatches) -> float:
        """Logistic loss of the log-ratio at the rows held out: one scale for all bounds."""

        def loss(label: int, rows: Any) -> Any:
            values = self._values(module, bound, rows.double().numpy())
            return require_torch("NNBD").from_numpy(np.logaddexp(0.0, values if label else -values))

        return batches.held_out_mean(loss) / 2

    def _values(self, module: Any, bound: float, rows: Array) -> Array:
        h = np.concatenate(
            [evaluate(module, rows[part])[:, 0] for part in slices(len(rows), _ROWS)]
        )
        return losses()[self.loss].log_ratio(h, 1.0 / bound)

    def evaluate(self, rows: Array) -> Array:
        return self._values(self.module_, self.bound_, self.standard_(rows))
