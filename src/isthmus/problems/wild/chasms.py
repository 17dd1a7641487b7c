"""Far apart, and not elliptical: 10 to 90 nats in two to ten columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..composed import Margin, Mixture, Product
from ..elliptical import Gaussian
from ..transformed import Rotated, orthogonal
from ..truths import to_two_gaussians
from .problem import Sides, wild


def sources(seed: int, p: Sequence[tuple[Any, ...]], q: Sequence[tuple[Any, ...]]) -> Sides:
    """Independent columns by their names in scipy.stats, turned by one matrix."""
    Q = orthogonal(len(p), seed)
    turned = partial(Rotated, matrix=Q)
    return tuple(turned(Product([Margin(*law) for law in side])) for side in (p, q))  # type: ignore[return-value]


@wild("chasms", 2000, 2000)
def logistic_tails() -> Sides:
    """4-d: logistic columns, narrow and far from those of q."""
    p = Product([Margin("logistic", 4.0, 0.4)] * 4)
    return p, Product([Margin("logistic", -2.0, 0.7)] * 4)


@wild("chasms", 2000, 2000)
def laplace_sources() -> Sides:
    """8-d: Laplace sources that are mixed by a rotation, shifted."""
    return sources(21, [("laplace", 3.0, 0.6)] * 8, [("laplace", -1.0, 0.9)] * 8)


@wild("chasms", 2000, 2000)
def gumbel_columns() -> Sides:
    """3-d: Gumbel columns, p to the right of q's."""
    return (
        Product([Margin("gumbel_r", 6.0, 0.6)] * 3),
        Product([Margin("gumbel_r", 0.0, 0.9)] * 3),
    )


@wild("chasms", 2000, 2000)
def generalised_normals() -> Sides:
    """5-d: generalised normals of exponent 1.4, rotated and far apart."""
    return sources(22, [("gennorm", 1.4, 3.5, 0.8)] * 5, [("gennorm", 1.4, -3.0, 1.2)] * 5)


@wild("chasms", 2000, 2000, to_two_gaussians)
def rare_component() -> Sides:
    """3-d: a normal against one far away, of which two rows in a hundred lie nearer."""
    q = Mixture([Gaussian(0.0, dim=3), Gaussian(4.0, dim=3)], [0.98, 0.02])
    return Gaussian(4.5, 0.6, dim=3), q


@wild("chasms", 2000, 2000)
def skewed_sources() -> Sides:
    """6-d: skew normal and Gumbel sources, mixed by a rotation."""
    p = [("skewnorm", 4.0, 3.0, 0.8), ("gumbel_l", 3.0, 0.5), ("skewnorm", -4.0, 3.0, 1.0)] * 2
    q = [("skewnorm", 2.0, -1.0, 1.2), ("gumbel_l", 0.0, 1.0), ("skewnorm", 3.0, -1.0, 1.5)] * 2
    return sources(23, p, q)


@wild("chasms", 2000, 2000)
def mixed_tails() -> Sides:
    """10-d: normal, logistic and Laplace sources, narrow where q is wide, rotated."""
    laws = ["norm", "logistic", "laplace", "norm", "logistic"] * 2
    near = np.linspace(0.1, 0.4, 10)
    return sources(
        24,
        [(law, 1.0, scale) for law, scale in zip(laws, near, strict=True)],
        [(law, 0.0, 1.0) for law in laws],
    )
