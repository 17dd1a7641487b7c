"""One training loop for every neural part of the library.

Adam with decoupled weight decay, a learning rate that warms up and then falls as
a cosine, clipped gradients, an average of the weights, and early stopping on a
held-out loss: the averaged weights with the lowest one are kept.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ..data.validation import check_number
from .average import Average
from .checkpoint import Checkpoint
from .lazy_torch import require_torch, seeded

Progress: TypeAlias = Callable[[int, int, str], None]

# Decay of the running loss that is reported.
_RUNNING = 0.95


@dataclass(frozen=True)
class Training:
    """How to train.

    Attributes
    ----------
    steps : int
        Largest number of steps.
    lr : float
        Learning rate after warming up; it falls to a hundredth at the end.
    weight_decay : float
    clip : float
        Largest norm of the gradient; infinity for none.
    average : float
        Decay of the moving average of the weights; 0 takes the last weights.
    warmup : float
        Share of the steps in which the learning rate rises.
    every : int
        Steps between two looks at the held-out loss.
    patience : int
        Looks without a lower held-out loss after which to stop.
    start : bool
        Whether to look before the first step too, so that the weights at the start
        are kept unless training lowers the held-out loss.
    checkpoint : path, optional
        File to write at every look. A run whose file is there goes on from it and
        ends with the same weights, to the bit, as one that was not interrupted. The
        file of another run is refused.
    device : str
        Such as "cpu" or "cuda".
    """

    steps: int = 3000
    lr: float = 1e-3
    weight_decay: float = 1e-5
    clip: float = 10.0
    average: float = 0.99
    warmup: float = 0.05
    every: int = 100
    patience: int = 10
    start: bool = False
    checkpoint: str | os.PathLike[str] | None = None
    device: str = "cpu"

    def check(self) -> None:
        """Refuse settings that do not fit."""
        for name in ("steps", "every", "patience"):
            check_number(getattr(self, name), name, low=1, integer=True)
        for name in ("lr", "clip"):
            check_number(getattr(self, name), name, low=0, open_low=True)
        check_number(self.weight_decay, "weight_decay", low=0)
        for name in ("average", "warmup"):
            check_number(getattr(self, name), name, low=0, high=1, open_high=True)

    def rate(self, step: int) -> float:
        """Learning rate at a step, as a share of ``lr``."""
        rise = max(self.warmup * self.steps, 1.0)
        if step < rise:
            return (step + 1) / rise
        done = (step - rise) / max(self.steps - rise, 1.0)
        return 0.01 + 0.99 * 0.5 * (1.0 + math.cos(math.pi * min(done, 1.0)))


@dataclass
class Trained:
    """What happened in training.

    Attributes
    ----------
    steps : int
        Steps that were made.
    best_step : int
        The one whose weights were kept.
    held_out : float
        Lowest held-out loss, that of the weights kept; NaN if there was none.
    history : list of dict
        A row for each look: step, running loss, held-out loss, learning rate and
        whatever ``watch`` returned.
    stopped_early : bool
    """

    steps: int = 0
    best_step: int = 0
    held_out: float = float("nan")
    history: list[dict[str, float]] = field(default_factory=list)
    stopped_early: bool = False

    @property
    def start(self) -> float:
        """Held-out loss before the first step; NaN if there was no look at it."""
        looks = (row["held_out"] for row in self.history if row["step"] == 0)
        return next(looks, math.nan)


@dataclass
class _Run:
    """A training run on its way, whose state is all that it needs to go on."""

    module: Any
    optimiser: Any
    weights: Average
    generator: Any
    report: Trained = field(default_factory=Trained)
    running: float = math.nan
    first: tuple[float, float] = (math.nan, math.nan)

    @property
    def _parts(self) -> dict[str, Any]:
        return {"module": self.module, "optimiser": self.optimiser, "weights": self.weights}

    def state(self) -> dict[str, Any]:
        return {
            **{name: part.state_dict() for name, part in self._parts.items()},
            "generator": self.generator.get_state(),
            "random": require_torch("training").random.get_rng_state(),
            "report": dict(vars(self.report)),
            "running": self.running,
            "first": list(self.first),
        }

    def take_up(self, state: dict[str, Any]) -> None:
        for name, part in self._parts.items():
            part.load_state_dict(state[name])
        self.generator.set_state(state["generator"].cpu())
        require_torch("training").random.set_rng_state(state["random"].cpu())
        self.running = float(state["running"])
        if state["report"].keys() != vars(self.report).keys():
            raise ValueError("another report")
        self.report = Trained(**state["report"])


def train(
    module: Any,
    loss: Callable[[Any], Any],
    *,
    rng: np.random.Generator,
    held_out: Callable[[], float] | None = None,
    settings: Training | None = None,
    watch: Callable[[], dict[str, float]] | None = None,
    begin: Callable[[int], None] | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train a module in place.

    Parameters
    ----------
    module : torch.nn.Module
        Holds every parameter to be trained.
    loss : callable
        ``loss(generator)`` draws a batch with a ``torch.Generator``, and with nothing
        else that is random, and returns the scalar to be lowered.
    rng : numpy Generator
        Seeds batches and whatever in the module is random.
    held_out : callable, optional
        Loss on rows that are not trained on; called without gradients, in
        evaluation mode and with the averaged weights. Without it, training runs to
        the end.
    settings : Training, optional
    watch : callable, optional
        Numbers to keep in the history and to show, found like ``held_out``, after it.
    begin : callable, optional
        Called with the number of every step before it is made, such as to draw fresh
        rows. What it does must depend on that number alone: a run that is taken up
        again calls it with 0 and then with the first step that is missing.
    progress : callable, optional
        Called with (done, total, what) at every look.

    Returns
    -------
    Trained
        The module holds the averaged weights with the lowest held-out loss.

    Raises
    ------
    FloatingPointError
        If the loss or its gradient is not finite, or the held-out loss never is.
    ValueError
        If a setting or the checkpoint does not fit.

    Examples
    --------
    A constant learns the mean of three numbers.

    >>> import numpy as np, torch
    >>> numbers = torch.tensor([1.0, 2.0, 6.0])
    >>> constant = torch.nn.Linear(1, 1, bias=False)
    >>> def loss(generator):
    ...     return ((constant(torch.ones(1, 1)) - numbers) ** 2).mean()
    >>> how = Training(steps=400, lr=0.1, weight_decay=0.0)
    >>> report = train(constant, loss, rng=np.random.default_rng(0), settings=how)
    >>> round(constant.weight.item(), 2), report.steps
    (3.0, 400)
    """
    how = settings or Training()
    how.check()
    module.to(how.device)
    parameters = [each for each in module.parameters() if each.requires_grad]
    optimiser = _adam(parameters, how)
    file = Checkpoint(how.checkpoint, how.device)

    def gradient(step: int) -> tuple[float, float]:
        """One backward pass; the loss, and the size of its gradient before clipping."""
        if begin is not None:
            begin(step)
        optimiser.zero_grad(set_to_none=True)
        value = loss(run.generator)
        now = value.item()
        _refuse_unless_finite(now, "loss", step)
        value.backward()
        size = clip_gradient(parameters, how.clip)
        _refuse_unless_finite(size, "gradient of the loss", step)
        return now, size

    with seeded(rng) as generator:
        run = _Run(module, optimiser, Average(module), generator)
        module.train()
        if file.exists:
            run.first = gradient(0)
            file.load(run.first, run.take_up)
        elif how.start and held_out is not None:
            _look(run, how, held_out, watch)
        report = run.report
        while report.steps < how.steps and not report.stopped_early:
            for group in optimiser.param_groups:
                group["lr"] = how.lr * how.rate(report.steps)
            now, size = gradient(report.steps)
            optimiser.step()
            if report.steps == 0:
                run.first, run.running = (now, size), now
            else:
                run.running = _RUNNING * run.running + (1 - _RUNNING) * now
            report.steps += 1
            # In the first steps the average is nearly the plain mean.
            run.weights.follow(min(how.average, report.steps / (report.steps + 10.0)))
            if report.steps % how.every == 0 or report.steps == how.steps:
                _look(run, how, held_out, watch)
                file.save(run.state())
                if progress is not None:
                    progress(report.steps, how.steps, _shown(report.history[-1]))
        optimiser.zero_grad(set_to_none=True)
    if held_out is not None and not math.isfinite(report.held_out):
        raise FloatingPointError(
            "the held-out loss must be finite; it was not at any look. Lower the learning rate "
            "(lr) or the largest gradient (clip)."
        )
    run.weights.settle(best=held_out is not None)
    module.eval()
    return report


