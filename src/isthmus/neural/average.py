"""The weights of a module in training, their moving average and the best average so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .lazy_torch import require_torch


class Average:
    """Follows the weights of a module.

    Parameters
    ----------
    module : torch.nn.Module
        Its parameters and buffers must be changed in place, as optimisers do: they
        are looked up once.
    """

    def __init__(self, module: Any) -> None:
        # These tensors share their memory with the module's.
        self.live: dict[str, Any] = module.state_dict()
        self.average = {name: value.clone() for name, value in self.live.items()}
        self.best = {name: value.clone() for name, value in self.live.items()}
        moving = [name for name, value in self.live.items() if value.is_floating_point()]
        self._pair = [self.average[name] for name in moving], [self.live[name] for name in moving]
        self._others = [name for name in self.live if name not in moving]

    def follow(self, share: float) -> None:
        """Move the average by a share of its distance to the weights."""
        torch = require_torch("training")
        if self._pair[0]:
            torch._foreach_lerp_(*self._pair, share)
        for name in self._others:
            self.average[name].copy_(self.live[name])

    def keep(self) -> None:
        """Remember the average as the best."""
        _copy(self.best, self.average)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the module have the averaged weights inside."""
        current = {name: value.clone() for name, value in self.live.items()}
        _copy(self.live, self.average)
        try:
            yield
        finally:
            _copy(self.live, current)

    def settle(self, *, best: bool) -> None:
        """Leave the module with the best or with the last average."""
        _copy(self.live, self.best if best else self.average)

    def state_dict(self) -> dict[str, Any]:
        """Both averages, for a checkpoint."""
        return {"average": self.average, "best": self.best}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up what :meth:`state_dict` returned."""
        for own, name in ((self.average, "average"), (self.best, "best")):
            shapes = {key: value.shape for key, value in state[name].items()}
            if shapes != {key: value.shape for key, value in own.items()}:
                raise ValueError("other weights")
            _copy(own, state[name])


def _copy(to: dict[str, Any], source: dict[str, Any]) -> None:
    with require_torch("training").no_grad():
        for name, value in to.items():
            value.copy_(source[name])
