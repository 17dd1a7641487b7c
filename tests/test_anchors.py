"""Anchors: densities that integrate, fits that recover, and a choice that needs no truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

from isthmus import MDRE, stack
from isthmus.anchors import AutoAnchor, GaussianAnchor, MixtureAnchor, StudentTAnchor
from isthmus.auxiliaries import Bridge

ANCHORS = {
    "gaussian": GaussianAnchor(),
    "diagonal": GaussianAnchor("diagonal"),
    "student-t": StudentTAnchor(),
    "mixture": MixtureAnchor(3),
    "auto": AutoAnchor(),
}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", ANCHORS)
def test_density_integrates_to_one(name, rng):
    X = rng.normal(0.5, 1.5, (400, 1))
    anchor = ANCHORS[name].fit(X)
    x = np.linspace(-400, 400, 400_001)
    mass = np.trapezoid(np.exp(anchor.score_samples(x[:, None])), x)
    # A t of some hundred degrees of freedom leaves nothing outside this interval.
    assert mass == pytest.approx(1.0, abs=1e-4)


def test_gaussian_is_maximum_likelihood_in_one_dimension(rng):
    X = rng.normal(3.0, 2.0, (500, 1))
    expected = stats.norm(X.mean(), X.std()).logpdf(X[:, 0])
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


def test_weights_count_as_repetition(rng):
    X, weight = rng.standard_t(4, (300, 2)), rng.integers(1, 4, 300)
    for anchor in (GaussianAnchor(), StudentTAnchor()):
        weighted = anchor.fit(X, sample_weight=weight.astype(float)).score_samples(X[:50])
        repeated = anchor.fit(np.repeat(X, weight, axis=0)).score_samples(X[:50])
        np.testing.assert_allclose(weighted, repeated, rtol=1e-3)


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
    assert anchor.choice_.startswith(family), anchor.scores_
    assert anchor.scores_[anchor.choice_] >= anchor.scores_["gaussian"]


def test_few_rows_and_narrow_directions_do_no_harm(rng):
    narrow = GaussianAnchor().fit(rng.normal(size=(1000, 2)) * [1.0, 1e-6])
    assert narrow.cholesky_[1, 1] == pytest.approx(1e-6, rel=0.1)
    for anchor in ANCHORS.values():
        few = anchor.fit(rng.normal(size=(6, 8)))
        assert np.isfinite(few.score_samples(rng.normal(size=(5, 8)))).all()


@pytest.mark.parametrize(
    "anchor", ["gaussian", "student-t", "mixture", "auto", GaussianMixture(2), KernelDensity()]
)
def test_every_anchor_serves_mdre(anchor, rng):
    X, y = stack(rng.normal(0, 1, (1500, 1)), rng.normal(1, 1, (1500, 1)))
    mdre = MDRE(anchor=anchor, random_state=0).fit(X, y)
    x = np.array([[-1.0], [0.5], [2.0]])
    # True log-ratio 0.5 - x; the slope's standard error at this size is near 0.04.
    np.testing.assert_allclose(mdre.log_ratio(x), 0.5 - x[:, 0], atol=0.3)


def test_modes_need_the_right_anchor():
    # A ring of four narrow modes against a wide normal: covariances say almost nothing.
    centres, width, n = 2.0 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]), 0.3, 8000
    rng = np.random.default_rng(3)
    p = centres[rng.integers(0, 4, n)] + width * rng.normal(size=(n, 2))
    q = 2.0 * rng.normal(size=(n, 2))
    parts = [stats.norm(c, width).logpdf(p).sum(axis=1) for c in centres]
    log_p = np.logaddexp.reduce(parts) - np.log(4)
    truth = log_p - stats.norm(0, 2).logpdf(p).sum(axis=1)
    X, y = stack(p, q)
    plain = MDRE(random_state=0).fit(X, y).log_ratio(p).mean()
    bridge = Bridge(anchor="auto")
    fitted = MDRE(bridge, anchor="auto", random_state=0).fit(X, y).log_ratio(p).mean()
    assert plain < 0.3 * truth.mean()
    # The fit has some tens of parameters: a bias of that order over n, and noise below 1 %.
    assert fitted == pytest.approx(truth.mean(), rel=0.03)


def test_heavy_tails_need_the_right_anchor():
    rng = np.random.default_rng(4)
    p, q = rng.standard_cauchy(8000), rng.standard_cauchy(8000) + 2.0
    truth = np.log(1 + (p - 2.0) ** 2) - np.log(1 + p**2)
    X, y = stack(p, q)
    mdre = MDRE(Bridge(anchor="student-t"), anchor="student-t", random_state=0).fit(X, y)
    # The mean log-ratio over these rows; KL is log 2.
    assert mdre.log_ratio(X[y == 1]).mean() == pytest.approx(truth.mean(), abs=0.05)
