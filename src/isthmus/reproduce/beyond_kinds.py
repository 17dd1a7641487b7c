"""Kinds of problems for the experiment beyond the paper's tables: far apart, and not normal.

They were chosen by what they are, before any method was run on them: p and q 5 to 60 nats apart
in 1 to 20 columns, with a smooth log-ratio that two normals do not have. In those that "add up"
every column of p overlaps with that of q and only all of them together are far apart; in the
others no row of p lies near one of q. The last is a control, on which normals are right.
"""

from __future__ import annotations

from collections.abc import Callable

from ..problems import DistributionPair, Gaussian, Margin, Mixture, Product, load
from ..problems.transformed import Curved
from ..problems.truths import exact
from ..problems.wild.problem import Sides
from ..typing import Array

ADDS_UP, APART, CONTROL = "adds up", "apart", "control"


def _columns(n: int, *law: str | float) -> Product:
    """Independent columns of one law, by its name in scipy.stats."""
    return Product([Margin(*law)] * n)  # type: ignore[arg-type]


def _two_modes(n: int, places: tuple[float, float], scale: float, first: float) -> Product:
    """Independent columns, each with two modes."""
    modes = [Gaussian(place, scale) for place in places]
    return Product([Mixture(modes, [first, 1.0 - first])] * n)


def _bent(n: int, scale: float, bend: float) -> Product:
    """Independent pairs of columns, the second bent along a parabola of the first."""
    return Product([Curved(Gaussian([0.0, 0.0], [1.0, scale]), bend)] * n)


_SIDES: dict[str, tuple[str, str, Callable[[], Sides]]] = {
    "gamma": (
        ADDS_UP,
        "10-d: Gamma(2) against Gamma(5) in every column",
        lambda: (_columns(10, "gamma", 2.0), _columns(10, "gamma", 5.0)),
    ),
    "skewed": (
        ADDS_UP,
        "20-d: skew normal columns, other skewness, place and scale",
        lambda: (_columns(20, "skewnorm", 4.0, 0.5), _columns(20, "skewnorm", 2.0, -0.5, 1.3)),
    ),
    "flat": (
        ADDS_UP,
        "20-d: generalised normals of exponent 4, moved and wider",
        lambda: (_columns(20, "gennorm", 4.0), _columns(20, "gennorm", 4.0, 0.6, 1.3)),
    ),
    "two modes": (
        ADDS_UP,
        "15-d: two modes in every column, other places and shares",
        lambda: (
            _two_modes(15, (-1.5, 1.5), 0.6, 0.7),
            _two_modes(15, (-2.0, 0.5), 0.9, 0.3),
        ),
    ),
    "bent": (
        ADDS_UP,
        "6-d: three pairs of columns bent along parabolas, those of q the other way",
        lambda: (_bent(3, 0.5, 0.5), _bent(3, 0.7, -0.5)),
    ),
    "one column": (
        APART,
        "1-d: two skew normals",
        lambda: (Margin("skewnorm", 3.0, 4.0, 0.8), Margin("skewnorm", 2.0, -3.0)),
    ),
    "normal": (
        CONTROL,
        "10-d: two normals, columns of p correlated in pairs",
        lambda: (Gaussian(0.5, rho=0.8, dim=10), Gaussian(-0.5, dim=10)),
    ),
}
# Those of isthmus.problems that are of the same kinds.
_NAMED = {
    "copula": (ADDS_UP, "hard/skew-20"),
    "gumbel": (APART, "wild/gumbel-columns"),
    "rotated": (APART, "wild/generalised-normals"),
}
ORDER = (
    "gamma", "skewed", "flat", "two modes", "bent", "copula", "one column", "gumbel", "rotated",
    "normal",
)  # fmt: skip
"""Names of all kinds, in the order of the tables."""

_SHARES = (0.25, 0.5, 0.75)


def how_apart(kind: str) -> str:
    """Whether differences add up over columns, rows are apart in each, or normals are right."""
    return _NAMED[kind][0] if kind in _NAMED else _SIDES[kind][0]


def pair_of(kind: str) -> DistributionPair:
    """The pair of distributions of a kind, with its truth.

    Examples
    --------
    >>> round(pair_of("gamma").kl, 2), pair_of("gamma").truth_by
    (19.1, 'quadrature')
    """
    if kind in _NAMED:
        found = load(_NAMED[kind][1])
        assert isinstance(found, DistributionPair)
        return found
    _, words, sides = _SIDES[kind]
    return DistributionPair(f"beyond/{kind}", *sides(), exact, words)


def midway(p: Array, q: Array) -> Array:
    """Rows between those of p and q, a third each at a quarter, a half and three quarters."""
    mixed = p.copy()
    for k, share in enumerate(_SHARES):
        rows = slice(k, None, len(_SHARES))
        mixed[rows] = (1.0 - share) * p[rows] + share * q[rows]
    return mixed
