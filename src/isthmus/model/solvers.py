"""Solvers: from an objective and a start to a solution that says how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..typing import Array
from .objective import Objective, Point

EXACT_LIMIT = 600
"""Number of parameters up to which the dense Hessian is formed and factorised."""

_LOSS_GAP = 1e-6
"""A step that promises less than this, in log-likelihood of the whole sample, is
far below one standard error of the parameters (which is worth about one half)."""

_LOSS_GAP_BEFORE = 1e-3
"""An exact step that promised less than this leaves, since steps converge quadratically,
less than ``_LOSS_GAP``."""


_SEARCH_TOL, _SEARCH_SHARE = 1e-4, 1e-2
"""Tolerance of a fit that is to be compared with others, and the same as a share of its loss."""


@dataclass(frozen=True)
class Solution:
    """Where a solver stopped, and why.

    Attributes
    ----------
    theta : ndarray of shape (n_parameters,)
    status : str
        "converged", or a sentence that says what to do.
    iterations : int
    gradient_norm : float
        Largest absolute component of the gradient, per unit of total weight.
    value : float
        Objective at theta (a sum over rows).
    """

    theta: Array
    status: str
    iterations: int
    gradient_norm: float
    value: float

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self.status == "converged"


def newton(
    objective: Objective,
    start: Array,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
    callback: Callable[[int, float], None] | None = None,
) -> Solution:
    """Newton's method: exact steps for few parameters, conjugate gradients for many.

    It stops at a gradient whose largest component, per unit of weight, is at most ``tol``,
    provided that the next step would not change the log-likelihood noticeably either.
    ``callback`` is called with the iteration and the gradient norm.
    """
    exact = objective.n_parameters <= EXACT_LIMIT and objective.has_features
    point, status, promise = objective.at(start), "", np.inf
    for iteration in range(max_iter + 1):
        norm = float(np.abs(point.gradient).max()) / objective.total_weight
        if callback is not None:
            callback(iteration, norm)
        if norm <= tol and (promise <= _LOSS_GAP_BEFORE or not exact):
            status = "converged"
            break
        step = _exact_step(point) if exact else _conjugate_step(point, norm, tol)
        promise = -float(point.gradient @ step)
        noise = 1e-13 * abs(point.value)
        if norm <= tol and promise <= max(_LOSS_GAP, noise):
            status = "converged"
            if promise > noise:
                # The step is already paid for; from here it only adds digits.
                point = _line_search(objective, point, step, promise) or point
            break
        if iteration == max_iter:
            status = "max_iter was reached before the tolerance: raise max_iter, tol or l2"
            break
        trial = _line_search(objective, point, step, promise)
        if trial is None:
            status = (
                "converged"
                if norm <= tol
                else "no step lowers the objective further: raise l2, or rescale the data"
            )
            break
        point = trial
    norm = float(np.abs(point.gradient).max()) / objective.total_weight
    return Solution(point.theta, status, iteration, norm, point.value)


def search(objective: Objective, start: Array) -> Array:
    """Parameters that are as exact as a choice between penalties needs, from a near start.

    Where nearly all rows are told apart the whole gradient is small. A fixed tolerance would be
    met by the last penalty's solution, and all weaker ones would look equal to it; so that
    the tolerance is a share of the loss per row.
    """
    at_start = objective.at(start).value / objective.total_weight
    tol = min(_SEARCH_TOL, _SEARCH_SHARE * at_start)
    return newton(objective, start, tol=tol, max_iter=20).theta


def _line_search(objective: Objective, point: Point, step: Array, promise: float) -> Point | None:
    length = 1.0
    # Rounding in the value hides a decrease that is smaller than this.
    slack = 1e-14 * abs(point.value)
    for _ in range(30):
        trial = objective.at(point.theta + length * step)
        if trial.value <= point.value - 1e-4 * length * promise + slack:
            return trial
        length *= 0.5 if np.isfinite(trial.value) else 0.1
    return None


def _exact_step(point: Point) -> Array:
    return -solve_dense(point.hessian(), point.gradient)


def solve_dense(H: Array, right: Array) -> Array:
    """Solve ``H s = right`` for a positive semi-definite Hessian.

    Without a known class all critics may move together: that direction is flat,
    has no gradient, and is held by a whisper of a ridge.
    """
    # NumPy's solver, not SciPy's: each brings a thread pool of its own, and the
    # two get in each other's way.
    ridge = 1e-13 * float(np.diag(H).max())
    for _ in range(12):
        try:
            root = np.linalg.cholesky(H + ridge * np.eye(len(H)))
        except np.linalg.LinAlgError:
            ridge *= 100.0
            continue
        return np.linalg.solve(root.T, np.linalg.solve(root, right))
    return np.asarray(right / np.maximum(np.diag(H), ridge))


def _conjugate_step(point: Point, norm: float, tol: float) -> Array:
    """Solve H s = -g by conjugate gradients, as exactly as is useful.

    The residual shrinks with the gradient, which makes the steps converge faster
    than linearly, but not below what the tolerance asks for.
    """
    accuracy = max(min(0.1, np.sqrt(norm)), 0.3 * tol / norm)
    return solve_hessian(point, -point.gradient, tol=accuracy)


def solve_hessian(point: Point, right: Array, tol: float = 1e-6, max_iter: int = 200) -> Array:
    """Solve ``H s = right`` by conjugate gradients, to a residual of ``tol`` times ``right``."""
    s = np.zeros_like(right)
    r = right.copy()
    d = r.copy()
    rho = float(r @ r)
    goal = tol**2 * rho
    for _ in range(max_iter):
        if rho <= goal:
            break
        Hd = point.hessian_product(d)
        curvature = float(d @ Hd)
        if curvature <= 1e-14 * float(d @ d):
            break
        length = rho / curvature
        s += length * d
        r -= length * Hd
        previous, rho = rho, float(r @ r)
        d = r + (rho / previous) * d
    return s


def lbfgs(
    objective: Objective,
    start: Array,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    callback: Callable[[int, float], None] | None = None,
    lower: Array | None = None,
) -> Solution:
    """Limited-memory BFGS from SciPy: for objectives without curvature, and for bounds.

    Parameters and result are those of :func:`newton`; no parameter falls below ``lower``.
    """
    from scipy.optimize import minimize

    total, count = objective.total_weight, 0

    def scaled(theta: Array) -> tuple[float, Array]:
        value, gradient = objective.value_and_gradient(theta)
        return value / total, gradient / total

    def report(result: Any) -> None:
        nonlocal count
        count += 1
        if callback is not None:
            callback(count, float("nan"))

    found: Any = minimize(  # type: ignore[call-overload]
        scaled,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=report,
        bounds=None if lower is None else [(low, None) for low in lower],
        options={
            "maxiter": max_iter,
            "maxfun": 2 * max_iter,
            "gtol": tol,
            "ftol": 0.0,
            "maxcor": 20,
        },
    )
    slope = np.asarray(found.jac)
    if lower is not None:
        # A parameter at its bound may want to fall further.
        slope = np.where((found.x <= lower) & (slope > 0), 0.0, slope)
    norm = float(np.abs(slope).max())
    status = (
        "converged"
        if norm <= tol
        else "the tolerance was not reached: raise max_iter, tol or l2, or use solver='newton'"
    )
    return Solution(np.asarray(found.x), status, int(found.nit), norm, float(found.fun) * total)


SOLVERS = {"newton": newton, "lbfgs": lbfgs}
"""Solvers by name."""
