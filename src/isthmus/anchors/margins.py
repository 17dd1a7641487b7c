"""Parametric margins: a column's map to normal scores by the formula of a family.

Between the rows any smooth density would do; beyond them a formula decides. Each family says
how a tail goes on: like a normal's, like a power, like exp(-|x|^c), or like exp(-c x) with a rate
of its own on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import (
    betainc,
    betaincinv,
    betaln,
    digamma,
    expit,
    gammaincc,
    gammainccinv,
    gammaln,
    log_expit,
    log_ndtr,
    ndtri_exp,
    stdtr,
    stdtrit,
)

from ..data.holdout import LIKELY
from ..maps.quantile import LOG_ROOT_2PI
from ..typing import Array
from .elliptical import elliptical_log_density
from .generalised_normal import GeneralisedNormalAnchor, power_log_density, unit_scale
from .student_t import StudentTAnchor

KINDS: dict[str, tuple[str, ...]] = {
    "student-t": ("normal", "student-t"),
    "generalised-normal": ("normal", "power"),
    "exponential": ("normal", "logistic", "laplace", "gumbel", "low gumbel", "two rates"),
}
"""Laws that a margin may follow, by the name of their kind: the normal and others."""
KINDS["families"] = tuple(dict.fromkeys(law for laws in KINDS.values() for law in laws))

# Scores beyond these have levels below the smallest float.
_FURTHEST = 37.0
_LEAST_RATE, _MOST_RATE = 0.05, 20.0
_FAR, _FURTHEST_POWER = 30.0, 500.0
# Exponents stop here, where products with them are finite.
_LARGEST = 300.0
# In nats a row: families that the rows tell apart differ by hundreds of times as much.
_TOLERANCE = 1e-6
_LAPLACE = (0.5,)  # Power of the generalised normal that is Laplace's.


Shape = tuple[float, ...]
Function = Callable[[Any, Shape], Any]


class Law(NamedTuple):
    """A standard family, given its shape."""

    log_density: Function
    log_below: Function  # Logarithm of the distribution function.
    log_above: Function  # Logarithm of what is above.
    low: Function  # The value below which there is a level, by its logarithm.
    high: Function  # The value above which there is a level, by its logarithm.


@dataclass(frozen=True)
class Margin:
    """An increasing map to normal scores: z = Φ⁻¹(F((x - centre) / scale)).

    Examples
    --------
    >>> import numpy as np
    >>> margin = Margin("logistic", 0.0, 1.0)
    >>> np.round(margin.inverse(margin(np.array([-40.0, 0.0, 3.0]))), 6).tolist()
    [-40.0, 0.0, 3.0]
    """

    law: str
    centre: float
    scale: float
    shape: Shape = ()

    def evaluate(self, x: Array) -> tuple[Array, Array]:
        """Values z and log dz/dx at x."""
        u = (x - self.centre) / self.scale
        if self.law == "normal":
            return u, np.full(u.shape, -np.log(self.scale))
        law = LAWS[self.law]
        # From the smaller of the two sides, which keeps its digits.
        below, above = law.log_below(u, self.shape), law.log_above(u, self.shape)
        z = np.where(below < above, 1.0, -1.0) * ndtri_exp(np.minimum(below, above))
        log_slope = law.log_density(u, self.shape) + 0.5 * z**2 + LOG_ROOT_2PI
        return z, np.asarray(log_slope - np.log(self.scale))

    def __call__(self, x: Array) -> Array:
        """Normal scores."""
        return self.evaluate(x)[0]

    def inverse(self, z: Array) -> Array:
        """The x that is mapped to z; scores beyond 37 come back from 37."""
        if self.law == "normal":
            return np.asarray(self.centre + self.scale * z)
        law, level = LAWS[self.law], log_ndtr(-np.minimum(np.abs(z), _FURTHEST))
        u = np.asarray(np.where(z < 0, law.low(level, self.shape), law.high(level, self.shape)))
        return np.asarray(self.centre + self.scale * u)

    def log_density(self, x: Array) -> Array:
        """Log of the density of x, shape (n,)."""
        u = (x - self.centre) / self.scale
        return np.asarray(LAWS[self.law].log_density(u, self.shape) - np.log(self.scale))


def fit_margins(
    x: Array, share: Array, size: float, choices: Mapping[str, Sequence[str]]
) -> dict[str, Margin]:
    """The margin of a column that Schwarz's criterion prefers among the laws of every choice.

    A column whose third and fourth moments are those of a normal has the margin of a normal
    where that may be chosen.

    Parameters
    ----------
    x, share : ndarray of shape (n,)
        Values, and their shares.
    size : float
        Number of rows that they stand for.
    choices : mapping of str to sequence of str
        Laws to choose among, such as :data:`KINDS`.
    """
    centre = float(share @ x)
    spread = float(np.sqrt(share @ (x - centre) ** 2)) or 1.0
    plain = _looks_normal((x - centre) / spread, share, size)
    fits: dict[str, Margin] = {}
    criterion: dict[str, float] = {}
    out = {}
    for name, laws in choices.items():
        asked = ["normal"] if plain and "normal" in laws else laws
        for law in asked:
            if law not in fits:
                fits[law] = margin = _fit_law(law, x, share, centre, spread)
                gain = 2.0 * size * float(share @ margin.log_density(x))
                # The choice of a law counts like a parameter.
                price = 0 if law == "normal" else 1 + len(margin.shape)
                criterion[law] = gain - price * float(np.log(size))
        out[name] = fits[max(asked, key=criterion.__getitem__)]
    return out


def n_shapes(margins: Sequence[Margin]) -> int:
    """Number of parameters beyond centres and scales; the choice of a law without counts as one."""
    laws = {margin.law for margin in margins if margin.law != "normal" and not margin.shape}
    return len(laws) + sum(len(margin.shape) for margin in margins)


def _looks_normal(u: Array, share: Array, size: float) -> bool:
    """Whether skewness and kurtosis are within two standard errors of a normal's."""
    skewness, excess = float(share @ u**3), float(share @ u**4) - 3.0
    errors = abs(skewness) / np.sqrt(6.0 / size), abs(excess) / np.sqrt(24.0 / size)
    return bool(max(errors) < LIKELY)


