"""Samplers and densities of the distributions, against scipy and against each other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special, stats

from isthmus.problems import (
    Distribution,
    Gaussian,
    Margin,
    Mixture,
    Product,
    Rotated,
    StudentT,
    TruncatedNormal,
    Warped,
    correlation_for,
)
from isthmus.problems.elliptical import PairedScatter
from isthmus.problems.maps import EXP, SINH
from isthmus.problems.transformed import Curved, Ring, orthogonal

LOC = np.array([0.3, -1.0, 2.0, 0.0, 0.5])
SCALE = np.array([0.5, 1.0, 2.0, 1.5, 0.7])
RHO = np.array([0.8, -0.4])

DISTRIBUTIONS = {
    "gaussian": Gaussian(LOC, SCALE, RHO),
    "gaussian 1-d": Gaussian(-1.0, 0.1),
    "student-t": StudentT(7.0, LOC, SCALE, RHO),
    "student-t 1-d": StudentT(3.0, 0.5, 2.0),
    "truncated": TruncatedNormal(1.0, 0.2, -1.1, 1.2),
    "truncated tail": TruncatedNormal(0.0, 1.0, 30.0, 31.0),
    "truncated left": TruncatedNormal(0.0, 1.0, high=-5.0),
    "untruncated": TruncatedNormal(0.0, 1.0),
    "mixture": Mixture([Gaussian(LOC), StudentT(4.0, -LOC)], [1.0, 3.0]),
    "mixture 1-d": Mixture(
        [TruncatedNormal(-1, 0.2, -1.2, -0.8), TruncatedNormal(1, 0.2, 0.8, 1.2)]
    ),
    "margin": Margin("gamma", 2.0),
    "product": Product([Margin("expon"), Gaussian(LOC, SCALE, RHO)]),
    "warped 1-d": Warped(Gaussian(0.0, 0.5), [EXP]),
    "warped": Warped(Gaussian(0.0, rho=0.5, dim=2), [EXP, SINH]),
    "rotated": Rotated(Gaussian(LOC, SCALE, RHO), orthogonal(5, 1)),
    "curved": Curved(Gaussian([0.0, -1.0], [1.5, 0.4]), 0.5),
    "ring": Ring(Margin("gamma", 225.0, 0.0, 1 / 75)),
}
ONE_DIMENSIONAL = [name for name, each in DISTRIBUTIONS.items() if each.dim == 1]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_rows_and_densities_have_their_shape_and_seeds_are_kept(name: str) -> None:
    distribution = DISTRIBUTIONS[name]
    assert isinstance(distribution, Distribution)
    x = distribution.sample(9, 5)
    assert x.shape == (9, distribution.dim) and x.dtype == np.float64
    np.testing.assert_array_equal(x, distribution.sample(9, 5))
    assert distribution.sample(0, 5).shape == (0, distribution.dim)
    assert np.isfinite(distribution.log_density(x)).all()
    with pytest.raises(ValueError, match="x must have shape"):
        distribution.log_density(np.zeros((2, distribution.dim + 1)))
    with pytest.raises(ValueError, match="n must be an integer"):
        distribution.sample(-1, 5)


@pytest.mark.parametrize("name", ONE_DIMENSIONAL)
def test_densities_integrate_to_one(name: str) -> None:
    distribution = DISTRIBUTIONS[name]
    # Quadrature must see every bump and jump: cut at quantiles and ends of the support.
    cuts = np.quantile(distribution.sample(2000, 0), np.linspace(0, 1, 21))
    edges = np.ravel(getattr(distribution, "support", (-np.inf, np.inf)))
    ends = np.unique(np.concatenate([edges, cuts]))
    total = sum(
        integrate.quad(lambda x: np.exp(distribution.log_density([x])[0]), a, b, limit=200)[0]
        for a, b in pairwise(ends)
    )
    assert total == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", ONE_DIMENSIONAL)
def test_samples_follow_the_density(name: str) -> None:
    # The probability below a threshold, by quadrature and as a frequency.
    distribution = DISTRIBUTIONS[name]
    x = distribution.sample(20_000, 1)
    for threshold in np.quantile(x, [0.1, 0.5, 0.8]):
        low = x.min() - 20 * (threshold - x.min())
        mass, _ = integrate.quad(
            lambda t: np.exp(distribution.log_density([t])[0]),
            low,
            threshold,
            points=np.quantile(x, [0.001, 0.01, 0.05, 0.3]),
            limit=500,
        )
        frequency = np.mean(x < threshold)
        # 4 binomial standard errors, and what of the t's tail lies below `low`.
        assert abs(mass - frequency) < 4 * np.sqrt(0.25 / len(x)) + 1e-3


def test_gaussian_moments_and_shape() -> None:
    x = DISTRIBUTIONS["gaussian"].sample(100_000, 2)
    covariance = np.diag(SCALE**2)
    covariance[0, 1] = covariance[1, 0] = 0.8 * SCALE[0] * SCALE[1]
    covariance[2, 3] = covariance[3, 2] = -0.4 * SCALE[2] * SCALE[3]
    unit = SCALE[:, None] * SCALE
    # Entries of the scaled covariance have standard error at most sqrt(2/n) = .0045.
    np.testing.assert_allclose(np.cov(x.T) / unit, covariance / unit, atol=0.02)
    np.testing.assert_allclose((x.mean(axis=0) - LOC) / SCALE, 0, atol=0.015)
    np.testing.assert_allclose(DISTRIBUTIONS["gaussian"].scatter.matrix(), covariance, rtol=1e-14)
    distance = np.einsum("ij,ij->i", (x - LOC) @ np.linalg.inv(covariance), x - LOC)
    assert stats.kstest(distance, stats.chi2(5).cdf).pvalue > 1e-3


def test_student_t_shares_one_chi_square_per_row() -> None:
    t = DISTRIBUTIONS["student-t"]
    x = t.sample(100_000, 3)
    # distance / dim follows F(dim, df); independent coordinates would not.
    precision = np.linalg.inv(t.scatter.matrix())
    distance = np.einsum("ij,ij->i", (x - LOC) @ precision, x - LOC)
    assert stats.kstest(distance / 5, stats.f(5, 7).cdf).pvalue > 1e-3
    correlation = np.corrcoef(x.T)[[0, 2], [1, 3]]
    np.testing.assert_allclose(correlation, RHO, atol=0.03)


def test_rows_are_independent() -> None:
    for name, distribution in DISTRIBUTIONS.items():
        x = distribution.sample(20_000, 4)[:, 0]
        ranks = stats.rankdata(x)
        lagged = np.corrcoef(ranks[:-1], ranks[1:])[0, 1]
        assert abs(lagged) < 4 / np.sqrt(len(x)), name


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("df", [1.0, 5.0, 20.0])
def test_student_t_density(dim: int, df: float) -> None:
    t = StudentT(df, LOC[:dim], SCALE[:dim], RHO[: dim // 2])
    x = t.sample(20, 0)
    expected = stats.multivariate_t(t.loc, t.scatter.matrix(), df).logpdf(x)
    np.testing.assert_allclose(t.log_density(x), expected, rtol=1e-12)
    entropy = stats.multivariate_t(t.loc, t.scatter.matrix(), df).entropy()
    assert t.entropy == pytest.approx(entropy, rel=1e-8)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_gaussian_density(dim: int) -> None:
    normal = Gaussian(LOC[:dim], SCALE[:dim], RHO[: dim // 2])
    reference = stats.multivariate_normal(normal.loc, normal.scatter.matrix())
    x = normal.sample(20, 0)
    np.testing.assert_allclose(normal.log_density(x), reference.logpdf(x), rtol=1e-12)
    assert normal.entropy == pytest.approx(reference.entropy(), rel=1e-12)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (Gaussian(0.2, rho=0.5, dim=4), Gaussian(0.0, 1.2, dim=4)),
        (StudentT(5.0, 0.2, rho=0.5, dim=4), StudentT(4.0, 0.0, 1.2, dim=4)),
        (Gaussian(0.2, rho=0.5, dim=4), StudentT(5.0, 0.0, dim=4)),
        (Gaussian(0.0, dim=4), Mixture([Gaussian(-0.3, dim=4), StudentT(3.0, 0.3, dim=4)])),
    ],
)
def test_ratio_has_mean_one_under_q(p: Gaussian, q: Gaussian) -> None:
    # q is the wider, so the ratio is bounded or nearly and 4 standard errors mean something.
    x = q.sample(100_000, 5)
    ratio = np.exp(p.log_density(x) - q.log_density(x))
    error = ratio.std() / np.sqrt(len(ratio))
    assert abs(ratio.mean() - 1) < 4 * error < 0.05


def test_mixture_weights() -> None:
    mixture = Mixture([Gaussian(-10.0), Gaussian(10.0)], [1.0, 3.0])
    x = mixture.sample(10_000, 0)
    assert abs(np.mean(x > 0) - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 10_000)
    expected = np.log(0.75) + stats.norm(10, 1).logpdf(10.5)
    np.testing.assert_allclose(mixture.log_density([10.5]), expected, rtol=1e-12)


class TestTruncated:
    @pytest.mark.parametrize(
        ("low", "high"),
        [(-1, 2), (30, 31), (-31, -30), (5, np.inf), (-np.inf, -38), (-2, 50), (8, 9), (1e4, 1e5)],
    )
    def test_density_far_into_the_tails(self, low: float, high: float) -> None:
        # Near the end of the support nearest zero, x = edge + s has mass
        # exp(-edge^2/2) * integral of exp(-edge s - s^2/2): no cancellation.
        edge = 0.0 if low < 0 < high else min(abs(low), abs(high))
        near, far = sorted(np.abs([low, high])) if edge else (low, high)
        decay = max(edge, 1.0)
        scaled, _ = integrate.quad(
            lambda s: np.exp(-(edge * s + s**2 / 2)),
            near - edge,
            min(far - edge, 60 / decay),
            epsabs=0,
            epsrel=1e-12,
            limit=500,
        )
        log_mass = np.log(scaled) - edge**2 / 2 - 0.5 * np.log(2 * np.pi)
        assert TruncatedNormal(0, 1, low, high).log_mass == pytest.approx(log_mass, rel=1e-10)

    @pytest.mark.parametrize("centre", [0.0, 1.0, -20.0, 40.0])
    @pytest.mark.parametrize("width", [1e-5, 1e-8, 1e-11])
    def test_short_intervals_do_not_cancel(self, centre: float, width: float) -> None:
        narrow = TruncatedNormal(0, 1, centre - width / 2, centre + width / 2)
        width = narrow.high - narrow.low
        # The density at the middle times the width, and the next term of the series.
        correction = np.log1p((centre**2 - 1) * width**2 / 24)
        expected = stats.norm.logpdf(centre) + np.log(width) + correction
        assert narrow.log_mass == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize(
        ("low", "high"), [(-1, 2), (30, 31), (-31, -30), (5, np.inf), (1e4, 2e4), (2, 2.001)]
    )
    def test_samples_far_into_the_tails(self, low: float, high: float) -> None:
        distribution = TruncatedNormal(3.0, 2.0, 3 + 2 * low, 3 + 2 * high)
        x = distribution.sample(20_000, 0)[:, 0]
        assert (x >= distribution.low).all() and (x <= distribution.high).all()
        assert np.isfinite(distribution.log_density(x)).all()
        # A coarse inverse would repeat values.
        assert len(np.unique(x)) > 19_900
        z = (x - 3) / 2
        # (Phi(z) - Phi(a)) / (Phi(b) - Phi(a)) in the left tail, where b has the mass.
        sign = -1 if low > 0 else 1
        a, b = sorted([sign * low, sign * high])
        log_a, log_b, log_z = (special.log_ndtr(v) for v in (a, b, sign * z))
        u = np.exp(log_z - log_b) * np.expm1(log_a - log_z) / np.expm1(log_a - log_b)
        assert stats.kstest(u, "uniform").pvalue > 1e-3

    def test_edges(self) -> None:
        distribution = TruncatedNormal(-1, 0.1, -1.1, -0.9)
        inside = distribution.log_density([-1.1, -0.9])
        assert np.isfinite(inside).all()
        outside = distribution.log_density([np.nextafter(-1.1, -2), np.nextafter(-0.9, 0)])
        np.testing.assert_array_equal(outside, [-np.inf, -np.inf])


def test_whitening_undoes_colouring() -> None:
    scatter = PairedScatter(5, SCALE, RHO)
    z = np.random.default_rng(0).standard_normal((10, 5))
    np.testing.assert_allclose(scatter.whiten(scatter.colour(z)), z, rtol=1e-12)
    assert scatter.log_det == pytest.approx(np.linalg.slogdet(scatter.matrix())[1], rel=1e-12)


def test_parameters_cannot_be_changed_under_a_cached_truth() -> None:
    with pytest.raises(ValueError, match="read-only"):
        DISTRIBUTIONS["gaussian"].loc[0] = 5.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(np.zeros((2, 2))), "loc must be a scalar or have shape"),
        (lambda: Gaussian(np.zeros(3), dim=4), r"shape \(4,\); received \(3,\)"),
        (lambda: Gaussian(np.nan), "loc must be finite; received nan"),
        (lambda: Gaussian(0.0, 0.0), "scale must be finite and above 0; received 0.0"),
        (lambda: Gaussian(0.0, [1.0, 2.0]), r"scale must be .* \(1,\); received \(2,\)"),
        (lambda: Gaussian(0.0, rho=1.0, dim=2), "rho must lie strictly .* received 1.0"),
        (lambda: StudentT(0.0, 0.0), r"df must be a number in \(0.* received 0.0"),
        (lambda: StudentT(np.inf, 0.0), "df must be a number"),
        (lambda: TruncatedNormal(0, 1, 2, 1), "low must be below high; received low=2"),
        (lambda: TruncatedNormal(0, -1, 0, 1), "scale must be a number"),
        (lambda: TruncatedNormal(np.inf, 1, 0, 1), "loc must be finite"),
        (lambda: Mixture([]), "at least one distribution"),
        (lambda: Mixture([Gaussian(0.0), Gaussian(0.0, dim=2)]), r"one dim; received \[1, 2\]"),
        (lambda: Mixture([Gaussian(0.0)], [0.0]), "weights must be 1 finite numbers above 0"),
        (lambda: correlation_for(-1.0, 40), "information must be at least 0; received -1.0"),
    ],
)
def test_errors_name_the_parameter(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
