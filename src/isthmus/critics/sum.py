"""Critics added up."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..maps.affine import Frame
from ..typing import Array, Critic
from .features import placed


class Sum(BaseEstimator):
    """Sum of critics, which is convex as they are: the features of all, with one constant.

    Parameters
    ----------
    parts : sequence of critics
        Any critics that are linear in their parameters. The first is the one that
        starts from the normal of each class when there is no anchor: put the
        quadratic first.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.critics import Frame, Quadratic, Radial, Splines, Sum
    >>> critic = Sum([Quadratic(), Radial(), Splines()]).bind([Frame(np.zeros(2), np.eye(2))])
    >>> critic.n_features  # 1, and 5 quadratic ones, 4 logarithms and 8 splines of each column
    26
    """

    def __init__(self, parts: Sequence[Critic]) -> None:
        self.parts = parts

    @property
    def coordinates(self) -> str:
        """Those of the columns if a part asks for them, canonical ones otherwise."""
        return "columns" if any(p.coordinates == "columns" for p in self.parts) else "canonical"

    @property
    def covariance(self) -> str:
        """Diagonal if a part asks for it, full otherwise."""
        return "diagonal" if any(p.covariance == "diagonal" for p in self.parts) else "full"

    def place(self, rows: Sequence[Array], rng: np.random.Generator) -> Sum:
        """Place the parts that ask for rows; see :meth:`Bumps.place`."""
        return Sum([placed(part, rows, rng) for part in self.parts])

    def bind(self, frames: Sequence[Frame]) -> Sum:
        """Return a copy that is tied to the frames of the learned classes."""
        if not self.parts:
            raise ValueError("parts must hold at least one critic; received none.")
        low_rank = any(getattr(part, "rank", None) for part in self.parts)
        if low_rank and self.coordinates == "columns":
            raise ValueError(
                "parts must agree on coordinates: a quadratic of low rank needs canonical ones; "
                "received parts that run along the columns. Try Splines(coordinates='canonical')."
            )
        bound = copy(self)
        bound.parts_ = [part.bind(frames) for part in self.parts]
        # The first feature of each part is the constant; that of the first part serves all.
        edges = 1 + np.cumsum([0, *(part.n_features - 1 for part in bound.parts_)])
        bound.blocks_ = [slice(a, b) for a, b in itertools.pairwise(edges)]
        bound.n_classes_ = len(frames)
        bound.n_features = int(edges[-1])
        bound.n_parameters = bound.n_features * bound.n_classes_
        return bound

    def expand(self, theta: Array) -> list[Any]:
        """Every part's own expansion of its parameters."""
        theta = theta.reshape(self.n_classes_, self.n_features)
        constant = theta[:, :1]
        out = []
        for part, block in zip(self.parts_, self.blocks_, strict=True):
            out.append(part.expand(np.hstack([constant, theta[:, block]]).ravel()))
            constant = np.zeros_like(constant)
        return out

    def values(self, raw: list[Any], X: Array) -> Array:
        out: Array = self.parts_[0].values(raw[0], X)
        for part, expanded in zip(self.parts_[1:], raw[1:], strict=True):
            out += part.values(expanded, X)
        return out

    def accumulator(self) -> list[Any]:
        return [part.accumulator() for part in self.parts_]

    def accumulate(self, total: list[Any], R: Array, X: Array) -> None:
        for part, moments in zip(self.parts_, total, strict=True):
            part.accumulate(moments, R, X)

    def contract(self, total: list[Any]) -> Array:
        each = zip(self.parts_, total, strict=True)
        gradients = [part.contract(moments).reshape(self.n_classes_, -1) for part, moments in each]
        return _with_one_constant(gradients).ravel()

    def features(self, X: Array) -> list[Array]:
        by_part = [part.features(X) for part in self.parts_]
        return [_with_one_constant(own) for own in zip(*by_part, strict=True)]

    def normal_start(self) -> Array:
        """The first part's start, and zero for the others."""
        out = np.zeros((self.n_classes_, self.n_features))
        start = self.parts_[0].normal_start().reshape(self.n_classes_, -1)
        out[:, : start.shape[1]] = start
        return out.ravel()


def _with_one_constant(parts: Sequence[Array]) -> Array:
    """The parts side by side, of which only the first keeps its column for the constant."""
    return np.hstack([parts[0], *(part[:, 1:] for part in parts[1:])])
