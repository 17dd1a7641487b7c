"""Posteriors of critics, their agreement with each other, intervals and the bootstrap."""

from __future__ import annotations

import pickle
import sys
import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from isthmus import MDRE, compare, problems, stack
from isthmus import uncertainty
from isthmus.auxiliaries import Cauchy
from isthmus.critics import Quadratic, Splines, Sum
from isthmus.functionals import get_divergence
from isthmus.uncertainty import bootstrap, laplace, nuts
from isthmus.uncertainty import target as _target
from isthmus.uncertainty.delta import fit_influence
from isthmus.uncertainty.posterior import ratio_gradients
from isthmus.uncertainty.raw_prior import raw_prior
from isthmus.uncertainty.sandwich import Influence
from isthmus.uncertainty.tabulated import WithPrior, tabulated
from isthmus.uncertainty.target import Target, shift_directions

X_1D = np.linspace(-1.5, 1.5, 7)


def running_example(n, seed=0):
    problem = problems.load("running-example")
    return stack(problem.sample_p(n, seed), problem.sample_q(n, seed + 1000))


def paper_fit(n=300, seed=0, **how):
    """All three classes learned, as in the paper, with a standard normal prior."""
    settings = {"critic": "quadratic", "anchor": None, "maps": None, "l2": 1.0, **how}
    model = MDRE(Cauchy(0.0, 1.0), known_density=False, random_state=seed, **settings)
    return model.fit(*running_example(n, seed))


def plane(n=200, seed=0):
    rng = np.random.default_rng(seed)
    q = rng.normal(0.7, 1.0, (n, 2)) @ np.array([[1.0, 0.4], [0.0, 0.8]])
    return stack(rng.normal(0.0, 1.0, (n, 2)), q)


@pytest.fixture(scope="module")
def paper():
    return paper_fit()


@pytest.fixture(scope="module")
def known():
    """A class of known density, drawn more often than p and q; anchors and a penalty."""
    model = MDRE(critic="quadratic", anchor="gaussian", l2=3.0, oversample=4, random_state=0)
    return model.fit(*plane())


MODELS = {
    "paper": dict(auxiliaries=Cauchy(0.0, 1.0), known_density=False, anchor=None, l2=1.0),
    "known": dict(anchor=None, l2=1.0, prior="counts"),
    "anchored": dict(anchor="gaussian", l2=3.0, prior="counts"),
    "none": dict(auxiliaries=None, anchor=None, l2=0.5),
}


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    settings = {"critic": "quadratic", "maps": None, "random_state": 0, **MODELS[request.param]}
    return MDRE(**settings).fit(*running_example(300))


