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
from pathlib import Path
from typing import Any

import numpy as np

from .._validation import check_number
from ._torch import require_torch, seeded

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
    checkpoint : path, optional
        File to write at every look; a run whose file is there goes on from it.
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
    checkpoint: str | os.PathLike[str] | None = None
    device: str = "cpu"

    def check(self) -> None:
        """Refuse settings that do not fit."""
        for name in ("steps", "every", "patience"):
            check_number(getattr(self, name), name, low=1, integer=True)
        for name in ("lr", "clip"):
            check_number(getattr(self, name), name, low=0, open_low=True)
        check_number(self.weight_decay, "weight_decay", low=0)
        check_number(self.average, "average", low=0, high=1, open_high=True)
        check_number(self.warmup, "warmup", low=0, high=1, open_high=True)

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


def train(
    module: Any,
    loss: Callable[[Any], Any],
    *,
    rng: np.random.Generator,
    held_out: Callable[[], float] | None = None,
    settings: Training | None = None,
    watch: Callable[[], dict[str, float]] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Trained:
    """Train a module in place.

    Parameters
    ----------
    module : torch.nn.Module
        Holds every parameter to be trained.
    loss : callable
        ``loss(generator)`` draws a batch with a ``torch.Generator`` and returns
        the scalar to be lowered.
    rng : numpy Generator
        Seeds batches and whatever in the module is random.
    held_out : callable, optional
        Loss on rows that are not trained on; called without gradients, in
        evaluation mode and with the averaged weights. Without it, training runs to
        the end.
    settings : Training, optional
    watch : callable, optional
        Numbers to keep in the history, found like ``held_out``.
    progress : callable, optional
        Called with (done, total, what) at every look.

    Returns
    -------
    Trained
        The module holds the averaged weights with the lowest held-out loss.

    Raises
    ------
    FloatingPointError
        If the loss is not finite.
    """
    torch = require_torch("training")
    how = settings or Training()
    how.check()
    module.to(how.device)
    optimiser = torch.optim.AdamW(
        [each for each in module.parameters() if each.requires_grad],
        lr=how.lr,
        weight_decay=how.weight_decay,
    )
    report, running = Trained(), math.nan
    average = _copy(module)
    best = _copy(module)
    with seeded(rng) as generator:
        state = _resume(how, module, optimiser, generator, average, best)
        if state is not None:
            report, running = state
        module.train()
        while report.steps < how.steps and not report.stopped_early:
            for group in optimiser.param_groups:
                group["lr"] = how.lr * how.rate(report.steps)
            optimiser.zero_grad(set_to_none=True)
            value = loss(generator)
            value.backward()
            if math.isfinite(how.clip):
                torch.nn.utils.clip_grad_norm_(module.parameters(), how.clip)
            optimiser.step()
            report.steps += 1
            _follow(average, module, how, report.steps)
            now = float(value.detach())
            if not math.isfinite(now):
                raise FloatingPointError(
                    f"the loss must be finite; received {now} at step {report.steps}. Lower the "
                    "learning rate (lr) or the largest gradient (clip)."
                )
            running = now if math.isnan(running) else _RUNNING * running + (1 - _RUNNING) * now
            if report.steps % how.every == 0 or report.steps == how.steps:
                _look(module, average, best, report, how, held_out, watch, running)
                _save(how, module, optimiser, generator, average, best, report, running)
                if progress is not None:
                    shown = f"loss {running:.4f}"
                    if held_out is not None:
                        shown += f", held out {report.history[-1]['held_out']:.4f}"
                    progress(report.steps, how.steps, shown)
    _load(module, best if held_out is not None else average)
    module.eval()
    return report


def _look(
    module: Any,
    average: dict[str, Any],
    best: dict[str, Any],
    report: Trained,
    how: Training,
    held_out: Callable[[], float] | None,
    watch: Callable[[], dict[str, float]] | None,
    running: float,
) -> None:
    """Evaluate the averaged weights, and keep them if they are the best so far."""
    torch = require_torch("training")
    row: dict[str, float] = {"step": report.steps, "loss": running}
    row["lr"] = how.lr * how.rate(report.steps)
    current = _copy(module)
    _load(module, average)
    module.eval()
    with torch.no_grad():
        if held_out is not None:
            row["held_out"] = float(held_out())
            if not report.held_out <= row["held_out"]:
                report.held_out, report.best_step = row["held_out"], report.steps
                for name, value in average.items():
                    best[name].copy_(value)
        if watch is not None:
            row |= watch()
    _load(module, current)
    module.train()
    report.history.append(row)
    if held_out is not None:
        report.stopped_early = report.steps - report.best_step >= how.patience * how.every
    else:
        report.best_step = report.steps


def _copy(module: Any) -> dict[str, Any]:
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def _load(module: Any, state: dict[str, Any]) -> None:
    module.load_state_dict(state)


def _follow(average: dict[str, Any], module: Any, how: Training, step: int) -> None:
    """Move the average towards the weights; in the first steps it is nearly their mean."""
    torch = require_torch("training")
    decay = min(how.average, step / (step + 10.0)) if how.average else 0.0
    with torch.no_grad():
        for name, value in module.state_dict().items():
            if value.is_floating_point():
                average[name].lerp_(value, 1.0 - decay)
            else:
                average[name].copy_(value)


def _save(
    how: Training,
    module: Any,
    optimiser: Any,
    generator: Any,
    average: dict[str, Any],
    best: dict[str, Any],
    report: Trained,
    running: float,
) -> None:
    """Write the checkpoint: whole or not at all."""
    if how.checkpoint is None:
        return
    torch = require_torch("training")
    path = Path(how.checkpoint)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".part")
    torch.save(
        {
            "module": module.state_dict(),
            "optimiser": optimiser.state_dict(),
            "generator": generator.get_state(),
            "random": torch.random.get_rng_state(),
            "average": average,
            "best": best,
            "report": dict(vars(report)),
            "running": running,
        },
        aside,
    )
    aside.replace(path)


def _resume(
    how: Training,
    module: Any,
    optimiser: Any,
    generator: Any,
    average: dict[str, Any],
    best: dict[str, Any],
) -> tuple[Trained, float] | None:
    """Take up a checkpoint, if there is one; nothing in the file is executed."""
    if how.checkpoint is None or not Path(how.checkpoint).exists():
        return None
    torch = require_torch("training")
    try:
        state = torch.load(how.checkpoint, map_location=how.device, weights_only=True)
        module.load_state_dict(state["module"])
        optimiser.load_state_dict(state["optimiser"])
        generator.set_state(state["generator"].cpu())
        torch.random.set_rng_state(state["random"].cpu())
        for own, kept in ((average, state["average"]), (best, state["best"])):
            for name in own:
                own[name].copy_(kept[name])
        return Trained(**state["report"]), float(state["running"])
    except Exception as error:
        raise ValueError(
            f"checkpoint must be a file that training of the same module wrote; received "
            f"{str(how.checkpoint)!r} ({type(error).__name__}). Delete it to start anew."
        ) from error
