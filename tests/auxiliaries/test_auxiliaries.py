"""Every auxiliary keeps one contract; the densities that are known are right."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import cumulative_trapezoid
from sklearn.base import clone

from isthmus import MDRE, stack
from isthmus.auxiliaries import (
    BY_NAME,
    Bridge,
    Cauchy,
    DimensionWiseMixing,
    LinearMixing,
    Normal,
    Samples,
    ShuffledColumns,
    SmoothedMixture,
    StudentT,
    TruncatedNormal,
    Uniform,
    is_known,
    resolve_auxiliaries,
)
from isthmus.typing import Auxiliary


class OnlySamples:
    """A user's own auxiliary whose density is not known."""

    def __init__(self, spread=2.0):
        self.spread = spread

    def fit(self, p, q):
        self.centre_ = 0.5 * (p.mean(axis=0) + q.mean(axis=0))
        return self

    def sample(self, n, rng):
        return rng.normal(self.centre_, self.spread, (n, len(self.centre_)))


class WithDensity(OnlySamples):
    """A user's own auxiliary that knows its density."""

    def log_density(self, x):
        return stats.norm(self.centre_, self.spread).logpdf(x).sum(axis=1)


KNOWN = {
    "normal": Normal(),
    "normal, given": Normal(loc=0.3, scale=1.5),
    "student-t": StudentT(),
    "student-t, given": StudentT(df=2.5, loc=-0.2, scale=0.8),
    "cauchy": Cauchy(),
    "cauchy, given": Cauchy(loc=0.0, scale=1.0),
    "cauchy, given centre": Cauchy(loc=1.0),
    "uniform": Uniform(),
    "uniform, given": Uniform(low=-9.0, high=11.0),
    "truncated normal": TruncatedNormal(),
    "truncated normal, given": TruncatedNormal(loc=0.5, scale=2.0, low=-9.0, high=11.0),
    "smoothed mixture": SmoothedMixture(n_centres=40),
    "smoothed mixture, given": SmoothedMixture(bandwidth=1.0, n_centres=20),
    "bridge": Bridge(),
    "bridge, wide": Bridge(wide=0.6),
    "shuffled": ShuffledColumns(),
    "shuffled, between": ShuffledColumns(between=0.6, maps=None),
    "user's own": WithDensity(),
}
LEARNED = {
    "linear": LinearMixing([0.3]),
    "linear, outside": LinearMixing([-0.5, 1.5], merged=True),
    "linear, sqrt": LinearMixing([0.6], form="sqrt"),
    "user's own, unknown": OnlySamples(),
}
# Columns are mixed, so these need more than one.
BLOCKS = {
    "dimension-wise": DimensionWiseMixing(2, merged=True),
    "dimension-wise, random": DimensionWiseMixing(2, order="random", merged=True),
}
EVERY = {**KNOWN, **LEARNED, **BLOCKS}
# Nothing is left to be chosen, as only the auxiliary matters.
PLAIN = {"maps": None, "anchor": "gaussian", "critic": "quadratic", "l2": 10.0}


def data(d: int, n: int = 300, seed: int = 0):
    """Two correlated samples that overlap a little."""
    rng = np.random.default_rng(seed)
    mix = np.eye(d) + 0.3 * np.tri(d, k=-1)
    p = rng.normal(-1.0, 0.5, (n, d)) @ mix
    q = rng.normal(1.5, 1.0, (n + 50, d)) @ mix
    return p, q


def fitted(name: str, d: int):
    copy = pickle.loads(pickle.dumps(EVERY[name]))
    copy.fit(*data(d))
    return copy


