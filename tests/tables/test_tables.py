"""Tables as people have them: matched by name, encoded in one way, refused in one line."""

from __future__ import annotations

import datetime as dt
import decimal
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isthmus.tables.door import Door
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
    encoder = TableEncoder().fit(p, q)
    whole = encoder.transform(p)
    row = data.draw(st.integers(0, len(whole) - 1))
    alone = encoder.transform({name: [values[row]] for name, values in p.items()})
    np.testing.assert_array_equal(alone[0], whole[row])


def test_a_column_of_one_table_only_is_left_out_unless_it_is_asked_for():
    extra = {**Q, "wage": [1.0, 2.0]}
    encoder = TableEncoder()
    np.testing.assert_array_equal(encoder.fit_transform(P, extra)[1], Q_MATRIX)
    assert encoder.summary()["wage"] == "left out: only q has it"
    chosen = TableEncoder(columns=["age", "member"])
    np.testing.assert_array_equal(chosen.fit_transform(P, extra)[1], Q_MATRIX[:, :2])
    with pytest.raises(TableError, match=r"received \['wage'\], which p does not have"):
        TableEncoder(columns=["wage"]).fit(P, extra)
    with pytest.raises(TableError, match=r"must have a column in common.*'x': only p has it"):
        TableEncoder().fit({"x": [1.0]}, {"y": [1.0]})


def test_all_faults_are_told_at_once_in_the_words_of_the_door():
    p = {"a": [1.0, np.inf], "b": [np.inf, 2.0], "c": [1.0, 2.0]}
    q = {"a": [1.0, 3.0], "b": [1.0, 2.0], "c": [np.inf, 3.0]}
    with pytest.raises(TableError, match=r"3 faults.*\(1\).*drop=\['a'\].*'b' of p.*'c' of q"):
        TableEncoder().fit(p, q)
    with pytest.raises(TableError, match=r"--drop a.*--drop b.*--drop c"):
        TableEncoder(door=Door(command=True)).fit(p, q)
    with pytest.raises(TableError, match=r"drop must name.*\['wgae'\].*keep must name.*\['x'\]"):
        TableEncoder(drop=["wgae"], keep=["x"]).fit(P, Q)


def test_new_rows_may_have_further_columns_in_any_order():
    encoder = TableEncoder().fit(P, Q)
    new = {"z": ["?", "?"], "town": Q["town"], "age": Q["age"], "member": Q["member"]}
    np.testing.assert_array_equal(encoder.transform(new), Q_MATRIX)
    with pytest.raises(TableError, match=r"received one without \['age', 'member'\]"):
        encoder.transform({"town": Q["town"]})


def test_a_duplicate_name_is_refused():
    twice = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    with pytest.raises(TableError, match=r"\['a'\] twice"):
        TableEncoder().fit(twice, twice)
    with pytest.raises(TableError, match=r"\['1'\] twice"):
        TableEncoder().fit({1: [0.0], "1": [0.0]}, {"1": [0.0]})


def test_levels_of_one_table_are_reported_where_chance_does_not_explain_them():
    p, q = {"x": ["a"] * 40 + ["b"] * 60}, {"x": ["b"] * 98 + ["c"] * 2}
    encoder = TableEncoder().fit(p, q)
    (one,) = encoder.one_sided_.levels
    # Two rows of "c" among 200 are in q by chance every fourth time.
    assert (one.column, one.levels, one.side) == ("x", ("a",), "p")
    assert encoder.one_sided_.p.sum() == 40 and not encoder.one_sided_.q.any()
    assert one.share == 0.4 and one.rows == 40 and one.rows_without == 100
    assert "'a' of 'x' is only in p (40 % of its rows, none of 100 rows of q)" in encoder.notes()[0]
    assert not TableEncoder().fit({"x": ["a", "b"]}, {"x": ["b", "c"]}).one_sided_.levels
    # Weights make the share, and rows of weight zero are not there.
    encoder.fit_transform(p, q, weight_p=[3.0] * 40 + [1.0] * 60)
    assert encoder.one_sided_.levels[0].share == pytest.approx(120 / 180)
    encoder.fit_transform(p, q, weight_p=[0.0] * 40 + [1.0] * 60)
    assert not encoder.one_sided_.levels


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
    np.testing.assert_array_equal(encoder.transform({"grade": [1, 2]}), np.eye(2))
    # Numbers in one table and levels that read as numbers in the other are numbers.
    mixed = TableEncoder()
    np.testing.assert_array_equal(mixed.fit_transform(grade, {"grade": [1, 2]})[0], [[1], [2]])
    assert "text in p and numbers in q, and both are read as numbers" in mixed.summary()["grade"]


