"""Exponential NCE: a loss and an optimiser that a chasm does not flatten.

Liu, Rosenfeld, Ravikumar & Risteski, "Analyzing and Improving the Optimization
Landscape of Noise-Contrastive Estimation", ICLR 2022, arXiv:2110.11271.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..critics.resolve import convex_critic
from ..data.blocks import MemoryBlocks
from ..data.holdout import LEAST_ROWS
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_number, check_option
from ..estimator import RatioEstimator
from ..maps.shared import check_kinds
from ..model.checks import check_settings, check_verbose
from ..model.solvers import Solution
from ..selection import Selection
from ..settings import Settings, is_auto
from ..typing import Array, RandomState
from .binary import (
    Difference,
    binary_blocks,
    binary_rows,
    choose_penalty,
)
from .exponential import ExponentialObjective, newton_descent, normalised_descent
from .hold_out import can_hold_out, collect, split_samples


class ExponentialNCE(RatioEstimator):
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
    critic : str or critic, default "quadratic"
        The function h: "quadratic", "diagonal", "low-rank" or anything in
        :mod:`isthmus.critics`.
    anchor, maps
        As in :class:`isthmus.MDRE`; without them by default.
    l2 : float or "auto", default "auto"
        Ridge penalty on the coefficients, which are standardised for each class.
        "auto" takes the one under which the labels of held-out rows are likeliest;
        with fewer than 200 rows in a sample it is 1. Rows that h can separate
        leave no minimum at 0, the authors' value.
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
    random_state : int, Generator, RandomState or None, default None
        Seeds the split by which the penalty is chosen.
    verbose : int, default 0
        Print a line for each hundred steps if positive.

    Attributes
    ----------
    n_iter_ : int
        Number of steps.
    converged_ : bool
        Whether the tolerance was reached.
    solution_ : Solution
        Parameters, status, number of steps and gradient norm.
    l2_ : float
        The penalty.
    selection_ : Selection
        How it was chosen.
    classes_, n_features_in_, feature_names_in_
        As in every estimator.

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

    def __init__(
        self,
        critic: Any = "quadratic",
        *,
        anchor: Any = None,
        maps: Any = None,
        l2: float | str = "auto",
        solver: str = "ngd",
        step: float = 1.0,
        tol: float = 1e-5,
        max_iter: int = 5000,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.critic = critic
        self.anchor = anchor
        self.maps = maps
        self.l2 = l2
        self.solver = solver
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        check_settings(self._settings())
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

    def _settings(self) -> Settings:
        return Settings.of(self, auxiliaries=None, solver="newton")

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        check_kinds(self.maps, samples.n_columns, "maps")
        critic, settings = convex_critic(self.critic), self._settings()
        both = binary_rows(samples, settings, critic, seeds, warn=True)
        self._offsets = both.offsets
        self._critic = Difference(both.bind(critic))
        self.selection_ = Selection(rule="Every setting was given.")
        penalty: Any = self.l2
        if is_auto(self.l2):
            penalty = self._critic.n_parameters // 2 if both.offsets.anchors else 1.0
            self.selection_ = Selection(rule=f"Fewer than {LEAST_ROWS} rows in a sample.")
            if can_hold_out(found := [collect(one.rows, one.weight) for one in samples]):
                train, held = split_samples(found, seeds)
                chosen = choose_penalty(
                    train, held, settings, seeds, objective=ExponentialObjective
                )
                penalty, self.selection_ = chosen.l2, chosen.selection
        self.l2_ = float(penalty)
        self.solution_ = self._solve(binary_blocks(both), np.zeros(self._critic.n_parameters))
        self._raw = self._critic.expand(self.solution_.theta)
        self.n_iter_, self.converged_ = self.solution_.iterations, self.solution_.converged
        if not self.converged_:
            warnings.warn(
                f"ExponentialNCE did not converge in {self.n_iter_} steps (gradient "
                f"{self.solution_.gradient_norm:.1e}, tol {self.tol:.1e}): "
                f"{self.solution_.status}.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _solve(self, blocks: MemoryBlocks, start: Array) -> Solution:
        if np.isinf(self.l2_):
            return Solution(start, "converged", 0, 0.0, np.nan)
        objective = ExponentialObjective(self._critic, blocks, self.l2_)
        how: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        if self.solver == "newton":
            shown = (lambda i, norm: _report(i, norm)) if self.verbose else None
            return newton_descent(objective, start, callback=shown, **how)
        show = (lambda i, theta, norm: _report(i, norm)) if self.verbose else None
        return normalised_descent(objective, start, step=self.step, callback=show, **how)

    def evaluate(self, rows: Array) -> Array:
        Z = self._offsets.where(rows)
        h = self._offsets(rows, Z) - self._offsets.bias
        return np.asarray(h[:, 0] - h[:, 1] + self._critic.values(self._raw, Z)[:, 0])


def _report(iteration: int, norm: float) -> None:
    if iteration % 100 == 0:
        print(f"ExponentialNCE step {iteration:5d}   gradient {norm:.2e}")
