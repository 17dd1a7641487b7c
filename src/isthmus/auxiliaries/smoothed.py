"""The paper's mixture of smoothed samples."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ..data.blocks import slices
from ..data.sample import TwoSamples
from ..data.validation import check_number
from ..maps.affine import AffineMap, canonical_map
from ..typing import Array
from .base import FittedAuxiliary
from .overlapping import scale_root

_CHUNK = 4096


class SmoothedMixture(FittedAuxiliary):
    """The paper's mixture: p and q, each convolved with a normal, in equal parts.

    Some rows of each sample serve as centres, so that the density is that of a
    finite mixture of normals and known exactly.

    Parameters
    ----------
    bandwidth : float, array of shape (d,) or (d, d), optional
        Standard deviation of the normal, or its covariance matrix; by default
        half the spread of the pooled sample. The paper's is 1.
    n_centres : int
        Largest number of rows of each sample that serve as centres.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.auxiliaries import SmoothedMixture
    >>> rng = np.random.default_rng(0)
    >>> m = SmoothedMixture().fit(rng.normal(-3, 1, (300, 1)), rng.normal(3, 1, (300, 1)))
    >>> draws = m.sample(1000, rng)
    >>> bool(0.4 < (draws > 0).mean() < 0.6)  # half of it lies on q
    True
    """

    def __init__(self, bandwidth: float | Array | None = None, n_centres: int = 200) -> None:
        self.bandwidth = bandwidth
        self.n_centres = n_centres

    def learn(self, samples: TwoSamples) -> None:
        """Choose the centres and the bandwidth."""
        check_number(self.n_centres, "n_centres", low=1, integer=True)
        if self.bandwidth is None:
            pooled = canonical_map(samples, warn=False)
            self.root_, self.inverse_root_ = 0.5 * pooled.backward, 2.0 * pooled.forward
            self.origin_ = pooled.centre
        else:
            self.root_ = scale_root(self.bandwidth, samples.n_columns, "bandwidth")
            self.inverse_root_ = np.asarray(np.linalg.inv(self.root_), dtype=np.float64)
            self.origin_ = samples.p.rows.mean(axis=0)
        centres, shares = [], []
        for sample in samples:
            # Evenly spaced row numbers represent a sorted file as well as a shuffled one.
            chosen = np.unique(np.linspace(0, len(sample) - 1, self.n_centres).astype(int))
            part = sample.take(chosen)
            weight = part.weight if part.weight.any() else np.ones(len(part))
            centres.append(part.rows)
            shares.append(0.5 * weight / weight.sum())
        self.centres_, self.share_ = np.concatenate(centres), np.concatenate(shares)
        self.log_volume_ = AffineMap(self.origin_, self.inverse_root_, self.root_).log_det

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows: a centre and a normal deviation from it."""
        chosen = rng.choice(len(self.centres_), size=n, p=self.share_)
        return self.centres_[chosen] + rng.standard_normal((n, len(self.root_))) @ self.root_

    def log_density(self, x: Array) -> Array:
        """Log-density at the rows of x, shape (n,), in chunks of rows."""
        C = (self.centres_ - self.origin_) @ self.inverse_root_
        d = C.shape[1]
        with np.errstate(divide="ignore"):
            constant = np.log(self.share_) - 0.5 * d * np.log(2 * np.pi) + self.log_volume_
        out = np.empty(len(x))
        for rows in slices(len(x), _CHUNK):
            Z = (x[rows] - self.origin_) @ self.inverse_root_
            square = (Z**2).sum(1)[:, None] - 2 * Z @ C.T + (C**2).sum(1)
            out[rows] = logsumexp(constant - 0.5 * np.maximum(square, 0), axis=1)
        return out
