"""The log-ratio of two learned classes with as few products of matrices as it takes.

Coordinates are an affine map, and so is the frame of a normal or Student-t component within them:
the two are one. A quadratic critic of both classes is one quadratic, their difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..anchors import bias_of
from ..anchors.elliptical import Component, mixture_log_density
from ..critics import Quadratic
from ..maps.affine import AffineMap
from ..typing import Array

if TYPE_CHECKING:
    from .classes import ClassModel

_STEADY = 1e3
"""Condition of coordinates up to which the square of their matrix loses no digits that count."""


@dataclass(frozen=True)
class Folded:
    """Log-ratio of two classes, as a function of rows.

    Attributes
    ----------
    top, bottom : sequence of Component
        Mixtures, in the columns of the data; empty for critics without anchors.
    constant : float
        What is added.
    centre, square, linear : ndarray or None
        The quadratic ``D W D' + D b`` of rows D from which the centre was taken off.
    """

    top: Sequence[Component]
    bottom: Sequence[Component]
    constant: float
    centre: Array
    square: Array | None = None
    linear: Array | None = None

    @classmethod
    def of(cls, model: ClassModel, top: int, bottom: int) -> Folded | None:
        """The log-ratio of two classes of a model; None where it is made of other things."""
        offsets, learned = model.offsets, model.offsets.learned.tolist()
        affine = offsets.where.affine
        if offsets.where.maps is not None or model.network is not None:
            return None
        if top not in learned or bottom not in learned:
            return None
        at = learned.index(top), learned.index(bottom)
        mixtures: list[Sequence[Component]] = [(), ()]
        constant = 0.0
        if offsets.anchors:
            pair = [offsets.anchors[k] for k in at]
            # Others have components to place an auxiliary on, and a density of their own.
            if not all(getattr(anchor, "is_mixture", False) for anchor in pair):
                return None
            parts = [anchor.components_ for anchor in pair]
            if not all(type(one) is Component for part in parts for one in part):
                return None
            mixtures = [[_in_columns(one, affine) for one in part] for part in parts]
            constant = bias_of(pair[1]) - bias_of(pair[0])
        found = cls(mixtures[0], mixtures[1], constant, affine.centre)
        if model.critic is None:
            return found
        return found._with_critic(model.critic, model.theta, at, affine)

    def _with_critic(
        self, critic: Any, theta: Array, at: tuple[int, int], affine: AffineMap
    ) -> Folded | None:
        if type(critic) is not Quadratic or critic.width_ != critic.dim_:
            return None
        if any(critic.origin_[k] is not None for k in at) or not _steady(affine):
            return None
        raw, (i, j), F = critic.expand(theta), at, affine.forward
        square = F @ (raw.W[i] - raw.W[j]) @ F.T
        linear = F @ (raw.b[i] - raw.b[j])
        constant = self.constant + float(raw.a[i] - raw.a[j])
        return replace(self, constant=constant, square=square, linear=linear)

    def __call__(self, X: Array) -> Array:
        """Log-ratio at rows, shape (n,)."""
        out = np.full(len(X), self.constant)
        if self.top:
            out += mixture_log_density(self.top, X)
            out -= mixture_log_density(self.bottom, X)
        if self.square is not None and self.linear is not None:
            D = X - self.centre
            M = D @ self.square
            M += self.linear
            out += np.einsum("ij,ij->i", M, D)
        return out


def _in_columns(component: Component, affine: AffineMap) -> Component:
    """A component in coordinates as one in the columns that these come from."""
    return replace(
        component,
        mean=affine.centre + component.mean @ affine.backward,
        whitening=affine.forward @ component.whitening,
    )


def _steady(affine: AffineMap) -> bool:
    # Squares of numbers beyond 1e154 are infinite, and then nothing is steady.
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(affine.forward, axis=1) * np.linalg.norm(affine.backward, axis=0)
    return bool(np.max(lengths, initial=0.0) < _STEADY)
