r"""Smooth functions of several columns: kernel regression in directions that it finds itself.

.. math:: f(x) = \sum_j \alpha_j \exp\bigl(-\tfrac{1}{2 s} (x - c_j)^\top M (x - c_j)\bigr)

with centres c drawn from the rows, and a ridge. M begins with the identity; then it is the mean
outer product of the gradients of the fit before (Trivedi et al. 2014, "A consistent estimator of
the expected gradient outerproduct"; Radhakrishnan et al. 2024, "Mechanism for feature learning in
neural networks and backpropagation-free machine learning models"), so that columns and directions
which do not matter drop out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..typing import Array

# Centres of a fit; rows by which the metric is found, and those of them that judge.
_CENTRES, _SOUGHT, _JUDGES = 300, 4000, 4
# Squared scales, where the mean squared distance of two rows is one, and ridges.
_SCALES, _RIDGES = (0.1, 0.4, 1.6), (1e-6, 1e-4, 1e-2, 1.0)
# Rounds of finding the metric; what is added to it in every direction; rows of a gradient.
_ROUNDS, _EVEN, _GRADIENTS = 3, 1e-3, 1000
# A round that does not lower the error by this share is the last.
_LESS = 0.01
# More columns than this are not tried.
MOST_COLUMNS = 30


@dataclass(frozen=True)
class Surface:
    """Settings of a kernel regression, and how to fit one.

    Attributes
    ----------
    root : ndarray of shape (d, d)
        A root of the metric, for columns in their own units.
    scale : float
        Squared scale of the kernel; the mean squared distance of two rows is one.
    ridge : float
    whole : bool
        Whether it is for a column itself, rather than for what a regression on splines leaves over.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(2000, 6))
    >>> y = np.sin(2.0 * (x[:, 0] + x[:, 1]))
    >>> found = Surface.sought(x, y + 0.1 * rng.normal(size=2000))
    >>> bool(np.mean((found.fit(x, y)(x) - y) ** 2) < 0.02)
    True
    """

    root: Array
    scale: float
    ridge: float
    whole: bool = False

    name = "surfaces"

    @classmethod
    def sought(cls, inputs: Array, target: Array) -> Surface:
        """The settings that rows which are left out prefer."""
        inputs, target = inputs[:_SOUGHT], target[:_SOUGHT]
        judges = np.arange(len(target)) % _JUDGES == 0
        known, asked = (inputs[~judges], target[~judges]), (inputs[judges], target[judges])
        spread = inputs.std(axis=0)
        root = np.diag(1.0 / np.where(spread > 0, spread, 1.0))
        best, least = None, np.inf
        for _ in range(_ROUNDS):
            found, error = _chosen(_scaled(root, inputs), known, asked)
            if best is not None and error > (1.0 - _LESS) * least:
                break
            best, least = found, error
            root = _gradient_root(found, *known)
        assert best is not None
        return best

    def fit(self, inputs: Array, target: Array) -> Fitted:
        """The function of rows like the inputs that is nearest to the target."""
        middle = float(target.mean())
        centres = _drawn(inputs) @ self.root.T
        K = _kernel(inputs @ self.root.T, centres, self.scale)
        solved = _solutions(K, _kernel(centres, centres, self.scale), target - middle, [self.ridge])
        return Fitted(self, centres, solved[0], middle)


@dataclass(frozen=True)
class Fitted:
    """A fitted function."""

    surface: Surface
    centres: Array
    weights: Array
    middle: float

    def __call__(self, inputs: Array) -> Array:
        own = inputs @ self.surface.root.T
        return np.asarray(
            _kernel(own, self.centres, self.surface.scale) @ self.weights + self.middle
        )

    def gradients(self, inputs: Array) -> Array:
        """Gradients at rows, in the columns' own units."""
        own = inputs @ self.surface.root.T
        K = _kernel(own, self.centres, self.surface.scale) * self.weights
        slopes = (K @ self.centres - K.sum(axis=1)[:, None] * own) / self.surface.scale
        return np.asarray(slopes @ self.surface.root)


def _chosen(
    root: Array, known: tuple[Array, Array], asked: tuple[Array, Array]
) -> tuple[Surface, float]:
    """Scale and ridge in one metric, and the mean squared error of the rows that are asked."""
    x, target = known
    middle = float(target.mean())
    centres, here, there = (one @ root.T for one in (_drawn(x), x, asked[0]))
    best, least = Surface(root, _SCALES[0], _RIDGES[0]), np.inf
    for scale in _SCALES:
        K, own = _kernel(here, centres, scale), _kernel(centres, centres, scale)
        at = _kernel(there, centres, scale)
        for ridge, weights in zip(
            _RIDGES, _solutions(K, own, target - middle, _RIDGES), strict=True
        ):
            error = float(np.mean((asked[1] - middle - at @ weights) ** 2))
            if error < least:
                best, least = replace(best, scale=scale, ridge=ridge), error
    return best, least


def _gradient_root(surface: Surface, inputs: Array, target: Array) -> Array:
    """Root of the mean outer product of the gradients of a fit."""
    slopes = surface.fit(inputs, target).gradients(inputs[:_GRADIENTS])
    spread = inputs.std(axis=0)
    # In units in which columns are even, so that what is added is even, too.
    slopes = slopes * spread
    outer = slopes.T @ slopes / len(slopes)
    level = float(np.trace(outer)) / len(outer)
    values, directions = np.linalg.eigh(outer)
    roots = np.sqrt(np.maximum(values, 0.0) + _EVEN * max(level, 1e-300))
    return np.asarray((roots[:, None] * directions.T) / np.where(spread > 0, spread, 1.0))


def _scaled(root: Array, inputs: Array) -> Array:
    """The same root where the mean squared distance of two rows is one."""
    mean = 2.0 * float((inputs @ root.T).var(axis=0).sum())
    return root / np.sqrt(mean) if mean > 0 else root


def _drawn(inputs: Array) -> Array:
    """Rows that serve as centres."""
    order = np.random.default_rng(0).permutation(len(inputs))
    return inputs[np.sort(order[:_CENTRES])]


def _kernel(a: Array, b: Array, scale: float) -> Array:
    distance = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
    return np.asarray(np.exp(np.maximum(distance, 0.0) * (-0.5 / scale)))


def _solutions(K: Array, own: Array, target: Array, ridges: Sequence[float]) -> Array:
    """Weights of the centres for every ridge; the penalty is the norm of the function."""
    gram, right = K.T @ K, K.T @ target
    # The least ridge that keeps the equations solvable.
    jitter = 1e-10 * float(np.trace(gram)) / len(gram)
    out = []
    for ridge in ridges:
        left = gram + ridge * own
        left[np.diag_indices_from(left)] += jitter
        out.append(np.linalg.solve(left, right))
    return np.array(out)
