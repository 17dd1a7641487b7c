"""Frames as they come: text, dates, missing values, columns that no weights can balance."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import isthmus
from isthmus.candidates import Ridge

RATIO = isthmus.StackedMDRE((Ridge(),), folds=3)


def frame(n, seed, month, mean):
    rng = np.random.default_rng(seed)
    day = np.datetime64(f"2024-0{month}-01") + rng.integers(0, 28, n).astype("m8[D]")
    made = pd.DataFrame(
        {"day": day, "x": rng.normal(mean, 1, n), "town": rng.choice(["Bonn", "Kiel"], n)}
    )
    made["y"] = made["x"] + rng.normal(0, 1, n)
    made["z"] = made["x"].where(rng.random(n) > 0.1)
    return made


@pytest.fixture(scope="module")
def frames():
    return frame(500, 0, 1, 0.0), frame(500, 1, 2, 0.5)


def model():
    return make_pipeline(make_column_transformer(("passthrough", ["x"])), LinearRegression())


@pytest.mark.parametrize("kind", ["conformal", "weighted", "score"])
def test_a_column_that_separates_is_warned_of_unless_it_does_not_matter(frames, kind):
    source, target = frames
    X, y, new = source.drop(columns="y"), source["y"], target.drop(columns="y")

    def fitted(**how):
        how = {"ratio": RATIO, "random_state": 0, **how}
        if kind == "score":
            return isthmus.shifted_score(model(), X, y, new, draws=20, **how).weights
        if kind == "weighted":
            inner = LinearRegression()
            return isthmus.ShiftWeighted(_Numbers(inner), **how).fit(X, y, target=new).weights_
        return isthmus.ShiftedConformal(model(), **how).fit(X, y, target=new).weights_

    with pytest.warns(UserWarning, match="apart in 'day' by themselves"):
        found = fitted()
    assert found.usable and "z is missing" in found.balance.labels
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fitted(drop=["day"])
        parts = fitted(dates="weekday")
    assert not found.separating and "day" not in found.balance.labels
    assert "day weekday=Monday" in parts.balance.labels


class _Numbers(LinearRegression):
    """A regression on the column x of a frame."""

    def __init__(self, inner=None):
        super().__init__()
        self.inner = inner

    def fit(self, X, y, sample_weight=None):
        return super().fit(X[["x"]], y, sample_weight)

    def predict(self, X):
        return super().predict(X[["x"]])


def test_columns_of_arrays_have_no_options(frames):
    rows = np.random.default_rng(0).normal(size=(100, 2))
    made = isthmus.ShiftWeighted(LinearRegression(), keep=["x0"], ratio=RATIO)
    with pytest.raises(ValueError, match="apply to frames"):
        made.fit(rows, rows[:, 0], target=rows)


def test_no_score_is_better_than_the_best(frames):
    source, target = frames
    found = isthmus.shifted_score(
        model(), source[["x"]].assign(w=1.0), 3 * source["x"] + 0.01 * source["y"],
        target[["x"]].assign(w=1.0), draws=20, ratio=RATIO, random_state=0,
    )  # fmt: skip
    assert found.target.high <= 1.0 and found.plain.high <= 1.0
