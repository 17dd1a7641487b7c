"""Which rows lie outside both samples: there, a ratio is a guess."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ..data.blocks import slices
from ..data.kept import KeptRows
from ..typing import Array, BoolArray
from .check import Check, advised, graded
from .evidence import spaced

_ROWS = 2000
_NEIGHBOURS = 5
_CHUNK = 5000


class Neighbourhood:
    r"""Where a sample has rows.

    A row's distance to its five nearest rows of the sample is divided by how far these lie
    from theirs, as in the local outlier factor (Breunig et al., 2000): sparse regions
    have their own scale. Half of the rows are neighbours, the other half says which
    values are usual. A row is outside if its value is larger than all of these: one of the
    sample's own distribution is so with probability 1/(m + 1), m rows being in that half.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        The sample, at least four rows; at most 2000 are used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> known = Neighbourhood(rng.normal(size=(500, 3)))
    >>> known.outside(np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]]))
    array([False,  True])
    """

    def __init__(self, rows: Array) -> None:
        take = spaced(len(rows), _ROWS)
        # Neighbours in the file may be alike; halves are taken in an order of chance.
        rows = rows[take][np.random.default_rng(0).permutation(len(take))]
        self.centre_, self._axes = rows.mean(axis=0), _whitening(rows)
        white = (rows - self.centre_) @ self._axes
        half = len(white) // 2
        self._known = white[:half]
        self._k = min(_NEIGHBOURS, half - 1)
        self._index = NearestNeighbors(n_neighbors=self._k).fit(self._known)
        near = self._index.kneighbors(n_neighbors=self._k)[0].mean(axis=1)
        # Rows that occur many times have no distance to each other.
        self._radius = np.maximum(near, 1e-6 * np.sqrt(white.shape[1]))
        self.usual_ = self._score(white[half:])

    def distance(self, X: Array) -> Array:
        """How far rows lie from the sample; at one, as far as any that is known to be of it."""
        out = np.empty(len(X))
        for at in slices(len(X), _CHUNK):
            out[at] = self._score((X[at] - self.centre_) @ self._axes)
        return out / max(float(self.usual_.max()), 1.0)

    def outside(self, X: Array) -> BoolArray:
        """Whether each row lies farther away than any that is known to be of the sample."""
        return self.distance(X) > 1.0

    def _score(self, white: Array) -> Array:
        # A column that does not vary in the sample may put a row beyond all numbers.
        distance, at = self._index.kneighbors(np.clip(white, -1e100, 1e100))
        return np.asarray(distance.mean(axis=1) / self._radius[at].mean(axis=1))


def _whitening(rows: Array) -> Array:
    """Map to coordinates in which the sample is white; what does not vary becomes very far."""
    unit = np.maximum(rows.std(axis=0), 1e-9 * np.abs(rows).max(axis=0))
    unit = np.where(unit > 0, unit, 1e-300)
    scaled = (rows - rows.mean(axis=0)) / unit
    values, axes = np.linalg.eigh(scaled.T @ scaled / len(rows))
    noise = min(rows.shape[1] / len(rows), 1.0)
    return np.asarray((axes / np.sqrt(np.maximum(values, 0.0) + noise + 1e-9)) / unit[:, None])


def distance_from(kept: KeptRows, X: Array) -> Array:
    """Distance of rows from the nearer of two samples; above one, they are outside both."""
    sides = [Neighbourhood(np.nan_to_num(rows)) for rows in (kept.p, kept.q)]
    return np.minimum(*(side.distance(np.nan_to_num(X)) for side in sides))


def check_extrapolation(score: Array) -> Check:
    """Whether rows lie outside both samples.

    Parameters
    ----------
    score : ndarray of shape (n,)
        Distance of every row from the nearer sample; above one it is outside both.

    Returns
    -------
    Check
        Its value is the share of rows outside; ``details["outside"]`` has their places.

    Examples
    --------
    >>> check_extrapolation(np.array([0.3, 0.8, 2.5, 0.9])).details["outside"]
    [2]
    """
    outside = np.flatnonzero(score > 1.0)
    share = len(outside) / max(len(score), 1)
    return advised(
        share,
        graded(share, 0.02, 0.25),
        f"{len(outside)} of {len(score)} rows ({share:.0%}) lie outside both samples",
        warn=": the log-ratio there is a continuation; leave these rows out or distrust them.",
        fail=": what the log-ratio says of them is a guess by its family of functions.",
        details={"outside": outside.tolist()},
    )
