"""Drift of windows from a reference, on tables in which it is known what changed."""

from __future__ import annotations

import json
import pickle
from datetime import datetime

import numpy as np
import pytest

import isthmus

ROWS = 600


def table(n, rng, **changed):
    out = {
        "age": rng.normal(40.0, 9.0, n),
        "pay": rng.lognormal(size=n),
        "gaps": np.where(rng.random(n) < 0.1, np.nan, rng.exponential(size=n)),
        "town": rng.choice(["Bonn", "Kiel", "Ulm"], n, p=[0.5, 0.3, 0.2]),
    }
    return out | changed


def joined(*tables):
    return {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}


@pytest.fixture(scope="module")
def found():
    """Three quiet days, then three in which a level is new and values are missing."""
    rng = np.random.default_rng(0)
    quiet = table(3 * ROWS, rng)
    moved = table(3 * ROWS, rng, town=rng.choice(["Bonn", "Kiel", "<b>Jena</b>"], 3 * ROWS))
    moved["age"] = np.where(rng.random(3 * ROWS) < 0.15, np.nan, moved["age"])
    days = np.repeat(np.arange("2024-03-01", "2024-03-07", dtype="M8[D]"), ROWS)
    current = joined(quiet, moved) | {"day": days, "month": np.full(6 * ROWS, 3.0)}
    reference = table(2000, rng) | {"month": np.full(2000, 2.0)}
    return isthmus.drift(reference, current, by="day", window="1d", random_state=0)


class TestKnownDrift:
    def test_begins_where_it_begins(self, found):
        assert [one.alarm for one in found.windows] == [False] * 3 + [True] * 3
        assert found.began.at == datetime(2024, 3, 4)
        assert found.began.low <= found.began.at <= found.began.high
        assert found.began.ended is None

    def test_names_columns_and_levels_and_no_others(self, found):
        for window in found.alarms:
            assert set(window.carried_by) == {"age", "town"}
            town = next(one for one in window.columns if one.name == "town")
            assert town.new_levels == ("<b>Jena</b>",)
            # A third of 600 rows, within five standard errors of 0.019.
            assert abs(town.new_share - 1 / 3) < 0.1
            levels = {one.level: one for one in town.levels}
            assert levels["Ulm"].after == 0 and levels["Ulm"].change.high < 0
            age = next(one for one in window.columns if one.name == "age")
            assert "missing 0 % → 1" in age.says

    def test_says_which_rows_are_new(self, found):
        rules = {one.rule: one for w in found.alarms for one in w.segments if one.new}
        assert "town = <b>Jena</b>" in rules
        assert rules["town = <b>Jena</b>"].reference == 0

    def test_intervals_are_above_zero_only_with_drift(self, found):
        lows = [one.estimate.low for one in found.windows]
        assert lows[:3] == [0, 0, 0] and min(lows[3:]) > 0.02
        assert all(one.estimate.high > one.estimate.low for one in found.windows)

    def test_leaves_out_what_repeats_the_calendar(self, found):
        assert found.left_out == {"month": "is the month of 'day'"}

    def test_threshold_is_alarms_over_windows(self, found):
        assert found.threshold == pytest.approx(1 / 365.25)
        assert found.above(0.02) == found.alarms

    def test_is_text_json_frame_and_pickle(self, found):
        assert "<b>Jena</b>" in json.dumps(found.to_dict(), allow_nan=False)
        assert list(found.to_frame()["alarm"]) == [one.alarm for one in found.windows]
        assert pickle.loads(pickle.dumps(found)) == found
        assert "2024-03-04" in str(found) and str(found).count("\n") == 8

    def test_page_is_escaped_and_loads_nothing(self, found, tmp_path):
        text = found.report(tmp_path / "drift.html").read_text("utf-8")
        assert "<b>Jena" not in text and "&lt;b&gt;Jena" in text
        assert "<script" not in text and "http:" not in text and "https:" not in text
        assert "Drift since 2024-03-04" in text and "What to do" in text
        assert "<b>Jena" not in found._repr_html_()


def test_a_changed_correlation_is_seen_though_no_column_changes():
    rng = np.random.default_rng(1)
    reference, x = rng.normal(size=(3000, 6)), rng.normal(size=(3000, 6))
    x[:, 1] = 0.25 * x[:, 0] + np.sqrt(1 - 0.25**2) * x[:, 1]
    window = isthmus.drift(reference, x, random_state=0).windows[0]
    assert window.alarm and window.carried_by == ()
    assert {window.pairs[0].first, window.pairs[0].second} == {"x0", "x1"}
    assert window.pairs[0].change.low < 0.25 < window.pairs[0].change.high


def test_the_size_does_not_depend_on_the_rows():
    # A shift of half a standard deviation has a JS of 0.0302.
    rng = np.random.default_rng(2)
    reference = isthmus.drift_reference(rng.normal(size=(8000, 3)))
    for n in (400, 4000):
        x = rng.normal(size=(n, 3))
        x[:, 0] += 0.5
        e = isthmus.drift(reference, x, random_state=0).windows[0].estimate
        assert e.low <= 0.0302 <= e.high


def test_without_drift_alarms_are_as_rare_as_asked():
    # The test alone, 120 times at 20 %: 24 are expected, with a standard deviation of 4.4.
    from isthmus.data.seeds import Seeds
    from isthmus.drifting.permuting import blind_features, permutation_test
    from isthmus.drifting.pooled import Category, Numbers, Pool

    rng, alarms = np.random.default_rng(3), 0
    for k in range(120):
        columns = (
            Numbers("a", rng.standard_cauchy(160)),
            Numbers("b", rng.poisson(1.0, 160).astype(float)),
            Category.of("c", rng.integers(0, 4, 160), ("u", "v", "w", "x")),
        )
        blind, _ = blind_features(Pool(columns, 60), Seeds(k)("directions"))
        alarms += permutation_test(blind, 60, 0.2, Seeds(k)).p_value <= 0.2
    assert 8 <= alarms <= 24 + 4 * 4.4


