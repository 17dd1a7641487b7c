r"""The posterior density of a critic's parameters, in coordinates in which it is nearly standard.

The log-density is minus the fit's own objective: the multinomial log-likelihood of
the labelled rows and the normal prior that is its ridge penalty. With H the Hessian
at the mode, :math:`\theta = \hat\theta + V z` with :math:`V' H V = I` makes it a
standard normal in z to second order.

The softmax does not change if one function is added to all critics. Where every
class is learned that is a space of directions, B, along which the likelihood is
flat. The prior is normal, so that it is a product of a density along B and one on
the complement that is orthogonal to B in the prior's precision; and so is
the posterior, whose part along B is the prior. No log-ratio depends on that part:
V spans the complement only, which loses nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from ..data.blocks import MemoryBlocks, gather, rows_at_a_time, slices
from ..maps.affine import AffineMap
from ..model.classes import ClassModel
from ..model.objective import Objective, Point
from ..model.solvers import newton
from ..model.table import Table
from ..typing import Array, LinearCritic
from .fit import Fit
from .influence import check_small

PRIORS = ("fit", "raw")

MOST_BYTES = 128_000_000
"""Features that are computed once must fit into memory beside the rows."""

# Logits of a chunk of rows that stay in the processor's cache.
_CHUNK_BYTES = 200_000

# Singular values of directions along which critics agree at every row, relative to the largest.
_FLAT = 1e-9


class Target:
    """The posterior of a fitted model with at most 600 parameters.

    Its ``objective`` is minus the log-density, up to a constant, ``mode`` the parameters of the
    largest density, and ``basis`` the matrix V. The prior is the penalty of the fit, or, "raw",
    a standard normal one on the coefficients of the monomials of x.
    """

    def __init__(self, fit: Fit, prior: str = "fit") -> None:
        check_small(fit.objective)
        self.objective = tabulated(fit.objective)
        self.mode = fit.theta
        flat = metric = shift_directions(fit.objective)
        if prior == "raw":
            with_prior = WithPrior(self.objective, *raw_prior(fit.model, fit.objective.critic))
            found = newton(with_prior, fit.theta, tol=1e-9, max_iter=200)
            if not found.converged and found.gradient_norm > 1e-6:
                raise ValueError(f"prior='raw' has no mode that could be found: {found.status}.")
            self.objective, self.mode = with_prior, found.theta
            metric = with_prior.precision @ flat
        self.point = self.objective.at(self.mode)
        self.value = self.point.value
        self.basis = whitening(self.point.hessian(), metric, self.objective)

    @property
    def size(self) -> int:
        """Number of directions that are left without the softmax's shift."""
        return int(self.basis.shape[1])

    def theta(self, z: Array) -> Array:
        """Parameters at whitened coordinates of shape (size,) or (S, size)."""
        return np.asarray(self.mode + z @ self.basis.T)

    def log_density(self, z: Array) -> tuple[float, Array]:
        """Log-density, zero at the mode, and its gradient at one z."""
        value, gradient = self.objective.value_and_gradient(self.theta(z))
        return self.value - value, -(gradient @ self.basis)


def shift_directions(objective: Objective) -> Array:
    """Orthonormal basis B, (n_parameters, k), of parameters that add one function to all critics.

    It is empty where a class is known: that class's logit does not move. Found
    from the features at rows, it serves any linear critic.
    """
    size, classes = objective.n_parameters, len(objective.learned)
    if not objective.blocks.learned.all():
        return np.empty((size, 0))
    step = max(objective.blocks.sum(len) // max(6 * size // classes, 200), 1)
    X = gather(objective.blocks, lambda block: block.X[::step])
    features = objective.critic.features(X)
    part = size // classes
    gaps = np.zeros((classes - 1, len(X), size))
    for c in range(1, classes):
        gaps[c - 1, :, :part] = features[0]
        gaps[c - 1, :, c * part : (c + 1) * part] = -features[c]
    rows = gaps.reshape(-1, size)
    # Far rows have large features, which say no more than others about where critics agree.
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    _, values, right = np.linalg.svd(rows, full_matrices=True)
    rank = int((values > _FLAT * values[0]).sum())
    return np.asarray(right[rank:].T)


def whitening(H: Array, flat: Array, objective: Objective) -> Array:
    """V with V' H V = I on the complement of the flat directions, times the prior's precision."""
    complement = np.linalg.qr(flat, mode="complete")[0][:, flat.shape[1] :]
    curvature = complement.T @ H @ complement
    try:
        root = np.linalg.cholesky(curvature)
    except np.linalg.LinAlgError:
        root = None
    # Standardised features have a curvature of the order of the number of rows.
    least = 1e-13 * max(float(np.diag(curvature).max()), objective.total_weight)
    if root is None or np.diag(root).min() ** 2 < least:
        raise ValueError(
            "The likelihood leaves some parameters open, and l2 is too small to hold them: "
            f"received l2={objective.l2:g}. Raise l2; 1 is a standard normal prior."
        )
    return np.asarray(complement @ np.linalg.inv(root).T)


def tabulated(objective: Objective) -> Objective:
    """Return the objective with features computed once, or itself where they would be large.

    Values, gradients and Hessians are the same numbers up to rounding. Samplers
    evaluate it some ten thousand times.
    """
    blocks, critic = objective.blocks, objective.critic
    if not isinstance(blocks, MemoryBlocks):
        return objective
    rows = sum(map(len, blocks.classes))
    if 8 * rows * objective.n_parameters > MOST_BYTES:
        return objective
    learned = len(objective.learned)
    part = objective.n_parameters // learned

    def written_out(X: Array) -> Array:
        features = np.empty((len(X), objective.n_parameters), order="F")
        for at in slices(len(X), rows_at_a_time(part)):
            for c, phi in enumerate(critic.features(X[at])):
                features[at, c * part : (c + 1) * part] = phi
        return features

    table = replace(
        blocks,
        classes=[sample.map(written_out) for sample in blocks.classes],
        block_rows=max(2048, _CHUNK_BYTES // (8 * blocks.n_classes)),
    )
    return Objective(Table(learned, part), table, objective.l2)


class WithPrior(Objective):
    """An objective whose penalty is ``|A theta + b|^2 / 2`` in place of the ridge."""

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
    """A and b for which ``A theta + b`` are the coefficients of x_i x_j (i <= j), x_i and 1.

    They are those of log-densities in the units of the data, class by class: in one dimension
    w1, w2 and b of the paper's ``w1 x^2 + w2 x + b``.
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
