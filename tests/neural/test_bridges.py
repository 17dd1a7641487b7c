"""Classifiers between consecutive samples, the neural critics of TRE."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from isthmus.data.sample import Sample  # noqa: E402
from isthmus.neural import ClassBatches, Training, fit_bridges  # noqa: E402

QUICK = Training(steps=100, every=10, patience=100, lr=1e-2)
MEANS = (1.5, 0.75, 0.0)
HOW = Training(steps=300, lr=5e-3, every=25)


def chain(n: int, seed: int):
    rng = np.random.default_rng(seed)
    return [Sample.of(rng.normal(mean, 1, (n, 1))) for mean in MEANS]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_bridges_find_the_ratios_of_shifted_normals(shared, seed):
    samples = chain(4000, seed)
    bridges = fit_bridges(
        samples, shared=shared, width=16, depth=1, settings=HOW, rng=np.random.default_rng(seed)
    )
    x = np.linspace(-1, 2.5, 50)[:, None]
    found = bridges.log_ratios(x)
    a, b, c = MEANS
    truth = np.column_stack([(a - b) * (x - (a + b) / 2), (b - c) * (x - (b + c) / 2)])
    # Logistic regression of two coefficients has a standard error of about 0.05 at these rows;
    # a network has more freedom. Zero everywhere would err by 0.8, a swap of classes by 1.6.
    assert np.sqrt(np.mean((found - truth) ** 2)) < 0.2


def test_bridges_are_finite_independent_of_company_and_can_be_pickled():
    bridges = fit_bridges(
        chain(200, 0), width=8, depth=1, settings=QUICK, rng=np.random.default_rng(0)
    )
    rows = np.array([[0.0], [1e300], [-1e300], [3.0]])
    found = bridges.log_ratios(rows)
    assert np.isfinite(found).all()
    alone = np.vstack([bridges.log_ratios(row[None]) for row in rows])
    np.testing.assert_allclose(alone, found, rtol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(bridges)).log_ratios(rows), found)


@pytest.mark.parametrize("shared", [True, False])
def test_the_held_out_loss_is_the_logistic_loss_of_the_bridges(shared):
    samples = chain(100, 0)
    rng = np.random.default_rng(0)
    how = {"shared": shared, "width": 8, "depth": 1, "settings": QUICK}
    bridges = fit_bridges(samples, **how, rng=rng, paired=True)
    again = ClassBatches(
        samples, batch_size=1, validation=0.15, rng=np.random.default_rng(0), paired=True
    )
    held = [
        rows.double().numpy() * again.standard.scale + again.standard.centre
        for rows, _ in again.held
    ]
    h = [bridges.log_ratios(rows) for rows in held]
    loss = (
        sum(
            np.logaddexp(0, -h[k][:, k]).mean() + np.logaddexp(0, h[k + 1][:, k]).mean()
            for k in range(2)
        )
        / 4
    )
    # Single precision in training, double afterwards.
    assert bridges.report.held_out == pytest.approx(loss, rel=1e-5)


def test_weights_of_bridges_are_copies():
    p, q, _ = chain(60, 0)
    count = np.random.default_rng(1).integers(1, 4, 60)

    def found(p):
        rng = np.random.default_rng(0)
        bridges = fit_bridges([p, q], width=8, depth=1, settings=QUICK, rng=rng)
        return bridges.log_ratios(np.linspace(-2, 2, 9)[:, None])

    weighted, copied = Sample(p.rows, count.astype(float)), p.take(np.arange(60).repeat(count))
    np.testing.assert_array_equal(found(weighted), found(copied))


def test_one_sample_makes_no_bridge():
    with pytest.raises(ValueError, match="samples must hold at least two"):
        fit_bridges([Sample.of(np.zeros((5, 1)))], rng=np.random.default_rng(0))