class TestTarget:
    @pytest.mark.parametrize("critic", ["quadratic", "diagonal", Sum([Quadratic(), Splines()])])
    def test_features_written_out_are_the_same_objective(self, critic):
        objective = MDRE(critic=critic, anchor="gaussian", l2=2.0).fit(*plane()).objective_
        table = tabulated(objective)
        assert table is not objective
        theta = np.random.default_rng(0).normal(0, 0.3, objective.n_parameters)
        ours, theirs = table.at(theta), objective.at(theta)
        # The same sums in another order: rounding of some thousand terms.
        np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-11)
        np.testing.assert_allclose(ours.gradient, theirs.gradient, atol=1e-8)
        np.testing.assert_allclose(ours.hessian(), theirs.hessian(), atol=1e-7)

    def test_large_features_are_not_written_out(self, known, monkeypatch):
        monkeypatch.setattr("isthmus.uncertainty.tabulated._MOST_BYTES", 1000)
        assert tabulated(known.objective_) is known.objective_

    def test_prior_on_linear_functions(self, paper):
        rng = np.random.default_rng(0)
        size = paper.objective_.n_parameters
        A, b = rng.normal(size=(4, size)), rng.normal(size=4)
        objective = WithPrior(paper.objective_, A, b)
        theta, step = rng.normal(0, 0.1, size), 1e-5 * rng.normal(size=size)
        ahead, behind, here = (objective.at(theta + s * step) for s in (1, -1, 0))
        # Central differences: an error of the third order in a step of 1e-5, beside rounding.
        assert here.gradient @ step == pytest.approx(0.5 * (ahead.value - behind.value), rel=1e-4)
        slope = 0.5 * (ahead.gradient - behind.gradient)
        np.testing.assert_allclose(here.hessian() @ step, slope, rtol=1e-4, atol=1e-8)
        np.testing.assert_allclose(here.hessian_product(step), here.hessian() @ step, atol=1e-9)

    @pytest.mark.parametrize(
        ("critic", "columns", "count"),
        [("quadratic", 1, 3), ("quadratic", 2, 6), ("diagonal", 2, 5), (Quadratic(rank=1), 2, 4)],
    )
    def test_shift_of_the_softmax(self, critic, columns, count):
        X, y = plane()
        model = MDRE("linear", critic=critic, anchor=None, maps=None, l2=1.0, random_state=0)
        objective = model.fit(X[:, :columns], y).objective_
        B = shift_directions(objective)
        # As many as a function of the critic's kind has coefficients: all classes share it.
        assert B.shape == (objective.n_parameters, count)
        theta = model.solution_.theta
        for direction in B.T:
            moved = objective.at(theta + 2.0 * direction)
            # The likelihood stays; the penalty is half the squared length.
            gain = 0.5 * (theta + 2 * direction) @ (theta + 2 * direction) - 0.5 * theta @ theta
            assert moved.value - objective.at(theta).value == pytest.approx(gain, abs=1e-6)
        # And no other direction is flat: they are the eigenvectors of the penalty alone.
        curvature = np.linalg.eigvalsh(objective.at(theta).hessian())
        assert (curvature < 1.0 + 1e-6).sum() == count

    def test_no_shift_with_a_known_class(self, known):
        assert shift_directions(known.objective_).shape == (known.objective_.n_parameters, 0)
        assert Target(known).size == known.objective_.n_parameters

    @pytest.mark.parametrize("prior", ["fit", "raw"])
    def test_whitened_coordinates(self, paper, prior):
        target = Target(paper, prior)
        assert target.size == 6
        H = target.point.hessian()
        np.testing.assert_allclose(target.basis.T @ H @ target.basis, np.eye(6), atol=1e-8)
        # The shift is orthogonal to them in the curvature, where it is the prior's alone.
        B = shift_directions(paper.objective_)
        assert np.abs(B.T @ H @ target.basis).max() < 1e-6 * np.abs(H).max() ** 0.5
        value, gradient = target.log_density(np.zeros(6))
        assert value == 0
        assert np.abs(gradient).max() < 1e-3
        z, step = np.full(6, 0.3), 1e-4 * np.arange(1.0, 7.0)
        slope = 0.5 * (target.log_density(z + step)[0] - target.log_density(z - step)[0])
        assert target.log_density(z)[1] @ step == pytest.approx(slope, rel=1e-5)

    def test_the_posterior_without_the_shift_is_that_of_the_ratios(self, paper):
        # In all nine directions the covariance is the inverse of the Hessian; log-ratios have the
        # same variance in the six.
        G = ratio_gradients(paper, paper.map_(X_1D[:, None]), (0, 1))
        H = paper.objective_.at(paper.solution_.theta).hessian()
        full = np.sqrt(np.einsum("ij,ij->i", G, np.linalg.solve(H, G.T).T))
        np.testing.assert_allclose(laplace(paper).log_ratio(X_1D, True)[1], full, rtol=1e-6)

    @pytest.mark.parametrize("critic", ["quadratic", "diagonal", Quadratic(rank=1)])
    @pytest.mark.parametrize("known_density", [True, False])
    def test_raw_coefficients(self, critic, known_density):
        X, y = plane()
        model = MDRE("student-t", critic=critic, anchor=None, maps=None, l2=1.0, random_state=0)
        model.set_params(known_density=known_density).fit(5.0 + 3.0 * X, y)
        A, b = raw_prior(model)
        x = np.random.default_rng(1).normal(5, 3, (9, 2))
        monomials = np.column_stack([x[:, 0] ** 2, x[:, 0] * x[:, 1], x[:, 1] ** 2, x, np.ones(9)])
        coefficients = (A @ model.solution_.theta + b).reshape(-1, 6)
        densities = model._critics(x)[:, model._setup.learned]
        np.testing.assert_allclose(monomials @ coefficients.T, densities, rtol=1e-8, atol=1e-8)

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"anchor": "gaussian"}, "prior='raw'"),
            ({"critic": Sum([Quadratic(), Splines()])}, "prior='raw'"),
        ],
    )
    def test_raw_prior_needs_plain_quadratics(self, how, message):
        with pytest.raises(ValueError, match=message):
            laplace(paper_fit(100, **how), prior="raw")

    def test_the_literal_prior_shrinks(self, paper):
        # The coefficient of x^2 in log p/q is -37.5: far out for a standard normal prior.
        truth = problems.load("running-example").log_ratio(X_1D[:, None])
        raw = laplace(paper, prior="raw").log_ratio(X_1D)
        assert (np.abs(raw) < 0.8 * np.abs(truth))[np.abs(truth) > 20].all()


