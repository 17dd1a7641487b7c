"""Balance to the decimal: the weights nearest to given ones under which means are as asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.special import logsumexp

from ..typing import Array, BoolArray
from ..words import listed, printable

_TOL = 1e-10
"""Largest gap of a mean that is let stand, in standard deviations."""

_STEPS, _HALVINGS = 200, 40
_LEAST_CURVATURE = 1e-12


class OutsideHull(ValueError):
    """No weights of the rows have the asked means; the message names the columns."""


def tilted(
    features: Array, log_weight: Array, means: Array, labels: Sequence[str]
) -> tuple[Array, Array]:
    r"""Entropy balancing: exponential tilting of weights until means are as asked.

    The weights :math:`w_i \propto b_i \exp(\lambda^\top x_i)` are those nearest to :math:`b` in
    the Kullback-Leibler sense with :math:`\sum_i w_i x_i = m`. With 0/1 features of levels this is
    raking. The dual :math:`\log \sum_i b_i \exp(\lambda^\top (x_i - m))` is convex, and Newton's
    method minimises it.

    Parameters
    ----------
    features : ndarray of shape (n, k)
    log_weight : ndarray of shape (n,)
        Logarithms of the weights to start from.
    means : ndarray of shape (k,)
    labels : sequence of str
        Names of the features, for a refusal.

    Returns
    -------
    log_weight : ndarray of shape (n,)
        Of weights that add up to one.
    slope : ndarray of shape (k,)
        What the features are multiplied with.

    References
    ----------
    Hainmueller (2012), Entropy balancing for causal effects.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> log_weight, _ = tilted(x, np.zeros(3), np.array([1.5]), ["x"])
    >>> bool(abs(np.exp(log_weight) @ x[:, 0] - 1.5) < 1e-8)
    True
    """
    start, inside = _on_face(features - means, log_weight)
    scale = features[inside].std(axis=0)
    scale = np.where(scale > 1e-12 * np.maximum(np.abs(means), 1e-300), scale, 1.0)
    z = (features - means) / scale
    _refuse_outside(z[inside], labels)
    slope, value = np.zeros(z.shape[1]), float(logsumexp(start))
    for _ in range(_STEPS):
        share = np.exp(_normal(start + z @ slope))
        gap = share @ z
        if np.abs(gap).max() < _TOL:
            return _normal(start + z @ slope), np.asarray(slope / scale)
        curvature = (z * share[:, None]).T @ z - np.outer(gap, gap)
        # Features of levels add up to one: the direction that changes nothing is left out.
        step = -np.linalg.lstsq(curvature, gap, rcond=_LEAST_CURVATURE)[0]
        size, new = 1.0, float(logsumexp(start + z @ (slope + step)))
        for _ in range(_HALVINGS):
            if new <= value + 1e-4 * size * float(gap @ step) + 1e-15:
                break
            size *= 0.5
            new = float(logsumexp(start + z @ (slope + size * step)))
        slope, value = slope + size * step, new
    raise OutsideHull(_unreached(z[inside], labels))


def _on_face(z: Array, log_weight: Array) -> tuple[Array, BoolArray]:
    """Log-weights without the rows that no solution can use, and which rows are left.

    Where the target's mean is the source's least or largest value, as for a level that the target
    lacks, only rows with this value can have weight.
    """
    inside = np.isfinite(log_weight)
    for _ in range(z.shape[1] + 1):
        low, high = z[inside].min(axis=0), z[inside].max(axis=0)
        tiny = 1e-12 * np.maximum(high - low, 1e-300)
        least, most = np.abs(low) <= tiny, np.abs(high) <= tiny
        ends = (least | most) & (high - low > tiny)
        if not ends.any():
            break
        inside &= (np.abs(z[:, ends]) <= tiny[ends]).all(axis=1)
    return np.where(inside, log_weight, -np.inf), inside


def _normal(log_weight: Array) -> Array:
    return np.asarray(log_weight - logsumexp(log_weight))


def _refuse_outside(z: Array, labels: Sequence[str]) -> None:
    low, high = z.min(axis=0), z.max(axis=0)
    out = np.flatnonzero((low > 1e-12) | (high < -1e-12))
    if len(out):
        raise OutsideHull(
            _message([labels[int(j)] for j in out], "lie outside the source's values")
        )


def _unreached(z: Array, labels: Sequence[str]) -> str:
    """Say which means cannot be reached together: those with slack in the nearest solution."""
    n, k = z.shape
    found = linprog(
        np.concatenate([np.zeros(n), np.ones(2 * k)]),
        A_eq=np.vstack(
            [
                np.hstack([z.T, np.eye(k), -np.eye(k)]),
                np.concatenate([np.ones(n), np.zeros(2 * k)]),
            ]
        ),
        b_eq=np.concatenate([np.zeros(k), [1.0]]),
        method="highs",
    )
    slack = np.zeros(k) if found.x is None else np.abs(found.x[n : n + k] - found.x[n + k :])
    out = np.flatnonzero(slack > 1e-9)
    named = [labels[int(j)] for j in out] or list(labels)
    return _message(named, "cannot be reached together by any weights")


def _message(named: Sequence[str], why: str) -> str:
    told = listed([printable(name, 40) for name in named])
    return (
        f"balance must ask for means that weights of the source's rows can have; the target's of "
        f"{told} {why}. Leave these columns out of balance, or trim with least_ess."
    )
