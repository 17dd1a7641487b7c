"""Maps fitted to one column of two samples, each of which counts one half."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.optimize import minimize_scalar

from ..typing import Array
from .parametric import AsinhMap, LogMap, SignedLogMap, YeoJohnsonMap
from .two_normals import TwoNormalsMap, fit_two_normals
from .unit_map import ColumnMap, IdentityMap, centre_and_scale

# Rows of a class that decide on the one parameter of a formula.
_ROWS = 10_000

M = TypeVar("M", bound=ColumnMap)


@dataclass(frozen=True)
class Column:
    """A column of both samples, in an order that does not matter.

    Attributes
    ----------
    x, share : pairs of ndarray
        Values in p and in q, and the shares of the rows in their sample.
    size : float
        Number of rows that both samples stand for; the smaller one limits it.
    """

    x: tuple[Array, Array]
    share: tuple[Array, Array]
    size: float

    @cached_property
    def centre_and_scale(self) -> tuple[float, float]:
        """Median and spread of the pooled sample."""
        x, share = np.concatenate(self.x), 0.5 * np.concatenate(self.share)
        order = np.argsort(x, kind="stable")
        return centre_and_scale(x[order], share[order])

    def sorted(self) -> Column:
        """The column with the rows of each sample in ascending order."""
        orders = [np.argsort(x) for x in self.x]
        (x_p, x_q), (share_p, share_q) = (
            [values[order] for values, order in zip(both, orders, strict=True)]
            for both in (self.x, self.share)
        )
        return replace(self, x=(x_p, x_q), share=(share_p, share_q))

    def every_other(self, start: int) -> Column:
        """Every other row of both samples."""
        (x_p, x_q), (share_p, share_q) = self.x, self.share
        share_p, share_q = share_p[start::2], share_q[start::2]
        return Column(
            (x_p[start::2], x_q[start::2]),
            (share_p / share_p.sum(), share_q / share_q.sum()),
            0.5 * self.size,
        )

    def divided(self, scale: float) -> Column:
        """The column in another unit."""
        return replace(self, x=(self.x[0] / scale, self.x[1] / scale))


def _log(column: Column) -> LogMap:
    x = np.concatenate(column.x)
    return LogMap(float(np.abs(x).min()), sign=1.0 if x[0] > 0.0 else -1.0)


def _signed_log(column: Column) -> SignedLogMap:
    return SignedLogMap(*column.centre_and_scale)


def _asinh(column: Column) -> AsinhMap:
    centre, scale = column.centre_and_scale
    return _likeliest(column, lambda log: AsinhMap(centre, scale * float(np.exp(log))), -4.0, 1.0)


def _yeo_johnson(column: Column) -> YeoJohnsonMap:
    centre, scale = column.centre_and_scale
    return _likeliest(column, lambda exponent: YeoJohnsonMap(centre, scale, exponent), 0.0, 2.0)


def _quantile(column: Column) -> TwoNormalsMap:
    return fit_two_normals(column.x, column.share, column.size)


# From the simplest on.
FITS: dict[str, Callable[[Column], ColumnMap]] = {
    "identity": lambda column: IdentityMap(),
    "log": _log,
    "signed-log": _signed_log,
    "asinh": _asinh,
    "yeo-johnson": _yeo_johnson,
    "quantile": _quantile,
}


def _likeliest(column: Column, family: Callable[[float], M], low: float, high: float) -> M:
    """The member of a family under which each class is nearest to a normal of its own."""
    some = [slice(None, None, -(-len(x) // _ROWS)) for x in column.x]
    x = np.concatenate([x[rows] for x, rows in zip(column.x, some, strict=True)])
    shares = [
        share[rows] / share[rows].sum() for share, rows in zip(column.share, some, strict=True)
    ]
    both, first = np.concatenate(shares), len(shares[0])

    def loss(parameter: float) -> float:
        z, log_slope = family(parameter).evaluate(x)
        variances = [
            share @ (values - share @ values) ** 2
            for values, share in zip((z[:first], z[first:]), shares, strict=True)
        ]
        return float(0.5 * np.log(np.array(variances) + 1e-300).sum() - both @ log_slope)

    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 0.05})
    return family(float(found.x))
