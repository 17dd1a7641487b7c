"""The ratios that mutual information chooses from: one dictionary, and what all have in common."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma

from isthmus.data.holdout import random_folds
from isthmus.information.conditional import ConditionalRatio
from isthmus.information.copulas import (
    GaussianRatio,
    Independence,
    StudentRatio,
    gaussian_information,
    normal_log_ratio,
)
from isthmus.information.evaluation import evaluate, lower_bound
from isthmus.information.marginal import Marginal
from isthmus.information.mixtures import InlierRatio, MixtureRatio, fit_normals
from isthmus.information.neighbours import NeighbourRatio, ksg_terms
from isthmus.information.nonlinear import NonlinearRatio, feature_sets
from isthmus.information.warped import WarpedRatio

N, RHO = 4000, 0.6
TRUTH = -0.5 * np.log1p(-(RHO**2))  # one pair of columns is correlated, the other is not


def rows(rho=(RHO, 0.0), n=N):
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, n, 2))
    return Marginal.of(x, rng), Marginal.of(rho * x + np.sqrt(1 - np.square(rho)) * e, rng)


def leading(x, y):
    return x.scores[:, :1], y.scores[:, :1]


RATIOS = {
    "independent": lambda x, y: Independence(x.scores, y.scores),
    "gaussian": lambda x, y: GaussianRatio(x.scores, y.scores),
    "gaussian, raw": lambda x, y: GaussianRatio(x.raw, y.raw, scores=False),
    "student": StudentRatio,
    "neighbours": lambda x, y: NeighbourRatio(*leading(x, y)),
    "conditional": lambda x, y: ConditionalRatio(x.raw, y.raw, np.random.default_rng(5)),
    "mixture": lambda x, y: MixtureRatio(x.scores, y.scores, 2, 2, np.random.default_rng(5)),
    "gaussian with independent pairs": lambda x, y: InlierRatio(x.scores, y.scores),
    "bent": lambda x, y: NonlinearRatio(x.scores, y.scores, feature_sets(2, 2, N)[0], 2),
    "bent, mixture": lambda x, y: WarpedRatio(
        NonlinearRatio(x.scores, y.scores, feature_sets(2, 2, N)[0], 1), 2, np.random.default_rng(5)
    ),
}


@pytest.fixture(scope="module")
def sides():
    return rows()


@pytest.fixture(params=RATIOS)
def ratio(request, sides):
    made = RATIOS[request.param](*sides)
    assert made.name == request.param
    return made


def test_ratios_are_normalised(ratio):
    i, j = np.random.default_rng(1).integers(N, size=(2, 40_000))
    assert ratio.fit(np.arange(N // 2)) is ratio
    mass = np.exp(ratio.log_ratio(i, j))
    assert mass.shape == (40_000,)
    # Neighbours among 2000 rows are biased by their noise, 1 / 20.
    assert mass.mean() == pytest.approx(1.0, abs=0.1)


def test_only_fitted_pairs_are_looked_at(ratio, sides):
    # Other pairs than the fitted ones are exchanged: the ratio at a pair does not change.
    x, y = sides
    order = np.r_[: N // 2, np.random.default_rng(2).permutation(np.arange(N // 2, N))]
    moved = Marginal(y.raw[order], y.level[order], y.scores[order], y.plain[order])
    other = RATIOS[ratio.name](x, moved)
    fitted, held = np.arange(N // 2), np.arange(N // 2, N)
    there = np.argsort(order)[held]
    first = ratio.fit(fitted).log_ratio(held, held)
    np.testing.assert_allclose(other.fit(fitted).log_ratio(held, there), first, atol=1e-9)


def test_variates_are_those_of_the_copula(ratio):
    ratio.fit(np.arange(N // 2))
    if not ratio.has_variates:
        with pytest.raises(NotImplementedError):
            ratio.variates()
        return
    a, b, rho = ratio.variates()
    i, j = np.arange(100), np.arange(100, 200)
    np.testing.assert_allclose(ratio.log_ratio(i, j), normal_log_ratio(a[i], b[j], rho))
    assert rho.max() == pytest.approx(RHO, abs=0.05)


def test_information_is_near_the_truth(ratio):
    found = evaluate(ratio, random_folds(N, 4, np.random.default_rng(3)), np.random.default_rng(4))
    value, error = ratio.information(found)
    # Independence reports what the normal copula says: it is chosen only where that is noise.
    assert abs(value - TRUTH) < 4 * error
    assert 0 < error < 0.1
    # A bound holds with this probability; four standard errors of the estimate are allowed.
    assert lower_bound(found, value, error, 0.95) < TRUTH + 4 * error
    assert found.score <= found.plug_in


def test_the_right_ratio_beats_independence_and_not_the_other_way_round(sides):
    splits = random_folds(N, 4, np.random.default_rng(3))
    none, normal = (
        evaluate(RATIOS[name](*sides), splits, np.random.default_rng(4))
        for name in ("independent", "gaussian")
    )
    assert normal.beats(none, 3.0)
    assert not none.beats(normal, 0.0)
    # On one fold alone the same rows are compared.
    one = evaluate(RATIOS["gaussian"](*sides), splits[:1], np.random.default_rng(4))
    assert len(one.seen) == N // 4
    assert one.beats(none, 3.0)


def test_the_bias_of_the_normal_estimate_is_taken_off():
    # 400 products of columns at 200 rows: the plain estimate is too large by about a nat.
    rng = np.random.default_rng(0)
    values = [gaussian_information(*rng.normal(size=(2, 200, 20)))[0] for _ in range(40)]
    error = np.std(values) / np.sqrt(40)
    assert abs(np.mean(values)) < 4 * error < 0.1


def test_neighbours_agree_with_scikit_learn():
    from sklearn.feature_selection import mutual_info_regression

    x, e = np.random.default_rng(0).normal(size=(2, 1000, 1))
    y = 0.8 * x + 0.6 * e
    # scikit-learn standardises, and adds noise of 1e-10.
    left, right = x / x.std(), y / y.std()
    theirs = mutual_info_regression(x, y[:, 0], n_neighbors=3, random_state=0)[0]
    assert ksg_terms(left, right, k=3).mean() == pytest.approx(theirs, abs=1e-6)


def test_a_mixture_finds_a_share_of_independent_pairs():
    # Half of the pairs are independent: the ratio is that of two normals, which both can be.
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, 6000, 1))
    y = np.where(rng.uniform(size=(6000, 1)) < 0.5, e, 0.95 * x + np.sqrt(1 - 0.95**2) * e)
    sides = Marginal.of(x, rng), Marginal.of(y, rng)
    splits = random_folds(6000, 3, rng)
    # The truth by quadrature of a/2 + r/2 with the ratio r of a normal with this correlation.
    u, v = rng.normal(size=(2, 400_000, 1))
    r = np.logaddexp(normal_log_ratio(u, v, np.array([0.95])), 0.0) - np.log(2.0)
    truth = float(np.mean(np.exp(r) * r))
    for made in (RATIOS["mixture"], RATIOS["gaussian with independent pairs"]):
        ratio = (
            made(*sides)
            if made is not RATIOS["mixture"]
            else MixtureRatio(sides[0].scores, sides[1].scores, 3, 1, rng)
        )
        value, error = ratio.information(evaluate(ratio, splits, rng))
        assert abs(value - truth) < 4 * error + 0.02  # three standard errors of the quadrature


def test_a_mixture_has_the_margins_of_its_components():
    rng = np.random.default_rng(0)
    z = np.concatenate([rng.normal(-2, 1, (500, 3)), rng.normal(2, 0.5, (500, 3))])
    found = fit_normals(z, 2, rng)
    part = found.of_columns(slice(0, 1))
    # The joint density integrates to the margin, here over a fine grid of the other two columns.
    at = np.linspace(-8, 8, 161)
    grid = np.stack(np.meshgrid([0.7], at, at, indexing="ij"), axis=-1).reshape(-1, 3)
    summed = np.exp(found(grid)).sum() * (at[1] - at[0]) ** 2
    assert summed == pytest.approx(float(np.exp(part(np.array([[0.7]]))[0])), rel=1e-3)


@pytest.mark.parametrize("kind", ["smoothed uniform", "log-gamma-exponential"])
def test_conditional_densities_reach_where_shuffled_pairs_do_not(kind):
    # Two nats in one pair of columns of which neither is normal.
    rng = np.random.default_rng(1)
    if kind == "smoothed uniform":
        x = rng.uniform(size=(4000, 1))
        y, truth = x + rng.uniform(-0.005, 0.005, size=(4000, 1)), np.log(100.0) + 0.005
    else:
        x = np.log(rng.gamma(1 / 3.0, size=(4000, 1)))
        y, truth = np.log(rng.exponential(size=(4000, 1))) - x, digamma(1 / 3.0) + 3.0 + np.log(3.0)
    ratio = ConditionalRatio(Marginal.of(x, rng).raw, Marginal.of(y, rng).raw, rng)
    value, error = ratio.information(evaluate(ratio, random_folds(4000, 4, rng), rng))
    assert value == pytest.approx(truth, abs=4 * error + 0.05)  # what its edges cost
