"""Overlapping auxiliaries: one known distribution that covers p and q.

Their densities are known, so their critics are fixed at log m(x) rather than
learned, and samples of them cost nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from ..anchors.elliptical import elliptical_draw, elliptical_log_density
from ..data.sample import TwoSamples
from ..data.validation import check_number
from ..maps.affine import AffineMap, canonical_map, column_map
from ..typing import Array, BoolArray
from .base import FittedAuxiliary

Parameter = float | Array | None


class _Elliptical(FittedAuxiliary):
    """A Student-t or normal; by default location and scale follow the pooled sample.

    ``map_`` takes x to coordinates in which the distribution is standard.
    """

    df: float
    loc: Parameter
    scale: Parameter

    def learn(self, samples: TwoSamples) -> None:
        """Place the distribution so that it covers both samples."""
        check_number(self.df, "df", low=0, open_low=True)
        d = samples.n_columns
        if self.loc is None or self.scale is None:
            pooled = canonical_map(samples, warn=False)
            loc, forward, backward = pooled.centre, pooled.forward, pooled.backward
        if self.loc is not None:
            loc = _vector(self.loc, d, "loc")
        if self.scale is not None:
            backward = scale_root(self.scale, d, "scale")
            forward = np.asarray(np.linalg.inv(backward), dtype=np.float64)
        self.map_ = AffineMap(loc, forward, backward)
        self.log_volume_ = self.map_.log_det

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows."""
        return self.map_.inverse(elliptical_draw(n, self.map_.forward.shape[1], self.df, rng))

    def log_density(self, x: Array) -> Array:
        """Log-density at the rows of x, shape (n,)."""
        Z = self.map_(x)
        square = np.einsum("ij,ij->i", Z, Z)
        return elliptical_log_density(square, Z.shape[1], self.df) + self.log_volume_


class Normal(_Elliptical):
    """Normal distribution.

    Parameters
    ----------
    loc : float or array of shape (d,), optional
        Mean; by default halfway between the two samples.
    scale : float, array of shape (d,) or (d, d), optional
        Standard deviation, one for each column, or covariance matrix; by
        default the covariance of the pooled sample.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.auxiliaries import Normal
    >>> m = Normal(loc=0.0, scale=1.0).fit(np.zeros((9, 1)), np.ones((9, 1)))
    >>> float(m.log_density([[0.0]])[0]) == float(-0.5 * np.log(2 * np.pi))
    True
    """

    df = np.inf

    def __init__(self, loc: Parameter = None, scale: Parameter = None) -> None:
        self.loc = loc
        self.scale = scale


class StudentT(_Elliptical):
    """Multivariate Student-t distribution: heavier tails than the normal.

    Parameters
    ----------
    df : float
        Degrees of freedom.
    loc, scale : optional
        Centre, and scale of every column or scale matrix, given as in :class:`Normal`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.auxiliaries import Normal, StudentT
    >>> p, q = np.random.default_rng(0).normal(size=(2, 200, 1))
    >>> far = [[9.0]]
    >>> bool(StudentT(df=3.0).fit(p, q).log_density(far) > Normal().fit(p, q).log_density(far))
    True
    """

    def __init__(self, df: float = 5.0, loc: Parameter = None, scale: Parameter = None) -> None:
        self.df = df
        self.loc = loc
        self.scale = scale


class Cauchy(StudentT):
    """Cauchy distribution, the paper's auxiliary in one dimension; multivariate in more.

    Parameters
    ----------
    loc, scale : optional
        As in :class:`StudentT`.

    Examples
    --------
    >>> import numpy as np
    >>> m = Cauchy(loc=0.0, scale=1.0).fit(np.zeros((2, 1)), np.ones((2, 1)))
    >>> m.log_density(np.zeros((1, 1))).round(4)
    array([-1.1447])
    """

    df = 1.0

    def __init__(self, loc: Parameter = None, scale: Parameter = None) -> None:
        self.loc = loc
        self.scale = scale