class TestContract:
    @pytest.mark.parametrize("name", EVERY)
    @pytest.mark.parametrize("n", [1, 2, 57])
    def test_samples_are_finite_rows(self, name, n):
        rows = np.asarray(fitted(name, 3).sample(n, np.random.default_rng(0)))
        assert rows.shape == (n, 3)
        assert rows.dtype == np.float64
        assert np.isfinite(rows).all()

    @pytest.mark.parametrize("name", EVERY)
    def test_fit_returns_the_object(self, name):
        copy = pickle.loads(pickle.dumps(EVERY[name]))
        assert isinstance(copy, Auxiliary)
        assert copy.fit(*data(2)) is copy

    @pytest.mark.parametrize("name", EVERY)
    def test_pickle_and_clone(self, name):
        auxiliary = fitted(name, 2)
        copy = pickle.loads(pickle.dumps(auxiliary))
        draws = (one.sample(20, np.random.default_rng(5)) for one in (auxiliary, copy))
        np.testing.assert_array_equal(*draws)
        # A clone is as good as new: only the parameters are left.
        if hasattr(auxiliary, "get_params"):
            fresh = clone(auxiliary)
            assert repr(fresh) == repr(EVERY[name])
            assert vars(fresh).keys() == fresh.get_params(deep=False).keys()

    @pytest.mark.parametrize("name", EVERY)
    def test_the_same_generator_gives_the_same_rows(self, name):
        auxiliary = fitted(name, 2)
        first = auxiliary.sample(20, np.random.default_rng(5))
        np.testing.assert_array_equal(first, auxiliary.sample(20, np.random.default_rng(5)))
        other = auxiliary.sample(20, np.random.default_rng(6))
        assert (first != other).any()

    @pytest.mark.parametrize("name", EVERY)
    def test_mdre_changes_neither_the_object_nor_the_data(self, name):
        p, q = data(2)
        X, y = stack(p, q)
        X.setflags(write=False)
        given = pickle.loads(pickle.dumps(EVERY[name]))
        before = pickle.dumps(given)
        model = MDRE([given], **PLAIN, oversample=2, random_state=0).fit(X, y)
        assert pickle.dumps(given) == before
        assert model.auxiliaries_[0] is not given
        assert np.isfinite(model.log_ratio(X)).all()

    @pytest.mark.parametrize("name", KNOWN)
    def test_log_density_has_one_number_a_row(self, name):
        auxiliary = fitted(name, 3)
        x = auxiliary.sample(11, np.random.default_rng(0))
        density = auxiliary.log_density(x)
        assert density.shape == (11,)
        assert np.isfinite(density).all()
        # A row's density does not depend on the other rows, but for the last digits of
        # matrix products.
        np.testing.assert_allclose(auxiliary.log_density(x[3:4]), density[3:4], rtol=1e-12)

    @pytest.mark.parametrize("name", [*LEARNED, *BLOCKS])
    def test_mixing_knows_no_density(self, name):
        assert not is_known(EVERY[name])


