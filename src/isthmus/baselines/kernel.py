"""What KLIEP, uLSIF and KMM share: samples, Gaussian kernels, centres, widths, folds.

All three write the ratio as a sum of Gaussian kernels on b centres,

    r(x) = sum_l theta_l K(x, c_l),    K(x, c) = exp(-|x - c|^2 / (2 width^2)),

and work with the n x b matrix of kernels, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..data.blocks import slices
from ..data.sample import Sample as Weighted
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import as_rows, check_flag, check_number
from ..estimator import RatioEstimator
from ..maps.affine import AffineMap, column_map
from ..typing import Array

# Kernels of so many values at a time stay in the processor's cache.
_BLOCK_VALUES = 2**18
# Settings are judged on at most so many rows of each sample, and so many kernels.
_JUDGED_ROWS, _JUDGED_VALUES = 20_000, 2**23
N_WIDTHS = 11
L2S = 10.0 ** np.arange(-6, 2)
# With few columns differences are quicker than a matrix product, and exact.
_FEW_COLUMNS = 8


@dataclass(frozen=True)
class Sample:
    """One sample without its order: distinct rows, sorted, with their shares.

    Repeated rows and weighted rows are the same thing here, and nothing that is
    computed depends on the order in which the rows were given.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
    share : ndarray of shape (n,)
        Adds up to one.
    size : int
        Number of rows that the sample stands for.
    """

    rows: Array
    share: Array
    size: int

    @classmethod
    def of(cls, rows: Array, weight: Array | None) -> Sample:
        """Sort rows and merge those that are equal."""
        order = np.lexsort(rows.T[::-1])
        rows = rows[order]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        mass = np.ones(len(rows)) if weight is None else weight[order]
        mass = np.add.reduceat(mass, np.flatnonzero(new))
        size = Weighted.of(rows, weight).size
        return cls(rows[new], mass / mass.sum(), size)

    def thin(self, most: int, rng: np.random.Generator) -> Sample:
        """At most so many rows that stand for all: a systematic sample in sorted order.

        A row is taken once for each of ``most`` equal steps of mass that ends in it,
        so that heavy rows keep their share.
        """
        if len(self.rows) <= most:
            return self
        edges = np.cumsum(self.share)
        points = (np.arange(most) + rng.random()) / most * edges[-1]
        taken, times = np.unique(np.searchsorted(edges, points), return_counts=True)
        return Sample(self.rows[taken], times / most, most)

    def folds(self, number: int, rng: np.random.Generator) -> Array:
        """Share of every row in each fold, shape (n, number of folds).

        Rows are dealt to folds of equal size at random, equal ones each for itself. Dealing
        by turns in sorted order would make the folds more alike than independent samples
        are, and kernels that fit the noise would pass.
        """
        copies = np.maximum(np.rint(self.share * self.size), 1.0).astype(int)
        row = np.repeat(np.arange(len(copies)), copies)
        number = min(number, len(row))
        fold = rng.permutation(np.arange(len(row)) % number)
        dealt = np.bincount(row * number + fold, minlength=number * len(copies))
        return np.asarray(dealt.reshape(-1, number) * (self.share / copies)[:, None])


def squares(X: Array, centres: Array) -> Array:
    """Squared distances of rows from centres, shape (n, b)."""
    if X.shape[1] <= _FEW_COLUMNS:
        return np.asarray(cdist(X, centres, "sqeuclidean"))
    middle = centres.mean(axis=0)
    # A difference of two infinities is not a distance.
    X, centres = np.clip(X - middle, -1e150, 1e150), centres - middle
    out = X @ (-2.0 * centres.T)
    out += np.einsum("ij,ij->i", X, X)[:, None]
    out += np.einsum("ij,ij->i", centres, centres)
    return np.maximum(out, 0.0, out=out)


def gaussian(square: Array, width: float) -> Array:
    """Gaussian kernel of squared distances."""
    out = square * (-0.5 / width**2)
    return np.asarray(np.exp(out, out=out))


def blocks(n: int, b: int) -> Iterator[slice]:
    """Slices of rows whose kernels at b centres stay in the cache."""
    return slices(n, max(256, _BLOCK_VALUES // b))


class KernelRatio(RatioEstimator):
    """Base of the kernel methods: their parameters, centres, widths and floor.

    A subclass fits ``coef_``; :meth:`_values` is then the sum of kernels.
    """

    centres: Any
    width: Any
    standardise: Any
    floor: Any

    def check_parameters(self) -> None:
        if isinstance(self.centres, str) or np.ndim(self.centres) == 0:
            check_number(self.centres, "centres", low=1, integer=True)
        _check_grid(self.width, "width", ("auto", "median"))
        check_flag(self.standardise, "standardise")
        if not (isinstance(self.floor, str) and self.floor == "auto"):
            check_number(self.floor, "floor", low=0.0, open_low=True)

    def _prepare(self, samples: TwoSamples, seeds: Seeds) -> tuple[Sample, Sample]:
        """Sort and standardise both samples; what they have in common goes to attributes."""
        p, q = (Sample.of(one.rows, one.weight) for one in samples)
        self._where: AffineMap | None = None
        if self.standardise:
            self._where = column_map(TwoSamples.of(p.rows, q.rows, p.share, q.share))
        self.centres_ = self._place(p, q, seeds)
        self._centres = self._inside(self.centres_)
        self.floor_ = 1.0 / p.size if self.floor == "auto" else float(self.floor)
        self._sizes = p.size, q.size
        p, q = (replace(each, rows=self._inside(each.rows)) for each in (p, q))
        self.widths_ = self._widths(p, q, seeds)
        return p, q

    def _place(self, p: Sample, q: Sample, seeds: Seeds) -> Array:
        """The centres, in the data's own units, shape (b, d)."""
        if np.ndim(self.centres) == 0:
            return self._draw_centres(p, q, int(self.centres), seeds("centres"))
        given = as_rows(self.centres, "centres", flat=p.rows.shape[1] == 1)
        if given.shape[1] != p.rows.shape[1]:
            raise ValueError(
                f"centres must have the {p.rows.shape[1]} columns of X; received shape "
                f"{given.shape}."
            )
        return given

    def _draw_centres(self, p: Sample, q: Sample, number: int, rng: np.random.Generator) -> Array:
        return p.thin(number, rng).rows

    def _inside(self, rows: Array) -> Array:
        """Rows in the coordinates that distances are measured in."""
        return rows if self._where is None else self._where(rows)

    def _widths(self, p: Sample, q: Sample, seeds: Seeds) -> Array:
        """The widths to choose from."""
        if not isinstance(self.width, str):
            return np.atleast_1d(np.asarray(self.width, dtype=float))
        rng = seeds("width")
        some = [each.thin(200, rng).rows for each in (p, q)]
        near, far = (_typical(squares(some[0], rows)) for rows in some)
        if self.width == "median":
            both = np.concatenate([squares(rows, np.concatenate(some)) for rows in some])
            return np.array([_typical(both)])
        near, far = near or far or 1.0, far or near or 1.0
        return np.geomspace(min(near, far) / 16, 4 * max(near, far), N_WIDTHS)

    def _judged(self, sample: Sample, rng: np.random.Generator) -> Sample:
        """The rows by which settings are judged: all, or enough of them."""
        return sample.thin(min(_JUDGED_ROWS, max(1000, _JUDGED_VALUES // len(self._centres))), rng)

    def _kernels(self, rows: Array) -> Array:
        """Kernels at rows in the inner coordinates, shape (n, b)."""
        return gaussian(squares(rows, self._centres), self.width_)

    def _values(self, rows: Array) -> Array:
        """The sum of kernels at rows in the data's units, shape (n,)."""
        rows = self._inside(rows)
        out = np.empty(len(rows))
        for part in blocks(len(rows), len(self._centres)):
            out[part] = self._kernels(rows[part]) @ self.coef_
        return out

    def evaluate(self, rows: Array) -> Array:
        return np.asarray(np.log(np.maximum(self._values(rows), self.floor_)))


def _typical(square: Array) -> float:
    """Median of the distances that are not zero, or zero."""
    positive = square[square > 0]
    return float(np.sqrt(np.median(positive))) if len(positive) else 0.0


def least(score: Array, error: Array) -> tuple[int, int]:
    """Position of the least score plus two standard errors in a table of them.

    A fit that is nearly zero but for some spikes has a loss without a mean to speak of,
    and among many such fits one is lucky on the rows left out. Its error tells.
    """
    i, j = np.unravel_index(int((score + 2.0 * error).argmin()), score.shape)
    return int(i), int(j)


def check_l2(value: Any) -> None:
    """Check a ridge penalty: "auto", a positive number or several."""
    _check_grid(value, "l2", ("auto",))


def _check_grid(value: Any, argument: str, options: tuple[str, ...]) -> None:
    if isinstance(value, str):
        if value not in options:
            named = " or ".join(map(repr, options))
            raise ValueError(
                f"{argument} must be {named}, a positive number or several; received {value!r}."
            )
        return
    values = [value] if np.ndim(value) == 0 else list(np.ravel(value))
    if not values:
        raise ValueError(f"{argument} must hold at least one number; received {value!r}.")
    for each in values:
        check_number(each, argument, low=0.0, open_low=True, high=np.inf, open_high=True)