class TestLaplace:
    def test_mean_is_the_fit(self, model):
        posterior = laplace(model, random_state=0)
        np.testing.assert_allclose(posterior.log_ratio(X_1D), model.log_ratio(X_1D), atol=1e-9)
        assert posterior.draws.shape == (1000, model.objective_.n_parameters)

    def test_draws_have_the_covariance(self, model):
        posterior = laplace(model, draws=4000, random_state=0)
        mean, std = posterior.log_ratio(X_1D, return_std=True)
        draws = posterior.log_ratio_draws(X_1D)
        # Four standard errors of a mean and of a standard deviation of 4000 draws.
        assert (np.abs(draws.mean(axis=0) - mean) < 4 * std / np.sqrt(4000)).all()
        np.testing.assert_allclose(draws.std(axis=0), std, rtol=4 / np.sqrt(8000))

    @pytest.mark.parametrize("covariance", ["posterior", "sandwich"])
    def test_many_parameters_by_solves_and_by_draws(self, known, covariance, monkeypatch):
        x = plane(40, seed=5)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of weights, which are not the matter here
            exact = laplace(known, covariance=covariance).log_ratio(x, return_std=True)[1]
            monkeypatch.setattr(_target, "EXACT_LIMIT", 5)
            many = laplace(known, covariance=covariance, draws=300, random_state=0)
        assert type(many).__name__ == "ManyLaplace"
        mean, std = many.log_ratio(x[:60:6], return_std=True)
        np.testing.assert_allclose(mean, known.log_ratio(x[:60:6]), atol=1e-9)
        np.testing.assert_allclose(std, exact[:60:6], rtol=5e-3)  # solves to a part in 1000
        assert len(x) > 64
        # Four standard errors of a standard deviation of 300 draws.
        ratio = many.log_ratio(x, return_std=True)[1] / exact
        assert np.abs(ratio - 1).max() < 4 / np.sqrt(600)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = laplace(known, covariance=covariance, draws=3, random_state=0)
        np.testing.assert_array_equal(many.draws[:3], again.draws)

    @pytest.mark.parametrize("l2", [3.0, np.inf])
    def test_sandwich_is_the_influence_of_rows(self, l2):
        model = MDRE(critic="quadratic", anchor="gaussian", l2=l2, random_state=0).fit(*plane())
        posterior = laplace(model, covariance="sandwich")
        sample = model.objective_.sample
        rng = np.random.default_rng(0)
        slope = [rng.normal(size=(sample.label == c).sum()) for c in (0, 1)]
        point = model.objective_.at(posterior.mode)
        effect = fit_influence(point, *slope, anchored=True)
        share = sample.weight / np.bincount(sample.label, sample.weight)[sample.label]
        effect -= share * np.bincount(sample.label, effect)[sample.label]
        rows = sample.X[sample.label < 2]
        along = np.concatenate(slope) @ ratio_gradients(model, rows, (0, 1)) @ posterior.root
        assert np.linalg.norm(along) == pytest.approx(np.linalg.norm(effect), rel=1e-6)
        other = rng.normal(size=len(rows))
        for c in (0, 1):
            own = sample.label[: len(rows)] == c
            other[own] -= other[own].mean()
        target = Target(model, infinite=True)
        influence = Influence(target.point, anchored=True)
        gradient = np.concatenate(slope) @ ratio_gradients(model, rows, (0, 1)) @ target.basis
        shared = gradient @ influence.covariance_with(target.basis, other)
        assert shared == pytest.approx(effect[: len(rows)] @ other, rel=1e-6)

    def test_posterior_is_the_sandwich_where_the_model_is_right(self):
        # With every row of weight one, classes of normals and no anchors the curvature is the
        # variance of the gradient, but for the constants, which know that class sizes are given.
        # Slopes of log p/q know nothing of constants. 4000 rows a class: a few per cent.
        model = MDRE(critic="quadratic", anchor=None, maps=None, l2=1e-3, prior="counts",
                     random_state=0).fit(*running_example(4000))  # fmt: skip
        G = ratio_gradients(model, model.map_(X_1D[:, None]), (0, 1))
        G = np.diff(G, axis=0)
        roots = [laplace(model, covariance=kind).root for kind in ("posterior", "sandwich")]
        plain, robust = (np.linalg.norm(G @ root, axis=1) for root in roots)
        np.testing.assert_allclose(robust, plain, rtol=0.1)

    def test_sandwich_is_the_spread_over_samples(self):
        found, told = [], []
        for seed in range(60):
            model = MDRE(critic="quadratic", anchor="gaussian", l2=3.0, oversample=5, maps=None,
                         random_state=seed).fit(*running_example(200, seed))  # fmt: skip
            mean, std = laplace(model, covariance="sandwich").log_ratio(X_1D, return_std=True)
            found.append(mean)
            told.append(std)
        ratio = np.sqrt(np.mean(np.square(told), axis=0)) / np.std(found, axis=0, ddof=1)
        # A standard deviation of 60 values errs by 9 %: three of these, and ten per cent
        # for the delta method at this size.
        assert (ratio > 0.65).all() and (ratio < 1.4).all()

    def test_anchors_alone(self):
        model = MDRE(critic="quadratic", anchor="gaussian", l2=np.inf, maps=None, random_state=0)
        model.fit(*running_example(2000))
        std = laplace(model, covariance="sandwich").log_ratio([1.0], return_std=True)[1][0]
        # The log-density of a fitted normal has the variance z^2/n + (z^2 - 1)^2/2n. At x = 1
        # z is 20 standard deviations of p, whose width is itself uncertain by 1.6 %, and 0 of q.
        expected = np.sqrt((400 + 0.5 * 399**2 + 0.5) / 2000)
        assert std == pytest.approx(expected, rel=0.1)
        with pytest.raises(ValueError, match="l2 must be finite"):
            laplace(model)

    def test_weights_are_told(self, known):
        with pytest.warns(UserWarning, match=r"weigh 2 each .* covariance='sandwich'"):
            laplace(known)

    def test_anchors_without_a_formula_are_told(self):
        model = MDRE(critic="quadratic", anchor="student-t", l2=3.0, random_state=0).fit(*plane())
        with pytest.warns(UserWarning, match="StudentTAnchor"):
            laplace(model, covariance="sandwich")

    def test_open_parameters_are_refused(self):
        # Two classes far apart and nothing to hold the critic.
        X, y = plane()
        model = MDRE(None, critic="quadratic", anchor=None, maps=None, l2=0.0)
        model.fit(X + 100.0 * y[:, None], y)
        with pytest.raises(ValueError, match="Raise l2"):
            laplace(model)

    @pytest.mark.parametrize(
        ("change", "column"),
        [
            (lambda X: X * 1e8, None),
            (lambda X: X * 1e-8, None),
            (lambda X: np.hstack([X, np.ones((len(X), 1))]), "constant"),
            (lambda X: np.hstack([X, X[:, :1]]), "dependent"),
        ],
    )
    def test_units_and_needless_columns_change_nothing(self, change, column):
        X, y = plane()
        settings = {"critic": "quadratic", "anchor": None, "l2": 1.0, "random_state": 0}
        plain = laplace(MDRE(None, **settings).fit(X, y)).log_ratio(X[:5], return_std=True)
        model = MDRE(None, **settings)
        if column is None:
            model.fit(change(X), y)
        else:
            with pytest.warns(UserWarning, match=column):
                model.fit(change(X), y)
        # The penalty is on standardised coefficients.
        changed = laplace(model).log_ratio(change(X[:5]), return_std=True)
        if column != "dependent":  # which turns the axes, and with them what is penalised
            np.testing.assert_allclose(changed, plain, rtol=1e-5)
        assert np.isfinite(changed).all()

    def test_identical_samples(self):
        X, _ = plane(100)
        y = np.repeat([1, 0], 100)
        model = MDRE(None, critic="quadratic", anchor=None, l2=1.0)
        model.fit(np.concatenate([X[:100], X[:100]]), y)
        mean, std = laplace(model).log_ratio(X[:5], return_std=True)
        assert np.abs(mean).max() < 1e-6 and (std > 0).all()

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"draws": 1}, "draws must be"),
            ({"prior": "flat"}, "prior must be one of"),
            ({"covariance": "hessian"}, "covariance must be one of"),
            ({"covariance": "sandwich", "prior": "raw"}, "prior must be 'fit'"),
        ],
    )
    def test_bad_parameters(self, paper, how, message):
        with pytest.raises(ValueError, match=message):
            laplace(paper, **how)

    def test_models_without_parameters_are_refused(self):
        X, y = plane()
        forest = MDRE(critic=RandomForestClassifier(10, max_depth=3), random_state=0).fit(X, y)
        with pytest.raises(ValueError, match="critic must be one of"):
            laplace(forest)
        with pytest.raises(ValueError, match="mdre must be an MDRE"):
            laplace(RandomForestClassifier())
        with pytest.raises(ValueError, match="not fitted"):
            laplace(MDRE())


