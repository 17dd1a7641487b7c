"""The state of a training run on disk: written whole or not at all, and never executed."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .lazy_torch import require_torch

FORMAT = 1
# Sums in another order, as with another number of threads, move the last digits only.
_SAME = 1e-3


@dataclass(frozen=True)
class Checkpoint:
    """A file that a run writes and can be taken up from.

    Parameters
    ----------
    path : path or None
        None for no file: nothing is then written or read.
    device : str
        Where the tensors belong.
    """

    path: str | os.PathLike[str] | None
    device: str = "cpu"

    @property
    def exists(self) -> bool:
        """Whether there is a run to go on with."""
        return self.path is not None and Path(self.path).exists()

    def save(self, parts: dict[str, Any], **plain: Any) -> None:
        """Write the states of parts that have one, and plain values.

        Parameters
        ----------
        parts : dict
            Objects with ``state_dict()``, by name, and "generator".
        **plain
            Tensors, numbers, strings and lists and dictionaries of these.
        """
        if self.path is None:
            return
        torch = require_torch("training")
        state = {name: part.state_dict() for name, part in parts.items() if name != "generator"}
        state["generator"] = parts["generator"].get_state()
        state["random"] = torch.random.get_rng_state()
        path = Path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(path.name + ".part")
        torch.save({"format": FORMAT, **state, **plain}, aside)
        aside.replace(path)

    def load(self, parts: dict[str, Any], first: tuple[float, float], report: Any) -> float:
        """Read the file into the parts and the report; returns the running loss.

        Parameters
        ----------
        parts : dict
            As in :meth:`save`.
        first : tuple of two floats
            Loss and size of the gradient in the first step. They tell whether the
            file is of this run: data, seed and network show in them.
        report : Trained
            Gets its attributes.
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
            running = math.nan
            if of_this_run:
                running = float(state["running"])
                for name, part in parts.items():
                    if name != "generator":
                        part.load_state_dict(state[name])
                parts["generator"].set_state(state["generator"].cpu())
                torch.random.set_rng_state(state["random"].cpu())
                if state["report"].keys() != vars(report).keys():
                    raise ValueError("another report")
                vars(report).update(state["report"])
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
        return running
