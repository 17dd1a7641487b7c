"""Tables as people have them: matched by name, encoded in one way, refused in one line."""

from __future__ import annotations

import datetime as dt
import decimal
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isthmus.tables.frames import TableEncoder, TableError, is_table

P = {"age": [31.0, 42.0, 37.0], "town": ["Bonn", "Kiel", "Bonn"], "member": [True, False, True]}
Q = {"town": ["Kiel", "Bonn"], "member": [False, False], "age": [50.0, 61.0]}
P_MATRIX = np.array([[31.0, 1, 1, 0], [42, 0, 0, 1], [37, 1, 1, 0]])
Q_MATRIX = np.array([[50.0, 0, 0, 1], [61, 0, 1, 0]])

# Every way to hold the same table.
HOLDERS = {
    "dict of lists": dict,
    "dict of arrays": lambda t: {name: np.asarray(values) for name, values in t.items()},
    "dict of pandas series": lambda t: {name: pd.Series(values) for name, values in t.items()},
    "dict of polars series": lambda t: {name: pl.Series(values) for name, values in t.items()},
    "pandas": pd.DataFrame,
    "pandas, odd index": lambda t: pd.DataFrame(t).set_index(pd.Index([7] * len(t["age"]))),
    "pandas, categories": lambda t: pd.DataFrame(t).astype({"town": "category"}),
    "pandas, arrow types": lambda t: pd.DataFrame(t).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars, categories": lambda t: pl.DataFrame(t, schema_overrides={"town": pl.Categorical}),
    "pyarrow table": pa.table,
    "pyarrow batch": pa.RecordBatch.from_pydict,
    "pyarrow, dictionary": lambda t: pa.table(
        {**t, "town": pa.array(t["town"]).dictionary_encode()}
    ),
}


@pytest.mark.parametrize("q_holder", ["dict of lists", "pandas", "polars"])
@pytest.mark.parametrize("holder", HOLDERS)
def test_every_kind_of_table_gives_the_same_numbers(holder, q_holder):
    p, q = HOLDERS[holder](P), HOLDERS[q_holder](Q)
    assert is_table(p)
    encoder = TableEncoder()
    got_p, got_q = encoder.fit_transform(p, q)
    assert encoder.feature_names_ == ["age", "member", "town=Bonn", "town=Kiel"]
    np.testing.assert_array_equal(got_p, P_MATRIX)
    np.testing.assert_array_equal(got_q, Q_MATRIX)
    assert got_p.dtype == np.float64
    np.testing.assert_array_equal(encoder.transform(q), Q_MATRIX)
    np.testing.assert_array_equal(encoder.transform(HOLDERS[q_holder](P)), P_MATRIX)


def test_what_is_not_a_table():
    for other in (np.zeros((2, 1)), [[1.0]], pd.Series([1.0]), pl.Series([1.0]), "p.csv", None):
        assert not is_table(other)
        with pytest.raises(TableError, match="p must be a pandas or polars frame"):
            TableEncoder().fit(other, Q)
    with pytest.raises(TableError, match=r"collect\(\) first"):
        TableEncoder().fit(pl.LazyFrame(P), Q)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([1, 2], dtype=np.uint64), [1, 2]),
        (np.array([1.5, 2], dtype=np.float16), [1.5, 2]),
        ([decimal.Decimal("1.25"), decimal.Decimal("2")], [1.25, 2]),
        (pd.Series([1, 2], dtype="Int8"), [1, 2]),
        ([True, False], [1, 0]),
    ],
)
def test_numbers_of_every_type_become_floats(values, expected):
    p, _ = TableEncoder().fit_transform({"x": values}, {"x": [0.0]})
    np.testing.assert_array_equal(p[:, 0], expected)


# Not the character NUL: pyarrow ends a name there.
letters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
names = st.text(letters, min_size=1, max_size=12) | st.sampled_from(
    ["[red]x[/red]", "<script>alert(1)</script>", "a=b", "a", "a is missing", "x,y", "\n", "数"]
)


