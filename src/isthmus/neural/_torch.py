"""torch, imported when it is needed and never seeded globally."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def require_torch(what: str) -> Any:
    """Import torch, or say who needs it and how to get it.

    Parameters
    ----------
    what : str
        Who asks, such as "FDRE".
    """
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"{what} must have torch; it is not installed. Install it with: "
            "pip install 'isthmus[neural]'"
        ) from None
    return torch


@contextmanager
def seeded(rng: np.random.Generator) -> Iterator[Any]:
    """Draw torch's random numbers from a seed inside, and leave its global state as it was.

    Yields a ``torch.Generator`` with a seed of its own, for batches.
    """
    torch = require_torch("a neural network")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**63)))
        yield torch.Generator().manual_seed(int(rng.integers(2**63)))
