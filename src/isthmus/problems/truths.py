r"""KL divergences of pairs of distributions, each by the sharpest means there is.

Every function takes p and q and returns a :class:`Truth`. A problem names the
one that fits; none is needed twice, since a problem keeps its answer.

=========================  ==========================================  ===========
function                   pairs                                       by
=========================  ==========================================  ===========
:func:`exact`              composed, taken apart where that is exact   either
:func:`gaussians`          normal and normal                           closed form
:func:`to_student_t`       normal or Student-t and Student-t           quadrature
:func:`to_two_gaussians`   normal and mixture of two normals           quadrature
:func:`on_intervals`       one-dimensional, finite support             quadrature
:func:`by_label`           mixtures of components that never meet      either
:class:`MonteCarlo`        anything                                    monte carlo
=========================  ==========================================  ===========

The high-dimensional ones reduce to one-dimensional integrals of analytic
functions that vanish at both ends. There the trapezoidal rule converges
geometrically, and a fixed grid reaches rounding error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from .base import Distribution
from .composed import Mixture, Point, Product
from .elliptical import Elliptical, Gaussian, StudentT, relative_spectrum
from .transformed import Mapped


class Truth(NamedTuple):
    """A KL divergence, its standard error (0 unless sampled) and how it was found.

    Examples
    --------
    >>> from isthmus.problems import Truth
    >>> Truth(0.5, 0.0, "closed form").kl
    0.5
    """

    kl: float
    std_error: float
    by: str


def gaussians(p: Gaussian, q: Gaussian) -> Truth:
    r"""KL between two normals, :math:`\frac12\sum_i(\lambda_i - 1 - \log\lambda_i + m_i^2)`.

    The :math:`\lambda_i` are the eigenvalues of p's covariance, and m the
    difference of means, in coordinates where q's covariance is the identity.

    Examples
    --------
    >>> round(gaussians(Gaussian(-1.0, 0.08), Gaussian(2.0, 0.15)).kl, 4)
    200.2708
    """
    values, shift = relative_spectrum(p, q)
    kl = 0.5 * float((values - 1 - np.log(values) + shift**2).sum())
    return Truth(kl, 0.0, "closed form")


def to_student_t(p: Elliptical, q: StudentT) -> Truth:
    r"""KL from a normal or Student-t to a Student-t, by one integral.

    What is not closed form is :math:`E\log(1 + \|v\|^2/\nu)` with v a row of p
    in q's whitened coordinates, :math:`v = m + e/\sqrt g`. Multiplied by g, the
    argument becomes :math:`A = g + \|\sqrt g\,m + e\|^2/\nu`, whose Laplace
    transform is known: a product over the directions of the normal e, then g's
    own transform. And for positive A with mean a,

    .. math:: E\log A = \log a + \int_0^\infty \bigl(e^{-t} - E e^{-tA/a}\bigr)\,\frac{dt}{t}.

    Examples
    --------
    >>> p, q = StudentT(5.0, 0.3), StudentT(5.0, 0.3)
    >>> abs(to_student_t(p, q).kl) < 1e-12
    True
    """
    values, shift = relative_spectrum(p, q)
    df = q.df
    mean = 1 + (values.sum() + (shift**2).sum()) / df
    # log t from -40 to 80: below, the integrand is O(t^2); above, exp(-t) is 0
    # and the transform falls at least like t^(-dim/2).
    step = 1 / 16
    t = np.exp(np.arange(-40.0, 80.0 + step, step))
    tau = t[:, None] / (mean * df)
    spread = 1 + 2 * tau * values
    s = t / mean + (tau * shift**2 / spread).sum(axis=1)
    log_transform = p.log_laplace_precision(s) - 0.5 * np.log(spread).sum(axis=1)
    integral = step * float((np.expm1(-t) - np.expm1(log_transform)).sum())
    mean_log = math.log(mean) + integral - p.mean_log_precision
    cross = -q.log_constant + 0.5 * (df + q.dim) * mean_log
    return Truth(float(cross - p.entropy), 0.0, "quadrature")


def to_two_gaussians(p: Gaussian, q: Mixture) -> Truth:
    r"""KL from a normal to a mixture of two normals with one covariance, by one integral.

    :math:`\log q_2/q_1` is linear in x, so that under p it is one normal number
    :math:`l`, and :math:`KL(p\|q) = KL(p\|q_1) - E\log(w_1 + w_2 e^l)`.

    Examples
    --------
    >>> q = Mixture([Gaussian(0.0), Gaussian(0.0)])
    >>> abs(to_two_gaussians(Gaussian(0.0), q).kl) < 1e-12
    True
    """
    parts: tuple[Any, ...] = q.components
    if len(parts) != 2 or not all(isinstance(part, Gaussian) for part in parts):
        raise ValueError(f"q must be a mixture of two Gaussians; received {q!r}.")
    first, second = parts
    if not np.array_equal(first.scatter.matrix(), second.scatter.matrix()):
        raise ValueError("q's components must share one covariance; received two different ones.")
    to_first, to_second = gaussians(p, first).kl, gaussians(p, second).kl
    # The slope of l in q's whitened coordinates, and its length under p.
    slope = first.scatter.whiten((second.loc - first.loc)[None, :])
    whitened = first.scatter.whiten(p.scatter.colour(np.eye(p.dim)))
    spread = float(np.linalg.norm(whitened @ slope[0]))
    # The integrand's singularities lie pi / spread off the axis: the step follows.
    step = 1 / (16 * max(1.0, spread))
    z = np.arange(-12.0, 12.0 + step, step)
    log_w = np.log(q.weights)
    mixed = np.logaddexp(log_w[0], log_w[1] + to_first - to_second + spread * z)
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    return Truth(to_first - step * float(density @ mixed), 0.0, "quadrature")


class Bounded(Distribution, Protocol):
    """A one-dimensional distribution that knows the intervals (low, high) of its support."""

    @property
    def support(self) -> tuple[tuple[float, float], ...]: ...


def on_intervals(p: Bounded, q: Bounded) -> Truth:
    """KL of one-dimensional distributions on finite intervals; infinite if p is not within q.

    Examples
    --------
    >>> from isthmus.problems import TruncatedNormal
    >>> p, q = TruncatedNormal(0, 1, 0, 2), TruncatedNormal(0, 1, 0, 1)
    >>> on_intervals(p, q).kl, round(on_intervals(q, p).kl, 4)
    (inf, 0.3351)
    """
    from scipy import integrate

    def integrand(value: float) -> float:
        log_p, log_q = (float(side.log_density([value])[0]) for side in (p, q))
        return math.exp(log_p) * (log_p - log_q)

    ends = [end for side in (p, q) for interval in side.support for end in interval]
    if not np.isfinite(ends).all():
        raise ValueError(
            f"p and q must have finite supports; received {p.support} and {q.support}."
        )
    total = 0.0
    for low, high in pairwise(sorted(set(ends))):
        # Densities are smooth within a piece and may jump at its ends, so the
        # midpoint says whether a side is there at all.
        log_p, log_q = (float(side.log_density([0.5 * (low + high)])[0]) for side in (p, q))
        if log_p == -math.inf:
            continue
        if log_q == -math.inf:
            return Truth(math.inf, 0.0, "quadrature")
        piece, _ = integrate.quad(integrand, low, high, epsabs=1e-13, epsrel=1e-12, limit=200)
        total += piece
    return Truth(total, 0.0, "quadrature")


@dataclass(frozen=True)
class MonteCarlo:
    """KL of any pair as a mean over samples of p, with its standard error.

    Parameters
    ----------
    n : int
        Number of samples.
    seed : int
        Seed of the samples: the same pair always gets the same truth.
    chunk : int
        Number of float64 values drawn at a time, to bound memory.

    Examples
    --------
    >>> estimate = MonteCarlo(n=20_000)(Gaussian(0.0), Gaussian(1.0))
    >>> bool(abs(estimate.kl - 0.5) < 4 * estimate.std_error < 0.03)
    True
    """

    n: int = 1_000_000
    seed: int = 0
    chunk: int = 4_000_000

    def __post_init__(self) -> None:
        if self.n < 2:
            raise ValueError(f"n must be at least 2; received {self.n!r}.")

    def __call__(self, p: Distribution, q: Distribution) -> Truth:
        rng = np.random.default_rng(self.seed)
        rows = max(1, self.chunk // p.dim)
        ratios = np.empty(self.n)
        for start in range(0, self.n, rows):
            x = p.sample(min(rows, self.n - start), rng)
            ratios[start : start + rows] = p.log_density(x) - q.log_density(x)
        error = float(ratios.std(ddof=1)) / math.sqrt(self.n)
        return Truth(float(ratios.mean()), error, "monte carlo")


@dataclass(frozen=True)
class Stored:
    """A KL that was found once, by ``MonteCarlo(n, seed=0)``, and takes too long to find again."""

    kl: float
    std_error: float
    n: int = 10_000_000

    def __call__(self, p: Distribution, q: Distribution) -> Truth:
        return Truth(self.kl, self.std_error, "monte carlo")


def equal(p: Distribution, q: Distribution) -> Truth:
    """KL of a distribution from itself."""
    return Truth(0.0, 0.0, "closed form")


def exact(p: Any, q: Any) -> Truth:
    """KL of p from q.

    A bijection that both share is taken off and independent parts are added up. What
    remains is closed form between normals and between Student-t's, and otherwise
    a mean over the nodes of p, which must then have at most two columns.

    Examples
    --------
    >>> from isthmus.problems import Margin
    >>> round(exact(Margin("gamma", 2.0), Margin("gamma", 5.0)).kl, 6)
    1.909701
    """
    if isinstance(p, Mapped) and isinstance(q, Mapped) and p.bijection is q.bijection:
        return exact(p.base, q.base)
    if isinstance(p, Product) and isinstance(q, Product) and p.dims == q.dims:
        pairs = list(zip(p.parts, q.parts, strict=True))
        found = {pair: exact(*pair) for pair in set(pairs)}  # a part may come many times
        return _total([found[pair] for pair in pairs])
    if isinstance(p, Point) and isinstance(q, Point):
        return Truth(0.0 if p.value == q.value else math.inf, 0.0, "closed form")
    if isinstance(p, Gaussian) and isinstance(q, Gaussian):
        return gaussians(p, q)
    if isinstance(p, Elliptical) and isinstance(q, StudentT):
        return to_student_t(p, q)
    x, weight = p.nodes()
    return Truth(float(weight @ (p.log_density(x) - q.log_density(x))), 0.0, "quadrature")


def by_label(p: Mixture, q: Mixture) -> Truth:
    """KL of mixtures whose components of one number share a support that no other meets."""
    shares = Truth(float(p.weights @ np.log(p.weights / q.weights)), 0.0, "closed form")
    parts = [exact(a, b) for a, b in zip(p.components, q.components, strict=True)]
    scaled = [t._replace(kl=float(w) * t.kl) for w, t in zip(p.weights, parts, strict=True)]
    return _total([shares, *scaled])


def _total(terms: list[Truth]) -> Truth:
    closed = all(term.by == "closed form" for term in terms)
    return Truth(sum(t.kl for t in terms), 0.0, "closed form" if closed else "quadrature")
