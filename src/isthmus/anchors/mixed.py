"""Anchors of mixing auxiliaries, which follow from those of p and q."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..maps.coordinates import Coordinates
from ..typing import Array, MixingAuxiliary
from .elliptical import Component
from .fit import has_influence
from .gaussian import GaussianAnchor, shrunk_roots
from .mixture import MixtureAnchor


def mixed_anchor(auxiliary: Any, where: Coordinates, anchors: Sequence[Any]) -> Any:
    """Anchor of an auxiliary that mixes rows of p and q, without a fit to its draws.

    A mixture of normals where several positions between p and q make one class. None
    where the auxiliary's law does not follow from two normals: other anchors, mapped
    columns, dependent columns, or another kind of auxiliary.
    """
    affine = where.affine
    normal = all(has_influence(one) for one in anchors[:2]) and where.maps is None
    if not (normal and affine.is_square and isinstance(auxiliary, MixingAuxiliary)):
        return None
    given: list[Array] = []
    for component in (anchors[0].component_, anchors[1].component_):
        root = component.cholesky.T @ affine.backward
        given += [affine.inverse(component.mean[None])[0], root.T @ root]
    laws = auxiliary.laws(*given)
    components = []
    for mean, covariance in laws:
        root, whitening, _ = shrunk_roots(
            affine.forward.T @ covariance @ affine.forward, np.inf, 10 * len(mean)
        )
        components.append(Component(1.0 / len(laws), affine(mean[None])[0], root, whitening))
    if not components:
        return None
    if len(components) > 1:
        mixture = MixtureAnchor(len(components))
        mixture.components_ = components
        return mixture
    out = GaussianAnchor()
    out.component_ = components[0]
    return out