class TestPosterior:
    def test_draws_are_ratios_of_models(self, model):
        posterior = laplace(model, draws=3, random_state=0)
        names = model.class_names_
        other = pickle.loads(pickle.dumps(model))
        for top, bottom in [("p", "q"), (names[-1], "p"), ("q", "q")]:
            draws = posterior.log_ratio_draws(X_1D, top, bottom)
            for theta, own in zip(posterior.draws, draws, strict=True):
                other._raw = other.critic_.expand(theta)
                np.testing.assert_allclose(own, other.log_ratio(X_1D, top, bottom), atol=1e-8)

    def test_functionals_take_draws(self, paper):
        posterior = laplace(paper, draws=50, random_state=0)
        X, y = running_example(300)
        p, q = X[y == 1], X[y == 0]
        weight = np.random.default_rng(0).uniform(0.5, 2.0, 300)
        for spec in ("kl", "js", "renyi:0.5"):
            values = posterior.divergence_draws(spec, p, q, weight_p=weight)
            one = get_divergence(spec).value(
                posterior.log_ratio_draws(p)[7], posterior.log_ratio_draws(q)[7], weight
            )
            assert values[7] == pytest.approx(one, rel=1e-9)
        estimate = posterior.divergence("kl", p, q, level=0.8)
        values = posterior.divergence_draws("kl", p, q)
        assert estimate.value == pytest.approx(values.mean())
        assert estimate.std_error == pytest.approx(values.std(ddof=1))
        # Ten per cent of 50 draws lie below and above.
        assert (values < estimate.low).sum() == (values > estimate.high).sum() == 5

    def test_memory_is_bounded_by_blocks(self, paper, monkeypatch):
        posterior = laplace(paper, draws=20, random_state=0)
        X, y = running_example(300)
        whole = posterior.log_ratio(X, return_std=True)
        values = posterior.divergence_draws("kl", X[y == 1], X[y == 0])
        monkeypatch.setattr("isthmus.uncertainty.posterior._CHUNK_NUMBERS", 1000)
        np.testing.assert_allclose(posterior.log_ratio(X, return_std=True), whole, rtol=1e-12)
        blocks = posterior.divergence_draws("kl", X[y == 1], X[y == 0])
        np.testing.assert_allclose(blocks, values, rtol=1e-12)

    def test_names_of_classes_are_checked(self, paper):
        with pytest.raises(ValueError, match="numerator must be one of"):
            laplace(paper).log_ratio(X_1D, numerator="r")
        with pytest.raises(ValueError, match="2 features"):
            laplace(paper).log_ratio(np.zeros((3, 2)))


