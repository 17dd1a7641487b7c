"""Non-linear canonical variates, and the normal copula of the leading ones.

x and y may be far from jointly normal because each went through a map of its own: a rotation
that grows with the radius, a change of margins after a rotation. Functions of x alone and
of y alone undo that. Those with the largest correlation are found by linear algebra, as
canonical variates of features; the leading ones are turned into normal scores and taken to be
jointly normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Self

import numpy as np
from scipy.special import ndtri

from ..typing import Array, IntArray
from .copulas import NormalRatio
from .evaluation import LACKING
from .marginal import Variates, canonical

# Features in directions with less than this share of the variance are noise.
_FLAT = 1e-4
# Pieces of the radius: least and most, and features that they make at most.
_RINGS, _RINGED = (4, 20), 70
# Coordinates are cut here before powers are taken.
_FAR = 3.5


@dataclass(frozen=True)
class FeatureSet:
    """Which features x and y are given beside their coordinates; 0 is for none."""

    rings: int
    """Pieces of the radius, each with a linear map of its own."""
    degree: int
    """Degree of polynomials of the leading canonical coordinates."""
    leading: int

    def __call__(self, a: Array, fitted: IntArray) -> Array:
        """Features of canonical coordinates, shape (n, k)."""
        parts = [a]
        if self.rings:
            hats = _hats((a * a).sum(axis=1), fitted, self.rings)
            parts += [a * hats[:, [k]] for k in range(self.rings - 1)]
        if self.degree:
            parts.append(_polynomials(a[:, : self.leading], self.degree))
        return np.hstack(parts)

    def count(self, d: int) -> int:
        """Number of features of d coordinates."""
        polynomials = comb(min(self.leading, d) + self.degree, self.degree) - 1
        return d * max(self.rings, 1) + polynomials


class NonlinearRatio(NormalRatio):
    """The normal copula of non-linear canonical variates, at most so many."""

    name = "bent"
    lacks = LACKING

    def __init__(self, x: Array, y: Array, features: FeatureSet, most: int) -> None:
        self.x, self.y, self.features = x, y, features
        self.most = min(most, x.shape[1], y.shape[1])
        self.use(self.most)

    def use(self, n_variates: int) -> None:
        """Take so many of the leading variates."""
        self.n_variates = n_variates

    def fit(self, rows: IntArray) -> Self:
        a, b, _ = canonical(self.x, self.y, rows)
        a, b, _ = canonical(self.features(a, rows), self.features(b, rows), rows, flat=_FLAT)
        self._x_scores, self._y_scores = (_to_scores(z[:, : self.most]) for z in (a, b))
        self._rows, self._variates = rows, dict[int, Variates]()
        return self

    def variates(self) -> Variates:
        k = self.n_variates
        if k not in self._variates:
            # Scores are no longer exactly uncorrelated.
            a, b, rho = canonical(self._x_scores[:, :k], self._y_scores[:, :k], self._rows)
            self._variates[k] = Variates(a, b, np.minimum(rho, 1.0 - 1e-12))
        return self._variates[k]


def feature_sets(d_x: int, d_y: int, n: int) -> list[FeatureSet]:
    """Sets of features worth trying, the simplest first, none with more than n / 40."""
    d = max(d_x, d_y)
    leading, degree = (d, 5) if d <= 3 else (d, 4) if d <= 5 else (2, 5)
    rings = int(np.clip(min(_RINGED, n // 40) // d, *_RINGS))
    tried = [FeatureSet(0, degree, leading), FeatureSet(0, 3, min(d, 5 if d <= 5 else 3))]
    if d > 1:
        tried += [FeatureSet(rings, 0, 0), FeatureSet(rings, degree, leading)]
    return [each for each in tried if each.count(d) <= n / 40]


def _hats(radius: Array, fitted: IntArray, n: int) -> Array:
    """Piecewise linear functions of the radius that add up to one, shape (rows, n)."""
    known = np.sort(radius[fitted])
    level = (np.arange(len(known)) + 0.5) / len(known)
    score = ndtri(np.interp(radius, known, level))
    # More of them reach farther out, too.
    edge = 1.1 + 0.1 * n
    knots = np.linspace(-edge, edge, n)
    return np.column_stack([np.interp(score, knots, row) for row in np.eye(n)])


def _polynomials(a: Array, degree: int) -> Array:
    """Hermite polynomials of up to this total degree, normalised, without those of degree one."""
    a = np.clip(a, -_FAR, _FAR)
    powers = [np.ones_like(a), a]
    for k in range(2, degree + 1):
        powers.append((a * powers[-1] - np.sqrt(k - 1) * powers[-2]) / np.sqrt(k))
    out = []
    for total in range(2, degree + 1):
        for which in combinations_with_replacement(range(a.shape[1]), total):
            counts = np.bincount(which, minlength=a.shape[1])
            factors = [powers[k][:, c] for c, k in enumerate(counts) if k]
            out.append(np.prod(factors, axis=0))
    return np.column_stack(out)


def _to_scores(z: Array) -> Array:
    """Normal scores of columns, over all rows: margins do not know the pairs."""
    order = np.argsort(np.argsort(z, axis=0), axis=0)
    return np.asarray(ndtri((order + 0.5) / len(z)))