class Uniform(FittedAuxiliary):
    """Uniform distribution on a box: for samples of bounded support.

    Parameters
    ----------
    low, high : float or array of shape (d,), optional
        Sides of the box; by default those of the pooled sample, a little wider.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.auxiliaries import Uniform
    >>> m = Uniform(low=0.0, high=2.0).fit(np.ones((9, 2)), np.ones((9, 2)))
    >>> np.exp(m.log_density([[1.0, 1.0], [3.0, 1.0]])).tolist()
    [0.25, 0.0]
    """

    def __init__(self, low: Parameter = None, high: Parameter = None) -> None:
        self.low = low
        self.high = high

    def learn(self, samples: TwoSamples) -> None:
        """Take the box from the samples where it is not given."""
        self.low_, self.high_ = _box(self.low, self.high, samples)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows."""
        return rng.uniform(self.low_, self.high_, (n, len(self.low_)))

    def log_density(self, x: Array) -> Array:
        """Log-density at the rows of x, shape (n,): -inf outside the box."""
        volume = float(np.log(self.high_ - self.low_).sum())
        return np.where(_inside(x, self.low_, self.high_), -volume, -np.inf)


class TruncatedNormal(FittedAuxiliary):
    """Normal distribution cut off at a box, independent in each column.

    Parameters
    ----------
    loc, scale : float or array of shape (d,), optional
        Mean and standard deviation before the cut; by default halfway between the two samples,
        and that of the pooled sample.
    low, high : float or array of shape (d,), optional
        As in :class:`Uniform`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.auxiliaries import TruncatedNormal
    >>> rng = np.random.default_rng(0)
    >>> m = TruncatedNormal(low=0.0, high=1.0).fit(
    ...     rng.uniform(size=(99, 2)), rng.uniform(size=(99, 2))
    ... )
    >>> draws = m.sample(1000, rng)
    >>> bool(draws.min() >= 0), bool(draws.max() <= 1)
    (True, True)
    """

    def __init__(
        self,
        loc: Parameter = None,
        scale: Parameter = None,
        low: Parameter = None,
        high: Parameter = None,
    ) -> None:
        self.loc = loc
        self.scale = scale
        self.low = low
        self.high = high

    def learn(self, samples: TwoSamples) -> None:
        """Take what is not given from the samples."""
        d = samples.n_columns
        self.low_, self.high_ = _box(self.low, self.high, samples)
        if self.loc is None or self.scale is None:
            pooled = column_map(samples, warn=False)
            spread = np.sqrt((pooled.backward**2).sum(axis=0))
        self.loc_ = pooled.centre if self.loc is None else _vector(self.loc, d, "loc")
        self.scale_ = spread if self.scale is None else _vector(self.scale, d, "scale")
        if not (self.scale_ > 0).all():
            raise ValueError(f"scale must be positive; received {self.scale!r}.")
        a, b = (self.low_ - self.loc_) / self.scale_, (self.high_ - self.loc_) / self.scale_
        # The mass is computed in the lower tail, where logarithms keep their digits.
        self.flip_ = np.where(a + b > 0, -1.0, 1.0)
        self.a_, self.b_ = np.where(a + b > 0, -b, a), np.where(a + b > 0, -a, b)
        self.log_below_ = log_ndtr(self.a_)
        top = log_ndtr(self.b_)
        self.log_mass_ = top + np.log1p(-np.exp(self.log_below_ - top))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows, by the inverse of the distribution function."""
        u = rng.random((n, len(self.loc_)))
        with np.errstate(divide="ignore"):
            log_cdf = np.logaddexp(self.log_below_, np.log(u) + self.log_mass_)
        z = np.clip(ndtri_exp(np.minimum(log_cdf, 0.0)), self.a_, self.b_)
        return np.asarray(self.loc_ + self.scale_ * self.flip_ * z)

    def log_density(self, x: Array) -> Array:
        """Log-density at the rows of x, shape (n,): -inf outside the bounds."""
        z = (x - self.loc_) / self.scale_
        each = -0.5 * z**2 - 0.5 * np.log(2 * np.pi) - np.log(self.scale_) - self.log_mass_
        return np.where(_inside(x, self.low_, self.high_), each.sum(axis=1), -np.inf)


def _numbers(value: Any, argument: str) -> Array:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{argument} must hold numbers; received {value!r}.") from None


def _vector(value: Any, d: int, argument: str) -> Array:
    values = _numbers(value, argument)
    if values.ndim > 1 or (values.ndim == 1 and len(values) not in (1, d)):
        raise ValueError(
            f"{argument} must be a number or have one value for each of {d} columns; received "
            f"shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{argument} must be finite; received {value!r}.")
    return np.broadcast_to(values, (d,)).copy()


def scale_root(scale: Any, d: int, argument: str) -> Array:
    """Matrix A with x = loc + z A for a standard z."""
    values = _numbers(scale, argument)
    if values.ndim == 2:
        if values.shape != (d, d) or not np.allclose(values, values.T):
            raise ValueError(
                f"{argument} must be a symmetric matrix of shape ({d}, {d}); received "
                f"{values.tolist()}."
            )
        try:
            return np.asarray(np.linalg.cholesky(values).T)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"{argument} must be positive definite; received {values.tolist()}."
            ) from None
    vector = _vector(scale, d, argument)
    if not (vector > 0).all():
        raise ValueError(f"{argument} must be positive; received {scale!r}.")
    return np.diag(vector)


def _box(low: Parameter, high: Parameter, samples: TwoSamples) -> tuple[Array, Array]:
    d = samples.n_columns
    least = np.minimum(*(sample.rows.min(axis=0) for sample in samples))
    most = np.maximum(*(sample.rows.max(axis=0) for sample in samples))
    # The gap beyond the extremes of n uniform draws is about a share 1/n of the range.
    margin = np.maximum(most - least, 1e-12 * np.abs(most) + 1e-300) / samples.least
    lower = least - margin if low is None else _vector(low, d, "low")
    upper = most + margin if high is None else _vector(high, d, "high")
    if not (lower < upper).all():
        raise ValueError(f"low must be below high; received low={low!r} and high={high!r}.")
    if (lower > least).any() or (upper < most).any():
        raise ValueError(
            "low and high must enclose both samples, or m would not overlap them; received bounds "
            f"{lower.tolist()} to {upper.tolist()} for data from {least.tolist()} to "
            f"{most.tolist()}."
        )
    return lower, upper


def _inside(x: Array, low: Array, high: Array) -> BoolArray:
    return np.asarray(((x >= low) & (x <= high)).all(axis=1))
