"""Exponential NCE: a loss and an optimiser that a chasm does not flatten.

Liu, Rosenfeld, Ravikumar & Risteski, "Analyzing and Improving the Optimization
Landscape of Noise-Contrastive Estimation", ICLR 2022, arXiv:2110.11271.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..critics.resolve import convex_critic
from ..data.blocks import Block, Blocks, gather
from ..data.distinct import hold_out_of_both
from ..data.holdout import LEAST_ROWS
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.telling import tell
from ..data.validation import check_number, check_option
from ..estimator import RatioEstimator
from ..maps.shared import check_kinds
from ..model.checks import check_settings, check_verbose
from ..model.classes import ClassModel
from ..model.objective import Objective, Point
from ..model.rows import prepare
from ..model.solvers import Solution, newton
from ..settings import is_auto
from ..typing import Array, LinearCritic
from .binary import Difference, difference_blocks, find_penalty
from .parameters import ConvexParameters

# Steps between two looks, and the share of what their length promises that they must bring.
_STEPS, _WORTH = 10, 0.05
_SHORTEST = 1e-10
_LARGEST_POWER = 700.0


@dataclass(eq=False, repr=False)
class ExponentialNCE(ConvexParameters, RatioEstimator):
    """Estimate log p/q with the exponential loss of eNCE.

    The loss ::

        E_p[exp(-h(x) / 2)] + E_q[exp(h(x) / 2)]

    has its minimum at h = log p/q, like the logistic loss of NCE, which is
    :class:`BDRE`. Between distributions far apart both are flat; but where p and q
    belong to one exponential family, descent along normalised gradients of the
    exponential loss takes polynomially many steps. That mends the optimisation; with a
    finite sample the loss depends on the few rows that lie between p and q.

    Parameters
    ----------
    critic, anchor, maps
        As in :class:`BDRE`, but none of them "auto".
    l2 : float or "auto", default "auto"
        As in :class:`BDRE`. Rows that h can separate leave no minimum at 0, the authors'
        value.
    solver : {"ngd", "newton"}, default "ngd"
        The authors' normalised gradient descent, or Newton's method: the loss is convex.
        The minimum is the same.
    step : float, default 1.0
        Length of the first steps of "ngd", in standardised coefficients; it is halved
        whenever steps of that length bring little.
    tol : float, default 1e-5
        Largest component of the gradient, relative to the loss, at the solution.
    max_iter : int, default 5000
        Largest number of steps.
    random_state, verbose
        As in :class:`BDRE`; a line is printed for each hundred steps.

    Attributes
    ----------
    n_iter_, converged_ : int and bool
        Number of steps, and whether the tolerance was reached.
    model_ : ClassModel
        The fitted model, without rows.
    solution_ : Solution
        Parameters, status, number of steps and gradient norm.
    l2_, selection_ : float and Selection
        The penalty, and how it was chosen.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import ExponentialNCE
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 4000), rng.normal(1, 1, 4000))
    >>> nce = ExponentialNCE(random_state=0).fit(X, y)
    >>> nce.log_ratio([[0.0], [1.0]]).round(1)  # truth: 0.5 and -0.5
    array([ 0.5, -0.5])
    >>> nce.converged_
    True
    """

    critic: Any = "quadratic"
    _: KW_ONLY
    solver: str = "ngd"
    step: float = 1.0
    tol: float = 1e-5
    max_iter: int = 5000

    def check_parameters(self) -> None:
        check_settings(self.settings(solver="newton"))
        check_verbose(self.verbose)
        for name in ("critic", "anchor", "maps"):
            if is_auto(getattr(self, name)):
                raise ValueError(
                    f"{name} must be given: ExponentialNCE chooses its penalty alone; received "
                    "'auto'."
                )
        if not isinstance(self.critic, str) and not hasattr(self.critic, "bind"):
            raise ValueError(
                "critic must be linear in its parameters, as those in isthmus.critics; received "
                f"a {type(self.critic).__name__}."
            )
        check_option(self.solver, "solver", ["ngd", "newton"])
        check_number(self.step, "step", low=0, open_low=True, open_high=True)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        check_kinds(self.maps, samples.n_columns, "maps")
        critic, settings = convex_critic(self.critic), self.settings(solver="newton")
        rows = prepare(samples, settings, critic, seeds)
        bound = rows.bind(critic)
        penalty = find_penalty(
            rows,
            bound,
            settings,
            hold_out_of_both(samples, seeds) if is_auto(self.l2) else None,
            seeds,
            objective=ExponentialObjective,
            too_few=f"Fewer than {LEAST_ROWS} rows in a sample.",
        )
        self.l2_, self.selection_ = float(penalty.l2), penalty.selection
        objective = ExponentialObjective(Difference(bound), difference_blocks(rows), self.l2_)
        self.solution_ = self._solve(objective, np.zeros(bound.n_parameters))
        self.model_ = ClassModel(
            rows.offsets.without_rows(), np.log(rows.prior), bound, self.solution_.theta
        )
        self.n_iter_, self.converged_ = self.solution_.iterations, self.solution_.converged
        if not self.converged_:
            tell(
                f"ExponentialNCE did not converge in {self.n_iter_} steps (gradient "
                f"{self.solution_.gradient_norm:.1e}, tol {self.tol:.1e}): "
                f"{self.solution_.status}.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _solve(self, objective: ExponentialObjective, start: Array) -> Solution:
        if np.isinf(self.l2_):
            return Solution(start, "converged", 0, 0.0, np.nan)
        solve = newton_descent
        if self.solver == "ngd":
            solve = partial(normalised_descent, step=self.step)
        return solve(
            objective,
            start,
            tol=self.tol,
            max_iter=self.max_iter,
            callback=_report if self.verbose else None,
        )

    def evaluate(self, rows: Array) -> Array:
        return self.model_.log_ratio(rows)


def _report(iteration: int, norm: float) -> None:
    if iteration % 100 == 0:
        print(f"ExponentialNCE step {iteration:5d}   gradient {norm:.2e}")


class ExponentialObjective(Objective):
    """The exponential loss, with a ridge, over blocks of two classes.

    With n the total weight and h the critic, the difference of two, it is ::

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
        objective, critic = self.objective, self.objective.critic
        raw = critic.expand(direction)

        def moments(block: Block) -> Any:
            slope = critic.values(raw, block.X)[:, 0]
            return self._accumulated((0.25 * self._part(block) * slope)[None], block.X)

        pull = critic.contract(objective.blocks.sum(moments)) / self._mass
        return np.asarray(objective.total_weight * self.loss * pull + objective.ridge * direction)

    def hessian(self) -> Array:
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
