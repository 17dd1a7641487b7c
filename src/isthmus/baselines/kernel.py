"""What KLIEP, uLSIF and KMM share: Gaussian kernels, their centres and their widths.

All three write the ratio as a sum of Gaussian kernels on b centres, ::

    r(x) = sum_l theta_l K(x, c_l),    K(x, c) = exp(-|x - c|^2 / (2 width^2)),

and work with the n x b matrix of kernels, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..data.blocks import slices
from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import as_rows, check_flag, check_number
from ..estimator import RatioEstimator
from ..maps.affine import AffineMap, column_map
from ..settings import is_auto
from ..typing import Array, RandomState
from .parameters import check_unless_auto

BLOCK_VALUES = 2**18
"""Kernels of so many values at a time stay in the processor's cache."""

MOST_VALUES = 2**24
"""A matrix of more values than these is computed anew whenever it is needed."""

JUDGED_ROWS, JUDGED_VALUES = 20_000, 2**23
"""Settings are judged on at most so many rows of each sample, and so many kernels."""

N_WIDTHS = 11
L2S = 10.0 ** np.arange(-6, 2)
# With few columns differences are quicker than a matrix product, and exact.
_FEW_COLUMNS = 8


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


def pieces(n: int, b: int) -> Iterator[slice]:
    """Slices of rows whose kernels at b centres stay in the cache."""
    return slices(n, max(256, BLOCK_VALUES // b))


class InPieces:
    """A matrix of n rows that is made of some rows at a time, and kept where it is not large."""

    def __init__(self, n: int, b: int, make: Callable[[slice], Array]) -> None:
        self.parts, self.make = list(pieces(n, b)), make
        self.kept = [make(part) for part in self.parts] if n * b <= MOST_VALUES else None

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        return zip(self.parts, self.kept or map(self.make, self.parts), strict=True)


@dataclass(eq=False, repr=False, kw_only=True)
class KernelRatio(RatioEstimator):
    """Base of the kernel methods: their parameters, centres, widths and floor.

    A subclass fits ``coef_``; :meth:`_values` is then the sum of kernels.
    """

    centres: Any = 100
    width: Any = "auto"
    standardise: bool = True
    floor: float | str = "auto"
    random_state: RandomState = None

    def check_parameters(self) -> None:
        if isinstance(self.centres, str) or np.ndim(self.centres) == 0:
            check_number(self.centres, "centres", low=1, integer=True)
        check_grid(self.width, "width", ("auto", "median"))
        check_flag(self.standardise, "standardise")
        check_unless_auto(self.floor, "floor", low=0.0, open_low=True)

    def _prepare(self, samples: TwoSamples, seeds: Seeds) -> tuple[Distinct, Distinct]:
        """Sort and standardise both samples; what they have in common goes to attributes."""
        p, q = map(Distinct.of, samples)
        self._where: AffineMap | None = None
        if self.standardise:
            self._where = column_map(TwoSamples.of(p.rows, q.rows, p.share, q.share))
        self.centres_ = self._place(p, q, seeds)
        self._centres = self._inside(self.centres_)
        self.floor_ = 1.0 / p.size if is_auto(self.floor) else float(self.floor)
        self._sizes = p.size, q.size
        p, q = p.map(self._inside), q.map(self._inside)
        self.widths_ = self._widths(p, q, seeds)
        return p, q

    def _place(self, p: Distinct, q: Distinct, seeds: Seeds) -> Array:
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

    def _draw_centres(self, p: Distinct, q: Distinct, n: int, rng: np.random.Generator) -> Array:
        return p.thin(n, rng).rows

    def _inside(self, rows: Array) -> Array:
        """Rows in the coordinates that distances are measured in."""
        return rows if self._where is None else self._where(rows)

    def _widths(self, p: Distinct, q: Distinct, seeds: Seeds) -> Array:
        """The widths to choose from."""
        if not isinstance(self.width, str):
            return grid(self.width)
        rng = seeds("width")
        some = [each.thin(200, rng).rows for each in (p, q)]
        near, far = (_typical(squares(some[0], rows)) for rows in some)
        if self.width == "median":
            both = np.concatenate([squares(rows, np.concatenate(some)) for rows in some])
            return np.array([_typical(both)])
        near, far = near or far or 1.0, far or near or 1.0
        return np.geomspace(min(near, far) / 16, 4 * max(near, far), N_WIDTHS)

    def _judged(self, sample: Distinct, rng: np.random.Generator) -> Distinct:
        """The rows by which settings are judged: all, or enough of them."""
        return sample.thin(min(JUDGED_ROWS, max(1000, JUDGED_VALUES // len(self._centres))), rng)

    def _values(self, rows: Array) -> Array:
        """The sum of kernels at rows in the data's units, shape (n,)."""
        rows = self._inside(rows)
        out = np.empty(len(rows))
        for at in pieces(len(rows), len(self._centres)):
            out[at] = gaussian(squares(rows[at], self._centres), self.width_) @ self.coef_
        return out

    def evaluate(self, rows: Array) -> Array:
        return np.asarray(np.log(np.maximum(self._values(rows), self.floor_)))


def _typical(square: Array) -> float:
    """Median of the distances that are not zero, or zero."""
    positive = square[square > 0]
    return float(np.sqrt(np.median(positive))) if len(positive) else 0.0


@dataclass(eq=False, repr=False, kw_only=True)
class PenalisedKernelRatio(KernelRatio):
    """Base of those that also choose a ridge penalty."""

    l2: Any = "auto"

    def check_parameters(self) -> None:
        super().check_parameters()
        check_grid(self.l2, "l2", ("auto",))

    def _choose(self, left_out: Callable[[], tuple[Array, Array]]) -> tuple[int, int]:
        """Set width and penalty; where they stand among those to choose from.

        ``left_out`` gives the loss over rows left out and its standard error, both of shape
        (n_widths, n_l2s).
        """
        self.l2s_ = L2S if isinstance(self.l2, str) else grid(self.l2)
        at, self.scores_, self.score_errors_ = (0, 0), None, None
        if len(self.widths_) * len(self.l2s_) > 1:
            self.scores_, self.score_errors_ = left_out()
            at = least(self.scores_, self.score_errors_)
        self.width_, self.l2_ = float(self.widths_[at[0]]), float(self.l2s_[at[1]])
        return at


def least(score: Array, error: Array) -> tuple[int, int]:
    """Position of the least score plus two standard errors in a table of them.

    A fit that is nearly zero but for some spikes has a loss without a mean to speak of,
    and among many such fits one is lucky on the rows left out. Its error tells.
    """
    i, j = np.unravel_index(int((score + 2.0 * error).argmin()), score.shape)
    return int(i), int(j)


def grid(values: Any) -> Array:
    """One number or several, as an array."""
    return np.atleast_1d(np.asarray(values, dtype=float))


def check_grid(value: Any, argument: str, options: tuple[str, ...]) -> None:
    """Check one of some names, a positive number or several."""
    if isinstance(value, str):
        if value not in options:
            named = " or ".join(map(repr, options))
            raise ValueError(
                f"{argument} must be {named}, a positive number or several; received {value!r}."
            )
        return
    values = np.ravel(value).tolist() if np.ndim(value) else [value]
    if not values:
        raise ValueError(f"{argument} must hold at least one number; received {value!r}.")
    for each in values:
        check_number(each, argument, low=0.0, open_low=True, high=np.inf, open_high=True)
