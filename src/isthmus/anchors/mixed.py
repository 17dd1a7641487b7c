"""Anchors of mixing auxiliaries, which follow from those of p and q."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..typing import Array
from .elliptical import Component
from .gaussian import GaussianAnchor, shrunk_roots
from .mixture import MixtureAnchor


def mixed_anchor(auxiliary: Any, where: Any, anchors: list[Any]) -> Any:
    """Anchor of an auxiliary that mixes rows of p and q, without a fit to its draws.

    Parameters
    ----------
    auxiliary : auxiliary
        If it has ``moments(mean_p, cov_p, mean_q, cov_q)``, which says how it mixes.
    where : Coordinates
        Those of the anchors.
    anchors : list
        Fitted anchors of p and q.

    Returns
    -------
    GaussianAnchor, MixtureAnchor or None
        A mixture of normals where several positions between p and q make one class. None
        where the auxiliary's law does not follow from two normals: other anchors, mapped
        columns, dependent columns, or another kind of auxiliary.
    """
    plain = all(isinstance(one, GaussianAnchor) for one in anchors[:2])
    if not (plain and where.maps is None and hasattr(auxiliary, "moments")):
        return None
    affine = where.affine
    if affine.forward.shape[0] != affine.forward.shape[1]:
        return None
    given: list[Array] = []
    for component in (anchors[0].component_, anchors[1].component_):
        root = component.cholesky.T @ affine.backward
        given += [affine.inverse(component.mean[None])[0], root.T @ root]
    laws = [one.moments(*given) for one in _single(auxiliary)]
    components = []
    for law in laws:
        if law is None:
            return None
        mean, covariance = law
        root, whitening, _ = shrunk_roots(
            affine.forward.T @ covariance @ affine.forward, np.inf, 10 * len(mean)
        )
        components.append(Component(1.0 / len(laws), affine(mean[None])[0], root, whitening))
    if len(components) > 1:
        mixture = MixtureAnchor(len(components))
        mixture.components_ = components
        return mixture
    out = GaussianAnchor()
    out.component_ = components[0]
    return out


def _single(auxiliary: Any) -> list[Any]:
    """The auxiliaries of one position each that are merged in one."""
    alphas = getattr(auxiliary, "alphas", None)
    if alphas is None or np.size(alphas) == 1:
        return [auxiliary]
    return [type(auxiliary)([float(alpha)], auxiliary.form) for alpha in alphas]
