"""Parameters that several rivals have, each stated once; their documentation is in the rivals'."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.sample import Sample
from ..data.validation import check_number
from ..neural import ClassBatches, Training, mlp
from ..neural.parameters import check_shared
from ..settings import Settings, is_auto
from ..typing import RandomState


def check_unless_auto(value: Any, argument: str, **limits: Any) -> None:
    """Check a number that may be "auto"."""
    if not is_auto(value):
        check_number(value, argument, **limits)


@dataclass(eq=False, repr=False, kw_only=True)
class ConvexParameters:
    """A critic that is linear in its parameters, and how it is solved; see :class:`BDRE`."""

    anchor: Any = None
    maps: Any = None
    l2: float | str = "auto"
    solver: str = "newton"
    tol: float = 1e-6
    max_iter: int = 200
    random_state: RandomState = None
    verbose: int = 0

    def settings(self, **others: Any) -> Settings:
        """Settings of MDRE without auxiliaries."""
        return Settings.of(self, auxiliaries=None, **others)


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkParameters:
    """A network and its training; see :class:`NNBD`."""

    width: int = 128
    depth: int = 2
    steps: int = 2000
    batch_size: int = 256
    lr: float = 1e-3
    weight_decay: float = 1e-5
    validation: float = 0.15
    patience: int = 10
    random_state: RandomState = None
    verbose: int = 0

    def check_network(self) -> None:
        """Refuse parameters of a network that do not fit; it must have a hidden layer."""
        check_number(self.depth, "depth", low=1, integer=True)
        check_shared(self)

    def training_settings(self) -> Training:
        """How to train, with a look at the held-out loss every hundred steps."""
        return Training(
            steps=self.steps, lr=self.lr, weight_decay=self.weight_decay, patience=self.patience
        )

    def make_network(self, n_in: int, n_out: int = 1) -> Any:
        """A perceptron of the width and depth that were given, to be made in ``seeded``."""
        return mlp(n_in, n_out, width=self.width, depth=self.depth)

    def make_batches(self, samples: Iterable[Sample], rng: np.random.Generator) -> ClassBatches:
        """Batches of rows of every sample, and rows held out."""
        return ClassBatches(
            list(samples), batch_size=self.batch_size, validation=self.validation, rng=rng
        )
