"""The normal approximation, and the covariance over samples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from isthmus import MDRE
from isthmus.uncertainty import influence as _influence
from isthmus.uncertainty import laplace
from isthmus.uncertainty.fit import fit_of
from isthmus.uncertainty.influence import Influence, at_rows
from isthmus.uncertainty.posterior import ratio_gradients
from isthmus.uncertainty.target import Target


class TestLaplace:
    def test_mean_is_the_fit(self, model, grid):
        posterior = laplace(model, random_state=0)
        np.testing.assert_allclose(posterior.log_ratio(grid), model.log_ratio(grid), atol=1e-9)
        assert posterior.draws.shape == (1000, model.objective_.n_parameters)

    def test_draws_have_the_covariance(self, model, grid):
        posterior = laplace(model, draws=4000, random_state=0)
        mean, std = posterior.log_ratio(grid, return_std=True)
        draws = posterior.log_ratio_draws(grid)
        # Four standard errors of a mean and of a standard deviation of 4000 draws.
        assert (np.abs(draws.mean(axis=0) - mean) < 4 * std / np.sqrt(4000)).all()
        np.testing.assert_allclose(draws.std(axis=0), std, rtol=4 / np.sqrt(8000))

    @pytest.mark.parametrize("covariance", ["posterior", "sandwich"])
    def test_many_parameters_by_solves_and_by_draws(self, known, covariance, monkeypatch, plane):
        x = plane(40, seed=5)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of weights, which are not the matter here
            exact = laplace(known, covariance=covariance).log_ratio(x, return_std=True)[1]
            monkeypatch.setattr(_influence, "EXACT_LIMIT", 5)
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
    def test_sandwich_is_the_influence_of_rows(self, l2, plane):
        model = MDRE(critic="quadratic", anchor="gaussian", l2=l2, random_state=0).fit(*plane())
        posterior, fit = laplace(model, covariance="sandwich"), fit_of(model, infinite=True)
        rng = np.random.default_rng(0)
        rows = np.concatenate([sample.rows for sample in fit.rows.inside])
        gradient = rng.normal(size=len(rows)) @ ratio_gradients(fit, rows, (0, 1))
        influence = Influence(fit.point)
        effect = influence.along(influence.solve(gradient))
        spread = np.linalg.norm(gradient @ posterior.root)
        assert spread == pytest.approx(np.sqrt(influence.variance(effect)), rel=1e-6)
        # What goes along with a sum over rows, in the whitened coordinates and in the others.
        other = [rng.normal(size=len(sample)) for sample in fit.rows.samples]
        other = [values - values.mean() for values in other]
        target = Target(fit)
        whitened = Influence(target.point).covariance_with(target.basis, other)
        both = influence.variance(lambda block: effect(block) + at_rows(other, block))
        apart = influence.variance(effect) + sum(values @ values for values in other)
        shared = gradient @ target.basis @ whitened
        assert shared == pytest.approx(0.5 * (both - apart), rel=1e-6)

    def test_posterior_is_the_sandwich_where_the_model_is_right(self, running_example, grid):
        # With every row of weight one, classes of normals and no anchors the curvature is the
        # variance of the gradient, but for the constants, which know that class sizes are given.
        # Slopes of log p/q know nothing of constants. 4000 rows a class: a few per cent.
        model = MDRE(critic="quadratic", anchor=None, maps=None, l2=1e-3, prior="counts",
                     random_state=0).fit(*running_example(4000))  # fmt: skip
        G = ratio_gradients(fit_of(model), model.map_(grid[:, None]), (0, 1))
        G = np.diff(G, axis=0)
        roots = [laplace(model, covariance=kind).root for kind in ("posterior", "sandwich")]
        plain, robust = (np.linalg.norm(G @ root, axis=1) for root in roots)
        np.testing.assert_allclose(robust, plain, rtol=0.1)

    def test_sandwich_is_the_spread_over_samples(self, running_example, grid):
        found, told = [], []
        for seed in range(60):
            model = MDRE(critic="quadratic", anchor="gaussian", l2=3.0, oversample=5, maps=None,
                         random_state=seed).fit(*running_example(200, seed))  # fmt: skip
            mean, std = laplace(model, covariance="sandwich").log_ratio(grid, return_std=True)
            found.append(mean)
            told.append(std)
        ratio = np.sqrt(np.mean(np.square(told), axis=0)) / np.std(found, axis=0, ddof=1)
        # A standard deviation of 60 values errs by 9 %: three of these, and ten per cent
        # for the delta method at this size.
        assert (ratio > 0.65).all() and (ratio < 1.4).all()

    def test_anchors_alone(self, running_example):
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

    def test_anchors_without_a_formula_are_told(self, plane):
        model = MDRE(critic="quadratic", anchor="student-t", l2=3.0, random_state=0).fit(*plane())
        with pytest.warns(UserWarning, match="StudentTAnchor"):
            laplace(model, covariance="sandwich")

    def test_open_parameters_are_refused(self, plane):
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
    def test_units_and_needless_columns_change_nothing(self, change, column, plane):
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

    def test_identical_samples(self, plane):
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

    def test_models_without_parameters_are_refused(self, plane):
        X, y = plane()
        forest = MDRE(critic=RandomForestClassifier(10, max_depth=3), random_state=0).fit(X, y)
        with pytest.raises(ValueError, match="critic must be one of"):
            laplace(forest)
        with pytest.raises(ValueError, match="mdre must be an MDRE"):
            laplace(RandomForestClassifier())
        with pytest.raises(ValueError, match="not fitted"):
            laplace(MDRE())
