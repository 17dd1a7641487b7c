"""compare(): answers with honest errors, from models that have not seen the rows."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from scipy.integrate import quad
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from isthmus import MDRE, Check, Comparison, Estimate, StackedMDRE, compare, problems, stack
from isthmus.auxiliaries import Cauchy
from isthmus.candidates import Ridge, Trees
from isthmus.diagnostics import (
    check_accuracy,
    check_convergence,
    check_effective_size,
    check_normalisation,
)
from isthmus.model.solvers import Solution


def normals(n_p, n_q, seed, mean_q=1.0, sd_q=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, n_p), rng.normal(mean_q, sd_q, n_q)


@pytest.fixture(scope="module")
def pair():
    """N(0, 1) and N(1, 1.25^2): near enough for every divergence to exist."""
    return normals(4000, 3000, 0, sd_q=1.25)


@pytest.fixture(scope="module")
def comparison(pair):
    return compare(*pair, random_state=0)


@pytest.fixture(scope="module")
def chasm():
    """N(-1, .08) and N(2, .15) without auxiliaries, and with the default one."""
    problem = problems.load("table1/row1")
    p, q = problem.sample_p(1000, 0), problem.sample_q(1000, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separable data, as the checks will say
        binary = compare(p, q, estimator=MDRE(auxiliaries=[], anchor=None), random_state=0)
    return binary, compare(p, q, random_state=0), problem


def held():
    rng = np.random.default_rng(0)
    return rng.normal(0, 1, (120, 2)), rng.normal(0.5, 1, (100, 2))


@pytest.fixture(scope="module")
def plain():
    """What every way to hold the rows has to come to; of two columns."""
    return compare(*held(), folds=2, random_state=0)


@pytest.fixture(scope="module")
def plain_column():
    """The same of the first column alone."""
    return compare(*(x[:, :1] for x in held()), folds=2, random_state=0)


class TestInput:
    @pytest.mark.parametrize(
        "holder",
        [
            lambda x: x.tolist(),
            lambda x: x.astype(np.float64, order="F"),
            lambda x: pd.DataFrame(x),
            lambda x: pd.DataFrame(x, columns=["a", "b"]),
            lambda x: pl.DataFrame({"a": x[:, 0], "b": x[:, 1]}),
            lambda x: pa.table({"a": x[:, 0], "b": x[:, 1]}),
            lambda x: {"a": x[:, 0].tolist(), "b": x[:, 1]},
        ],
        ids=["list", "fortran", "unnamed frame", "pandas", "polars", "pyarrow", "dict"],
    )
    def test_every_way_to_hold_a_table(self, holder, plain):
        p, q = held()
        found = compare(holder(p), holder(q), folds=2, random_state=0)
        assert found.kl == plain.kl
        np.testing.assert_array_equal(found.log_ratio_p, plain.log_ratio_p)
        np.testing.assert_array_equal(found.log_ratio(holder(p)), plain.log_ratio(p))

    @pytest.mark.parametrize("holder", [list, np.asarray, pd.Series, pl.Series])
    def test_one_column(self, holder, plain_column):
        p, q = (x[:, 0] for x in held())
        flat = compare(holder(p), holder(q), folds=2, random_state=0)
        assert flat.kl == plain_column.kl
        expected = plain_column.log_ratio(p[:, None])
        np.testing.assert_array_equal(flat.log_ratio(holder(p)), expected)

    def test_frames_are_matched_by_name(self):
        p, q = (pd.DataFrame(x, columns=["a", "b"]) for x in held())
        plain = compare(p, q, folds=2, random_state=0)
        turned = compare(p, q[["b", "a"]], folds=2, random_state=0)
        assert turned.kl == plain.kl
        assert turned.feature_names == ["a", "b"]
        np.testing.assert_array_equal(plain.log_ratio(p[["b", "a"]]), plain.log_ratio(p))
        with pytest.raises(ValueError, match="'b'"):
            compare(p, q[["a"]], columns=["a", "b"])
        with pytest.raises(ValueError, match="'b'"):
            plain.log_ratio(p[["a"]])
        with pytest.warns(UserWarning, match=r"left out.*'c' \(only p has it\)"):
            assert compare(p.assign(c=1.0), q, folds=2, random_state=0).kl == plain.kl
        np.testing.assert_array_equal(plain.log_ratio(p.assign(c=1.0)), plain.log_ratio(p))

    def test_chosen_columns(self, plain_column):
        p, q = (pd.DataFrame(x, columns=["a", "b"]) for x in held())
        chosen = compare(p, q.assign(c="x"), columns=["a"], folds=2, random_state=0)
        assert chosen.kl == plain_column.kl

    def test_categories_and_missing_values(self):
        rng = np.random.default_rng(0)
        p = pd.DataFrame({"x": rng.normal(0, 1, 200), "c": rng.choice(["u", "v"], 200)})
        q = pd.DataFrame({"x": rng.normal(0, 1, 200), "c": rng.choice(["u", "v"], 200)})
        p.loc[:9, "x"] = np.nan
        q.loc[:14, "x"] = np.nan
        with pytest.raises(ValueError, match="'x'"):
            compare(p, q, missing="error")
        with warnings.catch_warnings():
            # Two 0/1 columns of one category add up to one, as the estimator says.
            warnings.filterwarnings("ignore", message=".*linearly dependent")
            dropped = compare(p, q, missing="drop", folds=2, random_state=0)
            kept = compare(p, q, missing="indicator", folds=2, random_state=0)
        assert (len(dropped.log_ratio_p), len(dropped.log_ratio_q)) == (190, 185)
        assert (len(kept.log_ratio_p), len(kept.log_ratio_q)) == (200, 200)
        assert kept.feature_names == ["c=u", "c=v", "x", "x is missing"]

    def test_weights_follow_their_rows_when_rows_are_dropped(self):
        p, q = (pd.DataFrame(x, columns=["a", "b"]) for x in held())
        p.loc[[3, 50], "a"] = np.nan
        weight = np.random.default_rng(0).uniform(0.5, 2, len(p))
        how = {"folds": 2, "random_state": 0}
        dropped = compare(p, q, missing="drop", weight_p=weight, **how)
        keep = p["a"].notna().to_numpy()
        plain = compare(p[keep], q, weight_p=weight[keep], **how)
        assert dropped.kl == plain.kl


class TestCrossFitting:
    def test_no_row_is_evaluated_by_a_model_that_saw_it(self):
        class Memory(BaseEstimator):
            """Remembers its training rows and says whether it has seen a row before."""

            def fit(self, X, y):
                self.seen_ = {row.tobytes() for row in X}
                self.shape_ = len(X), int(np.sum(y))
                return self

            def log_ratio(self, X):
                return np.array([float(row.tobytes() in self.seen_) for row in X])

        p, q = np.random.default_rng(0).normal(size=(2, 103, 2))
        for folds in (2, 5, 20):
            c = compare(p, q, estimator=Memory(), folds=folds, random_state=0)
            np.testing.assert_array_equal(c.log_ratio_p, 0.0)
            np.testing.assert_array_equal(c.log_ratio_q, 0.0)
            # The model for new rows has seen them all.
            np.testing.assert_array_equal(c.log_ratio(p), 1.0)
            assert c.estimator.shape_ == (206, 103)

    def test_every_row_is_in_one_fold_and_folds_are_even(self):
        from isthmus.crossfit import folds_of
        from isthmus.data.seeds import Seeds

        fold = folds_of(103, 5, Seeds(0))
        assert np.bincount(fold).tolist() == [21, 21, 21, 20, 20]
        assert (fold != np.sort(fold)).any()  # a sorted file is not cut into its parts

    def test_an_estimator_that_is_no_mdre(self):
        class Plain(BaseEstimator):
            def fit(self, X, y):
                self.model_ = LogisticRegression().fit(X, y)
                self.odds_ = np.log(y.mean() / (1 - y.mean()))
                return self

            def log_ratio(self, X):
                return self.model_.decision_function(X) - self.odds_

        c = compare(*normals(600, 900, 0), estimator=Plain(), random_state=0)
        assert isinstance(c.kl, Estimate)
        # Two normals of one width: log p/q is linear, so that this is the truth but for noise;
        # its standard error counts the evaluation only and is somewhat too small.
        assert abs(c.kl.value - 0.5) < 6 * c.kl.std_error
        assert set(c.diagnostics) == {
            *("normalisation_q", "normalisation_p", "effective_sample_size", "pareto", "tails"),
            *("precision", "calibration", "chasm", "agreement", "difference", "support"),
            *("balance", "bound"),
        }
        assert c.trusted
        with pytest.raises(ValueError, match=r"with a Plain, which has no other classes"):
            c.log_ratio([[0.0]], "m1", "q")

    def test_the_callers_estimator_is_not_fitted(self):
        mdre = MDRE(Cauchy(), random_state=None)
        compare(*normals(60, 60, 0), estimator=mdre, random_state=0)
        assert not hasattr(mdre, "solution_")
        assert mdre.random_state is None

    def test_reproducible(self):
        p, q = normals(100, 100, 0)
        one, two, other = (compare(p, q, folds=2, random_state=s) for s in (0, 0, 1))
        np.testing.assert_array_equal(one.log_ratio_p, two.log_ratio_p)
        assert one.kl == two.kl != other.kl
        np.random.seed(0)  # noqa: NPY002
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        compare(p, q, folds=2)
        np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002

    def test_jobs_make_no_difference(self):
        p, q = normals(100, 80, 0)
        one = compare(p, q, folds=3, random_state=0)
        two = compare(p, q, folds=3, random_state=0, n_jobs=2)
        np.testing.assert_array_equal(one.log_ratio_p, two.log_ratio_p)
        np.testing.assert_array_equal(one.log_ratio_q, two.log_ratio_q)
        assert one.kl == two.kl
        assert one.diagnostics == two.diagnostics

    def test_progress_is_reported(self):
        told = []
        settings = {"folds": 3, "random_state": 0, "progress": lambda *a: told.append(a)}
        compare(*normals(50, 50, 0), critic="quadratic", **settings)
        done, total, what = zip(*told, strict=True)
        assert done == (0, 20, 40, 60, 80)
        assert set(total) == {80}
        assert what[0] == "fit to all rows"
        assert what[1:4] == ("fold 1 of 3", "fold 2 of 3", "fold 3 of 3")
        told.clear()
        compare(*normals(50, 50, 0), **settings)
        done, total, what = zip(*told, strict=True)
        assert done[0] == 0 and done[-1] == 60 and list(done) == sorted(done)
        assert set(total) == {60} and what[0] == "densities" and "candidates" in what
        # The bar moves within a stage.
        assert len(set(done)) > 8

    def test_a_progress_bar_can_be_shown(self, capsys):
        compare(*normals(50, 50, 0), folds=2, random_state=0, progress=True)
        compare(*normals(50, 50, 0), folds=2, random_state=0, progress=False)


def gaussian_truths(m, k, A, B):
    """Divergences of N(m, A^2) from N(k, B^2): closed forms, or quadrature."""
    p, q = stats.norm(m, A), stats.norm(k, B)

    def kl(m, A, k, B):
        return np.log(B / A) + (A**2 + (m - k) ** 2) / (2 * B**2) - 0.5

    def power(a):
        """Integral of p^a q^(1-a)."""
        width = a * B**2 + (1 - a) * A**2
        log = (1 - a) * np.log(A) + a * np.log(B) - 0.5 * np.log(width)
        return np.exp(log - a * (1 - a) * (m - k) ** 2 / (2 * width))

    def integral(f):
        return quad(f, -15, 15, limit=200, epsabs=1e-10)[0]

    def mixed(x):
        return 0.5 * p.pdf(x) + 0.5 * q.pdf(x)

    return {
        "kl": kl(m, A, k, B),
        "reverse-kl": kl(k, B, m, A),
        "js": integral(
            lambda x: (
                0.5 * p.pdf(x) * (p.logpdf(x) - np.log(mixed(x)))
                + 0.5 * q.pdf(x) * (q.logpdf(x) - np.log(mixed(x)))
            )
        ),
        "hellinger": 1 - power(0.5),
        "chi2": power(2) - 1,
        "pearson": power(2) - 1,
        "neyman": power(-1) - 1,
        "tv": 0.5 * integral(lambda x: abs(p.pdf(x) - q.pdf(x))),
        "alpha:0.5": (power(0.5) - 1) / (0.5 * -0.5),
        "alpha:0.3": (power(0.3) - 1) / (0.3 * -0.7),
        "renyi:0.5": np.log(power(0.5)) / -0.5,
        "renyi:2": np.log(power(2)),
    }


TRUTHS = gaussian_truths(0.0, 1.0, 1.0, 1.25)
# The integral of q^3/p^2, the variance of this one's terms, does not exist for this pair:
# standard errors promise nothing.
HEAVY = {"neyman"}


class TestDivergences:
    @pytest.mark.parametrize("spec", sorted(set(TRUTHS) - HEAVY))
    def test_within_four_standard_errors(self, comparison, spec):
        estimate = comparison.divergence(spec)
        assert 0 < estimate.std_error < 0.2 * TRUTHS[spec]
        assert abs(estimate.value - TRUTHS[spec]) < 4 * estimate.std_error

    def test_a_users_own_divergence(self, comparison):
        own = comparison.divergence(lambda r: (np.sqrt(r) - 1) ** 2 / 2)
        named = comparison.divergence("hellinger")
        assert own.value == pytest.approx(named.value, rel=1e-6)
        assert own.std_error == pytest.approx(named.std_error, rel=1e-3)

    def test_intervals(self, comparison):
        wide, narrow = comparison.divergence("kl", level=0.99), comparison.divergence("kl", 0.5)
        assert comparison.kl == comparison.divergence("kl")
        assert comparison.kl.level == comparison.level == 0.95
        assert wide.low < comparison.kl.low < narrow.low < narrow.high < wide.high
        # A stack that is as good as the densities may widen it, and does so by little.
        half = 1.959964 * comparison.kl.std_error
        assert 2 * half <= comparison.kl.high - comparison.kl.low < 3 * half

    def test_intervals_stay_within_the_range(self):
        p, _ = normals(300, 300, 0)
        _, q = normals(300, 300, 1, mean_q=0.0)
        c = compare(p, q, random_state=0)
        for spec in ("kl", "js", "hellinger", "tv"):
            estimate = c.divergence(spec)
            assert estimate.low >= 0
            assert estimate.high <= {"js": np.log(2), "hellinger": 1, "tv": 1}.get(spec, np.inf)

    def test_kl_covers_the_truth(self):
        # 8 intervals at 95 %: fewer than 6 hits have probability 6e-3 (binomial).
        hits = 0
        for seed in range(8):
            kl = compare(*normals(250, 250, seed), folds=3, random_state=seed).kl
            hits += kl.low <= 0.5 <= kl.high
        assert hits >= 6

    def test_standard_error_is_the_spread_over_replications(self):
        estimates = [
            compare(
                *normals(300, 300, 1000 + seed),
                estimator=MDRE(maps=None, anchor="gaussian", oversample=5, random_state=seed),
                folds=3,
                random_state=seed,
            ).by_fit("kl")
            for seed in range(30)
        ]
        spread = np.std([e.value for e in estimates], ddof=1)
        told = np.sqrt(np.mean([e.std_error**2 for e in estimates]))
        # The standard deviation of 30 normal values is from 0.63 to 1.40 of what it is of many
        # (chi-squared, 29 degrees of freedom: 3 in 1000 are outside), and there are ten per cent
        # for the delta method at this size.
        assert 0.9 / 1.4 < told / spread < 1.1 / 0.63

    def test_standard_error_across_a_chasm(self):
        problem = problems.load("running-example")
        estimates = [
            compare(
                problem.sample_p(300, seed),
                problem.sample_q(300, seed),
                estimator=MDRE(maps=None, anchor="gaussian", oversample=5, random_state=seed),
                folds=3,
                random_state=seed,
            ).by_fit("kl")
            for seed in range(30)
        ]
        values = np.array([e.value for e in estimates])
        told = np.sqrt(np.mean([e.std_error**2 for e in estimates]))
        assert 0.9 / 1.4 < told / values.std(ddof=1) < 1.1 / 0.63
        # And the estimates lie around the truth: four standard errors of their mean, with
        # a relative bias of order 1/n for the width of q, some half a per cent.
        limit = 4 * values.std(ddof=1) / np.sqrt(30) + 0.01 * problem.kl
        assert abs(values.mean() - problem.kl) < limit

    def test_standard_error_counts_the_fit_of_the_anchor(self):
        # So strong a penalty leaves the critic at its anchor, whose error is then all there is.
        problem = problems.load("running-example")
        estimates = [
            compare(
                problem.sample_p(200, seed),
                problem.sample_q(200, seed),
                estimator=MDRE(
                    l2=1e6, oversample=2, maps=None, anchor="gaussian", random_state=seed
                ),
                folds=2,
                random_state=seed,
            ).by_fit("kl")
            for seed in range(30)
        ]
        told = np.sqrt(np.mean([e.std_error**2 for e in estimates]))
        spread = np.std([e.value for e in estimates], ddof=1)
        assert 0.9 / 1.4 < told / spread < 1.1 / 0.63

    def test_weights_equal_repetition(self):
        p, q = normals(150, 150, 0)
        times = np.random.default_rng(0).integers(1, 4, 150)
        # A search holds out rows, and not their copies; with its choice, the fit is the same.
        found = MDRE(random_state=0).fit(*stack(p, q)).best_params_
        estimator = MDRE(random_state=0, tol=1e-9).set_params(**found)
        weighted = compare(p, q, weight_p=times, estimator=estimator, random_state=0)
        # Folds split rows, not their copies, so that only the model for new rows is the same.
        repeated = compare(np.repeat(p, times), q, estimator=estimator, random_state=0)
        x = np.linspace(-2, 3, 9)
        np.testing.assert_allclose(weighted.log_ratio(x), repeated.log_ratio(x), atol=1e-5)
        share = times / times.sum()
        assert weighted.kl.value == pytest.approx(float(share @ weighted.log_ratio_p))

    @pytest.mark.parametrize("size", [0.01, 100.0])
    def test_the_scale_of_weights_is_irrelevant(self, size, plain_column):
        p, q = (x[:, 0] for x in held())
        weights = {"weight_p": np.full(120, size), "weight_q": [size] * 100}
        scaled = compare(p, q, **weights, folds=2, random_state=0)
        assert scaled.kl == plain_column.kl

    @pytest.mark.parametrize("size", [0.01, 100.0])
    def test_the_scale_of_weights_is_almost_irrelevant_to_mdre(self, size):
        p, q = normals(300, 300, 0)
        # MDRE: large weights stand for more rows, and more auxiliary rows are drawn for them; the
        # noise of those draws is a small part of the error.
        estimator = MDRE(critic="quadratic", anchor="gaussian", maps=None, l2=3.0)
        one = compare(p, q, estimator=estimator, folds=2, random_state=0).kl
        other = compare(
            p,
            q,
            estimator=estimator,
            folds=2,
            weight_p=np.full(300, size),
            weight_q=[size] * 300,
            random_state=0,
        ).kl
        assert abs(other.value - one.value) < 0.2 * one.std_error
        assert other.std_error == pytest.approx(one.std_error, rel=0.05)

    def test_lower_bounds(self, comparison):
        for kind in ("donsker-varadhan", "nwj"):
            bound = comparison.lower_bound(kind)
            # Up to sampling error: 4 standard errors of the KL itself.
            assert bound <= TRUTHS["kl"] + 4 * comparison.kl.std_error
            assert bound > 0.8 * TRUTHS["kl"]
        assert comparison.lower_bound("nwj") <= comparison.lower_bound("donsker-varadhan")

    def test_lower_bound_warns_across_a_chasm(self, chasm):
        with pytest.warns(UserWarning, match="not a bound"):
            chasm[1].lower_bound()


class TestComparison:
    def test_importance_weights(self, comparison, pair):
        w = comparison.weights()
        assert w.shape == (3000,)
        assert (w >= 0).all()
        assert comparison.weights(normalise=True).mean() == pytest.approx(1.0)
        w = w / w.mean()
        # Weighted, q looks like p: its mean 1 becomes 0. Delta-method standard error.
        q = pair[1]
        mean = np.mean(w * q)
        error = np.std(w * (q - mean)) / np.sqrt(len(q))
        assert abs(mean) < 4 * error + 4 / np.sqrt(4000)

    def test_swapping_p_and_q(self):
        p, q = normals(300, 250, 0, sd_q=1.3)
        estimator = MDRE(random_state=0, tol=1e-9)
        there = compare(p, q, estimator=estimator, random_state=0)
        back = compare(q, p, estimator=estimator, random_state=0)
        np.testing.assert_allclose(back.log_ratio_q, -there.log_ratio_p, atol=1e-6)
        np.testing.assert_allclose(back.log_ratio_p, -there.log_ratio_q, atol=1e-6)
        x = np.linspace(-2, 3, 9)
        np.testing.assert_allclose(back.log_ratio(x), -there.log_ratio(x), atol=1e-6)
        for one, other in (("kl", "reverse-kl"), ("js", "js"), ("chi2", "neyman"), ("tv", "tv")):
            a, b = there.divergence(one), back.divergence(other)
            assert a.value == pytest.approx(b.value, rel=1e-5)
            assert a.std_error == pytest.approx(b.std_error, rel=1e-4)

    def test_pickle(self, comparison):
        before = comparison.diagnostics  # cached, and must not be in the way
        copy = pickle.loads(pickle.dumps(comparison))
        assert isinstance(copy, Comparison)
        assert copy.kl == comparison.kl
        assert dict(copy.diagnostics) == dict(before)
        np.testing.assert_array_equal(copy.log_ratio([0.0, 1.0]), comparison.log_ratio([0.0, 1.0]))

    def test_pickle_with_frames(self):
        p, q = (pd.DataFrame({"a": x}) for x in normals(60, 60, 0))
        c = compare(p, q, random_state=0)
        copy = pickle.loads(pickle.dumps(c))
        assert copy.feature_names == ["a"]
        np.testing.assert_array_equal(copy.log_ratio(p), c.log_ratio(p))

    def test_repr_says_the_answer(self, comparison):
        told = repr(comparison)
        assert "n_p=4000" in told
        assert "kl=0." in told
        assert "trusted=True" in told

    def test_ratios_to_auxiliaries(self, comparison):
        x = np.linspace(-2, 3, 7)
        through = comparison.log_ratio(x, "p", "m1") + comparison.log_ratio(x, "m1", "q")
        np.testing.assert_allclose(through, comparison.log_ratio(x), atol=1e-9)

    def test_a_constant_column_does_not_matter(self):
        p, q = normals(100, 100, 0)
        with pytest.warns(UserWarning, match="constant"):
            c = compare(np.column_stack([p, np.ones(100)]), np.column_stack([q, np.ones(100)]))
        assert np.isfinite(c.kl.value)

    def test_a_stack_has_no_other_classes_and_says_so(self):
        # A shift of one column and a square of another: no family of densities is right.
        rng = np.random.default_rng(0)
        p, q = rng.normal(0.5, 1, (300, 3)), rng.normal(0, 1, (300, 3))
        p[:, 0] = p[:, 0] ** 2
        c = compare(p, q, estimator=StackedMDRE([Ridge(), Trees()]), random_state=0)
        assert isinstance(c.estimator, StackedMDRE)
        with pytest.raises(ValueError, match=r"numerator and denominator must be.*'m1'"):
            c.log_ratio(p[:2], "p", "m1")


class TestDiagnostics:
    def test_a_good_fit(self, comparison):
        names = {
            "convergence",
            "accuracy",
            "normalisation_q",
            "normalisation_p",
            "effective_sample_size",
            "support",
            "flexibility",
            "anchors",
            "rising",
            "bridge",
            "pareto",
            "balance",
            "tails",
            "precision",
            "bound",
            "calibration",
            "chasm",
            "agreement",
            "reach",
            "difference",
        }
        assert set(comparison.diagnostics) == names
        for name, check in comparison.diagnostics.items():
            assert isinstance(check, Check)
            assert check.verdict == "ok", (name, check)
            assert np.isfinite(check.value)
            assert check.advice.endswith(".")
        assert comparison.trusted

    def test_diagnostics_cannot_be_written_to(self, comparison):
        with pytest.raises(TypeError):
            comparison.diagnostics["accuracy"] = None

    def test_a_chasm_without_auxiliaries_fails_by_accuracy(self, chasm):
        binary, _, _ = chasm
        check = binary.diagnostics["accuracy"]
        assert check.verdict == "fail"
        assert "auxiliar" in check.advice
        assert not binary.trusted

    def test_a_chasm_with_auxiliaries_is_trusted_though_weights_fail(self, chasm):
        _, bridged, problem = chasm
        assert bridged.diagnostics["accuracy"].verdict == "ok"
        assert bridged.diagnostics["effective_sample_size"].verdict == "fail"
        assert bridged.diagnostics["effective_sample_size"].concerns == "weights"
        assert bridged.trusted
        assert abs(bridged.kl.value - problem.kl) < 4 * bridged.kl.std_error

    def test_two_modes_are_flagged_by_flexibility(self):
        problem = problems.load("appendix-f")
        p, q = problem.sample_p(1000, 0), problem.sample_q(1000, 0)
        stiff = MDRE("bridge", maps=None, anchor="gaussian", critic="quadratic", l2=10.0)
        c = compare(p, q, estimator=stiff, folds=2, random_state=0)
        assert c.diagnostics["flexibility"].verdict in ("warn", "fail")
        assert c.diagnostics["flexibility"].value > 0.01
        # An estimator that may choose its anchors sees the modes; nothing is left to flag.
        c = compare(p, q, estimator=MDRE(), folds=2, random_state=0)
        assert c.diagnostics["flexibility"].verdict == "ok"
        # In a stack trees have been weighed already, and the answer is as good.
        c = compare(p, q, folds=2, random_state=0)
        assert c.trusted and c.kl.low < problem.kl < c.kl.high

    def test_a_level_that_one_sample_lacks_makes_a_divergence_infinite_and_says_so(self):
        rng = np.random.default_rng(0)
        p = pd.DataFrame({"x": rng.normal(0, 1, 200), "c": ["u"] * 200})
        q = pd.DataFrame({"x": rng.normal(0, 1, 200), "c": rng.choice(["u", "v"], 200)})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one-sided levels and dependent columns are said
            c = compare(p, q, random_state=0)
        # All of p has the level that half of q has.
        assert abs(c.kl.value - np.log(2)) < 3 * c.kl.std_error
        reverse = c.divergence("reverse-kl")
        assert reverse.value == reverse.high == np.inf
        assert "'v' of 'c' is only in q" in reverse.reason
        assert "infinite, because" in str(reverse)
        assert np.isfinite(c.divergence("js").value)
        # The rows with the level that both have do not differ.
        rest = c.divergence_of_rest("reverse-kl")
        assert rest.low == 0.0 and rest.value < 0.1
        assert [one.name for one in c.columns if one.differs] == ["c"]

    def test_a_fit_that_did_not_converge_fails(self):
        p, q = normals(200, 200, 0)
        estimator = MDRE("linear", anchor=None, l2=0, max_iter=1)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="MDRE did not converge")
            c = compare(p, q, estimator=estimator, random_state=0)
        assert c.diagnostics["convergence"].verdict == "fail"
        assert "max_iter" in c.diagnostics["convergence"].advice
        assert not c.trusted

    def test_equal_samples_are_fine(self):
        # Hard to tell apart, and rightly so.
        rng = np.random.default_rng(0)
        p, q = rng.normal(size=500), rng.normal(size=500)
        c = compare(p, q, random_state=0)
        assert c.trusted and c.kl.low == 0.0
        assert compare(p, q, estimator=MDRE(), random_state=0).diagnostics["accuracy"].verdict == (
            "ok"
        )

    def test_weighted_samples_have_diagnostics_too(self):
        p, q = normals(200, 200, 0)
        c = compare(p, q, weight_p=np.linspace(0.5, 1.5, 200), random_state=0)
        assert c.trusted
        assert "flexibility" not in c.diagnostics


class TestChecksAlone:
    def test_accuracy(self):
        assert check_accuracy({"p": 0.99, "q": 0.96}, 0.99).verdict == "fail"
        assert check_accuracy({"p": 0.99, "q": 0.94}, 0.99).verdict == "ok"
        assert check_accuracy({"p": 0.4, "q": 0.3, "m1": 0.4}, 0.9).verdict == "warn"
        assert check_accuracy({"p": 0.4, "q": 0.3, "m1": 0.4}, 0.6).verdict == "ok"

    def test_convergence_reports_the_worst(self):
        good = Solution(np.zeros(1), "converged", 3, 1e-8, 1.0)
        bad = Solution(np.zeros(1), "raise l2", 9, 1e-9, 1.0)
        assert check_convergence([good, good]).value == 1e-8
        failed = check_convergence([good, bad])
        assert failed.verdict == "fail"
        assert "1 of 2" in failed.advice
        assert "raise l2" in failed.advice

    @pytest.mark.parametrize(("shift", "verdict"), [(0.0, "ok"), (0.3, "warn"), (1.0, "fail")])
    def test_normalisation(self, shift, verdict):
        # log p/q of N(.3, 1) and N(0, 1) at rows of q has mean exp one; standard error .003.
        x = np.random.default_rng(0).normal(size=10_000)
        check = check_normalisation(0.3 * x - 0.045 + shift, None, "E_q[p/q]", "the rows of q")
        assert check.verdict == verdict
        assert check.value == pytest.approx(np.exp(shift), rel=0.02)
        assert check.details["std_error"] == pytest.approx(0.0031 * np.exp(shift), rel=0.1)

    def test_normalisation_does_not_overflow(self):
        # One row has all the mass: nothing is known but that all is not well.
        check = check_normalisation(np.array([1e4, -1e4]), None, "E_q[p/q]", "the rows of q")
        assert check.verdict in ("warn", "fail")
        assert np.isfinite(check.value)

    def test_effective_size(self):
        assert check_effective_size(np.zeros(500)).verdict == "ok"
        assert check_effective_size(np.zeros(50)).verdict == "warn"
        lonely = np.zeros(500)
        lonely[0] = 1000.0
        assert check_effective_size(lonely).verdict == "fail"
        assert check_effective_size(lonely).value == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(2))
def test_categories_and_numbers_together(seed):
    # Closed form: the columns are independent, so that their divergences add up.
    rng = np.random.default_rng(seed)
    share_p, share_q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])

    def table(share, mean):
        return {
            "town": rng.choice(["a", "b", "c"], 2000, p=share),
            "age": rng.normal(mean, 1, 2000),
        }

    truth = float(share_p @ np.log(share_p / share_q)) + 0.5 * 0.5**2
    # Warnings are errors here: that 0/1 features add up to one is nobody's news.
    c = compare(table(share_p, 0.0), table(share_q, 0.5), random_state=seed)
    # Four standard errors; a continuous auxiliary, which cannot fit categories, missed by more.
    assert abs(c.kl.value - truth) < 4 * c.kl.std_error
    assert c.kl.std_error < 0.05
    x = {"town": ["a", "c"], "age": [0.25, 0.25]}
    expected = np.log([0.5 / 0.2, 0.2 / 0.5])
    np.testing.assert_allclose(c.log_ratio(x), expected, atol=0.35)


class TestTables:
    def test_a_table_as_it_is(self):
        rng = np.random.default_rng(0)
        n = 300

        def table(month, shift):
            days = pd.Timestamp(2024, month, 1) + pd.to_timedelta(rng.uniform(0, 28, n), "D")
            delay = rng.normal(shift, 1, n)
            delay[rng.random(n) < 0.1] = np.nan
            return pd.DataFrame(
                {
                    "when": days,
                    "delay": delay,
                    "plane": [f"N{k}" for k in rng.permutation(10 * n)[:n]],
                    "to": rng.choice(["BOS", "SFO", "LAX"], n),
                    "year": 2024,
                }
            )

        p, q = table(1, 0.0), table(7, 1.0)
        with pytest.warns(UserWarning, match=r"left out of the comparison: 'plane'.*'when'"):
            c = compare(p, q, random_state=0)
        assert c.feature_names == [
            "delay", "delay is missing", "to=BOS", "to=LAX", "to=SFO"
        ]  # fmt: skip
        assert [one.name for one in c.columns if one.differs] == ["when", "delay"]
        assert c.columns[0].js.value == pytest.approx(np.log(2.0)) and not c.columns[0].used
        # Only the mean of the delay has moved, by one standard deviation: the divergence of nine
        # tenths of the rows.
        assert c.kl.low < 0.45 < c.kl.high
        np.testing.assert_array_equal(
            c.log_ratio(p.assign(further=1)[["further", *p.columns[::-1]]]), c.log_ratio(p)
        )
        again = pickle.loads(pickle.dumps(c))
        np.testing.assert_array_equal(again.log_ratio(q), c.log_ratio(q))

    def test_a_series_of_dates_is_a_table_of_one_column(self):
        days = pd.Series(pd.date_range("2024-01-01", periods=60))
        c = compare(days, days + pd.Timedelta(days=10), random_state=0)
        assert c.feature_names == ["x"] and np.isfinite(c.log_ratio(days)).all()

    def test_very_many_columns_are_quick_and_a_lower_bound(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (60, 2500)), rng.normal(0.2, 1, (60, 2500))
        with pytest.warns(UserWarning, match="2,500 columns are too many for the rows"):
            c = compare(p, q, random_state=0)
        # The truth is 50 nats.
        assert 0 < c.kl.low < 50 and c.kl.high == np.inf and "directions" in c.kl.reason
        assert len(c.columns) == 2500 and c.log_ratio(p[:3]).shape == (3,)
        with pytest.raises(ValueError, match="x must have the 2500 columns"):
            c.log_ratio(p[:, :4])

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"estimator": 3}, "estimator must be an estimator.*received 3"),
            ({"estimator": MDRE}, "the class MDRE, which has to be called first"),
            ({"n_jobs": 0}, "n_jobs must be a number of fits"),
            ({"weight_p": np.r_[1.0, 1.0, np.zeros(58)]}, "two rows of positive weight"),
        ],
    )
    def test_what_cannot_be_done_is_refused_with_its_reason(self, how, message):
        x = np.random.default_rng(0).normal(size=(60, 2))
        with pytest.raises(ValueError, match=message):
            compare(x, x + 1, **how)

    def test_what_rounding_hides_is_refused_with_the_true_reason(self):
        x = 1e-300 * np.random.default_rng(0).normal(size=100)
        with pytest.raises(ValueError, match=r"vary by more than rounding and 1e-280"):
            compare(x, x + 1e-300)

    def test_columns_far_from_zero_are_answered(self):
        rng = np.random.default_rng(0)
        c = compare(1e15 + rng.normal(0, 3, 400), 1e15 + rng.normal(3, 3, 400), random_state=0)
        assert c.kl.low < 0.5 < c.kl.high  # the truth

    def test_a_rare_0_1_column_is_answered(self):
        p, q = np.zeros(5000), np.zeros(5000)
        p[:30], q[:1] = 1.0, 1.0
        c = compare(p, q, random_state=0)
        # KL of shares 0.006 and 0.0002.
        assert c.kl.low < 0.0147 < c.kl.high
