"""The score on the target before its labels are known."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from odds import Odds
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer, mean_absolute_error, roc_auc_score
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_predict

from isthmus import ShiftWeighted, shifted_score

QUICK = {"ratio": Odds(), "random_state": 0, "draws": 40}


def drawn(n, move, rng):
    """Rows whose labels are the harder to tell the larger the second column is."""
    X = rng.normal(0, 1, (n, 2)) + np.array([0.0, move])
    place = X[:, 0] + np.exp(0.7 * X[:, 1]) * rng.normal(size=n)
    return X, place


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return (*drawn(800, 0.0, rng), drawn(800, 0.8, rng)[0])


@pytest.mark.parametrize(
    "scoring", ["accuracy", "roc_auc", "neg_log_loss", "neg_mean_absolute_error"]
)
def test_the_score_is_that_of_labels_not_yet_seen(samples, scoring):
    from sklearn.metrics import get_scorer

    X, place, target = samples
    regressor = scoring == "neg_mean_absolute_error"
    y = place if regressor else place > 0
    estimator = LinearRegression() if regressor else LogisticRegression()
    found = shifted_score(estimator, X, y, target, scoring=scoring, **QUICK)
    new, place_new = drawn(20_000, 0.8, np.random.default_rng(1))
    fitted = estimator.fit(X, y)
    truth = get_scorer(scoring)(fitted, new, place_new if regressor else place_new > 0)
    # Four standard errors: the fitted model differs from those of the folds, too.
    assert abs(found.target.value - truth) < 4 * found.target.std_error
    assert found.target.value < found.plain.value
    assert found.change.value == pytest.approx(found.target.value - found.plain.value)
    assert found.plain.std_error < found.target.std_error
    assert found.enough and found.rows == 800 > found.effective_sample_size
    assert scoring.replace("_", " ") in str(found)


def test_the_interval_holds_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(2)
    # The mean of |noise| with a spread of exp(0.7 t), t normal around 0.8.
    truth = -np.sqrt(2 / np.pi) * np.exp(0.7 * 0.8 + 0.7**2 / 2)
    held = []
    for seed in range(30):
        (X, y), (target, _) = drawn(500, 0.0, rng), drawn(500, 0.8, rng)
        how = {**QUICK, "random_state": seed, "level": 0.9}
        scoring = "neg_mean_absolute_error"
        found = shifted_score(LinearRegression(), X, y, target, scoring=scoring, **how)
        held.append(found.target.low <= truth <= found.target.high)
    # A share of 90 % has a standard error of 5.5 points over 30 draws; three of them.
    assert np.mean(held) > 0.73


def test_without_shift_the_scores_agree(samples):
    X, place, _ = samples
    rng = np.random.default_rng(3)
    found = shifted_score(LinearRegression(), X, place, drawn(800, 0.0, rng)[0], **QUICK)
    assert found.change.low < 0 < found.change.high


def test_the_plain_score_is_that_of_cross_validation(samples):
    X, place, target = samples
    folds = KFold(4, shuffle=True, random_state=1)
    found = shifted_score(
        LinearRegression(), X, place, target, cv=folds, scoring="neg_mean_absolute_error", **QUICK
    )
    predicted = cross_val_predict(LinearRegression(), X, place, cv=folds)
    assert found.plain.value == pytest.approx(-mean_absolute_error(place, predicted))
    weight = np.array(found.weights.values)
    told = -mean_absolute_error(place, predicted, sample_weight=weight)
    assert found.target.value == pytest.approx(told)


def test_a_score_that_takes_no_weights_is_found_on_drawn_rows(samples):
    X, place, target = samples
    y = place > 0
    without = make_scorer(lambda y, p: accuracy_score(y, p))
    seen = shifted_score(LogisticRegression(), X, y, target, scoring="accuracy", **QUICK)
    found = shifted_score(LogisticRegression(), X, y, target, scoring=without, **QUICK)
    assert abs(found.target.value - seen.target.value) < 2 * seen.target.std_error
    assert found.target.std_error > 0.8 * seen.target.std_error

    def with_rows(estimator, X, y):
        assert X.shape[1] == 2
        return roc_auc_score(y, estimator.predict_proba(X)[:, 1])

    found = shifted_score(LogisticRegression(), X, y, target, scoring=with_rows, **QUICK)
    assert found.scoring == "with rows" and 0.5 < found.target.value < 1


def test_it_is_reproducible_and_takes_weighted_estimators(samples):
    X, place, target = samples
    estimator = ShiftWeighted(LinearRegression(), ratio=Odds(), random_state=0)
    one, two = (shifted_score(estimator, X, place, target, cv=2, **QUICK) for _ in range(2))
    assert one.target == two.target
    assert pickle.loads(pickle.dumps(one)).plain == one.plain
    assert json.loads(json.dumps(one.to_dict()))["target"]["value"] == one.target.value


def test_too_few_rows_are_told_of(samples):
    X, place, _ = samples
    far = np.random.default_rng(0).normal(3.5, 0.1, (300, 2))
    with pytest.warns(UserWarning, match="can be relied on"):
        found = shifted_score(LinearRegression(), X, place, far, **QUICK)
    assert not found.enough and "too few" in str(found)


def test_a_label_that_a_fold_lacks_has_probability_zero(samples):
    X, _, target = samples
    y = np.repeat([0, 1, 2], [200, 590, 10])
    folds = KFold(2)  # the first label is in the first fold alone, the last one in the second
    found = shifted_score(
        LogisticRegression(), X, y, target, cv=folds, scoring="neg_log_loss", **QUICK
    )
    assert np.isfinite(found.target.value)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"level": 95}, "level must be a number"),
        ({"scoring": ["accuracy", "r2"]}, "scoring must be the name of one score"),
        ({"cv": ShuffleSplit(2, random_state=0)}, "cv must put every row of X into one test fold"),
        ({"draws": 1}, "draws must be an integer"),
        ({"cv": 1}, "n_splits"),
        ({"estimator": KMeans()}, "scoring must be given"),
    ],
)
def test_arguments_that_do_not_fit(samples, how, told):
    X, place, target = samples
    how = {"estimator": LinearRegression(), "ratio": Odds()} | how
    with pytest.raises(ValueError, match=told):
        shifted_score(how.pop("estimator"), X, place, target, **how)
