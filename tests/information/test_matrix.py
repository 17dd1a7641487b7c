"""Mutual information of many pairs of columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest

from isthmus import mi_matrix, mi_scores


def test_matrix_of_columns(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1000))
    found = mi_matrix(
        {"a": a, "b": b, "mixed": a + b, "label": np.where(a > 0, "up", "down")}, random_state=0
    )
    assert found.names == ["a", "b", "mixed", "label"]
    assert (found.values == found.values.T).all()
    assert {found.top(1)[0][0], found.top(1)[0][1]} == {"a", "label"}
    assert found.values[0, 3] == pytest.approx(np.log(2), abs=0.1)
    assert found.values[3, 3] == pytest.approx(np.log(2), abs=0.01)
    # 0.3466 = log(2) / 2, with a standard error of sqrt(1 / 2 / 1000).
    assert found.values[0, 2] == pytest.approx(0.3466, abs=4 * 0.0224)
    axes = found.plot()
    assert len(axes.get_xticklabels()) == 4
    axes.figure.savefig(tmp_path / "m.png")


def test_scores_for_select_k_best():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    y = X[:, 1] ** 2 + 0.1 * rng.normal(size=800)
    assert SelectKBest(mi_scores, k=1).fit(X, y).get_support(indices=True).tolist() == [1]
    label = (X[:, 3] > 0).astype(int)
    assert SelectKBest(mi_scores, k=1).fit(X, label).get_support(indices=True).tolist() == [3]


def test_bad_tables_are_refused():
    x = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.raises(ValueError, match="table must have at least two columns; received 1"):
        mi_matrix(x[:, :1])
    with pytest.raises(ValueError, match="the same number of rows; received 100 and 99"):
        mi_scores(x, x[:99, 0])
    with pytest.raises(ValueError, match="table must have at least 20 rows; received 15"):
        mi_matrix(x[:15])
