"""Weights of a source: what they do, what is said of them, and when they are refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

import isthmus
from isthmus.candidates import Ridge
from isthmus.functionals import effective_sample_size

QUICK = isthmus.StackedMDRE((Ridge(),), folds=3)


def table(n, shift, seed):
    rng = np.random.default_rng(seed)
    town = rng.choice(["Bonn", "Kiel", "Ulm"], n, p=[0.5 - 0.2 * shift, 0.3, 0.2 + 0.2 * shift])
    age = rng.normal(40 + 8 * shift, 10, n)
    return pd.DataFrame({"age": age, "income": 2 * age + rng.normal(0, 9, n), "town": town})


@pytest.fixture(scope="module")
def samples():
    return table(1500, 0.0, 1), table(1500, 1.0, 2)


class Never(BaseEstimator):
    """An estimator that must not be fitted."""

    def fit(self, X, y):
        raise AssertionError("There was work.")

    def log_ratio(self, X):
        raise AssertionError("There was work.")


@pytest.fixture(scope="module")
def weights(samples):
    return isthmus.importance_weights(*samples, estimator=QUICK, random_state=0)


def test_weights_move_every_mean_to_the_target(weights, samples):
    source, target = samples
    b = weights.balance
    assert np.abs(b.before).max() > 0.5
    # Four standard errors over five features: a right ratio fails once in three thousand.
    assert (np.abs(b.unseen) < 4 * b.std_error + 0.05).all()
    found = np.average(source["age"], weights=weights.values)
    assert found == pytest.approx(b.weighted[b.labels.index("age")])
    assert b.target[b.labels.index("town=Ulm")] == pytest.approx((target["town"] == "Ulm").mean())
    assert weights.usable and weights.certificate.verdict == "ok"


def test_numbers_of_the_certificate_are_those_of_the_weights(weights):
    w = np.asarray(weights)
    assert w.mean() == pytest.approx(1.0)
    assert weights.effective_sample_size == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert weights.design_effect == pytest.approx(1 + w.var() / w.mean() ** 2)
    o = weights.overlap
    for shares in (o.source, o.target, o.weighted):
        assert shares.sum() == pytest.approx(1.0)
    assert np.abs(o.source - 0.1).max() < 0.01
    # Weighted source and target agree in every tenth; 0.05 is five standard errors of a share.
    assert np.abs(o.weighted - o.target).max() < 0.05


def test_the_index_is_kept(samples):
    source, target = samples
    source = source.set_axis(np.arange(7, 7 + len(source))[::-1])
    w = isthmus.importance_weights(source, target, estimator=QUICK, random_state=0)
    assert isinstance(w.values, pd.Series) and w.values.index.equals(source.index)
    assert w.to_frame().index.equals(source.index)
    assert list(w.to_frame()) == ["weight", "log_ratio", "kept"]


def test_polars_in_polars_out_and_arrays_as_arrays(samples, weights):
    source, target = (pl.DataFrame(dict(one)) for one in samples)
    w = isthmus.importance_weights(source, target, estimator=QUICK, random_state=0)
    assert isinstance(w.values, pl.Series) and isinstance(w.to_frame(), pl.DataFrame)
    assert np.array_equal(w.values.to_numpy(), np.asarray(weights))
    rows = [one["age"].to_numpy() for one in (source, target)]
    assert type(isthmus.importance_weights(*rows, estimator=QUICK).values) is np.ndarray


@pytest.mark.parametrize(("normalise", "total"), [("sum", 1.0), ("target", 1500.0)])
def test_normalisations(samples, weights, normalise, total):
    w = isthmus.importance_weights(*samples, normalise=normalise, estimator=QUICK, random_state=0)
    assert np.asarray(w).sum() == pytest.approx(total)
    assert np.allclose(np.asarray(w) / total, np.asarray(weights) / 1500)


def test_balance_to_the_decimal(samples):
    w = isthmus.importance_weights(*samples, balance="means", estimator=QUICK, random_state=0)
    assert np.abs(w.balance.after).max() < 1e-8
    assert np.abs(w.balance.unseen).max() > 1e-8, "rows that the tilt has not seen are not exact"
    some = isthmus.importance_weights(*samples, balance=["town"], estimator=QUICK, random_state=0)
    levels = np.array([one.column == "town" for one in some.balance.quantities])
    assert np.abs(some.balance.after[levels]).max() < 1e-8
    assert np.abs(some.balance.after[~levels]).min() > 1e-8


def test_trimming_says_which_population_remains(samples, weights):
    source, target = samples
    asked = weights.effective_sample_size * 1.3
    w = isthmus.importance_weights(*samples, least_ess=asked, estimator=QUICK, random_state=0)
    assert w.effective_sample_size >= asked
    assert 0.1 < w.population.target_share < 1.0
    assert (w.contains(source) == w.kept).all()
    assert (np.asarray(w)[~w.kept] == 0).all()
    assert str(w.population) in " ".join(w.notes)
    inside = target[w.contains(target)]
    assert w.balance.target[w.balance.labels.index("age")] == pytest.approx(inside["age"].mean())
    assert (np.abs(w.balance.unseen) < 4 * w.balance.std_error + 0.05).all()
    by_effect = isthmus.importance_weights(
        *samples, design_effect=weights.design_effect * 0.7, estimator=QUICK, random_state=0
    )
    assert by_effect.design_effect <= weights.design_effect * 0.7


def test_nothing_is_trimmed_that_is_worth_enough(samples, weights):
    w = isthmus.importance_weights(*samples, least_ess=50, estimator=QUICK, random_state=0)
    assert w.population is None and np.array_equal(np.asarray(w), np.asarray(weights))


@pytest.mark.parametrize("asked", [{"least_ess": 0.95}, {"design_effect": 1.0001}])
def test_what_no_population_reaches_is_refused_by_its_name(asked, samples):
    if "least_ess" in asked:  # of all rows, with weights that differ
        asked = {"least_ess": asked["least_ess"] * len(samples[0])}
    with pytest.raises(isthmus.WeightingError, match=f"has {next(iter(asked))}="):
        isthmus.importance_weights(*samples, **asked, estimator=QUICK, random_state=0)


def test_no_overlap_is_refused_with_the_certificate():
    rng = np.random.default_rng(0)
    source, target = rng.normal(0, 1, (300, 2)), rng.normal(6, 1, (300, 2))
    with pytest.raises(isthmus.WeightingError, match="Do not weight") as caught:
        isthmus.importance_weights(source, target, random_state=0)
    found = pickle.loads(pickle.dumps(caught.value)).weights
    assert not found.usable and found.overlap.beyond > 0.5
    w = isthmus.importance_weights(source, target, on_failure="return", random_state=0)
    assert not w.usable and w.verdict == str(caught.value)


def test_levels_that_the_source_lacks_are_named(samples):
    source, target = samples
    source = source[source["town"] != "Ulm"]
    w = isthmus.importance_weights(
        source, target, estimator=QUICK, random_state=0, on_failure="return"
    )
    assert not w.usable
    ((label, share),) = w.overlap.absent
    assert label == "town=Ulm" and share == pytest.approx((target["town"] == "Ulm").mean())
    assert "town=Ulm" in w.verdict


def test_an_unreachable_mean_is_refused_by_name():
    rng = np.random.default_rng(0)
    source = pd.DataFrame({"a": rng.normal(0, 1, 300), "b": rng.uniform(0, 1, 300)})
    target = pd.DataFrame({"a": rng.normal(0.2, 1, 300), "b": rng.uniform(0, 1, 300)})
    target.loc[:150, "b"] = 2.5
    with pytest.raises(isthmus.WeightingError, match=r"of b lie outside"):
        isthmus.importance_weights(source, target, balance="means", estimator=QUICK, random_state=0)


def test_weights_that_the_source_has_are_part_of_those_it_gets(samples):
    source, target = samples
    given = np.where(source["town"] == "Bonn", 3.0, 1.0)
    w = isthmus.importance_weights(
        source, target, weight_source=given, estimator=QUICK, random_state=0
    )
    assert (np.abs(w.balance.unseen) < 4 * w.balance.std_error + 0.05).all()
    log_weight = np.log(given) + w.comparison.log_ratio_q
    assert w.effective_sample_size == pytest.approx(effective_sample_size(log_weight))


def test_rows_dropped_for_missing_values_have_no_weight(samples):
    source, target = samples
    source = source.copy()
    source.loc[source.index[:10], "age"] = np.nan
    w = isthmus.importance_weights(source, target, missing="drop", estimator=QUICK, random_state=0)
    assert len(w.values) == len(source) and (w.values[:10] == 0).all()
    assert w.certificate.rows == len(source) - 10


def test_the_audit_of_weights_is_their_certificate(samples, weights):
    audit = isthmus.audit_weights(weights.values, *samples, estimator=QUICK, random_state=0)
    assert audit.effective_sample_size == pytest.approx(weights.effective_sample_size)
    assert np.allclose(audit.balance.after, weights.balance.after)
    assert np.allclose(np.asarray(audit), np.asarray(weights))


def test_the_audit_sees_weights_that_make_it_worse(samples, weights):
    wrong = 1 / np.asarray(weights)
    audit = isthmus.audit_weights(wrong, *samples, estimator=QUICK, random_state=0)
    assert audit.certificate.verdict == "fail" and "does not help" in audit.verdict


def test_an_audit_with_a_weighted_target(samples):
    source, target = samples
    twice = pd.concat([target, target[target["age"] > 50]])
    given = 1.0 + (target["age"] > 50)
    first = isthmus.audit_weights(np.ones(1500), source, twice, estimator=QUICK, random_state=0)
    second = isthmus.audit_weights(
        np.ones(1500), source, target, weight_target=given, estimator=QUICK, random_state=0
    )
    assert np.allclose(first.balance.target, second.balance.target)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"least_ess": 0}, "least_ess must be a number"),
        ({"least_ess": 5000}, "least_ess must be at most"),
        ({"design_effect": 1.0}, "design_effect must be a number"),
        ({"balance": "variance"}, "balance must be 'means' or a list"),
        ({"balance": 3}, "balance must be 'means' or a list"),
        ({"balance": ["height"]}, "balance must name columns"),
        ({"balance": []}, "balance must name columns"),
        ({"normalise": "max"}, "normalise must be one of"),
        ({"on_failure": "ignore"}, "on_failure must be one of"),
    ],
)
def test_bad_options_are_refused_before_any_work(samples, how, message):
    with pytest.raises(ValueError, match=message):
        isthmus.importance_weights(*samples, estimator=Never(), **how)


@pytest.mark.parametrize("name", ["x2", "a"])
def test_an_unknown_column_of_an_array_is_refused_before_any_work(name):
    rows = np.random.default_rng(0).normal(size=(2, 100, 2))
    with pytest.raises(ValueError, match=f"x0, x1; received '{name}'"):
        isthmus.importance_weights(*rows, balance=[name], estimator=Never())


def test_bad_weights_are_refused_before_any_work(samples):
    with pytest.raises(ValueError, match="w must be finite and non-negative"):
        isthmus.audit_weights(np.full(1500, -1.0), *samples, estimator=Never())
    with pytest.raises(ValueError, match="source must have at least 20 rows"):
        isthmus.importance_weights(np.zeros((3, 1)), np.zeros((50, 1)))
    with pytest.raises(ValueError, match="table or an array of rows"):
        isthmus.importance_weights(3, np.zeros((50, 1)))


def test_the_same_seed_gives_the_same_weights_and_a_pickle_too(samples, weights):
    again = isthmus.importance_weights(*samples, estimator=QUICK, random_state=0)
    assert np.array_equal(np.asarray(again), np.asarray(weights))
    back = pickle.loads(pickle.dumps(weights))
    assert back.values.equals(weights.values) and str(back) == str(weights)
