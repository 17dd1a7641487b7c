"""The paper's prior: standard normal on the coefficients of x_i x_j, x_i and 1."""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag

from ..maps.affine import AffineMap
from ..model.classes import ClassModel
from ..model.objective import Objective, Point
from ..typing import Array, LinearCritic


class WithPrior(Objective):
    """An objective whose penalty is ``|A theta + b|^2 / 2`` in place of the ridge.

    Parameters
    ----------
    objective : Objective
        Its own penalty is left out.
    A : ndarray of shape (k, n_parameters)
    b : ndarray of shape (k,)
        ``A theta + b`` has a standard normal prior.
    """

    def __init__(self, objective: Objective, A: Array, b: Array) -> None:
        super().__init__(objective.critic, objective.blocks, 0.0)
        self.A, self.b = A, b
        self.precision = A.T @ A

    def at(self, theta: Array) -> Point:
        """Value, gradient and curvature at theta."""
        return _PointWithPrior(self, np.asarray(theta, dtype=np.float64))


class _PointWithPrior(Point):
    objective: WithPrior

    def __init__(self, objective: WithPrior, theta: Array) -> None:
        super().__init__(objective, theta)
        residual = objective.A @ theta + objective.b
        self.value += 0.5 * float(residual @ residual)
        self.gradient = self.gradient + objective.A.T @ residual

    def hessian_product(self, direction: Array) -> Array:
        return super().hessian_product(direction) + self.objective.precision @ direction

    def hessian(self) -> Array:
        return super().hessian() + self.objective.precision


def raw_prior(model: ClassModel, critic: LinearCritic) -> tuple[Array, Array]:
    """A and b for which ``A theta + b`` are the coefficients in the data's own units.

    They are those of x_i x_j (i <= j), x_i and 1 of log-densities in x, class by
    class: in one dimension w1, w2 and b of the paper's ``w1 x^2 + w2 x + b``.
    """
    where, found = model.offsets.where, None
    if where.maps is None and not model.offsets.anchors:
        found = _coefficients(critic, where.affine)
    if found is None:
        raise ValueError(
            "prior='raw' is one on the coefficients of quadratics in x; it needs MDRE(critic="
            "'quadratic' or 'diagonal', anchor=None, maps=None), and received another fit."
        )
    A = block_diag(*found)
    b = np.zeros(len(A))
    # Learned critics are log-densities in the units of x, like those of known auxiliaries.
    b[len(found[0]) - 1 :: len(found[0])] = where.affine.log_det
    return A, b


def _coefficients(critic: LinearCritic, affine: AffineMap) -> list[Array] | None:
    """Coefficients of every feature, (monomials, n_features) for each learned class.

    None where a feature is not a quadratic: its values at zero, at the unit vectors and at
    their sums, which would determine it, do not.
    """
    F, centre = affine.forward, affine.centre
    r, unit = F.shape[1], np.eye(F.shape[1])
    i, j = np.triu_indices(r, 1)
    others = np.random.default_rng(0).normal(0.0, 3.0, (20, r))
    points = np.concatenate([np.zeros((1, r)), unit, -unit, unit[i] + unit[j], others])
    out = []
    for phi in critic.features(points):
        base, up, down, both, rest = np.split(phi, np.cumsum([1, r, r, len(i)]))
        slope = 0.5 * (up - down)
        W = np.zeros((r, r, phi.shape[1]))
        W[np.arange(r), np.arange(r)] = 0.5 * (up + down) - base
        W[i, j] = W[j, i] = 0.5 * (both - up[i] - up[j] + base)
        told = base + others @ slope + np.einsum("ni,ijk,nj->nk", others, W, others)
        if not np.allclose(told, rest, rtol=1e-7, atol=1e-7 * np.abs(rest).max()):
            return None
        # The same in x, with z = (x - centre) F.
        W, slope = np.einsum("ai,ijk,bj->abk", F, W, F), F @ slope
        pulled = np.einsum("abk,b->ak", W, centre)
        double = 2.0 * W
        double[np.diag_indices(len(F))] *= 0.5
        constant = base + centre @ (pulled - slope)
        out.append(np.concatenate([double[np.triu_indices(len(F))], slope - 2 * pulled, constant]))
    return out
