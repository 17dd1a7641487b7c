"""What is decided about tables does not depend on how their rows lie in parts and batches."""

from __future__ import annotations

import datetime as dt
import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isthmus.data.engine import Here
from isthmus.data.memory import _read_piece
from isthmus.data.source import Source, joined
from isthmus.tables import drawn, tallied, tallies
from isthmus.tables.columns import TableError
from isthmus.tables.frames import TableEncoder
from isthmus.tables.looking import Looking


def table(n, seed, shift=0.0):
    """A bit of everything that tables have."""
    rng = np.random.default_rng(seed)
    towns = rng.choice(["Bonn", "Kiel", "Ulm", "Jena"], n, p=[0.4, 0.3, 0.2, 0.1]).astype(object)
    towns[rng.random(n) < 0.05] = None
    age = rng.normal(40 + shift, 9, n)
    gone = rng.random(n) < 0.1
    day = dt.datetime(2024, 1, 1)
    times = [day + dt.timedelta(hours=float(h)) for h in rng.uniform(0, 9000, n)]
    return pa.table(
        {
            "age": pa.array(age, mask=gone),
            "pay": pa.array(age * 1000, mask=gone),
            "kids": rng.poisson(1 + shift, n),
            "town": pa.array(towns),
            "when": pa.array(times, pa.timestamp("us", "Europe/Berlin")),
            "as_text": [f"{time:%Y-%m-%d}" for time in times],
            "half_text": [f"{time:%Y-%m-%d}" for time in times[:-1]] + ["unknown"],
            "id": np.arange(n) + 7 * seed,
            "code": [f"{k:x}" for k in rng.integers(0, 2**40, n)],
            "one": np.full(n, 3.5),
            "nothing": pa.nulls(n),
            "list": [[1]] * n,
            "took": pa.array(rng.integers(0, 400_000, n), pa.duration("s")),
            "number_or_text": pa.array([1, 2] * (n // 2)) if seed else ["1", "2"] * (n // 2),
            "batch": ["b" if seed else "a"] * n,
        }
    )


def in_parts(rows, cuts, label):
    """A source whose parts begin at these rows."""
    ends = [0, *sorted(cuts), len(rows)]
    pieces = [rows.slice(a, b - a) for a, b in pairwise(ends)]
    parts = joined([(len(piece), piece) for piece in pieces], _read_piece)
    return Source(parts, tuple(rows.column_names), rows.num_columns, label)


P, Q = table(300, 0), table(400, 1, 0.5)
DECIDED = ("plans", "left_out_", "feature_names_", "dropped_rows")


def same(one, other):
    for name in DECIDED:
        assert getattr(one, name) == getattr(other, name), name
    assert one.one_sided_.levels == other.one_sided_.levels
    assert one.margins_ == other.margins_
    assert one.notes() == other.notes()


@settings(max_examples=15, deadline=None)
@given(
    st.sets(st.integers(0, 300), max_size=6),
    st.sets(st.integers(0, 400), max_size=6),
    st.sampled_from(["indicator", "drop"]),
)
def test_a_source_is_decided_as_the_frame_is(cuts_p, cuts_q, missing):
    options = {"missing": missing, "dates": ["days", "hour", "weekday", "month"]}
    whole = TableEncoder(**options)
    rows = whole.fit_transform(P, Q)
    encoder = TableEncoder(**options)
    p, q = in_parts(P, cuts_p, "p"), in_parts(Q, cuts_q, "q")
    learned = encoder.fit_sources(p, q, Here())
    same(encoder, whole)
    assert learned.p.rows + encoder.dropped_rows[0] == 300
    for source, side, wanted in ((p, learned.p, rows[0]), (q, learned.q, rows[1])):
        assert np.array_equal(encoder.sampled(side.drawn), wanted)
        made = [encoder.rows_of(batch)[0] for batch in source.only(encoder.sources).batches()]
        assert np.array_equal(np.concatenate(made), wanted)
    masks = np.concatenate([encoder.rows_of(batch)[1] for batch in p.batches()])
    assert np.array_equal(masks, whole.kept_p_)


def test_rows_of_many_are_drawn_by_their_numbers_alone(monkeypatch):
    # A margin of 6 standard deviations of a binomial count is far above these cuts.
    names = ("age", "town")
    whole = Looking.at(len(Q), names, "q", most=20)
    assert whole.limit < 2**64
    found = [
        sum_of(whole, in_parts(Q, cuts, "q").only(names)).drawn
        for cuts in ((), (5,), (100, 101, 250), range(1, 400, 3))
    ]
    for other in found[1:]:
        assert np.array_equal(found[0].places, other.places) and len(other) == 20
        assert np.array_equal(found[0].columns["town"].values, other.columns["town"].values)
    every = drawn.Drawn.of({}, np.ones(400), drawn.np.arange(400), np.arange(400), 20)
    assert every.places.tolist() == list(range(20))


def sum_of(look, source):
    found = None
    for part in source.parts:
        one = look(part.read(part.payload, source.names), part.first)
        found = one if found is None else found + one
    return found


def test_weights_count_as_rows_given_twice(monkeypatch):
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 3, len(P)).astype(float)
    rows = P.select(["kids", "town"]).append_column("w", pa.array(weight))
    look = Looking(("kids", "town"), "p", weight="w")
    found = sum_of(look, in_parts(rows, (17, 200), "p")).columns
    twice = rows.take(np.repeat(np.arange(len(P)), weight.astype(int)))
    other = Looking(("kids", "town"), "p")([twice], 0).columns
    by_level = [dict(zip(one["town"].levels.names, one["town"].levels.rows[:, 2], strict=True))
                for one in (found, other)]  # fmt: skip
    assert by_level[0] == by_level[1]
    assert found["town"].lacking[1] == other["town"].lacking[1]
    assert found["kids"].there[1] == other["kids"].there[1]


@pytest.mark.parametrize(("levels", "because"), [(3000, "levels"), (10**9, "identifier")])
def test_levels_that_are_too_many_are_judged_by_the_sample(levels, because, monkeypatch):
    for module in (tallies, tallied):
        monkeypatch.setattr(module, "MOST_LEVELS", 64)
    n = drawn.DRAWN_ROWS + 5000

    def rows(seed):
        rng = np.random.default_rng(seed)
        return pa.table(
            {"x": rng.normal(size=n), "code": [f"c{k}" for k in rng.integers(0, levels, n)]}
        )

    whole = TableEncoder()
    whole.fit(rows(0), rows(1))
    assert [left.because for left in whole.left_out_] == [because]
    encoder = TableEncoder()
    encoder.fit_sources(in_parts(rows(0), (999,), "p"), in_parts(rows(1), (5, 1000), "q"), Here())
    same(encoder, whole)
    # Each level has about 17 rows of the sample, so that hardly one is not in it.
    if because == "levels":
        assert "it has 3,000 levels in 110,000 rows" in whole.left_out_[0].reason


def test_numbers_that_are_too_many_are_judged_by_the_sample(monkeypatch):
    monkeypatch.setattr(tallies, "MOST_VALUES", 16)
    rng = np.random.default_rng(0)
    keys = [rng.permutation(2000)[:1000].astype(float) for _ in range(2)]
    p, q = ({"key": key, "x": np.round(rng.normal(size=1000), 2)} for key in keys)
    encoder = TableEncoder()
    encoder.fit(p, q)
    assert [left.because for left in encoder.left_out_] == ["identifier"]
    assert encoder.plans[0].fill == np.median(np.concatenate([p["x"], q["x"]]))


def test_kinds_that_differ_between_batches_are_refused_by_name():
    look = Looking(("a",), "rows.parquet")
    with pytest.raises(TableError, match=r"rows.parquet: Column 'a' .* numbers in some and text"):
        look([{"a": [1.0]}, {"a": ["x"]}], 0)
    # What has no value yet is of any kind.
    found = look([{"a": [None]}, {"a": ["x"]}, {"a": [None]}], 0).columns["a"]
    assert (found.kind, found.rows, found.missing) == ("category", 3, 2)


def test_a_batch_of_text_that_reads_as_dates_stays_text_where_the_rest_does_not():
    encoder = TableEncoder()
    encoder.fit({"t": ["2024-01-01", "a", "b", "a"] * 9}, {"t": ["2024-01-01", "a", "b"] * 9})
    assert encoder.transform({"t": ["2024-01-01"] * 2})[:, 0].tolist() == [1.0, 1.0]


def test_a_pass_can_travel():
    look = Looking.at(10, ("age",), "p", dates=("days", "hour"))
    again = pickle.loads(pickle.dumps(look))
    one, other = (f([P], 0) for f in (look, again))
    assert pickle.loads(pickle.dumps(one)).columns["age"].gone == other.columns["age"].gone
