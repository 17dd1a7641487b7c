"""DRE-infinity: paths, integrals, and the three time scores."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import norm

from isthmus import MDRE, problems, stack
from isthmus.baselines import DREInfinity
from isthmus.baselines.time_network import Clock, inputs, make_batch, time_score_loss
from isthmus.baselines.time_quadratic import (
    Krylov,
    draw_rows,
    fit_quadratic,
    right_side,
    without_normal,
)
from isthmus.baselines.time_score import Path, fit_path, integrate, panels
from isthmus.critics import Frame, Quadratic
from isthmus.data.distinct import Distinct
from isthmus.data.sample import Sample
from isthmus.data.seeds import Seeds
from isthmus.neural import mlp, seeded

PATHS = {
    form: Path(
        form,
        mean_p=np.array([1.0, -0.5]),
        mean_q=np.array([-1.0, 0.0]),
        variance_p=np.array([0.3, 2.0]),
        variance_q=np.array([1.5, 0.4]),
    )
    for form in ("sqrt", "linear")
}


def distinct(rows):
    return Distinct.of(Sample.of(rows))


def drawn(path, n, rng):
    """Rows of p and of q of a path."""
    return tuple(
        mean + np.sqrt(variance) * rng.standard_normal((n, len(mean)))
        for mean, variance in ((path.mean_p, path.variance_p), (path.mean_q, path.variance_q))
    )


def normal_pair(n=2000, seed=0, d=3):
    """Two correlated normals some way apart."""
    rng = np.random.default_rng(seed)
    p = rng.standard_normal((n, d)) @ (np.eye(d) + 0.4 * np.tri(d, k=-1)) + 1.0
    q = 1.5 * rng.standard_normal((n, d))
    return p, q


def plug_in(p, q, **settings):
    """The ratio of two fitted normals, by another part of the library."""
    model = MDRE(None, critic="quadratic", anchor="gaussian", maps=None, l2=np.inf, **settings)
    return model.fit(*stack(p, q))


def network(path, out=1, seed=0):
    """A network that is not zero."""
    import torch

    with seeded(np.random.default_rng(seed)):
        net = mlp(len(path.mean_p) + 7, out, width=16, depth=2)
        torch.nn.init.normal_(net[-1].weight, std=0.3)
    return net


class TestPath:
    @pytest.mark.parametrize("form", PATHS)
    def test_goes_from_q_to_p(self, form):
        path = PATHS[form]
        begin, end = path.moments(0.0), path.moments(1.0)
        np.testing.assert_allclose(begin.mean, path.mean_q, atol=1e-15)
        np.testing.assert_allclose(begin.variance, path.variance_q, atol=1e-15)
        np.testing.assert_allclose(end.mean, path.mean_p, atol=1e-15)
        np.testing.assert_allclose(end.variance, path.variance_p, atol=1e-15)

    def test_weights_are_those_of_the_paper(self):
        t = np.linspace(0, 1, 11)
        a, b, *_ = PATHS["sqrt"].weights(t)
        np.testing.assert_allclose(b, np.sqrt(1 - a**2), atol=1e-12)
        a, b, *_ = PATHS["linear"].weights(t)
        np.testing.assert_allclose(a + b, 1.0)

    @pytest.mark.parametrize("form", PATHS)
    def test_derivatives_are_bounded_and_right_up_to_the_ends(self, form):
        path, h = PATHS[form], 1e-6
        for t in (0.0, 0.4, 1.0):
            now, ahead, behind = (path.weights(t + s) for s in (0.0, h, -h))
            # A central difference errs by h^2 and by rounding over h.
            np.testing.assert_allclose(now[2], (ahead[0] - behind[0]) / (2 * h), atol=1e-9)
            np.testing.assert_allclose(now[3], (ahead[1] - behind[1]) / (2 * h), atol=1e-9)

    @pytest.mark.parametrize("form", PATHS)
    def test_score_is_the_derivative_of_the_log_density(self, form):
        path, h = PATHS[form], 1e-5
        Y = np.random.default_rng(0).normal(0, 2, (20, 2))

        def log_density(t):
            mean, variance, *_ = path.moments(t)
            return norm.logpdf(Y, mean, np.sqrt(variance)).sum(axis=1)

        for t in (0.1, 0.5, 0.9):
            numeric = (log_density(t + h) - log_density(t - h)) / (2 * h)
            np.testing.assert_allclose(path.score(Y, t), numeric, rtol=1e-6, atol=1e-6)

    def test_scale_is_the_root_mean_square_of_the_score(self):
        path, rng = PATHS["sqrt"], np.random.default_rng(0)
        x_p, x_q = drawn(path, 200_000, rng)
        for t in (0.2, 0.8):
            a, b, *_ = path.weights(t)
            square = path.score(b * x_q + a * x_p, t) ** 2
            error = square.std() / np.sqrt(len(square))
            assert abs(square.mean() - (path.scale(np.array([t]))[0] ** 2 - 1)) < 4 * error

    @pytest.mark.parametrize("form", PATHS)
    def test_integral_of_the_score_is_the_log_ratio(self, form):
        path = PATHS[form]
        Y = np.random.default_rng(0).normal(0, 2, (50, 2))
        truth = sum(
            sign * norm.logpdf(Y, mean, np.sqrt(variance)).sum(axis=1)
            for sign, mean, variance in (
                (1, path.mean_p, path.variance_p),
                (-1, path.mean_q, path.variance_q),
            )
        )
        np.testing.assert_allclose(integrate(path.score, Y, 1e-8), truth, rtol=1e-7, atol=1e-7)

    def test_coordinates_make_both_covariances_diagonal(self):
        p, q = normal_pair(20_000)
        fitted = fit_path(distinct(p), distinct(q), "sqrt")
        for rows, variance in ((p, fitted.path.variance_p), (q, fitted.path.variance_q)):
            covariance = np.cov(fitted.where(rows).T, bias=True)
            # The correction of the noise is a factor of 1 - 5 / n.
            np.testing.assert_allclose(covariance, np.diag(variance), atol=1e-3)


class TestIntegrate:
    def test_a_narrow_peak_is_found(self):
        width = 1e-5
        found = integrate(
            lambda x, t: np.full(len(x), width / (width**2 + (t - 1.0) ** 2)), np.ones((1, 1)), 1e-8
        )
        np.testing.assert_allclose(found, np.arctan(1.0 / width), rtol=1e-7)

    def test_a_row_does_not_depend_on_the_others(self):
        rows = np.array([[1.0], [1e-4], [30.0]])

        def score(x, t):
            return 1.0 / (x[:, 0] ** 2 + t)

        together = integrate(score, rows, 1e-6)
        alone = np.concatenate([integrate(score, row[None], 1e-6) for row in rows])
        np.testing.assert_array_equal(together, alone)
        truth = np.log1p(1.0 / rows[:, 0] ** 2)
        np.testing.assert_allclose(together, truth, rtol=1e-6)

    def test_no_rows_are_no_problem(self):
        assert integrate(lambda x, t: x[:, 0], np.zeros((0, 1)), 1e-4).shape == (0,)

    def test_panels_are_finer_where_the_score_is_sharp(self):
        narrow = Path("sqrt", np.zeros(1), np.zeros(1), np.array([1e-6]), np.ones(1))
        wide = Path("sqrt", np.zeros(1), np.zeros(1), np.array([0.5]), np.ones(1))
        rows = np.array([[0.0], [1e-3], [1.0]])
        times, weights = panels(narrow, rows, 1e-3)
        assert len(times) > 3 * len(panels(wide, rows, 1e-3)[0])
        np.testing.assert_allclose(weights.sum(), 1.0)
        assert (np.diff(times) > 0).all()


class TestGaussian:
    @pytest.mark.parametrize("path", ["sqrt", "linear"])
    def test_is_the_ratio_of_two_fitted_normals(self, path):
        p, q = normal_pair()
        model = DREInfinity("gaussian", path=path, tol=1e-6).fit(*stack(p, q))
        rows = np.vstack([p[:100], q[:100]])
        # The integral is as exact as tol says, relative to one plus its size.
        np.testing.assert_allclose(
            model.log_ratio(rows), plug_in(p, q).log_ratio(rows), rtol=2e-6, atol=2e-6
        )

    def test_tolerance_is_kept(self):
        problem = problems.load("table1/row1")
        p, q = problem.sample_p(500, 0), problem.sample_q(500, 0)
        rows = np.vstack([p[:50], q[:50]])
        exact = plug_in(p, q).log_ratio(rows)
        for tol in (1e-2, 1e-5):
            found = DREInfinity("gaussian", tol=tol).fit(*stack(p, q)).log_ratio(rows)
            assert np.abs(found - exact).max() < tol * (1 + np.abs(exact).max())

    def test_an_affine_map_changes_nothing_and_a_swap_the_sign(self):
        p, q = normal_pair()
        A = np.array([[1.0, 2.0, 0.0], [0.0, 1e3, 0.5], [1e-3, 0.0, 1.0]])
        first = DREInfinity("gaussian", tol=1e-8).fit(*stack(p, q)).log_ratio(p)
        mapped = DREInfinity("gaussian", tol=1e-8).fit(*stack(p @ A + 5.0, q @ A + 5.0))
        swapped = DREInfinity("gaussian", tol=1e-8).fit(*stack(q, p))
        np.testing.assert_allclose(mapped.log_ratio(p @ A + 5.0), first, atol=1e-5)
        np.testing.assert_allclose(swapped.log_ratio(p), -first, atol=1e-5)

    def test_high_dimensions_are_unbiased_on_fresh_rows(self):
        problem = problems.load("table2/40")
        found = [
            DREInfinity("gaussian")
            .fit(*stack(problem.sample_p(1000, seed), problem.sample_q(1000, seed)))
            .log_ratio(problem.sample_p(4000, seed + 100))
            .mean()
            for seed in range(4)
        ]
        # The spread over seeds is .3; a covariance taken as it is would add .9 nats.
        assert abs(np.mean(found) - problem.kl) < 4 * 0.3 / np.sqrt(4)


class TestQuadratic:
    def skewed(self, n=3000, seed=0, d=2):
        rng = np.random.default_rng(seed)
        p = rng.gamma(4.0, 0.5, (n, d))
        q = rng.gamma(9.0, 0.5, (n, d))
        return p, q

    def system(self):
        p, q = map(distinct, self.skewed())
        fitted = fit_path(p, q, "sqrt")
        p, q = (x.map(fitted.where) for x in (p, q))
        rows = draw_rows(fitted.path, 0.4, p, q, 3000, np.random.default_rng(0))
        critic = Quadratic().bind([Frame(np.zeros(2), np.eye(2))])
        return critic, rows

    @pytest.mark.parametrize("ratio", [0.0, 0.1, 10.0])
    def test_lanczos_solves_the_system(self, ratio):
        critic, rows = self.system()
        F = critic.features(rows.Z)[0]
        G = F.T @ F / len(F)
        basis = Krylov(critic, rows)
        while basis.extend():
            pass
        exact = np.linalg.solve(G + ratio * np.eye(len(G)), right_side(critic, rows))
        np.testing.assert_allclose(basis.solution(ratio), exact, rtol=1e-6, atol=1e-9)

    def test_the_right_side_is_the_gradient_of_the_objective(self):
        critic, rows = self.system()
        F = critic.features(rows.Z)[0]
        h = 1e-4
        ahead, behind = (critic.features(rows.Z + s * h * rows.U)[0] for s in (1, -1))
        slopes = (ahead - behind) / (2 * h)
        expected = (slopes - F * rows.normal[:, None]).mean(axis=0)
        np.testing.assert_allclose(right_side(critic, rows), expected, atol=1e-6)

    def test_normals_are_left_to_the_normal_path(self):
        chosen = [
            DREInfinity(random_state=seed).fit(*stack(*normal_pair(seed=seed))).l2_
            for seed in range(5)
        ]
        # Two standard errors on the rows held out are asked for.
        assert np.isinf(chosen).sum() >= 4

    def test_what_is_not_normal_is_found_by_itself(self):
        problem = problems.load("hard/gamma")
        p, q = problem.sample_p(5000, 0), problem.sample_q(5000, 0)
        fresh = problem.sample_p(5000, 1)
        errors = {}
        for critic in ("gaussian", "quadratic"):
            model = DREInfinity(critic, random_state=0).fit(*stack(p, q))
            error = model.log_ratio(fresh) - problem.log_ratio(fresh)
            errors[critic] = np.sqrt(np.mean(error**2))
        assert np.isfinite(model.l2_) and len(model.times_) >= 8
        # 1.2 against 1.9: a quadratic time score cannot be right here, but it is better.
        assert errors["quadratic"] < 0.8 * errors["gaussian"]

    def test_without_penalty_normals_are_still_found(self):
        path = PATHS["sqrt"]
        p, q = drawn(path, 20_000, np.random.default_rng(0))
        truth = plug_in(p, q)
        model = DREInfinity(l2=0.0, random_state=0).fit(*stack(p, q))
        # Fourth moments are estimated too: coefficients have standard errors of about
        # sqrt(10 / 20,000), and the rows a few units of six features.
        assert np.abs(model.log_ratio(p) - truth.log_ratio(p)).mean() < 0.2

    def test_an_infinite_penalty_is_the_normal_path(self):
        p, q = self.skewed(500)
        found = DREInfinity(l2=np.inf).fit(*stack(p, q)).log_ratio(p)
        np.testing.assert_array_equal(found, DREInfinity("gaussian").fit(*stack(p, q)).log_ratio(p))

    def test_without_an_anchor_the_normal_score_is_learned_too(self):
        critic, rows = self.system()
        values = []
        for each in (rows, without_normal(rows)):
            basis = Krylov(critic, each)
            while basis.extend():
                pass
            values.append(critic.values(critic.expand(basis.solution(0.0)), rows.Z)[:, 0])
        # It is a quadratic function of x: without a penalty what is learned differs by it.
        np.testing.assert_allclose(values[1], values[0] + rows.normal, rtol=1e-6, atol=1e-6)

    def test_normals_are_found_without_an_anchor(self):
        found = []
        for seed in range(3):
            p, q = normal_pair(8000, seed)
            model = DREInfinity(anchor=None, random_state=seed).fit(*stack(p, q))
            assert np.isfinite(model.l2_)
            difference = model.log_ratio(p) - plug_in(p, q).log_ratio(p)
            found.append(np.abs(difference).mean())
        # As above, with 20 features at 8,000 rows: standard errors of sqrt(10 / 8,000), and
        # about as much for the penalty.
        assert np.mean(found) < 0.4

    def test_an_infinite_penalty_without_an_anchor_is_no_difference(self):
        p, q = self.skewed(200)
        model = DREInfinity(anchor=None, l2=np.inf).fit(*stack(p, q))
        np.testing.assert_array_equal(model.log_ratio(p), np.zeros(len(p)))

    def test_few_rows_take_the_rule(self):
        p, q = map(distinct, self.skewed(15))
        path = fit_path(p, q, "sqrt").path
        settings = {"validation": 0.15, "tol": 1e-4, "seeds": Seeds(0), "report": lambda line: None}
        assert fit_quadratic(path, p, q, l2="auto", **settings)[1] == 6.0


class TestObjective:
    """The network's two objectives, against the time score that is known."""

    def losses(self, objective, anchored, path=None, linear=False, seed=1):
        """Values of the objective at a fixed network, over batches of rows of the path."""
        import torch

        path = path or PATHS["sqrt"]
        clock, net, rng = Clock(path), network(path), np.random.default_rng(seed)
        out = []
        for _ in range(40):
            tau = (np.arange(4000) + rng.random(4000)) / 4000
            batch = make_batch(path, clock, *drawn(path, 4000, rng), tau, objective)
            value = time_score_loss(net, batch, clock.length, anchored, None)
            if linear:
                with torch.no_grad():
                    s = net(inputs(batch.z, batch.tau))
                    value = value - (s * s).mean()
            out.append(float(value.detach()))
        return np.array(out)

    @pytest.mark.parametrize("objective", ["path", "time"])
    @pytest.mark.parametrize("form", PATHS)
    def test_its_derivative_vanishes_at_the_true_time_score(self, objective, form):
        # What is linear in a function added to the true time score has mean zero.
        found = self.losses(objective, anchored=True, path=PATHS[form], linear=True)
        assert abs(found.mean()) < 4 * found.std() / np.sqrt(len(found))
        # Without the anchor it has not: the test would see a mistake.
        wrong = self.losses(objective, anchored=False, path=PATHS[form], linear=True)
        assert abs(wrong.mean()) > 20 * wrong.std() / np.sqrt(len(wrong))

    @pytest.mark.parametrize("anchored", [True, False])
    def test_both_objectives_have_one_expectation(self, anchored):
        one, other = (self.losses(name, anchored, seed=2) for name in ("path", "time"))
        error = np.sqrt((one.var() + other.var()) / len(one))
        assert abs(one.mean() - other.mean()) < 4 * error

    def test_the_clock_runs_from_zero_to_one_and_back(self):
        narrow = Path("sqrt", np.zeros(1), np.ones(1), np.array([1e-8]), np.ones(1))
        clock = Clock(narrow)
        tau = np.linspace(0, 1, 101)
        # Both are interpolated on a grid of 4001 points.
        np.testing.assert_allclose(clock.tau(clock.time(tau)), tau, atol=1e-9)
        assert (np.diff(clock.time(tau)) > 0).all()
        # Most of what happens does so at the narrow end.
        assert clock.time(0.5) > 0.9


