"""F-DRE: density ratio estimation in the feature space of a normalising flow.

Choi, Liao & Ermon, "Featurized Density Ratio Estimation", UAI 2021,
arXiv:2107.02212.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np

from ..data.sample import TwoSamples, stacked
from ..data.seeds import Seeds
from ..data.validation import check_number, check_option
from ..estimator import RatioEstimator
from ..maps.affine import canonical_map
from ..model.checks import check_verbose
from ..model.classifier import is_classifier
from ..neural import ClassBatches, Trained, Training, evaluate, require_torch, seeded, train
from ..typing import Array
from .bdre import BDRE
from .parameters import NetworkParameters

FLOWS = {"maf": "MAF", "nsf": "NSF", "realnvp": "RealNVP"}
# Standard deviations beyond which rows are drawn in.
_CALM = 6.0

Progress = Callable[[int, int, str], None] | None
Losses = Callable[[int, Any], Any]
"""From a class, 0 for p and 1 for q, and its rows to a loss of each."""


@dataclass(eq=False, repr=False)
class FDRE(NetworkParameters, RatioEstimator):
    r"""Estimate log p/q by classifying the features that a flow makes of p and q.

    A normalising flow f is fitted by maximum likelihood to the mixture of p and q. It
    is a bijection, so that the ratio of the densities of z = f(x) is that of x, and a
    binary classifier of z estimates it:

    .. math:: \log \frac{p(x)}{q(x)} = h(f(x)) .

    ``training="joint"`` learns both at once, by minimising

    .. math:: \alpha \cdot \text{binary cross-entropy} + (1 - \alpha) \cdot
        \text{negative log-likelihood of the flow} .

    A bijection brings p and q no closer together in any f-divergence: F-DRE makes the
    classifier's task smoother, not shorter.

    Parameters
    ----------
    flow : {"maf", "nsf", "realnvp"} or callable, default "maf"
        Masked autoregressive flow, neural spline flow, or affine couplings, from zuko;
        or a function that takes the number of columns and returns a flow of zuko.
    critic : str, critic or classifier, default "quadratic"
        The classifier of z: "mlp" for a network, or what
        :class:`BDRE` takes as its critic or its classifier. In joint
        training, "mlp", or "quadratic", which is then solved anew for the final flow.
    training : {"separate", "joint"}, default "separate"
        Fit the flow and then the classifier, or both at once.
    alpha : float, default 0.9
        Share of the classifier in the joint objective, between 0 and 1.
    transforms : int, default 3
        Number of transformations in the flow.
    l2 : float or "auto", default "auto"
        Ridge penalty of the classifier; see :class:`BDRE`. Not for
        "mlp", which is held back by ``weight_decay`` and early stopping.
    width, depth, steps, batch_size, lr, weight_decay, validation, patience, random_state, verbose
        Of the flow's networks and of the classifier's: as in :class:`NNBD`, but for 64 units,
        batches of 128, at least one hidden layer, and a look every hundred steps.

    Attributes
    ----------
    flow_ : flow of zuko
        ``flow_().transform`` maps the coordinates of ``map_`` to z.
    map_ : AffineMap
        Shared coordinates, in which the pooled sample is white. Tails beyond six
        standard deviations are then drawn in logarithmically, by a bijection too.
    standard_ : Standard
        The map of the columns before the flow.
    classifier_ : BDRE or torch.nn.Module
        The classifier of z.
    training_ : list of Trained
        What happened in training: of the flow, or of both; then of the network.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import FDRE
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (2000, 2)), rng.normal(1, 1, (2000, 2))
    >>> model = FDRE(steps=100, width=16, random_state=0).fit(*isthmus.stack(p, q))
    >>> model.log_ratio([[0.0, 0.0], [1.0, 1.0]]).round()  # truth: 1 and -1
    array([ 1., -1.])
    """

    crosses_chasm = True

    flow: Any = "maf"
    _: KW_ONLY
    critic: Any = "quadratic"
    training: str = "separate"
    alpha: float = 0.9
    transforms: int = 3
    width: int = 64
    l2: float | str = "auto"
    batch_size: int = 128

    def check_parameters(self) -> None:
        if not callable(self.flow):
            check_option(self.flow, "flow", FLOWS)
        check_option(self.training, "training", ["separate", "joint"])
        check_number(self.alpha, "alpha", low=0, high=1)
        if self.critic != "mlp":
            if self.training == "joint":
                check_option(self.critic, "critic", ["quadratic", "mlp"])
            self._classifier().check_parameters()
        check_number(self.transforms, "transforms", low=1, integer=True)
        check_verbose(self.verbose)
        self.check_network()
        require_zuko()

    def _classifier(self) -> BDRE:
        if is_classifier(self.critic):
            return BDRE(classifier=self.critic)
        return BDRE(critic=self.critic, l2=self.l2)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        self.map_ = canonical_map(samples)
        batches = self._batches(samples.map(lambda x: calm(self.map_(x))), seeds("flow rows"))
        self.standard_, d = batches.standard, batches.n_columns
        with seeded(seeds("flow")):
            self.flow_ = make_flow(self.flow, d, self.transforms, self.width, self.depth)
        joint, neural = self.training == "joint", self.critic == "mlp"
        with seeded(seeds("network")):
            head = self.make_network(d) if neural else quadratic_head(d)
        module, losses, judged = flow_losses(self.flow_, head if joint else None, self.alpha)
        how, rng = self.training_settings(), seeds("training")
        trained = train_on(module, losses, judged, batches, how, rng, self._progress("flow"))
        self.training_ = [trained]
        self.flow_.double()
        self._scale: Any = None
        if not neural:
            self.classifier_ = self._classifier().set_params(random_state=seeds("classifier"))
            self.classifier_.fit(*stacked(samples.map(self.features)))
            return
        if not joint:
            batches = self._batches(samples.map(self.features), seeds("classifier rows"))
            self._scale = batches.standard
            losses, rng = lambda c, rows: cross_entropy(c, head(rows)), seeds("classifier")
            progress = self._progress("classifier")
            self.training_.append(train_on(head, losses, losses, batches, how, rng, progress))
        self.classifier_ = head.double()

    def _batches(self, samples: TwoSamples, rng: np.random.Generator) -> ClassBatches:
        # Batches follow the bits of the rows: the last ones, which rounding decides, are
        # left out, so that units and the way that weights are given make no difference.
        return self.make_batches(
            samples.map(lambda x: x.astype(np.float32).astype(np.float64)), rng
        )

    def _progress(self, what: str) -> Any:
        if not self.verbose:
            return None
        return lambda done, total, line: print(f"FDRE {what} step {done} of {total}: {line}")

    def features(self, rows: Array) -> Array:
        """What the flow makes of rows that are checked, in double precision, shape (n, d)."""
        return evaluate(lambda x: self.flow_().transform(x), self.standard_(calm(self.map_(rows))))

    def evaluate(self, rows: Array) -> Array:
        Z = self.features(rows)
        if isinstance(self.classifier_, BDRE):
            return self.classifier_.log_ratio(Z)
        return evaluate(self.classifier_, Z if self._scale is None else self._scale(Z))[:, 0]


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
