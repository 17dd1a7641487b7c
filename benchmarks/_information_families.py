"""Tasks of mutual information from families with closed forms: sets families, high, wide, few."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from _information_parts import (
    Pair,
    Rng,
    Task,
    gamma_exponentials,
    nodes,
    noisy_entropy,
    normal_nodes,
    normal_noise_information,
    normals,
    smoothed_uniforms,
    student_excess,
    students,
)
from scipy.special import expit, ndtr
from scipy.stats import t as student_t

from isthmus.typing import Array

Bend = Callable[[Array, Array], Pair]


def families() -> Iterator[Task]:
    """Those of a public benchmark: six families, 1 to 3 pairs of columns, 2, 5 and 10 nats."""
    for d in (1, 2, 3):
        for nats in (2.0, 5.0, 10.0):
            size = f"{d}v{d}, {nats:g} nats"
            yield Task(f"normal {size}", normals(d, nats), exact=nats)
            uniform: Bend = lambda x, y: (ndtr(x), ndtr(y))  # noqa: E731
            yield Task(f"uniform margins {size}", normals(d, nats), exact=nats, bend=uniform)
            for df in (1, 2):
                yield Task(f"Student df {df} {size}", students(df, d, nats), exact=nats)
            yield Task(f"smoothed uniform {size}", smoothed_uniforms(d, nats), exact=nats)
            yield Task(f"log-gamma-exponential {size}", gamma_exponentials(d, nats), exact=nats)


# Margins that normals are mapped to, one by one.
MARGINS: dict[str, Callable[[Array], Array]] = {
    "exponential": lambda z: -np.log(ndtr(-z)),
    "uniform": lambda z: ndtr(z),
    "lognormal": lambda z: np.exp(1.5 * z),
    "Student df 2": lambda z: student_t.ppf(ndtr(z), 2),
    "cubed": lambda z: z**3,
}


def high() -> Iterator[Task]:
    """5 to 20 nats in 1 to 8 columns whose margins are not normal."""
    sizes = ((1, 5.0), (1, 8.0), (2, 15.0), (4, 12.0), (5, 20.0), (8, 20.0), (8, 10.0))
    for k, (d, nats) in enumerate(sizes):
        for left in (k, k + 2):
            first, second = (list(MARGINS)[j % len(MARGINS)] for j in (left, left + 1))
            yield Task(
                f"{first} and {second} {d}v{d}, {nats:g} nats",
                normals(d, nats),
                exact=nats,
                bend=_margins(first, second),
            )
    for d, nats in ((1, 7.0), (4, 12.0), (8, 20.0)):
        size = f"{d}v{d}, {nats:g} nats"
        yield Task(f"smoothed uniform {size}", smoothed_uniforms(d, nats), exact=nats)
        yield Task(f"log-gamma-exponential {size}", gamma_exponentials(d, nats), exact=nats)
    for d, df, nats in ((2, 3, 8.0), (5, 3, 15.0), (8, 5, 20.0)):
        yield Task(f"Student df {df} {d}v{d}, {nats:g} nats", students(df, d, nats), exact=nats)
    for d, nats in ((2, 8.0), (3, 10.0), (6, 18.0)):
        yield Task(
            f"exponential sources, turned {d}v{d}, {nats:g} nats",
            normals(d, nats),
            exact=nats,
            bend=_turned(d),
        )
    for d, theta in ((1, 30.0), (1, 600.0), (3, 200.0)):
        yield Task(
            f"Clayton {d}v{d}, theta {theta:g}", _clayton(d, theta), log_ratio=_clayton_ratio(theta)
        )
    for d, width in ((1, 1e-3), (4, 0.02)):
        yield Task(
            f"exponential noise {d}v{d}, width {width:g}",
            _one_sided(d, width),
            integral=lambda d=d, width=width: d * _one_sided_information(width),
        )


def wide() -> Iterator[Task]:
    """Normals of 10 to 160 columns a side with 10 to 80 nats, in pairs and mixed by matrices."""
    for d, nats in ((10, 50.0), (20, 10.0), (40, 20.0), (80, 40.0), (160, 80.0)):
        size = f"{d}v{d}, {nats:g} nats"
        yield Task(f"normal {size}", normals(d, nats), exact=nats)
        yield Task(f"mixed normal {size}", normals(d, nats), exact=nats, bend=_mixed(d))


def _mixed(d: int) -> Bend:
    left, right = np.random.default_rng(d).normal(size=(2, d, d))
    return lambda x, y: (x @ left, y @ right)


def _margins(first: str, second: str) -> Bend:
    return lambda x, y: (MARGINS[first](x), MARGINS[second](y))


def _turned(d: int) -> Bend:
    """Exponential columns, mixed by one matrix for x and one for y."""
    margin, mixed = MARGINS["exponential"], _mixed(d)
    return lambda x, y: mixed(margin(x), margin(y))


def _clayton(d: int, theta: float) -> Callable[[Rng, int], Pair]:
    """Minus the logs of a Clayton copula's columns: exponential, and close where they are large."""

    def draw(rng: Rng, n: int) -> Pair:
        common = np.log(rng.gamma(1 / theta + 1, size=(n, d)))
        common -= theta * rng.exponential(size=(n, d))
        own = np.log(rng.exponential(size=(2, n, d)))
        x, y = np.logaddexp(0.0, own - common) / theta
        return x, y

    return draw


