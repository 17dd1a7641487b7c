"""Neural critics: what is trained, not how. torch is imported when they are fitted."""

from __future__ import annotations

import copy
import os
import sys
from dataclasses import dataclass, field
from typing import Any, Self

from numpy.random import Generator
from sklearn.base import BaseEstimator, clone

from ..data.validation import check_number, check_option
from ..neural.lazy_torch import require_torch, seeded
from ..neural.networks import mlp
from ..neural.parameters import check_shared

# Not functions of one value, or with parameters that have no default.
_UNFIT = ("MultiheadAttention", "Threshold", "GLU", "Softmax2d", "LogSoftmax", "Softmax")


@dataclass(eq=False, repr=False, kw_only=True)
class NeuralCritic(BaseEstimator):
    """Parameters that neural critics share: what they stand on, and how they are trained."""

    base: Any = None
    steps: int = 1500
    batch_size: int = 256
    lr: float = 3e-3
    weight_decay: float = 1e-4
    shrink: float = 1e-4
    validation: float = 0.15
    patience: int = 15
    average: float = 0.99
    clip: float = 10.0
    checkpoint: str | os.PathLike[str] | None = None
    device: str = "cpu"

    @property
    def sees_coordinates(self) -> bool:
        """Whether the network is given the row in the frames of p and q, or its columns."""
        return True

    def check(self) -> None:
        """Refuse parameters that do not fit."""
        check_shared(self)
        check_number(self.shrink, "shrink", low=0, open_high=True)

    def on(self, base: Any) -> Self:
        """A copy that stands on another critic."""
        copied: Self = clone(self).set_params(base=base)
        return copied

    def make(
        self, n_inputs: int, n_classes: int, learned: list[int], from_zero: bool, rng: Generator
    ) -> Any:
        """The network to train, with one output for each learned class; at zero if asked for."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class MLP(NeuralCritic):
    """Perceptron that learns what anchors, and a convex critic on them, leave over.

    The critic of class c is ::

        h_c(x) = anchor_c(x) + base_c(x) + f_c(x),

    where f starts at zero and is trained by the multinomial log-likelihood. Held-out rows
    decide when to stop, before the first step if nothing is gained: the network does not
    predict them worse than what it stands on. It sees the row in the frames of p and of q, with
    far values drawn in, and the logarithm of its distance from both.

    Parameters
    ----------
    width, depth : int, default 64 and 2
        Units of a hidden layer, and number of hidden layers.
    activation : str, default "SiLU"
        Name of an activation in ``torch.nn``.
    base : str, critic or None, default None
        A convex critic for the network to stand on, with the penalty ``l2`` of
        :class:`MDRE`; None for the anchors alone. "auto" is the one that MDRE would choose.
    steps : int, default 1500
        Largest number of steps.
    batch_size : int, default 256
        Rows of each class in a batch.
    lr : float, default 3e-3
        Learning rate after warming up; it falls as a cosine.
    weight_decay : float, default 1e-4
    shrink : float, default 1e-4
        Price of the mean squares of f_p and f_q, in nats. Across a chasm no row tells what log q
        is among the rows of p: there the critics stay near their anchors.
    validation : float, default 0.15
        Share of the rows of p and q to hold out for stopping. Auxiliaries are drawn or
        mixed anew for them, and a quarter of theirs in every pass over the other rows.
    patience : int, default 15
        How often the held-out loss may fail to fall before training stops; it is looked at
        40 times in all.
    average : float, default 0.99
        Decay of the moving average of the weights.
    clip : float, default 10
        Largest norm of the gradient.
    checkpoint : path, optional
        File to write at every look and to go on from. A model is one run: leave it out where a
        model is fitted several times, as in :func:`isthmus.compare`.
    device : str, default "cpu"
        Where to train, such as "cuda".

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.critics import MLP
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (500, 1)), rng.normal(1, 2, (500, 1))
    >>> critic = MLP(width=16, steps=100)
    >>> model = isthmus.MDRE(critic=critic, random_state=0).fit(*isthmus.stack(p, q))
    >>> model.network_.report.held_out <= model.network_.start
    True
    """

    width: int = 64
    depth: int = 2
    activation: str = field(default="SiLU", kw_only=True)

    def check(self) -> None:
        super().check()
        check_option(self.activation, "activation", activations())

    def make(
        self, n_inputs: int, n_classes: int, learned: list[int], from_zero: bool, rng: Generator
    ) -> Any:
        width, depth, activation = self.width, self.depth, self.activation
        with seeded(rng):
            return mlp(n_inputs, len(learned), width=width, depth=depth, activation=activation)


@dataclass(eq=False, repr=False)
class Network(NeuralCritic):
    """Any ``torch.nn.Module`` as the critic of all classes.

    The critics are h(x) = anchor(x) + base(x) + A f(x), where f is the module and the matrix A
    is learned with it. It starts at zero, so that training starts from the anchors;
    without anchors and base it starts as the identity.

    Parameters
    ----------
    module : torch.nn.Module
        Maps rows, a tensor of shape (n, d), to shape (n, K + 2), a column for p, q and
        each auxiliary in this order. The columns of auxiliaries whose density is known are not
        used. The module is copied, not changed.
    inputs : {"columns", "coordinates"}, default "columns"
        What it is given: the columns of the data, standardised, or what :class:`MLP` sees.
    base, steps, batch_size, lr, weight_decay, shrink, validation
        As of :class:`MLP`.
    patience, average, clip, checkpoint, device
        As of :class:`MLP`.

    Examples
    --------
    >>> import numpy as np, torch, isthmus
    >>> from isthmus.critics import Network
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, (500, 2)), rng.normal(1, 2, (500, 2)))
    >>> module = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    >>> model = isthmus.MDRE(critic=Network(module, steps=50), random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape
    (1000, 3)
    """

    module: Any
    inputs: str = "columns"

    @property
    def sees_coordinates(self) -> bool:
        return self.inputs == "coordinates"

    def check(self) -> None:
        super().check()
        check_option(self.inputs, "inputs", ["columns", "coordinates"])
        if not is_module(self.module):
            raise ValueError(
                f"module must be a torch.nn.Module; received a {type(self.module).__name__}."
            )

    def make(
        self, n_inputs: int, n_classes: int, learned: list[int], from_zero: bool, rng: Generator
    ) -> Any:
        torch = require_torch("Network")
        inner = copy.deepcopy(self.module).float()
        _check_outputs(inner, n_inputs, n_classes)
        # Without a draw from torch's own generator.
        skip = torch.nn.utils.skip_init
        last = skip(torch.nn.Linear, n_classes, len(learned), bias=False)
        start = torch.eye(n_classes)[learned]
        last.weight = torch.nn.Parameter(torch.zeros_like(start) if from_zero else start)
        return torch.nn.Sequential(inner, last)


def _check_outputs(module: Any, n_inputs: int, n_classes: int) -> None:
    """Refuse a module that does not map (n, d) to (n, K + 2)."""
    torch = require_torch("Network")
    training = module.training
    try:
        with torch.no_grad():
            received = str(tuple(module.eval()(torch.zeros(2, n_inputs)).shape))
    except RuntimeError as error:
        received = str(error)
    module.train(training)
    if received != str((2, n_classes)):
        raise ValueError(
            f"module must map rows of shape (n, {n_inputs}) to (n, {n_classes}), a column for p, q "
            f"and each auxiliary; received, for 2 rows, {received}."
        )


def activations() -> list[str]:
    """Names of the activations of torch that need no arguments."""
    from torch.nn.modules import activation

    return [name for name in activation.__all__ if name not in _UNFIT]


def is_module(critic: Any) -> bool:
    """Whether an object is a ``torch.nn.Module``; torch is not imported for it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(critic, torch.nn.Module)


def is_neural(critic: Any) -> bool:
    """Whether a critic is a network, or stands for one."""
    if isinstance(critic, str):
        return critic == "mlp"
    return isinstance(critic, NeuralCritic) or is_module(critic)


def as_neural(critic: Any) -> NeuralCritic:
    """The neural critic that a name or a module stands for."""
    if isinstance(critic, str):
        return MLP()
    return Network(critic) if is_module(critic) else critic
