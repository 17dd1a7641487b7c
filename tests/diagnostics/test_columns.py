"""Which columns carry the difference: against closed forms, on rows that no model has seen."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier

from isthmus import MDRE, compare
from isthmus.data.kept import KeptRows
from isthmus.data.sample import TwoSamples
from isthmus.diagnostics import ColumnShift, rank_columns
from isthmus.diagnostics.marginal import jensen_shannon, level_codes
from isthmus.tables.columns import as_columns

NORMAL = MDRE(auxiliaries="bridge", critic="quadratic", anchor="gaussian", maps=None, l2=np.inf)


def quick(p, q, **how):
    return compare(p, q, **{"estimator": NORMAL, "folds": 2, "random_state": 0, **how})


def by_name(shifts):
    return {shift.name: shift for shift in shifts}


class TestPermutation:
    def test_independent_columns_have_their_own_divergence(self):
        """Value of a column is the mean of its KL in both directions; their sum is the whole."""
        z = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            p, q = rng.normal(0, 1, (400, 4)), rng.normal(0, 1, (400, 4))
            q[:, 1] += 1.0
            q[:, 3] *= 2.0
            scale = 0.25 * (4 + 0.25 - 2)  # (KL(p‖q) + KL(q‖p)) / 2 of N(0, 1) and N(0, 2)
            truth = {"x0": 0.0, "x1": 0.5, "x2": 0.0, "x3": scale}
            for shift in rank_columns(quick(p, q), random_state=seed):
                z.append((shift.value - truth[shift.name]) / shift.std_error)
        # 32 scores: none beyond four standard errors, and a spread within four of its own
        # (1 / sqrt(64) = 0.125) of one.
        assert np.abs(z).max() < 4, z
        assert abs(np.std(z) - 1) < 0.5, np.std(z)
        assert abs(np.mean(z)) < 4 / np.sqrt(len(z))

    def test_rows_are_judged_by_models_that_have_not_seen_them(self):
        """Fitted to noise, a free model finds nothing; on its own rows it would find much."""
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (100, 6)), rng.normal(0, 1, (100, 6))
        c = quick(p, q)
        own = 0.5 * (c.estimator.log_ratio(p).mean() - c.estimator.log_ratio(q).mean())
        assert own > 0.1
        shifts = rank_columns(c, random_state=0)
        assert all(abs(s.value) < 4 * s.std_error for s in shifts), shifts
        assert sum(s.value for s in shifts) < 0.5 * own

    def test_sees_relations_that_no_column_shows_alone(self):
        rng = np.random.default_rng(1)
        p = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]], 600)
        q = rng.normal(0, 1, (600, 3))
        c = quick(p, q)
        within, alone = by_name(rank_columns(c, random_state=0)), by_name(
            rank_columns(c, "marginal")
        )  # fmt: skip
        for name in ("x0", "x1"):
            assert within[name].value > 5 * within[name].std_error
            assert abs(alone[name].value) < 4 * alone[name].std_error
        assert abs(within["x2"].value) < 4 * within["x2"].std_error

    def test_works_across_a_chasm(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(-10, 1, (300, 2)), rng.normal(10, 1, (300, 2))
        q[:, 1] -= 20
        first, second = rank_columns(quick(p, q), random_state=0)
        assert (first.name, second.name) == ("x0", "x1")
        assert abs(first.value - 200) < 4 * first.std_error
        assert abs(second.value) < 4 * second.std_error

    def test_same_seed_same_ranking(self):
        rng = np.random.default_rng(0)
        c = quick(rng.normal(0, 1, (100, 2)), rng.normal(1, 1, (100, 2)))
        assert rank_columns(c, random_state=3) == rank_columns(c, random_state=3)
        assert rank_columns(c, random_state=3) != rank_columns(c, random_state=4)
        one, many = rank_columns(c, repeats=1, random_state=3), rank_columns(c, random_state=3)
        assert one != many

    def test_what_is_not_kept_is_judged_by_the_model_of_all_rows(self, monkeypatch):
        monkeypatch.setattr("isthmus.data.kept.MOST_ROWS", 150)

        def never(*_):
            raise AssertionError("fitted again")

        monkeypatch.setattr("isthmus.diagnostics.permutation.refitted", never)
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (600, 2)), rng.normal([0.0, 1.0], 1, (500, 2))
        c = quick(p, q)
        assert len(c.kept.p) == len(c.kept.q) == 150
        # From end to end, and as they stand there.
        assert c.kept.at_p[0] < 60 and c.kept.at_p[-1] >= 540
        np.testing.assert_array_equal(c.kept.p, p[c.kept.at_p])
        np.testing.assert_array_equal(c.kept.q, q[c.kept.at_q])
        first = rank_columns(c, random_state=0)[0]
        assert first.name == "x1" and abs(first.value - 0.5) < 4 * first.std_error + 0.05

    def test_weights_count(self):
        """Half of the rows of q have no weight, and they are those that differ."""
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (300, 2)), rng.normal(0, 1, (600, 2))
        q[300:, 0] += 3.0
        weight = np.repeat([2.0, 0.0], 300)
        c = quick(p, q, weight_q=weight)
        assert len(c.kept.q) == 300
        for method in ("permutation", "marginal"):
            for shift in rank_columns(c, method, random_state=0):
                assert abs(shift.value) < 4 * shift.std_error
        light = quick(p, q, weight_q=np.repeat([1.0, 1e-3], 300))
        assert by_name(rank_columns(light, random_state=0))["x0"].value < 0.1
        heavy = quick(p, q, weight_q=np.repeat([1e-3, 1.0], 300))
        assert by_name(rank_columns(heavy, random_state=0))["x0"].value > 3

    def test_missing_values_move_with_their_column(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (200, 2)), rng.normal(0, 1, (200, 2))
        p[rng.uniform(size=200) < 0.4, 0] = np.nan
        trees = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=4)
        c = quick(p, q, estimator=MDRE([], critic=trees))
        for method in ("permutation", "marginal"):
            shifts = rank_columns(c, method, random_state=0)
            assert shifts[0].name == "x0" and shifts[0].value > 3 * shifts[0].std_error

    def test_infinite_ratios_count_as_very_large_ones(self):
        class Cliff(BaseEstimator):
            def fit(self, X, y):
                return self

            def log_ratio(self, X):
                return np.where(np.asarray(X)[:, 0] > 0, np.inf, -np.inf)

        rng = np.random.default_rng(0)
        p, q = rng.uniform(1, 2, (40, 2)), rng.uniform(-2, -1, (40, 2))
        c = quick(p, q, estimator=Cliff())
        first, second = rank_columns(c, random_state=0)
        assert (first.name, first.value, second.value) == ("x0", 700.0, 0.0)

    def test_work_is_bounded_for_many_columns(self):
        class Counting(BaseEstimator):
            rows = 0

            def fit(self, X, y):
                return self

            def log_ratio(self, X):
                Counting.rows += len(X)
                return np.asarray(X)[:, 0]

        rng = np.random.default_rng(0)
        c = quick(
            rng.normal(0, 1, (2000, 120)), rng.normal(0, 1, (2000, 120)), estimator=Counting()
        )
        Counting.rows = 0
        shifts = rank_columns(c, repeats=2, random_state=0)
        assert len(shifts) == 120
        # 2e9 / 120² rows by columns and permutations, were there no least number of rows.
        assert Counting.rows <= 2e9 / 120**2 * 1.2
        assert Counting.rows >= 120 * 50


class TestTables:
    def tables(self):
        rng = np.random.default_rng(0)

        def table(n, phones):
            return {
                "device": rng.choice(list("abc"), n, p=[phones, 0.9 - phones, 0.1]),
                "age": rng.normal(40, 10, n),
                "town": rng.choice(["Bonn", "Kiel"], n),
                "gap": np.where(rng.uniform(size=n) < 0.2, np.nan, rng.normal(0, 1, n)),
            }  # fmt: skip

        return table(500, 0.2), table(500, 0.7)

    @pytest.mark.parametrize("method", ["permutation", "marginal"])
    def test_encoded_columns_are_grouped_under_their_name(self, method):
        p, q = self.tables()
        c = quick(p, q, missing="indicator")
        assert len(c.feature_names) > 4
        shifts = rank_columns(c, method, random_state=0)
        assert shifts[0].name == "device" and shifts[0].value > 5 * shifts[0].std_error
        assert {s.name for s in shifts} == {"device", "age", "town", "gap"}
        assert all(s.value < 4 * s.std_error for s in shifts[1:]), shifts
        assert [s.value for s in shifts] == sorted((s.value for s in shifts), reverse=True)

    def test_some_columns_only(self):
        c = quick(*self.tables(), missing="indicator")
        every = by_name(rank_columns(c, random_state=0))
        some = rank_columns(c, columns=["town", "device"], random_state=0)
        assert [s.name for s in some] == ["device", "town"]
        assert all(every[s.name] == s for s in some)


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    return quick(rng.normal(0, 1, (50, 2)), rng.normal(0, 1, (50, 2)))


class TestRefusals:
    def test_parameters(self, comparison):
        with pytest.raises(ValueError, match="method must be one of 'permutation', 'marginal'"):
            rank_columns(comparison, "gain")
        with pytest.raises(ValueError, match=r"repeats must be an integer in \[1, inf\)"):
            rank_columns(comparison, repeats=0)
        with pytest.raises(ValueError, match=r"columns must name columns .* received \['age'\]"):
            rank_columns(comparison, columns=["age", "x0"])

    def test_without_rows(self):
        with pytest.raises(ValueError, match=r"must hold rows of the samples.*received object"):
            rank_columns(object())

    def test_result_is_plain(self, comparison):
        shift = rank_columns(comparison, random_state=0)[0]
        assert isinstance(shift, ColumnShift)
        assert type(shift.value) is type(shift.std_error) is float

    def test_kept_rows_are_a_copy(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (50, 2)), rng.normal(0, 1, (50, 2))
        c = quick(p, q)
        before = c.kept.p.copy()
        p += 1e6
        np.testing.assert_array_equal(c.kept.p, before)

    def test_rows_kept_of_wide_samples_are_fewer(self):
        wide = np.zeros((3000, 4000))
        kept = KeptRows.of(TwoSamples.of(wide, wide))
        assert kept.p.shape == (500, 4000)


@functools.cache
def js_of_normals(shift):
    law = stats.norm()

    def term(x):
        return -np.log(0.5 * (1 + np.exp(law.logpdf(x - shift) - law.logpdf(x))))

    return law.expect(term, lb=-12, ub=12)


class TestJensenShannon:
    @pytest.mark.parametrize(("n", "m"), [(1000, 1000), (300, 900)])
    @pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
    def test_against_the_truth(self, n, m, shift):
        values, z = [], []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            code = level_codes(rng.normal(0, 1, (n, 1)), rng.normal(shift, 1, (m, 1)))
            value, error = jensen_shannon(code[:n], code[n:])
            values.append(value)
            z.append((value - js_of_normals(shift)) / error)
        # Four standard errors of a mean of forty, and bins that lose up to three per cent.
        slack = 4 * np.std(values) / np.sqrt(40) + 0.03 * js_of_normals(shift)
        assert abs(np.mean(values) - js_of_normals(shift)) < slack
        # A spread of one has an error of 1 / sqrt(80); for equal samples errors are too large.
        assert (0.5 if shift == 0 else 0.6) < np.std(z) < 1.45

    def test_ends_of_the_scale(self):
        apart, error = jensen_shannon(np.zeros(500, int), np.ones(500, int))
        assert abs(apart - np.log(2)) < 1e-3 and error < 1e-2
        same, error = jensen_shannon(np.zeros(50, int), np.zeros(50, int))
        assert same == 0 and error == 0

    def test_weights(self):
        p, q = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])
        given = jensen_shannon(p, q, np.full(4, 3.0), None)
        assert given == pytest.approx(jensen_shannon(p, q))

    def test_codes(self):
        code = level_codes(np.array([[1.0], [2.0], [np.nan]]), np.array([[2.0], [3.0], [np.nan]]))
        assert code[1] == code[3] and code[2] == code[5]
        assert len(set(code.tolist())) == 4
        many = level_codes(*np.random.default_rng(0).normal(size=(2, 1000, 1)))
        # Bins of equal mass over both samples, twice the cube root of the rows.
        assert len(np.unique(many)) == 20
        assert np.ptp(np.bincount(many)) <= 1


def test_text_with_a_nul_is_not_cut():
    text = np.array(["a\0b", "a\0c", "a"])
    assert as_columns({"x": text}, "p", ["x"])["x"].levels == ("a\0b", "a\0c", "a")
