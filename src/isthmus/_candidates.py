"""Pairs of anchors that the search chooses from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ._affine import shares
from ._coordinates import Coordinates, fit_coordinates
from ._setup import fit_anchors
from ._typing import Array

# Standard errors.
_BEYOND_DOUBT = 2.0


@dataclass
class Candidate:
    """Anchors in coordinates: a density for p and one for q."""

    name: str
    where: Coordinates
    maps: Any
    anchor: Any
    fitted: list[Any]
    bridge: Any = None
    rivals: list[Any] = field(default_factory=list)

    def ratios(self, X: Array) -> list[Array]:
        """Log p/q at rows by the anchors, then by every other pair of them and their rivals."""
        Z = self.where(X)
        options = [
            [one.score_samples(Z) - getattr(one, "bias_", 0.0) for one in (mine, *theirs)]
            for mine, theirs in zip(self.fitted, self.rivals or [[], []], strict=True)
        ]
        return [p - q for p in options[0] for q in options[1]]

    def fitted_to(self, rows: list[Array], weights: list[Any]) -> Candidate:
        """The same families, fitted to other rows."""
        where = fit_coordinates(*rows, *weights, maps=self.maps, warn=False)
        fitted = fit_anchors(self.anchor, [where(x) for x in rows], weights, where)
        return replace(self, where=where, fitted=fitted)

    def log_density(self, X: Array) -> Array:
        """Log-density of p and of q at every row, shape (n, 2)."""
        Z, volume = self.where(X), self.where.log_volume(X)
        first = self.fitted[0].score_samples(Z) + volume
        if self.fitted[1] is self.fitted[0]:
            return np.column_stack([first, first])
        return np.column_stack([first, self.fitted[1].score_samples(Z) + volume])


def denser(first: list[Any], second: list[Any], held: list[Array], weights: list[Any]) -> bool:
    """Whether held-out rows are likelier by the first pair of anchors, beyond doubt.

    Each sample is judged by its own density. How well the samples are told apart says nothing
    about that once all pairs tell them apart.

    Parameters
    ----------
    first, second : list of two anchors
    held : list of two ndarray
        Rows of p and of q that neither has seen.
    weights : list of two ndarray or None
    """
    gain, variance = 0.0, 0.0
    for one, other, rows, weight in zip(first, second, held, weights, strict=True):
        each, share = one.score_samples(rows) - other.score_samples(rows), shares(rows, weight)
        mean = float(share @ each)
        gain += mean
        variance += float(share**2 @ (each - mean) ** 2)
    return gain > _BEYOND_DOUBT * math.sqrt(variance)


def unfitted(anchor: Any) -> Any:
    return clone(anchor, safe=False)


def name_of(anchor: Any) -> str:
    return str(unfitted(anchor))
