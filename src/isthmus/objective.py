"""The multinomial logistic objective of the paper (its equation 2).

For rows x_i of class y_i with weights w_i and class priors pi_c,

    L(theta) = sum_i w_i [ -eta_{y_i}(x_i) + log sum_c exp eta_c(x_i) ] + l2/2 |theta|^2,
    eta_c(x) = log pi_c + offset_c(x) + h_c(x; theta),

where h_c is the critic of a learned class and zero for an auxiliary whose
log-density, the offset, is known. With a critic that is linear in theta, L is
convex.

The objective returns sums over rows, never means: a stream or a cluster adds
them up. One object serves the point fit (gradient, Hessian product), Laplace
(Hessian) and samplers (value and gradient).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np

from ._sample import LabelledSample
from ._typing import Array

CHUNK_BYTES = 2_000_000

# Probabilities below e^-300 are nothing; their products, smaller than a normal float, would
# be computed a hundred times more slowly.
_LEAST_LOGIT = -300.0


class Objective:
    """Penalised negative log-likelihood of a labelled sample, in chunks of rows.

    Parameters
    ----------
    critic : linear critic
        Anything with ``expand``, ``values``, ``accumulator``, ``accumulate`` and
        ``contract``; ``features`` as well where the exact Hessian is wanted.
    sample : LabelledSample
    l2 : float
        Ridge penalty, on the scale of the sum over rows: 1 is a standard normal
        prior on the parameters.
    chunk_rows : int, optional
        Rows taken at a time; by default a few megabytes of them. The result does
        not depend on it.
    """

    def __init__(
        self, critic: Any, sample: LabelledSample, l2: float = 0.0, chunk_rows: int | None = None
    ) -> None:
        self.critic = critic
        self.sample = sample
        self.l2 = float(l2)
        self.chunk_rows = chunk_rows
        self.total_weight = float(sample.weight.sum())
        # Classes whose critic is learned come in the critic's own order.
        self._learned = np.flatnonzero(sample.learned)

    @property
    def n_parameters(self) -> int:
        """Number of parameters of the critic."""
        return int(self.critic.n_parameters)

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient at theta, in one pass over the rows."""
        point = self.at(theta)
        return point.value, point.gradient

    def at(self, theta: Array) -> Point:
        """Value, gradient and curvature at theta; the class probabilities are kept."""
        return Point(self, np.asarray(theta, dtype=np.float64))

    def chunks(self, width: int | None = None) -> Iterator[slice]:
        """Slices of rows that cover the sample; ``width`` numbers a row are worked on."""
        # Logits, probabilities and their copies are several numbers a class.
        width = max(width or self.sample.X.shape[1], 4 * self.sample.offset.shape[1])
        rows = self.chunk_rows or max(512, CHUNK_BYTES // (8 * width))
        for begin in range(0, len(self.sample), rows):
            yield slice(begin, min(begin + rows, len(self.sample)))


class Point:
    """The objective at one value of the parameters.

    Attributes
    ----------
    value : float
    gradient : ndarray of shape (n_parameters,)
    probability : ndarray of shape (n, learned classes)
        P(class | x) of the learned classes; the known ones hold the rest.
    """

    def __init__(self, objective: Objective, theta: Array) -> None:
        self.objective, self.theta = objective, theta
        sample, critic, learned = objective.sample, objective.critic, objective._learned
        raw, total = critic.expand(theta), critic.accumulator()
        # Arrays of classes by rows: every operation runs along contiguous rows.
        probability = np.empty((len(learned), len(sample)))
        loss = 0.0
        for rows in objective.chunks():
            X, weight = sample.X[rows], sample.weight[rows]
            eta = sample.offset[rows].T + sample.log_prior[:, None]
            eta[learned] += critic.values(raw, X).T
            eta -= reduce(np.maximum, eta)
            own = sample.segments(rows)
            for c, part in own:
                loss -= float(weight[part] @ eta[c, part])
            np.maximum(eta, _LEAST_LOGIT, out=eta)
            np.exp(eta, out=eta)
            mass = reduce(np.add, eta)
            eta /= mass
            loss += float(weight @ np.log(mass))
            probability[:, rows] = eta[learned]
            for c, part in own:
                eta[c, part] -= 1.0
            residual = eta[learned] * weight
            critic.accumulate(total, residual.T, X)
        self.probability = probability.T
        self.value = loss + 0.5 * objective.l2 * float(theta @ theta)
        self.gradient = critic.contract(total) + objective.l2 * theta

    def hessian_product(self, direction: Array) -> Array:
        """Hessian times a direction, in one pass over the rows."""
        objective = self.objective
        sample, critic = objective.sample, objective.critic
        raw, total = critic.expand(direction), critic.accumulator()
        for rows in objective.chunks():
            X, P = sample.X[rows], self.probability[rows].T
            slope = critic.values(raw, X).T
            slope = slope - np.einsum("ij,ij->j", P, slope)
            slope *= P
            slope *= sample.weight[rows]
            critic.accumulate(total, slope.T, X)
        return np.asarray(critic.contract(total) + objective.l2 * direction)

    def hessian(self) -> Array:
        """Dense Hessian, shape (n_parameters, n_parameters); for few parameters."""
        objective = self.objective
        sample, critic = objective.sample, objective.critic
        size, k = objective.n_parameters, self.probability.shape[1]
        part = size // k
        H = np.zeros((size, size))
        for rows in objective.chunks(width=part):
            P = self.probability[rows].T
            weighted = P * sample.weight[rows]
            features = critic.features(sample.X[rows])
            for c in range(k):
                for e in range(c, k):
                    s = weighted[c] * ((1.0 if c == e else 0.0) - P[e])
                    block = features[c].T @ (features[e] * s[:, None])
                    H[c * part : (c + 1) * part, e * part : (e + 1) * part] += block
        upper = np.triu(H, k=1)
        return np.asarray(np.triu(H) + upper.T + objective.l2 * np.eye(size))
