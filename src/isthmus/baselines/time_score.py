"""The path from q to p on which DRE-infinity and CTSM work, and the integral along it.

    x_t = b(t) x_q + a(t) x_p,    0 <= t <= 1,

starts at q and ends at p. If p and q are normal, so is every p_t, and its time score
is known. In the coordinates of :func:`fit_path` both covariances are diagonal:
everything is a sum over columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..anchors.elliptical import noise_correction
from ..anchors.gaussian import GaussianAnchor
from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..maps.affine import AffineMap, canonical_map
from ..typing import Array, BoolArray

FORMS = ("sqrt", "linear")
# Fewer distinct rows than that leave nothing to hold out.
_FEWEST = 20
# Nodes of a rule of Gauss; a panel is accepted when its two halves agree with it.
_ORDER = 8
# A panel as narrow as that holds nothing that can be told from rounding.
_DEEPEST = 40
_SMALLEST = np.finfo(float).tiny ** 0.5

TimeScore = Callable[[Array, float], Array]
"""From rows and a time to d/dt log p_t, shape (n,)."""

Halves = tuple[Distinct, Distinct | None]


class Moments(NamedTuple):
    """Mean and variances of x_t, and their derivatives in t."""

    mean: Any
    variance: Any
    d_mean: Any
    d_variance: Any


class MovingRows(NamedTuple):
    """Rows of x_t in its frame, how they move in it, and the normal time score there."""

    Z: Array
    U: Array
    normal: Array


@dataclass(frozen=True)
class Path:
    """Normal distributions between q and p, with diagonal covariances.

    The form "sqrt" has ``a = sin(pi t / 2), b = cos(pi t / 2)``, which is sqrt(1 - a^2) x_q + a x_p
    of the paper at an even speed: with a = t the derivative of the square root has no bound at
    the end. "linear" has ``a = t, b = 1 - t``.

    With a ``noise`` sd, x_t has noise of variance sd^2 t (1 - t) in every column as well: a
    Brownian bridge between the two rows.
    """

    form: str
    mean_p: Array
    mean_q: Array
    variance_p: Array
    variance_q: Array
    noise: float = 0.0

    def weights(self, t: Any) -> tuple[Any, Any, Any, Any]:
        """The numbers a, b, da/dt and db/dt."""
        if self.form == "linear":
            return t, 1.0 - t, np.ones_like(t), -np.ones_like(t)
        angle = 0.5 * math.pi * t
        a, b = np.sin(angle), np.cos(angle)
        return a, b, 0.5 * math.pi * b, -0.5 * math.pi * a

    def moments(self, t: Any) -> Moments:
        """Moments of x_t for a number t, or for an array of shape (n, 1)."""
        a, b, da, db = self.weights(t)
        added, d_added = self.bridge(t)
        return Moments(
            b * self.mean_q + a * self.mean_p,
            b * b * self.variance_q + a * a * self.variance_p + added,
            db * self.mean_q + da * self.mean_p,
            2.0 * (b * db * self.variance_q + a * da * self.variance_p) + d_added,
        )

    def bridge(self, t: Any) -> tuple[Any, Any]:
        """Variance of the noise, and its derivative in t."""
        return self.noise**2 * t * (1.0 - t), self.noise**2 * (1.0 - 2.0 * t)

    def rows(self, t: Any, x_p: Array, x_q: Array) -> MovingRows:
        """Rows of x_t that are made of pairs."""
        a, b, da, db = self.weights(t)
        mean, variance, *_ = self.moments(t)
        X, root = b * x_q + a * x_p, np.sqrt(variance)
        return MovingRows((X - mean) / root, (db * x_q + da * x_p) / root, self.score(X, t))

    def score(self, Y: Array, t: Any) -> Array:
        """Time score d/dt log p_t of the normal distributions, shape (n,)."""
        return np.asarray(self.column_scores(Y, t).sum(axis=1))

    def column_scores(self, Y: Array, t: Any) -> Array:
        """What every column adds to the time score, shape (n, d)."""
        mean, variance, d_mean, d_variance = self.moments(t)
        D = Y - mean
        square = 0.5 * (D * D / variance - 1.0) * (d_variance / variance)
        return np.asarray(square + D * (d_mean / variance))

    def scale(self, t: Array) -> Array:
        """Root of one plus the mean square of the time score, shape of t.

        The one keeps it away from zero where p and q have the same moments.
        """
        _, variance, d_mean, d_variance = self.moments(t[:, None])
        ratio = d_variance / variance
        return np.asarray(np.sqrt(1.0 + (0.5 * ratio**2 + d_mean**2 / variance).sum(axis=1)))


class FittedPath(NamedTuple):
    """A path, the coordinates that it lives in, and what is known of its error.

    ``bias`` is the constant by which the log-ratio of the two normals is off in the mean.
    """

    path: Path
    where: AffineMap
    bias: float


def fit_path(p: Distinct, q: Distinct, form: str) -> FittedPath:
    """Fit normals to p and to q, in coordinates in which both are diagonal.

    The noise of the covariances is taken out as in
    :class:`~isthmus.anchors.GaussianAnchor`.
    """
    shared = canonical_map(TwoSamples(p.sample, q.sample))
    parts = [GaussianAnchor().fit(shared(x.rows), x.weight).component_ for x in (p, q)]
    covariances = []
    for part in parts:
        factor = noise_correction(part.rows, len(part.mean))[0]
        covariances.append(part.cholesky @ part.cholesky.T / factor)
    total = covariances[0] + covariances[1]
    # Units are taken out first: a direction in which both are narrow is as exact as any.
    unit = np.sqrt(np.diag(total))
    values, axes = np.linalg.eigh(total / np.outer(unit, unit))
    root = np.sqrt(np.maximum(values, np.finfo(float).eps * values[-1]))
    whiten = axes / root / unit[:, None]
    turn = np.linalg.eigh(whiten.T @ (covariances[0] - covariances[1]) @ whiten)[1]
    forward = whiten @ turn
    backward = turn.T @ (axes * root * unit[:, None]).T
    variances = [
        np.maximum(np.einsum("ij,ij->j", forward, covariance @ forward), _SMALLEST)
        for covariance in covariances
    ]
    means = [part.mean @ forward for part in parts]
    return FittedPath(
        Path(form, means[0], means[1], variances[0], variances[1]),
        AffineMap(shared.centre, shared.forward @ forward, backward @ shared.backward),
        parts[0].bias - parts[1].bias,
    )


def split_off(sample: Distinct, held: float, rng: np.random.Generator) -> Halves:
    """Hold a share of the rows out; None where it is zero or the rows are few."""
    k = len(sample.rows)
    if round(held * k) == 0 or k < _FEWEST:
        return sample, None
    return sample.hold_out(rng, held, most=k)


def gauss(begin: float, end: float) -> tuple[Array, Array]:
    """Nodes and weights of a rule of Gauss on an interval."""
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    half = 0.5 * (end - begin)
    return begin + half * (nodes + 1.0), half * weights


def integrate(score: TimeScore, rows: Array, tol: float) -> Array:
    """Integral over t of a time score, for every row, shape (n,).

    Intervals are halved for those rows for which their rule disagrees with those of the
    halves by more than ``tol``, relative to one plus the integral: what is found for a row
    does not depend on the others.

    Examples
    --------
    >>> import numpy as np
    >>> integrate(lambda x, t: x[:, 0] * t**2, np.array([[3.0], [6.0]]), 1e-9).round(9)
    array([1., 2.])
    """
    out = np.zeros(len(rows))
    waiting = [(0.0, 1.0, np.arange(len(rows)), _apply(score, rows, 0.0, 1.0), 0)]
    while waiting:
        begin, end, who, coarse, depth = waiting.pop()
        middle = 0.5 * (begin + end)
        left = _apply(score, rows[who], begin, middle)
        right = _apply(score, rows[who], middle, end)
        done = _agree(coarse, left + right, tol) | (depth >= _DEEPEST)
        out[who[done]] += (left + right)[done]
        if not done.all():
            rest = who[~done]
            waiting.append((begin, middle, rest, left[~done], depth + 1))
            waiting.append((middle, end, rest, right[~done], depth + 1))
    return out


def panels(path: Path, rows: Array, tol: float) -> tuple[Array, Array]:
    """Times and weights that integrate the path's own time score at all of the given rows."""
    waiting, found = [(0.0, 1.0, 0)], []
    while waiting:
        begin, end, depth = waiting.pop()
        middle = 0.5 * (begin + end)
        coarse = _apply(path.score, rows, begin, end)
        fine = _apply(path.score, rows, begin, middle) + _apply(path.score, rows, middle, end)
        if depth >= _DEEPEST or _agree(coarse, fine, tol).all():
            found.append(gauss(begin, end))
        else:
            waiting += [(begin, middle, depth + 1), (middle, end, depth + 1)]
    times, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(times)
    return times[order], weights[order]


def _agree(coarse: Array, fine: Array, tol: float) -> BoolArray:
    return np.asarray(np.abs(fine - coarse) <= tol * (1.0 + np.abs(fine)))


def _apply(score: TimeScore, rows: Array, begin: float, end: float) -> Array:
    total = np.zeros(len(rows))
    for t, weight in zip(*gauss(begin, end), strict=True):
        total += weight * score(rows, float(t))
    return total