class TestDensities:
    @pytest.mark.parametrize("name", KNOWN)
    def test_integrates_to_one_on_the_line(self, name):
        # x = tan(u) makes heavy tails finite: the integrand of a Cauchy is then a
        # constant. The trapezoidal rule is exact to 1e-6 for smooth densities and to one
        # of 200 000 cells, with some twenty units of x a cell's slope, at the jumps of a box.
        auxiliary = fitted(name, 1)
        u = np.linspace(-np.pi / 2, np.pi / 2, 200_001)[1:-1]
        x = np.tan(u)
        density = np.exp(auxiliary.log_density(x[:, None])) * (1 + x**2)
        assert np.trapezoid(density, u) == pytest.approx(1.0, abs=2e-4)

    @pytest.mark.parametrize("name", KNOWN)
    def test_integrates_to_one_in_the_plane(self, name):
        # Polar coordinates with r = tan(u): for a Cauchy in the plane the integrand
        # tends to a constant. Jumps at the sides of a box cost up to one cell in 700.
        auxiliary = fitted(name, 2)
        u = (np.arange(700) + 0.5) * (np.pi / 2) / 700
        angle = np.arange(300) * (2 * np.pi / 300)
        r = np.tan(u)[:, None]
        x = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=-1).reshape(-1, 2)
        density = np.exp(auxiliary.log_density(x)).reshape(700, 300)
        total = (density * r * (1 + r**2)).sum() * (np.pi / 2 / 700) * (2 * np.pi / 300)
        assert total == pytest.approx(1.0, abs=4e-3)

    @pytest.mark.parametrize("name", KNOWN)
    def test_samples_follow_the_density_on_the_line(self, name):
        auxiliary = fitted(name, 1)
        u = np.linspace(-np.pi / 2, np.pi / 2, 200_001)[1:-1]
        x = np.tan(u)
        density = np.exp(auxiliary.log_density(x[:, None])) * (1 + x**2)
        cdf = np.concatenate([[0.0], cumulative_trapezoid(density, u)])
        rows = auxiliary.sample(5000, np.random.default_rng(1))[:, 0]
        # Bridge draws its components in exact shares, which makes the test conservative.
        assert stats.kstest(rows, lambda t: np.interp(np.arctan(t), u, cdf)).pvalue > 1e-3

    @pytest.mark.parametrize("d", [1, 2, 4])
    @pytest.mark.parametrize("name", KNOWN)
    def test_samples_and_density_agree_in_any_dimension(self, name, d):
        # E_m[g/m] = 1 for any density g within the support of m; here g is uniform on a
        # box of side 4 in the middle of the data, so that g/m is bounded. Four standard
        # errors of the mean.
        auxiliary = fitted(name, d)
        x = auxiliary.sample(20_000, np.random.default_rng(2))
        inside = (np.abs(x - 0.5) < 2).all(axis=1)
        ratio = np.where(inside, np.exp(-d * np.log(4.0) - auxiliary.log_density(x)), 0.0)
        error = ratio.std() / np.sqrt(len(x))
        assert 0 < error < 0.2  # or the test could not fail
        assert abs(ratio.mean() - 1.0) < 4 * error

    X1 = np.array([[-7.3], [-1.0], [0.0], [0.2], [2.5], [8.9]])

    @pytest.mark.parametrize(
        ("auxiliary", "truth"),
        [
            (Normal(loc=0.3, scale=1.5), stats.norm(0.3, 1.5)),
            (StudentT(df=2.5, loc=0.3, scale=1.5), stats.t(2.5, 0.3, 1.5)),
            (Cauchy(loc=0.3, scale=1.5), stats.cauchy(0.3, 1.5)),
            (Uniform(low=-8.0, high=9.0), stats.uniform(-8, 17)),
            (
                TruncatedNormal(loc=0.3, scale=1.5, low=-8.0, high=9.0),
                stats.truncnorm(-8.3 / 1.5, 8.7 / 1.5, 0.3, 1.5),
            ),
            # Cut off far in one tail, where 1 - cdf would lose all digits.
            (
                TruncatedNormal(loc=-40.0, scale=1.0, low=-8.0, high=9.0),
                stats.truncnorm(32, 49, -40, 1),
            ),
            (
                TruncatedNormal(loc=40.0, scale=1.0, low=-8.0, high=9.0),
                stats.truncnorm(-48, -31, 40, 1),
            ),
        ],
    )
    def test_agrees_with_scipy_on_the_line(self, auxiliary, truth):
        auxiliary.fit(*data(1))
        np.testing.assert_allclose(
            auxiliary.log_density(self.X1), truth.logpdf(self.X1[:, 0]), rtol=1e-9
        )
        rows = auxiliary.sample(4000, np.random.default_rng(3))[:, 0]
        assert stats.kstest(rows, truth.cdf).pvalue > 1e-3

    def test_agrees_with_scipy_in_three_dimensions(self):
        A = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.7]])
        loc = np.array([1.0, -2.0, 0.5])
        x = np.random.default_rng(0).normal(0, 3, (20, 3))
        p, q = data(3)
        for ours, theirs in [
            (Normal(loc, A), stats.multivariate_normal(loc, A)),
            (StudentT(3.5, loc, A), stats.multivariate_t(loc, A, df=3.5)),
            (Cauchy(loc, A), stats.multivariate_t(loc, A, df=1)),
        ]:
            np.testing.assert_allclose(ours.fit(p, q).log_density(x), theirs.logpdf(x), rtol=1e-11)

    def test_a_vector_of_scales_is_a_diagonal_matrix_of_squares(self):
        p, q = data(2)
        x = np.random.default_rng(0).normal(size=(5, 2))
        by_vector = Normal(0.0, [2.0, 3.0]).fit(p, q).log_density(x)
        by_matrix = Normal(0.0, np.diag([4.0, 9.0])).fit(p, q).log_density(x)
        np.testing.assert_allclose(by_vector, by_matrix, rtol=1e-13)

    def test_moments_of_normal_samples(self):
        A = np.array([[2.0, 0.5], [0.5, 1.0]])
        x = Normal([1.0, -2.0], A).fit(*data(2)).sample(40_000, np.random.default_rng(0))
        # Standard errors: sqrt(2/40000) = .007 for a mean of variance 2, and
        # sqrt(2 * 4/40000) = .014 for the variance itself; five of them.
        np.testing.assert_allclose(x.mean(axis=0), [1.0, -2.0], atol=0.036)
        np.testing.assert_allclose(np.cov(x.T), A, atol=0.07)

    def test_box_is_minus_infinity_outside(self):
        for auxiliary in (Uniform(-8, 9), TruncatedNormal(0, 1, -8, 9)):
            auxiliary.fit(*data(1))
            outside = auxiliary.log_density(np.array([[-8.01], [9.01]]))
            np.testing.assert_array_equal(outside, [-np.inf, -np.inf])
            assert np.isfinite(auxiliary.log_density(np.array([[-8.0], [9.0]]))).all()

    def test_smoothed_mixture_is_the_mixture_of_its_centres(self):
        p, q = data(1, n=30)
        m = SmoothedMixture(bandwidth=0.7, n_centres=1000).fit(p, q)
        x = np.linspace(-4, 5, 50)
        # p and q have half of the mass each, however many rows they have.
        each = [stats.norm.pdf(x[:, None], rows[:, 0], 0.7).mean(axis=1) for rows in (p, q)]
        truth = np.log(0.5 * each[0] + 0.5 * each[1])
        np.testing.assert_allclose(m.log_density(x[:, None]), truth, rtol=1e-9)


