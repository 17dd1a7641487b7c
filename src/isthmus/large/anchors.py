"""Normal and Student-t anchors fitted to all rows, in passes over them.

Their moments, by groups of rows, are sums. So a pass tells the fit to all rows and the fits
without each group, and those of the Student-t are a few passes with new weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..anchors import GaussianAnchor, Moved, StudentTAnchor
from ..anchors.elliptical import Component, can_correct
from ..anchors.gaussian import shrunk_roots
from ..anchors.student_t import best_df
from ..data.blocks import add
from ..data.moments import Moments, limits
from ..data.sample import Sample
from ..data.source import Batch
from ..functionals.binned import Binned
from ..maps.coordinates import Coordinates
from ..typing import Array
from .pieces import GROUPS, Pieces

REWEIGHTED = 3
"""Passes that a Student-t takes from its fit to the sample on."""


@dataclass(frozen=True)
class Sums:
    """Sums of (1, z) (1, z)' by groups of rows, and the logarithms of squared radii in bins."""

    products: Array
    log_squares: Binned | None
    rows: int

    def __add__(self, other: Sums) -> Sums:
        squares = self.log_squares
        if squares is not None and other.log_squares is not None:
            squares = squares + other.log_squares
        return Sums(self.products + other.products, squares, self.rows + other.rows)

    def without(self, group: int | None) -> Moments:
        """Moments of all rows but those of a group."""
        S = self.products.sum(axis=0)
        if group is not None:
            S = S - self.products[group]
        mean = S[0, 1:] / S[0, 0]
        return Moments(float(S[0, 0]), mean, S[1:, 1:] / S[0, 0] - np.outer(mean, mean))


@dataclass(frozen=True)
class Summing:
    """The pass over the rows of one sample.

    Attributes
    ----------
    pieces : Pieces
    where : Coordinates
    low, high : ndarray
        Far outliers are pulled in to these, in coordinates.
    component : Component
        The fit so far, about whose mean the sums are taken, and by which Student-t weigh rows.
    """

    pieces: Pieces
    where: Coordinates
    low: Array
    high: Array
    component: Component

    def __call__(self, batches: Iterator[Batch], first: int) -> Sums:
        """Sums over the rows of a part."""
        d, df = len(self.component.mean), self.component.df
        products, squares, rows = np.zeros((GROUPS, d + 1, d + 1)), [], 0
        weights: list[Array | None] = []
        for piece in self.pieces(batches, first):
            padded = np.empty((len(piece.rows), d + 1))
            padded[:, 0] = 1.0
            weight = piece.weight
            if np.isfinite(df):
                Z = self.where(piece.rows)
                own = self.component.standard(Z)
                square = np.maximum(np.einsum("ij,ij->i", own, own), 1e-300)
                squares.append(np.log(square))
                weights.append(weight)
                pull = (df + d) / (df + square)
                weight = pull if weight is None else pull * weight
                np.subtract(Z, self.component.mean, out=padded[:, 1:])
            else:
                self._about_mean(piece.rows, padded)
            for k, some in piece._replace(rows=padded, weight=weight).groups(GROUPS):
                D = some.rows
                products[k] += D.T @ (D if some.weight is None else D * some.weight[:, None])
            rows += len(padded)
        return Sums(products, _binned(squares, weights), rows)

    def _about_mean(self, X: Array, padded: Array) -> None:
        """Coordinates of rows less the mean, with far outliers pulled in, beside the ones."""
        mean, where, out = self.component.mean, self.where, padded[:, 1:]
        if where.maps is None:
            # Both centres are taken off at once.
            np.matmul(X - where.affine.inverse(mean), where.affine.forward, out=out)
        else:
            np.subtract(where(X), mean, out=out)
        low, high = self.low - mean, self.high - mean
        least, most = extremes(padded)
        if (least[1:] < low).any() or (most[1:] > high).any():
            np.clip(out, low, high, out=out)


