"""Truths by every method, against brute force that shares no code with them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from isthmus import problems
from isthmus.problems import Gaussian, Mixture, StudentT, TruncatedNormal, truths

LOC = np.array([0.3, -1.0, 2.0, 0.0, 0.5])
SCALE = np.array([0.5, 1.0, 2.0, 1.5, 0.7])
RHO = np.array([0.8, -0.4])


def _brute_force(p: object, q: object) -> float:
    def integrand(x: float) -> float:
        log_p = p.logpdf(x)
        return np.exp(log_p) * (log_p - q.logpdf(x))

    return integrate.quad(integrand, -np.inf, np.inf, epsabs=1e-12, limit=500)[0]


def test_gaussians_in_general_position() -> None:
    p, q = Gaussian(LOC, SCALE, RHO), Gaussian(-LOC, SCALE[::-1], [0.1, 0.6])
    S, T, delta = p.scatter.matrix(), q.scatter.matrix(), p.loc - q.loc
    inverse = np.linalg.inv(T)
    logs = np.linalg.slogdet(T)[1] - np.linalg.slogdet(S)[1]
    expected = 0.5 * (np.trace(inverse @ S) + delta @ inverse @ delta - 5 + logs)
    assert truths.gaussians(p, q).kl == pytest.approx(expected, rel=1e-12)
    assert truths.gaussians(p, p).kl == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("df_p", [1.5, 5.0, np.inf])
@pytest.mark.parametrize("df_q", [0.7, 5.0, 30.0])
def test_student_t_in_one_dimension(df_p: float, df_q: float) -> None:
    # `inf` stands for the normal.
    if np.isinf(df_p):
        p, reference = Gaussian(0.5, 1.3), stats.norm(0.5, 1.3)
    else:
        p, reference = StudentT(df_p, 0.5, 1.3), stats.t(df_p, 0.5, 1.3)
    truth = truths.to_student_t(p, StudentT(df_q, -1.0, 0.8))
    assert truth.kl == pytest.approx(_brute_force(reference, stats.t(df_q, -1.0, 0.8)), abs=1e-8)
    assert truth.by == "quadrature" and truth.std_error == 0


@pytest.mark.parametrize(
    "p",
    [Gaussian(LOC, SCALE, RHO), StudentT(4.0, LOC, SCALE, RHO), StudentT(9.0, LOC, SCALE, RHO)],
)
def test_student_t_against_monte_carlo(p: Gaussian) -> None:
    # An odd dimension, unlike scales, unlike correlations, unlike degrees.
    q = StudentT(6.0, -LOC, SCALE[::-1], [0.1, 0.6])
    estimate = truths.MonteCarlo(200_000, seed=1)(p, q)
    assert abs(truths.to_student_t(p, q).kl - estimate.kl) < 4 * estimate.std_error
    assert estimate.std_error < 0.02


def test_student_t_of_many_degrees_is_normal() -> None:
    p, q = Gaussian(LOC, SCALE, RHO), Gaussian(-LOC, SCALE[::-1], [0.1, 0.6])
    heavy_p, heavy_q = StudentT(1e7, LOC, SCALE, RHO), StudentT(1e7, -LOC, SCALE[::-1], [0.1, 0.6])
    expected = truths.gaussians(p, q).kl
    assert truths.to_student_t(heavy_p, heavy_q).kl == pytest.approx(expected, rel=1e-4)
    assert truths.to_student_t(p, heavy_q).kl == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", ["table3/row4", "table3/row7-as-printed", "table3/row8"])
def test_paper_student_t_rows_by_two_numbers_per_pair(name: str) -> None:
    """The same truths sampled in another way.

    In the directions where both scatters are diagonal the squared distances are
    sums of noncentral chi-squares, so that a row takes a handful of numbers and
    not hundreds and a million rows take no time.
    """
    problem = problems.load(name)
    p, q = problem.p, problem.q
    rng = np.random.default_rng(7)
    n, half = 1_000_000, problem.dim // 2
    rho = p.scatter.rho[0]
    shift = (p.loc - q.loc).reshape(-1, 2)
    g = rng.chisquare(p.df, n) / p.df if isinstance(p, StudentT) else np.ones(n)
    distance_p = distance_q = np.zeros(n)
    for sign, variance in ((1, 1 + rho), (-1, 1 - rho)):
        m = (shift[:, 0] + sign * shift[:, 1]) / np.sqrt(2)
        # Rotated so that the whole shift lies along one of the `half` directions.
        along, across = rng.standard_normal(n), rng.chisquare(half - 1, n)
        distance_p = distance_p + (along**2 + across) / g
        moved = np.linalg.norm(m) + np.sqrt(variance / g) * along
        distance_q = distance_q + moved**2 + variance * across / g
    if isinstance(p, StudentT):
        log_p = p.log_constant - 0.5 * (p.df + p.dim) * np.log1p(distance_p / p.df)
    else:
        log_p = -0.5 * (distance_p + p.dim * np.log(2 * np.pi) + p.scatter.log_det)
    ratios = log_p - q.log_constant + 0.5 * (q.df + q.dim) * np.log1p(distance_q / q.df)
    error = ratios.std() / np.sqrt(n)
    assert abs(ratios.mean() - problem.kl) < 4 * error < 0.15


@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.9, 0.1)])
@pytest.mark.parametrize("gap", [0.1, 3.0, 20.0])
def test_two_gaussians_in_one_dimension(weights: tuple[float, float], gap: float) -> None:
    p, q = Gaussian(0.4, 0.7), Mixture([Gaussian(-gap, 1.5), Gaussian(gap, 1.5)], weights)

    def integrand(x: float) -> float:
        log_p = stats.norm.logpdf(x, 0.4, 0.7)
        log_q = np.logaddexp(*(np.log(weights) + stats.norm.logpdf(x, [-gap, gap], 1.5)))
        return np.exp(log_p) * (log_p - log_q)

    expected, _ = integrate.quad(integrand, -7, 8, points=[0.0], epsabs=1e-11, limit=500)
    assert truths.to_two_gaussians(p, q).kl == pytest.approx(expected, rel=1e-9)


def test_two_gaussians_against_monte_carlo() -> None:
    p = Gaussian(LOC, SCALE, RHO)
    parts = [Gaussian(loc, SCALE[::-1], [0.1, 0.6]) for loc in (np.zeros(5), 2 * LOC)]
    q = Mixture(parts, [0.3, 0.7])
    estimate = truths.MonteCarlo(200_000, seed=2)(p, q)
    assert abs(truths.to_two_gaussians(p, q).kl - estimate.kl) < 4 * estimate.std_error
    assert estimate.std_error < 0.02


def test_intervals() -> None:
    p, q = TruncatedNormal(0, 1, -1, 1), TruncatedNormal(0.5, 2, -1, 3)
    a, b = stats.truncnorm(-1, 1), stats.truncnorm(-0.75, 1.25, 0.5, 2)
    expected, _ = integrate.quad(lambda x: a.pdf(x) * (a.logpdf(x) - b.logpdf(x)), -1, 1)
    assert truths.on_intervals(p, q).kl == pytest.approx(expected, rel=1e-9)
    assert truths.on_intervals(q, p).kl == np.inf
    # A hole in q under p, though p's ends lie within q's.
    hole = Mixture([TruncatedNormal(0, 1, -2, -0.1), TruncatedNormal(0, 1, 0.1, 2)])
    assert truths.on_intervals(p, hole).kl == np.inf


def test_monte_carlo_is_chunked_and_repeatable() -> None:
    p, q = Gaussian(0.0, dim=3), Gaussian(1.0, dim=3)
    whole = truths.MonteCarlo(1000)(p, q)
    assert whole == truths.MonteCarlo(1000)(p, q)
    # Chunks of 100 rows draw the same normals in the same order.
    np.testing.assert_allclose(truths.MonteCarlo(1000, chunk=300)(p, q)[:2], whole[:2], rtol=1e-12)
    assert whole.std_error == pytest.approx(np.sqrt(3 / 1000), rel=0.1)
    assert whole != truths.MonteCarlo(1000, seed=1)(p, q)


def test_mismatched_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="q must be a mixture of two Gaussians; received"):
        truths.to_two_gaussians(Gaussian(0.0), Mixture([Gaussian(0.0)] * 3))
    with pytest.raises(ValueError, match="share one covariance"):
        truths.to_two_gaussians(Gaussian(0.0), Mixture([Gaussian(0.0), Gaussian(0.0, 2.0)]))
    with pytest.raises(ValueError, match="finite supports; received"):
        truths.on_intervals(TruncatedNormal(0, 1), TruncatedNormal(0, 1, 0, 1))
    with pytest.raises(ValueError, match="n must be at least 2; received 1"):
        truths.MonteCarlo(1)
