r"""KL divergences of pairs of distributions, each by the sharpest means there is.

Every function takes p and q and returns a :class:`Truth`. A problem names the
one that fits; none is needed twice, since a problem keeps its answer.

=========================  ==========================================  ===========
function                   pairs                                       by
=========================  ==========================================  ===========
:func:`gaussians`          normal and normal                           closed form
:func:`to_student_t`       normal or Student-t and Student-t           quadrature
:func:`to_two_gaussians`   normal and mixture of two normals           quadrature
:func:`on_intervals`       one-dimensional, finite support             quadrature
:class:`MonteCarlo`        anything                                    monte carlo
=========================  ==========================================  ===========

The high-dimensional ones reduce to one-dimensional integrals of analytic
functions that vanish at both ends. There the trapezoidal rule converges
geometrically, and a fixed grid reaches rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..typing import Array
from .base import Distribution
from .blocks import PairedScatter, relative_spectrum
from .gaussian import Gaussian
from .mixture import Mixture
from .student_t import StudentT


class Truth(NamedTuple):
    """A KL divergence, its standard error (0 unless sampled) and how it was found."""

    kl: float
    std_error: float
    by: str


class Elliptical(Protocol):
    """A normal, or a normal with a random precision factor g."""

    @property
    def loc(self) -> Array:
        """Location, shape (dim,)."""
        ...

    @property
    def scatter(self) -> PairedScatter:
        """Covariance given g = 1."""
        ...

    @property
    def entropy(self) -> float:
        """Minus the mean log-density."""
        ...

    @property
    def mean_log_precision(self) -> float:
        """E[log g]."""
        ...

    def log_laplace_precision(self, s: Array) -> Array:
        """Logarithm of E[exp(-s g)]."""
        ...


def gaussians(p: Gaussian, q: Gaussian) -> Truth:
    r"""KL between two normals, :math:`\frac12\sum_i(\lambda_i - 1 - \log\lambda_i + m_i^2)`.

    The :math:`\lambda_i` are the eigenvalues of p's covariance, and m the
    difference of means, in coordinates where q's covariance is the identity.

    Examples
    --------
    >>> round(gaussians(Gaussian(-1.0, 0.08), Gaussian(2.0, 0.15)).kl, 4)
    200.2708
    """
    values, shift = relative_spectrum(p.scatter, q.scatter, p.loc - q.loc)
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
    values, shift = relative_spectrum(p.scatter, q.scatter, p.loc - q.loc)
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
    first, second = _two_gaussians(q)
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


def _two_gaussians(q: Mixture) -> tuple[Gaussian, Gaussian]:
    parts: tuple[Any, ...] = q.components
    if len(parts) != 2 or not all(isinstance(part, Gaussian) for part in parts):
        raise ValueError(f"q must be a mixture of two Gaussians; received {q!r}.")
    first, second = parts
    same_scale = np.array_equal(first.scatter.scale, second.scatter.scale)
    if not (same_scale and np.array_equal(first.scatter.rho, second.scatter.rho)):
        raise ValueError("q's components must share one covariance; received two different ones.")
    return first, second


class Bounded(Distribution, Protocol):
    """A one-dimensional distribution that knows the intervals of its support."""

    @property
    def support(self) -> tuple[tuple[float, float], ...]:
        """Intervals (low, high)."""
        ...


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

    total = 0.0
    for low, high in _pieces(p, q):
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


def _pieces(p: Bounded, q: Bounded) -> Iterator[tuple[float, float]]:
    ends = [end for side in (p, q) for interval in side.support for end in interval]
    if not np.isfinite(ends).all():
        raise ValueError(
            f"p and q must have finite supports; received {p.support} and {q.support}."
        )
    return pairwise(sorted(set(ends)))


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
        """Estimate the KL of p from q."""
        rng = np.random.default_rng(self.seed)
        rows = max(1, self.chunk // p.dim)
        ratios = np.empty(self.n)
        for start in range(0, self.n, rows):
            x = p.sample(min(rows, self.n - start), rng)
            ratios[start : start + rows] = p.log_density(x) - q.log_density(x)
        error = float(ratios.std(ddof=1)) / math.sqrt(self.n)
        return Truth(float(ratios.mean()), error, "monte carlo")