class TestBootstrap:
    @pytest.mark.parametrize(
        "how",
        [
            {"anchor": "gaussian", "l2": 3.0},
            {"anchor": "gaussian", "l2": np.inf},
            {"anchor": None, "l2": 1.0},
            {"anchor": "gaussian", "l2": 3.0, "auxiliaries": "linear"},
        ],
    )
    def test_agrees_with_the_sandwich(self, how):
        model = MDRE(critic="quadratic", maps=None, oversample=2, random_state=0, **how)
        model.fit(*running_example(500))
        x = np.array([-1.0, 0.0, 1.0])
        expected = laplace(model, covariance="sandwich").log_ratio(x, return_std=True)[1]
        found = bootstrap(model, replicates=200, random_state=0).log_ratio(x, return_std=True)
        # A standard deviation of 200 fits errs by 5 %: four of these, and ten per cent for what
        # is not linear. Mixtures of rows are drawn apart from the rows, in both.
        np.testing.assert_allclose(found[1], expected, rtol=0.3)
        # Fits to rows that repeat are farther out, by less than the error itself.
        assert (np.abs(found[0] - model.log_ratio(x)) < expected).all()

    @pytest.mark.parametrize("anchor", ["student-t", "mixture", ("gaussian", "student-t")])
    def test_any_anchor_is_fitted_again(self, anchor):
        model = MDRE(critic="quadratic", anchor=anchor, l2=np.inf, random_state=0).fit(*plane())
        fits = bootstrap(model, replicates=2, random_state=0)
        std = fits.log_ratio(plane()[0][:20], return_std=True)[1]
        # The critics stay at their anchors: all of this is theirs.
        assert (std > 0).all() and np.isfinite(std).all()

    def test_a_fit_is_that_of_the_rows_drawn(self):
        X, y = plane(150)
        settings = {"critic": "quadratic", "anchor": "gaussian", "l2": 3.0, "maps": None}
        model = MDRE(None, **settings, random_state=0, tol=1e-9).fit(X, y)
        fits = bootstrap(model, replicates=2, random_state=0)
        counts = np.concatenate(fits.counts(1))
        again = MDRE(None, **settings, random_state=0, tol=1e-9).fit(X, y, sample_weight=counts)
        # Coordinates and frames stay as they were, which moves the penalty a little.
        found = fits.log_ratio_draws(X[:20])[1]
        spread = laplace(model, covariance="sandwich").log_ratio(X[:20], return_std=True)[1]
        assert (np.abs(found - again.log_ratio(X[:20])) < 0.2 * spread).all()
        assert counts.sum() == 300 and (counts == 0).any()

    def test_draws_can_be_repeated(self, known):
        one, two, other = (bootstrap(known, replicates=3, random_state=s) for s in (0, 0, 1))
        np.testing.assert_array_equal(one.draws, two.draws)
        assert not np.array_equal(one.draws, other.draws)
        np.testing.assert_array_equal(one._some(slice(1, 2)).counts(0)[0], one.counts(1)[0])

    def test_weights_of_rows_stay(self):
        # Rows of tiny weight do not count, however often they are drawn.
        X, y = plane(150)
        far = np.full((50, 2), 30.0) + np.random.default_rng(0).normal(size=(50, 2))
        weight = np.concatenate([np.ones(len(X)), np.full(50, 1e-9)])
        settings = {"critic": "quadratic", "anchor": "gaussian", "l2": 3.0, "maps": None}
        model = MDRE(None, **settings, random_state=0)
        model.fit(np.concatenate([X, far]), np.concatenate([y, np.ones(50)]), sample_weight=weight)
        std = bootstrap(model, replicates=40, random_state=0).log_ratio(X[:5], return_std=True)[1]
        without = laplace(MDRE(None, **settings).fit(X, y), covariance="sandwich")
        # Four standard errors of a standard deviation of 40 values.
        expected = without.log_ratio(X[:5], return_std=True)[1]
        np.testing.assert_allclose(std, expected, rtol=4 / np.sqrt(80))

    def test_bad_parameters(self, known):
        with pytest.raises(ValueError, match="replicates must be"):
            bootstrap(known, replicates=1)


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    estimator = MDRE(critic="quadratic", anchor="gaussian", l2=3.0, oversample=5)
    p, q = rng.normal(0, 1, 400), rng.normal(1, 1, 400)
    return compare(p, q, estimator=estimator, random_state=0, folds=3)