class TestPlacement:
    @pytest.mark.parametrize("name", ["uniform", "truncated normal"])
    def test_default_bounds_enclose_both_samples(self, name):
        p, q = data(2)
        m = fitted(name, 2)
        both = np.concatenate([p, q])
        assert (m.low_ < both.min(axis=0)).all()
        assert (m.high_ > both.max(axis=0)).all()
        assert np.isfinite(m.log_density(both)).all()

    @pytest.mark.parametrize("name", ["normal", "student-t", "cauchy", "bridge"])
    def test_default_placement_covers_two_distant_samples(self, name):
        # Twenty standard deviations apart, one twice as wide: m is at most a few nats
        # below a wide normal on either sample, never e^-100.
        rng = np.random.default_rng(0)
        p, q = rng.normal(-10, 0.5, (500, 1)), rng.normal(10, 1, (500, 1))
        m = EVERY[name].__class__().fit(p, q)
        assert m.log_density(np.concatenate([p, q])).min() > -10

    @pytest.mark.parametrize(
        "name", ["normal", "student-t", "cauchy", "bridge", "smoothed mixture"]
    )
    def test_default_placement_follows_an_affine_map(self, name):
        p, q = data(3)
        A = np.array([[1e3, 0.2, 0.0], [-300.0, 0.5, 1e-3], [50.0, 0.1, 2e-3]])
        b = np.array([1e4, -3.0, 0.5])
        here = EVERY[name].__class__().fit(p, q)
        there = EVERY[name].__class__().fit(p @ A + b, q @ A + b)
        x = here.sample(200, np.random.default_rng(4))
        mapped = there.sample(200, np.random.default_rng(4))
        # The map has condition 1e6, so that about ten digits remain of sixteen; they are
        # counted in the units in which the data are white.
        unit = np.concatenate([p, q]).std(axis=0)
        back = np.linalg.solve(A.T, (mapped - b).T).T
        size = np.maximum(1.0, np.abs(x).max(axis=1, keepdims=True))
        assert (np.abs(back - x) / (unit * size)).max() < 1e-6
        np.testing.assert_allclose(
            there.log_density(x @ A + b),
            here.log_density(x) - np.linalg.slogdet(A)[1],
            rtol=0,
            atol=1e-6,
        )

    def test_bridge_does_not_care_which_sample_is_which(self):
        p, q = data(2)
        q = q[: len(p)]
        one, other = Bridge().fit(p, q), Bridge().fit(q, p)
        a = one.sample(100, np.random.default_rng(0))
        b = other.sample(100, np.random.default_rng(0))
        np.testing.assert_allclose(a[np.lexsort(a.T)], b[np.lexsort(b.T)], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.log_density(a), other.log_density(a), rtol=1e-9)

    @pytest.mark.parametrize("name", ["normal", "cauchy", "bridge", "truncated normal"])
    def test_weights_equal_repetition(self, name):
        p, q = data(2, n=60)
        times = np.random.default_rng(0).integers(1, 4, len(p))
        ones = np.ones(len(q))
        kind = EVERY[name].__class__
        weighted = kind().fit(p, q, times.astype(float), ones)
        repeated = kind().fit(np.repeat(p, times, axis=0), q)
        if name == "truncated normal":  # its box knows the number of rows; the rest must agree
            np.testing.assert_allclose(weighted.loc_, repeated.loc_, rtol=1e-12)
            np.testing.assert_allclose(weighted.scale_, repeated.scale_, rtol=1e-12)
            return
        x = np.concatenate([p, q])
        # Not exact where a fit counts rows to judge noise, so to a hundredth of a nat.
        np.testing.assert_allclose(weighted.log_density(x), repeated.log_density(x), atol=0.01)


