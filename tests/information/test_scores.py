"""Mutual information of every column with one: scores of features."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from isthmus import mi_ranking, mi_scores
from isthmus.information import SelectByInformation


def frame(n: int = 500) -> tuple[pd.DataFrame, np.ndarray]:
    """Text, numbers and missing values; the text and the price tell of the label."""
    rng = np.random.default_rng(0)
    label = rng.integers(2, size=n)
    town = np.where(rng.uniform(size=n) < 0.8, label, 1 - label)
    return pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "town": np.array(["Bonn", "Kiel"])[town],
            "price": np.where(rng.uniform(size=n) < 0.1, np.nan, 2.0 * label + rng.normal(size=n)),
            "one": 1,
            "name": [f"row {k}" for k in range(n)],
        }
    ), label


def test_scores_for_select_k_best():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    y = X[:, 1] ** 2 + 0.1 * rng.normal(size=800)
    assert SelectKBest(mi_scores, k=1).fit(X, y).get_support(indices=True).tolist() == [1]
    label = (X[:, 3] > 0).astype(int)
    assert SelectKBest(mi_scores, k=1).fit(X, label).get_support(indices=True).tolist() == [3]


def test_frames_with_text_are_scored_as_they_are():
    X, y = frame()
    scores = mi_scores(X, y)
    # 0.8 log 1.6 + 0.2 log 0.4, with a standard error of sqrt(0.16) log(4) / sqrt(500) = 0.025.
    assert scores[1] == pytest.approx(0.193, abs=4 * 0.025)
    assert scores[2] > 0.2 and scores[0] < 0.05
    assert scores[3] == 0.0 and scores[4] == pytest.approx(0.0, abs=1e-9)
    other = mi_scores(pl.from_pandas(X), np.where(y, "yes", "no"))
    np.testing.assert_allclose(other, scores, atol=1e-12)


def test_select_k_best_with_text_that_is_encoded_first():
    X, y = frame()
    encode = make_column_transformer((OrdinalEncoder(), ["town", "name"]), remainder="passthrough")
    numbers = encode.fit_transform(X.drop(columns="price"))
    best = SelectKBest(partial(mi_scores, discrete=[0, 1]), k=1).fit(numbers, y)
    assert best.get_support(indices=True).tolist() == [0]


def test_the_selector_takes_frames_as_they_are():
    X, y = frame()
    select = SelectByInformation(k=2).set_output(transform="pandas")
    assert list(select.fit_transform(X, y).columns) == ["town", "price"]
    assert select.ranking_.names == list(X)
    np.testing.assert_array_equal(select.get_feature_names_out(), ["town", "price"])
    assert clone(select).k == 2
    plain = SelectByInformation(k=2).fit(X, y).transform(X)
    assert plain.shape == (500, 2) and plain[0, 0] in ("Bonn", "Kiel")
    numbers = X[["noise", "price", "one"]].fillna(0.0)
    model = make_pipeline(SelectByInformation(k=1), LogisticRegression()).fit(numbers, y)
    assert model.score(numbers, y) > 0.7
    with pytest.raises(ValueError, match="k must be an integer"):
        SelectByInformation(k=0).fit(X, y)


def test_the_case_of_scikit_learn_30772():
    # A constant feature, and a label that 20 of 50,000 rows have: their score is above the entropy.
    y = (np.arange(50_000) < 20).astype(int)
    X = np.column_stack([np.ones(50_000), y, 3 * y, np.round(y * 7.0 + 0.4)])
    share = 20 / 50_000
    entropy = -share * np.log(share) - (1 - share) * np.log1p(-share)
    scores = mi_scores(X, y)
    assert scores[0] == 0.0
    np.testing.assert_allclose(scores[1:], entropy, rtol=0.05)
    assert (scores <= entropy + 1e-12).all()


@pytest.mark.parametrize("kind", [int, float, bool, str])
def test_the_type_of_a_column_is_no_matter(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    x = np.where(rng.uniform(size=300) < 0.9, y, 1 - y)
    plain = mi_scores(x[:, None], y)
    np.testing.assert_allclose(mi_scores({"x": x.astype(kind)}, y), plain, atol=1e-12)
    np.testing.assert_allclose(mi_scores({"x": x}, y.astype(kind)), plain, atol=1e-12)


def test_a_ranking_has_intervals_and_verdicts():
    X, y = frame()
    found = mi_ranking(X, y, level=0.9)
    assert (found.low <= found.values).all() and (found.values <= found.high).all()
    assert found.low[1] < 0.193 < found.high[1]
    assert found.trusted.tolist() == [True, True, True, True, False]
    assert [name for name, _ in found.top(2)] == list(found.to_frame()["column"][:2])
    assert "90 % interval" in str(found) and "not trusted: " in str(found)
    assert any("'name' has a level of its own" in note for note in found.notes)
    ax = found.plot(Figure().subplots())
    assert not plt.get_fignums() and len(ax.get_yticklabels()) == 5


def test_which_columns_are_labels_can_be_said():
    rng = np.random.default_rng(0)
    code = rng.integers(30, size=3000)
    y = (code % 2).astype(int)  # nothing that an order would show
    X = np.column_stack([code, rng.normal(size=3000)])
    for given in ([0], [True, False], ["column 0"]):
        scores = mi_scores(X, y, discrete=given)
        assert scores[0] == pytest.approx(np.log(2), abs=0.01) and scores[1] < 0.01
    for given, message in (
        ([True], "one bool for each column of X, 2"),
        ([5], "columns of X or their places; received 5"),
        ("some", "must be 'auto', a bool or columns"),
    ):
        with pytest.raises(ValueError, match=message):
            mi_scores(X, y, discrete=given)


def test_a_column_that_cannot_be_scored_keeps_its_place():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    found = mi_ranking({"lists": [[1.0]] * 100, "x": x}, x > 0)
    assert found.names == ["lists", "x"]
    assert found.values[0] == 0.0 and not found.trusted[0] and found.values[1] > 0.5


def test_bad_arguments_are_refused():
    x = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.raises(ValueError, match="the same number of rows; received 100 and 99"):
        mi_scores(x, x[:99, 0])
    with pytest.raises(ValueError, match="y must be one column; received 2"):
        mi_scores(x, x)
    with pytest.raises(ValueError, match="X must have at least 20 rows; received 10"):
        mi_scores(x[:10], x[:10, 0])
    with pytest.raises(ValueError, match="discrete_y must be True, False or 'auto'"):
        mi_scores(x, x[:, 0], discrete_y="some")