def _fit_law(law: str, x: Array, share: Array, centre: float, spread: float) -> Margin:
    """The likeliest member of a family, given mean and standard deviation."""
    if law == "normal":
        return Margin(law, centre, spread)
    if law == "laplace":
        order = np.argsort(x, kind="stable")
        middle = float(x[order[np.searchsorted(np.cumsum(share[order]), 0.5 - 1e-12)]])
        return Margin(law, middle, float(np.sqrt(2.0) * (share @ np.abs(x - middle))) or 1.0)
    if law == "student-t":
        t = StudentTAnchor().fit(x[:, None], share * len(x)).component_
        return Margin(law, float(t.mean[0]), float(t.cholesky[0, 0]), (t.df,))
    if law == "power":
        power = GeneralisedNormalAnchor().fit(x[:, None], share * len(x)).component_
        return Margin(law, float(power.mean[0]), float(power.cholesky[0, 0]), (power.shape,))
    return _maximised(law, x, share, centre, spread)


def _maximised(name: str, x: Array, share: Array, centre: float, spread: float) -> Margin:
    """Maximum likelihood over centre, scale and, of the law of two rates, both rates."""
    law, rates = LAWS[name], name == "two rates"
    u = (x - centre) / spread

    def loss(theta: Array) -> tuple[float, Array]:
        y = (u - theta[0]) * np.exp(-theta[1])
        shape = tuple(np.exp(theta[2:]))
        slope = _SLOPES[name](y, shape)
        steps = [-slope * np.exp(-theta[1]), -slope * y - 1.0]
        if rates:
            a, b = shape
            both, tail = digamma(a + b), log_expit(-y)
            steps += [a * (y + tail + both - digamma(a)), b * (tail + both - digamma(b))]
        gradient = np.array([-float(share @ step) for step in steps])
        return float(theta[1]) - float(share @ law.log_density(y, shape)), gradient

    edges = (float(np.log(_LEAST_RATE)), float(np.log(_MOST_RATE)))
    found = minimize(
        loss,
        # The scale of a logistic of unit variance.
        np.array([0.0, np.log(0.55), *[0.0, 0.0] * rates]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-5.0, 5.0), (-7.0, 3.0), *[edges, edges] * rates],
        options={"ftol": _TOLERANCE},
    )
    place, log_scale, *shape = found.x
    return Margin(
        name,
        centre + spread * float(place),
        spread * float(np.exp(log_scale)),
        tuple(float(np.exp(one)) for one in shape),
    )


def _symmetric(log_density: Function, log_below: Function, low: Function) -> Law:
    """A law from its lower half, with functions that hold below the centre at least."""
    return Law(
        log_density,
        log_below,
        lambda u, shape: log_below(-u, shape),
        low,
        lambda level, shape: -low(level, shape),
    )


def _reflected(law: Law) -> Law:
    """The law of -x."""
    return Law(
        lambda u, shape: law.log_density(-u, shape),
        lambda u, shape: law.log_above(-u, shape),
        lambda u, shape: law.log_below(-u, shape),
        lambda level, shape: -law.high(level, shape),
        lambda level, shape: -law.low(level, shape),
    )


def _log_one_less(log_level: Array) -> Array:
    """Logarithm of one minus a level, from its logarithm."""
    with np.errstate(divide="ignore"):
        return np.asarray(
            np.where(
                log_level > -0.7,
                np.log(-np.expm1(np.minimum(log_level, 0.0))),
                np.log1p(-np.exp(log_level)),
            )
        )


def _gumbel_above(u: Array, shape: Shape) -> Array:
    # Far up, where exp(-u) is lost beside one, it is the level itself.
    return np.where(u > _FAR, -u, _log_one_less(-np.exp(-np.clip(u, -_LARGEST, _FAR))))