class TestLinearMixing:
    p, q = np.array([[1.0, 2.0]]), np.array([[5.0, -2.0]])

    @pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 1.0, -0.5, 1.5, 7])
    def test_linear_form(self, alpha):
        x = LinearMixing([alpha]).fit(self.p, self.q).sample(3, np.random.default_rng(0))
        np.testing.assert_allclose(x, np.tile((1 - alpha) * self.p + alpha * self.q, (3, 1)))

    @pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, -0.6])
    def test_sqrt_form(self, alpha):
        m = LinearMixing([alpha], form="sqrt").fit(self.p, self.q)
        x = m.sample(3, np.random.default_rng(0))
        expected = np.sqrt(1 - alpha**2) * self.p + alpha * self.q
        np.testing.assert_allclose(x, np.tile(expected, (3, 1)))

    def test_one_class_for_each_alpha(self):
        X, y = stack(*data(2))
        model = MDRE(LinearMixing([-0.5, 0.5, 1.5]), random_state=0).fit(X, y)
        assert model.class_names_ == ["p", "q", "m1", "m2", "m3"]
        assert [m.alphas for m in model.auxiliaries_] == [[-0.5], [0.5], [1.5]]

    def test_merged_is_one_class_with_every_alpha(self):
        X, y = stack(*data(2))
        m = LinearMixing([0.2, 0.8], merged=True)
        assert len(MDRE(m, random_state=0).fit(X, y).auxiliaries_) == 1
        x = m.fit(self.p, self.q).sample(400, np.random.default_rng(0))
        first = np.isclose(x[:, 0], 1.8)
        np.testing.assert_allclose(x[~first, 0], 4.2)
        # A fair coin thrown 400 times: standard deviation ten, five of them.
        assert abs(first.sum() - 200) < 50

    def test_rows_are_paired_at_random(self):
        p, q = np.arange(50.0)[:, None], 1000.0 * np.arange(50.0)[:, None]
        x = LinearMixing([0.5]).fit(p, q).sample(2000, np.random.default_rng(0))[:, 0] * 2
        i, j = x % 1000, x // 1000
        # 2000 independent pairs: a correlation has standard error .022.
        assert abs(np.corrcoef(i, j)[0, 1]) < 0.1
        assert len(np.unique(i)) == len(np.unique(j)) == 50

    def test_rows_of_weight_zero_are_not_drawn(self):
        p, q = np.array([[1.0], [2.0]]), np.array([[10.0], [20.0]])
        m = LinearMixing([0.0]).fit(p, q, np.array([0.0, 3.0]), np.ones(2))
        np.testing.assert_array_equal(m.sample(50, np.random.default_rng(0)), np.full((50, 1), 2.0))

    def test_draws_follow_the_weights(self):
        p, q = np.array([[0.0], [1.0]]), np.zeros((2, 1))
        m = LinearMixing([0.0]).fit(p, q, np.array([1.0, 3.0]), np.ones(2))
        share = m.sample(4000, np.random.default_rng(0)).mean()
        assert abs(share - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 4000)


