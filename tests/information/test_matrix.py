"""Mutual information of all pairs of columns."""

from __future__ import annotations

import json
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from isthmus import mi_matrix
from isthmus.information import matrix as matrix_module

N = 1000
HALF = 0.5 * np.log(2)  # of a and a + noise, both normal with variance one


def table(n: int = N) -> pd.DataFrame:
    """Columns of every kind that tables have."""
    rng = np.random.default_rng(0)
    a, noise = rng.normal(size=(2, n))
    return pd.DataFrame(
        {
            "a": a,
            "sum": a + noise,
            "same": a,
            "square": a**2,
            "minutes": np.round(5 * a),
            "again": np.round(5 * a),
            "count": rng.poisson(3, n),
            "other count": rng.poisson(3 * np.exp(0.5 * a)),
            "constant": 1.0,
            "nothing": np.nan,
            "names": [f"row {k}" for k in range(n)],
            "numbers": np.arange(n),
            "rare": ["x", *["y"] * (n - 1)],
            "sign": a > 0,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.round(10 * a), unit="D"),
            "gap": np.where(rng.uniform(size=n) < 0.2, np.nan, a + noise),
            "known thrice": np.where(np.arange(n) < n - 3, np.nan, a),
            "gap in text": np.where(rng.uniform(size=n) < 0.1, None, np.where(a > 1, "u", "v")),
            "infinite": np.where(a > 1.5, np.inf, noise),
            "huge": 1e300 * noise,
        }
    )


@pytest.fixture(scope="module")
def found():
    return mi_matrix(table(), random_state=0)


def test_no_number_is_impossible(found):
    d = len(found.names)
    off = ~np.eye(d, dtype=bool)
    assert found.names == list(table())
    assert len(found.pairs) == d * (d - 1) // 2
    assert (found.values == found.values.T).all()
    assert np.isfinite(found.values[off]).all() and (found.values[off] >= 0).all()
    assert (found.values <= np.minimum.outer(found.entropies, found.entropies) + 1e-12)[off].all()
    assert (found.low <= found.values).all() and (found.values <= found.high).all()


@pytest.mark.parametrize("name", ["constant", "nothing"])
def test_a_constant_shares_exactly_nothing(found, name):
    for other in found.names:
        if other != name:
            one = found.pair(name, other)
            assert (one.value, one.low, one.high, one.trusted) == (0.0, 0.0, 0.0, True)


@pytest.mark.parametrize(
    ("x", "y", "truth"),
    [
        ("a", "sum", HALF),
        ("a", "numbers", 0.0),
        ("a", "count", 0.0),
        ("count", "other count", 0.0),
        ("a", "huge", 0.0),
        ("sign", "a", np.log(2)),
        # Where it is there it tells as much, and that it is there nothing.
        ("a", "gap", 0.8 * HALF),
        ("rare", "a", 0.0),
        ("rare", "sign", 0.0),
    ],
)
def test_intervals_hold_the_truth(found, x, y, truth):
    one = found.pair(x, y)
    # The share of rows above zero is not exactly one half: its entropy is lower by 1e-3 at most.
    assert one.low <= truth and one.high >= truth - 1e-3
    assert one.high - one.low < 0.4
    assert found.trusted[found.names.index(x), found.names.index(y)]


def test_columns_that_determine_each_other(found):
    for x, y in (("a", "same"), ("a", "square")):
        one = found.pair(x, y)
        assert one.high == np.inf and one.reason and one.low > 0.5
        assert not found.trusted[found.names.index(x), found.names.index(y)]
    # Whole minutes are a label: what they share with themselves is their entropy.
    same = found.pair("minutes", "again")
    entropy = found.entropies[found.names.index("minutes")]
    assert np.isfinite(entropy)
    assert same.low < entropy and same.value > 0.85 * entropy


def test_a_column_that_names_rows_is_noted_and_proves_nothing(found):
    for other in ("a", "sign", "minutes"):
        one = found.pair("names", other)
        assert one.value == pytest.approx(0.0, abs=1e-9) and not one.trusted
        assert "labels hardly repeat" in one.reason
    assert any("'names' has a level of its own in most rows" in note for note in found.notes)


def test_what_was_made_of_columns_is_noted(found):
    notes = "\n".join(found.notes)
    assert "'nothing' has no value in any row" in notes
    assert "'constant' is constant" in notes
    assert "'infinite' is infinite in" in notes
    assert "'gap in text' has" in notes


