"""The exponential loss of eNCE and normalised gradient descent on it.

Liu, Rosenfeld, Ravikumar & Risteski, "Analyzing and Improving the Optimization
Landscape of Noise-Contrastive Estimation", ICLR 2022, arXiv:2110.11271.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._sample import LabelledSample
from .._typing import Array
from ..objective import CHUNK_BYTES
from ..solvers import Solution

# Steps between two looks, and the share of what their length promises that they must bring.
_STEPS, _WORTH = 10, 0.05
_SHORTEST = 1e-10


class ExponentialObjective:
    """Logarithm of the exponential loss, with a ridge, over a labelled sample.

    With n the total weight and h the critic,

        F(theta) = n log((E_p[exp(-h/2)] + E_q[exp(h/2)]) / 2) + l2/2 |theta|^2.

    The logarithm changes neither the minimum nor the direction of the gradient, is as
    convex as the loss, and never overflows. The factor n gives ``l2`` the meaning that
    it has in logistic regression: for small h the two losses agree.

    Parameters
    ----------
    critic : Difference
        The critic h, with one class.
    sample : LabelledSample
        Two classes, of which the first is learned.
    l2 : float
    """

    def __init__(self, critic: Any, sample: LabelledSample, l2: float = 0.0) -> None:
        self.critic, self.sample, self.l2 = critic, sample, float(l2)
        self.total_weight = float(sample.weight.sum())
        self.n_parameters = int(critic.n_parameters)
        self.sign = np.where(sample.label == 0, -0.5, 0.5)
        self.given = sample.offset[:, 0] - sample.offset[:, 1]

    def at(self, theta: Array) -> ExponentialPoint:
        """Value, gradient and curvature at theta."""
        return ExponentialPoint(self, np.asarray(theta, dtype=np.float64))

    def chunks(self, width: int | None = None) -> Iterator[slice]:
        """Slices of rows that cover the sample."""
        rows = max(512, CHUNK_BYTES // (8 * (width or self.sample.X.shape[1])))
        for begin in range(0, len(self.sample), rows):
            yield slice(begin, min(begin + rows, len(self.sample)))

    def slopes(self, theta: Array) -> Array:
        """The learned part of h at every row."""
        raw = self.critic.expand(theta)
        return np.concatenate(
            [self.critic.values(raw, self.sample.X[rows])[:, 0] for rows in self.chunks()]
        )

    def moments(self, weight: Array) -> Array:
        """Sum of the features, with a weight for every row."""
        total = self.critic.accumulator()
        for rows in self.chunks():
            self.critic.accumulate(total, weight[rows, None], self.sample.X[rows])
        return np.asarray(self.critic.contract(total))


class ExponentialPoint:
    """The objective at one value of the parameters.

    Attributes
    ----------
    value : float
    gradient : ndarray of shape (n_parameters,)
    share : ndarray of shape (n,)
        Part of every row in the loss; they add up to one.
    """

    def __init__(self, objective: ExponentialObjective, theta: Array) -> None:
        self.objective, self.theta = objective, theta
        sample, total = objective.sample, objective.total_weight
        exponent = objective.sign * (objective.given + objective.slopes(theta))
        largest = float(exponent.max())
        share = sample.weight * np.exp(exponent - largest)
        mass = float(share.sum())
        self.share = share / mass
        loss = largest + float(np.log(mass / total))
        self.value = total * loss + 0.5 * objective.l2 * float(theta @ theta)
        pull = objective.moments(self.share * objective.sign)
        self.gradient = total * pull + objective.l2 * theta

    def hessian_product(self, direction: Array) -> Array:
        """Hessian times a direction: a covariance under the shares."""
        objective = self.objective
        slope = objective.sign * objective.slopes(direction)
        slope -= self.share @ slope
        pull = objective.moments(self.share * objective.sign * slope)
        return np.asarray(objective.total_weight * pull + objective.l2 * direction)

    def hessian(self) -> Array:
        """Dense Hessian, shape (n_parameters, n_parameters); for few parameters."""
        objective, size = self.objective, self.objective.n_parameters
        second, first = np.zeros((size, size)), np.zeros(size)
        for rows in objective.chunks(width=size):
            phi = objective.critic.features(objective.sample.X[rows])[0]
            phi = phi * objective.sign[rows, None]
            weighted = phi * self.share[rows, None]
            second += weighted.T @ phi
            first += weighted.sum(axis=0)
        H = objective.total_weight * (second - np.outer(first, first))
        return np.asarray(H + objective.l2 * np.eye(size))


def normalised_descent(
    objective: Any,
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
    ten steps have lowered the loss by less than a twentieth of what ten steps down a
    straight slope would, and go on from the best point.

    Parameters
    ----------
    objective : objective
        With ``at(theta)`` and ``total_weight``; convex.
    start : ndarray of shape (n_parameters,)
    tol : float
        Largest absolute component of the gradient, per unit of weight, at which to
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
    length, before, status = step, point.value, ""
    for iteration in range(max_iter + 1):
        norm = float(np.abs(point.gradient).max()) / objective.total_weight
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
        slope = float(np.linalg.norm(point.gradient))
        point = objective.at(point.theta - length * point.gradient / slope)
        best = point if point.value < best.value else best
        if (iteration + 1) % _STEPS == 0:
            if before - best.value < _WORTH * _STEPS * length * slope:
                point, length = best, 0.5 * length
            before = best.value
    norm = float(np.abs(best.gradient).max()) / objective.total_weight
    return Solution(best.theta, status, iteration, norm, best.value)
