"""What the tasks of mutual information are made of: mixtures, sums with noise, bends, integrals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp, ndtri, psi

from isthmus.typing import Array

Pair = tuple[Any, Any]
Rng = np.random.Generator
# Rows of a chunk of the Monte Carlo of a truth.
CHUNK = 50_000


@dataclass(frozen=True)
class Task:
    """How x and y are drawn, and where the truth comes from: one of the three ways."""

    name: str
    draw: Callable[[Rng, int], Pair]
    exact: float | None = None
    """The truth in closed form, or a sum."""
    integral: Callable[[], float] | None = None
    """The truth by quadrature."""
    log_ratio: Callable[[Any, Any], Array] | None = None
    """log p(x, y) / (p(x) p(y)) of what is drawn; the truth is its mean over drawn rows."""
    bend: Callable[[Any, Any], Pair] | None = None
    """A bijection of x and one of y, which change neither the information nor the log-ratio."""
    rows: int = 10_000
    """Number of rows of the benchmark."""

    def sample(self, rng: Rng, n: int) -> Pair:
        """Rows of x and y as the estimator gets them."""
        x, y = self.draw(rng, n)
        return (x, y) if self.bend is None else self.bend(x, y)


# Pairs of columns with a given information.


def correlation(nats: float) -> float:
    """The correlation of two normals that have this information."""
    return float(np.sqrt(-np.expm1(-2.0 * nats)))


def normals(d: int, nats: float) -> Callable[[Rng, int], Pair]:
    """Independent pairs of correlated normals that have this information together."""
    rho, rest = correlation(nats / d), float(np.exp(-nats / d))

    def draw(rng: Rng, n: int) -> Pair:
        x, noise = rng.normal(size=(2, n, d))
        return x, rho * x + rest * noise

    return draw


def student_excess(df: float, d: int) -> float:
    """What a multivariate Student of d and d columns has beyond the normal of its scale."""

    def part(k: float) -> float:
        return float(gammaln(k / 2) - k / 2 * psi(k / 2))

    return part(df) + part(df + 2 * d) - 2 * part(df + d)


def students(df: float, d: int, nats: float) -> Callable[[Rng, int], Pair]:
    """Columns of one multivariate Student with this information."""
    base = normals(d, nats - student_excess(df, d))

    def draw(rng: Rng, n: int) -> Pair:
        x, y = base(rng, n)
        radius = np.sqrt(rng.chisquare(df, size=(n, 1)) / df)
        return x / radius, y / radius

    return draw


def smoothed_uniforms(d: int, nats: float) -> Callable[[Rng, int], Pair]:
    """Uniform x, and y = x + uniform noise of width 1/k: 1/(2k) + log k nats a pair."""
    k = brentq(lambda k: 0.5 / k + np.log(k) - nats / d, 1.0, 1e9)

    def draw(rng: Rng, n: int) -> Pair:
        x, noise = rng.uniform(size=(2, n, d))
        return x, x + noise / k

    return draw


def gamma_exponentials(d: int, nats: float) -> Callable[[Rng, int], Pair]:
    """Logs of gamma x of shape 1/s and exponential y of rate x: psi(1/s) + s + log s nats."""
    s = brentq(lambda s: psi(1 / s) + s + np.log(s) - nats / d, 1e-3, 1e6)

    def draw(rng: Rng, n: int) -> Pair:
        # Such a gamma variable is too small for a number: that of shape + 1, times U^(1/shape).
        x = np.log(rng.gamma(1 / s + 1, size=(n, d))) - s * rng.exponential(size=(n, d))
        return x, np.log(rng.exponential(size=(n, d))) - x

    return draw


# Mixtures whose densities are known.


@dataclass(frozen=True)
class Mixture:
    """A mixture of normals, or of multivariate Students where ``df`` is finite."""

    shares: Array
    means: Array
    """One row for each component: those of x, then those of y."""
    scales: Array
    """One matrix for each component: covariances, or scale matrices of Students."""
    wide: int
    """Number of columns of x."""
    df: float = np.inf

    def draw(self, rng: Rng, n: int) -> Pair:
        which = rng.choice(len(self.shares), size=n, p=self.shares)
        roots = np.linalg.cholesky(self.scales)
        noise = rng.normal(size=(n, self.means.shape[1]))
        if np.isfinite(self.df):
            noise /= np.sqrt(rng.chisquare(self.df, size=(n, 1)) / self.df)
        rows = self.means[which].copy()
        for k, root in enumerate(roots):
            rows[which == k] += noise[which == k] @ root.T
        return rows[:, : self.wide], rows[:, self.wide :]

    def log_ratio(self, x: Array, y: Array) -> Array:
        x_part, y_part = slice(0, self.wide), slice(self.wide, None)
        joint = self._log_density(np.hstack([x, y]), slice(0, None))
        return joint - self._log_density(x, x_part) - self._log_density(y, y_part)

    def _log_density(self, rows: Array, part: slice) -> Array:
        terms = np.empty((len(self.shares), len(rows)))
        for k, (mean, scale) in enumerate(zip(self.means, self.scales, strict=True)):
            root = np.linalg.cholesky(scale[part, part])
            off = np.linalg.solve(root, (rows - mean[part]).T)
            inside = np.einsum("ij,ij->j", off, off)
            terms[k] = self._radial(inside, len(off)) - np.log(np.diag(root)).sum()
        return np.asarray(logsumexp(terms, axis=0, b=self.shares[:, None]))

    def _radial(self, inside: Array, d: int) -> Array:
        if not np.isfinite(self.df):
            return -0.5 * inside - 0.5 * d * np.log(2 * np.pi)
        whole = 0.5 * (self.df + d)
        scale = gammaln(whole) - gammaln(self.df / 2) - 0.5 * d * np.log(self.df * np.pi)
        return np.asarray(scale - whole * np.log1p(inside / self.df))


def mixture(components: Sequence[tuple[float, Any, Any]], wide: int, df: float = np.inf) -> Mixture:
    """A mixture of (share, mean, covariance); shares are divided by their sum."""
    shares, means, scales = (np.array(part, dtype=float) for part in zip(*components, strict=True))
    return Mixture(shares / shares.sum(), means, scales, wide, df)


def cross_covariance(d_x: int, d_y: int, links: Sequence[tuple[int, int, float]]) -> Array:
    """Unit variances, and the correlations of column i of x with column j of y."""
    out = np.eye(d_x + d_y)
    for i, j, rho in links:
        out[i, d_x + j] = out[d_x + j, i] = rho
    return out


# Truths by quadrature.


def nodes(count: int) -> Array:
    """Midpoints of as many equal parts of the unit interval."""
    return (np.arange(count) + 0.5) / count


def normal_nodes(count: int = 4001, reach: float = 8.5) -> tuple[Array, Array]:
    """Places and weights for means over a standard normal."""
    places = np.linspace(-reach, reach, count)
    weights = np.exp(-0.5 * places**2)
    return places, weights / weights.sum()


def entropy(density: Array, step: float) -> float:
    """Entropy of a density on an even grid."""
    inside = density > 0
    mass = density[inside].sum() * step
    return float(-(density[inside] * np.log(density[inside])).sum() * step / mass + np.log(mass))


def noisy_entropy(
    centres: Array, weights: Array, log_density: Callable[[Array], Array], low: float, high: float
) -> float:
    """Entropy of centre + noise, between ``low`` and ``high``, where all of it must lie."""
    grid = np.linspace(low, high, 6001)
    density = np.zeros(len(grid))
    for part in np.array_split(np.arange(len(centres)), max(len(centres) // 500, 1)):
        density += np.exp(log_density(grid[:, None] - centres[part])) @ weights[part]
    return entropy(density, grid[1] - grid[0])


def normal_noise_information(centres: Array, weights: Array, noise: float) -> float:
    """I(centre; centre + normal noise)."""

    def log_density(off: Array) -> Array:
        return np.asarray(-0.5 * (off / noise) ** 2 - np.log(noise) - 0.5 * np.log(2 * np.pi))

    ends = centres.min() - 9 * noise, centres.max() + 9 * noise
    whole = noisy_entropy(centres, weights, log_density, *ends)
    return whole - 0.5 * float(np.log(2 * np.pi * np.e * noise**2))


def curve_information(x: Array, y: Array, noise: float) -> float:
    """I of points of a curve with normal noise in both columns, on a grid of the plane."""
    sides = []
    for centres in (x, y):
        ends = centres.min() - 8 * noise, centres.max() + 8 * noise
        grid = np.arange(ends[0], ends[1], noise / 3)
        off = (grid[:, None] - centres) / noise
        sides.append(np.exp(-0.5 * off**2) / (3 * np.sqrt(2 * np.pi)))
    joint = sides[0] @ sides[1].T / len(x)
    return table_information(joint)


def table_information(joint: Array) -> float:
    """Mutual information of two labels with these probabilities."""
    joint = joint / joint.sum()
    product = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
    inside = (joint > 0) & (product > 0)
    return float((joint[inside] * np.log(joint[inside] / product[inside])).sum())


def bit_entropy(p: Any) -> Any:
    """Entropy of a coin."""
    p = np.clip(p, 1e-300, 1 - 1e-16)
    return -p * np.log(p) - (1 - p) * np.log1p(-p)


def uniform_to_normal(x: Array) -> Array:
    """Normal quantiles of uniform values."""
    return np.asarray(ndtri(x))
