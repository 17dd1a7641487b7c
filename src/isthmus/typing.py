"""The shapes of the library's parts. This module imports nothing of the package.

Anything that has these methods can be used, whatever class it is: a new
auxiliary, critic, anchor or problem is one small file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None


@runtime_checkable
class Auxiliary(Protocol):
    """A distribution that joins p and q.

    An auxiliary whose density is known also has ``log_density(x) -> (n,)``;
    its logit is then fixed rather than learned. One that has ``n_samples`` is asked for so many.
    """

    def fit(self, p: Array, q: Array) -> Any: ...

    def sample(self, n: int, rng: np.random.Generator) -> Array: ...


@runtime_checkable
class SplitAuxiliary(Protocol):
    """An auxiliary that stands for several classes."""

    def split(self, n_columns: int) -> Sequence[Auxiliary]: ...


@runtime_checkable
class MixingAuxiliary(Protocol):
    """An auxiliary whose law follows from those of p and q."""

    def laws(
        self, mean_p: Array, cov_p: Array, mean_q: Array, cov_q: Array
    ) -> Sequence[tuple[Array, Array]]:
        """Means and covariances of the normals that the class is, in equal parts.

        For normal p and q; none where it is no such mixture.
        """
        ...


@runtime_checkable
class Mixing(Auxiliary, Protocol):
    """An auxiliary of which each row is made of a row of p and one of q."""

    def mix(self, x_p: Array, x_q: Array, rng: np.random.Generator) -> Array:
        """One row of each pair, shape (n, d)."""
        ...


@runtime_checkable
class Anchor(Protocol):
    """A density that a class's critic starts from; scikit-learn's mixtures are some.

    One may have more: ``components_``, that an auxiliary can be placed on; ``is_mixture``, true
    where its density is that of these; ``bias_``, of its log-density; ``rivals_``, others that fit
    about as well; and ``influence``, true where it is a normal by moments, so that what every row
    did to the fit has a formula.
    """

    def fit(self, X: Array) -> Any: ...

    def score_samples(self, X: Array) -> Array: ...


@runtime_checkable
class ColumnMap(Protocol):
    """An increasing map of the line onto the line, applied value by value.

    ``evaluate`` returns the values and the log-derivatives at once.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.maps import LogMap
    >>> column = LogMap(1.0)  # a ColumnMap
    >>> column(np.array([1.0])).tolist(), column.inverse(np.array([0.0])).tolist()
    ([0.0], [1.0])
    """

    def __call__(self, x: Array) -> Array: ...

    def inverse(self, z: Array) -> Array: ...

    def log_derivative(self, x: Array) -> Array: ...

    def evaluate(self, x: Array) -> tuple[Array, Array]: ...


@runtime_checkable
class Critic(Protocol):
    """What the functions h_c look like, before it is known where the classes lie.

    ``coordinates`` is "canonical", for critics that may mix columns, or
    "columns"; ``covariance`` is "full" or "diagonal" and says how much of a
    class's shape its frame should follow.
    """

    coordinates: str
    covariance: str

    def bind(self, frames: Sequence[Any]) -> BoundCritic: ...


@runtime_checkable
class PlacedCritic(Protocol):
    """A critic that is shown the rows of every class, p and q first, before it is bound."""

    def place(self, rows: Sequence[Array], rng: np.random.Generator) -> Critic: ...


@runtime_checkable
class LinearCritic(Protocol):
    """A critic that is linear in its parameters: h_c(x) = <theta_c, phi_c(x)>.

    ``expand`` turns parameters into whatever is quickest to apply to rows, once
    for each evaluation; ``values`` applies it to a chunk of rows. ``accumulate``
    and ``contract`` are their transposes: moments are added up over chunks and
    turned into a gradient once. The objective needs nothing else for value,
    gradient and Hessian product; ``features(X)``, a list of (n, n_features)
    arrays, gives it the dense Hessian too. The first parameter of each class is
    its constant.
    """

    n_features: int
    n_parameters: int

    def expand(self, theta: Array) -> Any: ...

    def values(self, raw: Any, X: Array) -> Array:
        """Critic of every learned class, shape (n, classes)."""
        ...

    def accumulator(self) -> Any: ...

    def accumulate(self, total: Any, R: Array, X: Array) -> None:
        """Add the moments of a chunk, for ``sum(R * values)``."""
        ...

    def contract(self, total: Any) -> Array:
        """Gradient from the accumulated moments, shape (n_parameters,)."""
        ...

    def features(self, X: Array) -> list[Array]:
        """Features of every learned class, each (n, n_features); for the dense Hessian only."""
        ...


@runtime_checkable
class BoundCritic(LinearCritic, Protocol):
    """A linear critic that is tied to the frames of the learned classes."""

    def normal_start(self) -> Array:
        """Parameters at which every class is the normal of its frame."""
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
