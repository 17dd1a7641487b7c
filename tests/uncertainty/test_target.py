"""The posterior density: features written out, flat directions, priors, whitening."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import MDRE, problems
from isthmus.critics import Quadratic, Splines, Sum
from isthmus.uncertainty import laplace
from isthmus.uncertainty.fit import fit_of
from isthmus.uncertainty.posterior import ratio_gradients
from isthmus.uncertainty.target import Target, WithPrior, raw_prior, shift_directions, tabulated


class TestTarget:
    @pytest.mark.parametrize("critic", ["quadratic", "diagonal", Sum([Quadratic(), Splines()])])
    def test_features_written_out_are_the_same_objective(self, critic, plane):
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
        monkeypatch.setattr("isthmus.uncertainty.target.MOST_BYTES", 1000)
        objective = known.objective_
        assert tabulated(objective) is objective

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
    def test_shift_of_the_softmax(self, critic, columns, count, plane):
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
        assert Target(fit_of(known)).size == known.objective_.n_parameters

    @pytest.mark.parametrize("prior", ["fit", "raw"])
    def test_whitened_coordinates(self, paper, prior):
        target = Target(fit_of(paper, infinite=prior == "raw"), prior)
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

    def test_the_posterior_without_the_shift_is_that_of_the_ratios(self, paper, grid):
        # In all nine directions the covariance is the inverse of the Hessian; log-ratios have the
        # same variance in the six.
        G = ratio_gradients(fit_of(paper), paper.map_(grid[:, None]), (0, 1))
        H = paper.objective_.at(paper.solution_.theta).hessian()
        full = np.sqrt(np.einsum("ij,ij->i", G, np.linalg.solve(H, G.T).T))
        np.testing.assert_allclose(laplace(paper).log_ratio(grid, True)[1], full, rtol=1e-6)

    @pytest.mark.parametrize("critic", ["quadratic", "diagonal", Quadratic(rank=1)])
    @pytest.mark.parametrize("known_density", [True, False])
    def test_raw_coefficients(self, critic, known_density, plane):
        X, y = plane()
        model = MDRE("student-t", critic=critic, anchor=None, maps=None, l2=1.0, random_state=0)
        model.set_params(known_density=known_density).fit(5.0 + 3.0 * X, y)
        A, b = raw_prior(model.model_, model.critic_)
        x = np.random.default_rng(1).normal(5, 3, (9, 2))
        monomials = np.column_stack([x[:, 0] ** 2, x[:, 0] * x[:, 1], x[:, 1] ** 2, x, np.ones(9)])
        coefficients = (A @ model.solution_.theta + b).reshape(-1, 6)
        densities = model.model_.critics(x)[:, model.model_.offsets.learned]
        np.testing.assert_allclose(monomials @ coefficients.T, densities, rtol=1e-8, atol=1e-8)

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"anchor": "gaussian"}, "prior='raw'"),
            ({"critic": Sum([Quadratic(), Splines()])}, "prior='raw'"),
        ],
    )
    def test_raw_prior_needs_plain_quadratics(self, how, message, paper_fit):
        with pytest.raises(ValueError, match=message):
            laplace(paper_fit(100, **how), prior="raw")

    def test_the_literal_prior_shrinks(self, paper, grid):
        # The coefficient of x^2 in log p/q is -37.5: far out for a standard normal prior.
        truth = problems.load("running-example").log_ratio(grid[:, None])
        raw = laplace(paper, prior="raw").log_ratio(grid)
        assert (np.abs(raw) < 0.8 * np.abs(truth))[np.abs(truth) > 20].all()