def test_a_reference_is_made_once_and_pickled():
    rng = np.random.default_rng(4)
    old, new = table(500, rng), table(300, rng)
    reference = pickle.loads(pickle.dumps(isthmus.drift_reference(old)))
    first = isthmus.drift(reference, new, random_state=0)
    assert first == isthmus.drift(old, new, random_state=0)
    assert first.windows[0].p_value > 0.01


class TestWindows:
    rng = np.random.default_rng(5)

    def windows(self, by, window=None):
        x = self.rng.normal(size=(len(by), 1))
        found = isthmus.drift(self.rng.normal(size=(100, 1)), x, by, window, random_state=0)
        return [(one.label, one.rows) for one in found.windows]

    def test_of_months_and_weeks(self):
        days = np.arange("2024-01-01", "2024-03-31", dtype="M8[D]")
        assert self.windows(days, "1mo") == [("2024-01", 31), ("2024-02", 29), ("2024-03", 30)]
        weeks = self.windows(np.repeat(days[:14], 3), "1w")
        assert weeks == [("2024-01-01 to 2024-01-07", 21), ("2024-01-08 to 2024-01-14", 21)]

    def test_of_text_that_is_dates_and_of_labels(self):
        text = np.repeat(["2024-01-05", "2024-01-06"], 25)
        assert self.windows(text, "1d") == [("2024-01-05", 25), ("2024-01-06", 25)]
        assert self.windows(np.repeat(["v2", "v1"], 25)) == [("v2", 25), ("v1", 25)]

    def test_of_numbers_and_rows(self):
        number = np.repeat([0.5, 1.5, 2.5], 20)
        assert [rows for _, rows in self.windows(number, 2.0)] == [40, 20]
        found = isthmus.drift(np.arange(50.0), np.arange(70.0), window=30, random_state=0)
        assert [one.rows for one in found.windows] == [30, 30, 10]
        assert found.windows[2].estimate is None and "fewer" in found.windows[2].notes[0]

    @pytest.mark.parametrize(
        ("by", "window", "words"),
        [
            ("nothing", None, "by must name a column"),
            ("day", "1x", "window must be a number and one of"),
            ("day", "0d", "window must be"),
            ("label", "1d", "window must be left out"),
            (None, "1d", "window must be a number of rows"),
            (np.arange(3), None, "a value for every row"),
        ],
    )
    def test_refusals(self, by, window, words):
        days = np.arange("2024-01-01", "2024-02-10", dtype="M8[D]")
        current = {"x": np.arange(40.0), "day": days, "label": ["a"] * 40}
        with pytest.raises(ValueError, match=words):
            isthmus.drift({"x": np.arange(40.0)}, current, by, window)


def test_columns_of_one_table_only_are_left_out_with_a_reason():
    reference = {"x": np.arange(40.0), "old": np.arange(40.0), "when": ["2024-01-01"] * 40}
    current = {"x": np.arange(40.0), "new": np.arange(40.0), "when": ["2024-01-01"] * 40}
    found = isthmus.drift(reference, current, random_state=0, drop=["when"])
    assert set(found.left_out) == {"old", "new"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"divergence": "no"}, "no"),
        ({"level": 1.0}, "level must be"),
        ({"alarms_per_year": 0}, "alarms_per_year must be"),
        ({"windows_per_year": -1}, "windows_per_year must be"),
        ({"columns": "x"}, "columns must be a list"),
        ({"columns": ["y"]}, "columns must name"),
        ({"drop": ["y"]}, "drop must name"),
        ({"rows": 3}, "rows must be"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(ValueError, match=words):
        isthmus.drift({"x": np.arange(40.0)}, {"x": np.arange(40.0)}, **arguments)


def test_degenerate_columns_have_an_answer():
    # Constant, empty, and complete in one table only.
    n = 60
    reference = {"c": np.ones(n), "e": np.full(n, np.nan), "x": np.arange(float(n))}
    current = {"c": np.ones(n), "e": np.arange(float(n)), "x": np.full(n, np.nan)}
    window = isthmus.drift(reference, current, random_state=0).windows[0]
    assert window.alarm and set(window.carried_by) == {"e", "x"}
    same = isthmus.drift({"c": np.ones(n)}, {"c": np.ones(n)}, random_state=0).windows[0]
    assert not same.alarm and same.estimate.value == 0


def test_a_short_window_at_the_end_does_not_lead():
    """The last window holds a few rows of one kind: it has an alarm, and the answer is others'."""
    rng = np.random.default_rng(0)
    reference = table(2000, rng)
    current = joined(
        table(600, rng),
        table(600, rng, age=rng.normal(46.0, 9.0, 600)),
        table(40, rng, town=np.full(40, "Ulm"), pay=np.full(40, 9.0)),
    )
    days = np.repeat(np.arange("2024-03-01", "2024-03-04", dtype="M8[D]"), [600, 600, 40])
    found = isthmus.drift(reference, current | {"day": days}, by="day", window="1d", random_state=0)
    assert [one.alarm for one in found.windows] == [False, True, True]
    last = found.windows[-1]
    assert last.estimate.value > found.windows[1].estimate.value and found.is_short(last)
    assert found.largest.label == "2024-03-02" and "mostly in age" in found.answer