def test_one_pair_that_fails_stops_no_other(monkeypatch):
    real = matrix_module.quick_information

    def failing(x, y):
        if {x.name, y.name} == {"a", "b"}:
            raise ValueError("y must have two classes.")
        return real(x, y)

    monkeypatch.setattr(matrix_module, "quick_information", failing)
    a, b = np.random.default_rng(0).normal(size=(2, 400))
    found = mi_matrix({"a": a, "b": b, "c": a + b}, random_state=0)
    one = found.pair("a", "b")
    assert (one.value, one.low, one.high) == (0.0, 0.0, np.inf)
    assert not one.trusted and one.reason == "it could not be worked out"
    assert "y must have two classes" in one.diagnostics["worked_out"].advice
    assert found.pair("a", "c").trusted


def test_columns_that_are_no_values_are_left_out():
    a, b = np.random.default_rng(0).normal(size=(2, 50))
    found = mi_matrix({"a": a, "lists": [[1.0, 2.0]] * 50, "b": b})
    assert found.names == ["a", "b"]
    assert list(found.left_out) == ["lists"]


def test_the_same_seed_gives_the_same_matrix_and_the_order_of_a_pair_is_no_matter():
    data = table(200)[["a", "minutes", "count", "sign"]]
    once, again = (mi_matrix(data, random_state=3) for _ in range(2))
    assert (once.values == again.values).all() and (once.high == again.high).all()
    assert pickle.loads(pickle.dumps(once)).answer == once.answer
    turned = mi_matrix(data[["sign", "count", "minutes", "a"]], random_state=3)
    # Draws of columns go by their names; tables of shuffled rows differ by a hundredth.
    assert turned.pair("a", "minutes").value == pytest.approx(
        once.pair("minutes", "a").value, abs=0.02
    )


def test_forms_of_the_result(found):
    frame = found.to_frame()
    assert list(frame.columns[:5]) == ["x", "y", "value", "low", "high"]
    assert len(frame) == len(found.pairs) and frame["value"].is_monotonic_decreasing
    assert tuple(frame.loc[0, ["x", "y", "value"]]) == found.top(1)[0]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["rows"] == N
    text = str(found)
    assert found.answer in text and "not trusted: " in text and "95 % interval" in text
    assert f"and {len(found.pairs) - 20} more" in text
    page = found._repr_html_()
    assert page.count("<tr>") == len(found.names) + 1 and " ?</td>" in page
    for message, names in (("received 'z'", ("a", "z")), ("received 'a' twice", ("a", "a"))):
        with pytest.raises(ValueError, match=message):
            found.pair(*names)


def test_names_are_escaped():
    a, b = np.random.default_rng(0).normal(size=(2, 50))
    page = mi_matrix({"<b>": a, "b": b})._repr_html_()
    assert "<b>" not in page and "&lt;b&gt;" in page


def test_the_heat_map_crosses_what_is_not_trusted(found):
    ax = found.plot(Figure().subplots())
    assert not plt.get_fignums()
    assert len(ax.lines) == 2 * (~found.trusted).sum()
    assert len(ax.get_xticklabels()) == len(found.names)


def test_progress_is_told():
    told = []
    x = np.random.default_rng(0).normal(size=(40, 3))
    mi_matrix(x, progress=lambda *each: told.append(each))
    assert told == [
        (0, 3, "column 0 and column 1"),
        (1, 3, "column 0 and column 2"),
        (2, 3, "column 1 and column 2"),
    ]


def test_too_many_columns_are_refused_before_any_is_looked_at(monkeypatch):
    monkeypatch.setattr(matrix_module, "read_singles", None)
    wide = np.zeros((30, 20_000))
    with pytest.raises(
        ValueError, match="at most 300 columns; received 20,000, which have"
    ) as told:
        mi_matrix(wide)
    assert "mi_scores(X, y)" in str(told.value)
    with pytest.raises(ValueError, match="at most 2 columns; received 3"):
        mi_matrix({"a": [1], "b": [1], "c": [1]}, max_columns=2)


def test_bad_tables_are_refused():
    x = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.raises(ValueError, match="table must have at least two columns; received 1"):
        mi_matrix(x[:, :1])
    with pytest.raises(ValueError, match="table must have at least 20 rows; received 15"):
        mi_matrix(x[:15])
    with pytest.raises(ValueError, match="level must be a number in"):
        mi_matrix(x, level=1.5)
