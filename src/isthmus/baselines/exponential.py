"""The exponential loss of eNCE and normalised gradient descent on it.

Liu, Rosenfeld, Ravikumar & Risteski, "Analyzing and Improving the Optimization
Landscape of Noise-Contrastive Estimation", ICLR 2022, arXiv:2110.11271.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.blocks import Block, Blocks, gather
from ..model.objective import Objective, Point
from ..model.solvers import Solution, newton
from ..typing import Array, LinearCritic

# Steps between two looks, and the share of what their length promises that they must bring.
_STEPS, _WORTH = 10, 0.05
_SHORTEST = 1e-10
_LARGEST_POWER = 700.0


class ExponentialObjective(Objective):
    """The exponential loss, with a ridge, over blocks of two classes.

    With n the total weight and h the critic, the difference of two, it is

        F(theta) = n/2 (E_p[exp(-h/2)] + E_q[exp(h/2)]) + l2/2 |theta|^2,

    divided by a scale. The factor n/2 gives ``l2`` the meaning that it has in logistic
    regression: for small h the two losses agree. Losses of a chasm are far below what a
    tolerance can see; they are measured in units of one that was reached before, whose
    logarithm is ``log_scale``.
    """

    def __init__(
        self, critic: LinearCritic, blocks: Blocks, l2: float = 0.0, log_scale: float = 0.0
    ) -> None:
        super().__init__(critic, blocks, l2)
        self.log_scale = log_scale
        self.ridge = self.l2 * float(np.exp(-log_scale))

    def at(self, theta: Array) -> ExponentialPoint:
        """Value, gradient and curvature at theta."""
        return ExponentialPoint(self, np.asarray(theta, dtype=np.float64))


class ExponentialPoint(Point):
    """The objective at one value of the parameters.

    ``log_loss`` is the logarithm of half the loss, without the ridge, and 0 where h is 0;
    ``relative`` is the gradient over n times half the loss, which is zero at the minimum of any
    loss. The value is infinite where the loss overflows; everything else is finite.
    """

    objective: ExponentialObjective

    def __init__(self, objective: ExponentialObjective, theta: Array) -> None:
        self.objective, self.theta = objective, theta
        self._raw = objective.critic.expand(theta)
        self._kept: dict[int, Array] = {}
        blocks, total = objective.blocks, objective.total_weight
        largest = gather(blocks, lambda block: self._exponent(block).max(keepdims=True))
        self._top = float(largest.max())
        self._mass, moments = blocks.sum(self._mass_and_moments)
        self.log_loss = self._top + float(np.log(self._mass / total))
        pull = objective.critic.contract(moments) / self._mass
        power = self.log_loss - objective.log_scale
        self.loss = float(np.exp(power)) if power < _LARGEST_POWER else np.inf
        self.value = total * self.loss + 0.5 * objective.ridge * float(theta @ theta)
        self.gradient = total * self.loss * pull + objective.ridge * theta
        # Where the loss overflows the ridge is nothing beside it.
        weaker = objective.l2 / total * np.exp(min(-self.log_loss, _LARGEST_POWER))
        self.relative: Array = pull + weaker * theta

    @property
    def log_value(self) -> float:
        """Logarithm of loss and ridge together, per unit of weight."""
        objective = self.objective
        ridge = 0.5 * objective.l2 * float(self.theta @ self.theta) / objective.total_weight
        return float(np.logaddexp(self.log_loss, np.log(ridge) if ridge > 0 else -np.inf))

    def _exponent(self, block: Block) -> Array:
        """-h/2 at rows of p and h/2 at rows of q."""
        if block.index in self._kept:
            return self._kept[block.index]
        h = block.offset[:, 0] - block.offset[:, 1]
        h += self.objective.critic.values(self._raw, block.X)[:, 0]
        h *= _sign(block)
        if self.objective.blocks.keeps:
            self._kept[block.index] = h
        return h

    def _part(self, block: Block) -> Array:
        """Part of every row in the loss, up to the mass of all."""
        return np.asarray(block.weight * np.exp(self._exponent(block) - self._top))

    def _mass_and_moments(self, block: Block) -> tuple[float, Any]:
        part = self._part(block)
        return float(part.sum()), self._accumulated((_sign(block) * part)[None], block.X)

    def hessian_product(self, direction: Array) -> Array:
        """Hessian times a direction."""
        objective, critic = self.objective, self.objective.critic
        raw = critic.expand(direction)

        def moments(block: Block) -> Any:
            slope = critic.values(raw, block.X)[:, 0]
            return self._accumulated((0.25 * self._part(block) * slope)[None], block.X)

        pull = critic.contract(objective.blocks.sum(moments)) / self._mass
        return np.asarray(objective.total_weight * self.loss * pull + objective.ridge * direction)

    def hessian(self) -> Array:
        """Dense Hessian, shape (n_parameters, n_parameters); for few parameters."""
        objective, size = self.objective, self.objective.n_parameters

        def outer(block: Block) -> Array:
            part, second = 0.25 * self._part(block), np.zeros((size, size))
            for at in block.pieces(size):
                phi = objective.critic.features(block.X[at])[0]
                second += (phi * part[at, None]).T @ phi
            return second

        second = objective.blocks.sum(outer) / self._mass
        return np.asarray(
            objective.total_weight * self.loss * second + objective.ridge * np.eye(size)
        )


def _sign(block: Block) -> float:
    return 0.5 if block.label else -0.5


def normalised_descent(
    objective: ExponentialObjective,
    start: Array,
    *,
    tol: float = 1e-5,
    max_iter: int = 5000,
    step: float = 1.0,
    callback: Callable[[int, float], None] | None = None,
) -> Solution:
    """Gradient descent with steps of a given length, whatever the size of the gradient.

    To come within delta of the minimum theta*, the paper takes steps of length
    delta / sqrt(kappa), where kappa is the condition number of the Hessian there; that
    takes kappa |theta_0 - theta*|^2 / delta^2 of them. Neither number is known, so that
    delta is halved over and over: steps begin at the length ``step``, which is halved when
    ten steps have lowered the logarithm of the loss by less than a twentieth of what ten
    steps down a straight slope would, and go on from the best point, which is returned.
    It stops where the largest component of the gradient, relative to the loss, is ``tol``.
    """
    best = point = objective.at(start)
    length, before, status = step, point.log_value, ""
    for iteration in range(max_iter + 1):
        norm = float(np.abs(point.relative).max())
        if callback is not None:
            callback(iteration, norm)
        if norm <= tol:
            best, status = point, "converged"
            break
        if iteration == max_iter:
            status = "max_iter was reached before the tolerance: raise max_iter, tol or l2"
            break
        if length < _SHORTEST * (1.0 + float(np.linalg.norm(best.theta))):
            status = "no step lowers the objective further: raise l2, or use solver='newton'"
            break
        size = float(np.linalg.norm(point.relative))
        # Of the logarithm of loss and ridge together.
        slope = size * float(np.exp(point.log_loss - point.log_value))
        point = objective.at(point.theta - length * (point.relative / size))
        best = point if point.log_value < best.log_value else best
        if (iteration + 1) % _STEPS == 0:
            if before - best.log_value < _WORTH * _STEPS * length * slope:
                point, length = best, 0.5 * length
            before = best.log_value
    return _solution(best, status, iteration)


def newton_descent(
    objective: ExponentialObjective,
    start: Array,
    *,
    tol: float = 1e-5,
    max_iter: int = 5000,
    callback: Callable[[int, float], None] | None = None,
) -> Solution:
    """Newton's method, over and over in units of the loss that was reached."""
    steps, status, point = 0, "converged", objective.at(start)
    while True:
        scaled = ExponentialObjective(
            objective.critic, objective.blocks, objective.l2, point.log_loss
        )
        found = newton(scaled, point.theta, tol=tol, max_iter=max_iter - steps, callback=callback)
        steps += found.iterations
        before, point = point, objective.at(found.theta)
        if not found.converged or steps >= max_iter:
            status = found.status
            break
        if point.log_loss > before.log_loss - np.log(2.0):
            break
    return _solution(point, status, steps)


def _solution(point: ExponentialPoint, status: str, steps: int) -> Solution:
    norm = float(np.abs(point.relative).max())
    return Solution(point.theta, status, steps, norm, point.value)