def test_numbers_in_one_table_and_text_in_the_other_are_levels_if_few():
    p, q = {"x": [1, 2] * 20}, {"x": ["1", "none"] * 20}
    encoder = TableEncoder().fit(p, q)
    assert encoder.feature_names_ == ["x=1", "x=2", "x=none"]
    assert "numbers in p and text in q, and both are read as text" in encoder.summary()["x"]
    np.testing.assert_array_equal(encoder.transform({"x": [2.0]}), [[0, 1, 0]])
    p = {"x": np.random.default_rng(0).normal(size=40), "y": p["x"]}
    encoder.fit(p, {**q, "y": [2, 1] * 20})
    assert encoder.summary()["x"].startswith("left out: nearly every row has a level of its own")
    dates = {"x": pd.date_range("2024-01-01", periods=40), "y": p["y"]}
    assert encoder.fit(dates, p).summary()["x"] == (
        "left out: it holds dates in p and numbers in q"
    )


def test_of_many_levels_the_frequent_have_a_feature_and_the_rest_one_together():
    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(1, 301)
    both = [{"x": rng.choice(300, 4000, p=share / share.sum()).astype(str)} for _ in "pq"]
    encoder = TableEncoder()
    matrix = encoder.fit_transform(*both)[0]
    assert matrix.shape[1] == 41 and encoder.feature_names_[-1] == "x=other levels"
    np.testing.assert_array_equal(matrix.sum(axis=1), 1.0)
    assert "40 levels, and one for 260 rarer levels together" in encoder.summary()["x"]
    # An unseen level is a rare one, and says so by no warning.
    assert encoder.transform({"x": ["new"]})[0, -1] == 1.0
    assert TableEncoder(max_levels=5).fit_transform(*both)[0].shape[1] == 6
    # Many columns of levels share what all may cost.
    wide = [{f"x{k}": rng.choice(list("abcdefghijkl"), 500) for k in range(30)} for _ in "pq"]
    assert encoder.fit_transform(*wide)[0].shape[1] <= 180


def test_what_cannot_help_is_left_out_with_a_reason_and_kept_on_demand():
    rng = np.random.default_rng(0)
    n = 200

    def table(month):
        return pd.DataFrame(
            {
                "x": rng.normal(size=n),
                "id": [f"{month}-{k}" for k in range(n)],
                "row": np.arange(n) + 1000 * month,
                "customer_id": rng.permutation(10 * n)[:n],
                "same": 3.0,
                "nothing": None,
                "month": month,
                "season": ["cold" if month == 1 else "warm"] * n,
                "when": pd.Timestamp(2024, month, 1) + pd.to_timedelta(rng.uniform(0, 28, n), "D"),
                "list": [[1, 2]] * n,
                "half": np.nan if month == 1 else 1.0,
            }
        )

    p, q = table(1), table(7)
    encoder = TableEncoder().fit(p, q)
    assert encoder.feature_names_ == ["x"]
    told = {left.name: left.because for left in encoder.left_out_}
    assert told == {
        "id": "identifier", "row": "identifier", "customer_id": "identifier", "same": "constant",
        "nothing": "empty", "half": "empty", "month": "separates", "season": "separates",
        "when": "separates", "list": "unusable",
    }  # fmt: skip
    assert encoder.summary()["month"] == "left out: it alone tells the tables apart: 1 against 7"
    assert "'cold' against 'warm'" in encoder.summary()["season"]
    assert "keep=['customer_id'] brings a column back" in encoder.notes()[0]
    kept = TableEncoder(keep=["month", "id", "when"]).fit(p, q)
    assert {"month", "x", "when", "id=other levels"} <= {*kept.feature_names_}
    assert TableEncoder(columns=["row", "x"]).fit(p, q).feature_names_ == ["row", "x"]
    with pytest.raises(TableError, match=r"'list' of p must hold numbers.*list.*drop=\['list'\]"):
        TableEncoder(keep=["list"]).fit(p, q)
    # Where nothing else remains, what separates the tables is what there is to compare.
    assert TableEncoder(columns=None, drop=["x"]).fit(p, q).feature_names_[-1] == "when"


