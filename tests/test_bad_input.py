"""Bad input is refused by name, and a refused fit leaves nothing behind."""

from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.exceptions import NotFittedError

from isthmus import MDRE, compare, stack
from isthmus.anchors import Pooled
from isthmus.auxiliaries import Cauchy

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0, 1, (30, 2)), RNG.normal(1, 1, (20, 2))])
Y = np.repeat([1, 0], [30, 20])
P, Q = X[:30], X[30:]

BAD_ROWS = {
    "nothing": None,
    "empty list": [],
    "no rows": np.empty((0, 2)),
    "no columns": np.empty((50, 0)),
    "a number": 3.0,
    "NaN": np.where(np.arange(50)[:, None] == 7, np.nan, X),
    "infinity": np.where(np.arange(50)[:, None] == 7, np.inf, X),
    "minus infinity": np.where(np.arange(50)[:, None] == 7, -np.inf, X),
    "text": np.full((50, 2), "blue"),
    "numbers as text": X.astype(str),
    "text among numbers": [[1.0, "blue"]] * 50,
    "None among numbers": [[1.0, None]] * 50,
    "three dimensions": np.zeros((50, 2, 2)),
    "ragged": [[1.0, 2.0], [1.0]] * 25,
    "complex": X + 1j,
    "dates": np.full((50, 2), np.datetime64("2020-01-01")),
    "python dates": [[dt.date(2020, 1, 1), dt.date(2020, 1, 2)]] * 50,
    "durations": np.full((50, 2), np.timedelta64(3, "D")),
    "a dictionary of objects": [[{}, {}]] * 50,
    "sparse": sparse.csr_matrix(X),
    "bytes": np.full((50, 2), b"blue"),
    "too large for a float": [[10**400, 1]] * 50,
    "a frame of dates": pd.DataFrame({"a": pd.date_range("2020", periods=50), "b": X[:, 0]}),
    "a frame that is not in memory": pl.LazyFrame({"a": X[:, 0], "b": X[:, 1]}),
}


def attributes(model):
    """What a fit leaves behind."""
    return sorted(name for name in vars(model) if name.endswith("_"))


@pytest.mark.parametrize("name", BAD_ROWS)
class TestRows:
    def test_fit_refuses(self, name):
        model = MDRE(random_state=0)
        with pytest.raises((ValueError, TypeError), match=r"\bX\b"):
            model.fit(BAD_ROWS[name], Y)
        assert attributes(model) == []

    def test_a_fitted_model_refuses_and_keeps_its_fit(self, name):
        model = MDRE(random_state=0).fit(X, Y)
        before = model.log_ratio(X)
        for call in (model.log_ratio, model.predict_proba, lambda bad: model.score(bad, Y)):
            with pytest.raises((ValueError, TypeError), match=r"\bX\b"):
                call(BAD_ROWS[name])
        with pytest.raises((ValueError, TypeError), match=r"\bX\b"):
            model.fit(BAD_ROWS[name], Y)
        np.testing.assert_array_equal(model.log_ratio(X), before)

    @pytest.mark.parametrize("side", ["p", "q"])
    def test_stack_and_compare_say_which_sample(self, name, side):
        pair = (BAD_ROWS[name], Q) if side == "p" else (P, BAD_ROWS[name])
        calls = [stack, lambda p, q: compare(p, q, random_state=0)]
        # What is not in memory is read by compare.
        for call in calls[:1] if "not in memory" in name else calls:
            with pytest.raises((ValueError, TypeError), match=rf"\b{side}\b"):
                call(*pair)


BAD_LABELS = {
    "nothing": None,
    "three labels": np.arange(50) % 3,
    "one label": np.ones(50),
    "continuous": np.linspace(0, 1, 50),
    "NaN": np.where(np.arange(50) == 3, np.nan, Y),
    "too few": Y[:-1],
    "too many": np.append(Y, 1),
    "two columns": np.column_stack([Y, 1 - Y]),
    "empty": [],
    "one row of a label": np.arange(50) == 0,
}


class TestLabels:
    @pytest.mark.parametrize("name", BAD_LABELS)
    def test_fit_refuses(self, name):
        model = MDRE(random_state=0)
        with pytest.raises((ValueError, TypeError), match=r"\by\b|label"):
            model.fit(X, BAD_LABELS[name])
        assert attributes(model) == []

    @pytest.mark.parametrize("name", BAD_LABELS)
    def test_a_refused_refit_loses_nothing(self, name):
        model = MDRE(random_state=0).fit(X, Y)
        before, kept = model.log_ratio(X), attributes(model)
        with pytest.raises((ValueError, TypeError), match=r"\by\b|label"):
            model.fit(X[:, :1], BAD_LABELS[name])
        assert attributes(model) == kept
        np.testing.assert_array_equal(model.log_ratio(X), before)

    def test_score_refuses_other_labels(self):
        model = MDRE(random_state=0).fit(X, Y)
        with pytest.raises(ValueError, match=r"y must hold the labels .* received \[1, 2\]"):
            model.score(X, Y + 1)

    def test_score_needs_rows_of_both_labels(self):
        model = MDRE(random_state=0).fit(X, Y)
        with pytest.raises(ValueError, match="both labels"):
            model.score(X[Y == 1], Y[Y == 1])


