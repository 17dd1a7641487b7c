"""The increasing map under which either of two samples is normal by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ..data.sample import TwoSamples
from ..typing import Array
from .logspline import LogSpline
from .quantile import LOG_ROOT_2PI, NormalScores, QuantileMap, tail_of

_BINS = np.linspace(-5.0, 5.0, 401)
_REACH = np.linspace(-5.0, 5.0, 81)
# Normal classes four spreads apart are found after some ten rounds. What later rounds
# change is what the sample says little about.
_ROUNDS = 12


@dataclass(frozen=True)
class TwoNormalsMap:
    """Normal scores of the pooled sample, followed by the map to a mixture of two normals.

    Normal scores alone would make the pooled sample normal, and so neither of two
    classes that lie apart.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.data.validation import as_two_samples
    >>> from isthmus.maps.two_normals import fit_two_normals
    >>> rng = np.random.default_rng(0)
    >>> samples = as_two_samples(rng.gamma(2, size=(500, 1)), rng.gamma(5, size=(500, 1)))
    >>> column = fit_two_normals(samples.map(lambda rows: rows[:, 0]), 1000)
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> np.allclose(column.inverse(column(x)), x)
    True
    """

    scores: QuantileMap  # The normal scores t of x.
    mixture: NormalScores  # The normal scores t of z, z having the mixture's distribution.

    def evaluate(self, x: Array) -> tuple[Array, Array]:
        """Values z and log dz/dx at x, each shaped like x."""
        t, log_slope = self.scores.evaluate(x)
        z = self.mixture.backward(t)
        return z, log_slope - self.mixture.forward(z)[1]

    def __call__(self, x: Array) -> Array:
        return self.mixture.backward(self.scores(x))

    def log_derivative(self, x: Array) -> Array:
        """Logarithm of dz/dx at x."""
        return self.evaluate(x)[1]

    def inverse(self, z: Array) -> Array:
        """The x that is mapped to z."""
        return self.scores.inverse(self.mixture.forward(np.asarray(z, dtype=np.float64))[0])


def fit_two_normals(samples: TwoSamples, size: float) -> TwoNormalsMap:
    """Fit the map to a column of two classes, which stand for so many rows together.

    The classes' means and spreads in z follow from the map, and the map follows
    from them, for the pooled sample has the mixture's distribution: a few rounds
    settle both.
    """
    x, shares = np.concatenate([one.rows for one in samples]), [one.share for one in samples]
    scores = QuantileMap().fit(x, np.concatenate(shares), size)
    # Rows of equal scores move together, so that bins of them will do.
    scored = np.split(scores(x).clip(_BINS[0], _BINS[-1]), [len(samples.p)])
    held = np.array(
        [np.histogram(t, _BINS, weights=w)[0] for t, w in zip(scored, shares, strict=True)]
    )
    t = 0.5 * (_BINS[1:] + _BINS[:-1])
    means, spreads = _class_moments(held, t)
    for _ in range(_ROUNDS):
        knots, r = _grid(means, spreads)
        old = means, spreads
        means, spreads = _class_moments(held, np.interp(t, ndtri(ndtr(r).mean(axis=1)), knots))
        if np.abs([means - old[0], spreads - old[1]]).max() < 1e-3:
            break
    return TwoNormalsMap(scores, _mixture(means, spreads))


def _class_moments(held: Array, z: Array) -> tuple[Array, Array]:
    """Means and spreads of both classes, the pooled sample having mean 0 and variance 1."""
    means = held @ z
    variances = held @ z**2 - means**2
    unit = np.sqrt(max(variances.mean() + means.var(), 1e-12))
    return (means - means.mean()) / unit, np.sqrt(np.maximum(variances / unit**2, 1e-6))


def _grid(means: Array, spreads: Array) -> tuple[Array, Array]:
    """Knots that follow either normal, and their distances from the means in spreads."""
    knots = np.sort((means + spreads * _REACH[:, None]).ravel())
    knots = knots[np.diff(knots, prepend=-np.inf) > 1e-3 * spreads.min()]
    return knots, (knots[:, None] - means) / spreads


def _mixture(means: Array, spreads: Array) -> NormalScores:
    """Normal scores of a half-and-half mixture of two normals."""
    knots, r = _grid(means, spreads)
    log_density = np.log(0.5 * (np.exp(-0.5 * r**2) / spreads).sum(axis=1)) - LOG_ROOT_2PI
    low, high = ndtr(r[[0, -1]]).mean(axis=1)
    body = LogSpline.normalised(knots, log_density, low, high)
    return NormalScores(body, (tail_of(body, 0, 1e6), tail_of(body, -1, 1e6)))
