"""A neural critic, fitted on what is known of the classes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..auxiliaries import Samples, fit_auxiliary, is_known
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..model.offsets import Offsets
from ..model.rows import ClassRows
from ..typing import Array
from .batches import distinct, some
from .inputs import FrameInputs, columns
from .lazy_torch import require_torch, seeded
from .networks import mlp
from .residual import ClassRows as Inputs
from .residual import Residual, fit_residual
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
    spec: Any,
    classes: ClassRows,
    offset: Offset,
    seeds: Seeds,
    *,
    plain: bool = False,
    verbose: int = 0,
) -> NetworkFit:
    """Fit a neural critic to the rows of every class.

    Parameters
    ----------
    spec : MLP or Network
        What to train, and how.
    classes : ClassRows
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
    offsets, names = classes.offsets, classes.class_names
    train, held = _split(classes, spec.validation, seeds)
    inputs: Any = columns
    if getattr(spec, "inputs", "coordinates") == "coordinates":
        inputs = FrameInputs(classes.frames[:2])

    def seen(part: Sample) -> Inputs:
        Z = offsets.where(part.rows)
        return Inputs(inputs(part.rows, Z), offset(part.rows, Z), part.weight)

    def fresh(epoch: int) -> Mapping[int, Inputs]:
        drawn = _auxiliaries(offsets, train, -(-size // _TURNS), seeds, f"epoch {epoch}")
        return {c: seen(part) for c, part in drawn.items()}

    size = max(len(train[c].rows) for c in (0, 1))
    trained = [seen(part) for part in _all(offsets, train, size, seeds, "epoch 0")]
    judges = None
    if held is not None:
        size_held = max(len(held[0].rows), len(held[1].rows), _HELD_OUT_DRAWS)
        judges = [seen(part) for part in _all(offsets, held, size_held, seeds, "held out")]
    rng = seeds("network")
    module = _module(spec, trained[0].inputs.shape[1], offsets, plain, rng)
    residual = fit_residual(
        module,
        trained,
        judges,
        prior=classes.prior,
        learned=offsets.learned.tolist(),
        names=names,
        batch_size=spec.batch_size,
        settings=_training(spec),
        rng=rng,
        fresh=fresh if len(names) > 2 else None,
        # Learned auxiliaries are means to an end: what does not fit is laid on them first.
        shrink=[spec.shrink if c < 2 and not plain else 0.0 for c in offsets.learned],
        progress=printed("MDRE network", verbose),
    )
    return NetworkFit(residual, inputs)


def _split(
    classes: ClassRows, share: float, seeds: Seeds
) -> tuple[dict[int, Sample], dict[int, Sample] | None]:
    """Different rows of p, of q and of auxiliaries given as rows: to train on, and held out."""
    given = dict(enumerate(classes.samples))
    for k, auxiliary in enumerate(classes.offsets.auxiliaries):
        if isinstance(auxiliary, Samples):
            given[k + 2] = Sample.of(auxiliary.rows_)
    train, held = {}, {}
    rng = seeds("stop early")
    merged = {c: _merged(classes.offsets, sample) for c, sample in given.items()}
    for c, sample in merged.items():
        out = some(len(sample), share, rng)
        train[c], held[c] = sample.take(~out), sample.take(out)
    if not all(len(part) for part in [*train.values(), *held.values()]):
        return merged, None
    return train, held


def _merged(offsets: Offsets, sample: Sample) -> Sample:
    """Different rows with their weights, in an order that no change of units touches."""
    found = Sample(*distinct(sample.rows, sample.weight))
    return found.take(np.argsort(offsets.where(found.rows)[:, 0], kind="stable"))


def _auxiliaries(
    offsets: Offsets, given: Mapping[int, Sample], size: int, seeds: Seeds, name: str
) -> dict[int, Sample]:
    """Fresh rows of every auxiliary but those that were given as rows."""
    out = {}
    for k, auxiliary in enumerate(offsets.auxiliaries):
        if isinstance(auxiliary, Samples):
            continue
        source = auxiliary
        if not is_known(auxiliary):
            # Made of these rows alone: a row held out must not come back in a mixture.
            source = fit_auxiliary(clone(auxiliary, safe=False), TwoSamples(given[0], given[1]))
        rng = seeds(f"network m{k + 1}, {name}")
        out[k + 2] = Sample.of(np.asarray(source.sample(size, rng)))
    return out


def _all(
    offsets: Offsets, given: Mapping[int, Sample], size: int, seeds: Seeds, name: str
) -> list[Sample]:
    """Rows of every class, in order."""
    drawn = _auxiliaries(offsets, given, size, seeds, name)
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


def _module(
    spec: Any, n_inputs: int, offsets: Offsets, plain: bool, rng: np.random.Generator
) -> Any:
    """The network to train: one output for each learned class."""
    torch = require_torch(type(spec).__name__)
    learned, n_classes = offsets.learned.tolist(), len(offsets.class_names)
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