TINY = {"width": 16, "depth": 1, "steps": 60, "batch_size": 64}


class TestNetwork:
    def test_finds_what_is_not_normal(self):
        problem = problems.load("hard/banana")
        p, q = problem.sample_p(3000, 0), problem.sample_q(3000, 0)
        settings = {"width": 64, "depth": 2, "steps": 300, "lr": 1e-2}
        model = DREInfinity("mlp", **settings, random_state=0).fit(*stack(p, q))
        fresh = problem.sample_p(2000, 1)
        error = model.log_ratio(fresh) - problem.log_ratio(fresh)
        normal = DREInfinity("gaussian").fit(*stack(p, q)).log_ratio(fresh)
        # .6 against 2.2 of the normal path: half of it is reached with room.
        assert np.sqrt(np.mean(error**2)) < 0.5 * np.sqrt(
            np.mean((normal - problem.log_ratio(fresh)) ** 2)
        )
        assert model.training_.best_step > 0

    @pytest.mark.parametrize("objective", ["path", "time"])
    def test_without_an_anchor_it_learns_the_ratio(self, objective):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (4000, 2)), rng.normal(1, 1, (4000, 2))
        model = DREInfinity(
            "mlp", objective=objective, anchor=None, width=32, depth=2, steps=400, random_state=0
        ).fit(*stack(p, q))
        error = model.log_ratio(p) - (1.0 - p.sum(axis=1))
        # The log-ratio has a standard deviation of 1.4; a tenth of its variance is left.
        assert np.sqrt(np.mean(error**2)) < np.sqrt(0.1) * np.sqrt(2)

    def test_the_joint_network_learns_the_data_score(self):
        import torch

        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (4000, 2)), rng.normal(1, 1, (4000, 2))
        model = DREInfinity(
            "mlp", joint=True, anchor=None, width=32, depth=2, steps=400, random_state=0
        ).fit(*stack(p, q))
        z = rng.normal(size=(500, 2))
        with torch.no_grad():
            half = torch.full((500, 1), 0.5, dtype=torch.float64)
            found = model.score_.net(inputs(torch.from_numpy(z), half))[:, 1:].numpy()
        # In the frame of x_t every p_t is standard normal, with the score -z.
        assert np.mean((found + z) ** 2) < 0.1

    def test_same_seed_same_answer(self):
        import torch

        X, y = stack(*normal_pair(300))
        before = torch.random.get_rng_state()
        a, b, c = (
            DREInfinity("mlp", **TINY, random_state=seed).fit(X, y).log_ratio(X)
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(a, b)
        assert np.abs(a - c).max() > 1e-6
        assert torch.equal(before, torch.random.get_rng_state())

    def test_can_be_pickled(self):
        X, y = stack(*normal_pair(200))
        model = DREInfinity("mlp", **TINY, random_state=0).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.log_ratio(X), model.log_ratio(X))

    def test_unusable_training_is_an_error(self):
        X, y = stack(*normal_pair(200))
        with pytest.raises(FloatingPointError, match="learning rate"):
            DREInfinity("mlp", **{**TINY, "lr": 1e12}, random_state=0).fit(X, y)


