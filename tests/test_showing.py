"""A comparison as people look at it: rows, frames, dictionaries, notebooks, weights."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isthmus import compare
from isthmus.diagnostics import Diagnostics


def tables(n=120, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for shift in (1.0, 0.0):
        levels = rng.choice(["<b>a", "b", "c"], n)
        made.append(pd.DataFrame({"<i>x": rng.normal(shift, 1, n), "kind": levels}))
    made[0].index = [f"row {k}" for k in range(n)]
    return made


@pytest.fixture(scope="module")
def frames():
    p, q = tables()
    return p, q, compare(p, q, random_state=0)


class TestTopRows:
    def test_frames_come_back_with_columns_and_index(self, frames):
        p, q, c = frames
        top = c.top_rows(4)
        places = np.argsort(-c.log_ratio_p, kind="stable")[:4]
        pd.testing.assert_frame_equal(top.p, p.iloc[places])
        pd.testing.assert_frame_equal(top.q, q.iloc[np.argsort(c.log_ratio_q, kind="stable")[:4]])

    def test_rows_that_were_left_out_do_not_shift_the_places(self):
        p, q = tables()
        p.iloc[[0, 5, 7], 0] = np.nan
        c = compare(p, q, missing="drop", random_state=0)
        top = c.top_rows(200)
        assert len(top.p) == 117 and not top.p.isna().any().any()
        order = np.argsort(-c.log_ratio_p, kind="stable")
        assert list(top.p.index) == list(p.dropna().index[order])

    def test_other_frames_and_arrays(self):
        p, q = tables()
        top = compare(pl.from_pandas(p), pl.from_pandas(q), random_state=0).top_rows(3)
        assert isinstance(top.p, pl.DataFrame) and top.p.shape == (3, 2)
        x, y = p["<i>x"].to_numpy(), q["<i>x"].to_numpy()
        for rows, shape in ((lambda a: a, (3,)), (lambda a: a[:, None], (3, 1))):
            c = compare(rows(x), rows(y), random_state=0)
            assert c.top_rows(3).p.shape == shape
            assert set(c.top_rows(3).q.ravel()) <= set(y)

    def test_a_pickle_holds_some_rows_only(self, frames):
        _, _, c = frames
        copy = pickle.loads(pickle.dumps(c))
        pd.testing.assert_frame_equal(copy.top_rows(5).p, c.top_rows(5).p)
        assert len(copy.given.p) == 100
        with pytest.raises(ValueError, match="n must be at most 100 after a pickle"):
            copy.top_rows(110)
        # Once more changes nothing.
        again = pickle.loads(pickle.dumps(copy))
        pd.testing.assert_frame_equal(again.top_rows(5).q, c.top_rows(5).q)

    def test_bad_number(self, frames):
        with pytest.raises(ValueError, match="n must be an integer"):
            frames[2].top_rows(0)


class TestWeights:
    def test_are_the_ratio_itself(self, frames):
        _, q, c = frames
        np.testing.assert_allclose(c.weights(), np.exp(c.log_ratio_q))
        one = c.weights(q.iloc[:1])
        np.testing.assert_allclose(one, np.exp(c.log_ratio(q.iloc[:1])))
        np.testing.assert_allclose(one, c.weights(q)[:1])

    def test_normalised_have_mean_one(self, frames):
        _, q, c = frames
        assert c.weights(normalise=True).mean() == pytest.approx(1.0)
        assert c.weights(q.iloc[:1], normalise=True).tolist() == [1.0]
        with pytest.raises(ValueError, match="normalise must be True or False"):
            c.weights(normalise="yes")


def test_as_a_dictionary_for_json(frames):
    c = frames[2]
    made = json.loads(json.dumps(c.to_dict(), allow_nan=False))
    assert made["divergences"]["kl"]["value"] == c.kl and made["n_p"] == 120
    assert set(made["diagnostics"]) == set(c.diagnostics) and made["trusted"] is c.trusted


def test_as_a_frame(frames):
    c = frames[2]
    frame = c.to_frame(["kl", "tv"])
    assert isinstance(frame, pd.DataFrame) and list(frame["divergence"]) == ["kl", "tv"]
    assert frame["value"].tolist() == [c.kl.value, c.divergence("tv").value]


def test_in_a_notebook_nothing_of_the_data_is_markup(frames):
    p, q = tables(60)
    p["kind"] = p["kind"].replace("b", "<script>alert(1)</script>")
    with pytest.warns(UserWarning, match="levels"):
        c = compare(p, q, random_state=0)
    for text in (c._repr_html_(), frames[2]._repr_html_(), c.diagnostics._repr_html_()):
        assert "<script>alert" not in text and "<b>a" not in text and "<i>x" not in text
    text = frames[2]._repr_html_()
    assert "KL(p‖q)" in text and "<svg" in text and "</table>" in text


class TestDiagnostics:
    def test_print_as_a_table(self, frames):
        found = frames[2].diagnostics
        lines = str(found).splitlines()
        assert len(lines) == len(found) + 1 and max(map(len, lines)) <= 110
        assert repr(found).startswith(f"Diagnostics({len(found)} checks: ")

    def test_is_a_frozen_mapping(self, frames):
        found = frames[2].diagnostics
        assert isinstance(found, Diagnostics) and dict(found) == dict(found.items())
        with pytest.raises(TypeError):
            found["tails"] = None
        assert dict(pickle.loads(pickle.dumps(found))) == dict(found)