def _gumbel_high(level: Array, shape: Shape) -> Array:
    return np.where(level < -_FAR, -level, -np.log(-_log_one_less(np.maximum(level, -_FAR))))


def _rates_density(u: Array, shape: Shape) -> Array:
    a, b = shape
    return np.asarray(a * u + (a + b) * log_expit(-u) - betaln(a, b))


def _rates_below(u: Array, shape: Shape) -> Array:
    a, b = shape
    with np.errstate(divide="ignore"):
        near = np.log(betainc(a, b, expit(np.maximum(u, -_FAR))))
    return np.where(u < -_FAR, a * u - np.log(a) - betaln(a, b), near)


def _rates_low(level: Array, shape: Shape) -> Array:
    a, b = shape
    far = (level + np.log(a) + betaln(a, b)) / a
    inside = np.clip(betaincinv(a, b, np.exp(level)), 1e-300, 1.0 - 1e-16)
    return np.asarray(np.where(far < -_FAR, far, np.log(inside) - np.log1p(-inside)))


def _power_below(u: Array, shape: Shape) -> Array:
    half = 0.5 / shape[0]
    power = 0.5 * (unit_scale(1, shape[0]) * u**2) ** shape[0]
    near = np.log(0.5 * gammaincc(half, np.minimum(power, _FURTHEST_POWER)))
    # Two terms of the asymptotic series.
    beyond = np.maximum(power, _FURTHEST_POWER)
    far = (half - 1.0) * np.log(beyond) - beyond - gammaln(half) - np.log(2.0)
    far += np.log1p((half - 1.0) / beyond)
    tail = np.where(power > _FURTHEST_POWER, far, near)
    return np.where(u <= 0, tail, _log_one_less(tail))


def _power_low(level: Array, shape: Shape) -> Array:
    power = gammainccinv(0.5 / shape[0], np.minimum(2.0 * np.exp(level), 1.0))
    return np.asarray(-np.sqrt((2.0 * power) ** (1.0 / shape[0]) / unit_scale(1, shape[0])))


def _t_below(u: Array, shape: Shape) -> Array:
    return np.asarray(np.log(np.maximum(stdtr(shape[0], u), 1e-300)))


def _t_low(level: Array, shape: Shape) -> Array:
    df = shape[0]
    # Of two formulas, each where it keeps its digits.
    inside = np.maximum(betaincinv(0.5 * df, 0.5, 2.0 * np.exp(level)), 1e-300)
    near = stdtrit(df, np.maximum(np.exp(level), 1e-12))
    return np.where(level < -20.0, -np.sqrt(df * (1.0 / inside - 1.0)), near)


_GUMBEL = Law(
    lambda u, shape: -u - np.exp(-np.maximum(u, -_LARGEST)),
    lambda u, shape: -np.exp(-np.maximum(u, -_LARGEST)),
    _gumbel_above,
    lambda level, shape: -np.log(-level),
    _gumbel_high,
)
LAWS = {
    "normal": _symmetric(
        lambda u, shape: -0.5 * u**2 - LOG_ROOT_2PI,
        lambda u, shape: log_ndtr(u),
        lambda level, shape: ndtri_exp(level),
    ),
    "logistic": _symmetric(
        lambda u, shape: log_expit(u) + log_expit(-u),
        lambda u, shape: log_expit(u),
        lambda level, shape: level - _log_one_less(level),
    ),
    "gumbel": _GUMBEL,
    "low gumbel": _reflected(_GUMBEL),
    "student-t": _symmetric(
        lambda u, shape: elliptical_log_density(u**2, 1, shape[0]),
        _t_below,
        _t_low,
    ),
    "power": _symmetric(
        lambda u, shape: power_log_density(u**2, 1, shape[0]), _power_below, _power_low
    ),
    "laplace": _symmetric(
        lambda u, shape: -np.sqrt(2.0) * np.abs(u) - 0.5 * np.log(2.0),
        lambda u, shape: _power_below(u, _LAPLACE),
        lambda level, shape: _power_low(level, _LAPLACE),
    ),
    "two rates": Law(
        _rates_density,
        _rates_below,
        lambda u, shape: _rates_below(-u, shape[::-1]),
        _rates_low,
        lambda level, shape: -_rates_low(level, shape[::-1]),
    ),
}
"""Standard laws by name.

The power is that of :class:`GeneralisedNormalAnchor`. The law of two rates is that of log(G/H) with
gamma variates G and H of two shapes: exponential tails with rates of their own.
"""

_SLOPES: dict[str, Function] = {
    "logistic": lambda u, shape: 1.0 - 2.0 * expit(u),
    "gumbel": lambda u, shape: np.exp(-np.maximum(u, -_LARGEST)) - 1.0,
    "low gumbel": lambda u, shape: 1.0 - np.exp(np.minimum(u, _LARGEST)),
    "two rates": lambda u, shape: shape[0] - (shape[0] + shape[1]) * expit(u),
}
