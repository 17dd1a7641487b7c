"""Hard problems in ten to fifty dimensions, and pairs that do not differ at all.

The ratio of two fitted normals misses each of the hard KLs by more than a fifth.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .gaussian import Gaussian, correlation_for
from .hard_low import Sides, add, margins
from .maps import CUBIC, EXP, SINH, quantile, wiggle
from .mixture import Mixture
from .pair import DistributionPair
from .products import Margin, Product
from .quadrature import Stored, equal
from .registry import register
from .student_t import StudentT
from .transformed import Rotated, Warped, orthogonal


def _modes_in_both() -> Sides:
    # Three places that p and q share, up to a nudge, and one more that only q has.
    places = 4.0 * orthogonal(10, 9)[:4]
    p = [Gaussian(places[k], scale, 0.5) for k, scale in enumerate((0.6, 0.9, 0.7))]
    q = [Gaussian(0.8 * places[k] + 0.2, scale) for k, scale in enumerate((1.0, 0.8, 1.2, 1.0))]
    return Mixture(p, [0.5, 0.3, 0.2]), Mixture(q, [0.4, 0.3, 0.2, 0.1])


def _heavy() -> Sides:
    p = StudentT(3.0, np.linspace(-0.5, 0.5, 10), np.linspace(0.6, 1.4, 10), 0.7)
    return p, StudentT(30.0, 0.0, 1.0, -0.2, dim=10)


def _laplace() -> Sides:
    Q = orthogonal(20, 11)
    q = Product([Gaussian(0.3, scale) for scale in np.linspace(1.2, 1.9, 20)])
    return Rotated(margins(*[("laplace",)] * 20), Q), Rotated(q, Q)


def _skew() -> Sides:
    def side(rho: float, *laws: tuple[Any, ...]) -> Product:
        maps = [quantile(Margin(*law)) for law in laws]
        block = [Warped(Gaussian(0.0, rho=rho, dim=2), maps[i : i + 2]) for i in (0, 2)]
        return Product(block * 5)

    p = side(0.7, ("expon",), ("gumbel_r",), ("chi2", 3.0), ("gamma", 2.0))
    q = side(-0.3, ("gamma", 2.0, 0.0, 0.7), ("gumbel_r", 0.5), ("expon", 0.0, 3.0), ("chi2", 5.0))
    return p, q


def _warped() -> Sides:
    maps = (CUBIC, EXP, SINH, wiggle(0.8)) * 10
    rho = correlation_for(20.0, 40)
    return Warped(Gaussian(0.0, rho=rho, dim=40), maps), Warped(Gaussian(0.0, dim=40), maps)


def _subspaces() -> Sides:
    Q = orthogonal(50, 13)
    narrow, wide = [("t", 3.0, 0.0, 0.3)] * 10, [("t", 3.0, 0.0, 1.0)] * 10
    noise = [("norm",), ("laplace",), ("logistic",)] * 10
    return Rotated(margins(*narrow, *wide, *noise), Q), Rotated(margins(*wide, *narrow, *noise), Q)


def _modes() -> Sides:
    Q = orthogonal(50, 17)
    rest = Gaussian(0.0, dim=49)
    p = Mixture([Gaussian(-3.0), Gaussian(3.0)], [0.5, 0.5])
    q = Mixture([Gaussian(-3.5), Gaussian(2.5)], [0.9, 0.1])
    moved = Gaussian([0.5, *[0.0] * 48])
    return Rotated(Product([p, rest]), Q), Rotated(Product([q, moved]), Q)


add(
    "modes-in-both-10",
    _modes_in_both,
    "10-d: three modes against four that partly overlap them.",
    Stored(2.926044, 0.000650),
)
add("heavy-10", _heavy, "10-d: correlated Student-t of 3 degrees of freedom against one of 30.")
add("laplace-20", _laplace, "20-d: independent Laplace against independent normal, rotated.")
add("skew-20", _skew, "20-d: skewed columns with a Gaussian copula, other margins and correlation.")
add("warped-40", _warped, "40-d: the first pair of Table 2 through non-linear maps of its columns.")
add(
    "subspaces-50",
    _subspaces,
    "50-d: heavy tails, narrow along 10 directions where q is wide, and the reverse.",
)
add("modes-50", _modes, "50-d: two modes along one direction, other shares and a shift.")


def _same(name: str, dim: int) -> DistributionPair:
    p = Gaussian(0.0, rho=0.5, dim=dim)
    return DistributionPair(name, p, p, equal, f"{dim}-d: p and q are the same normal.")


for _dim in (1, 10, 100):
    register(f"same/{_dim}", partial(_same, f"same/{_dim}", _dim))
