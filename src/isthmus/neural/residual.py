"""A network that corrects given log-densities of several classes.

The probability of class c at a row is the softmax of ::

    log pi_c + a_c(x) + f_c(x),

with the class priors pi, given offsets a_c, such as the log-density of an anchor, and a network f
that is trained on the multinomial log-likelihood. Where the last layer of f starts at
zero, training starts from the offsets, and what held-out rows do not confirm is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.holdout import LOST_ROW
from ..data.sample import Sample
from ..typing import Array
from .batches import ClassBatches, Standard
from .lazy_torch import require_torch
from .networks import evaluate_in_parts
from .training import Progress, Trained, Training, train


@dataclass(frozen=True)
class ClassInputs:
    """Rows of one class as a network sees them.

    ``sample`` has its inputs, which are standardised before they reach it, with their weights;
    ``offset``, of shape (n, C), the part of every class's logit that is not learned, without
    the prior.
    """

    sample: Sample
    offset: Array


@dataclass(frozen=True)
class Residual:
    """A trained correction, in double precision, and how it was trained."""

    module: Any
    standard: Standard
    report: Trained

    def values(self, inputs: Array) -> Array:
        """Outputs at rows of inputs, shape (n, learned classes)."""
        return evaluate_in_parts(self.module, inputs, before=self.standard)


def fit_residual(
    module: Any,
    classes: Sequence[ClassInputs],
    held_out: Sequence[ClassInputs] | None = None,
    *,
    prior: Array | None = None,
    learned: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    batch_size: int = 256,
    settings: Training | None = None,
    rng: np.random.Generator,
    fresh: Callable[[int], Mapping[int, ClassInputs]] | None = None,
    shrink: Sequence[float] | float = 0.0,
    progress: Progress | None = None,
) -> Residual:
    """Train a network, from (n, k) to a column for each learned class, on what offsets leave over.

    By default all classes are learned and equally frequent, and there is a look before the first
    step. ``fresh(epoch)`` gives other rows, of equal weight, for some classes, by their number.
    They take the place of as many rows that are there, the oldest first. It is called before each
    pass over the largest class but the first, and must depend on the epoch alone. ``shrink``
    is the price of each column's mean square over a batch: where rows of no class tell what a
    logit is, it stays at its offset.
    """
    torch = require_torch("fit_residual")
    how = settings or Training(start=True)
    n_classes, n_inputs = len(classes), classes[0].sample.rows.shape[1]
    share = np.full(n_classes, 1.0 / n_classes) if prior is None else np.asarray(prior)
    columns = list(range(n_classes)) if learned is None else list(learned)
    standard = Standard.fit([rows.sample for rows in classes])

    def joined(rows: ClassInputs) -> Sample:
        """Inputs and offsets side by side."""
        # Of the logits only differences count: relative to the largest they keep their digits
        # in single precision.
        offset = rows.offset + np.log(share)
        with np.errstate(invalid="ignore"):
            offset = offset - offset.max(axis=1, keepdims=True)
        return rows.sample.map(lambda inputs: np.hstack([inputs, np.nan_to_num(offset)]))

    batches = ClassBatches(
        [joined(rows) for rows in classes],
        batch_size=batch_size,
        rng=rng,
        paired=True,
        # Offsets stay as they are.
        standard=Standard(
            np.append(standard.centre, np.zeros(n_classes)),
            np.append(standard.scale, np.ones(n_classes)),
        ),
        device=how.device,
    )
    if held_out is not None:
        batches.hold_out([joined(rows) for rows in held_out])
    place = torch.tensor(columns, device=how.device)
    label = torch.arange(n_classes, device=how.device).repeat_interleave(batch_size)
    weight = torch.as_tensor(share, dtype=torch.float32, device=how.device)
    prices = np.broadcast_to(np.asarray(shrink, dtype=np.float64), len(columns))
    price = torch.as_tensor(prices.copy(), dtype=torch.float32, device=how.device)
    cross_entropy = torch.nn.functional.cross_entropy

    def logits(rows: Any, residual: Any) -> Any:
        if columns == list(range(n_classes)):
            return rows[:, n_inputs:] + residual
        return rows[:, n_inputs:].index_add(1, place, residual)

    def loss(generator: Any) -> Any:
        rows = batches.draw(generator).flatten(0, 1)
        residual = module(rows[:, :n_inputs])
        fit = cross_entropy(logits(rows, residual), label, weight=weight)
        return fit + (residual.square().mean(dim=0) @ price) if prices.any() else fit

    labels = names or [str(c) for c in range(n_classes)]
    accuracy: dict[str, float] = {}

    def judge() -> float:
        total = 0.0
        accuracy.update({f"accuracy of {name}": 0.0 for name in labels})
        for c, rows, mass in batches.held_parts():
            h = logits(rows, module(rows[:, :n_inputs]))
            truth = torch.full((len(rows),), c, device=how.device)
            losses = share[c] * cross_entropy(h, truth, reduction="none").clamp(max=LOST_ROW)
            total += float(losses.double() @ mass)
            accuracy[f"accuracy of {labels[c]}"] += float((h.argmax(1) == c).double() @ mass)
        return total

    epoch_steps = max(-(-max(batches.sizes) // batch_size), 1)
    epoch = 0

    def begin(step: int) -> None:
        nonlocal epoch
        # A run that is taken up again goes through all epochs that it has missed.
        while fresh is not None and epoch < step // epoch_steps:
            epoch += 1
            for c, rows in fresh(epoch).items():
                batches.replace(c, joined(rows).rows, epoch)

    report = train(
        module,
        loss,
        rng=rng,
        held_out=None if held_out is None else judge,
        settings=how,
        watch=lambda: accuracy,
        begin=begin,
        progress=progress,
    )
    return Residual(module.cpu().double(), standard, report)
