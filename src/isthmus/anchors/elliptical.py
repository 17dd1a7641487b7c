"""Elliptical components: what anchors and auxiliaries of one or several pieces are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import digamma, gammaln, logsumexp
from sklearn.base import BaseEstimator

from ..data.sample import Sample
from ..maps.coordinates import Surroundings
from ..typing import Array


@dataclass(frozen=True)
class Component:
    """A share of a mixture: a normal or Student-t distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import Component, GaussianAnchor
    >>> rows = np.random.default_rng(0).normal(size=(500, 2))
    >>> (component,) = GaussianAnchor().fit(rows).components_
    >>> isinstance(component, Component), component.share, component.mean.shape
    (True, 1.0, (2,))
    """

    share: float
    mean: Array
    cholesky: Array  # Lower root of the covariance or scale matrix.
    whitening: Array  # Inverse of its transpose: ``(x - mean) @ whitening`` is standard.
    df: float = np.inf  # Degrees of freedom; infinite for the normal.
    # Number of rows that it was estimated from. Where it is finite, the noise of the root is
    # taken out of distances; see noise_correction.
    rows: float = np.inf

    def standard(self, X: Array) -> Array:
        """Coordinates in which the distribution is standard."""
        return np.asarray((X - self.mean) @ self.whitening)

    def log_density(self, X: Array) -> Array:
        """Log-density of every row, without the share."""
        Z = self.standard(X)
        d = Z.shape[1]
        factor = noise_correction(self.rows, d)[0]
        log_det = float(np.log(np.abs(np.diag(self.cholesky))).sum()) - 0.5 * d * np.log(factor)
        square = factor * np.einsum("ij,ij->i", Z, Z)
        return np.asarray(self.radial(square, d) - log_det)

    def radial(self, square: Array, d: int) -> Array:
        """Log-density of the standard distribution in d columns at squared radii."""
        return elliptical_log_density(square, d, self.df)

    @property
    def bias(self) -> float:
        """Mean of the fitted log-density, over samples, minus the true one: a constant."""
        return -noise_correction(self.rows, len(self.mean))[1]

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows."""
        return self.mean + elliptical_draw(n, len(self.mean), self.df, rng) @ self.cholesky.T

    def exact(self, share: float, df: float) -> Component:
        """Return the distribution itself, with another share and tail, to draw from."""
        return replace(self, share=share, df=df, rows=np.inf)

    def moved(self, by: Array) -> Component:
        """The distribution at another place."""
        return replace(self, mean=self.mean + by)


def noise_correction(rows: float, d: int) -> tuple[float, float]:
    """Take the noise of a fitted covariance out of a log-density.

    The inverse S^-1 of a covariance estimated from n rows is too large by
    n / (n - d - 2), and the squared distance from the fitted mean by d / n. In
    high dimensions that is a matter of many nats. The density with the smaller
    inverse is still off by a constant, through its log-determinant; with that
    as well the log-density of a normal distribution is unbiased at every point.

    Returns what to multiply squared distances by in the density, and what to add to its
    logarithm, for n rows, more than d + 2, and d columns.

    Examples
    --------
    >>> factor, constant = noise_correction(1000, 100)
    >>> round(factor, 3), round(constant, 1)
    (0.898, 2.8)
    """
    if np.isinf(rows):
        return 1.0, 0.0
    factor = (rows - d - 2.0) / rows
    spread = np.log(2.0 / rows) + digamma(0.5 * (rows - 1.0 - np.arange(d)))
    return factor, 0.5 * float(spread.sum() - d * np.log(factor)) + 0.5 * d / rows


def can_correct(rows: float, d: int) -> bool:
    """Whether there are rows enough for the noise of a covariance to be taken out."""
    return rows >= 2 * d + 10


def elliptical_draw(n: int, d: int, df: float, rng: np.random.Generator) -> Array:
    """Rows of a standard multivariate t, one chi-square for each row, or of a normal."""
    z = rng.standard_normal((n, d))
    if np.isinf(df):
        return z
    chi = rng.chisquare(df, n) / df
    return z / np.sqrt(np.maximum(chi, np.finfo(float).tiny))[:, None]


def elliptical_log_density(square: Array, d: int, df: float) -> Array:
    """Log-density of a standard multivariate t or normal at a squared radius."""
    if np.isinf(df):
        return np.asarray(-0.5 * square - 0.5 * d * np.log(2 * np.pi))
    constant = gammaln(0.5 * (df + d)) - gammaln(0.5 * df) - 0.5 * d * np.log(df * np.pi)
    return np.asarray(constant - 0.5 * (df + d) * np.log1p(square / df))


def mixture_log_density(components: Sequence[Any], X: Array) -> Array:
    """Log-density of a mixture at every row.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import GaussianAnchor, mixture_log_density
    >>> rows = np.random.default_rng(0).normal(size=(500, 2))
    >>> mixture_log_density(GaussianAnchor().fit(rows).components_, rows[:3]).shape
    (3,)
    """
    parts = [np.log(part.share) + part.log_density(X) for part in components]
    return parts[0] if len(parts) == 1 else np.asarray(logsumexp(np.array(parts), axis=0))


class SampleAnchor(BaseEstimator):
    """An anchor that is fitted to a weighted sample; a subclass gives :meth:`learn`."""

    def fit(
        self,
        X: Array,
        sample_weight: Array | None = None,
        surroundings: Surroundings | None = None,
    ) -> Self:
        """Fit to the rows of X, with weights, and with what is known besides, where it matters."""
        self.learn(Sample.of(X, sample_weight), surroundings)
        return self

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Set the attributes that end in "_"."""
        raise NotImplementedError


class ComponentAnchor(BaseEstimator):
    """What every anchor has that is the mixture of its ``components_``, which its fit sets."""

    components_: Sequence[Any]
    is_mixture = True

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        return mixture_log_density(self.components_, X)

    @property
    def bias_(self) -> float:
        """Bias of the log-density, a constant.

        See :func:`isthmus.anchors.elliptical.noise_correction`.
        """
        return float(sum(part.share * part.bias for part in self.components_))


class OneComponent(ComponentAnchor):
    """What every anchor of one piece has once its fit has set ``component_``."""

    component_: Any

    @property
    def components_(self) -> list[Any]:  # type: ignore[override]
        """The fit as a mixture of one component."""
        return [self.component_]