@st.composite
def tables(draw):
    """Two tables with the same columns of numbers or of text, and two orders of them."""
    columns = draw(st.dictionaries(names, st.booleans(), min_size=1, max_size=6))
    sizes = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    cells = {
        True: st.floats(allow_nan=False, allow_infinity=False),
        False: st.sampled_from(["a", "b", "[bold]", "é", " "]),
    }
    both = [
        {name: draw(st.lists(cells[number], min_size=n, max_size=n)) for name, number in
         columns.items()}
        for n in sizes
    ]  # fmt: skip
    return both, [draw(st.permutations(list(columns))) for _ in both]


@settings(deadline=None, max_examples=60)
@example((({"x": [1.2e308]}, {"x": [1.6e308]}), (["x"], ["x"])))
@given(tables())
def test_the_order_of_columns_makes_no_difference(drawn):
    (p, q), (order_p, order_q) = drawn
    encoder, shuffled = TableEncoder(), TableEncoder()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="non-overlapping category levels")
        one = encoder.fit_transform(p, q)
        two = shuffled.fit_transform(
            pa.table({name: p[name] for name in order_p}), {name: q[name] for name in order_q}
        )
    for left, right in zip(one, two, strict=True):
        np.testing.assert_array_equal(left, right)
    assert encoder.feature_names_ == shuffled.feature_names_
    # Names of features differ, whatever the names of columns and levels are.
    assert len(set(encoder.feature_names_)) == len(encoder.feature_names_) == one[0].shape[1]
    assert list(encoder.summary()) == sorted(p)
    np.testing.assert_array_equal(encoder.transform({n: q[n] for n in order_q}), one[1])


@settings(deadline=None, max_examples=60)
@given(tables(), st.data())
def test_a_row_does_not_depend_on_the_other_rows(drawn, data):
    (p, q), _ = drawn
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="non-overlapping category levels")
        encoder = TableEncoder().fit(p, q)
    whole = encoder.transform(p)
    row = data.draw(st.integers(0, len(whole) - 1))
    alone = encoder.transform({name: [values[row]] for name, values in p.items()})
    np.testing.assert_array_equal(alone[0], whole[row])


def test_a_missing_or_extra_column_is_named():
    extra = {**Q, "wage": [1.0, 2.0]}
    with pytest.raises(TableError, match=r"\['wage'\] only in q"):
        TableEncoder().fit(P, extra)
    with pytest.raises(TableError, match=r"\['age'\] only in p.*\['wage'\] only in q"):
        TableEncoder().fit(P, {name: v for name, v in extra.items() if name != "age"})
    np.testing.assert_array_equal(TableEncoder(drop=["wage"]).fit_transform(P, extra)[1], Q_MATRIX)
    chosen = TableEncoder(columns=["age", "member"])
    np.testing.assert_array_equal(chosen.fit_transform(P, extra)[1], Q_MATRIX[:, :2])
    np.testing.assert_array_equal(chosen.transform(extra), Q_MATRIX[:, :2])
    with pytest.raises(TableError, match=r"received \['wage'\], which p does not have"):
        TableEncoder(columns=["wage"]).fit(P, extra)
    with pytest.raises(TableError, match=r"drop must name columns.*\['wgae'\]"):
        TableEncoder(drop=["wgae"]).fit(P, extra)
    encoder = TableEncoder().fit(P, Q)
    with pytest.raises(TableError, match=r"\['wage'\] only in the new table"):
        encoder.transform(extra)
    with pytest.raises(TableError, match=r"\['age'\] only in the fitted tables"):
        encoder.transform({name: v for name, v in Q.items() if name != "age"})


def test_a_duplicate_name_is_refused():
    twice = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    with pytest.raises(TableError, match=r"\['a'\] twice"):
        TableEncoder().fit(twice, twice)
    with pytest.raises(TableError, match=r"\['1'\] twice"):
        TableEncoder().fit({1: [0.0], "1": [0.0]}, {"1": [0.0]})


