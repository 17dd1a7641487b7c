"""The part of every class's critic that is not learned: anchors and known densities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..anchors import bias_of, has_influence
from ..auxiliaries import Bridge, fit_auxiliary, is_known
from ..data.sample import TwoSamples
from ..maps.coordinates import Coordinates
from ..typing import Array, IntArray


@dataclass(frozen=True)
class Offsets:
    """Coordinates, anchors of the learned classes and fitted auxiliaries.

    Attributes
    ----------
    where : Coordinates
    anchors : tuple
        Fitted anchors of the learned classes; empty without anchors.
    auxiliaries : tuple
        One for each class beyond p and q.
    known : bool
        Whether the critic of an auxiliary whose density is known is that density.
    """

    where: Coordinates
    anchors: tuple[Any, ...]
    auxiliaries: tuple[Any, ...]
    known: bool = True

    @property
    def class_names(self) -> list[str]:
        """Names of the classes: "p", "q", "m1", ..., "mK"."""
        return class_names(self.auxiliaries)

    @property
    def learned(self) -> IntArray:
        """Classes whose critic is learned."""
        return np.flatnonzero([True, True, *(not self.fixed(m) for m in self.auxiliaries)])

    @property
    def bias(self) -> Array:
        """Bias of every class's critic that its anchor brings along, shape (C,)."""
        out = np.zeros(len(self.auxiliaries) + 2)
        for c, anchor in zip(self.learned, self.anchors, strict=False):
            out[c] = bias_of(anchor)
        return out

    @property
    def has_influence(self) -> bool:
        """Whether what every row did to coordinates and anchors is known in closed form.

        The parameters of column maps move with the rows as well.
        """
        return self.where.maps is None and all(map(has_influence, self.anchors))

    def fixed(self, auxiliary: Any) -> bool:
        """Whether an auxiliary's critic is its known density."""
        return self.known and is_known(auxiliary)

    def __call__(self, X: Array, Z: Array, classes: Sequence[int] | None = None) -> Array:
        """Offsets of all classes at rows X, whose coordinates are Z, shape (n, C).

        Of some classes only, where these are named; up to one function for all of them.
        """
        # Each class's column is contiguous, as the objective works on one at a time.
        out = np.zeros((len(self.auxiliaries) + 2, len(X))).T
        learned = self.learned
        asked = range(out.shape[1]) if classes is None else classes
        # Critics are log-densities in the units of x, like those of known auxiliaries.
        volume: Array | float = 0.0
        if classes is None or not np.isin(classes, learned).all():
            volume = self.where.log_volume(X)
        out[:, learned] = np.reshape(volume, (-1, 1))
        for c, anchor in zip(learned, self.anchors, strict=False):
            if c in asked:
                out[:, c] += anchor.score_samples(Z)
        for k, auxiliary in enumerate(self.auxiliaries):
            if k + 2 in asked and self.fixed(auxiliary):
                if isinstance(auxiliary, Bridge) and auxiliary.lives_in(self.where):
                    out[:, k + 2] = auxiliary.mapped_log_density(Z) + volume
                else:
                    out[:, k + 2] = auxiliary.log_density(X)
        return out

    def without_rows(self) -> Offsets:
        """The same; auxiliaries that mix rows of the samples are there unfitted."""
        return replace(
            self,
            auxiliaries=tuple(
                one if is_known(one) else clone(one, safe=False) for one in self.auxiliaries
            ),
        )

    def with_rows(self, samples: TwoSamples) -> Offsets:
        """The same; auxiliaries that mix rows mix these."""
        return replace(
            self,
            auxiliaries=tuple(
                one if is_known(one) else fit_auxiliary(clone(one, safe=False), samples)
                for one in self.auxiliaries
            ),
        )


def class_names(auxiliaries: Sequence[Any]) -> list[str]:
    """Names of p, q and the auxiliaries' classes."""
    return ["p", "q", *(f"m{k + 1}" for k in range(len(auxiliaries)))]
