"""A comparison that was saved: its answers, its rows that are not there, and tables to score."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import isthmus
from isthmus import ModelFileError, SavedComparison, load
from isthmus.functionals import Estimate


def frames(seed=0, n=150):
    rng = np.random.default_rng(seed)

    def one(shift, shares):
        return {
            "age": rng.normal(40 + 4 * shift, 9, n).round(1),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], n, p=shares),
        }

    return one(0.0, [0.5, 0.3, 0.2]), one(1.0, [0.2, 0.4, 0.4])


@pytest.fixture(scope="module")
def compared():
    """A comparison of tables, by the stack."""
    return isthmus.compare(*frames(), folds=2, random_state=0)


@pytest.fixture(scope="module")
def saved(compared, tmp_path_factory):
    return load(compared.save(tmp_path_factory.mktemp("model") / "model.isthmus"))


def test_log_ratios_of_raw_frames_are_equal_to_the_bit(compared, saved):
    new = frames(1)[0]
    assert np.array_equal(saved.log_ratio(new), compared.log_ratio(new))
    assert np.array_equal(saved.weights(new), np.exp(compared.log_ratio(new)))
    assert np.array_equal(saved.weights(), np.exp(compared.log_ratio_q))
    # A mean of 150 numbers, each rounded.
    assert saved.weights(new, normalise=True).mean() == pytest.approx(1.0, rel=1e-13)
    pandas = pytest.importorskip("pandas")
    assert np.array_equal(saved.log_ratio(pandas.DataFrame(new)), compared.log_ratio(new))


def test_answers_are_as_they_were(compared, saved):
    assert isinstance(saved, SavedComparison)
    assert saved.kl.to_dict() == compared.kl.to_dict()
    for name in ("js", "tv", "hellinger", "reverse-kl", "pearson", "neyman"):
        assert saved.divergence(name).to_dict() == compared.divergence(name).to_dict()
    assert (saved.rests_on, saved.trusted) == (compared.rests_on, compared.trusted)
    assert saved.feature_names == compared.feature_names
    assert saved.columns == compared.columns
    assert saved.diagnostics.keys() == compared.diagnostics.keys()
    for name, check in compared.diagnostics.items():
        found = saved.diagnostics[name]
        assert (found.verdict, found.advice) == (check.verdict, check.advice)
    assert np.array_equal(saved.log_ratio_p, compared.log_ratio_p)
    assert saved.call.startswith("isthmus.compare(p, q, folds=2")
    assert repr(saved).startswith("SavedComparison(n_p=150, n_q=150, kl=")


def test_other_divergences_need_the_rows(saved):
    with pytest.raises(ValueError, match=r"spec must be one of 'kl'.*compare them again"):
        saved.divergence("alpha:0.3")
    with pytest.raises(ValueError, match="no other classes"):
        saved.log_ratio(frames(1)[0], "m1", "q")


def test_it_can_be_saved_again_and_pickled(saved, tmp_path):
    again = load(saved.save(tmp_path / "again.isthmus"))
    new = frames(1)[0]
    assert np.array_equal(again.log_ratio(new), saved.log_ratio(new))
    assert pickle.loads(pickle.dumps(saved)).kl == saved.kl


def test_levels_that_are_new_are_encoded_as_documented(compared, saved):
    new = {"age": [40.0, 41.0], "town": ["Bonn", "Atlantis"]}
    with pytest.warns(UserWarning, match="Atlantis"):
        found = saved.log_ratio(new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(found, compared.log_ratio(new))


def test_classes_of_an_mdre(tmp_path):
    rng = np.random.default_rng(0)
    found = isthmus.compare(
        rng.normal(0, 1, 200), rng.normal(3, 1, 200), critic="quadratic", folds=2, random_state=0
    )
    again = load(found.save(tmp_path / "model.isthmus"))
    x = np.linspace(-3, 6, 50)
    for name in found.estimator.class_names_:
        assert np.array_equal(again.log_ratio(x, name, "q"), found.log_ratio(x, name, "q"))


def test_an_estimator_of_others_is_refused(tmp_path):
    from sklearn.base import BaseEstimator

    class Zero(BaseEstimator):
        def fit(self, X, y):
            return self

        def log_ratio(self, X):
            return np.zeros(len(X))

    rng = np.random.default_rng(0)
    found = isthmus.compare(
        rng.normal(size=60), rng.normal(size=60), estimator=Zero(), folds=2, random_state=0
    )
    with pytest.raises(ModelFileError, match=r"estimator must be a part.*Zero"):
        found.save(tmp_path / "model.isthmus")


def test_estimates_keep_an_end_that_is_not_known(saved, tmp_path):
    from dataclasses import replace

    open_end = Estimate(0.4, np.inf, low=0.1, high=np.inf, reason="rows are few")
    made = replace(saved, estimates={**saved.estimates, "kl": open_end})
    found = load(made.save(tmp_path / "model.isthmus")).kl
    assert found.to_dict() == open_end.to_dict()
