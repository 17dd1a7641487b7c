"""Solvers: they agree with each other and with scikit-learn, and say how they ended."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from isthmus import MDRE, stack
from isthmus.model import solvers
from isthmus.model.solvers import Solution, solve_dense


def two_samples(d: int = 2, n: int = 400, seed: int = 0):
    rng = np.random.default_rng(seed)
    return stack(rng.normal(0, 1, (n, d)), rng.normal(0.7, 1.4, (n, d)))


# The samples are normal: with everything to choose from, nothing would be left to solve for.
FIXED = {
    "auxiliaries": "bridge",
    "maps": None,
    "anchor": "gaussian",
    "critic": "quadratic",
    "l2": 10.0,
}


def three_settings():
    """Known auxiliary with anchors, learned auxiliary without, diagonal critic."""
    return {
        "known": FIXED,
        "learned": {**FIXED, "auxiliaries": "linear", "anchor": None, "l2": 0.1},
        "diagonal": {
            **FIXED,
            "critic": "diagonal",
            "known_density": False,
            "auxiliaries": "normal",
        },
    }


@pytest.mark.parametrize("setting", three_settings())
@pytest.mark.parametrize("d", [1, 3])
def test_the_three_ways_to_the_minimum_agree(setting, d, monkeypatch):
    X, y = two_samples(d)
    given = {**three_settings()[setting], "random_state": 0, "max_iter": 5000}
    exact = MDRE(**given, tol=1e-9).fit(X, y)
    # Quasi-Newton steps compare values, whose rounding hides gradients below some 1e-8.
    quasi = MDRE(**given, tol=1e-7, solver="lbfgs").fit(X, y)
    monkeypatch.setattr(solvers, "EXACT_LIMIT", 0)
    conjugate = MDRE(**given, tol=1e-9).fit(X, y)
    for model in (exact, quasi, conjugate):
        assert model.solution_.converged, model.solution_.status
        assert model.solution_.gradient_norm <= model.tol
    # Gradients are divided by the curvature, some 1e-3 per unit of weight in the flattest
    # direction, and multiplied by features of up to ten: 1e-5, or 1e-3 for lbfgs.
    reference = exact.log_ratio(X)
    np.testing.assert_allclose(conjugate.log_ratio(X), reference, atol=2e-5, rtol=1e-6)
    np.testing.assert_allclose(quasi.log_ratio(X), reference, atol=2e-3, rtol=1e-4)
    assert conjugate.solution_.value == pytest.approx(exact.solution_.value, rel=1e-10)
    assert quasi.solution_.value == pytest.approx(exact.solution_.value, rel=1e-10)


@pytest.mark.parametrize("d", [1, 2])
def test_agreement_with_scikit_learn_on_explicit_features(d):
    # Learned auxiliaries, no anchor, no penalty: plain multinomial logistic regression
    # on all monomials up to the second degree, in whatever basis.
    X, y = two_samples(d, n=500)
    m = np.random.default_rng(1).normal(0.3, 1.2, (700, d))
    ours = MDRE(
        [m], anchor=None, l2=0.0, prior="counts", tol=1e-10, random_state=0, max_iter=500
    ).fit(X, y)

    rows = np.concatenate([X, m])
    # scikit-learn's class 0 is q, 1 is p, 2 is m.
    label = np.concatenate([y, np.full(len(m), 2)])
    squares = PolynomialFeatures(2, include_bias=False)
    scale = StandardScaler()
    features = scale.fit_transform(squares.fit_transform(rows))
    theirs = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000, solver="newton-cg")
    theirs.fit(features, label)
    scores = theirs.decision_function(features) - np.log(np.bincount(label))
    # Both gradients are below 1e-9; the weak penalty moves coefficients of order one by
    # 1e-9 over the curvature of some 1e-2 n, far below what is allowed here.
    np.testing.assert_allclose(ours.log_ratio(rows), scores[:, 1] - scores[:, 0], atol=1e-4)
    np.testing.assert_allclose(
        ours.log_ratio(rows, "m1", "q"), scores[:, 2] - scores[:, 0], atol=1e-4
    )
    np.testing.assert_allclose(
        ours.predict_proba(rows)[:, [1, 0, 2]], theirs.predict_proba(features), atol=1e-5
    )


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_a_solution_that_has_not_converged_warns_and_says_what_to_do(solver):
    X, y = two_samples(2)
    model = MDRE(auxiliaries="linear", anchor=None, l2=0, solver=solver, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 1 steps .* raise max_iter"):
        model.fit(X, y)
    assert not model.solution_.converged
    assert model.n_iter_ == 1
    # What was found so far is there to be looked at.
    assert np.isfinite(model.log_ratio(X)).all()


@pytest.mark.parametrize("anchor", ["gaussian", None])
@pytest.mark.parametrize("l2", ["auto", 0.0])
def test_separable_data_end_with_an_answer_or_an_explained_warning(anchor, l2):
    # Without auxiliaries a quadratic separates these samples: with l2 = 0 the minimum
    # lies at infinity.
    rng = np.random.default_rng(0)
    X, y = stack(rng.normal(-10, 1, 200), rng.normal(10, 1, 200))
    model = MDRE(**{**FIXED, "auxiliaries": [], "anchor": anchor, "l2": l2}, max_iter=50)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert all(w.category is ConvergenceWarning for w in caught), caught
    assert bool(caught) == (not model.solution_.converged)
    if caught:
        assert "raise" in str(caught[0].message)
    answer = model.log_ratio(X)
    assert np.isfinite(answer).all()
    np.testing.assert_array_equal(answer > 0, y == 1)


def test_newton_needs_few_steps_from_the_anchor():
    # A property of the parametrisation that the speed rests on; 16 was without anchors.
    X, y = stack(np.random.default_rng(0).normal(-1, 0.08, 3000), np.linspace(1.5, 2.5, 3000))
    assert 0 < MDRE(**FIXED, random_state=0).fit(X, y).n_iter_ <= 8


def test_the_callback_sees_every_step(capsys):
    X, y = two_samples(1)
    MDRE(**FIXED, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("MDRE step   0")
    assert all("gradient" in line for line in lines)


def test_an_infinite_penalty_leaves_nothing_to_solve():
    X, y = two_samples(2)
    model = MDRE(**{**FIXED, "l2": np.inf}, random_state=0).fit(X, y)
    assert model.solution_.converged
    assert model.solution_.iterations == 0
    assert model.solution_.theta.shape == (0,)
    # The limit of ever larger penalties: the anchors alone.
    firm = MDRE(**{**FIXED, "l2": 1e12}, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.log_ratio(X), firm.log_ratio(X), rtol=1e-6, atol=1e-6)
    p, q = (anchor.score_samples(model.map_(X)) - anchor.bias_ for anchor in model.anchors_)
    np.testing.assert_allclose(model.log_ratio(X), p - q, rtol=1e-9, atol=1e-9)
    # Curvatures, which standard errors need, are there when they are asked for.
    theta = np.zeros(model.critic_.n_parameters)
    assert np.isfinite(model.objective_.at(theta).hessian()).all()


def test_solve_dense_copes_with_a_flat_direction():
    # All critics moving together: H has a null vector, and the right side is
    # orthogonal to it. Any solution of H s = g will do.
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 6))
    A -= A.mean(axis=1, keepdims=True)
    H = A.T @ A
    g = H @ rng.normal(size=6)
    # A relative ridge of 1e-13 leaves a residual of that order.
    np.testing.assert_allclose(H @ solve_dense(H, g), g, rtol=1e-8, atol=1e-8)


def test_solve_hessian_agrees_with_the_dense_solution():
    X, y = two_samples(2)
    model = MDRE(**FIXED, random_state=0).fit(X, y)
    point = model.objective_.at(model.solution_.theta)
    g = np.random.default_rng(0).normal(size=len(point.theta))
    s = solvers.solve_hessian(point, g, tol=1e-10)
    np.testing.assert_allclose(s, solve_dense(point.hessian(), g), rtol=1e-6, atol=1e-9)


def test_solution_says_how_it_ended():
    ended = Solution(np.zeros(1), "converged", 3, 1e-9, 1.0)
    assert ended.converged
    assert not Solution(np.zeros(1), "raise max_iter", 3, 1e-2, 1.0).converged
