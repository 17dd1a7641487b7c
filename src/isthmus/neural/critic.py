"""A neural critic, fitted on what a setup knows of the classes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._random import Seeds
from .._typing import Array
from ..auxiliaries import Samples, fit_auxiliary, is_known
from ._torch import require_torch, seeded
from .batches import distinct, some
from .inputs import FrameInputs, columns
from .networks import mlp
from .residual import ClassRows, Residual, fit_residual
from .training import Trained, Training, printed

# How often the held-out loss is looked at in a whole run.
_LOOKS = 40
# An auxiliary's row is replaced after so many passes: to draw and to judge it takes longer than to
# train on it, and rows of p and q stay for the whole run.
_TURNS = 4
# Draws of a known auxiliary are free: so many make its part of the held-out loss certain.
_HELD_OUT_DRAWS = 2000

Offset = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class NetworkFit:
    """A fitted neural critic.

    Attributes
    ----------
    residual : Residual
        The network and how it was trained.
    inputs : callable
        From rows and their coordinates to the network's inputs.
    """

    residual: Residual
    inputs: Callable[[Array, Array], Array]

    @property
    def module(self) -> Any:
        """The network, in double precision."""
        return self.residual.module

    @property
    def report(self) -> Trained:
        """How training went."""
        return self.residual.report

    @property
    def start(self) -> float:
        """Held-out loss before the first step."""
        return self.residual.start

    def values(self, rows: Array, Z: Array) -> Array:
        """Residual of every learned class, shape (n, classes)."""
        return self.residual.values(self.inputs(rows, Z))


def fit_network(
    spec: Any, setup: Any, offset: Offset, seeds: Seeds, *, plain: bool = False, verbose: int = 0
) -> NetworkFit:
    """Fit a neural critic to the classes of a setup.

    Parameters
    ----------
    spec : MLP or Network
        What to train, and how.
    setup : Setup
        Rows, auxiliaries and coordinates.
    offset : callable
        ``offset(rows, Z)``: what the network is added to, shape (n, K + 2).
    seeds : Seeds
    plain : bool
        Whether there is nothing worth starting from.
    verbose : int
        Print a line at every look if positive.

    Returns
    -------
    NetworkFit
    """
    train, held = _split(setup, spec.validation, seeds)
    names = setup.class_names
    inputs: Any = columns
    if getattr(spec, "inputs", "coordinates") == "coordinates":
        inputs = FrameInputs(setup.frames[:2])

    def seen(part: _Part) -> ClassRows:
        Z = setup.where(part.rows)
        return ClassRows(inputs(part.rows, Z), offset(part.rows, Z), part.weight)

    def fresh(epoch: int) -> Mapping[int, ClassRows]:
        drawn = _auxiliaries(setup, train, -(-size // _TURNS), seeds, f"epoch {epoch}")
        return {c: seen(part) for c, part in drawn.items()}

    size = max(len(train[c].rows) for c in (0, 1))
    classes = [seen(part) for part in _all(setup, train, size, seeds, "epoch 0")]
    judges = None
    if held is not None:
        size_held = max(len(held[0].rows), len(held[1].rows), _HELD_OUT_DRAWS)
        judges = [seen(part) for part in _all(setup, held, size_held, seeds, "held out")]
    rng = seeds("network")
    module = _module(spec, classes[0].inputs.shape[1], setup, plain, rng)
    residual = fit_residual(
        module,
        classes,
        judges,
        prior=setup.prior,
        learned=setup.learned.tolist(),
        names=names,
        batch_size=spec.batch_size,
        settings=_training(spec),
        rng=rng,
        fresh=fresh if len(names) > 2 else None,
        # Learned auxiliaries are means to an end: what does not fit is laid on them first.
        shrink=[spec.shrink if c < 2 and not plain else 0.0 for c in setup.learned],
        progress=printed("MDRE network", verbose),
    )
    return NetworkFit(residual, inputs)


@dataclass(frozen=True)
class _Part:
    """Rows of a class and their weights."""

    rows: Array
    weight: Array | None = None


def _split(
    setup: Any, share: float, seeds: Seeds
) -> tuple[dict[int, _Part], dict[int, _Part] | None]:
    """Different rows of p, of q and of auxiliaries given as rows: to train on, and held out."""
    given = dict(enumerate(zip(setup.data, setup.weights, strict=True)))
    for k, auxiliary in enumerate(setup.auxiliaries):
        if isinstance(auxiliary, Samples):
            given[k + 2] = auxiliary.rows_, None
    train, held = {}, {}
    rng = seeds("stop early")
    merged = {c: _merged(setup, *pair) for c, pair in given.items()}
    for c, (rows, weight) in merged.items():
        out = some(len(rows), share, rng)
        train[c] = _Part(rows[~out], weight[~out])
        held[c] = _Part(rows[out], weight[out])
    if not all(len(part.rows) for part in [*train.values(), *held.values()]):
        return {c: _Part(*pair) for c, pair in merged.items()}, None
    return train, held


def _merged(setup: Any, rows: Array, weight: Array | None) -> tuple[Array, Array]:
    """Different rows with their weights, in an order that no change of units touches."""
    rows, weight = distinct(rows, weight)
    order = np.argsort(setup.where(rows)[:, 0], kind="stable")
    return rows[order], weight[order]


def _auxiliaries(
    setup: Any, given: Mapping[int, _Part], size: int, seeds: Seeds, name: str
) -> dict[int, _Part]:
    """Fresh rows of every auxiliary but those that were given as rows."""
    p, q = given[0], given[1]
    out = {}
    for k, auxiliary in enumerate(setup.auxiliaries):
        if isinstance(auxiliary, Samples):
            continue
        source = auxiliary
        if not is_known(auxiliary):
            # Made of these rows alone: a row held out must not come back in a mixture.
            source = clone(auxiliary, safe=False)
            fit_auxiliary(source, p.rows, q.rows, p.weight, q.weight)
        rng = seeds(f"network m{k + 1}, {name}")
        out[k + 2] = _Part(np.asarray(source.sample(size, rng)))
    return out


def _all(setup: Any, given: Mapping[int, _Part], size: int, seeds: Seeds, name: str) -> list[_Part]:
    """Rows of every class, in order."""
    drawn = _auxiliaries(setup, given, size, seeds, name)
    return [part for _, part in sorted({**given, **drawn}.items())]


def _training(spec: Any) -> Training:
    return Training(
        steps=spec.steps,
        lr=spec.lr,
        weight_decay=spec.weight_decay,
        clip=spec.clip,
        average=spec.average,
        every=max(spec.steps // _LOOKS, 1),
        patience=spec.patience,
        start=True,
        checkpoint=spec.checkpoint,
        device=spec.device,
    )


def _module(spec: Any, n_inputs: int, setup: Any, plain: bool, rng: np.random.Generator) -> Any:
    """The network to train: one output for each learned class."""
    torch = require_torch(type(spec).__name__)
    learned, n_classes = setup.learned.tolist(), len(setup.class_names)
    if not hasattr(spec, "module"):
        how = {"width": spec.width, "depth": spec.depth, "activation": spec.activation}
        with seeded(rng):
            return mlp(n_inputs, len(learned), **how)
    inner = copy.deepcopy(spec.module).float()
    _check_outputs(inner, n_inputs, n_classes)
    last = torch.nn.Linear(n_classes, len(learned), bias=False)
    weight = torch.eye(n_classes)[learned] if plain else torch.zeros(len(learned), n_classes)
    last.weight = torch.nn.Parameter(weight)
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
