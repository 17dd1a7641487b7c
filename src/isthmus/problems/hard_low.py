"""Hard problems in one to five dimensions: modes, bent and bounded supports, tails, mixed columns.

The ratio of two fitted normals misses each of these KLs by more than a fifth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .base import Distribution
from .gaussian import Gaussian
from .maps import EXP
from .mixture import Mixture
from .pair import DistributionPair
from .products import Margin, Point, Product
from .quadrature import Stored, by_label, exact
from .registry import register
from .student_t import StudentT
from .transformed import Curved, Ring, Rotated, Warped, orthogonal

Sides = tuple[Distribution, Distribution]


def add(name: str, sides: Callable[[], Sides], description: str, truth: Any = exact) -> None:
    """Register a problem whose two sides are made when it is loaded."""

    def build() -> DistributionPair:
        return DistributionPair(f"hard/{name}", *sides(), truth, description)

    register(f"hard/{name}", build)


def margins(*names: tuple[Any, ...]) -> Product:
    """Independent columns, each given by a name in scipy.stats and its parameters."""
    return Product([Margin(*name) for name in names])


def _gamma() -> Sides:
    return Margin("gamma", 2.0), Margin("gamma", 5.0)


def _cauchy() -> Sides:
    return StudentT(1.0, 0.0), StudentT(1.0, 4.0)


def _pareto() -> Sides:
    return Margin("lomax", 1.5), Margin("lognorm", 1.0)


def _ring() -> Sides:
    centres = [(2.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.0, -2.0)]
    return Mixture([Gaussian(centre, 0.3) for centre in centres]), Gaussian(0.0, 2.0, dim=2)


def _circle() -> Sides:
    return Ring(Margin("gamma", 225.0, 0.0, 1 / 75)), Gaussian([1.0, 0.0], 2.0)


def _banana() -> Sides:
    return Curved(Gaussian([0.0, -1.0], [1.5, 0.4]), 0.5), Gaussian([0.5, 0.0], [2.0, 2.5])


def _zero_inflated() -> Sides:
    def side(shares: Sequence[float], *scales: float) -> Mixture:
        amounts = Margin("lognorm", 1.0, 0.0, scales[0]), Margin("gamma", 2.0, 0.0, scales[1])
        # None, the first alone, the second alone, both.
        zero = Point(0.0)
        patterns: list[Sequence[Distribution]] = [
            (zero, zero),
            (amounts[0], zero),
            (zero, amounts[1]),
            amounts,
        ]
        return Mixture([Product(pattern) for pattern in patterns], shares)

    return side((0.4, 0.2, 0.1, 0.3), 1.0, 1.0), side((0.1, 0.2, 0.3, 0.4), 3.0, 2.5)


def _beta() -> Sides:
    return margins(*[("beta", 2.0, 5.0)] * 3), margins(*[("beta", 5.0, 1.5)] * 3)


def _modes_in_q() -> Sides:
    Q = orthogonal(3, 7)
    places = [(3.5, 0.0), (-2.0, 3.0), (-2.0, -3.0)]
    modes = Mixture([Gaussian(place, 0.8) for place in places], [0.5, 0.3, 0.2])
    p = Product([Gaussian(0.0, 1.5, 0.4, dim=2), Gaussian(0.5, 0.7)])
    return Rotated(p, Q), Rotated(Product([modes, Gaussian(0.0)]), Q)


def _discrete() -> Sides:
    def side(shares: Sequence[float], spread: float, lift: float) -> Mixture:
        def given(k: int) -> Gaussian:
            scale = [1 / (1 + k), spread * (1 + k), 0.5]
            return Gaussian([2.0 * k, lift * k, (-1.0) ** k], scale, 0.3 * k - 0.4)

        return Mixture([Product([Point(k), given(k)]) for k in range(4)], shares)

    return side((0.4, 0.3, 0.2, 0.1), 0.5, 1.0), side((0.1, 0.2, 0.3, 0.4), 0.8, -0.5)


def _lognormal() -> Sides:
    maps = (EXP,) * 5
    p, q = Gaussian(0.0, 0.5, 0.6, dim=5), Gaussian([0.5, 0, 0.5, 0, 0], 1.0, [-0.3, 0.3])
    return Warped(p, maps), Warped(q, maps)


def _cube() -> Sides:
    q = [("beta", 3.0, 3.0), ("beta", 0.4, 0.4), ("truncnorm", -2.0, 2.0, 0.5, 0.25)]
    return margins(*[("uniform",)] * 5), margins(*q, ("beta", 0.4, 0.8), ("beta", 2.5, 1.5))


def _modes_in_p() -> Sides:
    modes = [
        Gaussian([4.0, 0.0, 0.0, 2.0, -1.0], [0.5, 0.7, 0.6, 0.5, 0.8], [0.7, 0.0]),
        Gaussian([-3.0, 3.0, 1.0, -2.0, 0.0], [0.8, 0.4, 0.5, 0.9, 0.4], [-0.6, 0.5]),
        Gaussian([0.0, -4.0, -2.0, 0.0, 2.0], [1.2, 0.9, 0.7, 0.6, 1.0], [0.0, -0.8]),
    ]
    return Mixture(modes, [0.5, 0.3, 0.2]), Gaussian([0.5, 0.0, 0.0, 0.0, 0.0], 3.0)


add("gamma", _gamma, "Gamma(2) against Gamma(5).")
add("cauchy", _cauchy, "Cauchy at 0 against Cauchy at 4.")
add("pareto", _pareto, "Pareto tail of infinite variance (Lomax, 1.5) against lognormal.")
add("ring", _ring, "2-d: four narrow modes around zero against a wide normal.")
add("circle", _circle, "2-d: noisy circle of radius 3 against a normal off its centre.")
add("banana", _banana, "2-d: normal bent along a parabola against a wide normal.")
add(
    "zero-inflated",
    _zero_inflated,
    "2-d: exact zeros or skewed amounts, other shares and scales.",
    by_label,
)
add("beta-3", _beta, "3-d: Beta(2, 5) against Beta(5, 1.5) in each column.")
add("modes-in-q", _modes_in_q, "3-d: normal against three modes around it.")
add(
    "discrete-continuous",
    _discrete,
    "4-d: a count, and normals whose mean and spread depend on it.",
    by_label,
)
add("lognormal-5", _lognormal, "5-d: correlated lognormals of sigma 0.5 and 1.")
add("cube-5", _cube, "5-d: uniform cube against betas and a truncated normal.")
add(
    "modes-in-p",
    _modes_in_p,
    "5-d: three separate modes of unequal shapes against one normal.",
    Stored(5.918273, 0.000556),
)
