"""The paper's prior: standard normal on the coefficients of x_i x_j, x_i and 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..maps.affine import AffineMap
from ..model.classes import ClassModel
from ..typing import Array


def raw_prior(model: ClassModel, critic: Any) -> tuple[Array, Array]:
    """A and b for which ``A theta + b`` are the coefficients in the data's own units.

    They are those of x_i x_j (i <= j), x_i and 1 of log-densities in x, class by
    class: in one dimension w1, w2 and b of the paper's ``w1 x^2 + w2 x + b``.

    Parameters
    ----------
    model : ClassModel
        Fitted with a quadratic critic, without maps and without anchors.
    critic : LinearCritic
        That critic, tied to the classes.
    """
    where = model.offsets.where
    if where.maps is not None or model.offsets.anchors or not hasattr(critic.accumulator(), "W"):
        raise ValueError(
            "prior='raw' is one on the coefficients of quadratics in x; it needs MDRE(critic="
            "'quadratic' or 'diagonal', anchor=None, maps=None), and received another fit."
        )
    A = np.array(
        [_coefficients(critic, where.affine, unit) for unit in np.eye(critic.n_parameters)]
    ).T
    b = np.zeros(len(A))
    per_class = len(A) // len(model.offsets.learned)
    # Learned critics are log-densities in the units of x, like those of known auxiliaries.
    b[per_class - 1 :: per_class] = where.affine.log_det
    return A, b


def _coefficients(critic: Any, affine: AffineMap, theta: Array) -> Array:
    raw = critic.expand(theta)
    d = len(affine.centre)
    upper = np.triu_indices(d)
    out = []
    for c in range(len(raw.a)):
        k = raw.W.shape[1]
        F = affine.forward[:, :k]
        W = F @ (raw.W[c] if raw.W.ndim == 3 else np.diag(raw.W[c])) @ F.T
        b = affine.forward @ raw.b[c]
        # The quadratic is written about this point of x.
        origin = affine.centre + _origin(critic, c) @ affine.backward
        double = 2.0 * W - np.diag(np.diag(W))
        out += [
            double[upper],
            b - 2.0 * W @ origin,
            [raw.a[c] + origin @ W @ origin - b @ origin],
        ]
    return np.concatenate(out)


def _origin(critic: Any, c: int) -> Array:
    """Point in coordinates about which class c's quadratic is expanded."""
    if hasattr(critic, "centre_"):
        return np.asarray(critic.centre_[c])
    own = critic.origin_[c]
    return np.zeros(critic.dim_) if own is None else np.asarray(own)
