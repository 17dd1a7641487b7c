"""Tasks of mutual information by the values that columns have: sets independent and discrete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from _information_parts import (
    Pair,
    Rng,
    Task,
    bit_entropy,
    nodes,
    normal_nodes,
    table_information,
)
from scipy.special import expit, gammaln, log_ndtr, logsumexp, ndtr
from scipy.stats import multivariate_normal, norm

from isthmus.typing import Array

Draw = Callable[[Rng, int], Pair]


def independent() -> Iterator[Task]:
    """Independent x and y, with what is found in tables: the truth is zero.

    A row with an outlier in both columns does make them dependent, by about
    -(1/n) log(1/n) nats; it is one row, and counts as nothing.
    """
    for d in (1, 5):
        for n in (300, 2000):
            size = f"{d}v{d}, {n} rows"
            yield zero(f"normal {size}", _free(d), n)
            yield zero(f"one row of 99999 in both {size}", _put(d, 1, 99_999.0, True), n)
            yield zero(f"three rows of -999999 in both {size}", _put(d, 3, -999_999.0, True), n)
            yield zero(f"sentinels in different rows {size}", _put(d, 20, -9_999.0, False), n)
            yield zero(f"Cauchy {size}", _with(d, lambda z: np.tan(np.pi * (ndtr(z) - 0.5))), n)
            yield zero(f"exp of exp {size}", _with(d, lambda z: np.exp(np.exp(1.3 * z))), n)
            yield zero(f"integers {size}", _with(d, lambda z: np.round(3 * z)), n)
            yield zero(f"zero inflated {size}", _with(d, _inflated), n)
            yield zero(f"a constant column {size}", _with(d, _constant), n)
    yield zero("growing size of both 1v1, 2000 rows", _trended, 2000)
    yield zero("Cauchy and a label 3v1, 1000 rows", _labelled, 1000)
    yield zero("two labels 1v1, 500 rows", _labels, 500)
    yield zero("20 and 20 columns, 1000 rows", _free(20), 1000)
    yield zero("30 and 30 columns, 200 rows", _free(30), 200)


def zero(name: str, draw: Draw, rows: int) -> Task:
    """A task without information."""
    return Task(name, draw, exact=0.0, rows=rows)


def _free(d: int) -> Draw:
    return lambda rng, n: tuple(rng.normal(size=(2, n, d)))  # type: ignore[return-value]


def _with(d: int, made: Callable[[Array], Array]) -> Draw:
    def draw(rng: Rng, n: int) -> Pair:
        x, y = rng.normal(size=(2, n, d))
        return made(x), made(y)

    return draw


def _put(d: int, count: int, value: float, shared: bool) -> Draw:
    """So many rows whose columns all have one value, the same rows of x and y or others."""

    def draw(rng: Rng, n: int) -> Pair:
        x, y = rng.normal(size=(2, n, d))
        rows = rng.permutation(n)
        x[rows[:count]] = value
        y[rows[:count] if shared else rows[count : 2 * count]] = value
        return x, y

    return draw


def _inflated(z: Array) -> Array:
    return np.where(z < 0.3, 0.0, np.exp(z))


def _constant(z: Array) -> Array:
    """The last column is 7, the only one if there is one."""
    z = z.copy()
    z[:, -1] = 7.0
    return z


def _trended(rng: Rng, n: int) -> Pair:
    """Values of many sizes, in steps of their own."""
    x, y = np.exp(4 * rng.normal(size=(2, n, 1)))
    return np.round(x, 1), np.round(y, 1)


def _labelled(rng: Rng, n: int) -> Pair:
    return rng.standard_cauchy(size=(n, 3)), rng.choice(4, size=n, p=[0.7, 0.2, 0.09, 0.01])


def _labels(rng: Rng, n: int) -> Pair:
    return rng.integers(30, size=n), rng.choice(10, size=n)


def discrete() -> Iterator[Task]:
    """Integers, rounded and repeated values, counts, zero inflation, labels; 5,000 rows."""
    for step in (0.1, 0.5, 1.0):
        for rho in (0.8, 0.99):
            yield rounded(step, rho)
    yield rounded_one_side(0.5, 0.9)
    yield rounded_one_side(1.0, 0.6)
    yield dice()
    yield minutes(1.0)
    yield minutes(5.0)
    yield counts(1)
    yield counts(5)
    yield two_counts()
    yield inflated()
    yield censored(0.8)
    yield labelled(2, 3, 1.0)
    yield labelled(5, 4, 0.7)
    yield two_labels(4, 3)
    yield two_labels(60, 8)
    yield mixed_side()
    yield flagged()


def _task(name: str, draw: Draw, **truth: Any) -> Task:
    return Task(name, draw, **truth, rows=5_000)


def _pair_of(rho: float) -> Draw:
    def draw(rng: Rng, n: int) -> Pair:
        x, noise = rng.normal(size=(2, n, 1))
        return x, rho * x + np.sqrt(1 - rho**2) * noise

    return draw


def _cells(step: float) -> Array:
    """Ends of the cells of rounding, the outer ones infinite."""
    ends = np.arange(-np.ceil(7 / step), np.ceil(7 / step)) * step + 0.5 * step
    return np.r_[-np.inf, ends, np.inf]


def _chances(step: float, centre: Array, width: float) -> Array:
    """Chances of the cells of a normal around each centre."""
    off = (_cells(step) - centre[:, None]) / width
    # Differences of the smaller tails, lest those far above vanish.
    upper = off[:, :-1] > 0
    tails = ndtr(np.where(upper, -off[:, :-1], off[:, 1:]))
    return np.asarray(tails - ndtr(np.where(upper, -off[:, 1:], off[:, :-1])))


def rounded(step: float, rho: float) -> Task:
    """Correlated normals, both rounded."""
    base = _pair_of(rho)

    def draw(rng: Rng, n: int) -> Pair:
        x, y = base(rng, n)
        return np.round(x / step) * step, np.round(y / step) * step

    def integral() -> float:
        places, weights = normal_nodes(20_001)
        given = _chances(step, rho * places, float(np.sqrt(1 - rho**2)))
        cell = np.searchsorted(_cells(step), places) - 1
        joint = np.zeros((given.shape[1], given.shape[1]))
        np.add.at(joint, cell, weights[:, None] * given)
        return table_information(joint)

    return _task(f"rounded to {step:g} 1v1, {rho:g}", draw, integral=integral)


def rounded_one_side(step: float, rho: float) -> Task:
    """Correlated normals, the second rounded."""
    base = _pair_of(rho)

    def draw(rng: Rng, n: int) -> Pair:
        x, y = base(rng, n)
        return x, np.round(y / step) * step

    def integral() -> float:
        places, weights = normal_nodes()
        given = _chances(step, rho * places, float(np.sqrt(1 - rho**2)))
        return table_information(weights[:, None] * given)

    return _task(f"numbers and rounded to {step:g} 1v1, {rho:g}", draw, integral=integral)


def dice() -> Task:
    """One die, and the sum of it and another."""

    def draw(rng: Rng, n: int) -> Pair:
        first, second = rng.integers(1, 7, size=(2, n, 1))
        return first, first + second

    joint = np.zeros((6, 13))
    for first in range(6):
        joint[first, first + 2 : first + 8] = 1.0
    return _task("a die and a sum of two 1v1", draw, exact=table_information(joint))


def minutes(step: float) -> Task:
    """Delays in whole minutes, or in steps of more: y is x and a change on the way."""
    shape, scale, change = 0.6, 40.0, 8.0

    def draw(rng: Rng, n: int) -> Pair:
        x = np.floor(scale * rng.gamma(shape, size=(n, 1)) / step) * step - 10.0
        return x, x + np.round(rng.laplace(scale=change, size=(n, 1)) / step) * step

    def integral() -> float:
        from scipy.stats import gamma, laplace

        count, reach = int(1500 / step), int(200 / step)
        x = np.diff(gamma.cdf(np.arange(count + 1) * step / scale, shape))
        ends = (np.arange(-reach, reach + 2) - 0.5) * step
        move = np.diff(laplace.cdf(ends, scale=change))
        joint = np.zeros((count, count + 2 * reach))
        for k in range(count):
            joint[k, k : k + 2 * reach + 1] = x[k] * move
        return table_information(joint)

    return _task(f"delays in steps of {step:g} 1v1", draw, integral=integral)


def _poisson(rate: Array, most: int = 400) -> Array:
    """Chances of 0, 1, ..., one row for each rate."""
    k = np.arange(most)
    return np.exp(k * np.log(rate[:, None]) - rate[:, None] - gammaln(k + 1.0))


def counts(d: int) -> Task:
    """A count whose rate depends on normals."""
    slope = 0.7 / np.sqrt(d)

    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, d))
        return x, rng.poisson(np.exp(1.0 + slope * x.sum(axis=1)))

    def integral() -> float:
        places, weights = normal_nodes()
        return table_information(weights[:, None] * _poisson(np.exp(1.0 + 0.7 * places), 3000))

    return _task(f"a count and normals {d}v1", draw, integral=integral)


def two_counts() -> Task:
    """Two counts of one rate."""

    def draw(rng: Rng, n: int) -> Pair:
        rate = 3.0 * rng.gamma(1.5, size=(n, 1))
        return rng.poisson(rate), rng.poisson(rate)

    def integral() -> float:
        from scipy.stats import gamma

        rates = 3.0 * gamma.ppf(nodes(20_000), 1.5)
        chances = _poisson(rates)
        return table_information(chances.T @ chances)

    return _task("two counts 1v1", draw, integral=integral)


def inflated() -> Task:
    """y is zero by a coin that depends on x, and otherwise x with noise."""
    noise = 0.5

    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, 1))
        value = x + noise * rng.normal(size=(n, 1))
        return x, np.where(rng.uniform(size=(n, 1)) < expit(1.5 * x), 0.0, value)

    def integral() -> float:
        places, weights = normal_nodes(2001)
        grid = np.linspace(-10, 10, 4001)
        zero = expit(1.5 * places)
        value = norm.pdf(grid, places[:, None], noise) * (grid[1] - grid[0])
        given = np.column_stack([zero, (1 - zero)[:, None] * value])
        return table_information(weights[:, None] * given)

    return _task("zero inflated 1v1", draw, integral=integral)


def censored(rho: float) -> Task:
    """Correlated normals, both cut at zero from below."""
    base, rest = _pair_of(rho), float(np.sqrt(1 - rho**2))

    def draw(rng: Rng, n: int) -> Pair:
        x, y = base(rng, n)
        return np.maximum(x, 0.0), np.maximum(y, 0.0)

    both = float(multivariate_normal(cov=[[1, rho], [rho, 1]]).cdf([0.0, 0.0]))

    def log_ratio(x: Array, y: Array) -> Array:
        x, y = x[:, 0], y[:, 0]
        margins = sum(np.where(z == 0, np.log(0.5), norm.logpdf(z)) for z in (x, y))
        inside = norm.logpdf(x) + norm.logpdf(y, rho * x, rest)
        one = norm.logpdf(x + y) + log_ndtr(-rho * (x + y) / rest)
        cut = (x == 0).astype(int) + (y == 0)
        return np.asarray(np.choose(cut, [inside, one, np.log(both)]) - margins)

    return _task(f"cut at zero 1v1, {rho:g}", draw, log_ratio=log_ratio)


def labelled(d: int, count: int, apart: float) -> Task:
    """A label, and normals around the place of each of its levels."""
    rng = np.random.default_rng(d)
    places, widths = apart * rng.normal(size=(count, d)), rng.uniform(0.5, 1.5, size=(count, d))
    share = rng.dirichlet(np.full(count, 4.0))

    def draw(rng: Rng, n: int) -> Pair:
        label = rng.choice(count, size=n, p=share)
        names = np.array([f"level {k}" for k in range(count)])
        return places[label] + widths[label] * rng.normal(size=(n, d)), names[label]

    def log_ratio(x: Array, y: Array) -> Array:
        label = np.array([int(name.split()[1]) for name in y])
        given = norm.logpdf(x[:, None], places, widths).sum(axis=2)
        return np.asarray(given[np.arange(len(x)), label] - logsumexp(given, axis=1, b=share))

    return _task(f"a label of {count} and normals {d}v1", draw, log_ratio=log_ratio)


def two_labels(left: int, right: int) -> Task:
    """Two labels with a table of chances."""
    joint = np.random.default_rng(left).dirichlet(np.full(left * right, 0.7))

    def draw(rng: Rng, n: int) -> Pair:
        cell = rng.choice(left * right, size=n, p=joint)
        return cell // right, cell % right

    truth = table_information(joint.reshape(left, right))
    return _task(f"two labels of {left} and {right}", draw, exact=truth)


def mixed_side() -> Task:
    """x has a text and two numbers, y follows one of them in one direction or the other."""
    rho = 0.9

    def draw(rng: Rng, n: int) -> Pair:
        import pyarrow as pa

        kind, z = rng.integers(3, size=n), rng.normal(size=(n, 2))
        y = np.array([rho, -rho, 0.0])[kind] * z[:, 0]
        y += np.sqrt(1 - np.square(np.array([rho, rho, 0.0])[kind])) * rng.normal(size=n)
        names = np.array(["same", "opposite", "none"])[kind]
        return pa.table({"kind": names, "first": z[:, 0], "second": z[:, 1]}), y

    # y is a standard normal for all kinds together.
    truth = -0.5 * float(np.log(1 - rho**2)) * 2 / 3
    return _task("a text and numbers on one side 3v1", draw, exact=truth)


def flagged() -> Task:
    """-1 in both where a value was not measured, in a third of the rows; else nothing."""
    share = 1 / 3

    def draw(rng: Rng, n: int) -> Pair:
        x, y = np.exp(rng.normal(size=(2, n, 1)))
        lost = rng.uniform(size=(n, 1)) < share
        return np.where(lost, -1.0, x), np.where(lost, -1.0, y)

    return _task("lost together 1v1", draw, exact=float(bit_entropy(share)))