ALL = {
    "gaussian": DREInfinity("gaussian"),
    "quadratic": DREInfinity(random_state=0),
    "mlp": DREInfinity("mlp", **TINY, random_state=0),
}


@pytest.mark.parametrize("name", ALL)
class TestContract:
    def fit(self, name, X, y, **how):
        return ALL[name].__class__(**ALL[name].get_params()).fit(X, y, **how)

    def test_a_weight_of_two_is_the_row_given_twice(self, name):
        X, y = stack(*(np.exp(x) for x in normal_pair(200, d=2)))
        weight = np.random.default_rng(1).integers(0, 4, len(X))
        order = np.random.default_rng(2).permutation(weight.sum())
        again = np.repeat(np.arange(len(X)), weight)[order]
        weighted = self.fit(name, X, y, sample_weight=weight).log_ratio(X)
        repeated = self.fit(name, X[again], y[again]).log_ratio(X)
        # Moments are added up in another order; training carries the rounding on.
        np.testing.assert_allclose(weighted, repeated, rtol=1e-5, atol=1e-5)

    def test_constant_and_repeated_columns(self, name):
        p, q = normal_pair(100, d=2)
        wide_p, wide_q = (np.column_stack([x, np.ones(100), x[:, 0]]) for x in (p, q))
        with pytest.warns(UserWarning, match="constant|linearly dependent"):
            model = self.fit(name, *stack(wide_p, wide_q))
        assert np.isfinite(model.log_ratio(wide_p)).all()

    @pytest.mark.parametrize("scale", [1e-8, 1e8])
    def test_units_do_not_matter(self, name, scale):
        p, q = normal_pair(300, d=2)
        one = self.fit(name, *stack(p, q)).log_ratio(p)
        other = self.fit(name, *stack(p * scale, q * scale)).log_ratio(p * scale)
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)

    def test_equal_samples_have_a_ratio_of_one(self, name):
        p, _ = normal_pair(500, d=2)
        found = self.fit(name, *stack(p, p)).log_ratio(p)
        # No moments differ; the network and the quadratic part find noise, which is small.
        assert np.abs(found).max() < 0.5

    def test_a_few_rows_will_do(self, name):
        rng = np.random.default_rng(0)
        X, y = stack(rng.normal(size=(3, 4)), rng.normal(size=(2, 4)))
        assert np.isfinite(self.fit(name, X, y).log_ratio(X)).all()

    def test_far_rows_are_finite(self, name):
        p, q = normal_pair(200, d=2)
        model = self.fit(name, *stack(p, q))
        assert np.isfinite(model.log_ratio(np.array([[1e6, -1e6], [1e12, 0.0]]))).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"critic": "forest"}, "critic must be one of 'gaussian', 'quadratic', 'mlp'"),
        ({"path": "curved"}, "path must be one of 'sqrt', 'linear'"),
        ({"objective": "both"}, "objective must be one of 'path', 'time'"),
        ({"anchor": "copula"}, "anchor must be one of 'gaussian', None"),
        ({"joint": 1}, "joint must be True or False"),
        ({"l2": -1.0}, "l2 must be a number in"),
        ({"tol": 0.0}, "tol must be a number in"),
        ({"width": 0}, "width must be an integer in"),
        ({"steps": 2.5}, "steps must be an integer in"),
        ({"batch_size": 0}, "batch_size must be an integer in"),
        ({"validation": 1.0}, "validation must be a number in"),
        ({"lr": 0.0}, "lr must be a number in"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        DREInfinity(**settings).fit(*stack(*normal_pair(20)))


@pytest.mark.parametrize("critic", ["quadratic", "mlp"])
def test_progress_is_printed_on_request(critic, capsys):
    X, y = stack(*(np.exp(x) for x in normal_pair(300, d=1)))
    DREInfinity(critic, **TINY, random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    DREInfinity(critic, **TINY, random_state=0, verbose=1).fit(X, y)
    assert capsys.readouterr().out.startswith("DREInfinity ")


def test_linear_algebra_does_not_import_torch():
    code = (
        "import sys, numpy as np; from isthmus import stack; "
        "from isthmus.baselines import DREInfinity; rng = np.random.default_rng(0); "
        "DREInfinity().fit(*stack(rng.normal(size=50), rng.normal(size=50))); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
