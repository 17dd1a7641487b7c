"""An estimator that is fitted for the target, alone and inside scikit-learn's own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from odds import Odds
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from isthmus import ShiftWeighted, WeightingError
from isthmus.shifted import Target

QUICK = {"ratio": Odds(), "random_state": 0}


@pytest.fixture(scope="module")
def bent():
    """The label is the square of the column, whose slope at the middle of the target is 2."""
    rng = np.random.default_rng(0)
    X, target = rng.normal(0, 1, (400, 1)), rng.normal(1, 0.5, (400, 1))
    return X, X[:, 0] ** 2, target


def test_the_fit_is_that_of_the_target(bent):
    X, y, target = bent
    found = ShiftWeighted(LinearRegression(), **QUICK).fit(X, y, target=target)
    # With labels of the target: what is to be found. Weighted rows are worth about 200; the
    # slope of rows so spread has a standard error of about 0.1, and 4 of them are allowed.
    right = LinearRegression().fit(target, target[:, 0] ** 2)
    assert abs(found.estimator_.coef_[0] - right.coef_[0]) < 0.4
    assert abs(LinearRegression().fit(X, y).coef_[0] - right.coef_[0]) > 1.0
    assert 1 < found.weights_.effective_sample_size < len(X)
    assert found.n_features_in_ == 1
    np.testing.assert_allclose(np.mean(found.weights_.values), 1.0)
    np.testing.assert_array_equal(found.predict(X), found.estimator_.predict(X))


def test_it_is_what_the_estimator_is(bent):
    X, y, target = bent
    labels = np.where(y > 1, "far", "near")
    classifier = ShiftWeighted(LogisticRegression(), **QUICK).fit(X, labels, target=target)
    assert is_classifier(classifier) and is_regressor(ShiftWeighted(Ridge()))
    assert classifier.classes_.tolist() == ["far", "near"]
    assert classifier.predict_proba(X).shape == (400, 2)
    assert not hasattr(ShiftWeighted(Ridge()), "predict_proba")
    assert classifier.score(X, labels) == classifier.estimator_.score(X, labels)
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.decision_function(X), classifier.decision_function(X))
    assert not hasattr(clone(classifier), "estimator_")


def test_weights_of_rows_multiply(bent):
    X, y, target = bent
    given = np.where(X[:, 0] > 0, 3.0, 1.0)
    plain = ShiftWeighted(Ridge(), **QUICK).fit(X, y, target=target)
    twice = ShiftWeighted(Ridge(), **QUICK).fit(X, y, target=target, sample_weight=np.full(400, 2))
    # The penalty of the ratio counts for half as much beside twice the weight.
    np.testing.assert_allclose(twice.estimator_.coef_, plain.estimator_.coef_, rtol=0.05)
    # A source weighted to the right needs less of what makes it look like the target, and
    # the product is the same but for the noise of two fits.
    some = ShiftWeighted(Ridge(), **QUICK).fit(X, y, target=target, sample_weight=given)
    ratio = np.array(some.weights_.values) / np.array(plain.weights_.values)
    assert 0.5 < np.median(ratio[X[:, 0] > 0]) < 2 and 0.5 < np.median(ratio[X[:, 0] < 0]) < 2
    left = X[:, 0] < 0
    none = ShiftWeighted(Ridge(), **QUICK).fit(X, y, target=target, sample_weight=1.0 - left)
    assert np.all(np.array(none.weights_.values)[left] == 0)


def test_a_pipeline_and_a_search_inside_take_the_weights(bent):
    X, y, target = bent
    alone = ShiftWeighted(Ridge(alpha=1e-9), **QUICK).fit(X, y, target=target)
    pipeline = make_pipeline(StandardScaler(), Ridge(alpha=1e-9))
    inside = ShiftWeighted(pipeline, **QUICK).fit(X, y, target=target)
    np.testing.assert_allclose(inside.predict(X), alone.predict(X), rtol=1e-6, atol=1e-6)
    if parse_version(sklearn.__version__) < parse_version("1.7"):
        return  # before, a search did not hand weights on to its score
    # Without weights the search prefers the flat line.
    search = GridSearchCV(Ridge(), {"alpha": [1e-9, 1e6]}, cv=3)
    assert search.fit(X, y).best_params_ == {"alpha": 1e6}
    found = ShiftWeighted(search, **QUICK).fit(X, y, target=target)
    np.testing.assert_allclose(found.predict(X), alone.predict(X), rtol=1e-6, atol=1e-6)


def test_searches_leave_the_target_whole(bent):
    X, y, target = bent
    search = GridSearchCV(ShiftWeighted(Ridge(), **QUICK), {"estimator__alpha": [1e-9, 1e6]}, cv=2)
    search.fit(X, y, target=Target(target))  # as many rows as X, and not cut
    assert len(search.best_estimator_.weights_.comparison.samples.p) == len(target)

    class Counting(ShiftWeighted):
        seen: list[int] = []  # noqa: RUF012

        def fit(self, X, y, target=None, sample_weight=None, **params):
            super().fit(X, y, target, sample_weight, **params)
            self.seen.append(len(self.weights_.comparison.samples.p))
            return self

    params = {"target": Target(target)}
    cross_val_score(Counting(Ridge(), **QUICK), X, y, cv=2, params=params)
    assert Counting.seen == [len(target)] * 2


def test_metadata_is_routed(bent):
    X, y, target = bent
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = ShiftWeighted(Ridge(alpha=1e-9), **QUICK)
        asked = weighted.set_fit_request(target=True, sample_weight=True)
        search = GridSearchCV(asked, {"estimator__alpha": [1e-9]}, cv=2)
        search.fit(X, y, target=Target(target), sample_weight=1.0 * (X[:, 0] > -1))
        weights = search.best_estimator_.weights_
        assert len(weights.comparison.samples.p) == len(target)
        assert np.all((np.array(weights.values) > 0) == (X[:, 0] > -1))
        # A step sees what the steps before made of X; the target goes the same way.
        steps = [("scale", StandardScaler()), ("model", clone(weighted))]
        pipeline = Pipeline(steps, transform_input=["target"])
        pipeline.fit(X, y, target=target[:300])
        alone = ShiftWeighted(Ridge(alpha=1e-9), **QUICK).fit(X, y, target=target[:300])
    np.testing.assert_allclose(pipeline.predict(X), alone.predict(X), rtol=1e-3, atol=1e-3)


def test_what_cannot_be_weighted_is_refused(bent):
    X, y, target = bent
    with pytest.raises(ValueError, match=r"sample_weight.*KNeighborsRegressor"):
        ShiftWeighted(KNeighborsRegressor()).fit(X, y, target=target)
    with pytest.raises(ValueError, match="target must be rows"):
        ShiftWeighted(Ridge()).fit(X, y)
    with pytest.raises(ValueError, match="target must have the 1 columns"):
        ShiftWeighted(Ridge()).fit(X, y, target=np.ones((5, 2)))
    with pytest.raises(ValueError, match="estimator must be an estimator"):
        ShiftWeighted(3).fit(X, y, target=target)


def test_no_overlap_is_told(bent):
    X, y, target = bent
    far = target + 30
    with pytest.warns(UserWarning, match="Do not weight"):
        ShiftWeighted(Ridge(), **QUICK).fit(X, y, target=far)
    with pytest.raises(WeightingError, match="Do not weight"):
        ShiftWeighted(Ridge(), on_failure="raise", **QUICK).fit(X, y, target=far)


def test_frames_with_text_and_missing_values():
    pd = pytest.importorskip("pandas")
    from sklearn.ensemble import HistGradientBoostingRegressor

    rng = np.random.default_rng(1)
    X = pd.DataFrame({"age": rng.normal(40, 10, 300), "town": rng.choice(["Bonn", "Kiel"], 300)})
    target = X.assign(age=X["age"] + 5)
    X.loc[::10, "age"] = np.nan
    target.loc[::7, "age"] = np.nan
    X["town"] = target["town"] = X["town"].astype("category")
    trees = HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype")
    y = rng.normal(size=300)
    found = ShiftWeighted(trees, **QUICK).fit(X, y, target=target)
    assert found.feature_names_in_.tolist() == ["age", "town"]
    assert found.predict(X).shape == (300,)
    numbers = X[["age"]].to_numpy()
    found = ShiftWeighted(HistGradientBoostingRegressor(max_iter=5), **QUICK)
    assert found.fit(numbers, y, target=target[["age"]].to_numpy()).predict(numbers).shape == (300,)
