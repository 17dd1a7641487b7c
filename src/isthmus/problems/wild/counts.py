"""Counts, levels, exact zeros and compositions."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import special

from ...typing import Array
from ..base import Distribution
from ..composed import Margin, Mixture, Point, Product
from ..elliptical import Gaussian
from ..truths import Truth, by_label
from .distributions import Count, Dirichlet, Population
from .problem import Sides, finite_sum, wild


@wild("counts", 1500, 1500)
def poisson() -> Sides:
    """4-d: Poisson counts against negative binomial ones of the same means."""
    means = (1.0, 3.0, 6.0, 12.0)
    p = Product([Count("poisson", m) for m in means])
    return p, Product([Count("nbinom", 3.0, 3.0 / (3.0 + m)) for m in means])


@wild("counts", 1000, 1000)
def rare_counts() -> Sides:
    """6-d: counts that are mostly zero, at other rates in three columns."""
    rates = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    other = (0.1, 0.4, 0.4, 0.25, 0.8, 1.8)
    return (
        Product([Count("poisson", r) for r in rates]),
        Product([Count("poisson", r) for r in other]),
    )


def _hurdle(zeros: float, scale: float, sigma: float) -> Mixture:
    """Zero, or a lognormal amount."""
    return Mixture([Point(0.0), Margin("lognorm", sigma, 0.0, scale)], [zeros, 1 - zeros])


def hurdles(p: Product, q: Product) -> Truth:
    """KL of independent columns, each zero or an amount."""
    parts = [by_label(a, b) for a, b in zip(p.parts, q.parts, strict=True)]  # type: ignore[arg-type]
    return Truth(sum(part.kl for part in parts), 0.0, "quadrature")


@wild("counts", 2000, 2000, hurdles)
def hurdle() -> Sides:
    """4-d: exact zeros or lognormal amounts, other shares, scales and spreads."""
    p = [(0.5, 1.0, 1.0), (0.3, 2.0, 0.5), (0.7, 1.0, 1.0), (0.1, 1.0, 1.0)]
    q = [(0.3, 1.0, 1.0), (0.3, 3.0, 1.0), (0.4, 2.0, 1.0), (0.1, 1.0, 1.0)]
    return Product([_hurdle(*each) for each in p]), Product([_hurdle(*each) for each in q])


def dirichlets(p: Dirichlet, q: Dirichlet) -> Truth:
    """KL of two Dirichlet distributions."""
    a, b = p.alpha, q.alpha
    kl = special.gammaln(a.sum()) - special.gammaln(b.sum())
    kl += (special.gammaln(b) - special.gammaln(a)).sum()
    kl += (a - b) @ (special.psi(a) - special.psi(a.sum()))
    return Truth(float(kl), 0.0, "closed form")


@wild("counts", 1000, 1000, dirichlets)
def composition() -> Sides:
    """5-d: parts of a whole, Dirichlet against Dirichlet."""
    return Dirichlet([4.0, 3.0, 2.0, 2.0, 1.0]), Dirichlet([2.0, 2.0, 2.0, 2.0, 2.0])


def answers(shift: float, rho: float) -> Population:
    """Two answers of 1 to 5: a normal pair, cut into levels."""
    from scipy import stats

    cuts = np.array([-math.inf, -1.2, -0.4, 0.4, 1.2, math.inf]) - shift
    law = stats.multivariate_normal(cov=[[1.0, rho], [rho, 1.0]])
    ends = np.clip(cuts, -10, 10)
    below = np.array([[law.cdf([a, b]) for b in ends] for a in ends])
    mass = np.diff(np.diff(below, axis=0), axis=1)
    states = np.array(list(itertools.product(range(1, 6), repeat=2)), dtype=np.float64)
    return Population(states, np.maximum(mass.ravel(), 1e-12))


@wild("counts", 1200, 1200)
def survey() -> Sides:
    """8-d: answers of 1 to 5 in correlated pairs, shifted or correlated otherwise."""
    p = Product([answers(0.0, 0.5), answers(0.4, 0.3), answers(0.0, 0.6), answers(0.0, 0.2)])
    q = Product([answers(0.0, 0.5), answers(0.0, 0.3), answers(0.0, 0.0), answers(0.3, 0.2)])
    return p, q


def rounded(mean: float, scale: float) -> Population:
    """A normal column, rounded down to whole numbers."""
    k = np.arange(math.floor(mean - 9 * scale), math.ceil(mean + 9 * scale))
    # From the nearer end, so that both tails keep their precision.
    ends = (np.append(k, k[-1] + 1) - mean) / scale
    below, above = np.diff(special.ndtr(ends)), -np.diff(special.ndtr(-ends))
    return Population(k[:, None], np.where(k < mean, below, above))


def over_whole_numbers(p: Product, q: Product) -> Truth:
    """KL of independent columns of whole numbers, p's among q's."""
    parts = [finite_sum(a, b) for a, b in zip(p.parts, q.parts, strict=True)]  # type: ignore[arg-type]
    return Truth(sum(part.kl for part in parts), 0.0, "closed form")


@wild("counts", 500, 500, over_whole_numbers)
def whole_numbers() -> Sides:
    """2-d: normals rounded down to whole numbers, shifted and less wide."""
    return Product([rounded(6.0, 8.0)] * 2), Product([rounded(0.0, 10.0)] * 2)


def classes(shares: Array, chances: Array) -> Population:
    """Columns of 0 and 1 that are independent within hidden classes."""
    states = np.array(list(itertools.product((0.0, 1.0), repeat=chances.shape[1])))
    each = np.where(states[:, None, :] > 0, chances, 1 - chances).prod(axis=2)
    return Population(states, each @ shares)


@wild("counts", 1500, 1500, finite_sum)
def zero_one_columns() -> Sides:
    """10-d of 0 and 1: two hidden classes against three."""
    two = np.array([[0.8] * 5 + [0.2] * 5, [0.2] * 5 + [0.8] * 5])
    three = np.vstack([two, np.full((1, 10), 0.5)])
    return classes(np.array([0.5, 0.5]), two), classes(np.array([0.2, 0.3, 0.5]), three)


def _given_level(shares: list[float], slope: float) -> Mixture:
    """A level, and two columns that depend on it."""
    parts: list[Distribution] = [
        Product([Point(k), Margin("expon", 0.0, 1.0 + slope * k), Gaussian(slope * (k - 1.5))])
        for k in range(4)
    ]
    return Mixture(parts, shares)


@wild("counts", 1500, 2500, by_label)
def level_and_amount() -> Sides:
    """3-d: a level, an amount whose scale depends on it, and a normal that does."""
    return _given_level([0.1, 0.2, 0.3, 0.4], 0.3), _given_level([0.3, 0.3, 0.2, 0.2], 0.8)
