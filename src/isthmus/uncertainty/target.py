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

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.blocks import Block, Blocks, gather
from ..mdre import MDRE
from ..model.classes import ClassModel
from ..model.objective import Objective
from ..model.rows import ClassRows
from ..model.solvers import EXACT_LIMIT, newton
from ..typing import Array
from .influence import is_small
from .raw_prior import raw_prior
from .tabulated import WithPrior, tabulated

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
    size : int
        Number of directions that are left without the softmax's shift.
    """

    def __init__(self, fit: Fit, prior: str = "fit") -> None:
        objective, mode = fit.objective, fit.theta
        if not is_small(objective):
            raise ValueError(
                f"critic must have at most {EXACT_LIMIT} parameters and features for this; "
                f"received {objective.n_parameters}. Use laplace with prior='fit', "
                "or a critic with fewer parameters, such as 'diagonal'."
            )
        self.objective = tabulated(objective)
        self.mode = mode
        if prior == "raw":
            self.objective = WithPrior(self.objective, *raw_prior(fit.model, objective.critic))
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


@dataclass(frozen=True)
class Fit:
    """A fitted model with its rows: what every posterior is made of.

    Attributes
    ----------
    mdre : MDRE
    rows : ClassRows
        Rows of every class.
    objective : Objective
        Over these rows.
    theta : ndarray of shape (n_parameters,)
        Parameters of the fit; zero where the penalty is infinite.
    """

    mdre: Any
    rows: ClassRows
    objective: Objective
    theta: Array

    @property
    def model(self) -> ClassModel:
        """The model without rows."""
        model: ClassModel = self.mdre.model_
        return model

    @property
    def anchored(self) -> bool:
        """Whether the critics sit on anchors."""
        return bool(self.model.offsets.anchors)


def fit_of(mdre: Any, infinite: bool = False) -> Fit:
    """The fit with its rows, or an error that says what is missing.

    Parameters
    ----------
    mdre : MDRE
    infinite : bool
        Whether an infinite penalty will do, at which parameters are zero.
    """
    if not isinstance(mdre, MDRE):
        raise ValueError(
            f"mdre must be an MDRE, whose objective is needed; received a {type(mdre).__name__}."
        )
    check_is_fitted(mdre)
    if not isinstance(mdre.model_, ClassModel) or mdre.network_ is not None:
        raise ValueError(
            "critic must be one of isthmus.critics, and convex, for a posterior of its parameters; "
            "received a classifier or a network."
        )
    theta = mdre.solution_.theta
    if not len(theta) and not infinite:
        raise ValueError(
            "l2 must be finite for a posterior; received a fit with an infinite one, whose critics "
            "stay at their anchors. Set l2, or use covariance='sandwich' of laplace, "
            "which counts the error of the anchors."
        )
    rows = mdre.training_.rows(mdre.model_)
    objective = mdre.objective_over(rows)
    return Fit(mdre, rows, objective, theta if len(theta) else np.zeros(objective.n_parameters))


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
