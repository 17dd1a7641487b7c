"""What every distribution of a problem has, and the checks that all of them share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..data.seeds import Seeds
from ..data.validation import as_rows, check_number
from ..typing import Array, RandomState


@runtime_checkable
class Distribution(Protocol):
    """A distribution over rows of ``dim`` numbers that can be sampled and evaluated.

    Examples
    --------
    >>> from isthmus import problems
    >>> p = problems.load("running-example").p  # a Distribution
    >>> p.dim, p.sample(3, rng=0).shape, p.log_density([[-1.0]]).shape
    (1, (3, 1), (1,))
    """

    @property
    def dim(self) -> int: ...

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` independent rows, shape (n, dim)."""
        ...

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,); -inf outside the support."""
        ...


class CheckedDistribution(ABC):
    """Base of the distributions here: arguments are checked once, then a subclass does the work."""

    dim: int

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` independent rows, shape (n, dim)."""
        return self._draw(as_generator(rng), as_count(n))

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,); -inf outside the support."""
        return self._log_density(as_points(x, self.dim))

    def nodes(self) -> tuple[Array, Array]:
        """Points, shape (m, dim), and weights that sum to one, for means by quadrature."""
        raise TypeError(f"there is no quadrature for {type(self).__name__}.")

    @abstractmethod
    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        """Rows, shape (n, dim)."""

    @abstractmethod
    def _log_density(self, points: Array) -> Array:
        """Log-density at points of shape (n, dim)."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim})"


def as_generator(rng: RandomState, stream: str = "sample") -> np.random.Generator:
    """Turn a seed into a generator of the named stream; a generator is used as it is.

    Without streams the samples of p and of q for one seed would be made of the same noise.

    Examples
    --------
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
    """Bring points to shape (n, dim); one-dimensional problems also take shape (n,)."""
    points = as_rows(x, "x", min_rows=0)
    if points.shape[1] != dim:
        rule = "(n,) or (n, 1)" if dim == 1 else f"(n, {dim})"
        raise ValueError(f"x must have shape {rule}; received {np.shape(x)}.")
    return points


def positive(value: float, argument: str) -> float:
    """Check a parameter that must be finite and above zero."""
    return check_number(value, argument, low=0, high=math.inf, open_low=True, open_high=True)


def frozen(values: Array) -> Array:
    """Make a read-only copy: distributions are shared, and a change would spoil a cached truth."""
    copy = np.array(values, dtype=np.float64)
    copy.setflags(write=False)
    return copy
