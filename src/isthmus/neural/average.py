"""The weights of a module in training, their moving average and the best average so far."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .lazy_torch import require_torch


class Average:
    """Follows the weights of a module, which are changed in place, as optimisers do.

    The step is that of torch's ``AveragedModel``, which looks up all tensors again each time:
    that would take a tenth of the time of a small network's training.
    """

    def __init__(self, module: Any) -> None:
        self.module = module
        self.average, self.best = copy.deepcopy(module), copy.deepcopy(module)
        # Each tensor once, also where two parts of the module share it.
        pairs = list(zip(_tensors(self.average), _tensors(module), strict=True))
        self._counters = [pair for pair in pairs if not pair[0].is_floating_point()]
        weights = [pair for pair in pairs if pair[0].is_floating_point()]
        self._weights = [average for average, _ in weights], [now for _, now in weights]

    def follow(self, decay: float) -> None:
        """Multiply the average by a decay, and add the weights times the rest of one."""
        if self._weights[0]:
            move = require_torch("training").optim.swa_utils.get_ema_multi_avg_fn(decay)
            move(*self._weights, None)
        for average, now in self._counters:
            average.copy_(now)

    def keep(self) -> None:
        """Remember the average as the best."""
        self.best.load_state_dict(self.average.state_dict())

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the module have the averaged weights inside."""
        current = copy.deepcopy(self.module.state_dict())
        self.settle(best=False)
        try:
            yield
        finally:
            self.module.load_state_dict(current)

    def settle(self, *, best: bool) -> None:
        """Leave the module with the best or with the last average."""
        self.module.load_state_dict((self.best if best else self.average).state_dict())

    def state_dict(self) -> dict[str, Any]:
        return {"average": self.average.state_dict(), "best": self.best.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.average.load_state_dict(state["average"])
        self.best.load_state_dict(state["best"])


def _tensors(module: Any) -> list[Any]:
    return [*module.parameters(), *module.buffers()]