class TestIntervals:
    @pytest.mark.parametrize("kind", ["laplace", "bootstrap"])
    @pytest.mark.parametrize("spec", ["kl", "js", "tv"])
    def test_agree_with_the_delta_method(self, comparison, kind, spec):
        how = {"replicates": 100} if kind == "bootstrap" else {}
        delta = comparison.divergence(spec)
        found = comparison.divergence(spec, interval=kind, **how)
        assert found.value == delta.value and found.method == kind
        # 100 replicates: a standard deviation errs by 7 %, three of these, and what is not linear.
        assert found.std_error == pytest.approx(delta.std_error, rel=0.3)
        assert found.low < found.value < found.high
        # The ends are quantiles: with a relative error of two in a thousand draws, or in a
        # hundred replicates about half a standard error.
        assert found.low == pytest.approx(delta.low, abs=0.7 * delta.std_error)
        assert found.high == pytest.approx(delta.high, abs=0.7 * delta.std_error)

    def test_cover_the_truth(self):
        # 16 intervals at 95 %: fewer than 12 hits have probability 1e-3 (binomial), for each
        # of the two kinds.
        hits = {"laplace": 0, "bootstrap": 0}
        for seed in range(16):
            rng = np.random.default_rng([seed, 1])
            estimator = MDRE(critic="quadratic", anchor="gaussian", l2=np.inf, maps=None)
            p, q = rng.normal(0, 1, 150), rng.normal(1, 1, 150)
            c = compare(p, q, estimator=estimator, random_state=seed, folds=2)
            for kind, how in (("laplace", {}), ("bootstrap", {"replicates": 50})):
                kl = c.divergence("kl", interval=kind, **how)
                hits[kind] += kl.low <= 0.5 <= kl.high
        assert min(hits.values()) >= 12

    def test_levels_and_seeds(self, comparison):
        wide = comparison.divergence("kl", 0.99, "laplace")
        narrow = comparison.divergence("kl", 0.5, "laplace")
        assert wide.low < narrow.low < narrow.high < wide.high
        assert comparison.divergence("kl", 0.99, "laplace") == wide
        assert comparison.divergence("kl", 0.99, "laplace", random_state=1) != wide

    def test_many_parameters(self, comparison, monkeypatch):
        exact = comparison.divergence("kl", interval="laplace")
        monkeypatch.setattr(_target, "EXACT_LIMIT", 2)
        many = comparison.divergence("kl", interval="laplace", draws=200)
        # Four standard errors of a standard deviation of 200 draws.
        assert many.std_error == pytest.approx(exact.std_error, rel=0.2)

    def test_ranges(self):
        rng = np.random.default_rng(3)
        p = rng.normal(size=(200, 1))
        c = compare(p, rng.normal(size=(200, 1)), random_state=0, folds=2)
        for spec, upper in (("kl", np.inf), ("js", np.log(2)), ("chi2", np.inf)):
            for kind, how in (("laplace", {}), ("bootstrap", {"replicates": 20})):
                found = c.divergence(spec, interval=kind, **how)
                assert 0 <= found.low <= found.high <= upper

    def test_weights(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, 200), rng.normal(1, 1, 200)
        weight = rng.integers(0, 3, 200).astype(float)
        estimator = MDRE(critic="quadratic", anchor="gaussian", l2=3.0, oversample=5)
        c = compare(p, q, weight_p=weight, estimator=estimator, random_state=0, folds=2)
        delta = c.divergence("kl")
        for kind, how in (("laplace", {}), ("bootstrap", {"replicates": 100})):
            found = c.divergence("kl", interval=kind, **how)
            assert found.std_error == pytest.approx(delta.std_error, rel=0.35)

    def test_other_anchors_and_models(self):
        rng = np.random.default_rng(0)
        p, q = rng.standard_t(5, 200), rng.normal(1, 1, 200)
        estimator = MDRE(critic="quadratic", anchor="student-t", l2=3.0, oversample=5)
        c = compare(p, q, estimator=estimator, random_state=0, folds=2)
        with pytest.raises(ValueError, match="StudentTAnchor"):
            c.divergence("kl", interval="laplace")
        assert c.divergence("kl", interval="bootstrap", replicates=20).std_error > 0
        std = c.log_ratio([0.0, 3.0], return_std=True)[1]
        assert std.shape == (2,) and (std > 0).all()
        forest = MDRE(critic=RandomForestClassifier(10, max_depth=3), random_state=0)
        c = compare(p, q, estimator=forest, random_state=0, folds=2)
        for call in (
            lambda: c.divergence("kl", interval="bootstrap"),
            lambda: c.log_ratio([0.0], return_std=True),
        ):
            with pytest.raises(ValueError, match="critic must be one of"):
                call()

    def test_bad_parameters(self, comparison):
        with pytest.raises(ValueError, match="interval must be one of"):
            comparison.divergence("kl", interval="jackknife")
        with pytest.raises(ValueError, match="replicates"):
            comparison.divergence("kl", replicates=5)

    def test_standard_deviations_of_ratios(self, comparison):
        x = np.linspace(-2, 3, 6)
        mean, std = comparison.log_ratio(x, return_std=True)
        np.testing.assert_array_equal(mean, comparison.log_ratio(x))
        expected = laplace(comparison.estimator, covariance="sandwich")
        np.testing.assert_allclose(std, expected.log_ratio(x, return_std=True)[1])
        with_m = comparison.log_ratio(x, "p", "m1", return_std=True)
        assert (with_m[1] != std).all()
        again = pickle.loads(pickle.dumps(comparison))
        np.testing.assert_allclose(again.log_ratio(x, return_std=True)[1], std)


