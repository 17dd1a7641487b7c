"""Ratios of mixtures: of normals, whose margins are mixtures too, and with independent pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ..typing import Array, IntArray
from .copulas import normal_log_ratio
from .density import fit_line
from .evaluation import CHASM, LACKING, PairRatio
from .marginal import Variates, canonical

_STEPS, _STARTS, _FIRST = 200, 6, 12
_SETTLED = 1e-5
_MORE = 25
_BLOCK = 20_000
# Rows that the starts are compared on.
_FEW = 2500
# Rows that a component has beyond its parameters, as a prior of this many rows of its own shape.
_PRIOR = 2.0


@dataclass(frozen=True)
class Normals:
    """A sum of normal densities: shares, means and covariances."""

    share: Array
    means: Array
    covariances: Array

    @property
    def coefficients(self) -> Array:
        """Of :func:`_powers`, of which every weighted component's logarithm is linear."""
        d = self.means.shape[1]
        first, second = np.triu_indices(d)
        factor = np.linalg.cholesky(self.covariances)
        inverse = np.linalg.inv(factor)
        precision = inverse.transpose(0, 2, 1) @ inverse
        linear = (precision @ self.means[:, :, None])[:, :, 0]
        volume = np.log(np.einsum("kjj->kj", factor)).sum(axis=1)
        constant = np.log(np.maximum(self.share, 1e-300)) - volume - 0.5 * d * np.log(2.0 * np.pi)
        constant = constant - 0.5 * np.einsum("kj,kj->k", self.means, linear)
        square = precision[:, first, second] * np.where(first == second, -0.5, -1.0)
        return np.hstack([constant[:, None], linear, square]).T

    def __call__(self, z: Array) -> Array:
        """Log-density at rows."""
        coefficients = self.coefficients
        out = np.empty(len(z))
        for begin in range(0, len(z), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            out[rows] = _shares(_powers(z[rows]) @ coefficients)[1]
        return out

    def of_columns(self, columns: slice) -> Normals:
        """The margin of some columns."""
        return Normals(self.share, self.means[:, columns], self.covariances[:, columns, columns])


def _powers(z: Array) -> Array:
    """One, the columns, and their products, shape (n, 1 + d + d (d + 1) / 2)."""
    first, second = np.triu_indices(z.shape[1])
    return np.hstack([np.ones((len(z), 1)), z, z[:, first] * z[:, second]])


def _shares(parts: Array) -> tuple[Array, Array]:
    """Shares of the components in rows, and the logarithm of their sum."""
    top = parts.max(axis=1)
    shares = np.exp(parts - top[:, None])
    total = shares.sum(axis=1)
    return shares / total[:, None], top + np.log(total)


def fit_normals(z: Array, k: int, rng: np.random.Generator) -> Normals:
    """Expectation-maximisation from a few starts, the best of which goes on to the end.

    Both steps are one matrix product with the powers of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> z = np.concatenate([rng.normal(-3, 1, (200, 1)), rng.normal(3, 1, (400, 1))])
    >>> np.sort(fit_normals(z, 2, rng).share).round(1)
    array([0.3, 0.7])
    """
    covariance = np.atleast_2d(np.cov(z.T)) + 1e-9 * np.eye(z.shape[1])
    powers = _powers(z)
    if k == 1:
        return _maximised(powers, np.ones((len(z), 1)), covariance)
    some = rng.permutation(len(z))[:_FEW]
    few, tried = powers[some], []
    for start in range(_STARTS):
        found, level = _maximised(few, _first(z[some], k, start, rng), covariance), -np.inf
        for _ in range(_FIRST):
            found, level = _step(few, found, covariance)
        tried.append((level, found))
    found, level = max(tried, key=lambda one: one[0])[1], -np.inf
    for _ in range(_STEPS):
        found, after = _step(powers, found, covariance)
        if after - level < _SETTLED:
            break
        level = after
    return found


def refined(z: Array, found: Normals) -> Normals:
    """Some more steps of expectation-maximisation for other rows or columns."""
    covariance = np.atleast_2d(np.cov(z.T)) + 1e-9 * np.eye(z.shape[1])
    powers = _powers(z)
    for _ in range(_MORE):
        found = _step(powers, found, covariance)[0]
    return found


def _first(z: Array, k: int, start: int, rng: np.random.Generator) -> Array:
    """Shares of the components in the rows to begin with, shape (n, K).

    By the nearest of some rows; by the distance from the middle; by products of directions.
    """
    n, d = z.shape
    if start < 2:
        from sklearn.cluster import KMeans

        seed = int(rng.integers(2**31))
        place = KMeans(k, n_init=1, max_iter=20, random_state=seed).fit(z).labels_
    else:
        value = (z * z).sum(axis=1)
        if start > 2:
            value = (z @ rng.normal(size=d)) * (z @ rng.normal(size=d))
        place = (np.argsort(np.argsort(value)) * k) // n
    return np.asarray(0.9 * np.eye(k)[place] + 0.1 / k)


def _step(powers: Array, found: Normals, covariance: Array) -> tuple[Normals, float]:
    shares, total = _shares(powers @ found.coefficients)
    return _maximised(powers, shares, covariance), float(total.mean())


def _maximised(powers: Array, shares: Array, covariance: Array) -> Normals:
    """Shares, means and covariances of weighted rows, each with a prior of a few rows."""
    d = len(covariance)
    first, second = np.triu_indices(d)
    sums = shares.T @ powers
    mass = sums[:, 0] + 1e-9
    means = sums[:, 1 : 1 + d] / mass[:, None]
    square = np.empty((len(mass), d, d))
    square[:, first, second] = square[:, second, first] = sums[:, 1 + d :]
    own = square - mass[:, None, None] * means[:, :, None] * means[:, None, :]
    covariances = (own + _PRIOR * 0.1 * covariance) / (mass + _PRIOR)[:, None, None]
    return Normals(mass / mass.sum(), means, covariances)


class MixtureRatio(PairRatio):
    """A mixture of normals for (x, y), with its own margins for x and for y.

    Of many columns the leading canonical directions are taken.
    """

    name = "mixture"
    normalised = True
    flexible = True
    lacks = LACKING

    def __init__(self, x: Array, y: Array, k: int, most: int, rng: np.random.Generator) -> None:
        self.x, self.y, self.k, self.most, self.rng = x, y, k, most, rng

    @property
    def width(self) -> int:
        """Columns of the mixture."""
        return sum(min(self.most, side.shape[1]) for side in (self.x, self.y))

    @property
    def n_parameters(self) -> int:
        """Shares, means and covariances of the components."""
        return self.k * (1 + self.width + self.width * (self.width + 1) // 2)

    def fit(self, rows: IntArray) -> Self:
        a, b, _ = canonical(self.x, self.y, rows)
        self._a, self._b = a[:, : self.most], b[:, : self.most]
        z = np.hstack([self._a, self._b])
        self._joint = fit_normals(z[rows], self.k, self.rng)
        d = self._a.shape[1]
        self._own_x = self._joint.of_columns(slice(0, d))(self._a)
        self._own_y = self._joint.of_columns(slice(d, None))(self._b)
        if float(self.log_ratio(rows, rows).mean()) > CHASM:
            # Where x all but tells y, both margins err as the joint density does, and the ratio
            # would be too large by one of them: each margin is fitted further by itself.
            self._own_x = self._likelier(slice(0, d), self._a, rows)
            self._own_y = self._likelier(slice(d, None), self._b, rows)
        return self

    def _likelier(self, columns: slice, side: Array, rows: IntArray) -> Array:
        """Log-densities of one side by itself, from the margin of the joint mixture on."""
        own = self._joint.of_columns(columns)
        if side.shape[1] == 1:
            line, column = fit_line(side[rows, 0])[0], side[:, 0]
            judged = own(side)
            return line(column) if line(column[rows]).mean() > judged[rows].mean() else judged
        return refined(side[rows], own)(side)

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        joint = self._joint(np.hstack([self._a[i], self._b[j]]))
        return np.asarray(joint - self._own_x[i] - self._own_y[j])


class InlierRatio(PairRatio):
    """A normal copula of which a share of the pairs is independent: a + (1 - a) r(x, y)."""

    name = "gaussian with independent pairs"
    normalised = True

    def __init__(self, x: Array, y: Array) -> None:
        self.x, self.y = x, y

    def fit(self, rows: IntArray) -> Self:
        a, b, rho = canonical(self.x, self.y, rows)
        k = len(rho)
        noise = (np.sqrt(a.shape[1]) + np.sqrt(b.shape[1])) ** 2 / len(rows)
        # Directions whose correlation is noise stay out.
        kept = max(int((rho**2 > noise).sum()), 1)
        a, b = a[:, :k][:, :kept], b[:, :k][:, :kept]
        x, y, weight, alone = a[rows], b[rows], np.ones(len(rows)), 0.2
        rho = np.minimum(rho[:kept], 0.999999)
        for _ in range(_STEPS):
            # Within the dependent pairs the correlations are those of the weighted rows.
            before = alone
            x_y = (x * y * weight[:, None]).sum(axis=0)
            size = np.sqrt(
                (x * x * weight[:, None]).sum(axis=0) * (y * y * weight[:, None]).sum(axis=0)
            )
            rho = np.clip(x_y / np.maximum(size, 1e-12), -0.999999, 0.999999)
            ratio = normal_log_ratio(x, y, rho) + np.log1p(-alone)
            weight = np.exp(ratio - np.logaddexp(ratio, np.log(alone)))
            alone = float(np.clip(1.0 - weight.mean(), 1e-6, 1 - 1e-6))
            if abs(alone - before) < 1e-5:
                break
        self.alone, self._variates = alone, Variates(a, b, rho)
        return self

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        a, b, rho = self._variates
        dependent = normal_log_ratio(a[i], b[j], rho) + np.log1p(-self.alone)
        return np.asarray(np.logaddexp(dependent, np.log(self.alone)))
