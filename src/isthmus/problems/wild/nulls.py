"""p and q are equal, in ten shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Array
from ..composed import Margin, Mixture, Product
from ..elliptical import Gaussian, StudentT
from ..maps import EXP
from ..transformed import Warped
from ..truths import equal
from .counts import classes
from .distributions import Count, Dirichlet
from .problem import Sides, table, wild
from .tables import read


@wild("nulls", 500, 500, equal)
def null_normal() -> Sides:
    """5-d: the same correlated normal."""
    p = Gaussian(0.0, rho=0.6, dim=5)
    return p, p


@wild("nulls", 500, 500, equal)
def null_heavy() -> Sides:
    """4-d: the same Student-t of 3 degrees of freedom."""
    p = StudentT(3.0, 0.0, dim=4)
    return p, p


@wild("nulls", 500, 800, equal)
def null_lognormal() -> Sides:
    """3-d: the same lognormals."""
    maps: tuple[Any, ...] = (EXP,) * 3
    p = Warped(Gaussian(0.0, rho=0.5, dim=3), maps)
    return p, p


@wild("nulls", 600, 600, equal)
def null_counts() -> Sides:
    """4-d: the same counts."""
    p = Product([Count("poisson", m) for m in (0.5, 2.0, 5.0, 10.0)])
    return p, p


@wild("nulls", 500, 500, equal)
def null_zero_one() -> Sides:
    """8-d: the same dependent columns of 0 and 1."""
    p = classes(np.array([0.4, 0.6]), np.array([[0.7] * 8, [0.2] * 4 + [0.5] * 4]))
    return p, p


@wild("nulls", 500, 500, equal)
def null_composition() -> Sides:
    """5-d: the same parts of a whole."""
    p = Dirichlet([2.0, 1.0, 3.0, 1.5, 2.5])
    return p, p


@wild("nulls", 600, 400, equal)
def null_mixture() -> Sides:
    """2-d: the same three modes."""
    p = Mixture([Gaussian(place, 0.5) for place in [(0.0, 0.0), (3.0, 1.0), (-1.0, 3.0)]])
    return p, p


@table("nulls")
def null_table() -> tuple[Array, Array]:
    """Wine, 13 columns: two halves of the table."""
    rows, _ = read("wine")
    return rows, np.ones(len(rows))


@wild("nulls", 400, 400, equal)
def null_one_column() -> Sides:
    """1-d: the same skewed column."""
    p = Margin("gamma", 2.0)
    return p, p


@wild("nulls", 300, 300, equal)
def null_50_columns() -> Sides:
    """50-d: the same correlated normal."""
    p = Gaussian(0.0, rho=0.5, dim=50)
    return p, p
