"""Few rows: 20 to 150 of each side."""

from __future__ import annotations

import math

from ..composed import Margin, Mixture, Product
from ..elliptical import Gaussian, StudentT
from .problem import Sides, wild


def modes() -> Sides:
    """Two narrow modes against a normal of about their moments."""
    p = Mixture([Gaussian([-2.0, 0.0], 0.4), Gaussian([2.0, 0.0], 0.4)])
    return p, Gaussian([0.0, 0.0], [2.0, 0.8])


@wild("few rows", 30, 30)
def modes_30() -> Sides:
    """2-d, 30 rows: two modes against one normal."""
    return modes()


@wild("few rows", 150, 150)
def modes_150() -> Sides:
    """2-d, 150 rows: two modes against one normal."""
    return modes()


@wild("few rows", 20, 20)
def normals_20() -> Sides:
    """3-d, 20 rows: two normals, shifted."""
    return Gaussian([1.0, 0.5, 0.0], 0.9, 0.3), Gaussian(0.0, dim=3)


@wild("few rows", 40, 100)
def normals_40() -> Sides:
    """10-d, 40 and 100 rows: two normals, shifted and correlated otherwise."""
    return Gaussian([0.5] * 4 + [0.0] * 6, 1.0, 0.4), Gaussian(0.0, dim=10)


@wild("few rows", 60, 60)
def wide_60() -> Sides:
    """20-d, 60 rows: shifts of four columns."""
    return Gaussian([0.6] * 4 + [0.0] * 16), Gaussian(0.0, dim=20)


@wild("few rows", 50, 80)
def skewed_50() -> Sides:
    """2-d, 50 and 80 rows: gamma columns."""
    return Product([Margin("gamma", 2.0)] * 2), Product([Margin("gamma", 4.0, 0.0, 0.8)] * 2)


@wild("few rows", 80, 80)
def heavy_80() -> Sides:
    """4-d, 80 rows: Student-t of 3 degrees of freedom, shifted."""
    shift = [0.8, 0.0, -0.8, 0.0]
    return StudentT(3.0, shift), StudentT(3.0, 0.0, math.sqrt(1.5), dim=4)
