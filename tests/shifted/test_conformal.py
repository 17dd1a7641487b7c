"""Intervals and sets on the target: coverage, shapes, what is told and what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from odds import Odds
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier

from isthmus import ShiftedConformal, ShiftWeighted, WeightingError
from isthmus.shifted import Target
from isthmus.shifted.conformity import adaptive
from isthmus.shifted.quantile import weighted_thresholds

QUICK = {"ratio": Odds(), "random_state": 0}


def scattered(x, rng):
    """Labels that scatter the more the larger |x| is."""
    return x[:, 0] + (0.3 + np.abs(x[:, 0])) * rng.normal(size=len(x))


@pytest.fixture(scope="module")
def shifted():
    rng = np.random.default_rng(0)
    X, target = rng.normal(0, 1, (600, 1)), rng.normal(1, 0.8, (500, 1))
    return X, scattered(X, rng), target


@pytest.fixture(scope="module")
def labels():
    """Two columns, of which one moves the label and the other says how sure it is."""
    rng = np.random.default_rng(1)
    X = rng.normal(0, 1, (600, 2))
    target = rng.normal(0, 1, (300, 2)) + np.array([0.0, 0.5])
    return X, classes(X, rng), target


def classes(X, rng):
    """Labels a, b and c by the first column; the noise grows with the second."""
    place = X[:, 0] + np.exp(0.7 * X[:, 1] - 1) * rng.normal(size=len(X))
    return np.array(["a", "b", "c"])[np.searchsorted([-0.5, 0.5], place)]


def test_thresholds_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    scores, weight, new = rng.normal(size=30), rng.exponential(size=30), rng.exponential(size=20)
    found = weighted_thresholds(scores, weight, 3 * new, 0.2)
    for w, t in zip(3 * new, found, strict=True):
        enough = [s for s in scores if weight[scores <= s].sum() >= 0.8 * (weight.sum() + w)]
        assert t == min(enough, default=np.inf)


def test_equal_weights_give_the_plain_quantile():
    scores = np.random.default_rng(0).permutation(99) + 1.0
    for alpha in (0.05, 0.1, 0.2):
        found = weighted_thresholds(scores, np.full(99, 0.3), np.full(2, 0.3), alpha)
        assert found.tolist() == [math.ceil((1 - alpha) * 100 - 1e-9)] * 2


@pytest.mark.parametrize("way", ["regressor", "classifier", "no shift"])
def test_coverage_on_the_target(way):
    rng = np.random.default_rng(2)
    covered, plain = [], []
    for seed in range(25):
        X, new = rng.normal(0, 1, (800, 2)), rng.normal(0, 1, (700, 2))
        if way != "no shift":
            new[:, 1] = 0.8 * new[:, 1] + 1.0
        how = {"ratio": Odds(), "random_state": seed}
        if way == "classifier":
            y, right = classes(X, rng), classes(new, rng)
            model = ShiftedConformal(LogisticRegression(), alpha=0.1, **how)
            model.fit(X, y, target=new[:400])
            inside = model.predict_set(new[400:])
            covered.append(inside[np.arange(300), np.searchsorted(model.classes_, right[400:])])
        else:
            y, right = (x[:, 0] + np.exp(0.7 * x[:, 1]) * rng.normal(size=len(x)) for x in (X, new))
            model = ShiftedConformal(LinearRegression(), alpha=0.1, **how)
            low, high = model.fit(X, y, target=new[:400]).predict_interval(new[400:]).T
            covered.append((low <= right[400:]) & (right[400:] <= high))
        score = model.conformity_.scores(model.estimator_, new[400:], right[400:])
        plain.append(score <= np.quantile(model.scores_, 0.9, method="higher"))
    # 400 rows calibrate and are worth 150 or more: a fit's coverage scatters by 2.5 points, and
    # by 1.7 for the 300 rows that judge. The mean of 25 has a standard error of 0.6 points.
    # Three of these, and half a point by which the quantile is above 90 % on purpose.
    assert 0.882 < np.mean(covered) < 0.923
    if way != "no shift":
        assert np.mean(plain) < 0.87


def test_an_interval_and_its_point(shifted):
    X, y, target = shifted
    model = ShiftedConformal(LinearRegression(), alpha=0.1, **QUICK).fit(X, y, target=target)
    found = model.predict_interval(target)
    assert found.shape == (500, 2) and (found[:, 0] < found[:, 1]).all()
    np.testing.assert_allclose(found.mean(axis=1), model.predict(target))
    narrower = model.predict_interval(target, alpha=0.4)
    assert (narrower[:, 0] > found[:, 0]).all() and (narrower[:, 1] < found[:, 1]).all()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_interval(target), found)
    once_more = clone(model).fit(X, y, target=Target(target))
    np.testing.assert_array_equal(once_more.predict_interval(target), found)
    with pytest.raises(ValueError, match="predict_set is for a classifier"):
        model.predict_set(target)


def test_normalised_intervals_are_wide_where_labels_scatter(shifted):
    X, y, target = shifted
    from sklearn.ensemble import HistGradientBoostingRegressor

    trees = HistGradientBoostingRegressor(max_iter=30, random_state=0)
    model = ShiftedConformal(trees, conformity="normalised", **QUICK).fit(X, y, target=target)
    at = np.array([[0.0], [2.0]])
    near, far = np.diff(model.predict_interval(at), axis=1)[:, 0]
    # Labels scatter by 0.3 and by 2.3.
    assert far > 2 * near
    prefit = ShiftedConformal(trees.fit(X, y), conformity="normalised", cv="prefit", **QUICK)
    assert prefit.fit(X, y, target=target).predict_interval(at).shape == (2, 2)
    assert len(prefit.scores_) == 300  # the spread has rows of its own
    frozen = ShiftedConformal(FrozenEstimator(trees), conformity="normalised", **QUICK)
    near, far = np.diff(frozen.fit(X, y, target=target).predict_interval(at), axis=1)[:, 0]
    assert far > near


def test_a_fitted_estimator_is_left_as_it_is(shifted):
    X, y, target = shifted
    fitted = LinearRegression().fit(X[:200], y[:200])
    model = ShiftedConformal(fitted, cv="prefit", **QUICK).fit(X[200:], y[200:], target=target)
    assert model.estimator_ is fitted and len(model.scores_) == 400
    with pytest.raises(ValueError, match="must be fitted where cv='prefit'"):
        ShiftedConformal(LinearRegression(), cv="prefit").fit(X, y, target=target)


def test_an_estimator_that_takes_the_target_is_given_it(shifted):
    X, y, target = shifted
    inner = ShiftWeighted(LinearRegression(), **QUICK)
    model = ShiftedConformal(inner, **QUICK).fit(X, y, target=target)
    assert len(model.estimator_.weights_.comparison.samples.p) == 500


@pytest.mark.parametrize("conformity", ["lac", "aps"])
def test_sets_of_labels(labels, conformity):
    X, y, target = labels
    model = ShiftedConformal(LogisticRegression(), conformity=conformity, **QUICK)
    model.fit(X, y, target=target)
    inside = model.predict_set(target)
    assert inside.shape == (300, 3) and inside.dtype == bool
    named = model.label_sets(target)
    for row, found in zip(inside, named, strict=True):
        assert sorted(found) == model.classes_[row].tolist()
    likeliest = model.predict(target)
    assert all(found[0] == best for found, best in zip(named, likeliest, strict=True) if found)
    assert (model.predict_set(target, alpha=0.3) <= inside).all()
    with pytest.raises(ValueError, match="predict_interval is for a regressor"):
        model.predict_interval(target)


def test_adaptive_scores_add_up_likelier_labels():
    found = adaptive(np.array([[0.2, 0.5, 0.3]]))
    np.testing.assert_allclose(found, [[1.0, 0.5, 0.8]])


def test_what_an_error_of_the_ratio_costs_is_about_right():
    rng = np.random.default_rng(3)
    told, true = [], []
    for seed in range(5):
        X, target = rng.normal(0, 1, (600, 3)), rng.normal(0.3, 1, (600, 3))
        model = ShiftedConformal(LinearRegression(), ratio=Odds(), random_state=seed)
        model.fit(X, X[:, 0], target=target)
        told.append(model.coverage_loss_)
        right = np.exp(0.3 * X.sum(axis=1) - 0.135)
        true.append(0.5 * np.mean(np.abs(model.ratio_.held_out - right)))
    # Noise that a jackknife sees; a mean of five of them, each good to about a third.
    assert 0.5 < np.mean(told) / np.mean(true) < 2.0


def test_too_few_rows_are_told_of(shifted):
    X, y, _ = shifted
    far = np.random.default_rng(0).normal(3.2, 0.2, (300, 1))
    with pytest.warns(UserWarning, match="rows that calibrate are worth"):
        model = ShiftedConformal(LinearRegression(), **QUICK).fit(X, y, target=far)
    assert model.effective_sample_size_ < model.least_sample_size_ == pytest.approx(36.0)
    with pytest.warns(UserWarning, match="may have any label"):
        assert np.isinf(model.predict_interval(far, alpha=0.01)).any()
    with pytest.raises(WeightingError, match="rows that calibrate are worth"):
        ShiftedConformal(LinearRegression(), on_small="raise", **QUICK).fit(X, y, target=far)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"alpha": 0.0}, "alpha must be a number"),
        ({"alpha": 90}, "alpha must be a number"),
        ({"conformity": "aps"}, "conformity must be one of 'absolute', 'normalised' for a regr"),
        ({"conformity": "other"}, "conformity must be one of 'auto'"),
        ({"cv": 5}, "cv must be one of 'split', 'prefit'; received 5"),
        ({"calibration_size": 1.0}, "calibration_size must be a number"),
        ({"on_small": "ignore"}, "on_small must be one of"),
        ({"estimator": RidgeClassifier()}, "predict_proba"),
        ({"estimator": "tree"}, "estimator must be an estimator"),
    ],
)
def test_parameters_that_do_not_fit(shifted, how, told):
    X, y, target = shifted
    model = ShiftedConformal(**({"estimator": LinearRegression()} | how))
    with pytest.raises(ValueError, match=told):
        model.fit(X, y, target=target)


def test_rows_that_do_not_fit(shifted):
    X, y, target = shifted
    model = ShiftedConformal(LinearRegression(), **QUICK)
    with pytest.raises(ValueError, match="target must be rows"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="y must have one label per row"):
        model.fit(X, y[:-1], target=target)
    with pytest.raises(ValueError, match="y must be finite"):
        model.fit(X, np.where(y > 1, np.nan, y), target=target)
    with pytest.raises(ValueError, match="y must hold numbers"):
        model.fit(X, np.where(y > 1, "a", "b"), target=target)
    with pytest.raises(ValueError, match="X must be finite"):
        model.fit(np.where(X > 2, np.inf, X), y, target=target)
    model.fit(X, y, target=target)
    with pytest.raises(ValueError, match="alpha must be a number"):
        model.predict_interval(X, alpha=2)
    with pytest.raises(ValueError, match="features"):
        model.predict_interval(np.ones((2, 3)))
