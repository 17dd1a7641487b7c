"""Penalised logistic regression of candidates."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from isthmus.candidates.logistic import fit_logistic, left_out_loss
from isthmus.data.blocks import MemoryBlocks
from isthmus.data.sample import Sample, TwoSamples
from isthmus.model.objective import Objective
from isthmus.model.solvers import newton
from isthmus.model.table import Table


def features(n_p=60, n_q=90, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0.4, 1, (n_p, d)), rng.normal(-0.4, 1, (n_q, d))


def objective(p, q, weight_p, weight_q, l2):
    classes = [Sample(p, weight_p), Sample(q, weight_q)]
    return Objective(
        Table(1, p.shape[1]),
        MemoryBlocks(
            classes=classes,
            offsets=[np.zeros((len(one), 2)) for one in classes],
            log_prior=np.log([0.5, 0.5]),
            learned=np.array([True, False]),
        ),
        l2,
    )


def test_against_scikit_learn():
    p, q = features()
    found = fit_logistic(TwoSamples.of(p, q), (2.0,))
    X, y = np.concatenate([p, q]), np.repeat([1, 0], [60, 90])
    # The constant is ten times a coefficient: hardly penalised there, not at all here.
    other = LogisticRegression(C=1 / 2.0, class_weight="balanced", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(found.coefficients, other.coef_[0], atol=5e-3)
    assert found.constant == pytest.approx(other.intercept_[0], abs=5e-3)
    np.testing.assert_allclose(found(X), other.decision_function(X), atol=0.02)


@pytest.mark.parametrize("l2", [30.0, 3.0, 0.3])
def test_the_loss_of_rows_left_out_is_that_of_fits_without_them(l2):
    p, q = features(40, 50)
    rng = np.random.default_rng(1)
    weight_p, weight_q = rng.uniform(0.5, 1.5, 40), rng.uniform(0.5, 1.5, 50)
    full = objective(p, q, weight_p, weight_q, l2)
    theta = newton(full, np.zeros(4), tol=1e-9, max_iter=50).theta
    told = left_out_loss(full.at(theta))
    losses = []
    for rows, weight, sign in ((p, weight_p, -1.0), (q, weight_q, 1.0)):
        own = np.empty(len(rows))
        for k in range(len(rows)):
            keep = np.arange(len(rows)) != k
            parts = [(p, weight_p), (q, weight_q)]
            parts[0 if rows is p else 1] = rows[keep], weight[keep]
            one = objective(parts[0][0], parts[1][0], parts[0][1], parts[1][1], l2)
            without = newton(one, theta, tol=1e-9, max_iter=50).theta
            own[k] = np.logaddexp(0.0, sign * (rows[k] @ without))
        losses.append(weight @ own / weight.sum())
    exact = float(np.mean(losses))
    seen = newton(full, theta, tol=1e-9, max_iter=50).theta
    fitted = np.mean(
        [
            weight @ np.logaddexp(0.0, sign * (rows @ seen)) / weight.sum()
            for rows, weight, sign in ((p, weight_p, -1.0), (q, weight_q, 1.0))
        ]
    )
    # One Newton step gets what leaving out costs, up to a term that is smaller by 1/n.
    assert abs(told - exact) < 0.05 * (exact - fitted)


def test_the_penalty_is_that_of_the_least_loss():
    p, q = features(100, 100, 30)
    path = (1000.0, 100.0, 10.0, 1.0, 0.1)
    best = fit_logistic(TwoSamples.of(p, q), path)
    assert best.l2 in path and np.isfinite(best.loss)
    for l2 in set(path) - {best.l2}:
        pair = fit_logistic(TwoSamples.of(p, q), sorted((l2, best.l2), reverse=True))
        assert pair.l2 == best.l2 and pair.loss == pytest.approx(best.loss, abs=1e-4)


def test_repeated_rows_are_weights():
    p, q = features()
    times = np.random.default_rng(0).integers(1, 4, 60)
    weighted = fit_logistic(TwoSamples.of(p, q, times.astype(float)), (2.0,))
    repeated = np.repeat(p, times, axis=0)
    # A row counts one on average, so that a penalty counts less where there are more rows.
    more = (len(repeated) + 90) / 150
    other = fit_logistic(TwoSamples.of(repeated, q), (2.0 * more,))
    np.testing.assert_allclose(weighted.coefficients, other.coefficients, atol=1e-4)


def test_two_identical_columns_share_the_coefficient():
    p, q = features(d=1)
    twice = fit_logistic(TwoSamples.of(np.repeat(p, 2, 1), np.repeat(q, 2, 1)), (2.0,))
    once = fit_logistic(TwoSamples.of(p, q), (1.0,))
    assert twice.coefficients[0] == pytest.approx(twice.coefficients[1])
    # Half the coefficient twice has half the penalty.
    assert twice.coefficients.sum() == pytest.approx(once.coefficients[0], abs=1e-3)


def test_no_penalty_is_refused():
    with pytest.raises(ValueError, match="penalties must hold at least one"):
        fit_logistic(TwoSamples.of(*features()), ())
