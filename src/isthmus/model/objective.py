"""The multinomial logistic objective of the paper (its equation 2).

For rows x_i of class y_i with weights w_i and class priors pi_c, ::

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

from functools import reduce
from typing import Any

import numpy as np

from ..data.blocks import Block, Blocks
from ..typing import Array, LinearCritic

# Probabilities below e^-300 are nothing; their products, smaller than a normal float, would
# be computed a hundred times more slowly.
_LEAST_LOGIT = -300.0


class Objective:
    """Penalised negative log-likelihood of rows in blocks.

    Parameters
    ----------
    critic : linear critic
        Anything with ``expand``, ``values``, ``accumulator``, ``accumulate`` and
        ``contract``; ``features`` as well where the exact Hessian is wanted.
    blocks : Blocks
    l2 : float
        Ridge penalty, on the scale of the sum over rows: 1 is a standard normal
        prior on the parameters.
    """

    def __init__(self, critic: LinearCritic, blocks: Blocks, l2: float = 0.0) -> None:
        self.critic = critic
        self.blocks = blocks
        self.l2 = float(l2)
        self.total_weight = blocks.total_weight
        # Classes whose critic is learned come in the critic's own order.
        self.learned = np.flatnonzero(blocks.learned)

    @property
    def n_parameters(self) -> int:
        """Number of parameters of the critic."""
        return int(self.critic.n_parameters)

    @property
    def has_features(self) -> bool:
        """Whether the critic writes out its features, which the dense Hessian needs."""
        return callable(getattr(self.critic, "features", None))

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient at theta, in one pass over the rows."""
        point = self.at(theta)
        return point.value, point.gradient

    def at(self, theta: Array) -> Point:
        """Value, gradient and curvature at theta."""
        return Point(self, np.asarray(theta, dtype=np.float64))


class Point:
    """The objective at one value of the parameters.

    Attributes
    ----------
    value : float
    gradient : ndarray of shape (n_parameters,)
    """

    def __init__(self, objective: Objective, theta: Array) -> None:
        self.objective, self.theta = objective, theta
        self._raw = objective.critic.expand(theta)
        self._kept: dict[int, Array] = {}
        loss, moments = objective.blocks.sum(self._value_and_moments)
        self.value: float = loss + 0.5 * objective.l2 * float(theta @ theta)
        self.gradient: Array = objective.critic.contract(moments) + objective.l2 * theta

    def probability(self, block: Block) -> Array:
        """P(class | x) of the learned classes, shape (classes, n); the known ones hold the rest."""
        if block.index in self._kept:
            return self._kept[block.index]
        return np.asarray(self._forward(block)[1][self.objective.learned])

    def hessian_product(self, direction: Array) -> Array:
        """Hessian times a direction, in one pass over the rows."""
        critic = self.objective.critic
        raw = critic.expand(direction)

        def moments(block: Block) -> Any:
            P, slope = self.probability(block), critic.values(raw, block.X).T
            slope = slope - np.einsum("ij,ij->j", P, slope)
            slope *= P
            slope *= block.weight
            return self._accumulated(slope, block.X)

        total = self.objective.blocks.sum(moments)
        return np.asarray(critic.contract(total) + self.objective.l2 * direction)

    def hessian(self) -> Array:
        """Dense Hessian, shape (n_parameters, n_parameters); for few parameters."""
        critic, size = self.objective.critic, self.objective.n_parameters
        k = len(self.objective.learned)
        part = size // k

        def outer(block: Block) -> Array:
            H = np.zeros((size, size))
            probability = self.probability(block)
            for at in block.pieces(part):
                P = probability[:, at]
                weighted = P * block.weight[at]
                features = critic.features(block.X[at])
                for c in range(k):
                    own = slice(c * part, (c + 1) * part)
                    # A matrix times its own transpose takes half of the work.
                    rooted = features[c] * np.sqrt(weighted[c] * (1.0 - P[c]))[:, None]
                    H[own, own] += rooted.T @ rooted
                    for e in range(c + 1, k):
                        product = features[c].T @ (features[e] * (weighted[c] * -P[e])[:, None])
                        H[own, e * part : (e + 1) * part] += product
            return H

        H = self.objective.blocks.sum(outer)
        upper = np.triu(H, k=1)
        return np.asarray(np.triu(H) + upper.T + self.objective.l2 * np.eye(size))

    def _forward(self, block: Block) -> tuple[float, Array]:
        """Loss, and probabilities of all classes, (C, n): every operation runs along rows."""
        blocks, critic = self.objective.blocks, self.objective.critic
        eta = block.offset.T + blocks.log_prior[:, None]
        eta[self.objective.learned] += critic.values(self._raw, block.X).T
        eta -= reduce(np.maximum, eta)
        loss = -float(block.weight @ eta[block.label])
        np.maximum(eta, _LEAST_LOGIT, out=eta)
        np.exp(eta, out=eta)
        mass = reduce(np.add, eta)
        eta /= mass
        loss += float(block.weight @ np.log(mass))
        return loss, eta

    def _value_and_moments(self, block: Block) -> tuple[float, Any]:
        loss, every = self._forward(block)
        learned = self.objective.learned
        P = every[learned]
        if self.objective.blocks.keeps:
            self._kept[block.index] = P
        residual = P.copy()
        residual[learned == block.label] -= 1.0
        residual *= block.weight
        return loss, self._accumulated(residual, block.X)

    def _accumulated(self, R: Array, X: Array) -> Any:
        critic = self.objective.critic
        total = critic.accumulator()
        critic.accumulate(total, R.T, X)
        return total