def _clayton_ratio(theta: float) -> Callable[[Array, Array], Array]:
    def log_ratio(x: Array, y: Array) -> Array:
        a, b = theta * x, theta * y
        both = np.logaddexp(a, b + np.log(-np.expm1(-b)))
        terms = np.log1p(theta) + (1 + theta) * (x + y) - (2 + 1 / theta) * both
        return np.asarray(terms.sum(axis=1))

    return log_ratio


def _one_sided(d: int, width: float) -> Callable[[Rng, int], Pair]:
    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, d))
        return x, x + width * rng.exponential(size=(n, d))

    return draw


def _one_sided_information(width: float) -> float:
    places = -width * np.log(nodes(2000))
    whole = noisy_entropy(
        places,
        np.full(2000, 1 / 2000),
        lambda off: -0.5 * off**2 - 0.5 * np.log(2 * np.pi),
        -9.0,
        9.0 + 30 * width,
    )
    return whole - 1.0 - float(np.log(width))


# Rows, and pairs of columns.
FEW = (
    *((50, 1), (50, 5), (100, 1), (100, 5), (100, 15), (200, 1), (200, 5), (200, 15)),
    *((500, 1), (500, 5), (500, 15), (500, 30)),
)


def few() -> Iterator[Task]:
    """50 to 500 rows, 1 to 30 columns a side; one or two pairs of columns depend."""
    cubes: Bend = lambda x, y: (x**3, np.exp(2 * y))  # noqa: E731
    for rows, d in FEW:
        size = f"{d}v{d}, {rows} rows"
        # Correlations of .8 each.
        draw, truth = _sparse(d, 0.8), -0.5 * float(np.log(1 - 0.64)) * min(d, 2)
        yield Task(f"normal {size}", draw, exact=truth, rows=rows)
        yield Task(f"monotone {size}", draw, exact=truth, bend=cubes, rows=rows)
        if d <= 5:
            nats = student_excess(3, d) + 0.3
            yield Task(f"Student df 3 {size}", students(3, d, nats), exact=nats, rows=rows)
        if d <= 15:
            yield Task(
                f"square {d}v1, {rows} rows",
                _square(d),
                integral=lambda: normal_noise_information(*_squares(), 0.5),
                rows=rows,
            )
            yield Task(
                f"steps {d}v1, {rows} rows",
                _steps(d),
                integral=lambda: normal_noise_information(*_stepped(), 0.4),
                rows=rows,
            )


def _sparse(d: int, rho: float) -> Callable[[Rng, int], Pair]:
    """Normals of which the first two columns of either side are correlated."""

    def draw(rng: Rng, n: int) -> Pair:
        x, y = rng.normal(size=(2, n, d))
        y[:, :2] = rho * x[:, :2] + np.sqrt(1 - rho**2) * y[:, :2]
        return x, y

    return draw


def _square(d: int) -> Callable[[Rng, int], Pair]:
    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, d))
        return x, x[:, :1] ** 2 + 0.5 * rng.normal(size=(n, 1))

    return draw


def _squares() -> tuple[Array, Array]:
    places, weights = normal_nodes()
    return places**2, weights


def _steps(d: int) -> Callable[[Rng, int], Pair]:
    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, d))
        return x, 2 * expit(6 * x[:, :1]) + 0.4 * rng.normal(size=(n, 1))

    return draw


def _stepped() -> tuple[Array, Array]:
    places, weights = normal_nodes()
    return 2 * expit(6 * places), weights