class TestDimensionWiseMixing:
    p, q = np.zeros((4, 7)), np.ones((4, 7))

    def draw(self, auxiliary, n=500):
        return auxiliary.fit(self.p, self.q).sample(n, np.random.default_rng(0))

    @pytest.mark.parametrize(("count", "columns"), [(1, 3), (2, 5)])
    def test_fixed_order_takes_the_first_blocks_from_q(self, count, columns):
        # Seven columns in three blocks: 3, 2 and 2.
        x = self.draw(DimensionWiseMixing(3, merged=True, counts=[count]))
        expected = np.repeat([1.0, 0.0], [columns, 7 - columns])
        np.testing.assert_array_equal(x, np.tile(expected, (len(x), 1)))

    def test_given_order(self):
        x = self.draw(DimensionWiseMixing(3, order=[2, 0, 1], merged=True, counts=[1]))
        np.testing.assert_array_equal(x[0], [0, 0, 0, 0, 0, 1, 1])
        x = self.draw(DimensionWiseMixing(3, order=[2, 0, 1], merged=True, counts=[2]))
        np.testing.assert_array_equal(x[0], [1, 1, 1, 0, 0, 1, 1])

    def test_random_order_takes_other_blocks_in_every_row(self):
        x = self.draw(DimensionWiseMixing(7, order="random", merged=True, counts=[3]), n=2000)
        np.testing.assert_array_equal(x.sum(axis=1), 3)
        # Every column in 3 of 7 rows: standard deviation .011.
        np.testing.assert_allclose(x.mean(axis=0), 3 / 7, atol=0.055)

    def test_merged_holds_every_count(self):
        x = self.draw(DimensionWiseMixing(7, merged=True), n=3000)
        counts = np.bincount(x.sum(axis=1).astype(int), minlength=8)
        assert counts[0] == counts[7] == 0
        # Six equally likely counts, 500 each: standard deviation 20.
        np.testing.assert_allclose(counts[1:7], 500, atol=100)

    def test_a_row_mixes_one_row_of_each(self):
        p, q = np.tile(np.arange(9.0)[:, None], (1, 4)), 100.0 + np.zeros((9, 4))
        x = DimensionWiseMixing(2, merged=True).fit(p, q).sample(30, np.random.default_rng(0))
        np.testing.assert_array_equal(x[:, :2], 100.0)
        np.testing.assert_array_equal(x[:, 2], x[:, 3])

    @pytest.mark.parametrize(("n_blocks", "classes"), [(None, 3), (2, 1), (5, 4), (7, 6)])
    def test_one_class_for_each_number_of_blocks(self, n_blocks, classes):
        assert len(resolve_auxiliaries(DimensionWiseMixing(n_blocks), 7)) == classes

    def test_chosen_counts(self):
        parts = resolve_auxiliaries(DimensionWiseMixing(7, counts=[2, 5]), 7)
        sums = [self.draw(part).sum(axis=1) for part in parts]
        np.testing.assert_array_equal(sums[0], 2)
        np.testing.assert_array_equal(sums[1], 5)

    def test_the_samples_themselves_are_not_changed(self):
        p, q = self.p.copy(), self.q.copy()
        DimensionWiseMixing(2, merged=True).fit(p, q).sample(50, np.random.default_rng(0))
        np.testing.assert_array_equal(p, self.p)
        np.testing.assert_array_equal(q, self.q)


