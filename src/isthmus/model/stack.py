"""The stack: the paper's regression one level up, on the critics of several candidates.

Every candidate k has a critic h_c^k for each class, known at rows that it was not fitted to. The
critics of the stack are ::

    h_c(x) = sum_k a_k h_c^k(x) + b_c,    a_k >= 0,

and a and b minimise the multinomial objective over the rows of all classes, with a ridge that pulls
a towards the best candidate alone: it is the anchor, and what the others add is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.blocks import MemoryBlocks
from ..data.sample import Sample
from ..typing import Array
from .objective import Objective
from .solvers import Solution, lbfgs

# The standard deviation of a coefficient around its start, before rows have said anything.
_SPREAD = 0.5
# Constants are features of this size, so that the ridge hardly holds them.
_CONSTANT = 10.0


class SharedCritic:
    """A linear critic whose coefficients are those of candidates, the same for all classes.

    "Rows" are critics of the candidates, written out class by class.

    Parameters
    ----------
    candidates, classes : int
        Their numbers.
    """

    def __init__(self, candidates: int, classes: int) -> None:
        self.n_parameters = candidates + classes
        self.candidates, self.classes = candidates, classes

    def expand(self, theta: Array) -> Array:
        """The parameters as they are."""
        return theta

    def values(self, raw: Array, X: Array) -> Array:
        """Critics of all classes at rows, shape (n, classes)."""
        critics = X.reshape(len(X), self.classes, self.candidates)
        return np.asarray(
            critics @ raw[: self.candidates] + _CONSTANT * raw[None, self.candidates :]
        )

    def accumulator(self) -> Array:
        """Zeros for sums."""
        return np.zeros(self.n_parameters)

    def accumulate(self, total: Array, R: Array, X: Array) -> None:
        """Add the products of residuals and critics."""
        critics = X.reshape(len(X), self.classes, self.candidates)
        total[: self.candidates] += np.einsum("nc,nck->k", R, critics)
        total[self.candidates :] += _CONSTANT * R.sum(axis=0)

    def contract(self, total: Array) -> Array:
        """The sums as they are."""
        return total


@dataclass(frozen=True)
class Stack:
    """Coefficients of candidates and a constant for every class.

    Attributes
    ----------
    coefficients : ndarray of shape (K,)
        Not negative.
    constants : ndarray of shape (classes,)
    solution : Solution
        How the solver ended.
    """

    coefficients: Array
    constants: Array
    solution: Solution

    def __call__(self, critics: Array) -> Array:
        """Critics of all classes, from those of the candidates, (n, classes, K)."""
        return np.asarray(critics @ self.coefficients + self.constants)


def fit_stack(
    critics: Sequence[Array],
    shares: Sequence[Array],
    start: Array,
    rows: float,
) -> Stack:
    """Fit the coefficients.

    Parameters
    ----------
    critics : sequence of ndarray of shape (n_c, classes, K)
        For the rows of every class, the critics of all classes by each candidate.
    shares : sequence of ndarray of shape (n_c,)
        Weights of these rows within their class; they add up to one.
    start : ndarray of shape (K,)
        The coefficients that the ridge pulls to.
    rows : float
        How many independent rows there are.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0.5, 1, 5000), rng.normal(-0.5, 1, 5000)  # log p/q at x is x
    >>> critics = [
    ...     np.stack([[x, np.cos(9 * x)], [0 * x, 0 * x]]).transpose(2, 0, 1) for x in (p, q)
    ... ]
    >>> found = fit_stack(critics, [np.full(5000, 1 / 5000)] * 2, np.array([0.0, 0.0]), 10000)
    >>> found.coefficients.round(1)
    array([1., 0.])
    """
    classes, count = len(critics), len(start)
    blocks = MemoryBlocks(
        classes=[
            Sample(one.reshape(len(one), -1), rows / classes * share)
            for one, share in zip(critics, shares, strict=True)
        ],
        offsets=[one @ start for one in critics],
        log_prior=np.full(classes, -np.log(classes)),
        learned=np.ones(classes, dtype=bool),
    )
    # L-BFGS asks for no features, which is all that this critic lacks.
    critic: Any = SharedCritic(count, classes)
    objective = Objective(critic, blocks, 1.0 / _SPREAD**2)
    lower = np.r_[-start, np.full(classes, -np.inf)]
    found = lbfgs(objective, np.zeros(count + classes), tol=1e-7, max_iter=500, lower=lower)
    return Stack(
        np.maximum(start + found.theta[:count], 0.0), _CONSTANT * found.theta[count:], found
    )
