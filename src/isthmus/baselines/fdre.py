"""F-DRE: density ratio estimation in the feature space of a normalising flow.

Choi, Liao & Ermon, "Featurized Density Ratio Estimation", UAI 2021,
arXiv:2107.02212.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_number, check_option
from ..estimator import RatioEstimator
from ..maps.affine import canonical_map
from ..model.classifier import is_classifier
from ..neural import ClassBatches, Training, evaluate, mlp
from ..typing import Array, RandomState
from .bdre import BDRE
from .flow import (
    FLOWS,
    calm,
    features,
    make_flow,
    quadratic_head,
    require_zuko,
    seeded_make,
    train_classifier,
    train_flow,
)


class FDRE(RatioEstimator):
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
        :class:`~isthmus.baselines.BDRE` takes as its critic or its classifier. In joint
        training, "mlp", or "quadratic", which is then solved anew for the final flow.
    training : {"separate", "joint"}, default "separate"
        Fit the flow and then the classifier, or both at once.
    alpha : float, default 0.9
        Share of the classifier in the joint objective, between 0 and 1.
    transforms : int, default 3
        Number of transformations in the flow.
    width, depth : int, default 64 and 2
        Units and number of hidden layers of the flow's networks.
    l2 : float or "auto", default "auto"
        Ridge penalty of the classifier; see :class:`~isthmus.baselines.BDRE`. Not for
        "mlp", which is held back by ``weight_decay`` and early stopping.
    steps, batch_size, lr, weight_decay, patience
        Training of the flow, and of the network; see :class:`isthmus.neural.Training`.
        A batch has that many rows of each of p and q.
    validation : float, default 0.15
        Share of rows to hold out for early stopping; 0 for none.
    random_state : int, Generator, RandomState or None, default None
        Seeds networks, batches and rows held out.
    verbose : int, default 0
        Print the progress if positive.

    Attributes
    ----------
    flow_ : flow of zuko
        ``flow_().transform`` maps the coordinates of ``map_`` to z.
    map_ : AffineMap
        Shared coordinates, in which the pooled sample is white. Tails beyond six
        standard deviations are then drawn in logarithmically, by a bijection too.
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

    def __init__(
        self,
        flow: Any = "maf",
        *,
        critic: Any = "quadratic",
        training: str = "separate",
        alpha: float = 0.9,
        transforms: int = 3,
        width: int = 64,
        depth: int = 2,
        l2: float | str = "auto",
        steps: int = 2000,
        batch_size: int = 128,
        lr: float = 1e-3,
        weight_decay: float = 1e-5,
        validation: float = 0.15,
        patience: int = 10,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.flow = flow
        self.critic = critic
        self.training = training
        self.alpha = alpha
        self.transforms = transforms
        self.width = width
        self.depth = depth
        self.l2 = l2
        self.steps = steps
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.validation = validation
        self.patience = patience
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        if not callable(self.flow):
            check_option(self.flow, "flow", FLOWS)
        check_option(self.training, "training", ["separate", "joint"])
        check_number(self.alpha, "alpha", low=0, high=1)
        if self.critic != "mlp":
            if self.training == "joint":
                check_option(self.critic, "critic", ["quadratic", "mlp"])
            self._classifier().check_parameters()
        for name in ("transforms", "width", "depth", "batch_size"):
            check_number(getattr(self, name), name, low=1, integer=True)
        check_number(self.validation, "validation", low=0, high=1, open_high=True)
        check_number(int(self.verbose), "verbose", low=0)
        self._settings.check()
        require_zuko()

    @property
    def _settings(self) -> Training:
        return Training(
            steps=self.steps, lr=self.lr, weight_decay=self.weight_decay, patience=self.patience
        )

    def _classifier(self) -> BDRE:
        if is_classifier(self.critic):
            return BDRE(classifier=self.critic)
        return BDRE(critic=self.critic, l2=self.l2)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        p, q = samples.p.rows, samples.q.rows
        self.map_ = canonical_map(samples)
        batches = self._batches([calm(self.map_(x)) for x in (p, q)], samples, seeds("flow rows"))
        self._standard, d = batches.standard, batches.n_columns

        def network() -> Any:
            return mlp(d, 1, width=self.width, depth=self.depth)

        self.flow_ = seeded_make(
            lambda: make_flow(self.flow, d, self.transforms, self.width, self.depth),
            seeds("flow"),
        )
        head = None
        if self.training == "joint":
            make = network if self.critic == "mlp" else lambda: quadratic_head(d)
            head = seeded_make(make, seeds("network"))
        self.training_ = [
            train_flow(
                self.flow_,
                head,
                batches,
                self.alpha,
                self._settings,
                seeds("training"),
                self._progress("flow"),
            )
        ]
        self.flow_.double()
        self._scale: Any = None
        if self.critic == "mlp" and head is not None:
            self.classifier_ = head.double()
            return
        made = [self._features(x) for x in (p, q)]
        if self.critic == "mlp":
            batches = self._batches(made, samples, seeds("classifier rows"))
            self._scale = batches.standard
            self.classifier_ = seeded_make(network, seeds("network"))
            rng, progress = seeds("classifier"), self._progress("classifier")
            self.training_.append(
                train_classifier(self.classifier_, batches, self._settings, rng, progress)
            )
            self.classifier_.double()
            return
        weight = np.concatenate([samples.p.weight, samples.q.weight])
        label = np.repeat([1, 0], [len(p), len(q)])
        self.classifier_ = self._classifier().set_params(random_state=seeds("classifier"))
        self.classifier_.fit(np.vstack(made), label, sample_weight=weight)

    def _batches(
        self, rows: list[Array], samples: TwoSamples, rng: np.random.Generator
    ) -> ClassBatches:
        return ClassBatches(
            # Batches follow the bits of the rows: the last ones, which rounding decides, are
            # left out, so that units and the way that weights are given make no difference.
            [
                Sample(x.astype(np.float32).astype(np.float64), sample.weight)
                for x, sample in zip(rows, samples, strict=True)
            ],
            batch_size=self.batch_size,
            validation=self.validation,
            rng=rng,
        )

    def _progress(self, what: str) -> Any:
        if not self.verbose:
            return None
        return lambda done, total, line: print(f"FDRE {what} step {done} of {total}: {line}")

    def _features(self, rows: Array) -> Array:
        return features(self.flow_, self._standard(calm(self.map_(rows))))

    def evaluate(self, rows: Array) -> Array:
        Z = self._features(rows)
        if isinstance(self.classifier_, BDRE):
            return self.classifier_.log_ratio(Z)
        return evaluate(self.classifier_, Z if self._scale is None else self._scale(Z))[:, 0]
