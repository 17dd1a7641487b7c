"""Differences in a few of many columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Array
from ..composed import Margin, Mixture, Product
from ..elliptical import Gaussian, StudentT
from ..maps import EXP
from ..transformed import Warped
from .distributions import Modulated
from .problem import Sides, wild


@wild("sparse", 2000, 2000)
def one_of_100_mean() -> Sides:
    """100-d: the mean of one column."""
    rest = Gaussian(0.0, rho=0.5, dim=98)
    first = Gaussian(0.0)
    return (
        Product([first, Gaussian(0.9), rest]),
        Product([first, Gaussian(0.0), rest]),
    )


@wild("sparse", 2000, 2000)
def one_of_100_scale() -> Sides:
    """100-d with heavy tails in half of the columns: the spread of one."""
    rest = Product([StudentT(5.0, 0.0, dim=49), Gaussian(0.0, rho=0.3, dim=50)])
    return Product([rest, Gaussian(0.0, 2.0)]), Product([rest, Gaussian(0.0)])


@wild("sparse", 2000, 2000)
def one_of_100_shape() -> Sides:
    """100-d: one column has two modes, with the same mean and variance."""
    rest = Gaussian(0.0, rho=0.4, dim=99)
    modes = Mixture([Gaussian(-0.95, np.sqrt(1 - 0.95**2)), Gaussian(0.95, np.sqrt(1 - 0.95**2))])
    return Product([rest, modes]), Product([rest, Gaussian(0.0)])


def _product(x: Array) -> Array:
    return 0.99 * np.tanh(4 * x[:, 0] * x[:, 1])


@wild("sparse", 2000, 2000)
def product_2_of_50() -> Sides:
    """50-d: whether two columns have the same sign, nearly; each alone is as in q."""
    pair, rest = Gaussian(0.0, dim=2), Gaussian(0.0, dim=48)
    return Product([rest, Modulated(pair, _product)]), Product([rest, pair])


@wild("sparse", 1500, 2500)
def correlation_2_of_30() -> Sides:
    """30-d, skewed columns beside: the correlation of two."""
    rest = Product([Margin("expon")] * 14 + [Margin("lognorm", 0.5)] * 14)
    pair, alone = Gaussian(0.0, rho=0.7, dim=2), Gaussian(0.0, dim=2)
    return Product([rest, pair]), Product([rest, alone])


@wild("sparse", 1000, 1000)
def three_of_200() -> Sides:
    """200-d: shifts of three columns."""
    rest = Gaussian(0.0, rho=0.6, dim=196)
    four = Gaussian(0.0, dim=4)
    return Product([Gaussian([0.6, -0.6, 0.6, 0.0]), rest]), Product([four, rest])


@wild("sparse", 20_000, 20_000)
def small_shift() -> Sides:
    """15-d, 20,000 rows: every column is shifted by a tenth, and one is exponentiated."""
    maps: tuple[Any, ...] = (EXP,)
    p, q = Gaussian(0.1), Gaussian(0.0)
    rest = Gaussian(0.1, dim=14), Gaussian(0.0, dim=14)
    return Product([Warped(p, maps), rest[0]]), Product([Warped(q, maps), rest[1]])
