"""What every anchor promises."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import cumulative_trapezoid
from sklearn.base import clone

from isthmus import MDRE, stack
from isthmus.anchors import GaussianAnchor, StudentTAnchor, bias_of, has_influence
from isthmus.typing import Anchor

# A t of few degrees of freedom leaves less than 1e-6 outside this interval.
LINE = np.linspace(-400, 400, 400_001)


def test_density_integrates_to_one(line_anchor, rng):
    fitted = line_anchor.fit(rng.normal(0.5, 1.5, (400, 1)))
    mass = np.trapezoid(np.exp(fitted.score_samples(LINE[:, None])), LINE)
    # Past an edge lies one row in 400, at each, of which about half is counted.
    assert mass == pytest.approx(1.0, abs=4 / 400 if hasattr(fitted, "edges") else 1e-4)


def cdf_of(component):
    """Distribution function of a component, by quadrature: x = tan(u) makes tails finite."""
    u = np.linspace(-np.pi / 2, np.pi / 2, 100_001)[1:-1]
    density = np.exp(component.log_density(np.tan(u)[:, None])) * (1 + np.tan(u) ** 2)
    cdf = np.concatenate([[0.0], cumulative_trapezoid(density, u)])
    assert cdf[-1] == pytest.approx(1.0, abs=1e-3)
    return lambda t: np.interp(np.arctan(t), u, cdf)


def test_components_are_drawn_from_their_density(anchor, rng):
    X = np.concatenate([rng.gamma(2.0, 1.0, (400, 1)), rng.normal(-4.0, 0.5, (400, 1))])
    for component in anchor.fit(X).components_:
        exact = component.exact(1.0, component.df)
        rows = exact.sample(4000, np.random.default_rng(1))[:, 0]
        assert stats.kstest(rows, cdf_of(exact)).pvalue > 1e-3


def test_the_density_is_that_of_the_components(anchor, rng):
    X = rng.standard_t(5, (500, 2))
    fitted = anchor.fit(X)
    parts = [np.log(part.share) + part.log_density(X) for part in fitted.components_]
    np.testing.assert_allclose(fitted.score_samples(X), np.logaddexp.reduce(parts), rtol=1e-12)
    assert sum(part.share for part in fitted.components_) == pytest.approx(1.0, rel=1e-12)
    bias = sum(part.share * part.bias for part in fitted.components_)
    assert bias_of(fitted) == pytest.approx(bias, rel=1e-12)


def test_few_rows_do_no_harm(anchor, rng):
    few = anchor.fit(rng.normal(size=(6, 8)))
    assert np.isfinite(few.score_samples(rng.normal(size=(5, 8)))).all()


def test_weights_count_as_repetition(anchor, rng):
    X, weight = rng.standard_t(4, (900, 2)), rng.integers(1, 4, 900)
    weighted = clone(anchor).fit(X, sample_weight=weight.astype(float)).score_samples(X)
    repeated = clone(anchor).fit(np.repeat(X, weight, axis=0)).score_samples(X)
    gap = np.abs(weighted - repeated)
    if isinstance(anchor, GaussianAnchor | StudentTAnchor):
        np.testing.assert_allclose(weighted, repeated, rtol=1e-3)
    # EM and the quantile maps see other rows of the same distribution.
    assert np.median(gap) < 0.1


@pytest.mark.parametrize("kind", [GaussianAnchor, StudentTAnchor])
def test_an_affine_map_moves_the_density(kind, rng):
    X = rng.standard_t(5, (500, 3))
    A, b = np.eye(3) + 0.5 * rng.normal(size=(3, 3)), rng.normal(size=3)
    here, there = kind().fit(X).score_samples(X), kind().fit(X @ A + b).score_samples(X @ A + b)
    # Outliers are pulled in column by column, which an affine map may change a little.
    np.testing.assert_allclose(there + np.linalg.slogdet(A)[1], here, atol=0.02)


def test_pickle_and_clone(anchor, rng):
    X = rng.normal(size=(300, 2))
    fitted = anchor.fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.score_samples(X), fitted.score_samples(X))
    fresh = clone(fitted)
    assert repr(fresh) == repr(fitted)
    assert vars(fresh).keys() == fresh.get_params(deep=False).keys()


def test_it_is_an_anchor(any_anchor):
    assert isinstance(any_anchor, Anchor)
    assert has_influence(any_anchor) == isinstance(any_anchor, GaussianAnchor)


def test_every_anchor_serves_mdre(any_anchor, rng):
    X, y = stack(rng.normal(0, 1, (1500, 1)), rng.normal(1, 1, (1500, 1)))
    # What is learned on top of an anchor is a matter of other tests.
    stiff = {"auxiliaries": "bridge", "maps": None, "critic": "quadratic", "l2": 10.0}
    mdre = MDRE(anchor=any_anchor, **stiff, oversample=3, random_state=0).fit(X, y)
    x = np.array([[-1.0], [0.5], [2.0]])
    # True log-ratio 0.5 - x; the slope's standard error at this size is near 0.04.
    np.testing.assert_allclose(mdre.log_ratio(x), 0.5 - x[:, 0], atol=0.3)
