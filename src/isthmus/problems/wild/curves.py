"""Thin curves, waves, and dependences that are not those of normals."""

from __future__ import annotations

import math

import numpy as np

from ...typing import Array
from ..composed import Margin, Mixture, Product
from ..elliptical import Gaussian
from ..transformed import Ring
from ..truths import Stored
from .distributions import Archimedean, Conditional, Modulated, Region
from .problem import Sides, wild


def arm(turn: float, noise: float) -> Mixture:
    """An arm of a spiral: 120 normals along it."""
    t = np.linspace(1.0, 9.0, 120)
    places = 0.4 * t[:, None] * np.column_stack([np.cos(t + turn), np.sin(t + turn)])
    return Mixture([Gaussian(place, noise) for place in places], t.tolist())


@wild("curves", 2000, 2000, Stored(16.761775, 0.006025, 1_000_000))
def two_spirals() -> Sides:
    """2-d: an arm of a spiral against the opposite one."""
    return arm(0.0, 0.2), arm(math.pi, 0.2)


@wild("curves", 2000, 2000, Stored(1.939582, 0.000865, 1_000_000))
def spiral_in_normal() -> Sides:
    """2-d: an arm of a spiral against a normal around it."""
    return arm(0.0, 0.12), Gaussian(0.0, 2.0, dim=2)


@wild("curves", 1500, 1500)
def thin_rings() -> Sides:
    """2-d: a thin ring against one that is wider and thicker."""
    return Ring(Margin("gamma", 900.0, 0.0, 1 / 450)), Ring(Margin("gamma", 100.0, 0.0, 0.023))


def _wave(x: Array) -> Array:
    return 0.95 * np.sin(10 * math.pi * x[:, 0])


@wild("curves", 2000, 2000)
def wave() -> Sides:
    """3-d: a wave of five periods in the density of one column."""
    rest, flat = Gaussian(0.0, dim=2), Region([0.0], [1.0])
    return Product([rest, Modulated(flat, _wave)]), Product([rest, flat])


def _sine(x: Array) -> Array:
    return np.sin(2.5 * x)


def _zero(x: Array) -> Array:
    return 0.0 * x


def _narrow(x: Array) -> Array:
    return np.full_like(x, 0.4)


def _wide(x: Array) -> Array:
    return np.full_like(x, 0.85)


@wild("curves", 1000, 1000)
def sine_mean() -> Sides:
    """2-d: a mean that follows a sine against noise of about the same spread."""
    x = Gaussian(0.0, 1.2)
    return Conditional(x, _sine, _narrow), Conditional(x, _zero, _wide)


def _fan(x: Array) -> Array:
    return np.exp(np.clip(x, -2, 2))


def _even(x: Array) -> Array:
    return np.full_like(x, 1.6)


@wild("curves", 1000, 1000)
def heteroscedastic() -> Sides:
    """2-d: noise that grows with the first column against even noise."""
    x = Region([-2.0], [2.0])
    return Conditional(x, _zero, _fan), Conditional(x, _zero, _even)


@wild("curves", 2000, 2000, Stored(0.118024, 0.000159))
def clayton() -> Sides:
    """2-d: Clayton's copula against the normal copula of the same rank correlation."""
    return Archimedean("clayton", 2.0), Gaussian(0.0, rho=math.sin(math.pi / 4), dim=2)


@wild("curves", 2000, 2000, Stored(0.217797, 0.000179))
def gumbel_copula() -> Sides:
    """2-d: Gumbel's copula against the normal copula of less correlation."""
    return Archimedean("gumbel", 2.5), Gaussian(0.0, rho=0.5, dim=2)
