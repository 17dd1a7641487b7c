"""Penalised logistic regression of p against q on features: the paper's objective, two classes.

The critic of q is zero and that of p is linear in the features, so that it is log p/q. The
penalty is the one under which every row, left out, is predicted best; leaving a row out takes a
formula and no fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..data.blocks import Block, MemoryBlocks
from ..data.sample import Sample, TwoSamples
from ..model.objective import Objective, Point
from ..model.solvers import newton
from ..model.table import Table
from ..typing import Array
from .base import balanced

# The constant is a feature of this size, so that the penalty hardly holds it.
_CONSTANT = 10.0
_TOL, _STEPS = 1e-5, 25


@dataclass(frozen=True)
class Logistic:
    """A fitted regression: ``features @ coefficients + constant`` is log p/q.

    Attributes
    ----------
    coefficients : ndarray of shape (m,)
    constant : float
    l2 : float
        Its penalty.
    loss : float
        Mean log-loss of rows that are left out one at a time; NaN where it was not asked for.
    """

    coefficients: Array
    constant: float
    l2: float
    loss: float = np.nan

    def __call__(self, features: Array) -> Array:
        """Log p/q at rows of features."""
        return np.asarray(features @ self.coefficients + self.constant)


def fit_logistic(features: TwoSamples, penalties: Sequence[float]) -> Logistic:
    """Fit with each penalty, from strong to weak, and keep the one that predicts best.

    Parameters
    ----------
    features : TwoSamples
        Features of the rows of p and of q, on a scale of one, with weights.
    penalties : sequence of float
        Precisions of a normal prior on the coefficients, from strong to weak. One alone is taken
        as it is.
    """
    objective = _objective(features)
    theta, best = np.zeros(objective.n_parameters), None
    for l2 in penalties:
        objective = Objective(objective.critic, objective.blocks, l2)
        theta = newton(objective, theta, tol=_TOL, max_iter=_STEPS).theta
        if len(penalties) == 1:
            return Logistic(theta[:-1], float(_CONSTANT * theta[-1]), l2)
        loss = left_out_loss(objective.at(theta))
        if best is None or loss < best.loss:
            best = Logistic(theta[:-1], float(_CONSTANT * theta[-1]), l2, loss)
        elif loss > best.loss + 1e-3:
            break
    if best is None:
        raise ValueError("penalties must hold at least one; received none.")
    return best


def _objective(features: TwoSamples) -> Objective:
    classes = [
        Sample(np.column_stack([sample.rows, np.full(len(sample), _CONSTANT)]), weight)
        for sample, weight in zip(features, balanced(features), strict=True)
    ]
    blocks = MemoryBlocks(
        classes=classes,
        offsets=[np.zeros((len(sample), 2)) for sample in classes],
        log_prior=np.log([0.5, 0.5]),
        learned=np.array([True, False]),
    )
    return Objective(Table(1, classes[0].rows.shape[1]), blocks)


def left_out_loss(point: Point) -> float:
    """Mean log-loss of the rows, each predicted by the fit without it.

    One Newton step from the fit to that without a row moves its logit by ``a g / (1 - a c)``,
    with g and c the slope and curvature of its loss and a = x' H^-1 x.
    """
    blocks, critic = point.objective.blocks, point.objective.critic
    root = np.linalg.cholesky(point.hessian())
    raw = critic.expand(point.theta)

    def loss(block: Block) -> Array:
        X, weight, label = block.X, block.weight, block.label
        logit = critic.values(raw, X)[:, 0]
        p = point.probability(block)[0]
        a = (np.linalg.solve(root, X.T) ** 2).sum(axis=0)
        curvature = weight * p * (1.0 - p)
        slope = weight * (p - (label == 0))
        logit = logit + a * slope / np.maximum(1.0 - a * curvature, 0.05)
        sign = -1.0 if label == 0 else 1.0
        out = np.zeros(2)
        out[label] = weight @ np.logaddexp(0.0, sign * logit)
        return out

    total = blocks.sum(loss)
    return float((total / blocks.mass).mean())