class TestSamplesAndNames:
    def test_an_array_is_used_as_it_is(self):
        p, q = data(2)
        X, y = stack(p, q)
        rows = np.random.default_rng(0).normal(size=(123, 2))
        model = MDRE([rows], random_state=0).fit(X, y)
        own = model.objective_.blocks.classes[2]
        assert len(own) == 123
        np.testing.assert_allclose(own.rows, model.map_(rows))

    @pytest.mark.parametrize("as_list", [False, True])
    def test_one_column_may_be_flat(self, as_list):
        rows = np.linspace(-3, 4, 40)
        found = resolve_auxiliaries(rows.tolist() if as_list else rows, 1)
        assert len(found) == 1
        found[0].fit(*data(1))
        np.testing.assert_array_equal(
            found[0].sample(1000, np.random.default_rng(0)), rows[:, None]
        )

    def test_a_part_of_the_rows_has_no_row_twice(self):
        rows = np.arange(30.0)[:, None]
        m = Samples(rows).fit(*data(1))
        assert len(np.unique(m.sample(20, np.random.default_rng(0)))) == 20

    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("auto", Bridge),
            ("bridge", Bridge),
            ("cauchy", Cauchy),
            ("student-t", StudentT),
            ("normal", Normal),
            ("uniform", Uniform),
            ("truncated-normal", TruncatedNormal),
            ("smoothed-mixture", SmoothedMixture),
            ("shuffled", ShuffledColumns),
            ("linear", LinearMixing),
            ("dimension-wise", DimensionWiseMixing),
        ],
    )
    def test_names(self, name, kind):
        found = resolve_auxiliaries(name, 4)
        assert found
        assert all(type(one) is kind for one in found)

    def test_every_name_has_an_instance_in_these_tests(self):
        assert {kind for kind in BY_NAME.values()} <= {type(one) for one in EVERY.values()}

    @pytest.mark.parametrize("spec", [None, [], ()])
    def test_none_is_the_binary_classifier(self, spec):
        assert resolve_auxiliaries(spec, 1) == []

    def test_lists_may_hold_everything(self):
        spec = ["cauchy", LinearMixing([0.2, 0.8]), np.zeros((5, 2)), OnlySamples()]
        kinds = [type(one).__name__ for one in resolve_auxiliaries(spec, 2)]
        assert kinds == ["Cauchy", "LinearMixing", "LinearMixing", "Samples", "OnlySamples"]

    def test_a_users_density_is_fixed_and_oversampled(self):
        X, y = stack(*data(2))
        model = MDRE([WithDensity(), OnlySamples()], oversample=3, random_state=0).fit(X, y)
        blocks = model.objective_.blocks
        assert blocks.learned.tolist() == [True, True, False, True]
        assert [len(own) for own in blocks.classes] == [300, 350, 3 * 350, 350]
        x = X[:5]
        gap = model.model_.critics(x)[:, 2] - model.auxiliaries_[0].log_density(x)
        np.testing.assert_array_equal(gap, 0.0)

    def test_known_density_can_be_learned_instead(self):
        X, y = stack(*data(2))
        model = MDRE("cauchy", known_density=False, random_state=0).fit(X, y)
        blocks = model.objective_.blocks
        assert blocks.learned.all()
        assert [len(own) for own in blocks.classes] == [300, 350, 350]


