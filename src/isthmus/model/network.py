"""A network on top of what is known of the classes and of a convex critic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..auxiliaries import Samples, fit_auxiliary, is_known
from ..critics.mlp import NeuralCritic
from ..data.holdout import split_rows
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..neural.batches import distinct
from ..neural.inputs import FrameInputs, columns
from ..neural.lazy_torch import require_torch
from ..neural.parameters import training_of
from ..neural.residual import ClassInputs, Residual, fit_residual
from ..neural.training import Trained, printed
from ..typing import Array
from .offsets import Offsets
from .rows import ClassRows

# How often the held-out loss is looked at in a whole run.
_LOOKS = 40
# An auxiliary's row is replaced after so many passes: to draw and to judge it takes longer than to
# train on it, and rows of p and q stay for the whole run.
_TURNS = 4
# Draws of a known auxiliary are free: so many make its part of the held-out loss certain.
_HELD_OUT_DRAWS = 2000


@dataclass(frozen=True)
class NetworkFit:
    """A fitted neural critic, with the map from rows and their coordinates to its inputs."""

    residual: Residual
    inputs: Callable[[Array, Array], Array]

    @property
    def module(self) -> Any:
        return self.residual.module

    @property
    def report(self) -> Trained:
        return self.residual.report

    @property
    def start(self) -> float:
        """Held-out loss before the first step."""
        return self.report.start

    def values(self, rows: Array, Z: Array) -> Array:
        """Residual of every learned class, shape (n, classes)."""
        return self.residual.values(self.inputs(rows, Z))


def fit_network(
    critic: NeuralCritic,
    classes: ClassRows,
    offset: Callable[[Array, Array], Array],
    seeds: Seeds,
    *,
    from_zero: bool = True,
    verbose: int = 0,
) -> NetworkFit:
    """Fit a neural critic to the rows of every class.

    ``offset(rows, Z)``, of shape (n, K + 2), is what the network is added to; ``from_zero``
    whether that is worth starting from, and staying close to.
    """
    require_torch(type(critic).__name__)
    offsets, names = classes.offsets, classes.class_names
    learned = offsets.learned.tolist()
    train, held = split_classes(classes, critic.validation, seeds)
    inputs = FrameInputs(classes.frames[:2]) if critic.sees_coordinates else columns

    def seen(sample: Sample) -> ClassInputs:
        Z = offsets.where(sample.rows)
        given = Sample(inputs(sample.rows, Z), sample.weight)
        return ClassInputs(given, offset(sample.rows, Z))

    def every(given: Mapping[int, Sample], size: int, name: str) -> list[ClassInputs]:
        drawn = auxiliary_rows(offsets, given, size, seeds, name)
        return [seen(sample) for _, sample in sorted({**given, **drawn}.items())]

    def fresh(epoch: int) -> Mapping[int, ClassInputs]:
        drawn = auxiliary_rows(offsets, train, -(-size // _TURNS), seeds, f"epoch {epoch}")
        return {c: seen(sample) for c, sample in drawn.items()}

    size = max(len(train[0]), len(train[1]))
    trained, judges = every(train, size, "epoch 0"), None
    if held is not None:
        size_held = max(len(held[0]), len(held[1]), _HELD_OUT_DRAWS)
        judges = every(held, size_held, "held out")
    rng = seeds("network")
    n_inputs = trained[0].sample.rows.shape[1]
    residual = fit_residual(
        critic.make(n_inputs, len(names), learned, from_zero, rng),
        trained,
        judges,
        prior=classes.prior,
        learned=learned,
        names=names,
        batch_size=critic.batch_size,
        settings=training_of(critic, _LOOKS, start=True),
        rng=rng,
        fresh=fresh if len(names) > 2 else None,
        # Learned auxiliaries are means to an end: what does not fit is laid on them first.
        shrink=[critic.shrink if c < 2 and from_zero else 0.0 for c in learned],
        progress=printed("MDRE network", verbose),
    )
    return NetworkFit(residual, inputs)


def split_classes(
    classes: ClassRows, share: float, seeds: Seeds
) -> tuple[dict[int, Sample], dict[int, Sample] | None]:
    """Different rows of p, of q and of auxiliaries given as rows: to train on, and held out."""
    given = dict(enumerate(classes.samples))
    for k, auxiliary in enumerate(classes.offsets.auxiliaries):
        if isinstance(auxiliary, Samples):
            given[k + 2] = Sample.of(auxiliary.rows_)
    rng, train, held = seeds("stop early"), {}, {}
    for c, sample in given.items():
        found = distinct(sample)
        # In an order that no change of units touches.
        order = np.argsort(classes.offsets.where(found.rows)[:, 0], kind="stable")
        given[c] = found.take(order)
        train[c], held[c] = split_rows(len(found), rng, share, None, 0).parts(given[c])
    if not all(len(part) for part in [*train.values(), *held.values()]):
        return given, None
    return train, held


def auxiliary_rows(
    offsets: Offsets, given: Mapping[int, Sample], size: int, seeds: Seeds, name: str
) -> dict[int, Sample]:
    """Fresh rows of every auxiliary, by its class, but of those that were given as rows."""
    out = {}
    for c, auxiliary in enumerate(offsets.auxiliaries, start=2):
        if c in given:
            continue
        source = auxiliary
        if not is_known(auxiliary):
            # Made of these rows alone: a row held out must not come back in a mixture.
            source = fit_auxiliary(clone(auxiliary, safe=False), TwoSamples(given[0], given[1]))
        rng = seeds(f"network m{c - 1}, {name}")
        out[c] = Sample.of(np.asarray(source.sample(size, rng)))
    return out
