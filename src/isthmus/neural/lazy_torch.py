"""torch, imported when it is needed and never seeded globally."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

# torch has one state of its generator for all threads.
_ONE_AT_A_TIME = threading.RLock()


def require_torch(what: str) -> Any:
    """Import torch, or say who needs it, such as "FDRE", and how to get it."""
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

    Yields a ``torch.Generator`` with a seed of its own, for batches. Other threads wait
    until it is over.

    Examples
    --------
    >>> import numpy as np, torch
    >>> before = torch.random.get_rng_state()
    >>> with seeded(np.random.default_rng(0)):
    ...     a = torch.rand(1)
    >>> with seeded(np.random.default_rng(0)):
    ...     b = torch.rand(1)
    >>> bool(a == b), torch.equal(before, torch.random.get_rng_state())
    (True, True)
    """
    torch = require_torch("a neural network")
    # Not torch.manual_seed: it would also seed devices whose state is not put back.
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with _ONE_AT_A_TIME, torch.random.fork_rng(devices=devices):
        seed = int(rng.integers(2**63))
        torch.random.default_generator.manual_seed(seed)
        if devices:
            torch.cuda.manual_seed_all(seed)
        yield torch.Generator().manual_seed(int(rng.integers(2**63)))
