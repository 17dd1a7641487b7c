"""KL divergences of composed distributions: taken apart where that is exact, then quadrature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..typing import Array
from .base import Distribution
from .gaussian import Gaussian
from .mixture import Mixture
from .products import Margin, Point, Product
from .student_t import StudentT
from .transformed import Curved, Ring, Rotated, Warped
from .truths import Truth, gaussians, to_student_t


def exact(p: Any, q: Any) -> Truth:
    """KL of p from q.

    Maps that both share are taken off and independent parts are added up. What
    remains is closed form between normals and between Student-t's, and otherwise
    a mean over the nodes of p, which must then have at most two columns.

    Examples
    --------
    >>> p, q = Margin("gamma", 2.0), Margin("gamma", 5.0)
    >>> round(exact(p, q).kl, 6)
    1.909701
    """
    if isinstance(p, Rotated) and isinstance(q, Rotated) and p.matrix is q.matrix:
        return exact(p.base, q.base)
    if isinstance(p, Warped) and isinstance(q, Warped) and p.maps is q.maps:
        return exact(p.base, q.base)
    if isinstance(p, Product) and isinstance(q, Product) and p.dims == q.dims:
        pairs = list(zip(p.parts, q.parts, strict=True))
        found = {pair: exact(*pair) for pair in set(pairs)}  # a part may come many times
        return _total([found[pair] for pair in pairs])
    if isinstance(p, Point) and isinstance(q, Point):
        return Truth(0.0 if p.value == q.value else math.inf, 0.0, "closed form")
    if isinstance(p, Gaussian) and isinstance(q, Gaussian):
        return gaussians(p, q)
    if isinstance(p, (Gaussian, StudentT)) and isinstance(q, StudentT):
        return to_student_t(p, q)
    x, weight = nodes(p)
    return Truth(float(weight @ (p.log_density(x) - q.log_density(x))), 0.0, "quadrature")


def by_label(p: Mixture, q: Mixture) -> Truth:
    """KL of mixtures whose components of one number share a support that no other meets."""
    shares = Truth(float(p.weights @ np.log(p.weights / q.weights)), 0.0, "closed form")
    parts = [exact(a, b) for a, b in zip(p.components, q.components, strict=True)]
    scaled = [t._replace(kl=float(w) * t.kl) for w, t in zip(p.weights, parts, strict=True)]
    return _total([shares, *scaled])


def equal(p: Distribution, q: Distribution) -> Truth:
    """KL of a distribution from itself."""
    return Truth(0.0, 0.0, "closed form")


@dataclass(frozen=True)
class Stored:
    """A KL that was found once, by ``MonteCarlo(n, seed=0)``, and takes too long to find again."""

    kl: float
    std_error: float
    n: int = 10_000_000

    def __call__(self, p: Distribution, q: Distribution) -> Truth:
        """Return the stored numbers."""
        return Truth(self.kl, self.std_error, "monte carlo")


def nodes(p: Any) -> tuple[Array, Array]:
    """Points, shape (m, dim), and weights that sum to one, for means under p."""
    if isinstance(p, Margin):
        return p.nodes()
    if isinstance(p, Gaussian):
        return _normal_nodes(p)
    if isinstance(p, Mixture):
        parts = [nodes(part) for part in p.components]
        weights = [w * weight for w, (_, weight) in zip(p.weights, parts, strict=True)]
        return np.concatenate([x for x, _ in parts]), np.concatenate(weights)
    if isinstance(p, (Warped, Curved, Rotated)):
        x, weight = nodes(p.base)
        return p.forward(x), weight
    if isinstance(p, Ring):
        radius, weight = nodes(p.radius)
        angle = 2 * math.pi * np.arange(64) / 64
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        x = (radius[:, None, :] * circle).reshape(-1, 2)
        return x, np.repeat(weight / 64, 64)
    raise TypeError(f"there is no quadrature for {type(p).__name__}.")


def _normal_nodes(p: Gaussian) -> tuple[Array, Array]:
    # The trapezoidal rule converges geometrically here. These steps are fine enough for
    # the bends of a mixture's log-density between two modes, which are nearly corners.
    if p.dim > 2:
        raise TypeError(f"normal nodes are for at most two columns; received {p.dim}.")
    step = 1 / 64 if p.dim == 1 else 1 / 8
    line = np.arange(-9.0, 9.0 + step, step)
    z = np.array(list(product(line, repeat=p.dim)))
    weight = np.exp(-0.5 * (z**2).sum(axis=1))
    return p.scatter.colour(z) + p.loc, weight / weight.sum()


def _total(terms: list[Truth]) -> Truth:
    closed = all(term.by == "closed form" for term in terms)
    return Truth(sum(t.kl for t in terms), 0.0, "closed form" if closed else "quadrature")