def extremes(X: Array) -> tuple[Array, Array]:
    """Least and largest value of every column."""
    # Of narrow rows many are compared at a time.
    together = max(256 // X.shape[1], 1)
    whole = len(X) - len(X) % together
    found = [X[whole:]]
    if whole:
        wide = X[:whole].reshape(-1, together * X.shape[1])
        found += [one.reshape(together, -1) for one in (wide.min(axis=0), wide.max(axis=0))]
    ends = np.concatenate(found)
    return ends.min(axis=0), ends.max(axis=0)


def _binned(log_squares: Sequence[Array], weights: Sequence[Array | None]) -> Binned | None:
    if not log_squares:
        return None
    own = [weight for weight in weights if weight is not None]
    return Binned.of(np.concatenate(log_squares), np.concatenate(own) if own else None)


@dataclass(frozen=True)
class Family:
    """How the anchors of p and of q follow from moments, one pair for the fit without each group.

    Attributes
    ----------
    anchors : tuple
        Fitted to the sample: of one sample each, or of one shape that is moved, or one for both.
    """

    anchors: tuple[Any, Any]

    @classmethod
    def of(cls, anchors: Sequence[Any]) -> Family | None:
        """The family of two anchors; None where they are not fitted by moments."""
        if len(anchors) != 2:
            return None
        kinds = {type(_inner(anchor)) for anchor in anchors}
        if not kinds <= {GaussianAnchor, StudentTAnchor}:
            return None
        return cls((anchors[0], anchors[1]))

    @property
    def heavy(self) -> bool:
        """Whether there is a Student-t among them, which takes several passes."""
        return any(isinstance(_inner(anchor), StudentTAnchor) for anchor in self.anchors)

    @property
    def shared(self) -> bool:
        """Whether both are of one shape, fitted to both samples together."""
        return _inner(self.anchors[0]) is _inner(self.anchors[1])

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called."""
        return (("normal and Student-t" if self.heavy else "normal") + " densities",)

    def tasks(
        self, where: Coordinates, pieces: Sequence[Pieces], samples: Sequence[Sample]
    ) -> list[Summing]:
        """What to sum over the rows of p and of q."""
        out = []
        for anchor, own, sample in zip(self.anchors, pieces, samples, strict=True):
            low, high = limits(sample.map(where))
            out.append(Summing(own, where, low, high, anchor.component_))
        return out

    def after(self, sums: Sequence[Sums], group: int | None = None) -> Family:
        """The anchors after a pass about their means, without the rows of a group."""
        components = [anchor.component_ for anchor in self.anchors]
        found = []
        for component, one in zip(components, sums, strict=True):
            own = one.without(group)
            found.append(replace(own, mean=component.mean + own.mean))
        sizes, squares = [one.rows for one in sums], [one.log_squares for one in sums]
        if self.shared:
            return self._together(found, sizes, _df(components[0], add(*squares)))
        dfs = [_df(*pair) for pair in zip(components, squares, strict=True)]
        p, q = map(_refitted, self.anchors, found, sizes, dfs)
        return Family((p, q))

    def _together(self, found: Sequence[Moments], sizes: Sequence[int], df: float) -> Family:
        """One shape for both samples, each of which counts for half."""
        p, q = found
        shape = 0.5 * (p.covariance + q.covariance)
        if isinstance(self.anchors[0], Moved):
            both = Moments(1.0, np.zeros_like(p.mean), shape)
            inner = _refitted(_inner(self.anchors[0]), both, sum(sizes), df)
            return Family((Moved(inner, p.mean), Moved(inner, q.mean)))
        gap = p.mean - q.mean
        both = Moments(1.0, 0.5 * (p.mean + q.mean), shape + 0.25 * np.outer(gap, gap))
        one = _refitted(self.anchors[0], both, sum(sizes), df)
        return Family((one, one))


def _inner(anchor: Any) -> Any:
    """The anchor that was fitted, where it was moved."""
    return anchor.anchor if isinstance(anchor, Moved) else anchor


def _df(component: Component, log_squares: Binned | None) -> float:
    """Degrees of freedom at which squared radii are likeliest; those of a normal are infinite."""
    if log_squares is None:
        return component.df
    share = log_squares.weight / log_squares.weight.sum()
    return best_df(np.exp(log_squares.values), len(component.mean), share)[0]


def _refitted(anchor: Any, found: Moments, size: int, df: float) -> Any:
    """The same anchor with other moments."""
    again = copy(anchor)
    if isinstance(again, GaussianAnchor):
        return again.from_moments(found, size, size)
    corrected = can_correct(size, len(found.mean))
    root, whitening, _ = shrunk_roots(found.covariance, np.inf if corrected else size, size)
    rows = float(size) if corrected else np.inf
    again.df_, again.component_ = df, Component(1.0, found.mean, root, whitening, df, rows)
    return again
