"""Finite mixtures of distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..typing import Array, RandomState
from .base import Distribution, as_count, as_generator, as_points
from .blocks import frozen


class Mixture:
    """A weighted mixture; every row picks its component independently.

    Parameters
    ----------
    components : sequence of Distribution
        Distributions of one dimension.
    weights : sequence of float, optional
        Positive weights, normalised to sum to one; equal by default.

    Examples
    --------
    >>> from isthmus.problems import Gaussian
    >>> two_humps = Mixture([Gaussian(-3.0), Gaussian(3.0)])
    >>> x = two_humps.sample(1000, rng=0)
    >>> bool(300 < (x > 0).sum() < 700)
    True
    """

    def __init__(
        self, components: Sequence[Distribution], weights: Sequence[float] | None = None
    ) -> None:
        self.components = tuple(components)
        if not self.components:
            raise ValueError("components must hold at least one distribution; received none.")
        dims = [component.dim for component in self.components]
        if len(set(dims)) > 1:
            raise ValueError(f"components must share one dim; received {dims}.")
        raw = np.ones(len(dims)) if weights is None else np.asarray(weights, dtype=np.float64)
        if raw.shape != (len(dims),) or not (np.isfinite(raw).all() and (raw > 0).all()):
            raise ValueError(
                f"weights must be {len(dims)} finite numbers above 0; received {weights!r}."
            )
        self.weights = frozen(raw / raw.sum())

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.components[0].dim

    @property
    def support(self) -> tuple[tuple[float, float], ...]:
        """Intervals where the density is positive, if every component knows its own."""
        parts: list[Any] = list(self.components)
        return tuple(sorted(interval for part in parts for interval in part.support))

    def sample(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows, shape (n, dim)."""
        generator, count = as_generator(rng), as_count(n)
        chosen = generator.choice(len(self.components), size=count, p=self.weights)
        x = np.empty((count, self.dim))
        for k, component in enumerate(self.components):
            rows = np.flatnonzero(chosen == k)
            x[rows] = component.sample(len(rows), generator)
        return x

    def log_density(self, x: npt.ArrayLike) -> Array:
        """Log-density of every row, shape (n,)."""
        points = as_points(x, self.dim)
        # logaddexp, unlike a shifted sum of exponentials, is silent where every
        # component is -inf.
        terms = [
            component.log_density(points) + log_weight
            for component, log_weight in zip(self.components, np.log(self.weights), strict=True)
        ]
        return np.asarray(np.logaddexp.reduce(terms, axis=0))

    def __repr__(self) -> str:
        return f"Mixture({list(self.components)!r})"