BAD_WEIGHTS = {
    "negative": np.where(np.arange(50) == 3, -1.0, 1.0),
    "NaN": np.where(np.arange(50) == 3, np.nan, 1.0),
    "infinite": np.where(np.arange(50) == 3, np.inf, 1.0),
    "too few": np.ones(49),
    "two columns": np.ones((50, 2)),
    "text": np.full(50, "heavy"),
    "none of p": np.where(Y == 1, 0.0, 1.0),
    "all zero": np.zeros(50),
}


class TestWeights:
    @pytest.mark.parametrize("name", BAD_WEIGHTS)
    def test_fit_refuses(self, name):
        model = MDRE(random_state=0)
        with pytest.raises((ValueError, TypeError), match="weight"):
            model.fit(X, Y, sample_weight=BAD_WEIGHTS[name])
        assert attributes(model) == []

    @pytest.mark.parametrize("name", BAD_WEIGHTS)
    @pytest.mark.parametrize("side", ["weight_p", "weight_q"])
    def test_compare_names_the_side(self, name, side):
        n = 30 if side == "weight_p" else 20
        bad = BAD_WEIGHTS[name][:n] if name not in ("too few", "none of p") else np.ones(n - 1)
        with pytest.raises((ValueError, TypeError), match=side):
            compare(P, Q, random_state=0, **{side: bad})


BAD_PARAMETERS = {
    "auxiliaries": ["nonsense", 3.0, [Cauchy(), 3.0], [None, 1], object(), Cauchy],
    "critic": ["cubic", None, 3, object()],
    "anchor": ["cauchy", 3, object(), ("gaussian", "cauchy"), Pooled("cauchy")],
    "maps": ["cubic", 3, ["identity"] * 3, ["identity", "cubic"], object()],
    "prior": ["even", [1, 1], [1, 1, 0], [1, 1, -1], [1, 1, np.nan], {"p": 1, "q": 1}, 3, "ab"],
    "l2": [-1, np.nan, -np.inf, "much", None, True, [1.0]],
    "known_density": ["yes", 2, None, 0.5],
    "oversample": [0, -1, np.nan, np.inf, "many", None],
    "solver": ["adam", None, 3],
    "tol": [0, -1e-3, np.nan, np.inf, "tight", None],
    "max_iter": [0, -1, 1.5, np.inf, "many", None, True],
    "random_state": [-1, 1.5, "seed", [1, 2], True],
    "verbose": ["loud", None],
}
# The message may be on one of several auxiliaries.
WORD = {"auxiliaries": "auxiliar"}
EACH = [
    pytest.param(name, value, id=f"{name} {i}")
    for name, values in BAD_PARAMETERS.items()
    for i, value in enumerate(values)
]


class TestParameters:
    @pytest.mark.parametrize(("name", "value"), EACH)
    def test_fit_names_the_parameter(self, name, value):
        model = MDRE(**{"random_state": 0, name: value})
        with pytest.raises((ValueError, TypeError), match=WORD.get(name, name)):
            model.fit(X, Y)
        assert attributes(model) == []

    def test_every_parameter_is_tried(self):
        assert set(BAD_PARAMETERS) == set(MDRE().get_params(deep=False))

    @pytest.mark.parametrize(("name", "value"), EACH)
    def test_a_refused_refit_loses_nothing(self, name, value):
        model = MDRE(random_state=0).fit(X, Y)
        before, kept = model.log_ratio(X), attributes(model)
        model.set_params(**{name: value})
        with pytest.raises((ValueError, TypeError)):
            model.fit(X[:, :1], Y)
        assert attributes(model) == kept
        np.testing.assert_array_equal(model.log_ratio(X), before)

    def test_an_unknown_parameter_is_refused(self):
        with pytest.raises(TypeError, match="lambda_"):
            MDRE(lambda_=3)
        with pytest.raises(TypeError, match="lambda_"):
            compare(P, Q, lambda_=3)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("estimator", object()),
            ("estimator", 3),
            ("estimator", "mdre"),
            ("estimator", MDRE),
            ("folds", 1),
            ("folds", 2.5),
            ("folds", "five"),
            ("folds", 15),
            ("level", 0),
            ("level", 1),
            ("level", 95),
            ("level", np.nan),
            ("level", "high"),
            ("columns", ["a"]),
            ("missing", "drop"),
            ("missing", "ignore"),
            ("random_state", -1),
            ("random_state", "seed"),
            ("n_jobs", 0),
            ("n_jobs", 1.5),
            ("n_jobs", "all"),
            ("progress", 3),
            ("progress", "bar"),
        ],
    )
    def test_compare_names_the_parameter(self, name, value):
        with pytest.raises((ValueError, TypeError), match=name):
            compare(P, Q, **{"random_state": 0, name: value})

    @pytest.mark.parametrize(
        ("name", "value"),
        [("columns", ["nowhere"]), ("columns", "ab"), ("columns", []), ("missing", "ignore")],
    )
    def test_compare_names_the_parameter_for_frames(self, name, value):
        p, q = pd.DataFrame(P, columns=["a", "b"]), pd.DataFrame(Q, columns=["a", "b"])
        with pytest.raises((ValueError, TypeError), match=name.rstrip("s")):
            compare(p, q, **{"random_state": 0, name: value})

    def test_divergences_and_bounds_name_their_arguments(self):
        c = compare(P, Q, random_state=0, folds=2)
        with pytest.raises(ValueError, match="spec"):
            c.divergence("distance")
        with pytest.raises(TypeError, match="spec"):
            c.divergence(3)
        with pytest.raises(ValueError, match="level"):
            c.divergence("kl", level=2)
        with pytest.raises(ValueError, match="kind"):
            c.lower_bound("upper")
        with pytest.raises(ValueError, match="numerator"):
            c.log_ratio(P, "r", "q")