@pytest.fixture(scope="module")
def sampled(paper):
    pytest.importorskip("nutpie")
    return nuts(paper, draws=500, random_state=0, progress=False)


class TestNuts:
    def test_converges(self, sampled):
        assert sampled.rhat <= 1.01 and sampled.ess >= 400 and sampled.divergences == 0
        assert sampled.draws.shape == (2000, 9) and sampled.steps > 2000

    def test_moments_are_those_of_the_posterior(self, paper, sampled):
        # Laplace draws, weighted by the ratio of the densities, know the posterior without a chain.
        target = Target(paper)
        z = np.random.default_rng(0).standard_normal((4000, target.size))
        log_weight = np.array([target.log_density(one)[0] for one in z]) + 0.5 * (z**2).sum(axis=1)
        share = np.exp(log_weight - log_weight.max())
        share /= share.sum()
        size = 1.0 / (share**2).sum()
        assert size > 500
        draws = uncertainty.Posterior(paper, target.theta(z), "laplace").log_ratio_draws(X_1D)
        mean = share @ draws
        std = np.sqrt(share @ (draws - mean) ** 2)
        found = sampled.log_ratio(X_1D, return_std=True)
        # Four standard errors of a mean and of a standard deviation (tails as heavy as a t of
        # ten degrees double its variance), for the smaller of the two sizes.
        size = min(size, sampled.ess)
        assert (np.abs(found[0] - mean) < 4 * std * np.sqrt(2 / size)).all()
        assert (np.abs(found[1] / std - 1) < 4 * np.sqrt(2 / size)).all()

    def test_agrees_with_laplace(self, paper, sampled):
        exact = laplace(paper).log_ratio(X_1D, return_std=True)
        found = sampled.log_ratio(X_1D, return_std=True)
        # 300 rows a class: skewness of the order of one over their root, and Monte Carlo.
        np.testing.assert_allclose(found[1], exact[1], rtol=0.15)
        assert (np.abs(found[0] - exact[0]) < 0.3 * exact[1]).all()

    def test_result_is_arviz(self, sampled):
        arviz = pytest.importorskip("arviz")
        data = sampled.inference_data
        assert isinstance(data, arviz.InferenceData)
        assert data.posterior["theta"].sizes == {"chain": 4, "draw": 500, "class": 3, "feature": 3}
        assert list(data.posterior["class"].values) == ["p", "q", "m1"]
        flat = data.posterior["theta"].values.reshape(2000, -1)
        np.testing.assert_array_equal(sampled.draws, flat)
        assert {"mean", "sd", "r_hat"} <= set(sampled.summary().columns)

    def test_draws_can_be_repeated_on_any_number_of_cores(self, paper):
        pytest.importorskip("nutpie")
        how = {"draws": 20, "tune": 40, "chains": 2, "progress": False}
        with pytest.warns(UserWarning, match="effective sample size"):
            one, two, other = (
                nuts(paper, cores=cores, random_state=seed, **how)
                for cores, seed in ((1, 0), (2, 0), (1, 1))
            )
        np.testing.assert_array_equal(one.draws, two.draws)
        assert not np.array_equal(one.draws, other.draws)

    def test_calibrated(self, known):
        pytest.importorskip("nutpie")
        with pytest.warns(UserWarning, match=r"weigh 2 each .* calibrated\(\)"):
            sampled = nuts(known, draws=500, chains=2, random_state=0, progress=False)
        x = plane()[0][::40]
        expected = laplace(known, covariance="sandwich").log_ratio(x, return_std=True)[1]
        found = sampled.calibrated().log_ratio(x, return_std=True)[1]
        # Four standard errors of a standard deviation of 400 effective draws, and skewness.
        np.testing.assert_allclose(found, expected, rtol=0.2)

    def test_interval(self, comparison):
        pytest.importorskip("nutpie")
        delta = comparison.divergence("kl")
        kl = comparison.divergence("kl", interval="nuts", draws=300, chains=2)
        assert kl.std_error == pytest.approx(delta.std_error, rel=0.2)
        assert kl.method == "nuts"

    def test_raw_prior(self, paper):
        pytest.importorskip("nutpie")
        sampled = nuts(paper, prior="raw", draws=300, chains=2, random_state=0, progress=False)
        exact = laplace(paper, prior="raw").log_ratio(X_1D, return_std=True)
        np.testing.assert_allclose(sampled.log_ratio(X_1D, return_std=True)[1], exact[1], rtol=0.25)
        with pytest.raises(ValueError, match="prior must be 'fit'"):
            sampled.calibrated()

    def test_one_chain_has_no_rhat(self, paper):
        pytest.importorskip("nutpie")
        sampled = nuts(paper, draws=700, chains=1, random_state=0, progress=False)
        assert np.isnan(sampled.rhat)

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"draws": 0}, "draws must be"),
            ({"tune": 5}, "tune must be"),
            ({"chains": 0}, "chains must be"),
            ({"cores": 0}, "cores must be"),
            ({"target_accept": 1.0}, "target_accept must be"),
            ({"progress": "yes"}, "progress must be"),
        ],
    )
    def test_bad_parameters(self, paper, how, message):
        with pytest.raises(ValueError, match=message):
            nuts(paper, **how)

    def test_too_many_parameters_are_refused(self, known, monkeypatch):
        pytest.importorskip("nutpie")
        monkeypatch.setattr(_target, "EXACT_LIMIT", 5)
        with pytest.raises(ValueError, match="at most 5 parameters"):
            nuts(known)

    @pytest.mark.parametrize("missing", ["nutpie", "arviz"])
    def test_a_missing_package_is_named(self, paper, missing, monkeypatch):
        if missing == "nutpie":
            pytest.importorskip("arviz")
        monkeypatch.setitem(sys.modules, missing, None)
        with pytest.raises(ImportError, match=r"isthmus\[bayes\]"):
            nuts(paper)


