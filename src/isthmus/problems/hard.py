"""Hard problems in one to fifty dimensions, and pairs that do not differ at all.

The ratio of two fitted normals misses each of the hard KLs by more than a fifth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import truths
from .base import Distribution
from .composed import Margin, Mixture, Point, Product
from .elliptical import Gaussian, StudentT, correlation_for
from .maps import CUBIC, EXP, SINH, quantile, wiggle
from .pair import DistributionPair
from .registry import register
from .transformed import Curved, Ring, Rotated, Warped, orthogonal

Sides = tuple[Distribution, Distribution]


def _margins(*names: tuple[Any, ...]) -> Product:
    """Independent columns, each given by a name in scipy.stats and its parameters."""
    return Product([Margin(*name) for name in names])


def _rotated(seed: int, p: Distribution, q: Distribution) -> Sides:
    """Both sides turned by the same matrix."""
    Q = orthogonal(p.dim, seed)
    return Rotated(p, Q), Rotated(q, Q)


def _warped(maps: Sequence[Any], p: Distribution, q: Distribution) -> Sides:
    """The columns of both sides through the same maps."""
    return Warped(p, maps), Warped(q, maps)


def _modes(places: Any, scales: Sequence[float], shares: Sequence[float], rho: float = 0.0) -> Any:
    """A mixture of normals at some places."""
    each = zip(places, scales, strict=True)
    return Mixture([Gaussian(place, scale, rho) for place, scale in each], shares)


def _with_zeros(shares: Sequence[float], *scales: float) -> Mixture:
    """Two amounts: none, the first alone, the second alone, both."""
    first, second = Margin("lognorm", 1.0, 0.0, scales[0]), Margin("gamma", 2.0, 0.0, scales[1])
    zero = Point(0.0)
    patterns: list[Sequence[Distribution]] = [
        (zero, zero), (first, zero), (zero, second), (first, second)
    ]  # fmt: skip
    return Mixture([Product(pattern) for pattern in patterns], shares)


def _with_count(shares: Sequence[float], spread: float, lift: float) -> Mixture:
    """A count, and three columns whose means and scales depend on it."""

    def given(k: int) -> Gaussian:
        scale = [1 / (1 + k), spread * (1 + k), 0.5]
        return Gaussian([2.0 * k, lift * k, (-1.0) ** k], scale, 0.3 * k - 0.4)

    return Mixture([Product([Point(k), given(k)]) for k in range(4)], shares)


def _modes_in_p() -> Sides:
    modes = [
        Gaussian([4.0, 0.0, 0.0, 2.0, -1.0], [0.5, 0.7, 0.6, 0.5, 0.8], [0.7, 0.0]),
        Gaussian([-3.0, 3.0, 1.0, -2.0, 0.0], [0.8, 0.4, 0.5, 0.9, 0.4], [-0.6, 0.5]),
        Gaussian([0.0, -4.0, -2.0, 0.0, 2.0], [1.2, 0.9, 0.7, 0.6, 1.0], [0.0, -0.8]),
    ]
    return Mixture(modes, [0.5, 0.3, 0.2]), Gaussian([0.5, 0.0, 0.0, 0.0, 0.0], 3.0)


def _modes_in_both() -> Sides:
    # Three places that p and q share, up to a nudge, and one more that only q has.
    places = 4.0 * orthogonal(10, 9)[:4]
    p = _modes(places[:3], (0.6, 0.9, 0.7), [0.5, 0.3, 0.2], rho=0.5)
    return p, _modes(0.8 * places + 0.2, (1.0, 0.8, 1.2, 1.0), [0.4, 0.3, 0.2, 0.1])


def _skewed(rho: float, *laws: tuple[Any, ...]) -> Product:
    """Four margins with a Gaussian copula of pairs, five times."""
    maps = [quantile(Margin(*law)) for law in laws]
    block = [Warped(Gaussian(0.0, rho=rho, dim=2), maps[i : i + 2]) for i in (0, 2)]
    return Product(block * 5)


def _subspaces() -> Sides:
    narrow, wide = [("t", 3.0, 0.0, 0.3)] * 10, [("t", 3.0, 0.0, 1.0)] * 10
    noise = [("norm",), ("laplace",), ("logistic",)] * 10
    return _rotated(13, _margins(*narrow, *wide, *noise), _margins(*wide, *narrow, *noise))


def _two_modes() -> Sides:
    p, q = _modes([-3.0, 3.0], [1, 1], [0.5, 0.5]), _modes([-3.5, 2.5], [1, 1], [0.9, 0.1])
    moved = Gaussian([0.5, *[0.0] * 48])
    return _rotated(17, Product([p, Gaussian(0.0, dim=49)]), Product([q, moved]))


_WORDS = {
    "gamma": "Gamma(2) against Gamma(5).",
    "cauchy": "Cauchy at 0 against Cauchy at 4.",
    "pareto": "Pareto tail of infinite variance (Lomax, 1.5) against lognormal.",
    "ring": "2-d: four narrow modes around zero against a wide normal.",
    "circle": "2-d: noisy circle of radius 3 against a normal off its centre.",
    "banana": "2-d: normal bent along a parabola against a wide normal.",
    "zero-inflated": "2-d: exact zeros or skewed amounts, other shares and scales.",
    "beta-3": "3-d: Beta(2, 5) against Beta(5, 1.5) in each column.",
    "modes-in-q": "3-d: normal against three modes around it.",
    "discrete-continuous": "4-d: a count, and normals whose mean and spread depend on it.",
    "lognormal-5": "5-d: correlated lognormals of sigma 0.5 and 1.",
    "cube-5": "5-d: uniform cube against betas and a truncated normal.",
    "modes-in-p": "5-d: three separate modes of unequal shapes against one normal.",
    "modes-in-both-10": "10-d: three modes against four that partly overlap them.",
    "heavy-10": "10-d: correlated Student-t of 3 degrees of freedom against one of 30.",
    "laplace-20": "20-d: independent Laplace against independent normal, rotated.",
    "skew-20": "20-d: skewed columns with a Gaussian copula, other margins and correlation.",
    "warped-40": "40-d: the first pair of Table 2 through non-linear maps of its columns.",
    "subspaces-50": "50-d: heavy tails, narrow along 10 directions where q is wide, and the "
    "reverse.",
    "modes-50": "50-d: two modes along one direction, other shares and a shift.",
}
_SIDES: dict[str, Callable[[], Sides]] = {
    "gamma": lambda: (Margin("gamma", 2.0), Margin("gamma", 5.0)),
    "cauchy": lambda: (StudentT(1.0, 0.0), StudentT(1.0, 4.0)),
    "pareto": lambda: (Margin("lomax", 1.5), Margin("lognorm", 1.0)),
    "ring": lambda: (
        _modes([(2.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.0, -2.0)], [0.3] * 4, [0.25] * 4),
        Gaussian(0.0, 2.0, dim=2),
    ),
    "circle": lambda: (Ring(Margin("gamma", 225.0, 0.0, 1 / 75)), Gaussian([1.0, 0.0], 2.0)),
    "banana": lambda: (
        Curved(Gaussian([0.0, -1.0], [1.5, 0.4]), 0.5),
        Gaussian([0.5, 0.0], [2.0, 2.5]),
    ),
    "zero-inflated": lambda: (
        _with_zeros((0.4, 0.2, 0.1, 0.3), 1.0, 1.0),
        _with_zeros((0.1, 0.2, 0.3, 0.4), 3.0, 2.5),
    ),
    "beta-3": lambda: (_margins(*[("beta", 2.0, 5.0)] * 3), _margins(*[("beta", 5.0, 1.5)] * 3)),
    "modes-in-q": lambda: _rotated(
        7,
        Product([Gaussian(0.0, 1.5, 0.4, dim=2), Gaussian(0.5, 0.7)]),
        Product(
            [
                _modes([(3.5, 0.0), (-2.0, 3.0), (-2.0, -3.0)], [0.8] * 3, [0.5, 0.3, 0.2]),
                Gaussian(0.0),
            ]
        ),
    ),
    "discrete-continuous": lambda: (
        _with_count((0.4, 0.3, 0.2, 0.1), 0.5, 1.0),
        _with_count((0.1, 0.2, 0.3, 0.4), 0.8, -0.5),
    ),
    "lognormal-5": lambda: _warped(
        (EXP,) * 5,
        Gaussian(0.0, 0.5, 0.6, dim=5),
        Gaussian([0.5, 0, 0.5, 0, 0], 1.0, [-0.3, 0.3]),
    ),
    "cube-5": lambda: (
        _margins(*[("uniform",)] * 5),
        _margins(
            ("beta", 3.0, 3.0),
            ("beta", 0.4, 0.4),
            ("truncnorm", -2.0, 2.0, 0.5, 0.25),
            ("beta", 0.4, 0.8),
            ("beta", 2.5, 1.5),
        ),
    ),
    "modes-in-p": _modes_in_p,
    "modes-in-both-10": _modes_in_both,
    "heavy-10": lambda: (
        StudentT(3.0, np.linspace(-0.5, 0.5, 10), np.linspace(0.6, 1.4, 10), 0.7),
        StudentT(30.0, 0.0, 1.0, -0.2, dim=10),
    ),
    "laplace-20": lambda: _rotated(
        11,
        _margins(*[("laplace",)] * 20),
        Product([Gaussian(0.3, scale) for scale in np.linspace(1.2, 1.9, 20)]),
    ),
    "skew-20": lambda: (
        _skewed(0.7, ("expon",), ("gumbel_r",), ("chi2", 3.0), ("gamma", 2.0)),
        _skewed(
            -0.3,
            ("gamma", 2.0, 0.0, 0.7),
            ("gumbel_r", 0.5),
            ("expon", 0.0, 3.0),
            ("chi2", 5.0),
        ),
    ),
    "warped-40": lambda: _warped(
        (CUBIC, EXP, SINH, wiggle(0.8)) * 10,
        Gaussian(0.0, rho=correlation_for(20.0, 40), dim=40),
        Gaussian(0.0, dim=40),
    ),
    "subspaces-50": _subspaces,
    "modes-50": _two_modes,
}
_TRUTHS: dict[str, Any] = {
    "zero-inflated": truths.by_label,
    "discrete-continuous": truths.by_label,
    "modes-in-p": truths.Stored(5.918273, 0.000556),
    "modes-in-both-10": truths.Stored(2.926044, 0.000650),
}


def _add(name: str, sides: Callable[[], Sides], truth: Any, words: str) -> None:
    """Register a problem whose two sides are made when it is loaded."""
    register(name, lambda: DistributionPair(name, *sides(), truth, words))


def _same(dim: int) -> Sides:
    p = Gaussian(0.0, rho=0.5, dim=dim)
    return p, p


for _name, _sides in _SIDES.items():
    _add(f"hard/{_name}", _sides, _TRUTHS.get(_name, truths.exact), _WORDS[_name])
for _dim in (1, 10, 100):
    words = f"{_dim}-d: p and q are the same normal."
    _add(f"same/{_dim}", partial(_same, _dim), truths.equal, words)