def test_dates_are_days_and_on_request_hours_weekdays_and_months():
    p = {"t": [dt.datetime(2024, 1, 1, 18), dt.datetime(2024, 3, 5, 6, 30), None]}
    q = {"t": [dt.datetime(2024, 2, 1), dt.datetime(2024, 1, 20)]}
    days = np.array([19723.75, 19787 + 6.5 / 24])
    for hold in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        encoder = TableEncoder()
        got = encoder.fit_transform(hold(p), hold(q))[0]
        np.testing.assert_allclose(got[:2, 0], days, rtol=1e-15)
        assert got[2, 1] == 1.0 and "dates: the number of days" in encoder.summary()["t"]
        parts = TableEncoder(dates=["hour", "weekday", "month"]).fit(hold(p), hold(q))
        new = dict(zip(parts.feature_names_, parts.transform(hold(p))[1], strict=True))
        assert new["t hour"] == 6.0 and new["t weekday=Tuesday"] == new["t month=March"] == 1.0
    months = TableEncoder(dates="month")
    july = {"t": [dt.date(2024, 7, k) for k in range(1, 21)]}
    may = {"t": [dt.date(2024, 5, k) for k in range(1, 21)]}
    assert months.fit(may, july).feature_names_ == ["t month=July", "t month=May"]
    with pytest.raises(ValueError, match=r"dates must be one or several of 'days'.*'year'"):
        TableEncoder(dates="year")


def _zoned(frame):
    return frame.with_columns(pl.col("t").str.to_datetime(time_zone="Europe/Berlin"))


DATES = {
    "text": lambda t: {"t": t},
    "datetime64": lambda t: {"t": np.array(t, dtype="datetime64[s]")},
    "pandas": lambda t: pd.DataFrame({"t": pd.to_datetime(t)}),
    "pandas, arrow": lambda t: pd.DataFrame({"t": t}).astype({"t": "timestamp[us][pyarrow]"}),
    "polars": lambda t: pl.DataFrame({"t": t}).with_columns(pl.col("t").str.to_datetime()),
    "pyarrow": lambda t: pa.table({"t": pa.array(t).cast(pa.timestamp("ns"))}),
}


@pytest.mark.parametrize("hold", DATES.values(), ids=DATES)
def test_dates_of_every_library_are_the_same_days(hold):
    times = ["2024-01-01T06:00:00", "2024-01-03T00:00:00"]
    got = TableEncoder().fit_transform(hold(times), {"t": [dt.datetime(2024, 1, 2)]})[0]
    np.testing.assert_allclose(got[:, 0], [19723.25, 19725.0], rtol=1e-15)