WRONG = [
    # (auxiliary, columns, words of the message: parameter, rule, what was received)
    (LinearMixing([]), 2, ["alphas", "non-empty"]),
    (LinearMixing([0.5, np.nan]), 2, ["alphas", "finite", "nan"]),
    (LinearMixing([[0.1, 0.2]] * 2), 2, ["alphas"]),
    (LinearMixing("half"), 2, ["alphas", "half"]),
    (LinearMixing([1.5], form="sqrt"), 2, ["alphas", r"[-1, 1]", "1.5"]),
    (LinearMixing([0.5], form="cubic"), 2, ["form", "'linear'", "'cubic'"]),
    (DimensionWiseMixing(1), 3, ["n_blocks", "[2, 3]", "1"]),
    (DimensionWiseMixing(4), 3, ["n_blocks", "[2, 3]", "4"]),
    (DimensionWiseMixing(2.0), 3, ["n_blocks", "integer", "2.0"]),
    (DimensionWiseMixing(), 1, ["two columns", "1"]),
    (DimensionWiseMixing(3, counts=[0]), 3, ["counts", "[1, 2]", "0"]),
    (DimensionWiseMixing(3, counts=[3], merged=True), 3, ["counts", "[1, 2]", "3"]),
    (DimensionWiseMixing(3, counts=[]), 3, ["counts"]),
    (DimensionWiseMixing(3, order="backwards"), 3, ["order", "'random'", "'backwards'"]),
    (DimensionWiseMixing(3, order=[0, 0, 1]), 3, ["order", "permutation", "[0, 0, 1]"]),
    (Uniform(low=5.0, high=-5.0), 2, ["low", "below high", "5.0"]),
    (Uniform(low=0.0), 2, ["low", "enclose"]),
    (Uniform(low=[-50.0, -50.0, 0.0]), 2, ["low", "2 columns", "(3,)"]),
    (TruncatedNormal(high=0.0), 2, ["high", "enclose"]),
    (TruncatedNormal(scale=-1.0), 2, ["scale", "positive", "-1.0"]),
    (TruncatedNormal(loc=np.nan), 2, ["loc", "finite", "nan"]),
    (Normal(scale=-1.0), 2, ["scale", "positive", "-1.0"]),
    (Normal(scale=0.0), 2, ["scale", "positive", "0.0"]),
    (Normal(scale=[1.0, 2.0, 3.0]), 2, ["scale", "2 columns", "(3,)"]),
    (Normal(scale=[[1.0, 0.5], [0.0, 1.0]]), 2, ["scale", "symmetric"]),
    (Normal(scale=[[1.0, 2.0], [2.0, 1.0]]), 2, ["scale", "positive definite"]),
    (Normal(scale=np.full((2, 2), np.nan)), 2, ["scale"]),
    (Normal(scale="wide"), 2, ["scale", "wide"]),
    (Normal(loc=[0.0, 1.0, 2.0]), 2, ["loc", "2 columns", "(3,)"]),
    (Cauchy(loc=np.inf), 2, ["loc", "finite", "inf"]),
    (StudentT(df=0), 2, ["df", "(0", "0"]),
    (StudentT(df=np.nan), 2, ["df", "nan"]),
    (StudentT(df="five"), 2, ["df", "'five'"]),
    (Bridge(wide=0), 2, ["wide", "(0, 1)", "0"]),
    (Bridge(wide=1.0), 2, ["wide", "(0, 1)", "1.0"]),
    (ShuffledColumns(between=1.0), 2, ["between", "(0, 1)", "1.0"]),
    (SmoothedMixture(n_centres=0), 2, ["n_centres", "[1", "0"]),
    (SmoothedMixture(bandwidth=-1.0), 2, ["bandwidth", "positive", "-1.0"]),
    (np.zeros((5, 3)), 2, ["auxiliary", "2 columns", "3"]),
    (np.zeros((1, 2)), 2, ["auxiliary", "2 rows", "1"]),
    (np.full((5, 2), np.nan), 2, ["auxiliary", "finite", "NaN"]),
    ("cauchi", 2, ["auxiliaries", "'cauchy'", "'cauchi'"]),
    (3.0, 2, ["auxiliar", "fit(p, q)", "float"]),
    (object(), 2, ["auxiliar", "sample", "object"]),
    (Cauchy, 2, ["auxiliar", "Cauchy"]),
]


@pytest.mark.parametrize(
    ("auxiliary", "d", "words"), WRONG, ids=[f"{i}-{w[2][0]}" for i, w in enumerate(WRONG)]
)
def test_errors_name_the_parameter_the_rule_and_what_was_received(auxiliary, d, words):
    X, y = stack(*data(d))
    with pytest.raises((ValueError, TypeError)) as caught:
        MDRE(auxiliary, **PLAIN, random_state=0).fit(X, y)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("bad", ["shape", "nan", "columns"])
def test_a_users_auxiliary_that_draws_nonsense_is_named(bad):
    class Nonsense(OnlySamples):
        def sample(self, n, rng):
            return {
                "shape": np.zeros((n, 2, 2)),
                "nan": np.full((n, 2), np.nan),
                "columns": np.zeros((n, 5)),
            }[bad]

    X, y = stack(*data(2))
    with pytest.raises(ValueError, match="m2"):
        MDRE(["cauchy", Nonsense()], random_state=0).fit(X, y)
