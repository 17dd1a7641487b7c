"""Both samples in one source, of which a column says what sample a row is of."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import isthmus
from isthmus.large import labelled
from isthmus.tables.columns import TableError


@pytest.fixture(scope="module")
def table(rows):
    X, y = isthmus.stack(*rows)
    order = np.random.default_rng(2).permutation(len(y))
    weight = np.random.default_rng(3).integers(1, 3, len(y)).astype(float)
    columns = {f"x{k}": X[order, k] for k in range(3)}
    return pa.table({**columns, "y": y[order], "w": weight[order]})


def test_a_file_is_fitted_as_its_rows_are(table, rows, normals, tmp_path):
    """Below the limit the same fit; above it one of closed form is that to all rows too."""
    parquet.write_table(table, tmp_path / "x.parquet", row_group_size=700)
    frame = table.select(["x0", "x1", "x2"]).to_pandas()
    for weight in (None, "w"):
        own = None if weight is None else table[weight].to_numpy()
        expected = normals.fit(frame, table["y"].to_numpy(), own).log_ratio(frame[:50])
        columns = [name for name in table.column_names if name != "w" or weight]
        source = tmp_path / "x.parquet" if weight else table.select(columns)
        found = normals.fit(source, "y", weight)
        assert found.log_ratio(frame[:50]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.usefixtures("small")
def test_of_many_rows_all_count(table, normals, monkeypatch):
    """Normals of all rows, and of estimators that see a sample this is said."""
    monkeypatch.setattr(labelled, "LARGE", 1500)
    given = table.drop_columns("w")
    frame = table.select(["x0", "x1", "x2"]).to_pandas()
    expected = normals.fit(frame, table["y"].to_numpy()).log_ratio(frame[:50])
    found = normals.fit(given, "y").log_ratio(frame[:50])
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-3)
    trees = isthmus.MDRE(critic="quadratic", anchor="copula", l2=np.inf, random_state=0)
    with pytest.warns(UserWarning, match="600 and 600 of 6,000 and 5,000 rows"):
        trees.fit(given, "y")


def test_what_is_refused(table, normals):
    for X, y, weight, told in (
        (table, "z", None, "y must be a column of X"),
        (table, "y", "v", "sample_weight must be a column"),
        (np.zeros((5, 2)), "y", None, "X must have named columns"),
        (pa.table({"y": [0.0, 1.0]}), "y", None, "a column besides 'y'"),
        (pa.table({"x": ["a", "b"], "y": [0.0, 1.0]}), "y", None, "'x' of X must hold numbers"),
        (pa.table({"x": [1.0, 2.0], "y": [None, 1.0]}), "y", None, "no missing values"),
    ):
        with pytest.raises(TableError, match=told):
            normals.fit(X, y, weight)
