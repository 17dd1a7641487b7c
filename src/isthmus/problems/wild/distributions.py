"""Distributions that only these problems use."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special

from ...typing import Array, BoolArray
from ..base import CheckedDistribution, Distribution, frozen, positive

# Rows whose parts add up to one within this are on the simplex.
_ROUNDING = 1e-9


class Population(CheckedDistribution):
    """Finitely many rows, each with a probability; its density counts rows.

    Parameters
    ----------
    rows : array of shape (n, dim)
        A row that comes twice has the sum of its probabilities.
    weights : array of shape (n,)
        Positive, and proportional to the probabilities.

    Examples
    --------
    >>> pair = Population([[0.0], [1.0]], [1.0, 3.0])
    >>> np.exp(pair.log_density([[0.0], [1.0], [0.5]]))
    array([0.25, 0.75, 0.  ])
    """

    def __init__(self, rows: Any, weights: Any) -> None:
        self.rows = frozen(np.asarray(rows, dtype=np.float64) + 0.0)  # no minus zero
        self.raw = frozen(weights)
        self.dim = self.rows.shape[1]
        self.weights = frozen(self.raw / self.raw.sum())
        mass: dict[bytes, float] = {}
        for row, weight in zip(self.rows, self.weights, strict=True):
            mass[row.tobytes()] = mass.get(row.tobytes(), 0.0) + float(weight)
        self.log_mass = {key: math.log(value) for key, value in mass.items()}

    def nodes(self) -> tuple[Array, Array]:
        """Return the rows and their probabilities."""
        return self.rows, self.weights

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        return np.array(self.rows[generator.choice(len(self.rows), size=n, p=self.weights)])

    def _log_density(self, points: Array) -> Array:
        found = [self.log_mass.get(row.tobytes(), -math.inf) for row in points + 0.0]
        return np.array(found, dtype=np.float64)


class Region(CheckedDistribution):
    """Uniform over a part of a box.

    Parameters
    ----------
    low, high : sequences of float
        The box.
    inside : callable, optional
        ``inside(rows) -> bool``, asked only for rows of the box; None is all of it.
    share : float
        Share of the box that is inside.

    Examples
    --------
    >>> half = Region([0.0], [2.0])
    >>> half.log_density([1.0, 3.0]).round(4)
    array([-0.6931,    -inf])
    """

    def __init__(
        self,
        low: Sequence[float],
        high: Sequence[float],
        inside: Callable[[Array], BoolArray] | None = None,
        share: float = 1.0,
    ) -> None:
        self.low, self.high = frozen(np.array(low)), frozen(np.array(high))
        self.dim, self.inside = len(self.low), inside
        self.log_volume = float(np.log(self.high - self.low).sum() + math.log(share))

    def nodes(self) -> tuple[Array, Array]:
        """Gauss nodes in 256 pieces of an interval."""
        if self.dim > 1 or self.inside is not None:
            raise TypeError("nodes of a region are for intervals.")
        t, weight = np.polynomial.legendre.leggauss(16)
        u = (np.arange(256)[:, None] + 0.5 * (t + 1)).reshape(-1, 1) / 256
        return self.low + (self.high - self.low) * u, np.tile(weight / 512, 256)

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        def propose(m: int) -> Array:
            return generator.uniform(self.low, self.high, (m, self.dim))

        return rejection(propose, self._accepts, n, self.dim)

    def _accepts(self, x: Array) -> BoolArray:
        return np.ones(len(x), dtype=bool) if self.inside is None else self.inside(x)

    def _log_density(self, points: Array) -> Array:
        here = np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))
        here[here] = self._accepts(points[here])
        return np.where(here, -self.log_volume, -math.inf)


class Modulated(CheckedDistribution):
    """A distribution whose density is multiplied by 1 + g, with g in [-1, 1] of mean zero.

    Examples
    --------
    >>> from isthmus.problems import Margin
    >>> rising = Modulated(Margin("uniform"), lambda x: 2 * x[:, 0] - 1)
    >>> bool(rising.sample(1000, rng=0).mean() > 0.6)
    True
    """

    def __init__(self, base: Distribution, g: Callable[[Array], Array]) -> None:
        self.base, self.g, self.dim = base, g, base.dim

    def nodes(self) -> tuple[Array, Array]:
        """Those of the base, weighed."""
        base: Any = self.base
        x, weight = base.nodes()
        weight = weight * (1 + self.g(x))
        return x[weight > 0], weight[weight > 0]

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        def accepts(x: Array) -> BoolArray:
            return 2 * generator.random(len(x)) < 1 + self.g(x)

        return rejection(lambda m: self.base.sample(m, generator), accepts, n, self.dim)

    def _log_density(self, points: Array) -> Array:
        base = self.base.log_density(points)
        here = np.isfinite(base)
        factor = np.ones(len(points))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            factor[here] = 1 + self.g(points[here])
            return np.asarray(base + np.log(factor))


class Conditional(CheckedDistribution):
    """A column x, and a normal column whose mean and standard deviation depend on it.

    Examples
    --------
    >>> from isthmus.problems import Gaussian
    >>> wave = Conditional(Gaussian(0.0), np.sin, np.exp)
    >>> wave.log_density([[0.0, 0.0]]).round(4)
    array([-1.8379])
    """

    dim = 2

    def __init__(
        self,
        first: Distribution,
        mean: Callable[[Array], Array],
        scale: Callable[[Array], Array],
    ) -> None:
        self.first, self.mean, self.scale = first, mean, scale

    def nodes(self) -> tuple[Array, Array]:
        """Nodes of x, at each of them nodes of the normal."""
        first: Any = self.first
        x, weight = first.nodes()
        z, normal = np.polynomial.hermite_e.hermegauss(40)
        y = self.mean(x) + self.scale(x) * z[None, :]
        points = np.column_stack([np.repeat(x[:, 0], len(z)), y.ravel()])
        return points, (weight[:, None] * normal / normal.sum()).ravel()

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        x = self.first.sample(n, generator)
        y = self.mean(x) + self.scale(x) * generator.standard_normal((n, 1))
        return np.column_stack([x, y])

    def _log_density(self, points: Array) -> Array:
        x, y = points[:, :1], points[:, 1]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            scale = self.scale(x)[:, 0]
            z = (y - self.mean(x)[:, 0]) / scale
            normal = -0.5 * (z**2 + math.log(2 * math.pi)) - np.log(scale)
            return np.asarray(self.first.log_density(x) + normal)


class Archimedean(CheckedDistribution):
    """Two standard normal columns whose dependence is Clayton's or Gumbel's copula.

    Parameters
    ----------
    family : str
        "clayton" or "gumbel".
    theta : float
        Kendall's tau is theta / (theta + 2) for Clayton's and 1 - 1 / theta for Gumbel's.

    Examples
    --------
    >>> Archimedean("clayton", 2.0).sample(3, rng=0).shape
    (3, 2)
    """

    dim = 2

    def __init__(self, family: str, theta: float) -> None:
        if family not in ("clayton", "gumbel"):
            raise ValueError(f"family must be 'clayton' or 'gumbel'; received {family!r}.")
        self.family, self.theta = family, positive(theta, "theta")

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        # A frailty that both columns share (Marshall and Olkin).
        e = generator.standard_exponential((n, 2))
        if self.family == "clayton":
            frailty = generator.gamma(1 / self.theta, size=(n, 1))
            log_u = -np.log1p(e / frailty) / self.theta
        else:
            log_u = -((e / stable(1 / self.theta, n, generator)) ** (1 / self.theta))
        return np.asarray(special.ndtri_exp(log_u))

    def _log_density(self, points: Array) -> Array:
        theta = self.theta
        with np.errstate(all="ignore"):
            log_u = special.log_ndtr(np.clip(points, -35, 8))
            if self.family == "clayton":
                # u^-theta + v^-theta - 1, by its logarithm.
                a = np.logaddexp(-theta * log_u[:, 0], -theta * log_u[:, 1])
                total = a + np.log1p(-np.exp(-a))
                copula = np.log1p(theta) - (1 + theta) * log_u.sum(axis=1)
                copula -= (2 + 1 / theta) * total
            else:
                log_t = np.log(-log_u)
                s = np.logaddexp(theta * log_t[:, 0], theta * log_t[:, 1]) / theta
                w = np.exp(s)
                copula = -w - log_u.sum(axis=1) + (theta - 1) * log_t.sum(axis=1)
                copula += (1 - 2 * theta) * s + np.log(w + theta - 1)
            normal = -0.5 * (points**2).sum(axis=1) - math.log(2 * math.pi)
            return np.where(np.isfinite(normal), copula + normal, -math.inf)


class Count(CheckedDistribution):
    """A column of whole numbers: a discrete distribution of :mod:`scipy.stats`.

    Examples
    --------
    >>> Count("poisson", 2.0).log_density([0.0, 0.5])
    array([ -2., -inf])
    """

    dim = 1

    def __init__(self, name: str, *args: float) -> None:
        from scipy import stats

        self.law: Any = getattr(stats, name)(*args)

    def nodes(self) -> tuple[Array, Array]:
        """All values up to where the tail is below rounding."""
        x = np.arange(3 * float(self.law.isf(1e-12)) + 50)
        return x[:, None], np.exp(self.law.logpmf(x))

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        return np.asarray(self.law.rvs(size=(n, 1), random_state=generator), dtype=np.float64)

    def _log_density(self, points: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(self.law.logpmf(points[:, 0]), dtype=np.float64)


class Dirichlet(CheckedDistribution):
    """Parts of a whole; its density is that of all parts but the last.

    Examples
    --------
    >>> Dirichlet([1.0, 1.0, 1.0]).log_density([[0.2, 0.3, 0.5]]).round(4)
    array([0.6931])
    """

    def __init__(self, alpha: Sequence[float]) -> None:
        self.alpha = frozen(np.array(alpha))
        self.dim = len(self.alpha)

    def _draw(self, generator: np.random.Generator, n: int) -> Array:
        return generator.dirichlet(self.alpha, n)

    def _log_density(self, points: Array) -> Array:
        here = np.asarray(((points > 0) & (points <= 1)).all(axis=1))
        here[here] = np.abs(points[here].sum(axis=1) - 1) < _ROUNDING
        out = np.full(len(points), -math.inf)
        constant = special.gammaln(self.alpha.sum()) - special.gammaln(self.alpha).sum()
        out[here] = constant + np.log(points[here]) @ (self.alpha - 1)
        return out


def rejection(
    propose: Callable[[int], Array], accepts: Callable[[Array], BoolArray], n: int, dim: int
) -> Array:
    """``n`` proposed rows that are accepted."""
    parts, missing = [np.empty((0, dim))], n
    while missing > 0:
        x = propose(2 * missing + 16)
        parts.append(x[accepts(x)][:missing])
        missing -= len(parts[-1])
    return np.concatenate(parts)


def stable(alpha: float, n: int, generator: np.random.Generator) -> Array:
    """Positive stable numbers with Laplace transform exp(-s^alpha), shape (n, 1) (Kanter)."""
    u, e = generator.uniform(0, math.pi, (n, 1)), generator.standard_exponential((n, 1))
    a = np.sin(alpha * u) / np.sin(u) ** (1 / alpha)
    return np.asarray(a * (np.sin((1 - alpha) * u) / e) ** ((1 - alpha) / alpha))
