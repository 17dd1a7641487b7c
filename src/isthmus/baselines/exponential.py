"""The exponential loss of eNCE and normalised gradient descent on it.

Liu, Rosenfeld, Ravikumar & Risteski, "Analyzing and Improving the Optimization
Landscape of Noise-Contrastive Estimation", ICLR 2022, arXiv:2110.11271.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..data.blocks import MemoryBlocks, rows_at_a_time, slices
from ..model.solvers import Solution, newton
from ..typing import Array

# Steps between two looks, and the share of what their length promises that they must bring.
_STEPS, _WORTH = 10, 0.05
_SHORTEST = 1e-10
_LARGEST_POWER = 700.0


class ExponentialObjective:
    """The exponential loss, with a ridge, over a labelled sample.

    With n the total weight and h the critic,

        F(theta) = n/2 (E_p[exp(-h/2)] + E_q[exp(h/2)]) + l2/2 |theta|^2,

    divided by ``scale``. The factor n/2 gives ``l2`` the meaning that it has in logistic
    regression: for small h the two losses agree.

    Parameters
    ----------
    critic : Difference
        The critic h, with one class.
    blocks : MemoryBlocks
        Two classes, of which the first is learned.
    l2 : float
    log_scale : float
        Logarithm of the scale. Losses of a chasm are far below what a tolerance can
        see; they are measured in units of one that was reached before.
    """

    def __init__(
        self, critic: Any, blocks: MemoryBlocks, l2: float = 0.0, log_scale: float = 0.0
    ) -> None:
        self.critic, self.blocks = critic, blocks
        self.l2, self.log_scale = float(l2), log_scale
        self.X = np.concatenate([sample.rows for sample in blocks.classes])
        self.weight = np.concatenate([sample.weight for sample in blocks.classes])
        self.total_weight = float(self.weight.sum())
        self.n_parameters = int(critic.n_parameters)
        self.has_features = callable(getattr(critic, "features", None))
        self.sign = np.repeat([-0.5, 0.5], [len(sample) for sample in blocks.classes])
        self.given = np.concatenate([one[:, 0] - one[:, 1] for one in blocks.offsets])

    def scaled(self, log_scale: float) -> ExponentialObjective:
        """The same in other units."""
        return ExponentialObjective(self.critic, self.blocks, self.l2, log_scale)

    def at(self, theta: Array) -> ExponentialPoint:
        """Value, gradient and curvature at theta."""
        return ExponentialPoint(self, np.asarray(theta, dtype=np.float64))

    def slices(self, width: int | None = None) -> Iterator[slice]:
        """Slices of rows that cover the sample."""
        return slices(len(self.X), rows_at_a_time(width or self.X.shape[1]))

    def slopes(self, theta: Array) -> Array:
        """The learned part of h at every row."""
        raw = self.critic.expand(theta)
        return np.concatenate(
            [self.critic.values(raw, self.X[rows])[:, 0] for rows in self.slices()]
        )

    def moments(self, weight: Array) -> Array:
        """Sum of the features, with a weight for every row."""
        total = self.critic.accumulator()
        for rows in self.slices():
            self.critic.accumulate(total, weight[rows, None], self.X[rows])
        return np.asarray(self.critic.contract(total))


class ExponentialPoint:
    """The objective at one value of the parameters.

    Attributes
    ----------
    log_loss : float
        Logarithm of half the loss, without the ridge; 0 where h is 0.
    share : ndarray of shape (n,)
        Part of every row in the loss; they add up to one.
    value : float
        Infinite where the loss overflows; everything else is finite.
    """

    def __init__(self, objective: ExponentialObjective, theta: Array) -> None:
        self.objective, self.theta = objective, theta
        total = objective.total_weight
        exponent = objective.sign * (objective.given + objective.slopes(theta))
        largest = float(exponent.max())
        share = objective.weight * np.exp(exponent - largest)
        mass = float(share.sum())
        self.share = share / mass
        self.log_loss = largest + float(np.log(mass / total))
        self._pull = objective.moments(self.share * objective.sign)
        ridge = objective.l2 * np.exp(-objective.log_scale)
        self.value = total * self.loss + 0.5 * ridge * float(theta @ theta)

    @property
    def loss(self) -> float:
        """Half the loss in units of the scale."""
        power = self.log_loss - self.objective.log_scale
        return float(np.exp(power)) if power < _LARGEST_POWER else np.inf

    @property
    def gradient(self) -> Array:
        """Gradient of the value."""
        objective = self.objective
        ridge = objective.l2 * np.exp(-objective.log_scale)
        return np.asarray(objective.total_weight * self.loss * self._pull + ridge * self.theta)

    @property
    def relative(self) -> Array:
        """The gradient over n times half the loss: what is zero at the minimum of any loss."""
        weaker = self.objective.l2 / self.objective.total_weight
        # Where the loss overflows the ridge is nothing beside it.
        power = min(-self.log_loss, _LARGEST_POWER)
        return np.asarray(self._pull + weaker * np.exp(power) * self.theta)

    def hessian_product(self, direction: Array) -> Array:
        """Hessian times a direction."""
        objective = self.objective
        slope = objective.sign * objective.slopes(direction)
        pull = objective.moments(self.share * objective.sign * slope)
        ridge = objective.l2 * np.exp(-objective.log_scale)
        return np.asarray(objective.total_weight * self.loss * pull + ridge * direction)

    def hessian(self) -> Array:
        """Dense Hessian, shape (n_parameters, n_parameters); for few parameters."""
        objective, size = self.objective, self.objective.n_parameters
        second = np.zeros((size, size))
        for rows in objective.slices(width=size):
            phi = objective.critic.features(objective.X[rows])[0]
            second += (phi * (0.25 * self.share[rows, None])).T @ phi
        ridge = objective.l2 * np.exp(-objective.log_scale)
        return np.asarray(objective.total_weight * self.loss * second + ridge * np.eye(size))


def normalised_descent(
    objective: ExponentialObjective,
    start: Array,
    *,
    tol: float = 1e-5,
    max_iter: int = 5000,
    step: float = 1.0,
    callback: Callable[[int, Array, float], None] | None = None,
) -> Solution:
    """Gradient descent with steps of a given length, whatever the size of the gradient.

    To come within delta of the minimum theta*, the paper takes steps of length
    delta / sqrt(kappa), where kappa is the condition number of the Hessian there; that
    takes kappa |theta_0 - theta*|^2 / delta^2 of them. Neither number is known, so that
    delta is halved over and over: steps begin at the length ``step``, which is halved when
    ten steps have lowered the logarithm of the loss by less than a twentieth of what ten
    steps down a straight slope would, and go on from the best point.

    Parameters
    ----------
    objective : ExponentialObjective
    start : ndarray of shape (n_parameters,)
    tol : float
        Largest absolute component of the gradient, relative to the loss, at which to
        stop.
    max_iter : int
        Largest number of steps.
    step : float
        Length of the first steps.
    callback : callable, optional
        Called with the iteration, the parameters and the gradient norm.

    Returns
    -------
    Solution
        The best point.
    """
    best = point = objective.at(start)
    length, before, status = step, _log(point), ""
    for iteration in range(max_iter + 1):
        gradient = point.relative
        norm = float(np.abs(gradient).max())
        if callback is not None:
            callback(iteration, point.theta, norm)
        if norm <= tol:
            best, status = point, "converged"
            break
        if iteration == max_iter:
            status = "max_iter was reached before the tolerance: raise max_iter, tol or l2"
            break
        if length < _SHORTEST * (1.0 + float(np.linalg.norm(best.theta))):
            status = "no step lowers the objective further: raise l2, or use solver='newton'"
            break
        size = float(np.linalg.norm(gradient))
        # Of the logarithm of loss and ridge together.
        slope = size * float(np.exp(point.log_loss - _log(point)))
        point = objective.at(point.theta - length * (gradient / size))
        best = point if _log(point) < _log(best) else best
        if (iteration + 1) % _STEPS == 0:
            if before - _log(best) < _WORTH * _STEPS * length * slope:
                point, length = best, 0.5 * length
            before = _log(best)
    return _solution(best, status, iteration)


def newton_descent(
    objective: ExponentialObjective,
    start: Array,
    *,
    tol: float = 1e-5,
    max_iter: int = 5000,
    callback: Callable[[int, float], None] | None = None,
) -> Solution:
    """Newton's method, over and over in units of the loss that was reached.

    Parameters and result are those of :func:`normalised_descent`.
    """
    theta, steps, status = start, 0, "converged"
    point = objective.at(theta)
    while True:
        scaled = objective.scaled(point.log_loss)
        found = newton(
            scaled,  # type: ignore[arg-type]
            theta,
            tol=tol,
            max_iter=max_iter - steps,
            callback=callback,
        )
        steps, theta = steps + found.iterations, found.theta
        before, point = point, objective.at(theta)
        if not found.converged or steps >= max_iter:
            status = found.status
            break
        if point.log_loss > before.log_loss - np.log(2.0):
            break
    return _solution(point, status, steps)


def _log(point: ExponentialPoint) -> float:
    """Logarithm of the objective per unit of weight."""
    objective = point.objective
    ridge = 0.5 * objective.l2 * float(point.theta @ point.theta) / objective.total_weight
    return float(np.logaddexp(point.log_loss, np.log(ridge) if ridge > 0 else -np.inf))


def _solution(point: ExponentialPoint, status: str, steps: int) -> Solution:
    norm = float(np.abs(point.relative).max())
    return Solution(point.theta, status, steps, norm, point.value)
