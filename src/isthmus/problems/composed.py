"""Distributions made of others, independent parts or components, and the simplest parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..typing import Array
from .base import CheckedDistribution, Distribution, frozen

# log u of the quantiles that stand for a margin; beyond, no margin here has mass that counts.
_DEEPEST = 200


class Margin(CheckedDistribution):
    """A one-dimensional distribution of :mod:`scipy.stats`.

    Parameters
    ----------
    name : str
        Its name there.
    *args, **kwargs
        Its parameters.

    Examples
    --------
    >>> gamma = Margin("gamma", 2.0)
    >>> gamma.sample(3, rng=0).shape
    (3, 1)
    >>> gamma.log_density([1.0, -1.0])
    array([ -1., -inf])
    """

    dim = 1

    def __init__(self, name: str, *args: float, **kwargs: float) -> None:
        from scipy import stats

        self.name = name
        self.law: Any = getattr(stats, name)(*args, **kwargs)

    def nodes(self) -> tuple[Array, Array]:
        """Gauss nodes in the log of the quantile."""
        t, weight = np.polynomial.legendre.leggauss(10)
        depth = (np.arange(_DEEPEST)[:, None] + 0.5 * (t + 1)).ravel()
        u = 0.5 * np.exp(-depth)
        x = np.concatenate([self.law.ppf(u), self.law.isf(u)])
        low, high = self.law.support()
        inside = (x > low) & (x < high)  # the deepest round to the ends
        return x[inside, None], np.tile(0.5 * np.tile(weight, _DEEPEST) * u, 2)[inside]

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        return np.asarray(self.law.rvs(size=(n, 1), random_state=generator))

    def _log_density(self, points: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(self.law.logpdf(points[:, 0]))

    def __repr__(self) -> str:
        return f"Margin({self.name!r})"


class Point(CheckedDistribution):
    """A column that always has one value; its density counts points.

    Examples
    --------
    >>> Point(0.0).log_density([0.0, 1.0])
    array([  0., -inf])
    """

    dim = 1

    def __init__(self, value: float) -> None:
        self.value = float(value)

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        return np.full((n, 1), self.value)

    def _log_density(self, points: Array) -> Array:
        return np.where(points[:, 0] == self.value, 0.0, -math.inf)


class Product(CheckedDistribution):
    """Independent parts side by side.

    Parameters
    ----------
    parts : sequence of Distribution
        Their columns follow each other.

    Examples
    --------
    >>> mixed = Product([Point(1.0), Margin("gamma", 2.0), Margin("beta", 2.0, 5.0)])
    >>> mixed.sample(4, rng=0).shape
    (4, 3)
    """

    def __init__(self, parts: Sequence[Distribution]) -> None:
        self.parts = tuple(parts)
        self.dims = [part.dim for part in self.parts]
        self.dim = sum(self.dims)

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        return np.concatenate([part.sample(n, generator) for part in self.parts], axis=1)

    def _log_density(self, points: Array) -> Array:
        columns = np.split(points, np.cumsum(self.dims)[:-1], axis=1)
        terms = [part.log_density(c) for part, c in zip(self.parts, columns, strict=True)]
        with np.errstate(invalid="ignore"):  # of two ends, one may be 0 and the other infinite
            return np.asarray(np.sum(terms, axis=0))


class Mixture(CheckedDistribution):
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
        self.dim = dims[0]

    @property
    def support(self) -> tuple[tuple[float, float], ...]:
        """Intervals where the density is positive, if every component knows its own."""
        parts: list[Any] = list(self.components)
        return tuple(sorted(interval for part in parts for interval in part.support))

    def nodes(self) -> tuple[Array, Array]:
        """Nodes of all components."""
        components: list[Any] = list(self.components)
        points, weights = zip(*(component.nodes() for component in components), strict=True)
        scaled = [share * weight for share, weight in zip(self.weights, weights, strict=True)]
        return np.concatenate(points), np.concatenate(scaled)

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        chosen = generator.choice(len(self.components), size=n, p=self.weights)
        x = np.empty((n, self.dim))
        for k, component in enumerate(self.components):
            rows = np.flatnonzero(chosen == k)
            x[rows] = component.sample(len(rows), generator)
        return x

    def _log_density(self, points: Array) -> Array:
        # logaddexp, unlike a shifted sum of exponentials, is silent where every
        # component is -inf.
        terms = [
            component.log_density(points) + log_weight
            for component, log_weight in zip(self.components, np.log(self.weights), strict=True)
        ]
        return np.asarray(np.logaddexp.reduce(terms, axis=0))

    def __repr__(self) -> str:
        return f"Mixture({list(self.components)!r})"