def test_compare_reads_a_frame_that_is_not_in_memory():
    lazy, good = BAD_ROWS["a frame that is not in memory"], pd.DataFrame(X, columns=["a", "b"])
    asked = {"critic": "quadratic", "folds": 2, "random_state": 0}
    found, whole = (compare(p, good + 1, **asked).kl for p in (lazy, good))
    assert found.value == whole.value


class TestShapes:
    def test_samples_of_other_width(self):
        with pytest.raises(ValueError, match=r"p and q .* 2 columns in p and 1 in q"):
            stack(P, Q[:, :1])
        with pytest.raises(ValueError, match=r"p and q .* 2 columns in p and 1 in q"):
            compare(P, Q[:, :1])

    @pytest.mark.parametrize("width", [1, 3])
    def test_prediction_of_other_width(self, width):
        model = MDRE(random_state=0).fit(X, Y)
        with pytest.raises(ValueError, match=f"X has {width} features, but MDRE is expecting 2"):
            model.log_ratio(np.zeros((4, width)))

    @pytest.mark.parametrize("rows", [1, 2, 3])
    def test_compare_of_too_few_rows(self, rows):
        with pytest.raises(ValueError, match=r"\bq\b.* row"):
            compare(P, Q[:rows])

    def test_only_constant_columns(self):
        with pytest.raises(ValueError, match=r"X .*(constant|vary)"):
            MDRE(random_state=0).fit(np.ones((50, 2)), Y)

    def test_before_fit(self):
        for method in ("log_ratio", "predict_proba", "predict", "decision_function"):
            with pytest.raises(NotFittedError):
                getattr(MDRE(), method)(X)
        with pytest.raises(NotFittedError):
            MDRE().score(X, Y)


def test_a_refused_first_fit_leaves_nothing_even_when_refused_late():
    # The auxiliary is found to be wrong only after the coordinates were made.
    class Late:
        def fit(self, p, q):
            return self

        def sample(self, n, rng):
            raise ValueError("no samples today")

    model = MDRE([Late()], random_state=0)
    with pytest.raises(ValueError, match="no samples today"):
        model.fit(X, Y)
    assert attributes(model) == []


ANY_NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, -0.0, 1.0, 1e-300, 1e300, -1e308, 5e-324]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(0, 8), st.integers(0, 3)), elements=ANY_NUMBERS),
    st.integers(0, 8),
)
@example(np.array([[0.0], [1.0], [0.0], [1.0]]), 2)
@example(np.array([[0.0], [0.0], [1.0], [1.0]]), 2)
@example(np.array([[1e300], [-1e300], [0.0], [1.0]]), 2)
@example(np.array([[-1e308], [1.7e308], [0.0], [1.0]]), 2)
@example(np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), 2)
def test_any_table_gives_numbers_or_an_explained_refusal(table, n_p):
    y = (np.arange(len(table)) < n_p).astype(int)
    with warnings.catch_warnings():
        # Constant and dependent columns, and fits that do not converge, are said to be so.
        warnings.filterwarnings("ignore", message=".*constant over both samples")
        warnings.filterwarnings("ignore", message=".*linearly dependent")
        warnings.filterwarnings("ignore", message="MDRE did not converge")
        try:
            model = MDRE(oversample=2, random_state=0).fit(table, y)
        except ValueError as error:
            assert "X" in str(error) or "y" in str(error)
            return
        got = model.log_ratio(table)
    assert got.shape == (len(table),)
    assert not np.isnan(got).any()


@settings(max_examples=40, deadline=None)
@given(
    st.one_of(
        st.none(),
        st.text(max_size=5),
        st.floats(),
        st.integers(-5, 5),
        st.lists(st.one_of(st.floats(), st.text(max_size=2), st.none()), max_size=5),
        st.dictionaries(st.text(max_size=2), st.floats(), max_size=3),
        st.binary(max_size=5),
        st.datetimes(),
    )
)
def test_anything_else_is_refused_with_a_sentence(thing):
    with pytest.raises((ValueError, TypeError)) as caught:
        MDRE(random_state=0).fit(thing, Y)
    assert "X" in str(caught.value)
    with pytest.raises((ValueError, TypeError)):
        compare(thing, Q)
