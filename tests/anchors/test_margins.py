"""Margins by formulas, alone and joined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isthmus.anchors import CopulaAnchor
from isthmus.anchors.copula import source_axes
from isthmus.anchors.margins import KINDS, LAWS, Margin, fit_margins

CASES = {
    "normal": Margin("normal", 0.3, 1.2),
    "logistic": Margin("logistic", 0.3, 1.2),
    "laplace": Margin("laplace", 0.3, 1.2),
    "gumbel": Margin("gumbel", 0.3, 1.2),
    "low gumbel": Margin("low gumbel", 0.3, 1.2),
    "student-t": Margin("student-t", 0.3, 1.2, (5.0,)),
    "power, wide": Margin("power", 0.3, 1.2, (0.4,)),
    "power, narrow": Margin("power", 0.3, 1.2, (1.7,)),
    "two rates": Margin("two rates", 0.3, 1.2, (0.5, 2.0)),
    "two rates, narrow": Margin("two rates", 0.3, 1.2, (12.0, 18.0)),
}
SCIPYS = {
    "logistic": stats.logistic(0.3, 1.2),
    "laplace": stats.laplace(0.3, 1.2 / np.sqrt(2)),
    "gumbel": stats.gumbel_r(0.3, 1.2),
    "low gumbel": stats.gumbel_l(0.3, 1.2),
    "student-t": stats.t(5, 0.3, 1.2),
}


def test_every_law_has_a_case():
    assert {margin.law for margin in CASES.values()} == set(LAWS)


@pytest.fixture(params=CASES)
def margin(request):
    return CASES[request.param]


def test_density_integrates_to_one(margin):
    x = np.linspace(-300, 300, 1_200_001)
    # A t of five degrees of freedom leaves 1e-11 outside; the rule errs by the square of the step.
    assert np.trapezoid(np.exp(margin.log_density(x)), x) == pytest.approx(1.0, abs=1e-6)


def test_scores_are_normal_and_come_back(margin):
    z = np.linspace(-12, 12, 601)
    x = margin.inverse(z)
    np.testing.assert_allclose(margin(x), z, atol=1e-6)
    assert (np.diff(x) > 0).all()
    z, log_slope = margin.evaluate(x)
    np.testing.assert_allclose(
        log_slope + stats.norm.logpdf(z), margin.log_density(x), rtol=1e-8, atol=1e-8
    )


def test_the_slope_is_that_of_the_scores(margin):
    x = np.linspace(-4.03, 4.07, 50)
    step = 1e-5
    slope = (margin(x + step) - margin(x - step)) / (2 * step)
    np.testing.assert_allclose(np.log(slope), margin.evaluate(x)[1], atol=1e-5)


def test_far_out_everything_is_finite(margin):
    with np.errstate(all="raise", under="ignore"):
        z, log_slope = margin.evaluate(np.array([-1e4, -300.0, 300.0, 1e4]))
        back = margin.inverse(np.array([-50.0, 50.0]))
    assert np.isfinite(z).all() and np.isfinite(log_slope).all() and np.isfinite(back).all()


@pytest.mark.parametrize("law", SCIPYS)
def test_laws_are_those_of_scipy(law):
    x = np.linspace(-9, 9, 37)
    np.testing.assert_allclose(CASES[law].log_density(x), SCIPYS[law].logpdf(x), rtol=1e-10)


def test_maximum_likelihood_finds_the_parameters(margin):
    truth = [margin.centre, np.log(margin.scale), *np.log(margin.shape)]
    if margin.law == "two rates" and min(margin.shape) > 5:
        pytest.skip("Near a normal only combinations of its parameters are known.")
    found = []
    for seed in range(8):
        x = margin.inverse(np.random.default_rng(seed).normal(size=2000))
        fit = fit_margins(x, np.full(2000, 1 / 2000), 2000, {"own": [margin.law]})["own"]
        found.append([fit.centre, np.log(fit.scale), *np.log(fit.shape)])
    error = np.std(found, axis=0, ddof=1) / np.sqrt(8)
    # Eight fits tell the standard error to a quarter; four of these, and .02 for a bias.
    assert (np.abs(np.mean(found, axis=0) - truth) < 4 * error + 0.02).all()


@pytest.mark.parametrize("law", ["normal", "logistic", "laplace", "gumbel", "student-t"])
def test_the_law_of_many_rows_is_recognised(law, rng):
    x = CASES[law].inverse(rng.normal(size=20_000))
    share = np.full(len(x), 1 / len(x))
    assert fit_margins(x, share, len(x), KINDS)["families"].law == law


class TestJoined:
    def test_independent_columns_have_no_correlation(self, rng):
        fit = CopulaAnchor("columns", "exponential").fit(rng.logistic(size=(1000, 3)))
        np.testing.assert_array_equal(fit.component_.base.cholesky, np.eye(3))

    def test_correlation_is_found(self, rng):
        z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 2000)
        margin = Margin("logistic", 0.0, 1.0)
        fit = CopulaAnchor("columns", ["logistic"]).fit(margin.inverse(z.ravel()).reshape(z.shape))
        # Its standard error is (1 - .36) / sqrt(2000) = .014.
        root = fit.component_.base.cholesky
        assert (root @ root.T)[0, 1] == pytest.approx(0.6, abs=0.06)

    def test_density_of_two_columns_integrates_to_one(self, rng):
        X = rng.laplace(size=(500, 2)) @ np.array([[1.0, 0.4], [-0.3, 1.0]])
        fit = CopulaAnchor("independent", "exponential").fit(X)
        grid = np.linspace(-25, 25, 1001)
        at = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
        mass = np.exp(fit.score_samples(at)).sum() * 0.05**2
        # Kinks of Laplace margins across a grid of step .05.
        assert mass == pytest.approx(1.0, abs=2e-3)

    def test_sources_do_not_depend_on_the_first_row(self, rng):
        # Exactly uncorrelated columns, of equal variance, with a first row of zeros.
        X = rng.laplace(size=(1500, 4))
        X[0] = 0.0
        X -= X.mean(axis=0)
        values, vectors = np.linalg.eigh(X.T @ X / len(X))
        X = X @ (vectors / np.sqrt(values))
        S = X @ source_axes(X)
        np.testing.assert_allclose(np.corrcoef(S.T), np.eye(4), atol=1e-6)

    @pytest.mark.parametrize("margins", ["cauchy", ["normal", "cauchy"]])
    def test_unknown_laws_are_named(self, margins, rng):
        with pytest.raises(ValueError, match="margins must be"):
            CopulaAnchor("columns", margins).fit(rng.normal(size=(50, 2)))
