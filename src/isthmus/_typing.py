"""The shapes of the library's parts. This module imports nothing of the package.

Anything that has these methods can be used, whatever class it is: a new
auxiliary, critic, anchor or problem is one small file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None


@runtime_checkable
class Auxiliary(Protocol):
    """A distribution that joins p and q.

    An auxiliary whose density is known also has ``log_density(x) -> (n,)``;
    its logit is then fixed rather than learned. One that stands for several
    classes also has ``split() -> sequence of auxiliaries``.
    """

    def fit(self, p: Array, q: Array) -> Any: ...

    def sample(self, n: int, rng: np.random.Generator) -> Array: ...


@runtime_checkable
class Anchor(Protocol):
    """A density that a class's critic starts from; scikit-learn's mixtures are some."""

    def fit(self, X: Array) -> Any: ...

    def score_samples(self, X: Array) -> Array: ...


@runtime_checkable
class LinearCritic(Protocol):
    """A critic that is linear in its parameters: h_c(x) = <theta, phi_c(x)>.

    ``values`` maps parameters to the critic of every learned class, and
    ``pullback`` is its transpose, so that the objective needs nothing else for
    value, gradient and Hessian product.
    """

    n_parameters: int

    def values(self, theta: Array, X: Array) -> Array:
        """Critic of every learned class, shape (n, classes)."""
        ...

    def pullback(self, R: Array, X: Array) -> Array:
        """Gradient of ``sum(R * values(theta, X))``, shape (n_parameters,)."""
        ...


@runtime_checkable
class Problem(Protocol):
    """A pair of distributions that knows its own truth."""

    name: str
    dim: int

    @property
    def kl(self) -> float: ...

    @property
    def kl_std_error(self) -> float: ...

    @property
    def auxiliaries(self) -> Sequence[Auxiliary]: ...

    def sample_p(self, n: int, rng: RandomState) -> Array: ...

    def sample_q(self, n: int, rng: RandomState) -> Array: ...

    def log_ratio(self, x: Array) -> Array: ...


AuxiliaryLike: TypeAlias = Auxiliary | Array | Iterable[Any] | str | None
