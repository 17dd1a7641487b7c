"""What every distribution of a problem has, and the two checks that all of them share."""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..data.seeds import Seeds
from ..data.validation import as_rows, check_number
from ..typing import Array, RandomState


@runtime_checkable
class Distribution(Protocol):
    """A distribution over rows of ``dim`` numbers that can be sampled and evaluated."""

    @property
    def dim(self) -> int: ...

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` independent rows, shape (n, dim)."""
        ...

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,); -inf outside the support."""
        ...


def as_generator(rng: RandomState, stream: str = "sample") -> np.random.Generator:
    """Turn anything that seeds into a generator.

    Parameters
    ----------
    rng : int, numpy.random.Generator, numpy.random.RandomState or None
        A generator is used as it is and moves on; anything else is a seed.
    stream : str
        Name of an independent stream below the seed. Without it the samples of
        p and of q for one seed would be made of the same noise.

    Examples
    --------
    >>> as_generator(0, "p").random() == as_generator(0, "p").random()
    True
    >>> as_generator(0, "p").random() == as_generator(0, "q").random()
    False
    """
    if isinstance(rng, np.random.Generator):
        return rng
    try:
        return Seeds(rng)(f"problems/{stream}")
    except ValueError:
        raise ValueError(
            f"rng must be a non-negative integer, a numpy generator or None; received {rng!r}."
        ) from None


def as_count(n: int) -> int:
    """Check a number of rows."""
    return int(check_number(n, "n", low=0, integer=True))


def as_points(x: npt.ArrayLike, dim: int) -> Array:
    """Bring points to shape (n, dim); one-dimensional problems also take shape (n,).

    Examples
    --------
    >>> as_points([0.0, 1.0, 2.0], dim=1).shape
    (3, 1)
    """
    points = as_rows(x, "x", min_rows=0)
    if points.shape[1] != dim:
        rule = "(n,) or (n, 1)" if dim == 1 else f"(n, {dim})"
        raise ValueError(f"x must have shape {rule}; received {np.shape(x)}.")
    return points


def positive(value: float, argument: str) -> float:
    """Check a parameter that must be finite and above zero."""
    return check_number(value, argument, low=0, high=math.inf, open_low=True, open_high=True)
