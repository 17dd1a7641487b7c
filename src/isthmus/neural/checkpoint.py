"""The state of a training run on disk: written whole or not at all, and never executed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .lazy_torch import require_torch

FORMAT = 1
# Sums in another order, as with another number of threads, move the last digits only.
_SAME = 1e-3


@dataclass(frozen=True)
class Checkpoint:
    """A file that a run writes and can be taken up from; with no path nothing is written."""

    path: str | os.PathLike[str] | None
    device: str = "cpu"

    @property
    def exists(self) -> bool:
        """Whether there is a run to go on with."""
        return self.path is not None and Path(self.path).exists()

    def save(self, state: dict[str, Any]) -> None:
        """Write a state: tensors, numbers, strings, and lists and dictionaries of these."""
        if self.path is None:
            return
        path = Path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(path.name + ".part")
        require_torch("training").save({"format": FORMAT, **state}, aside)
        aside.replace(path)

    def load(self, first: Sequence[float], take_up: Callable[[dict[str, Any]], None]) -> None:
        """Read the file and take its state up.

        ``first``, the loss and the size of the gradient in the first step, tells whether the
        file is of this run: data, seed and network show in it.
        """
        torch = require_torch("training")
        try:
            # weights_only: tensors and plain values are read, nothing is executed.
            state = torch.load(self.path, map_location=self.device, weights_only=True)
            if state["format"] != FORMAT:
                raise ValueError(f"format {state['format']}")
            of_this_run = all(
                math.isclose(a, b, rel_tol=_SAME, abs_tol=1e-12)
                for a, b in zip(state["first"], first, strict=True)
            )
            if of_this_run:
                take_up(state)
        except Exception as error:
            raise ValueError(
                "checkpoint must be a file that training of the same network wrote; received "
                f"{str(self.path)!r} ({type(error).__name__}). Delete it to start anew."
            ) from error
        if not of_this_run:
            raise ValueError(
                "checkpoint must be of a run with the same data, settings and random_state; "
                f"received {str(self.path)!r}, whose first step was another. Delete it to start "
                "anew."
            )
