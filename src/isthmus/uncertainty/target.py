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

import numpy as np

from ..data.blocks import Block, Blocks, gather
from ..model.objective import Objective
from ..model.solvers import newton
from ..typing import Array
from .fit import Fit
from .influence import check_small
from .raw_prior import WithPrior, raw_prior
from .tabulated import tabulated

PRIORS = ("fit", "raw")

# Singular values of directions along which critics agree at every row, relative to the largest.
_FLAT = 1e-9


class Target:
    """The posterior of a fitted model with few parameters.

    Parameters
    ----------
    fit : Fit
        One with a critic that is linear in at most 600 parameters.
    prior : {"fit", "raw"}
        The penalty of the fit, or a standard normal prior on the coefficients of
        the monomials of x.

    Attributes
    ----------
    objective : Objective
        Minus the log-density, up to a constant.
    mode : ndarray of shape (n_parameters,)
        Parameters of the largest density.
    basis : ndarray of shape (n_parameters, size)
        The matrix V.
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
    X = some_rows(objective.blocks, max(6 * size // classes, 200))
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


def some_rows(blocks: Blocks, most: int) -> Array:
    """About so many rows of all classes, evenly spaced in their order."""
    sizes = blocks.sum(lambda block: blocks.by_class(block, len(block))).astype(int)
    begins = np.concatenate([[0], np.cumsum(sizes)])
    places = np.unique(np.linspace(0, begins[-1] - 1, most).astype(int))

    def chosen(block: Block) -> Array:
        first = begins[block.label] + block.start
        inside = (places >= first) & (places < first + len(block))
        return np.asarray(block.X[places[inside] - first])

    return gather(blocks, chosen)


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
