"""A network that corrects given log-densities of several classes.

The probability of class c at a row is the softmax of

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

from ..data.blocks import slices
from ..typing import Array
from .batches import ClassBatches, Standard
from .lazy_torch import require_torch
from .networks import evaluate
from .training import Trained, Training, train

# Rows that a network with all its hidden units is evaluated at together.
_ROWS = 4096
# One row that is lost costs at most this, in nats, in the held-out loss.
_LOST = 20.0


@dataclass(frozen=True)
class ClassRows:
    """Rows of one class, as a network sees them.

    Attributes
    ----------
    inputs : ndarray of shape (n, k)
        Inputs of the network. They are standardised before they reach it.
    offset : ndarray of shape (n, C)
        The part of every class's logit that is not learned, without the prior.
    weight : ndarray of shape (n,), optional
        Weights of the rows.
    """

    inputs: Array
    offset: Array
    weight: Array | None = None


@dataclass(frozen=True)
class Residual:
    """A trained correction.

    Attributes
    ----------
    module : torch.nn.Module
        In double precision.
    standard : Standard
        The map of the inputs before it.
    report : Trained
        How training went; ``report.held_out`` is the lowest held-out loss.
    start : float
        Held-out loss before the first step; NaN if nothing was held out.
    """

    module: Any
    standard: Standard
    report: Trained
    start: float

    def values(self, inputs: Array) -> Array:
        """Outputs at rows of inputs, shape (n, learned classes), some rows at a time."""
        out = [
            evaluate(self.module, self.standard(inputs[part]))
            for part in slices(len(inputs), _ROWS)
        ]
        return np.concatenate(out) if out else np.zeros((0, 0))


def fit_residual(
    module: Any,
    classes: Sequence[ClassRows],
    held_out: Sequence[ClassRows] | None = None,
    *,
    prior: Array | None = None,
    learned: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    batch_size: int = 256,
    settings: Training | None = None,
    rng: np.random.Generator,
    fresh: Callable[[int], Mapping[int, ClassRows]] | None = None,
    shrink: Sequence[float] | float = 0.0,
    standardise: bool = True,
    progress: Callable[[int, int, str], None] | None = None,
) -> Residual:
    """Train a network on what offsets leave over.

    Parameters
    ----------
    module : torch.nn.Module
        Maps (n, k) to (n, L), a column for each learned class. It is trained in place.
    classes : sequence of C ClassRows
        Rows to train on. A batch has equally many of each class, drawn in proportion
        to their weights.
    held_out : sequence of C ClassRows, optional
        Rows that decide which weights are kept; without them training runs to the end.
    prior : ndarray of shape (C,), optional
        Class priors; uniform by default.
    learned : sequence of int, optional
        The classes whose logit the network adds to, in the order of its columns; all by
        default.
    names : sequence of str, optional
        Names of the classes, for progress.
    batch_size : int
        Rows of each class in a batch.
    settings : Training, optional
        By default that of :class:`Training`, with a look before the first step.
    rng : numpy Generator
        Seeds the batches.
    fresh : callable, optional
        ``fresh(epoch)`` gives other rows, of equal weight, for some classes, by their number.
        They take the place of as many rows that are there, the oldest first. It is called
        before each pass over the largest class but the first, and must depend on the
        epoch alone.
    shrink : float or sequence of L floats
        Price of each column's mean square over a batch: where rows of no class tell what a
        logit is, it stays at its offset.
    standardise : bool
        Whether to give the inputs mean zero and variance one.
    progress : callable, optional
        As of :func:`train`. It is shown the accuracy of every class too.

    Returns
    -------
    Residual

    Examples
    --------
    Offsets of zero leave everything to the network.

    >>> import numpy as np
    >>> from isthmus.neural import mlp, seeded
    >>> rng = np.random.default_rng(0)
    >>> def rows(mean, n):
    ...     return ClassRows(rng.normal(mean, 1, (n, 1)), np.zeros((n, 2)))
    >>> with seeded(rng):
    ...     module = mlp(1, 2, width=16)
    >>> how = Training(steps=200, lr=1e-2, start=True)
    >>> held = [rows(1, 300), rows(0, 300)]
    >>> fit = fit_residual(module, [rows(1, 2000), rows(0, 2000)], held, settings=how, rng=rng)
    >>> fit.report.held_out < fit.start
    True
    >>> h = fit.values(np.array([[-1.5], [2.5]]))
    >>> h[:, 0] > h[:, 1]  # log p/q is x - 1/2
    array([False,  True])
    """
    torch = require_torch("fit_residual")
    how = settings or Training(start=True)
    n_classes, n_inputs = len(classes), classes[0].inputs.shape[1]
    share = np.full(n_classes, 1.0 / n_classes) if prior is None else np.asarray(prior)
    columns = list(range(n_classes)) if learned is None else list(learned)
    standard = _identity(n_inputs)
    if standardise:
        standard = Standard.fit([c.inputs for c in classes], [c.weight for c in classes])

    def joined(rows: ClassRows) -> Array:
        # Of the logits only differences count: relative to the largest they keep their digits
        # in single precision.
        offset = rows.offset + np.log(share)
        with np.errstate(invalid="ignore"):
            offset = offset - offset.max(axis=1, keepdims=True)
        return np.hstack([standard(rows.inputs), np.nan_to_num(offset)])

    batches = ClassBatches(
        [joined(rows) for rows in classes],
        [rows.weight for rows in classes],
        batch_size=batch_size,
        rng=rng,
        paired=True,
        standard=_identity(n_inputs + n_classes),
        device=how.device,
    )
    if held_out is not None:
        batches.hold_out([joined(r) for r in held_out], [r.weight for r in held_out])
    place = torch.tensor(columns, device=how.device)
    label = torch.arange(n_classes, device=how.device).repeat_interleave(batch_size)
    weight = torch.as_tensor(share, dtype=torch.float32, device=how.device)
    cross_entropy = torch.nn.functional.cross_entropy

    def added(rows: Any, residual: Any) -> Any:
        if columns == list(range(n_classes)):
            return rows[:, n_inputs:] + residual
        return rows[:, n_inputs:].index_add(1, place, residual)

    def logits(rows: Any) -> Any:
        return added(rows, module(rows[:, :n_inputs]))

    prices = np.broadcast_to(np.asarray(shrink, dtype=np.float64), len(columns))
    price = torch.as_tensor(prices.copy(), dtype=torch.float32, device=how.device)

    def loss(generator: Any) -> Any:
        x = batches.draw(generator)
        rows = x.reshape(-1, x.shape[-1])
        residual = module(rows[:, :n_inputs])
        fit = cross_entropy(added(rows, residual), label, weight=weight)
        return fit + (residual.square().mean(dim=0) @ price) if prices.any() else fit

    right = np.zeros(n_classes)

    def judged(c: int, rows: Any) -> Any:
        h = logits(rows)
        correct.append((c, (h.argmax(dim=1) == c).double()))
        truth = torch.full((len(rows),), c, device=how.device)
        return share[c] * cross_entropy(h, truth, reduction="none").clamp(max=_LOST)

    correct: list[tuple[int, Any]] = []

    def judge() -> float:
        correct.clear()
        value = batches.held_out_mean(judged)
        right[:] = 0.0
        for c, (_, shares) in enumerate(batches.held or []):
            right[c] = float(torch.cat([hit for k, hit in correct if k == c]) @ shares)
        return value

    labels = names or [str(c) for c in range(n_classes)]
    watched = {f"accuracy of {name}": c for c, name in enumerate(labels)}
    epoch_steps = max(-(-max(batches.sizes) // batch_size), 1)
    epoch = 0

    def begin(step: int) -> None:
        nonlocal epoch
        # A run that is taken up again goes through all epochs that it has missed.
        while fresh is not None and epoch < step // epoch_steps:
            epoch += 1
            for c, rows in fresh(epoch).items():
                batches.replace(c, joined(rows), epoch)

    report = train(
        module,
        loss,
        rng=rng,
        held_out=None if held_out is None else judge,
        settings=how,
        watch=None if held_out is None else lambda: {n: right[c] for n, c in watched.items()},
        begin=begin,
        progress=progress,
    )
    first = report.history[0] if report.history else {}
    start = first["held_out"] if first.get("step") == 0 and "held_out" in first else float("nan")
    return Residual(module.cpu().double(), standard, report, start)


def _identity(n: int) -> Standard:
    return Standard(np.zeros(n), np.ones(n))
