"""FastICA: the turn of white rows after which columns are furthest from normal.

scikit-learn's warns where it does not converge, and to silence that is to silence every thread.
Where there are no sources there is nothing to converge to, and any turn will do.
"""

from __future__ import annotations

import numpy as np

from ..typing import Array

_MAX_STEPS = 60
_TOL = 1e-3


def independent(white: Array, rng: np.random.RandomState) -> Array:
    """Orthogonal matrix of which ``white @ turn`` has columns as independent as can be.

    By the fixed point of Hyvarinen (1999) with log cosh, for all columns at once.

    Parameters
    ----------
    white : ndarray of shape (n, d)
        Rows of mean zero and unit covariance.
    rng : RandomState
        Draws the start.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sources = rng.laplace(size=(4000, 2)) / np.sqrt(2.0)
    >>> turned = sources @ np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> found = turned @ independent(turned, np.random.RandomState(0))
    >>> largest = np.abs(np.corrcoef(found.T, sources.T)[:2, 2:]).max(axis=1)
    >>> bool((largest > 0.99).all())
    True
    """
    d = white.shape[1]
    turn = _orthogonal(rng.normal(size=(d, d)))
    for _ in range(_MAX_STEPS):
        slope = np.tanh(turn @ white.T)
        curvature = 1.0 - (slope**2).mean(axis=1)
        before, turn = turn, _orthogonal(slope @ white / len(white) - curvature[:, None] * turn)
        moved = np.abs(np.abs((turn * before).sum(axis=1)) - 1.0).max()
        if moved < _TOL:
            break
    return np.asarray(turn.T)


def _orthogonal(W: Array) -> Array:
    """The orthogonal matrix next to another."""
    values, vectors = np.linalg.eigh(W @ W.T)
    values = np.maximum(values, np.finfo(float).tiny)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T @ W)