def test_levels_on_one_side_only_warn_and_are_named():
    with pytest.warns(UserWarning, match="'x' has 'a' only in p and 'c' only in q"):
        p, q = TableEncoder().fit_transform({"x": ["a", "b"]}, {"x": ["b", "c"]})
    np.testing.assert_array_equal(p, [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(q, [[0, 1, 0], [0, 0, 1]])


def test_an_unknown_level_becomes_zeros_and_warns():
    encoder = TableEncoder().fit(P, Q)
    new = {"age": [1.0, 2.0], "town": ["Ulm", "Kiel"], "member": [True, True]}
    with pytest.warns(UserWarning, match="column 'town' has 'Ulm'"):
        got = encoder.transform(new)
    np.testing.assert_array_equal(got, [[1, 1, 0, 0], [2, 1, 0, 1]])


def test_levels_that_never_occur_make_no_feature():
    town = pd.Categorical(["Bonn", "Kiel"], categories=["Bonn", "Kiel", "Ulm"])
    encoder = TableEncoder().fit(pd.DataFrame({"town": town}), {"town": ["Kiel", "Bonn"]})
    assert encoder.feature_names_ == ["town=Bonn", "town=Kiel"]


def test_categories_may_be_numbers_and_come_in_chunks():
    # Two chunks that count their levels in different orders.
    chunks = [pa.array(["1"]).dictionary_encode(), pa.array(["2", "1"]).dictionary_encode()]
    told = TableEncoder().fit_transform({"g": pa.chunked_array(chunks)}, {"g": ["1", "2"]})[0]
    np.testing.assert_array_equal(told, [[1, 0], [0, 1], [1, 0]])
    grade = pd.DataFrame({"grade": pd.Categorical([1, 2])})
    encoder = TableEncoder()
    p, _ = encoder.fit_transform(grade, grade)
    assert encoder.feature_names_ == ["grade=1", "grade=2"]
    np.testing.assert_array_equal(p, np.eye(2))
    with pytest.raises(TableError, match=r"'grade' must hold the same kind.*numbers in q"):
        TableEncoder().fit(grade, {"grade": [1, 2]})
    with pytest.raises(TableError, match="numbers in the new table"):
        encoder.transform({"grade": [1, 2]})


def test_too_many_levels_are_refused_with_advice():
    ids = {"id": [f"u{i}" for i in range(51)]}
    with pytest.raises(TableError, match=r"'id' must have at most 50 .* received 51.*--drop"):
        TableEncoder().fit(ids, ids)
    assert TableEncoder(max_levels=51).fit_transform(ids, ids)[0].shape == (51, 51)


MISSING_P = {"age": [30.0, None, 40.0], "town": ["Bonn", "Kiel", None]}
MISSING_Q = {"age": [50.0, 60.0], "town": ["Bonn", "Kiel"]}
MISSING_HOLDERS = {k: HOLDERS[k] for k in ("dict of lists", "pandas", "polars", "pyarrow table")}


@pytest.mark.parametrize("hold", MISSING_HOLDERS.values(), ids=MISSING_HOLDERS)
def test_missing_values(hold):
    p, q = hold(MISSING_P), hold(MISSING_Q)
    with pytest.raises(TableError, match=r"'age' with 1 in p, 0 in q.*'drop'.*'indicator'"):
        TableEncoder().fit(p, q)

    dropped = TableEncoder(missing="drop")
    with pytest.warns(UserWarning, match="'Kiel' only in q"):
        # Only the first row of p is complete, and so the town Kiel is gone from p.
        got_p, got_q = dropped.fit_transform(p, q)
    np.testing.assert_array_equal(got_p, [[30, 1, 0]])
    assert got_q.shape == (2, 3)
    np.testing.assert_array_equal(dropped.kept_p_, [True, False, False])
    assert dropped.kept_q_.all()
    with pytest.raises(TableError, match=r"'age' of the new table.*1 missing value"):
        dropped.transform(p)

    marked = TableEncoder(missing="indicator")
    with pytest.warns(UserWarning, match="'age' has missing values only in p"):
        got_p, got_q = marked.fit_transform(p, q)
    assert marked.feature_names_ == [
        "age",
        "age is missing",
        "town=Bonn",
        "town=Kiel",
        "town is missing",
    ]
    # 45 is the median of 30, 40, 50 and 60.
    np.testing.assert_array_equal(got_p, [[30, 0, 1, 0, 0], [45, 1, 0, 1, 0], [40, 0, 0, 0, 1]])
    np.testing.assert_array_equal(got_q, [[50, 0, 1, 0, 0], [60, 0, 0, 1, 0]])
    assert "the median of both tables, 45" in marked.summary()["age"]
    np.testing.assert_array_equal(marked.transform(p), got_p)
    nothing = hold({"age": [None], "town": [None]})
    np.testing.assert_array_equal(marked.transform(nothing), [[45, 1, 0, 0, 1]])


def test_nan_is_a_missing_value_everywhere():
    for hold in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        with pytest.raises(TableError, match="'x' with 1 in p"):
            TableEncoder().fit(hold({"x": [1.0, float("nan")]}), hold({"x": [1.0]}))


def test_missing_at_transform_only_warns():
    encoder = TableEncoder(missing="indicator").fit({"x": [1.0, 3.0]}, {"x": [2.0]})
    with pytest.warns(UserWarning, match="had none in the fitted tables; replaced by the median 2"):
        np.testing.assert_array_equal(encoder.transform({"x": [None, 5.0]}), [[2], [5]])


@pytest.mark.parametrize(
    ("p", "q", "options", "message"),
    [
        ({"x": [1, "a"]}, {"x": [1]}, {}, "Column 'x' of p must hold numbers, or text"),
        ({"x": [1.0]}, {"x": ["a"]}, {}, "numbers in p and text or categories in q"),
        ({"x": [1.0, np.inf]}, {"x": [1.0]}, {}, "'x' of p must hold finite.*1 infinite value"),
        ({"x": [1j]}, {"x": [1.0]}, {}, "Column 'x' of p"),
        ({"x": [[1.0]]}, {"x": [1.0]}, {}, "'x' of p must hold numbers or categories.*list"),
        ({"x": [b"\xff"]}, {"x": [1.0]}, {}, "UTF-8"),
        ({"x": "abc"}, {"x": [1.0]}, {}, "must be a sequence; received 'abc'"),
        ({"x": 3.0}, {"x": [1.0]}, {}, "Column 'x' of p"),
        ({"x": np.zeros((2, 2))}, {"x": [1.0]}, {}, "Column 'x' of p"),
        ({"x": []}, {"x": [1.0]}, {}, "p must have at least one row"),
        ({"x": [1.0]}, {"x": np.empty(0)}, {}, "q must have at least one row"),
        ({}, {}, {}, "received none"),
        ({"x": [1.0]}, {"x": [1.0]}, {"drop": ["x"]}, "all are dropped"),
        ({"": [1.0]}, {"": [1.0]}, {}, "one without, perhaps a saved row index"),
        ({"x": [1.0], "y": [1.0, 2.0]}, {"x": [1.0], "y": [2.0]}, {}, "must have one length"),
        ({"x": [None]}, {"x": [None]}, {"missing": "indicator"}, "only missing values in both"),
        ({"x": [None]}, {"x": [1.0]}, {"missing": "drop"}, "each of its 1 row"),
        ({"t": [dt.date(2024, 1, 2)]}, {"t": [1.0]}, {}, "'t' of p .* dates or times"),
        ({"t": [dt.timedelta(1)]}, {"t": [1.0]}, {}, "'t' of p .* dates or times"),
        (pd.DataFrame({"t": pd.to_datetime(["2024-01-02"])}), {"t": [1.0]}, {}, "dates or times"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused_by_name_and_rule(p, q, options, message):
    with pytest.raises(TableError, match=message) as caught:
        TableEncoder(**options).fit(p, q)
    assert "\n" not in str(caught.value)


def test_bad_parameters_and_order_of_calls():
    with pytest.raises(ValueError, match=r"missing must be.*received 'ignore'"):
        TableEncoder(missing="ignore")
    with pytest.raises(TableError, match="must be fitted before"):
        TableEncoder().transform(P)


def test_labels_name_the_tables_in_messages():
    with pytest.raises(TableError, match=r"only in old\.csv"):
        TableEncoder(labels=("old.csv", "new.csv")).fit({"a": [1], "b": [1]}, {"a": [1]})


def test_one_side_may_be_all_missing():
    encoder = TableEncoder(missing="indicator")
    with pytest.warns(UserWarning, match="missing values only in q"):
        p, q = encoder.fit_transform({"x": ["a", "b"]}, {"x": [None, None]})
    np.testing.assert_array_equal(p, [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(q, [[0, 0, 1], [0, 0, 1]])


def test_pickles():
    encoder = TableEncoder(missing="indicator").fit(P, Q)
    again = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(again.transform(P), P_MATRIX)
    assert again.summary() == encoder.summary()
