"""The increasing map that turns a sample into a standard normal one: z = Φ⁻¹(F(x))."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.base import BaseEstimator

from ..data.sample import Sample
from ..typing import Array
from .logspline import InnerRows, LogSpline, fit_log_density
from .parametric import UnitMap

LOG_ROOT_2PI = 0.5 * float(np.log(2 * np.pi))
# Of fewer rows, a normal distribution is all that can be told. Of more, knots must gain so
# much log-likelihood each on it: where it holds, it is known far beyond the sample.
_FEW_ROWS = 20.0
_KNOT_COST = 1.5
_GAP = 1e-4
# Lengths on which a tail bends, in distances of its start from the median. A stronger
# bend than the first must earn so much log-likelihood. A normal's tails are straight.
_BENDS = np.array([10.0, 3.0, 1.0, 0.3])
_BEND_COST = 2.0
_STRAIGHT = 1e4


@dataclass(frozen=True)
class Tail:
    """What z does beyond a knot: z = z_K ± slope · bend · log(1 + abs(u - u_K) / bend).

    This is a straight line, and so a normal tail, until the distance reaches ``bend``.
    """

    sign: float
    knot: float
    z: float
    slope: float
    bend: float

    def forward(self, u: Array) -> tuple[Array, Array]:
        """Values z and log dz/du at u."""
        steps = np.log1p(np.abs(u - self.knot) / self.bend)
        return self.z + self.sign * self.slope * self.bend * steps, np.log(self.slope) - steps

    def backward(self, z: Array) -> Array:
        """The u that is mapped to z."""
        with np.errstate(over="ignore"):
            steps = np.expm1(np.abs(z - self.z) / (self.slope * self.bend))
            return np.asarray(self.knot + self.sign * self.bend * steps)


@dataclass(frozen=True)
class NormalScores:
    """Φ⁻¹(F), F being a distribution between two knots, and a formula beyond them."""

    body: LogSpline | None  # The distribution between the knots; None where the two are one.
    tails: tuple[Tail, Tail]  # The function below and above.

    @property
    def n_knots(self) -> int:
        """Number of knots."""
        return 1 if self.body is None else len(self.body.knots)

    def forward(self, u: Array) -> tuple[Array, Array]:
        """Values z and log dz/du at u."""
        low, high = self.tails
        if self.body is None:
            if replace(low, sign=1.0) != high:
                return _by_side(u, low, high)
            # One line, which bends alike on both sides.
            z, log_slope = replace(high, z=0.0).forward(u)
            return high.z + np.copysign(z, u - high.knot), log_slope
        level, log_slope = self.body.evaluate(np.clip(u, low.knot, high.knot))
        z = ndtri(level)
        log_slope += 0.5 * z * z
        log_slope += LOG_ROOT_2PI
        for tail in self.tails:
            rows = np.flatnonzero(tail.sign * (u - tail.knot) >= 0.0)
            if len(rows):
                z[rows], log_slope[rows] = tail.forward(u[rows])
        return z, log_slope

    def log_density(self, u: Array) -> Array:
        """Log of the density of u under which z is standard normal."""
        return _log_density(*self.forward(u))

    def backward(self, z: Array) -> Array:
        """The u that is mapped to z."""
        u = np.empty(z.shape)
        if self.body is not None:
            low, high = self.tails
            u = self.body.inverse(np.asarray(ndtr(np.clip(z, low.z, high.z))))
        for tail in self.tails:
            rows = tail.sign * (z - tail.z) >= 0.0
            u[rows] = tail.backward(z[rows])
        return u


def _by_side(u: Array, low: Tail, high: Tail) -> tuple[Array, Array]:
    """Values z and log dz/du of two tails that begin at one knot."""
    above = u >= high.knot
    pairs = zip(high.forward(u), low.forward(u), strict=True)
    z, log_slope = (np.where(above, *pair) for pair in pairs)
    return z, log_slope


def tail_of(body: LogSpline, side: int, bend: float) -> Tail:
    """Go on beyond the first knot (side 0) or the last (side -1) with the slope there."""
    z = float(ndtri(body.levels[side]))
    slope = float(np.exp(body.log_density[side] + 0.5 * z**2 + LOG_ROOT_2PI))
    return Tail(1.0 if side else -1.0, float(body.knots[side]), z, slope, bend)


class QuantileMap(UnitMap, BaseEstimator):
    """Map a column to normal scores by a smooth estimate of its distribution.

    z = Φ⁻¹(F(x)), where the density of F has a logarithm that is linear between
    knots. There are a few knots at first, at quantiles that are denser towards
    the edges; more are added where the sample departs from the fit. The values
    at the knots are fitted together, by maximum likelihood. Beyond the outermost
    knots, a few rows from the ends of the sample, z goes on with the slope that
    it has there: nearly in a straight line, as for a normal tail, or like a
    logarithm where the tail is heavy. Where all that gains little on a normal
    distribution, z is a straight line.

    The map, its inverse and its derivative are in closed form, and the derivative
    is continuous. ``exp(log_density(x))``, the density that makes z standard
    normal, integrates to one. Equal values are taken for rounded ones.

    Attributes
    ----------
    centre, scale : float
        Median and spread.
    scores_ : NormalScores
        The map of u = (x - centre) / scale.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).gamma(2.0, size=4000)
    >>> z = QuantileMap().fit(x)(x)
    >>> bool(abs(z.mean()) < 0.02), bool(abs(z.std() - 1.0) < 0.02)
    (True, True)
    """

    def fit(self, x: Array, weight: Array | None = None, size: float | None = None) -> QuantileMap:
        """Fit the map to a column.

        Parameters
        ----------
        x : ndarray of shape (n,)
        weight : ndarray of shape (n,), optional
            Weights of the rows; a whole weight counts as so many equal rows.
        size : float, optional
            Number of rows that the weights stand for; by default their sum.
        """
        x = np.asarray(x, dtype=np.float64)
        if x.ndim != 1 or len(x) == 0 or not np.isfinite(x).all():
            raise ValueError(
                f"x must be a column of finite numbers; received an array of shape {x.shape}."
            )
        sample = Sample.of(x, None if weight is None else np.asarray(weight, dtype=np.float64))
        size = float(sample.size) if size is None else size
        ordered = Sample(x, sample.share).take(np.argsort(x, kind="stable")).positive()
        x, share = ordered.rows, ordered.weight
        self.centre, self.scale = centre_and_scale(x, share)
        u = _unrounded(self._units(x))
        knots = _first_knots(u, share, size)
        self.scores_ = _normal(u, share)
        if size >= _FEW_ROWS and len(knots) > 1:
            spline = _spline(u, share, size, knots)
            gain = size * float(share @ (spline.log_density(u) - self.scores_.log_density(u)))
            if gain > _KNOT_COST * spline.n_knots:
                self.scores_ = spline
        return self

    def log_density(self, x: Array) -> Array:
        """Log of the density of x under which z is standard normal, shape (n,)."""
        return _log_density(*self.evaluate(x))

    def _forward(self, u: Array) -> tuple[Array, Array]:
        return self.scores_.forward(u)

    def _backward(self, z: Array) -> Array:
        return self.scores_.backward(z)


def _log_density(z: Array, log_slope: Array) -> Array:
    return np.asarray(log_slope - 0.5 * z**2 - LOG_ROOT_2PI)


def _unrounded(u: Array) -> Array:
    """Spread equal values evenly over the place that rounding may have taken them from."""
    new = np.insert(np.diff(u) > 0.0, 0, True)
    gaps = np.diff(u[new])
    if new.all() or not len(gaps):
        return u
    # The nearer neighbour tells the unit, unless all the others are much closer.
    near = np.minimum(np.insert(gaps, 0, np.inf), np.append(gaps, np.inf))
    half = 0.5 * np.minimum(near, 2.0 * np.median(gaps))
    start = np.flatnonzero(new)
    length = np.diff(start, append=len(u))
    run = np.cumsum(new) - 1
    place = (2.0 * (np.arange(len(u)) - start[run]) + 1.0) / length[run] - 1.0
    return np.asarray(u + half[run] * place)


def _first_knots(u: Array, share: Array, size: float) -> Array:
    """The median, and quantiles whose levels fall by about a factor of four."""
    # Some 20 of 20,000 rows are beyond the outermost knots on either side, and 6 of 500.
    outermost = min(0.25, 0.7 * size ** (-2 / 3))
    steps = max(1, round(float(np.log(0.5 / outermost) / np.log(4.0))))
    lower = np.geomspace(outermost, 0.5, steps + 1)
    knots = quantiles(u, share, np.concatenate([lower, 1.0 - lower[-2::-1]]))
    return knots[np.diff(knots, prepend=-np.inf) > _GAP]


def _normal(u: Array, share: Array) -> NormalScores:
    mean = float(share @ u)
    spread = float(np.sqrt(share @ (u - mean) ** 2)) or 1.0
    upper = Tail(1.0, mean, 0.0, 1.0 / spread, _STRAIGHT * spread)
    return NormalScores(None, (replace(upper, sign=-1.0), upper))


def _spline(u: Array, share: Array, size: float, knots: Array) -> NormalScores:
    start, stop = np.searchsorted(u, knots[0]), np.searchsorted(u, knots[-1], side="right")
    beyond = [
        (knots[0] - u[:start][::-1], share[:start][::-1]),
        (u[stop:] - knots[-1], share[stop:]),
    ]
    outside = np.array([part.sum() for _, part in beyond])
    lengths = np.array([_length(*rows) for rows in beyond])
    inside = InnerRows(u[start:stop], share[start:stop], size, outside, lengths)
    knots, g = fit_log_density(inside, knots, _GAP)
    # Rows that share the smallest value leave nothing below it.
    low, high = np.maximum(outside, 0.5 / size)
    body = LogSpline.normalised(knots, g, low, 1.0 - high)
    lower, upper = (
        _bend(
            tail_of(body, side, _BENDS[0] * max(abs(float(knots[side])), 0.1)), excess, own * size
        )
        for side, (excess, own) in zip((0, -1), beyond, strict=True)
    )
    return NormalScores(body, (lower, upper))


def _length(excess: Array, share: Array) -> float:
    """Mean of an exponential distribution by its median: a heavy tail need not have a mean."""
    if not len(excess):
        return 0.0
    return float(quantiles(excess, share / share.sum(), np.array([0.5]))[0]) / float(np.log(2))


def _bend(tail: Tail, excess: Array, weight: Array) -> Tail:
    """Bend a tail as the rows beyond its knot ask for."""
    bends = tail.bend * _BENDS[:, None] / _BENDS[0]
    steps = np.log1p(excess / bends)
    log_likelihood = -(0.5 * (abs(tail.z) + tail.slope * bends * steps) ** 2 + steps) @ weight
    log_likelihood[1:] -= _BEND_COST
    return replace(tail, bend=float(bends[np.argmax(log_likelihood), 0]))


def quantiles(x: Array, share: Array, levels: Array) -> Array:
    """Smallest values below or at which at least these shares of a sorted sample lie."""
    # Sums of shares miss a level by rounding; a row more or less must not depend on that.
    index = np.searchsorted(np.cumsum(share), np.asarray(levels) - 1e-12)
    return x[np.minimum(index, len(x) - 1)]


def centre_and_scale(x: Array, share: Array) -> tuple[float, float]:
    """Median of a sorted sample, and its interquartile range in units of a normal's."""
    low, middle, high = quantiles(x, share, np.array([0.25, 0.5, 0.75]))
    spread = (high - low) / 1.349
    if not spread > 0.0:
        spread = x[-1] - x[0]
    return float(middle), float(spread) if spread > 0.0 else 1.0