def test_dates_with_a_time_zone_are_instants_and_their_hours_those_of_the_clock():
    frame = pl.DataFrame({"t": ["2024-07-01T12:00:00", "2024-07-02T12:00:00"]})
    zoned = _zoned(frame)
    utc = pd.DataFrame({"t": pd.to_datetime(frame["t"].to_list(), utc=True)})
    encoder = TableEncoder(dates=["days", "hour"], keep=["t"])
    p, q = encoder.fit_transform(zoned, utc)
    # Summer time in Berlin is two hours ahead.
    hour, days = (encoder.feature_names_.index(name) for name in ("t hour", "t"))
    np.testing.assert_allclose(q[:, days] - p[:, days], 2 / 24, rtol=1e-6)
    np.testing.assert_array_equal(p[:, hour], q[:, hour])
    text = {"t": ["2024-07-01T12:00:00Z", "2024-07-02T14:00:00+02:00"]}
    np.testing.assert_array_equal(TableEncoder().fit_transform(text, utc)[0][:, 0], q[:, days])


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        ([dt.timedelta(seconds=3), dt.timedelta(seconds=5)], "seconds", [3.0, 5.0]),
        ([dt.timedelta(days=3), dt.timedelta(days=5)], "days", [3.0, 5.0]),
        ([dt.time(0, 1), dt.time(1)], "seconds", [60.0, 3600.0]),
        (pd.Series(np.array([1, 2], dtype="timedelta64[s]")), "seconds", [1.0, 2.0]),
        (pl.Series([1, 2]).cast(pl.Duration("ms")), "seconds", [0.001, 0.002]),
    ],
)
def test_durations_and_times_of_day(values, unit, expected):
    encoder = TableEncoder()
    np.testing.assert_allclose(
        encoder.fit_transform({"t": values}, {"t": values})[0][:, 0], expected
    )
    assert encoder.summary()["t"] == f"durations or times: in {unit}"


def test_wide_integers_mixed_values_and_periods():
    def first(values):
        return TableEncoder().fit_transform({"x": values}, {"x": values})[0]

    np.testing.assert_array_equal(first(pl.Series([1, 2], dtype=pl.Int128))[:, 0], [1, 2])
    np.testing.assert_array_equal(first([2**70, 1])[:, 0], [2.0**70, 1])
    assert first([1, "a", None]).shape == (3, 3)
    np.testing.assert_array_equal(
        first(pd.Series(pd.period_range("2024-01", periods=2, freq="M")))[:, 0], [19723, 19754]
    )


def test_columns_that_are_missing_in_the_same_rows_share_a_feature():
    x = [1.0, None, 3.0]
    encoder = TableEncoder().fit({"x": x, "y": x}, {"x": [1.0, 2.0], "y": [5.0, 6.0]})
    assert encoder.feature_names_ == ["x", "x is missing", "y"]
    assert "the feature of 'x' says so" in encoder.summary()["y"]


def test_margins_have_their_size_and_hold_for_columns_that_are_left_out():
    rng = np.random.default_rng(0)
    n = 4000
    p = {"x": rng.normal(0, 1, n), "y": rng.normal(0, 1, n), "m": [1] * n}
    q = {"x": rng.normal(1, 1, n), "y": rng.normal(0, 1, n), "m": [2] * n}
    found = {one.name: one for one in TableEncoder().fit(p, q).margins_}
    # By quadrature, the Jensen-Shannon divergence of N(0, 1) and N(1, 1) is 0.1110; bins lose a
    # little.
    assert abs(found["x"].js - 0.1110) < 3 * found["x"].std_error + 0.002
    assert found["y"].js < 3 * found["y"].std_error
    assert found["m"].js == pytest.approx(np.log(2.0))


MISSING_P = {"age": [30.0, None, 40.0], "town": ["Bonn", "Kiel", None]}
MISSING_Q = {"age": [50.0, 60.0], "town": ["Bonn", "Kiel"]}
MISSING_HOLDERS = {k: HOLDERS[k] for k in ("dict of lists", "pandas", "polars", "pyarrow table")}


