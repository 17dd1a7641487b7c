"""Densities that jump: uniform shapes within others, and truncated sides."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ...typing import Array, BoolArray
from ..composed import Margin, Mixture, Product
from ..truths import Truth
from .distributions import Region
from .problem import Sides, wild


def nested(p: Region, q: Region) -> Truth:
    """KL of uniform regions, p within q: the logarithm of the ratio of volumes."""
    return Truth(q.log_volume - p.log_volume, 0.0, "closed form")


def _ell(x: Array) -> BoolArray:
    return np.asarray((x < 0.4).any(axis=1))


def _checks(x: Array, n: int) -> BoolArray:
    return np.asarray(np.floor(n * np.minimum(x, 1 - 1e-12)).sum(axis=1) % 2 == 0)


def _below(x: Array) -> BoolArray:
    return np.asarray(x.sum(axis=1) < 1)


def _ball(x: Array) -> BoolArray:
    return np.asarray((x**2).sum(axis=1) < 1)


def box(dim: int, low: float = 0.0, high: float = 1.0) -> Region:
    """Uniform over a cube."""
    return Region([low] * dim, [high] * dim)


@wild("edges", 2000, 2000, nested)
def l_shape() -> Sides:
    """2-d: uniform on an L against its square."""
    return Region([0.0] * 2, [1.0] * 2, _ell, 0.64), box(2)


@wild("edges", 2000, 2000, nested)
def checkerboard() -> Sides:
    """2-d: the black fields of a board of 4 by 4 against all of it."""
    return Region([0.0] * 2, [1.0] * 2, partial(_checks, n=4), 0.5), box(2)


@wild("edges", 1000, 3000, nested)
def triangle() -> Sides:
    """2-d: a triangle against its square."""
    return Region([0.0] * 2, [1.0] * 2, _below, 0.5), box(2)


@wild("edges", 1500, 1500, nested)
def ball_in_cube() -> Sides:
    """3-d: a ball against the cube around it."""
    return Region([-1.0] * 3, [1.0] * 3, _ball, math.pi / 6), box(3, -1.0)


@wild("edges", 2000, 2000, nested)
def disc_in_square() -> Sides:
    """2-d: a disc against the square around it."""
    return Region([-1.0] * 2, [1.0] * 2, _ball, math.pi / 4), box(2, -1.0)


@wild("edges", 1000, 1000, nested)
def box_in_box() -> Sides:
    """5-d: a box within another, off its centre."""
    return Region([0.1, 0.0, 0.2, 0.0, 0.15], [0.9, 0.8, 1.0, 0.75, 1.0]), box(5)


def two_boxes(p: Region, q: Mixture) -> Truth:
    """KL of a box p that lies in the second of two overlapping boxes of q."""
    # Within p the density of q has one value where the boxes meet and another where not.
    first, second = q.components
    assert isinstance(first, Region) and isinstance(second, Region)
    sides = np.minimum(p.high, first.high) - np.maximum(p.low, first.low)
    meet = float(np.prod(sides / (p.high - p.low)))
    alone = q.weights[1] * math.exp(-second.log_volume)
    both = alone + q.weights[0] * math.exp(-first.log_volume)
    kl = -p.log_volume - meet * math.log(both) - (1 - meet) * math.log(alone)
    return Truth(kl, 0.0, "closed form")


@wild("edges", 2000, 2000, two_boxes)
def overlapping_boxes() -> Sides:
    """2-d: a box against two that overlap, one of them around it."""
    q = Mixture([box(2), Region([0.5, 0.5], [2.0, 1.5])], [0.7, 0.3])
    return Region([0.5, 0.5], [1.5, 1.25]), q


@wild("edges", 2000, 2000)
def truncated_exponentials() -> Sides:
    """3-d: exponential columns cut at 1.5, against others cut at 3."""
    p = Product([Margin("truncexpon", 1.5)] * 3)
    return p, Product([Margin("truncexpon", 1.5, 0.0, 2.0)] * 3)
