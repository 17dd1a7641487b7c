"""The hard problems: their truths are known, and two fitted normals do not find them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

from isthmus import problems
from isthmus.problems import Gaussian, Margin, Mixture, Point, Product, Rotated, Warped, truths
from isthmus.problems.maps import CUBIC, EXP, SINH, quantile, wiggle
from isthmus.problems.transformed import orthogonal
from isthmus.problems.truths import Stored, by_label, exact

HARD = problems.names("hard/")
SAME = problems.names("same/")
# Where the ratio has a small variance under the side named, so that its mean there is one.
UNDER_Q = ["gamma", "cauchy", "ring", "circle", "banana", "discrete-continuous", "lognormal-5"]
UNDER_P = ["cauchy", "pareto", "zero-inflated", "cube-5", "modes-50"]


def plug_in(p: np.ndarray, q: np.ndarray) -> float:
    """KL between the normals with the moments of two samples."""
    (m, S), (n, T) = ((x.mean(axis=0), np.atleast_2d(np.cov(x.T))) for x in (p, q))
    logs = np.linalg.slogdet(T)[1] - np.linalg.slogdet(S)[1]
    return 0.5 * (np.trace(np.linalg.solve(T, S + np.outer(m - n, m - n))) - len(m) + logs)


def test_they_are_many_and_small_and_large() -> None:
    assert len(HARD) >= 20
    dims = [problems.load(name).dim for name in HARD]
    assert (min(dims), max(dims)) == (1, 50)
    assert [problems.load(name).dim for name in SAME] == [1, 10, 100]


@pytest.mark.parametrize("name", HARD)
def test_two_fitted_normals_are_wrong_by_more_than_a_fifth(name: str) -> None:
    problem = problems.load(name)
    p, q = problem.sample_p(50_000, 0), problem.sample_q(50_000, 0)
    assert np.isfinite(q).all()
    assert abs(plug_in(p, q) - problem.kl) > 0.2 * problem.kl


@pytest.mark.parametrize(
    ("name", "sign"), [(name, 1) for name in UNDER_Q] + [(name, -1) for name in UNDER_P]
)
def test_ratio_has_mean_one(name: str, sign: int) -> None:
    problem = problems.load(f"hard/{name}")
    x = problem.sample_q(100_000, 1) if sign > 0 else problem.sample_p(100_000, 1)
    ratio = np.exp(sign * problem.log_ratio(x))
    error = ratio.std() / np.sqrt(len(ratio))
    assert abs(ratio.mean() - 1) < 4 * error < 0.2


@pytest.mark.parametrize("name", ["modes-in-p", "modes-in-both-10"])
def test_stored_truths_are_found_again(name: str) -> None:
    problem = problems.load(f"hard/{name}")
    assert isinstance(problem.truth, Stored) and problem.truth.n >= 1_000_000
    again = truths.MonteCarlo(300_000, seed=1)(problem.p, problem.q)
    assert abs(again.kl - problem.kl) < 4 * np.hypot(again.std_error, problem.kl_std_error)
    assert problem.kl_std_error < 1e-3


def beta(a: float, b: float, c: float, d: float) -> float:
    constants = special.betaln(c, d) - special.betaln(a, b)
    ends = (a - c) * special.psi(a) + (b - d) * special.psi(b)
    return float(constants + ends + (c - a + d - b) * special.psi(a + b))


def banana() -> float:
    # Entropy is that of the straight normal; against a normal only moments count.
    entropy = 1 + np.log(2 * np.pi) + np.log(1.5 * 0.4)
    mean, variance = -1 + 0.5 * 1.5**2, 0.4**2 + 0.25 * 2 * 1.5**4
    distance = (1.5**2 + 0.5**2) / 2.0**2 + (variance + mean**2) / 2.5**2
    return float(np.log(2 * np.pi * 2.0 * 2.5) + 0.5 * distance - entropy)


def circle() -> float:
    law = stats.gamma(225, 0, 1 / 75)
    log_radius = special.psi(225) - np.log(75)
    entropy = law.entropy() + np.log(2 * np.pi) + log_radius
    distance = (law.var() + 9 + 1) / 4
    return float(np.log(2 * np.pi * 4) + 0.5 * distance - entropy)


def laplace() -> float:
    variance = np.linspace(1.2, 1.9, 20) ** 2
    each = 0.5 * np.log(2 * np.pi * variance) + (2 + 0.09) / (2 * variance) - 1 - np.log(2)
    return float(each.sum())


def pareto() -> float:
    p, q = stats.lomax(1.5), stats.lognorm(1)

    def integrand(s: float) -> float:
        return p.pdf(np.exp(s)) * np.exp(s) * (p.logpdf(np.exp(s)) - q.logpdf(np.exp(s)))

    return float(integrate.quad(integrand, -40, 60, points=[0], limit=500)[0])


def zero_inflated() -> float:
    p, q = np.array([0.4, 0.2, 0.1, 0.3]), np.array([0.1, 0.2, 0.3, 0.4])
    first = 0.5 * np.log(3) ** 2
    second = 2 * (1 / 2.5 - 1 + np.log(2.5))
    return float(p @ np.log(p / q) + (p[1] + p[3]) * first + (p[2] + p[3]) * second)


@pytest.mark.parametrize(
    ("name", "kl"),
    [
        ("gamma", np.log(24) - 3 * special.psi(2)),
        ("cauchy", np.log(20 / 4)),
        ("pareto", pareto()),
        ("circle", circle()),
        ("banana", banana()),
        ("zero-inflated", zero_inflated()),
        ("beta-3", 3 * beta(2, 5, 5, 1.5)),
        ("laplace-20", laplace()),
        ("warped-40", 20.0),
    ],
)
def test_truths_by_other_means(name: str, kl: float) -> None:
    assert problems.load(f"hard/{name}").kl == pytest.approx(kl, rel=1e-8)


@pytest.mark.parametrize("name", SAME)
def test_equal_sides(name: str) -> None:
    problem = problems.load(name)
    p, q = problem.sample_p(1000, 0), problem.sample_q(1000, 0)
    assert problem.kl == 0
    assert not np.array_equal(p, q)
    assert not problem.log_ratio(p).any()


@pytest.mark.parametrize(
    "increasing", [CUBIC, EXP, SINH, wiggle(0.8), quantile(Margin("gamma", 2.0))]
)
def test_maps(increasing: object) -> None:
    z = np.linspace(-6, 6, 101)
    x = increasing.forward(z)
    assert (np.diff(x) > 0).all()
    np.testing.assert_allclose(increasing.inverse(x), z, atol=1e-9)
    slope = (increasing.forward(z + 1e-5) - increasing.forward(z - 1e-5)) / 2e-5
    np.testing.assert_allclose(np.exp(increasing.log_slope(z, x)), slope, rtol=1e-5)


def test_a_copula_keeps_its_margins() -> None:
    q = problems.load("hard/skew-20").sample_q(5000, 0)
    for column, law in enumerate((stats.gamma(2, 0, 0.7), stats.gumbel_r(0.5), stats.expon(0, 3))):
        assert stats.kstest(q[:, column], law.cdf).pvalue > 1e-3
    assert stats.spearmanr(q[:, 0], q[:, 1])[0] < -0.2


def test_a_copula_of_normal_margins_is_the_normal() -> None:
    base = Gaussian(0.0, rho=0.6, dim=2)
    maps = [quantile(Margin("norm", 1.0, 2.0)), quantile(Margin("norm", -1.0, 0.5))]
    normal = Gaussian([1.0, -1.0], [2.0, 0.5], 0.6)
    x = normal.sample(100, 0)
    np.testing.assert_allclose(Warped(base, maps).log_density(x), normal.log_density(x), rtol=1e-9)
    assert exact(Warped(base, maps), normal).kl == pytest.approx(0, abs=1e-10)


def test_points_and_parts() -> None:
    mixed = Product([Point(2.0), Margin("expon")])
    x = mixed.sample(10, 0)
    assert (x[:, 0] == 2).all()
    np.testing.assert_allclose(mixed.log_density(x), -x[:, 1])
    assert mixed.log_density([[1.0, 1.0]]) == -np.inf
    assert exact(Point(1.0), Point(1.0)).kl == 0
    assert exact(Point(1.0), Point(2.0)).kl == np.inf


def test_a_count_and_what_depends_on_it() -> None:
    problem = problems.load("hard/discrete-continuous")
    p = problem.sample_p(20_000, 0)
    share = np.bincount(p[:, 0].astype(int)) / len(p)
    np.testing.assert_allclose(share, [0.4, 0.3, 0.2, 0.1], atol=0.02)
    assert [p[p[:, 0] == k, 2].std() for k in range(4)] == pytest.approx([0.5, 1, 1.5, 2], rel=0.1)
    assert np.isnan(problem.log_ratio(np.full((1, 4), 0.5))).all()


def test_labels_weigh_their_parts() -> None:
    p = Mixture([Product([Point(k), Gaussian(0.0)]) for k in range(2)], [0.25, 0.75])
    q = Mixture([Product([Point(k), Gaussian(2.0 * k)]) for k in range(2)])
    expected = 0.25 * np.log(0.5) + 0.75 * (np.log(1.5) + 2.0)
    assert by_label(p, q).kl == pytest.approx(expected)
    assert by_label(p, q).by == "closed form"


def test_rotations_are_rotations() -> None:
    Q = orthogonal(5, 0)
    np.testing.assert_allclose(Q @ Q.T, np.eye(5), atol=1e-12)
    p, q = Gaussian(0.0, dim=5), Gaussian(1.0, dim=5)
    assert exact(Rotated(p, Q), Rotated(q, Q)).kl == pytest.approx(2.5)


def test_pairs_without_a_truth_are_refused() -> None:
    with pytest.raises(TypeError, match="no quadrature for Product"):
        exact(Product([Gaussian(0.0)]), Gaussian(0.0))
    with pytest.raises(TypeError, match="at most two columns; received 3"):
        exact(Gaussian(0.0, dim=3), Mixture([Gaussian(0.0, dim=3)]))