@pytest.mark.parametrize("hold", MISSING_HOLDERS.values(), ids=MISSING_HOLDERS)
def test_missing_values(hold):
    p, q = hold(MISSING_P), hold(MISSING_Q)
    message = r"2 faults.*'age'.*received 1 in p, 0 in q.*'drop'.*'indicator'.*'town'"
    with pytest.raises(TableError, match=message):
        TableEncoder(missing="error").fit(p, q)

    dropped = TableEncoder(missing="drop")
    # Only the first row of p is complete, and so the town Kiel is gone from p.
    got_p, got_q = dropped.fit_transform(p, q)
    np.testing.assert_array_equal(got_p, [[30, 1, 0]])
    assert got_q.shape == (2, 3)
    np.testing.assert_array_equal(dropped.kept_p_, [True, False, False])
    assert dropped.kept_q_.all()
    with pytest.raises(TableError, match=r"'age' of the new table.*1 missing value"):
        dropped.transform(p)

    marked = TableEncoder(missing="indicator")
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
        with pytest.raises(TableError, match="received 1 in p"):
            TableEncoder(missing="error").fit(hold({"x": [1.0, float("nan")]}), hold({"x": [1.0]}))


def test_missing_at_transform_only_warns():
    encoder = TableEncoder(missing="indicator").fit({"x": [1.0, 3.0]}, {"x": [2.0]})
    with pytest.warns(UserWarning, match="in the fitted tables; replaced by the median 2"):
        np.testing.assert_array_equal(encoder.transform({"x": [None, 5.0]}), [[2], [5]])


@pytest.mark.parametrize(
    ("p", "q", "options", "message"),
    [
        ({"x": [1.0, np.inf]}, {"x": [1.0]}, {}, "'x' of p must hold finite.*1 infinite value"),
        ({"x": [1j]}, {"x": [1.0]}, {}, "Column 'x' of p"),
        ({"x": [[1.0]]}, {"x": [1.0]}, {}, "'x' of p must hold numbers, dates or categ.*list"),
        ({"x": [b"\xff"]}, {"x": [1.0]}, {}, "UTF-8"),
        ({"x": "abc"}, {"x": [1.0]}, {}, "must be a sequence.*received 'abc'"),
        ({"x": 3.0}, {"x": [1.0]}, {}, "Column 'x' of p must be a sequence.*received 3.0"),
        ({"x": (k for k in [1])}, {"x": [1.0]}, {}, "must be a sequence.*received <generator"),
        ({"x": np.zeros((2, 2))}, {"x": [1.0]}, {}, "Column 'x' of p must have one dimension"),
        ({"x": []}, {"x": [1.0]}, {}, "p must have at least one row"),
        ({"x": [1.0]}, {"x": np.empty(0)}, {}, "q must have at least one row"),
        ({}, {}, {}, "received no column"),
        ({"x": [1.0]}, {"x": [1.0]}, {"drop": ["x"]}, "drop names it"),
        ({"": [1.0]}, {"": [1.0]}, {}, "it has no name, and is perhaps a saved row index"),
        ({"x": [1.0], "y": [1.0, 2.0]}, {"x": [1.0], "y": [2.0]}, {}, "must have one length"),
        ({"x": [None]}, {"x": [None]}, {}, "no value in either table"),
        ({"x": [None]}, {"x": [1.0]}, {}, "it has no value in p"),
        ({"x": [None, 1.0], "y": [1.0, None]}, {"x": [1.0], "y": [2.0]}, {"missing": "drop"},
         "each of its 2 rows"),
        ({"t": [dt.date(2024, 1, 2)]}, {"t": [1.0]}, {}, "it holds dates in p and numbers in q"),
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
    encoder = TableEncoder(labels=("old.csv", "new.csv"))
    assert encoder.fit({"a": [1], "b": [1]}, {"a": [1]}).summary()["b"] == (
        "left out: only old.csv has it"
    )


def test_pickles():
    encoder = TableEncoder(missing="indicator").fit(P, Q)
    again = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(again.transform(P), P_MATRIX)
    assert again.summary() == encoder.summary()
