"""One source of randomness per call, with named children.

Every part that draws gets a generator of its own, so that adding a draw in one
part changes no draw in another.
"""

from __future__ import annotations

import numbers
import zlib

import numpy as np

from ..typing import RandomState


class Seeds:
    """Named, independent generators made from one ``random_state``.

    Parameters
    ----------
    random_state : int, numpy Generator or RandomState, or None
        An int gives the same draws each time. A generator is drawn from once,
        so that passing it again gives other draws. None takes fresh entropy.

    Examples
    --------
    >>> seeds = Seeds(0)
    >>> bool(seeds("split").integers(100) == Seeds(0)("split").integers(100))
    True
    """

    def __init__(self, random_state: RandomState = None) -> None:
        if random_state is None:
            entropy = [int(word) for word in np.random.SeedSequence().generate_state(4)]
        elif isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
            if random_state < 0:
                raise ValueError(
                    f"random_state must be a non-negative integer, a numpy generator or None; "
                    f"received {random_state!r}."
                )
            entropy = [int(random_state)]
        elif isinstance(random_state, np.random.Generator):
            entropy = [int(word) for word in random_state.integers(2**32, size=4)]
        elif isinstance(random_state, np.random.RandomState):
            entropy = [int(word) for word in random_state.randint(2**31, size=4)]
        else:
            raise ValueError(
                f"random_state must be a non-negative integer, a numpy generator or None; "
                f"received {random_state!r}."
            )
        self.entropy = entropy

    def __call__(self, name: str) -> np.random.Generator:
        """Return the generator of that name: always the same one for the same name."""
        return np.random.default_rng([*self.entropy, zlib.crc32(name.encode())])
