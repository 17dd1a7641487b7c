"""Anchors: densities that integrate, fits that recover, and a choice that needs no truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isthmus import MDRE, stack
from isthmus.anchors import (
    AutoAnchor,
    CopulaAnchor,
    GaussianAnchor,
    MixtureAnchor,
    StudentTAnchor,
)
from isthmus.anchors.elliptical import noise_correction
from isthmus.anchors.truncated import TruncatedAnchor
from isthmus.auxiliaries import Bridge
from isthmus.maps.coordinates import Surroundings

# What is learned on top of an anchor is a matter of other tests.
STIFF = {
    "auxiliaries": "bridge",
    "maps": None,
    "critic": "quadratic",
    "l2": 10.0,
    "random_state": 0,
}


def test_gaussian_is_maximum_likelihood_but_for_the_noise_in_one_dimension(rng):
    n = 500
    X = rng.normal(3.0, 2.0, (n, 1))
    # One over a variance from n rows is too large by n / (n - 3).
    expected = stats.norm(X.mean(), X.std() * np.sqrt(n / (n - 3))).logpdf(X[:, 0])
    np.testing.assert_allclose(GaussianAnchor().fit(X).score_samples(X), expected, rtol=1e-10)


@pytest.mark.parametrize("df", [2.0, 5.0])
def test_student_t_recovers_its_parameters(df, rng):
    A = np.array([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 0.3, 0.5]])
    n = 20_000
    X = stats.multivariate_t([1.0, -2.0, 0.0], A @ A.T, df).rvs(n, random_state=1)
    anchor = StudentTAnchor().fit(X)
    # The information on log df at these sizes puts its standard error near 2 %; five of them.
    assert abs(np.log(anchor.df_ / df)) < 0.1
    (component,) = anchor.components_
    # Location and scale have standard errors near 1/sqrt(n) = 0.7 % of the spread.
    np.testing.assert_allclose(component.mean, [1.0, -2.0, 0.0], atol=0.05)
    np.testing.assert_allclose(component.cholesky @ component.cholesky.T, A @ A.T, atol=0.06)


def test_auto_is_not_misled_by_one_outlier(rng):
    # The mean gain over the normal has no standard error here: its rows reach a million nats.
    anchor = AutoAnchor().fit(rng.standard_cauchy((4000, 1)))
    assert anchor.choice_ == "student-t", anchor.scores_


@pytest.mark.parametrize("family", ["gaussian", "student-t", "mixture"])
def test_auto_chooses_the_family_of_the_data(family, rng):
    n = 4000
    X = {
        "gaussian": rng.normal(size=(n, 2)),
        "student-t": rng.normal(size=(n, 2)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3),
        "mixture": rng.normal(size=(n, 2)) * 0.3 + 3.0 * rng.integers(0, 2, (n, 1)),
    }[family]
    anchor = AutoAnchor().fit(X)
    name = "2 normals" if family == "mixture" else family
    assert anchor.choice_.startswith(name), anchor.scores_
    assert anchor.scores_[anchor.choice_] >= anchor.scores_["gaussian"]


def test_a_narrow_direction_stays_narrow(rng):
    narrow = GaussianAnchor().fit(rng.normal(size=(1000, 2)) * [1.0, 1e-6])
    assert narrow.component_.cholesky[1, 1] == pytest.approx(1e-6, rel=0.1)


def test_modes_need_the_right_anchor():
    # A ring of four narrow modes against a wide normal: covariances say almost nothing.
    centres, width, n = 2.0 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]), 0.3, 2000
    rng = np.random.default_rng(3)
    p = centres[rng.integers(0, 4, n)] + width * rng.normal(size=(n, 2))
    q = 2.0 * rng.normal(size=(n, 2))
    parts = [stats.norm(c, width).logpdf(p).sum(axis=1) for c in centres]
    log_p = np.logaddexp.reduce(parts) - np.log(4)
    truth = log_p - stats.norm(0, 2).logpdf(p).sum(axis=1)
    X, y = stack(p, q)
    plain = MDRE(anchor="gaussian", **STIFF).fit(X, y).log_ratio(p).mean()
    four = MDRE(anchor=("mixture", "gaussian"), **STIFF).fit(X, y).log_ratio(p).mean()
    assert plain < 0.3 * truth.mean()
    # Rows of p under a fit of k = 28 parameters to these rows: biased by k / 2n = 0.4 %, and
    # as noisy as sqrt(k / 2) / n; that of q, by the rows of p, adds about 1 %.
    assert four == pytest.approx(truth.mean(), rel=0.03)


def test_heavy_tails_need_the_right_anchor():
    rng = np.random.default_rng(4)
    p, q = rng.standard_cauchy(8000), rng.standard_cauchy(8000) + 2.0
    truth = np.log(1 + (p - 2.0) ** 2) - np.log(1 + p**2)
    X, y = stack(p, q)
    mdre = MDRE(**{**STIFF, "auxiliaries": Bridge(anchor="student-t")}, anchor="student-t").fit(
        X, y
    )
    # The mean log-ratio over these rows; KL is log 2.
    assert mdre.log_ratio(X[y == 1]).mean() == pytest.approx(truth.mean(), abs=0.05)


def test_the_log_density_of_a_normal_is_unbiased():
    # By many samples of 40 rows in five columns, at points near and far.
    d, n, times = 5, 40, 400
    rng = np.random.default_rng(5)
    root = np.tril(rng.normal(size=(d, d))) / 2 + np.eye(d)
    points = np.array([[0.0] * d, [1.0] * d, [3.0, -3.0, 3.0, 0.0, 3.0]]) @ root.T
    truth = stats.multivariate_normal(np.zeros(d), root @ root.T).logpdf(points)
    fitted, plain = [], []
    for _ in range(times):
        X = rng.normal(size=(n, d)) @ root.T
        anchor = GaussianAnchor().fit(X)
        fitted.append(anchor.score_samples(points) - anchor.bias_)
        moments = stats.multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True))
        plain.append(moments.logpdf(points))
    for values, unbiased in ((fitted, True), (plain, False)):
        error = np.std(values, axis=0) / np.sqrt(times)
        score = np.abs(np.mean(values, axis=0) - truth) / error
        # Three points: beyond four standard errors by chance with a probability of 2e-4.
        assert (score < 4).all() == unbiased, score
    assert np.mean(plain, axis=0)[2] < truth[2] - 1.0


def test_the_correction_is_a_density_and_vanishes_with_many_rows():
    anchor = GaussianAnchor().fit(np.random.default_rng(0).normal(size=(30, 1)))
    x = np.linspace(-20, 20, 20_001)[:, None]
    mass = np.trapezoid(np.exp(anchor.score_samples(x)), x[:, 0])
    assert mass == pytest.approx(1.0, abs=1e-9)
    assert anchor.bias_ != 0.0
    assert noise_correction(np.inf, 7) == (1.0, 0.0)
    factor, constant = noise_correction(1e9, 7)
    assert abs(factor - 1) < 1e-7
    assert abs(constant) < 1e-7
    # Too few rows for the expectation to exist: shrunk, not corrected.
    few = GaussianAnchor().fit(np.random.default_rng(0).normal(size=(12, 8)))
    assert np.isinf(few.component_.rows)
    assert few.shrinkage_ > 0


@pytest.mark.parametrize("seen", [True, False], ids=["towards the other", "alone"])
def test_two_modes_on_a_line_in_sixty_dimensions(seen, rng):
    d, n, gap = 60, 1000, 4.0
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)

    def sample(size):
        side = np.where(rng.random(size) < 0.5, -gap, gap)
        return rng.normal(size=(size, d)) + side[:, None] * direction

    X, new = sample(n), sample(1000)
    around = Surroundings(None, 10.0 * direction[None]) if seen else None
    anchor = MixtureAnchor(2, "line").fit(X, surroundings=around)
    where = np.sort([part.mean @ direction for part in anchor.components_])
    # Each is the mean of about 500 rows of unit variance.
    np.testing.assert_allclose(where, [-gap, gap], atol=4 / np.sqrt(500))
    gain = anchor.score_samples(new) - GaussianAnchor().fit(X).score_samples(new)
    assert gain.mean() > 4 * gain.std() / np.sqrt(len(new))
    # Half of the log of the variance that the modes explain, less the log of two: 0.7 nats.
    truth = 0.5 * np.log(1 + gap**2) - np.log(2)
    assert gain.mean() == pytest.approx(truth, abs=4 * gain.std() / np.sqrt(len(new)) + 0.05)


@pytest.mark.parametrize("edges", ["below", "above", "both"])
def test_truncated_recovers_the_normal_before_it_was_cut(edges):
    mean, sd, n = 1.0, 2.0, 5000
    cut = {"below": (0.0, np.inf), "above": (-np.inf, 2.0), "both": (-1.0, 4.0)}[edges]
    a, b = ((np.array(cut) - mean) / sd).tolist()
    truth = stats.truncnorm(a, b, mean, sd)
    X = truth.rvs((n, 1), random_state=3)
    anchor = TruncatedAnchor(edges).fit(X)
    u = (X[:, 0] - anchor.centre_) / anchor.scale_
    # Slope and curvature are the parameters of an exponential family: the inverse of the
    # covariance of its statistics is that of their estimates, times n.
    error = np.sqrt(np.diag(np.linalg.inv(np.cov(u, u**2))) / n)
    expected = [
        anchor.scale_ * (mean - anchor.centre_) / sd**2,
        -0.5 * anchor.scale_**2 / sd**2,
    ]
    score = (np.array([anchor.slope_, anchor.curvature_]) - expected) / error
    assert np.abs(score).max() < 4
    # Edges lie within a few spacings of the true ones.
    for edge, value in zip((anchor.low_, anchor.high_), cut, strict=True):
        found = anchor.centre_ + anchor.scale_ * edge
        if np.isinf(value):
            assert found == value
        else:
            assert abs(found - value) < 10 / (n * truth.pdf(value))
    x = np.linspace(-12, 14, 2_000_001)
    mass = np.trapezoid(np.exp(anchor.score_samples(x[:, None])), x)
    # What lies past the edges is the layer, one row in n at each.
    assert mass == pytest.approx(1.0, abs=4 / n)


def test_copula_integrates_to_one(rng):
    for X in (rng.gamma(2.0, 1.0, (500, 1)), rng.standard_t(3, (500, 1))):
        anchor = CopulaAnchor().fit(X)
        x = np.linspace(-400, 400, 800_001)
        mass = np.trapezoid(np.exp(anchor.score_samples(x[:, None])), x)
        assert mass == pytest.approx(1.0, abs=2e-3)


def held_out_gain(anchor, other, X, new):
    gain = anchor.fit(X).score_samples(new) - other.fit(X).score_samples(new)
    return gain.mean() / (gain.std() / np.sqrt(len(gain)))


def test_copula_is_better_than_a_normal_on_skewed_margins(rng):
    # Dependent columns, each a gamma: a normal copula is the truth.
    def sample(n):
        z = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], n)
        return stats.gamma(2.0).ppf(stats.norm.cdf(z))

    X, new = sample(1000), sample(1000)
    assert held_out_gain(CopulaAnchor(), GaussianAnchor(), X, new) > 4


def test_independent_sources_are_better_than_a_normal_on_rotated_laplace_columns(rng):
    mixing = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    X, new = rng.laplace(size=(3000, 8)) @ mixing, rng.laplace(size=(1000, 8)) @ mixing
    assert held_out_gain(CopulaAnchor("independent"), GaussianAnchor(), X, new) > 4
    # Sums of eight Laplace variables are nearly normal: these axes see less.
    assert held_out_gain(CopulaAnchor("independent"), CopulaAnchor("canonical"), X, new) > 4


def test_anchors_may_differ_for_p_and_q(rng):
    X, y = stack(rng.standard_t(3, (500, 1)), rng.normal(1.0, 1.0, (500, 1)))
    mdre = MDRE(anchor=("student-t", "gaussian"), **STIFF).fit(X, y)
    assert [type(anchor) for anchor in mdre.anchors_] == [StudentTAnchor, GaussianAnchor]
