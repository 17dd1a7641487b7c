"""Pairs of anchors that the search chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..anchors import bias_of, fit_anchors
from ..auxiliaries import Bridge
from ..data.holdout import LIKELY, paired_gain
from ..data.sample import TwoSamples
from ..maps.coordinates import Coordinates, fit_coordinates
from ..typing import Anchor, Array


@dataclass(frozen=True)
class Place:
    """Two samples with their coordinates behind one kind of column maps, fitted once."""

    where: Coordinates
    inside: TwoSamples

    @classmethod
    def of(cls, samples: TwoSamples, maps: Any) -> Place:
        """Fit the coordinates, and map the samples."""
        where = fit_coordinates(samples, maps=maps, warn=False)
        return cls(where, samples.map(where))


@dataclass(frozen=True)
class Candidate:
    """Anchors in coordinates: a density for p and one for q.

    Attributes
    ----------
    name : str
    where : Coordinates
    maps : None or list of str
        Kinds of the column maps.
    anchor : anchor, pair or Pooled
        What the fitted ones were made of.
    fitted : list of two anchors
    bridge : Bridge or None
        The auxiliary that lies on them; None for a density that is another's in part.
    rivals : list of two lists
        Other anchors of p and of q that fit about as well.
    """

    name: str
    where: Coordinates
    maps: Any
    anchor: Any
    fitted: list[Any]
    bridge: Bridge | None = None
    rivals: list[Any] = field(default_factory=list)

    def ratios(self, X: Array) -> list[Array]:
        """Log p/q at rows by the anchors, then by pairs with rivals.

        Of p or of q, or of both where the two are of the same family.
        """
        Z = self.where(X)
        if not self.rivals:
            mine = [one.score_samples(Z) - bias_of(one) for one in self.fitted]
            return [mine[0] - mine[1]]
        options = [
            {family_of(one): one.score_samples(Z) - bias_of(one) for one in (mine, *theirs)}
            for mine, theirs in zip(self.fitted, self.rivals, strict=True)
        ]
        (p, *others_p), (q, *others_q) = options
        pairs = [(p, q), *((p, one) for one in others_q), *((one, q) for one in others_p)]
        pairs += [(one, one) for one in options[0] if one in options[1] and (one, one) not in pairs]
        return [options[0][one] - options[1][other] for one, other in pairs]

    def fitted_to(self, place: Place) -> Candidate:
        """The same families, fitted to other rows."""
        fitted = fit_anchors(self.anchor, place.inside, place.where)
        return replace(self, where=place.where, fitted=fitted)

    def log_density(self, X: Array) -> Array:
        """Log-density of p and of q at every row, shape (n, 2)."""
        Z, volume = self.where(X), self.where.log_volume(X)
        first = self.fitted[0].score_samples(Z) + volume
        if self.fitted[1] is self.fitted[0]:
            return np.column_stack([first, first])
        return np.column_stack([first, self.fitted[1].score_samples(Z) + volume])


def denser(first: Sequence[Anchor], second: Sequence[Anchor], held: TwoSamples) -> bool:
    """Whether held-out rows are likelier by the first pair of anchors, beyond doubt.

    Each sample is judged by its own density, at rows in coordinates. How well the samples are told
    apart says nothing about that once all pairs tell them apart.
    """
    terms = [
        [one.score_samples(sample.rows) for one, sample in zip(pair, held, strict=True)]
        for pair in (first, second)
    ]
    gain = paired_gain(terms[0], terms[1], [sample.share for sample in held])
    return gain.mean > LIKELY * gain.std_error


def unfitted(anchor: Anchor) -> Any:
    """A copy with the same parameters, not fitted."""
    return clone(anchor, safe=False)


def name_of(anchor: Anchor) -> str:
    """What an anchor is called in the record of a search."""
    return str(unfitted(anchor))


def family_of(anchor: Anchor) -> str:
    """What an anchor has in common with one of another sample."""
    return getattr(anchor, "family", None) or name_of(anchor)