def printed(name: str, verbose: int) -> Progress | None:
    """Progress of :func:`train` as lines of text, or None unless ``verbose``."""
    if not verbose:
        return None
    return lambda done, total, what: print(f"{name}: step {done} of {total}, {what}", flush=True)


def _shown(row: dict[str, float]) -> str:
    """One look in words."""
    names = [name for name in row if name not in ("step", "lr")]
    return ", ".join(f"{name.replace('_', ' ')} {row[name]:.4f}" for name in names)


def _adam(parameters: list[Any], how: Training) -> Any:
    """The optimiser, in one pass over the weights where torch has it."""
    adam = require_torch("training").optim.AdamW
    try:
        return adam(parameters, lr=how.lr, weight_decay=how.weight_decay, fused=True)
    except (RuntimeError, TypeError):
        return adam(parameters, lr=how.lr, weight_decay=how.weight_decay)


def clip_gradient(parameters: list[Any], most: float) -> float:
    """Shorten the gradient to a norm of at most ``most``; returns what the norm was."""
    torch = require_torch("training")
    gradients = [each.grad for each in parameters if each.grad is not None]
    if not gradients:
        return 0.0
    norm = torch.linalg.vector_norm
    size = float(norm(torch.stack([norm(each) for each in gradients])))
    if most < size < math.inf:
        for each in gradients:
            each.mul_(most / size)
    return size


def _refuse_unless_finite(value: float, what: str, step: int) -> None:
    if not math.isfinite(value):
        raise FloatingPointError(
            f"the {what} must be finite; received {value} at step {step + 1}. Lower the "
            "learning rate (lr) or the largest gradient (clip)."
        )


def _look(
    run: _Run,
    how: Training,
    held_out: Callable[[], float] | None,
    watch: Callable[[], dict[str, float]] | None,
) -> None:
    """Evaluate the averaged weights, and keep them if they are the best so far."""
    report = run.report
    row: dict[str, float] = {"step": report.steps, "loss": run.running}
    row["lr"] = how.lr * how.rate(max(report.steps - 1, 0))
    run.module.eval()
    with require_torch("training").no_grad(), run.weights.in_place():
        if held_out is not None:
            row["held_out"] = float(held_out())
            # Written so that the first finite loss is better than none.
            if math.isfinite(row["held_out"]) and not report.held_out <= row["held_out"]:
                report.held_out, report.best_step = row["held_out"], report.steps
                run.weights.keep()
        if watch is not None:
            row |= {name: float(value) for name, value in watch().items()}
    run.module.train()
    report.history.append(row)
    if held_out is None:
        report.best_step = report.steps
    else:
        waited = report.steps - report.best_step >= how.patience * how.every
        report.stopped_early = waited and report.steps < how.steps
