"""Critics given by features: exact derivatives, standardised features, and what they add."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax, psi
from sklearn.base import clone

import isthmus
from isthmus.critics import (
    BY_NAME,
    Bumps,
    Diagonal,
    FeatureCritic,
    Frame,
    Quadratic,
    Radial,
    Splines,
    Sum,
    placed,
)
from isthmus.data.blocks import MemoryBlocks
from isthmus.data.sample import Sample
from isthmus.model.objective import Objective
from isthmus.typing import BoundCritic, Critic


class Absolute(FeatureCritic):
    """What a newcomer writes."""

    def basis(self, X):
        return [np.abs((X - frame.centre) @ frame.whiten) for frame in self.frames_]


CRITICS = {
    **BY_NAME,
    "newcomer": Absolute(),
    "low rank": Quadratic(rank=2),
    "radial": Radial(),
    "splines": Splines(),
    "bumps": Bumps(8),
    "sum": Sum([Quadratic(), Radial(), Splines(3), Bumps(5)]),
    "sum of diagonal": Sum([Diagonal(), Absolute()]),
    "quadratic last": Sum([Radial((1.0,)), Quadratic(rank=2)]),
    "nested": Sum([Sum([Quadratic(), Absolute()]), Sum([Radial(), Splines(2)])]),
    "alone": Sum([Quadratic()]),
}
DIM = 3
CLASSES = 4

# Sums of some sixty terms of order one, and their products with matrices of order
# one: rounding stays within a thousand units in the last place.
ROUNDING = 1e-12
# A central difference with step h errs by h^2 f'''/6 and by eps f / h: with
# h = 1e-5 both are near 1e-10 where f and its derivatives are of order 1 to 100.
STEP, DIFFERENCE = 1e-5, 1e-7


def frames(count: int, rng: np.random.Generator, diagonal: bool = False) -> list[Frame]:
    out = []
    for _ in range(count):
        whiten = np.diag(rng.uniform(0.5, 2.0, DIM))
        if not diagonal:
            whiten += np.triu(rng.normal(0, 0.3, (DIM, DIM)), k=1)
        out.append(Frame(rng.normal(size=DIM), whiten))
    return out


def bound(critic, places: list[Frame], rows: list[np.ndarray]):
    """Do as the estimator does."""
    return placed(critic, rows, np.random.default_rng(3)).bind(places)


def make(name: str, *, l2: float = 0.0, block_rows: int | None = None) -> Objective:
    """An objective over a few rows of four classes, of which the last is known."""
    rng = np.random.default_rng(7)
    n = 60
    label = np.sort(rng.integers(CLASSES, size=n))
    X = rng.normal(size=(n, DIM)) + label[:, None]
    critic = CRITICS[name]
    places = frames(CLASSES - 1, rng, critic.covariance == "diagonal")
    sample, offset = Sample(X, rng.uniform(0.2, 3.0, n)), rng.normal(size=(n, CLASSES))
    blocks = MemoryBlocks(
        classes=[sample.take(label == c) for c in range(CLASSES)],
        offsets=[offset[label == c] for c in range(CLASSES)],
        log_prior=np.log(np.array([0.1, 0.2, 0.3, 0.4])),
        learned=np.array([True, True, True, False]),
        block_rows=block_rows,
    )
    critic = bound(critic, places, [own.rows for own in blocks.classes])
    return Objective(critic, blocks, l2)


def rows_of(objective: Objective) -> np.ndarray:
    return np.concatenate([own.rows for own in objective.blocks.classes])


def theta_for(objective: Objective) -> np.ndarray:
    return np.random.default_rng(8).normal(0, 0.3, objective.n_parameters)


def brute_force(objective: Objective, theta: np.ndarray) -> float:
    """The objective from explicit features, one class after the other."""
    blocks, loss = objective.blocks, 0.0
    for label, (own, offset) in enumerate(zip(blocks.classes, blocks.offsets, strict=True)):
        logits = offset + blocks.log_prior
        features = objective.critic.features(own.rows)
        for c, part in enumerate(theta.reshape(CLASSES - 1, -1)):
            logits[:, c] += features[c] @ part
        loss -= own.weight @ log_softmax(logits, axis=1)[:, label]
    return float(loss + 0.5 * objective.l2 * theta @ theta)


@pytest.mark.parametrize("name", CRITICS)
class TestContract:
    def test_it_is_a_critic(self, name):
        assert isinstance(CRITICS[name], Critic)
        assert isinstance(make(name).critic, BoundCritic)

    def test_value_and_gradient(self, name):
        objective = make(name, l2=0.7)
        theta = theta_for(objective)
        value, gradient = objective.value_and_gradient(theta)
        assert value == pytest.approx(brute_force(objective, theta), rel=ROUNDING)
        numeric = [
            (brute_force(objective, theta + e) - brute_force(objective, theta - e)) / (2 * STEP)
            for e in STEP * np.eye(len(theta))
        ]
        np.testing.assert_allclose(gradient, numeric, rtol=DIFFERENCE, atol=10 * DIFFERENCE)

    def test_hessian_product(self, name):
        objective = make(name, l2=0.7)
        theta = theta_for(objective)
        direction = np.random.default_rng(9).normal(size=len(theta))
        ahead = objective.at(theta + STEP * direction).gradient
        behind = objective.at(theta - STEP * direction).gradient
        np.testing.assert_allclose(
            objective.at(theta).hessian_product(direction),
            (ahead - behind) / (2 * STEP),
            rtol=DIFFERENCE,
            atol=10 * DIFFERENCE,
        )

    def test_dense_hessian_has_the_products_as_columns(self, name):
        point = make(name).at(theta_for(make(name)))
        H = point.hessian()
        columns = [point.hessian_product(e) for e in np.eye(len(H))]
        np.testing.assert_allclose(H, np.array(columns).T, rtol=ROUNDING, atol=1e-11)

    def test_values_are_parameters_times_features(self, name):
        objective = make(name)
        critic, X, theta = objective.critic, rows_of(objective), theta_for(objective)
        features = critic.features(X)
        assert [phi.shape for phi in features] == [(len(X), critic.n_features)] * (CLASSES - 1)
        parts = theta.reshape(-1, critic.n_features)
        expected = [phi @ part for phi, part in zip(features, parts, strict=True)]
        got = critic.values(critic.expand(theta), X)
        np.testing.assert_allclose(got, np.array(expected).T, rtol=ROUNDING, atol=1e-12)

    def test_the_first_feature_is_the_only_constant(self, name):
        objective = make(name)
        for phi in objective.critic.features(rows_of(objective)):
            constant = (phi == phi[0]).all(axis=0)
            assert constant[0]
            assert not constant[1:].any()
            np.testing.assert_array_equal(phi[:, 0], 1.0)

    @pytest.mark.parametrize("block_rows", [1, 7, 1000])
    def test_block_size_is_irrelevant(self, name, block_rows):
        whole, parts = make(name, l2=0.3), make(name, l2=0.3, block_rows=block_rows)
        theta = theta_for(whole)
        a, b = whole.at(theta), parts.at(theta)
        assert b.value == pytest.approx(a.value, rel=ROUNDING)
        np.testing.assert_allclose(b.gradient, a.gradient, rtol=ROUNDING, atol=1e-11)

    def test_pickle_and_clone(self, name):
        objective = make(name)
        critic, X = objective.critic, rows_of(objective)
        theta = theta_for(objective)
        copy = pickle.loads(pickle.dumps(critic))
        np.testing.assert_array_equal(
            copy.values(copy.expand(theta), X), critic.values(critic.expand(theta), X)
        )
        # A clone is as good as new: only the parameters are left.
        fresh = clone(critic)
        assert repr(fresh) == repr(CRITICS[name])
        assert not any(attribute.endswith("_") for attribute in vars(fresh))

    def test_binding_leaves_the_callers_critic_alone(self, name):
        rng = np.random.default_rng(0)
        critic = clone(CRITICS[name])
        bound(
            critic, frames(2, rng, critic.covariance == "diagonal"), [rng.normal(size=(9, DIM))] * 2
        )
        for one in [critic, *getattr(critic, "parts", [])]:
            assert vars(one).keys() == one.get_params(deep=False).keys()


@pytest.mark.parametrize("critic", [Absolute(), Splines(), Bumps(8)])
def test_rows_in_pieces(critic, monkeypatch):
    rng = np.random.default_rng(2)
    X, R = rng.normal(size=(300, DIM)), rng.normal(size=(300, 2))
    critic = bound(critic, frames(2, rng), [X[:150], X[150:]])
    theta = rng.normal(size=critic.n_parameters)

    def both():
        total = critic.accumulator()
        critic.accumulate(total, R, X)
        return critic.values(critic.expand(theta), X), critic.contract(total)

    values, gradient = both()
    monkeypatch.setattr("isthmus.critics.features.PIECE_BYTES", 0)
    monkeypatch.setattr("isthmus.critics.splines.PIECE_VALUES", 100)
    again, same = both()
    np.testing.assert_allclose(again, values, rtol=ROUNDING, atol=1e-12)
    np.testing.assert_allclose(same, gradient, rtol=ROUNDING, atol=1e-11)


# The others run along single coordinates.
@pytest.mark.parametrize(
    "name", ["quadratic", "low rank", "newcomer", "radial", "bumps", "quadratic last"]
)
def test_an_affine_map_changes_nothing(name):
    critic = CRITICS[name]
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, DIM))
    A, shift = np.eye(DIM) + np.triu(rng.normal(size=(DIM, DIM))), rng.normal(size=DIM)
    places = frames(2, rng)
    moved = [Frame(f.centre @ A + shift, np.linalg.inv(A) @ f.whiten) for f in places]
    before = bound(critic, places, [X[:20], X[20:]]).features(X)
    Y = X @ A + shift
    after = bound(critic, moved, [Y[:20], Y[20:]]).features(Y)
    # Solving with a matrix of condition some ten loses a digit or two of sixteen.
    np.testing.assert_allclose(after, before, rtol=1e-10, atol=1e-10)


class TestRadial:
    @pytest.mark.parametrize("d", [1, 5, 40, 320])
    def test_standardised_under_a_normal(self, d):
        critic = Radial().bind([Frame(np.zeros(d), np.eye(d))])
        # Quantiles of the chi-square: 20,000 of them leave 1e-4 of the integral.
        square = stats.chi2.ppf((np.arange(20_000) + 0.5) / 20_000, d)
        X = np.zeros((len(square), d))
        X[:, 0] = np.sqrt(square)
        phi = critic.basis(X)[0]
        np.testing.assert_allclose(phi.mean(axis=0), 0.0, atol=1e-3)
        np.testing.assert_allclose(phi.std(axis=0), 1.0, atol=2e-3)

    @pytest.mark.parametrize("df", [3, 12])
    @pytest.mark.parametrize("d", [1, 4])
    def test_exact_for_student_t(self, d, df):
        # In the frame of its covariance, with s = df - 2, up to the rounding of a solve
        # with features that are nearly alike.
        rng = np.random.default_rng(5)
        X = stats.multivariate_t(np.zeros(d), np.eye(d), df, seed=rng).rvs(500).reshape(-1, d)
        frame = Frame(np.zeros(d), np.eye(d) * np.sqrt((df - 2) / df))
        phi = Radial().bind([frame]).features(X)[0]
        truth = stats.multivariate_t(np.zeros(d), np.eye(d), df).logpdf(X)
        fit = phi @ np.linalg.lstsq(phi, truth, rcond=None)[0]
        np.testing.assert_allclose(fit, truth, atol=1e-8)

    def test_every_class_has_its_own_frame(self):
        # The triangle is worked through in blocks: 100 columns are one and a part.
        rng = np.random.default_rng(6)
        d = 100
        places = [
            Frame(rng.normal(size=d), np.eye(d) + np.triu(rng.normal(0, 0.1, (d, d)), k=1))
            for _ in range(2)
        ]
        X = rng.normal(size=(30, d))
        critic = Radial((2.0,)).bind(places)
        for place, phi in zip(places, critic.basis(X), strict=True):
            square = (((X - place.centre) @ place.whiten) ** 2).sum(axis=1)
            expected = (np.log1p(square / 2.0) - critic.mean_) / critic.sd_
            np.testing.assert_allclose(phi[:, 0], expected, rtol=1e-10)

    @pytest.mark.parametrize("scales", [(0.0,), (1.0, -1.0), ("one",)])
    def test_bad_scales_are_refused(self, scales):
        with pytest.raises(ValueError, match=r"scales must be a number in \(0, inf\)"):
            Radial(scales).bind([Frame(np.zeros(2), np.eye(2))])


class TestSplines:
    @pytest.mark.parametrize("n_basis", [1, 8, 20])
    def test_orthonormal_to_each_other_and_to_quadratics(self, n_basis):
        critic = Splines(n_basis).bind([Frame(np.zeros(1), np.eye(1))])
        u = np.linspace(-9.0, 9.0, 40_001)
        weight = stats.norm.pdf(u) * (u[1] - u[0])
        quadratic = np.stack([np.ones_like(u), u, (u**2 - 1) / np.sqrt(2)], axis=1)
        phi = np.hstack([quadratic, critic.basis(u[:, None])[0]])
        # Two trapezoidal rules with steps of 1e-3, for squares whose second derivative
        # is that of a spline's slope squared, up to 30^2: 900 / 12 * 1e-6.
        np.testing.assert_allclose((phi.T * weight) @ phi, np.eye(n_basis + 3), atol=1e-4)

    def test_straight_lines_outside_of_the_knots_and_constants_far_out(self):
        critic = Splines().bind([Frame(np.zeros(1), np.eye(1))])
        for end in (-1.0, 1.0):
            phi = critic.basis(end * np.array([[3.0], [6.0], [9.0], [10.0], [1e6]]))[0]
            np.testing.assert_allclose(phi[2] - phi[1], phi[1] - phi[0], atol=1e-10)
            np.testing.assert_allclose(phi[3], phi[2] + (phi[1] - phi[0]) / 3, atol=1e-10)
            np.testing.assert_allclose(phi[4], phi[3], atol=1e-10)

    def test_smooth(self):
        # A slope that changes by at most the curvature of the roughest spline (knots half
        # a unit apart: less than 100) times one interval of 0.05.
        critic = Splines().bind([Frame(np.zeros(1), np.eye(1))])
        u = np.linspace(-4.0, 4.0, 161)
        slope = np.diff(critic.basis(u[:, None])[0], axis=0) / (u[1] - u[0])
        assert np.abs(np.diff(slope, axis=0)).max() < 5.0

    def test_units_are_those_of_the_margins(self):
        # In a correlated class the margin's width is not the diagonal of the whitening.
        rng = np.random.default_rng(8)
        place = frames(1, rng)[0]
        root = np.linalg.inv(place.whiten)
        sd = np.sqrt(np.diag(root.T @ root))
        U = rng.normal(size=(20, DIM))
        plain = Splines(4).bind([Frame(np.zeros(DIM), np.eye(DIM))]).basis(U)[0]
        moved = Splines(4).bind([place]).basis(place.centre + U * sd)[0]
        np.testing.assert_allclose(moved, plain, rtol=1e-9, atol=1e-9)

    def test_a_class_far_from_the_origin_stays_accurate(self):
        # At a million widths, ten of sixteen digits of x - centre remain.
        rng = np.random.default_rng(3)
        far = np.array([1e6, -2e6, 5e5])
        U = rng.normal(size=(50, DIM))
        plain = Splines().bind([Frame(np.zeros(DIM), np.eye(DIM))])
        moved = Splines().bind([Frame(far, np.eye(DIM))])
        theta = rng.normal(size=plain.n_parameters)
        np.testing.assert_allclose(
            moved.values(moved.expand(theta), far + U),
            plain.values(plain.expand(theta), U),
            atol=1e-6,
        )

    @pytest.mark.parametrize("n_basis", [0, 2.5, True, 1000])
    def test_bad_number_is_refused(self, n_basis):
        with pytest.raises(ValueError, match="n_basis must be an integer"):
            Splines(n_basis).bind([Frame(np.zeros(2), np.eye(2))])

    def test_bad_coordinates_are_refused(self):
        with pytest.raises(ValueError, match="coordinates must be one of"):
            Splines(coordinates="polar").bind([Frame(np.zeros(2), np.eye(2))])


class TestBumps:
    def test_one_at_its_centre(self):
        rng = np.random.default_rng(1)
        rows = [rng.normal(size=(30, DIM)) for _ in range(3)]
        critic = bound(Bumps(8), frames(2, rng), rows)
        centres = np.concatenate(critic.rows_)
        heights = critic.basis(centres)[0] * critic.sd_ + critic.mean_
        np.testing.assert_allclose(np.diag(heights), 1.0, rtol=1e-12)
        np.testing.assert_allclose(critic.basis(centres)[0].std(axis=0), 1.0, rtol=1e-12)
        # Centres are rows of p and of q in equal numbers, and never of an auxiliary.
        for part, some in zip(critic.rows_, rows, strict=False):
            assert len(part) == 4
            assert all((some == row).all(axis=1).any() for row in part)

    def test_no_more_centres_than_rows(self):
        rng = np.random.default_rng(1)
        rows = [rng.normal(size=(3, DIM)), rng.normal(size=(30, DIM))]
        assert bound(Bumps(20), frames(2, rng), rows).n_features == 1 + 3 + 10

    def test_the_same_rows_throughout(self):
        rows = [np.zeros((5, DIM)), np.ones((5, DIM))]
        critic = bound(Bumps(8), [Frame(part[0], np.eye(DIM)) for part in rows], rows)
        assert np.isfinite(critic.basis(np.eye(DIM))[0]).all()

    def test_the_same_seed_gives_the_same_centres(self):
        rows = [np.random.default_rng(c).normal(size=(30, DIM)) for c in range(2)]
        a, b = (Bumps(8).place(rows, np.random.default_rng(0)) for _ in range(2))
        np.testing.assert_array_equal(a.rows_, b.rows_)

    def test_it_must_be_placed(self):
        with pytest.raises(ValueError, match="must be placed before it is bound"):
            Bumps().bind(frames(2, np.random.default_rng(0)))

    @pytest.mark.parametrize("bad", [{"n_centres": 3}, {"width": 0.0}])
    def test_bad_parameters_are_refused(self, bad):
        rows = [np.zeros((5, 2)), np.ones((5, 2))]
        with pytest.raises(ValueError, match=f"{next(iter(bad))} must be"):
            Bumps(**bad).place(rows, np.random.default_rng(0))


class TestSum:
    def test_the_parts_values_add_up(self):
        rng = np.random.default_rng(9)
        places, X = frames(2, rng), rng.normal(size=(30, DIM))
        parts = [Quadratic(), Radial(), Splines(3)]
        critic = Sum(parts).bind(places)
        theta = rng.normal(size=(2, critic.n_features))
        expected, begin = np.zeros((len(X), 2)), 1
        for part in parts:
            alone = part.bind(places)
            end = begin + alone.n_features - 1
            own = np.hstack([np.zeros((2, 1)), theta[:, begin:end]]).ravel()
            expected += alone.values(alone.expand(own), X)
            begin = end
        assert end == critic.n_features
        got = critic.values(critic.expand(theta.ravel()), X)
        np.testing.assert_allclose(got, expected + theta[:, 0], rtol=ROUNDING, atol=1e-11)

    def test_it_starts_from_the_normal_of_each_frame(self):
        places = frames(2, np.random.default_rng(5))
        critic = Sum([Quadratic(), Splines(), Radial()]).bind(places)
        X = np.random.default_rng(6).normal(size=(20, DIM))
        values = critic.values(critic.expand(critic.normal_start()), X)
        for c, frame in enumerate(places):
            root = np.linalg.inv(frame.whiten)
            truth = stats.multivariate_normal(frame.centre, root.T @ root).logpdf(X)
            np.testing.assert_allclose(values[:, c], truth, rtol=1e-11)

    def test_what_it_asks_for(self):
        assert Sum([Quadratic(), Radial()]).coordinates == "canonical"
        assert Sum([Quadratic(), Splines()]).coordinates == "columns"
        assert Sum([Quadratic(), Splines(coordinates="canonical")]).coordinates == "canonical"
        assert Sum([Quadratic(), Splines()]).covariance == "full"
        assert Sum([Diagonal(), Splines()]).covariance == "diagonal"

    def test_low_rank_and_columns_are_refused(self):
        with pytest.raises(ValueError, match="agree on coordinates"):
            Sum([Quadratic(rank=2), Splines()]).bind(frames(2, np.random.default_rng(0)))

    def test_no_parts_are_refused(self):
        with pytest.raises(ValueError, match="at least one critic"):
            Sum([]).bind(frames(2, np.random.default_rng(0)))


def kl_error(p, q, truth: float, critic, **given) -> tuple[float, float]:
    """Error of KL(p, q) by cross-fitting, and its standard error."""
    mdre = isthmus.MDRE(critic=critic, l2=1.0, random_state=0, **given)
    kl = isthmus.compare(p, q, estimator=mdre, folds=2, random_state=0).kl
    return abs(kl.value - truth), kl.std_error


class TestAccuracy:
    """Each critic where the quadratic is wrong. Errors stay within four standard errors."""

    @pytest.mark.parametrize("d", [1, 5])
    def test_heavy_tails(self, d):
        def draw(df):
            z = rng.normal(size=(2000, d))
            return z / np.sqrt(rng.chisquare(df, (2000, 1)) / df)

        rng = np.random.default_rng(d)
        p, q = draw(30), draw(3)
        # By quadrature over the radius.
        radius = np.linspace(1e-6, 60.0, 100_001)
        x = radius[:, None] * np.eye(d)[0]
        log_p, log_q = (
            stats.multivariate_t(np.zeros(d), np.eye(d), df).logpdf(x) for df in (30, 3)
        )
        density = np.exp(log_p) * radius ** (d - 1)
        truth = float((density * (log_p - log_q)).sum() / density.sum())
        plain, _ = kl_error(p, q, truth, Quadratic(), anchor=None)
        error, std_error = kl_error(p, q, truth, Radial(), anchor=None)
        assert error < 4 * std_error
        # The quadratic is off by 0.05 and by 0.3, some ten standard errors of the other.
        assert error < 0.5 * plain

    @pytest.mark.parametrize("name", ["beta", "log-gamma"])
    def test_skewed_and_bounded_columns(self, name):
        rng = np.random.default_rng(0)
        if name == "beta":
            p, q, truth = rng.beta(2, 5, 2000), rng.beta(5, 2, 2000), 3 * (psi(5) - psi(2))
        else:
            p, q = np.log(rng.gamma(5, size=2000)), np.log(rng.gamma(2, size=2000))
            truth = 3 * psi(5) - np.log(24)
        error, std_error = kl_error(
            p, q, truth, Sum([Quadratic(), Splines()]), anchor="gaussian", maps=None
        )
        assert error < 4 * std_error
        assert std_error < 0.15 * truth

    def test_several_modes_in_two_dimensions(self):
        # Twelve normals on a circle against one normal, on which the quadratic sees nothing.
        rng = np.random.default_rng(0)
        angle = np.arange(12) * np.pi / 6
        centres = 2.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)

        def log_ratio(x):
            near = -((x[:, None] - centres) ** 2).sum(axis=2) / (2 * 0.35**2)
            log_p = np.logaddexp.reduce(near, axis=1) - np.log(12) - 2 * np.log(0.35)
            return log_p + (x**2).sum(axis=1) / (2 * 1.4**2) + 2 * np.log(1.4)

        def ring(n):
            return centres[rng.integers(12, size=n)] + 0.35 * rng.normal(size=(n, 2))

        p, q = ring(1500), 1.4 * rng.normal(size=(1500, 2))
        # A standard error of 1 / sqrt(100,000), a tenth of the estimate's own.
        truth = float(log_ratio(ring(100_000)).mean())
        critic = Sum([Quadratic(), Bumps(60)])
        error, std_error = kl_error(p, q, truth, critic, anchor="gaussian", oversample=4)
        assert error < 4 * std_error
        assert std_error < 0.15 * truth
