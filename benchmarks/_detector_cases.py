"""The fits of the detector benchmark: problems, settings and rows, in two sets that share no fit.

"development" is what thresholds were looked at with. "report" has other problems, other
numbers and other seeds; it is what is published. An earlier run of most of the report's problems,
with other seeds, is why "precision" warns above 20 % rather than 15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus import MDRE, problems
from isthmus.auxiliaries import LinearMixing
from isthmus.baselines import BDRE, TRE, ULSIF
from isthmus.problems import Gaussian, Margin, Mixture, Product, StudentT

TRUTH_ROWS = 400_000


@dataclass(frozen=True)
class Pair:
    """Two distributions; the KL is a mean over fresh rows, with a standard error."""

    name: str
    p: Any
    q: Any

    def truth(self) -> tuple[float, float]:
        total = square = 0.0
        rng = np.random.default_rng(7)
        for _ in range(10):
            ratio = self.log_ratio(self.p.sample(TRUTH_ROWS // 10, rng))
            total, square = total + ratio.sum(), square + (ratio**2).sum()
        mean = total / TRUTH_ROWS
        return mean, float(np.sqrt(max(square / TRUTH_ROWS - mean**2, 0.0) / TRUTH_ROWS))

    def log_ratio(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.p.log_density(x) - self.q.log_density(x))


def load(name: str) -> Pair:
    problem = problems.load(name)
    return Pair(name, problem.p, problem.q)


def normals(d: int, shift: float, scale: float = 1.0) -> Pair:
    q = Gaussian(shift, scale, dim=d)
    return Pair(f"normal {d}-d, {shift:g}, {scale:g}", Gaussian(0.0, 1.0, dim=d), q)


def margins(name: str, p: tuple[Any, ...], q: tuple[Any, ...], d: int = 1) -> Pair:
    return Pair(name, *(Product([Margin(*one) for _ in range(d)]) for one in (p, q)))


def students(df: float, d: int, shift: float) -> Pair:
    return Pair(f"t({df:g}) {d}-d, {shift:g}", StudentT(df, 0.0, dim=d), StudentT(df, shift, dim=d))


def modes(gap: float, shift: float, d: int) -> Pair:
    q = Mixture([Gaussian(shift - gap, dim=d), Gaussian(shift + gap, dim=d)])
    return Pair(f"two modes {d}-d, {gap:g}, {shift:g}", Gaussian(0.0, dim=d), q)


def default() -> Any:
    return None


def binary() -> Any:
    return BDRE()


def bare() -> Any:
    return MDRE([], critic="quadratic", anchor=None, maps=None, l2=1.0)


def one_mixture() -> Any:
    mixing = LinearMixing([0.5])
    return MDRE(mixing, critic="quadratic", anchor=None, maps=None, l2=1.0)


def many_mixtures() -> Any:
    mixing = LinearMixing([0.1, 0.3, 0.5, 0.7, 0.9])
    return MDRE(mixing, critic="quadratic", anchor=None, maps=None, l2=1.0)


def two_normals() -> Any:
    return MDRE("bridge", critic="quadratic", anchor="gaussian", maps=None, l2=np.inf)


def diagonal() -> Any:
    return MDRE("bridge", critic="diagonal", anchor=None, maps=None, l2=1.0)


def kernel() -> Any:
    return ULSIF()


def telescope() -> Any:
    return TRE()


NAMES = {
    default: "default",
    binary: "BDRE",
    bare: "MDRE, no auxiliary",
    one_mixture: "MDRE, one mixture",
    many_mixtures: "MDRE, five mixtures",
    two_normals: "two normals",
    diagonal: "MDRE, diagonal critic",
    kernel: "uLSIF",
    telescope: "TRE",
}


@dataclass(frozen=True)
class Case:
    """One fit; ``queries`` are rows to ask about, by (location, spread) relative to the pair."""

    kind: str
    pair: Pair
    rows: int
    model: Callable[[], Any]
    seed: int
    queries: str = ""


GOOD = {
    "development": (
        ["table1/row2", "table1/row3", "hard/cauchy", "hard/ring", "hard/zero-inflated"],
        ["hard/modes-in-q", "hard/cube-5", "hard/laplace-20", "table3/row1", "same/10"],
        [normals(5, 0.4), normals(10, 1.0), normals(3, 2.0, 1.5), students(4, 5, 1.5)],
        [margins("gamma 4, 9", ("gamma", 4.0), ("gamma", 9.0)), modes(3.0, 0.0, 2)],
    ),
    "report": (
        ["table1/row1", "running-example", "narrow/1e-3", "appendix-f", "hard/gamma"],
        ["hard/pareto", "hard/circle", "hard/banana", "hard/beta-3", "hard/discrete-continuous",
         "hard/modes-in-p", "hard/heavy-10", "same/1"],
        [normals(2, 0.5), normals(8, 0.8), normals(12, 1.0), normals(4, 1.5, 2.0),
         students(3, 2, 2.0), students(6, 4, 1.0)],
        [margins("beta 2,5 and 5,2", ("beta", 2.0, 5.0), ("beta", 5.0, 2.0), 2),
         margins("gamma 5, 8", ("gamma", 5.0), ("gamma", 8.0), 3), modes(2.0, 1.0, 3)],
    ),
}  # fmt: skip


def cases(which: str) -> Iterator[Case]:
    """The fits of one set, in order."""
    report = which == "report"
    seed = 9000 if report else 100

    def case(kind: str, pair: Pair, rows: int, model: Any, queries: str = "") -> Case:
        nonlocal seed
        seed += 1
        return Case(kind, pair, rows, model, seed, queries)

    first, second, third, fourth = GOOD[which]
    for pair in [*map(load, first), *map(load, second), *third, *fourth]:
        yield case("default", pair, 2000, default)

    # BDRE far apart, and close by where it is right; rivals between.
    for d, shift in ((1, 0.6), (4, 0.5), (1, 25.0), (2, 9.0), (10, 4.0)) if report else (
        (2, 0.5), (1, 15.0), (5, 5.0)):  # fmt: skip
        yield case("chasm, BDRE", normals(d, shift), 1000, binary)
    for d, shift in ((1, 20.0), (3, 8.0), (8, 0.4)) if report else ((2, 10.0), (6, 0.5)):
        yield case("no auxiliary", normals(d, shift), 1000, bare)
    for d, shift in ((1, 30.0), (2, 20.0), (4, 1.0)) if report else ((1, 22.0), (3, 1.0)):
        yield case("one auxiliary", normals(d, shift), 1000, one_mixture)
    for d, shift in ((1, 7.0), (2, 5.0)) if report else ((1, 6.0),):
        yield case("five auxiliaries", normals(d, shift), 1000, many_mixtures)
    for d, shift in ((2, 1.0), (3, 4.0)) if report else ((2, 3.0), (4, 1.0)):
        yield case("kernel", normals(d, shift), 1000, kernel)
    for d, shift in ((2, 6.0),) if report else ((3, 5.0),):
        yield case("telescope", normals(d, shift), 1000, telescope)

    # A family that is wrong for the samples.
    wrong = (
        [modes(4.0, 0.0, 2), modes(3.0, 8.0, 1), students(2, 3, 2.0), students(3, 1, 12.0),
         margins("gamma 3, 60", ("gamma", 3.0), ("gamma", 60.0)),
         margins("lognormal 0.8", ("lognorm", 0.8), ("lognorm", 0.8, 0.0, 3.0), 2),
         load("hard/banana"), load("hard/circle"), load("hard/gamma")]
        if report
        else [modes(3.0, 0.0, 3), modes(2.5, 6.0, 1), students(2, 2, 3.0), students(4, 1, 15.0),
              margins("gamma 2, 40", ("gamma", 2.0), ("gamma", 40.0)), load("hard/ring"),
              load("hard/cube-5")]
    )  # fmt: skip
    for pair in wrong:
        yield case("wrong family", pair, 2000, two_normals)
    gammas = (4.0, 80.0) if report else (3.0, 50.0)
    far = margins(f"gamma {gammas[0]:g}, {gammas[1]:g}", *(("gamma", a) for a in gammas))
    yield case("wrong family", far, 2000, default)
    for rho, d in ((0.9, 2), (0.8, 6)) if report else ((0.85, 4),):
        pair = Pair(f"correlated {rho:g}, {d}-d", Gaussian(0.0, 1.0, rho, d), Gaussian(0.0, dim=d))
        yield case("wrong critic", pair, 2000, diagonal)

    # Few rows, alone and for many columns.
    for rows, d, shift in (
        ((25, 1, 1.0), (40, 4, 0.6), (60, 2, 0.5), (80, 1, 6.0), (150, 2, 3.0), (250, 60, 0.5),
         (300, 40, 0.3), (400, 8, 0.28), (400, 8, 0.2))
        if report
        else ((30, 2, 1.0), (50, 8, 0.6), (100, 15, 0.6), (150, 1, 4.0), (300, 50, 0.4),
              (400, 8, 0.25))
    ):  # fmt: skip
        yield case("few rows", normals(d, shift), rows, default)
    for df, rows in ((1.5, 100), (1.0, 400), (2.0, 1000)) if report else ((1.2, 150), (1.5, 600)):
        yield case("heavy tails", students(df, 2, 2.0), rows, default)

    # Rows to ask about: of both samples; between them; beyond them.
    asked = (
        [(margins("gamma 3, 8", ("gamma", 3.0), ("gamma", 8.0)), "inside"),
         (margins("gamma 3, 8", ("gamma", 3.0), ("gamma", 8.0)), "far"),
         (students(4, 2, 2.0), "inside"), (normals(3, 1.0, 1.3), "inside"),
         (margins("Laplace", ("laplace", 0.0), ("laplace", 1.5), 2), "inside"),
         (margins("Laplace", ("laplace", 0.0), ("laplace", 1.5), 2), "far"),
         (margins("logistic", ("logistic", 0.0), ("logistic", 3.0, 1.5), 1), "far"),
         (modes(3.0, 1.0, 2), "inside"), (modes(3.0, 1.0, 2), "far")]
        if report
        else [(margins("gamma 4, 9", ("gamma", 4.0), ("gamma", 9.0)), "inside"),
              (margins("gamma 4, 9", ("gamma", 4.0), ("gamma", 9.0)), "far"),
              (students(3, 3, 1.5), "inside"), (students(3, 3, 1.5), "far")]
    )  # fmt: skip
    for pair, where in asked:
        yield case("queries", pair, 2000, default, where)


def queries(case: Case, p: np.ndarray, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows to ask about: fresh ones of both samples, or ones four times as far out."""
    fresh = np.concatenate([case.pair.p.sample(200, rng), case.pair.q.sample(200, rng)])
    if case.queries == "inside":
        return fresh
    centre = np.median(np.concatenate([p, q]), axis=0)
    if (np.concatenate([p, q]) > 0).all():
        return np.asarray(fresh * 4.0)
    return np.asarray(centre + 4.0 * (fresh - centre))
