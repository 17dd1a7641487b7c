"""The problems "wild/...": their truths are found again by other means."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import special, stats

from isthmus import problems
from isthmus.problems import truths
from isthmus.problems.truths import Stored
from isthmus.problems.wild import Thinned, Wild
from isthmus.problems.wild.counts import answers
from isthmus.problems.wild.distributions import Archimedean, Population

NAMES = problems.names("wild/")
PROBLEMS = {name: problems.load(name) for name in NAMES}
TABLES = [name for name in NAMES if PROBLEMS[name].finite]
STORED = [name for name in NAMES if isinstance(PROBLEMS[name].truth, Stored)]
KINDS = {"tables", "sparse", "edges", "curves", "counts", "chasms", "few rows", "nulls"}
# Where the ratio, or its inverse, has a small variance under the other side.
UNDER_Q = [
    *("one-of-100-mean", "one-of-100-shape", "product-2-of-50", "correlation-2-of-30"),
    *("three-of-200", "l-shape", "checkerboard", "triangle", "ball-in-cube", "disc-in-square"),
    *("box-in-box", "overlapping-boxes", "truncated-exponentials", "spiral-in-normal"),
    *("thin-rings", "wave", "sine-mean", "clayton", "gumbel-copula", "poisson", "rare-counts"),
    *("hurdle", "composition", "survey", "zero-one-columns", "level-and-amount", "modes-30"),
    *("whole-numbers", "small-shift"),
    *("normals-20", "normals-40", "wide-60", "skewed-50", "heavy-80"),
]
UNDER_P = ["one-of-100-scale", "one-of-100-mean", "poisson", "survey", "skewed-50", "clayton"]


def test_there_are_many_of_each_kind() -> None:
    assert all(isinstance(problem, Wild) for problem in PROBLEMS.values())
    kinds = [problem.kind for problem in PROBLEMS.values()]
    assert set(kinds) == KINDS
    assert all(kinds.count(kind) >= 5 for kind in KINDS) and kinds.count("nulls") == 10
    assert len({problem.description for problem in PROBLEMS.values()}) == len(NAMES) >= 40


def test_importing_them_reads_no_table() -> None:
    code = "import isthmus.problems, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "isthmus.problems.wild.tables" in run.stdout.split()
    assert not {"sklearn.datasets", "pandas", "statsmodels"} & set(run.stdout.split())


@pytest.mark.parametrize("name", NAMES)
def test_draws(name: str) -> None:
    problem = PROBLEMS[name]
    p, q = problem.samples(3)
    again, other = problem.samples(3), problem.samples(4)
    np.testing.assert_array_equal(p, again[0])
    np.testing.assert_array_equal(q, again[1])
    assert not np.array_equal(q, other[1])
    assert q.shape == (problem.n_q, problem.dim) and p.shape[1] == problem.dim
    assert min(len(p), len(q)) >= 10
    if not problem.finite:
        assert len(p) == problem.n_p
    assert np.isfinite(problem.log_ratio(p)).all()
    assert not np.isnan(problem.log_ratio(q)).any()


@pytest.mark.parametrize(
    ("name", "sign"), [(name, 1) for name in UNDER_Q] + [(name, -1) for name in UNDER_P]
)
def test_ratio_has_mean_one(name: str, sign: int) -> None:
    # Four standard errors of a mean of 100,000 rows; the seed is fixed and not chosen.
    problem = PROBLEMS[f"wild/{name}"]
    x = problem.sample_q(100_000, 2) if sign > 0 else problem.sample_p(100_000, 2)
    ratio = np.exp(sign * problem.log_ratio(x))
    error = ratio.std() / np.sqrt(len(ratio))
    assert abs(ratio.mean() - 1) < 4 * error < 0.15


@pytest.mark.parametrize("name", STORED)
def test_stored_truths_are_found_again(name: str) -> None:
    problem = PROBLEMS[name]
    assert problem.truth.n >= 1_000_000
    assert problem.kl_std_error < 0.005 * problem.kl
    again = truths.MonteCarlo(50_000, seed=1)(problem.p, problem.q)
    assert abs(again.kl - problem.kl) < 4 * np.hypot(again.std_error, problem.kl_std_error)


class TestTables:
    @pytest.mark.parametrize("name", TABLES)
    def test_truth_is_a_finite_sum(self, name: str) -> None:
        problem = PROBLEMS[name]
        rows, keep = problem.p.rows, problem.p.raw
        assert isinstance(problem, Thinned) and (keep > 0).all() and (keep <= 1).all()
        ratio = keep / keep.mean()
        # A row that comes twice is kept with one probability: it depends on its columns only.
        np.testing.assert_allclose(problem.log_ratio(rows), np.log(ratio), atol=1e-12)
        assert problem.kl == pytest.approx(np.mean(ratio * np.log(ratio)), abs=1e-12)
        assert problem.kl > 0.1 or problem.kind == "nulls"

    @pytest.mark.parametrize("name", TABLES)
    def test_draws_are_disjoint_rows(self, name: str) -> None:
        problem = PROBLEMS[name]
        table = [row.tobytes() for row in problem.p.rows]
        drawn = [row.tobytes() for x in problem.samples(0) for row in x]
        assert all(drawn.count(row) <= table.count(row) for row in set(drawn))
        assert len(drawn) <= len(table)

    def test_draws_have_the_weights_that_are_told(self) -> None:
        # Over 400 draws a row is in q half of the time and in p with half its probability: the
        # mean square of 569 standardised counts is one, within four times sqrt(2 / 569).
        problem = PROBLEMS["wild/breast-cancer-linear"]
        place = {row.tobytes(): k for k, row in enumerate(problem.p.rows)}
        counts = np.zeros((2, len(place)))
        sizes = []
        for seed in range(400):
            drawn = problem.samples(seed)
            sizes.append(len(drawn[0]))
            for count, x in zip(counts, drawn, strict=True):
                count[[place[row.tobytes()] for row in x]] += 1
        for count, chance in zip(counts, (0.5 * problem.p.raw, 0.5), strict=True):
            z = (count - 400 * chance) / np.sqrt(400 * chance * (1 - chance))
            assert abs(np.mean(z**2) - 1) < 4 * math.sqrt(2 / 569)
        # The number of rows of p: four standard errors of a mean of 400.
        assert abs(np.mean(sizes) - problem.n_p) < 4 * np.std(sizes) / 20 + 0.5

    def test_a_row_that_comes_twice_counts_twice(self) -> None:
        twice = Population([[1.0, -0.0], [1.0, 0.0], [2.0, 0.0]], [1.0, 1.0, 2.0])
        assert np.exp(twice.log_density([[1.0, 0.0], [2.0, -0.0]])).tolist() == [0.5, 0.5]


class TestTruths:
    def test_wave(self) -> None:
        # The mean of (1 + a sin) log(1 + a sin) over whole periods.
        root = math.sqrt(1 - 0.95**2)
        expected = math.log((1 + root) / 2) + 1 - root
        assert PROBLEMS["wild/wave"].kl == pytest.approx(expected, abs=1e-9)

    def test_heteroscedastic(self) -> None:
        # x is uniform on [-2, 2] and has mean zero; the variance exp(2 x) has mean sinh(4) / 4.
        expected = math.log(1.6) - 0.5 + math.sinh(4) / 4 / (2 * 1.6**2)
        assert PROBLEMS["wild/heteroscedastic"].kl == pytest.approx(expected, abs=1e-9)

    def test_sine_mean(self) -> None:
        # E sin^2(2.5 x) for a normal x of standard deviation 1.2 is (1 - exp(-2 * 9)) / 2.
        square = (1 - math.exp(-2 * (2.5 * 1.2) ** 2)) / 2
        expected = math.log(0.85 / 0.4) - 0.5 + (0.4**2 + square) / (2 * 0.85**2)
        assert PROBLEMS["wild/sine-mean"].kl == pytest.approx(expected, abs=1e-9)

    def test_poisson_against_negative_binomial(self) -> None:
        k = np.arange(200)
        expected = 0.0
        for m in (1.0, 3.0, 6.0, 12.0):
            log_p = k * math.log(m) - m - special.gammaln(k + 1)
            log_q = special.gammaln(k + 3) - special.gammaln(3) - special.gammaln(k + 1)
            log_q += 3 * math.log(3 / (3 + m)) + k * math.log(m / (3 + m))
            expected += float(np.exp(log_p) @ (log_p - log_q))
        assert PROBLEMS["wild/poisson"].kl == pytest.approx(expected, abs=1e-10)

    def test_laplace_sources(self) -> None:
        # KL of Laplace(m, b) from Laplace(n, c): log(c/b) - 1 + (|m - n| + b exp(-|m-n|/b)) / c.
        each = math.log(0.9 / 0.6) - 1 + (4 + 0.6 * math.exp(-4 / 0.6)) / 0.9
        assert PROBLEMS["wild/laplace-sources"].kl == pytest.approx(8 * each, rel=1e-6)

    def test_gumbel_columns(self) -> None:
        # KL of Gumbel(m, b) from Gumbel(n, c), by its known moments.
        m, b, c = 6.0, 0.6, 0.9
        gamma = -special.psi(1)
        each = math.log(c / b) + gamma * (b / c - 1) - 1 + m / c
        each += math.exp(-m / c) * special.gamma(1 + b / c)
        assert PROBLEMS["wild/gumbel-columns"].kl == pytest.approx(3 * each, rel=1e-6)

    def test_small_shift(self) -> None:
        assert PROBLEMS["wild/small-shift"].kl == pytest.approx(15 * 0.1**2 / 2)

    def test_whole_numbers(self) -> None:
        # Rounding loses a twelfth of the squared step times half the mean square, under p, of the
        # slope of log p/q, which is .06 - .045 z at 6 + 8 z; further terms are far smaller.
        normals = math.log(10 / 8) - 0.5 + (8**2 + 6**2) / (2 * 10**2)
        lost = (0.06**2 + 0.045**2) / 24
        assert PROBLEMS["wild/whole-numbers"].kl == pytest.approx(2 * (normals - lost), abs=1e-5)

    def test_chasms_are_wide(self) -> None:
        wide = [problem.kl for problem in PROBLEMS.values() if problem.kind == "chasms"]
        assert min(wide) > 4 and 50 < max(wide) < 90

    def test_nulls_are_zero(self) -> None:
        for name in problems.names("wild/null-"):
            problem = PROBLEMS[name]
            assert problem.kind == "nulls" and abs(problem.kl) < 1e-15
            assert np.abs(problem.log_ratio(problem.sample_p(500, 0))).max() < 1e-12

    def test_answers_are_a_normal_pair_cut_into_levels(self) -> None:
        rng = np.random.default_rng(0)
        z = rng.multivariate_normal([0.4, 0.4], [[1, 0.3], [0.3, 1]], 200_000)
        levels = 1 + np.digitize(z, [-1.2, -0.4, 0.4, 1.2])
        share = np.bincount(5 * (levels[:, 0] - 1) + levels[:, 1] - 1, minlength=25) / len(z)
        told = answers(0.4, 0.3).weights
        # Four standard errors of each share.
        assert (np.abs(share - told) < 4 * np.sqrt(told / len(z))).all()


@pytest.mark.parametrize(("family", "theta", "tau"), [("clayton", 2, 0.5), ("gumbel", 2.5, 0.6)])
def test_copulas_have_normal_margins_and_their_rank_correlation(
    family: str, theta: float, tau: float
) -> None:
    x = Archimedean(family, theta).sample(20_000, 0)
    for column in x.T:
        assert stats.kstest(column, "norm").pvalue > 1e-3
    # The standard error of Kendall's tau is below 2 sqrt(1 - tau^2) / (3 sqrt n) times two.
    assert abs(stats.kendalltau(*x.T)[0] - tau) < 0.02


def test_an_unknown_copula_is_refused() -> None:
    with pytest.raises(ValueError, match=r"family must be 'clayton' or 'gumbel'; received 'frank'"):
        Archimedean("frank", 2.0)
