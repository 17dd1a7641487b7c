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

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import check_option
from ..objective import Objective
from ..solvers import EXACT_LIMIT, newton
from ._raw import raw_prior
from ._table import WithPrior, tabulated

PRIORS = ("fit", "raw")

# Singular values of directions along which critics agree at every row, relative to the largest.
_FLAT = 1e-9


class Target:
    """The posterior of a fitted model with few parameters.

    Parameters
    ----------
    model : MDRE
        Fitted, with a critic that is linear in at most 600 parameters.
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
    size : int
        Number of directions that are left without the softmax's shift.
    """

    def __init__(self, model: Any, prior: str = "fit", infinite: bool = False) -> None:
        check_option(prior, "prior", PRIORS)
        objective, mode = fit_of(model, infinite=infinite or prior == "raw")
        if not is_small(objective):
            raise ValueError(
                f"critic must have at most {EXACT_LIMIT} parameters and features for this; "
                f"received {objective.n_parameters}. Use isthmus.bayes.laplace with prior='fit', "
                "or a critic with fewer parameters, such as 'diagonal'."
            )
        self.objective = tabulated(objective)
        self.mode = mode
        if prior == "raw":
            self.objective = WithPrior(self.objective, *raw_prior(model))
            found = newton(self.objective, mode, tol=1e-9, max_iter=200)
            if not found.converged and found.gradient_norm > 1e-6:
                raise ValueError(f"prior='raw' has no mode that could be found: {found.status}.")
            self.mode = found.theta
        self.point = self.objective.at(self.mode)
        self.value = self.point.value
        self.basis = whitening(self.point.hessian(), shift_directions(objective), self.objective)

    @property
    def size(self) -> int:
        """Number of directions."""
        return int(self.basis.shape[1])

    def theta(self, z: Array) -> Array:
        """Parameters at whitened coordinates of shape (size,) or (S, size)."""
        return np.asarray(self.mode + z @ self.basis.T)

    def log_density(self, z: Array) -> tuple[float, Array]:
        """Log-density, zero at the mode, and its gradient at one z."""
        value, gradient = self.objective.value_and_gradient(self.theta(z))
        return self.value - value, -(gradient @ self.basis)


def fit_of(model: Any, infinite: bool = False) -> tuple[Objective, Array]:
    """Objective and parameters of a fitted model, or an error that says what is missing.

    Parameters
    ----------
    model : MDRE
    infinite : bool
        Whether an infinite penalty will do, at which parameters are zero.
    """
    if not hasattr(model, "log_ratio") or not hasattr(type(model), "objective_"):
        raise ValueError(
            f"mdre must be an MDRE, whose objective is needed; received a {type(model).__name__}."
        )
    check_is_fitted(model)
    if not hasattr(model, "objective_"):
        raise ValueError(
            "critic must be one of isthmus.critics, and convex, for a posterior of its parameters; "
            "received a classifier or a network."
        )
    theta = model.solution_.theta
    if len(theta):
        return model.objective_, theta
    if not infinite:
        raise ValueError(
            "l2 must be finite for a posterior; received a fit with an infinite one, whose critics "
            "stay at their anchors. Set l2, or use covariance='sandwich' of isthmus.bayes.laplace, "
            "which counts the error of the anchors."
        )
    return model.objective_, np.zeros(model.critic_.n_parameters)


def is_small(objective: Objective) -> bool:
    """Whether the dense Hessian can be formed."""
    return objective.n_parameters <= EXACT_LIMIT and hasattr(objective.critic, "features")


def shift_directions(objective: Objective) -> Array:
    """Orthonormal basis B, (n_parameters, k), of parameters that add one function to all critics.

    It is empty where a class is known: that class's logit does not move. Found
    from the features at rows, it serves any linear critic.
    """
    sample, size = objective.sample, objective.n_parameters
    classes = int(sample.learned.sum())
    if not sample.learned.all():
        return np.empty((size, 0))
    places = np.unique(np.linspace(0, len(sample) - 1, max(6 * size // classes, 200)).astype(int))
    features = objective.critic.features(sample.X[places])
    part = size // classes
    gaps = np.zeros((classes - 1, len(places), size))
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
    """V with V' H V = I on the complement of the flat directions."""
    metric = flat
    if isinstance(objective, WithPrior):
        metric = objective.precision @ flat
    complement = np.linalg.qr(metric, mode="complete")[0][:, flat.shape[1] :]
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