def test_experiment():
    from isthmus.reproduce import load
    from isthmus.reproduce.record import as_json

    experiment = load("bayes")
    cells = experiment.cells(True, 3)
    assert {cell["problem"] for cell in cells} == {"running-example", "running-example-swapped"}
    some = [{**cell, "rows": 300} for cell in cells if cell["method"] == "laplace"]
    results = [{**cell, **as_json(experiment.run(cell)), "seconds": 0.0} for cell in some]
    (table,) = experiment.tables(results)
    assert len(table.rows) == len(some) == 4
    # What a sampler would give stands in for itself: a band, a mean, and a remark on the distance.
    nuts_too = [
        {**each, "method": "nuts", "rhat": 1.0, "ess": 900.0, "divergences": 0} for each in results
    ]
    assert set(experiment.figures(results + nuts_too)) == {"posterior"}
    told = experiment.remarks(results + nuts_too)
    assert "at most 0.0 %" in told[0] and "standard normal prior" in told[1]
    # The variance is lowest between the means and rises towards both.
    for each in results:
        std = dict(zip(np.round(each["x"], 3), each["std"], strict=True))
        assert min(std.values()) < 0.9 * min(std[-1.0], std[1.0])
        assert std[2.0] > std[1.0] and std[-2.0] > std[-1.0]
