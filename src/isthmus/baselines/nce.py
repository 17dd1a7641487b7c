"""Exponential NCE: a loss and an optimiser that a chasm does not flatten.

Liu, Rosenfeld, Ravikumar & Risteski, "Analyzing and Improving the Optimization
Landscape of Noise-Contrastive Estimation", ICLR 2022, arXiv:2110.11271.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..critics.resolve import convex_critic
from ..data.distinct import hold_out_of_both
from ..data.holdout import LEAST_ROWS
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_number, check_option
from ..estimator import RatioEstimator
from ..maps.shared import check_kinds
from ..model.checks import check_settings, check_verbose
from ..model.classes import ClassModel
from ..model.rows import prepare
from ..model.solvers import Solution
from ..settings import is_auto
from ..typing import Array
from .binary import Difference, difference_blocks, find_penalty
from .exponential import ExponentialObjective, newton_descent, normalised_descent
from .parameters import ConvexParameters


@dataclass(eq=False, repr=False)
class ExponentialNCE(ConvexParameters, RatioEstimator):
    """Estimate log p/q with the exponential loss of eNCE.

    The loss

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
            warnings.warn(
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
