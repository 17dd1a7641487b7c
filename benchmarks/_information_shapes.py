"""Tasks of mutual information whose dependence has no family: sets mixtures and adversarial."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

import numpy as np
from _information_parts import (
    Mixture,
    Pair,
    Rng,
    Task,
    bit_entropy,
    correlation,
    cross_covariance,
    curve_information,
    mixture,
    nodes,
    noisy_entropy,
    normal_nodes,
    normal_noise_information,
    normals,
)
from scipy.special import expit

from isthmus.typing import Array

Draw = Callable[[Rng, int], Pair]


def mixtures() -> Iterator[Task]:
    """Mixtures with known densities, some of them bent."""
    for d in (1, 5, 25):
        for share in (0.2, 0.5):
            yield of(f"inliers {d}v{d}, {share:.0%} independent", inliers(d, share))
    for d, count in ((3, 3), (3, 5), (5, 5), (25, 5), (10, 3)):
        yield of(f"concentric {d}v1, {count} components", concentric(d, count))
    yield of("waves 2v1", waves(12), bend=_wavy)
    yield of("waves 2v1, 6 components", waves(6), bend=_wavy)
    for rho in (0.9, 0.99):
        links = [(1.0, (0, 0), cross_covariance(1, 1, [(0, 0, s * rho)])) for s in (1, -1)]
        yield of(f"cross 1v1, {rho:g}", mixture(links, 1))
    yield of("galaxy 2v1", galaxy(3.0), bend=_spun)
    yield of("galaxy 2v1, apart", galaxy(6.0), bend=_spun)
    yield of("letters 1v1", letters())
    yield of("fence 1v1", fence(6))
    yield of("balls 2v2", balls(2, 2, 5))
    yield of("balls 5v5", balls(5, 5, 8))
    yield of("Student df 3 mixture 1v1", students_of(1, 3.0))
    yield of("Student df 2 mixture 3v3", students_of(3, 2.0))
    yield of("Student df 5 concentric 2v1", concentric(2, 4, 5.0))


def of(name: str, made: Mixture, bend: Callable[[Array, Array], Pair] | None = None) -> Task:
    """The task of a mixture."""
    return Task(name, made.draw, log_ratio=made.log_ratio, bend=bend)


def inliers(d: int, share: float) -> Mixture:
    """Normals, two pairs of which are correlated; in a share of the rows they are not."""
    links = [(k, k, 0.8) for k in range(min(d, 2))]
    signal, noise = cross_covariance(d, d, links), np.eye(2 * d)
    zero = np.zeros(2 * d)
    return mixture([(1 - share, zero, signal), (share, zero, noise)], d)


def concentric(d: int, count: int, df: float = np.inf) -> Mixture:
    """x of scale 1, 2, ...; y says which."""
    parts = []
    for k in range(1, count + 1):
        parts.append((1.0, np.r_[np.zeros(d), k], np.diag([float(k) ** 2] * d + [1e-4])))
    return mixture(parts, d, df)


def waves(count: int) -> Mixture:
    """Strips along the second column of x; y has four levels in turn."""
    parts = []
    for k in range(count):
        parts.append((1.0, 1.5 * np.array([k, 0, k % 4]), np.diag([0.1, 1.0, 0.1])))
    return mixture(parts, 2)


def _wavy(x: Array, y: Array) -> Pair:
    return np.column_stack([0.1 * (x[:, 0] + 5 * np.sin(3 * x[:, 1])), 0.5 * x[:, 1]]), y


def galaxy(distance: float) -> Mixture:
    """Two balls whose three columns are apart."""
    return mixture([(1.0, np.full(3, s * distance / 2), np.eye(3)) for s in (-1, 1)], 2)


def _spun(x: Array, y: Array) -> Pair:
    """Turned by an angle that grows with the radius."""
    angle = 0.5 * (x**2).sum(axis=1)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.column_stack([cos * x[:, 0] - sin * x[:, 1], sin * x[:, 0] + cos * x[:, 1]]), y


def letters() -> Mixture:
    """Six strokes, upright, level and slanting."""

    def slanting(sign: float) -> Array:
        off = sign * 0.95 * np.sqrt(0.04 * 0.2)
        return np.array([[0.04, off], [off, 0.2]])

    strokes = [
        (1.0, (1.0, 0.0), np.diag([0.01, 0.2])),
        (1.0, (1.0, 1.0), np.diag([0.05, 0.001])),
        (1.0, (1.0, -1.0), np.diag([0.05, 0.001])),
        (1.0, (-0.8, -0.2), np.diag([0.03, 0.001])),
        (1.0, (-1.2, 0.0), slanting(1.0)),
        (1.0, (-0.4, 0.0), slanting(-1.0)),
    ]
    return mixture(strokes, 1)


def fence(count: int) -> Mixture:
    """Upright strokes above a level one."""
    posts = [(1.0, (1.5 * k, 0.3 * k), np.diag([0.01, 1.0])) for k in range(count)]
    return mixture([*posts, (2.0, (0.75 * count, -2.0), np.diag([6.0, 0.01]))], 1)


def balls(d_x: int, d_y: int, count: int) -> Mixture:
    """Balls at random places, of random sizes."""
    rng = np.random.default_rng(d_x + d_y)
    parts = []
    for _ in range(count):
        place, size = 1.5 * rng.normal(size=d_x + d_y), rng.uniform(0.2, 1.0)
        parts.append((rng.uniform(0.5, 1.5), place, size * np.eye(d_x + d_y)))
    return mixture(parts, d_x)


def students_of(d: int, df: float) -> Mixture:
    """Two Students, one with positive and one with negative correlations."""
    zero, one = np.zeros(2 * d), np.ones(2 * d)
    positive, negative = (
        cross_covariance(d, d, [(k, k, s * 0.85) for k in range(d)]) for s in (1, -1)
    )
    return mixture([(2.0, zero, positive), (1.0, one, negative)], d, df)


def adversarial() -> Iterator[Task]:
    """Dependence that no closed form describes."""
    for d, nats in ((2, 5.0), (4, 10.0)):
        yield Task(f"sheared {d}v{d}, {nats:g} nats", normals(d, nats), exact=nats, bend=_sheared)
    yield Task("spun 2v2, 1 nat", normals(2, 1.0), exact=1.0, bend=_spun)
    yield noisy("square among 64 columns", 64, lambda x: x[:, 0] ** 2, 0.25)
    yield _product_label()
    yield _wrapped_sum(0.05)
    yield of("exchanges 3v3", exchanges(0.95))
    yield of("signs of one latent 5v5", one_sign(5, 0.8))
    yield spiral()
    yield ring()
    for count, flips in ((2, 0.0), (3, 0.05)):
        yield parity(count, flips)
    yield spread("variance only 1v1", 1)
    yield spread("variance only 5v1", 5)
    yield Task("fine sine 1v1", _sine, integral=_sine_information)
    yield product_of_two()
    yield checkerboard(6)
    yield torus(3, 0.05)
    yield regimes()


def noisy(name: str, d: int, centre: Callable[[Array], Array], noise: float) -> Task:
    """A function of the first column of d normals, with normal noise."""

    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, d))
        return x, centre(x)[:, None] + noise * rng.normal(size=(n, 1))

    def integral() -> float:
        places, weights = normal_nodes(12_001)
        return normal_noise_information(centre(places[:, None]), weights, noise)

    return Task(name, draw, integral=integral)


def _sheared(x: Array, y: Array) -> Pair:
    """Every column is moved by a function of the one before, in x and in y."""
    x, y = x.copy(), y.copy()
    for k in range(1, x.shape[1]):
        x[:, k] += 2 * np.sin(2 * x[:, k - 1])
        y[:, k] += y[:, k - 1] ** 2
    x[:, 0] += 1.5 * np.cos(1.5 * x[:, -1])
    return x, y


def _product_label() -> Task:
    slope = 6.0

    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, 20))
        label = rng.uniform(size=n) < expit(slope * x[:, 3] * x[:, 11])
        return x, label.astype(int)

    def integral() -> float:
        places, weights = normal_nodes(2001)
        chance = expit(slope * places[:, None] * places)
        return float(np.log(2) - weights @ bit_entropy(chance) @ weights)

    return Task("label of a product, 2 of 20 columns", draw, integral=integral)


def _wrapped_entropy(noise: float) -> float:
    """Entropy of normal noise on a circle of length one."""
    grid = nodes(20_000)
    turns = np.arange(-8, 9)
    density = np.exp(-0.5 * ((grid[:, None] - turns) / noise) ** 2).sum(axis=1)
    density /= density.mean()
    return float(-(density * np.log(density)).mean())


def _wrapped_sum(noise: float) -> Task:
    def draw(rng: Rng, n: int) -> Pair:
        x = rng.uniform(size=(n, 3))
        return x, (x.sum(axis=1, keepdims=True) + noise * rng.normal(size=(n, 1))) % 1.0

    return Task("wrapped sum of three 3v1", draw, integral=lambda: -_wrapped_entropy(noise))


def torus(d: int, noise: float) -> Task:
    """Columns of y are sums of two neighbouring columns of x on a circle, with noise."""

    def draw(rng: Rng, n: int) -> Pair:
        x = rng.uniform(size=(n, d))
        return x, (x + np.roll(x, 1, axis=1) + noise * rng.normal(size=(n, d))) % 1.0

    # Sums of neighbours on three circles are uniform, and two to one.
    return Task(f"torus {d}v{d}", draw, integral=lambda: -d * _wrapped_entropy(noise))


def exchanges(rho: float) -> Mixture:
    """Columns of y are those of x in one of six orders."""
    parts = []
    for order in permutations(range(3)):
        links = [(i, j, rho) for i, j in enumerate(order)]
        parts.append((1.0, np.zeros(6), cross_covariance(3, 3, links)))
    return mixture(parts, 3)


def one_sign(d: int, rho: float) -> Mixture:
    """Correlations of all pairs are rho in half of the rows and -rho in the others."""
    parts = []
    for sign in (1, -1):
        links = [(k, k, sign * rho) for k in range(d)]
        parts.append((1.0, np.zeros(2 * d), cross_covariance(d, d, links)))
    return mixture(parts, d)


def _curve(name: str, curve: Callable[[Array], Pair], noise: float) -> Task:
    def draw(rng: Rng, n: int) -> Pair:
        x, y = (side[:, None] for side in curve(rng.uniform(size=n)))
        moved = noise * rng.normal(size=(2, n, 1))
        return x + moved[0], y + moved[1]

    return Task(name, draw, integral=lambda: curve_information(*curve(nodes(3000)), noise))


def spiral() -> Task:
    def curve(t: Array) -> Pair:
        angle, radius = 5 * np.pi * np.sqrt(t), np.sqrt(t)
        return radius * np.cos(angle), radius * np.sin(angle)

    return _curve("spiral 1v1", curve, 0.02)


def ring() -> Task:
    def curve(t: Array) -> Pair:
        return np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)

    return _curve("thin ring 1v1", curve, 0.01)


def parity(count: int, flips: float) -> Task:
    """The sign of y is the product of the signs of x, but for some flips."""

    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, count))
        sign = np.sign(x).prod(axis=1) * np.where(rng.uniform(size=n) < flips, -1, 1)
        return x, (sign * np.abs(rng.normal(size=n)))[:, None]

    truth = float(np.log(2) - (bit_entropy(flips) if flips else 0.0))
    return Task(f"sign of {count} signs {count}v1", draw, exact=truth)


def spread(name: str, d: int) -> Task:
    """The standard deviation of y is the exponential of a sum of columns."""
    slope = 1.0 / np.sqrt(d)

    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, d))
        return x, (np.exp(slope * x.sum(axis=1)) * rng.normal(size=n))[:, None]

    def log_density(off: Array) -> Array:
        """Of the log of the absolute value of a normal."""
        return np.asarray(off - 0.5 * np.exp(2 * np.minimum(off, 50)) + 0.5 * np.log(2 / np.pi))

    def integral() -> float:
        places, weights = normal_nodes(2001)
        whole = noisy_entropy(places, weights, log_density, -35.0, 14.0)
        return whole - noisy_entropy(np.zeros(1), np.ones(1), log_density, -35.0, 14.0)

    return Task(name, draw, integral=integral)


def _sine(rng: Rng, n: int) -> Pair:
    x = rng.uniform(-1, 1, size=(n, 1))
    return x, np.sin(12 * np.pi * x) + 0.15 * rng.normal(size=(n, 1))


def _sine_information() -> float:
    places = np.sin(2 * np.pi * nodes(20_000))
    return normal_noise_information(places, np.full(20_000, 1 / 20_000), 0.15)


def product_of_two() -> Task:
    """y has the product of two of five columns, and a column of its own."""
    noise = 0.2

    def draw(rng: Rng, n: int) -> Pair:
        x, y = rng.normal(size=(n, 5)), rng.normal(size=(n, 2))
        y[:, 0] = x[:, 1] * x[:, 4] + noise * y[:, 0]
        return x, y

    def integral() -> float:
        places, weights = normal_nodes(301)
        centres, mass = np.outer(places, places).ravel(), np.outer(weights, weights).ravel()
        kept = mass > 1e-14
        return normal_noise_information(centres[kept], mass[kept], noise)

    return Task("product of two columns 5v2", draw, integral=integral)


def checkerboard(count: int) -> Task:
    """Uniform on every second field of a board."""

    def draw(rng: Rng, n: int) -> Pair:
        row, half = rng.integers(count, size=n), rng.integers(count // 2, size=n)
        inside = rng.uniform(size=(2, n, 1))
        return row[:, None] + inside[0], (2 * half + row % 2)[:, None] + inside[1]

    return Task(f"checkerboard of {count} 1v1", draw, exact=float(np.log(2)))


def regimes() -> Task:
    """Which column of x column y follows is said by a third."""
    rho, noise = correlation(1.0), float(np.exp(-1.0))

    def draw(rng: Rng, n: int) -> Pair:
        x = rng.normal(size=(n, 8))
        followed = np.where(x[:, 2] > 0, x[:, 0], x[:, 1])
        return x, (rho * followed + noise * rng.normal(size=n))[:, None]

    return Task("regimes 8v1, 1 nat", draw, exact=1.0)
