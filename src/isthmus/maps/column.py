"""One column of both samples, each of which counts one half, and the maps fitted to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.optimize import minimize_scalar

from ..data.sample import Sample, TwoSamples
from ..typing import Array, ColumnMap
from .parametric import AsinhMap, IdentityMap, LogMap, SignedLogMap, YeoJohnsonMap
from .quantile import centre_and_scale
from .two_normals import fit_two_normals

# Rows of a class that maps are fitted to, and values of it in all columns.
_MOST_ROWS, _MOST_VALUES, _LEAST_ROWS = 20_000, 640_000, 1_000
# Rows of a class that decide on the one parameter of a formula.
_FORMULA_ROWS = 10_000

M = TypeVar("M", bound=ColumnMap)


@dataclass(frozen=True)
class Column:
    """A column of both samples, in an order that does not matter."""

    samples: TwoSamples  # Values in p and in q, with the weights of their rows.
    size: float  # Number of rows that both stand for; the smaller sample limits it.

    @property
    def values(self) -> Array:
        """The values of p, then those of q."""
        return np.concatenate([sample.rows for sample in self.samples])

    @property
    def shares(self) -> list[Array]:
        """Shares of the rows in their own sample."""
        return [sample.share for sample in self.samples]

    @cached_property
    def centre_and_scale(self) -> tuple[float, float]:
        """Median and spread of the pooled sample."""
        x, share = self.values, 0.5 * np.concatenate(self.shares)
        order = np.argsort(x, kind="stable")
        return centre_and_scale(x[order], share[order])

    def every_other(self, start: int) -> Column:
        """Every other row of both samples, in ascending order and in units of the spread."""
        unit, orders = self.centre_and_scale[1], []
        for sample in self.samples:
            places = np.arange(start, len(sample), 2)
            orders.append(places[np.argsort(sample.rows[places])])
        return Column(self.samples.take(*orders).map(lambda x: x / unit), 0.5 * self.size)


@dataclass(frozen=True)
class Columns:
    """Some rows of two samples, in an order that depends on their numbers alone."""

    samples: TwoSamples
    repeats: tuple[float, float]  # Rows of the data that each row of p, and of q, stands for.

    @classmethod
    def of(cls, samples: TwoSamples) -> Columns:
        """Rows that have a weight; some of them, where they are many."""
        samples = samples.positive()
        most = most_rows(samples.n_columns, _MOST_ROWS, _MOST_VALUES)
        orders = [np.random.default_rng(0).permutation(len(one))[:most] for one in samples]
        repeats = (samples.p.size / len(samples.p), samples.q.size / len(samples.q))
        return cls(samples.take(*orders), repeats)

    def column(self, j: int, most: int | None = None) -> Column:
        """Column j, or at most so many of its rows."""
        parts = [Sample(one.rows[:most, j], one.weight[:most]) for one in self.samples]
        sizes = [each * len(part) for each, part in zip(self.repeats, parts, strict=True)]
        return Column(TwoSamples.both(parts), 4.0 / (1.0 / sizes[0] + 1.0 / sizes[1]))


def most_rows(n_columns: int, rows: int, values: int) -> int:
    """At most so many rows, and values in all columns, but enough for any shape."""
    return max(_LEAST_ROWS, min(rows, values // n_columns))


def _log(column: Column) -> LogMap:
    x = column.values
    return LogMap(float(np.abs(x).min()), sign=1.0 if x[0] > 0.0 else -1.0)


def _asinh(column: Column) -> AsinhMap:
    centre, scale = column.centre_and_scale
    return _likeliest(column, lambda log: AsinhMap(centre, scale * float(np.exp(log))), -4.0, 1.0)


def _yeo_johnson(column: Column) -> YeoJohnsonMap:
    centre, scale = column.centre_and_scale
    return _likeliest(column, lambda exponent: YeoJohnsonMap(centre, scale, exponent), 0.0, 2.0)


# From the simplest on.
FITS: dict[str, Callable[[Column], ColumnMap]] = {
    "identity": lambda column: IdentityMap(),
    "log": _log,
    "signed-log": lambda column: SignedLogMap(*column.centre_and_scale),
    "asinh": _asinh,
    "yeo-johnson": _yeo_johnson,
    "quantile": lambda column: fit_two_normals(column.samples, column.size),
}


def _likeliest(column: Column, family: Callable[[float], M], low: float, high: float) -> M:
    """The member of a family under which each class is nearest to a normal of its own."""
    parts, shares = [], []
    for sample in column.samples:
        rows = slice(None, None, -(-len(sample) // _FORMULA_ROWS))
        parts.append(sample.rows[rows])
        share = sample.share[rows]
        shares.append(share / share.sum())
    x, both, first = np.concatenate(parts), np.concatenate(shares), len(parts[0])

    def loss(parameter: float) -> float:
        z, log_slope = family(parameter).evaluate(x)
        variances = [
            share @ (values - share @ values) ** 2
            for values, share in zip((z[:first], z[first:]), shares, strict=True)
        ]
        return float(0.5 * np.log(np.array(variances) + 1e-300).sum() - both @ log_slope)

    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 0.05})
    return family(float(found.x))
