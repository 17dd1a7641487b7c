"""The paper's training: gradients, what it ends with, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.base import clone

from isthmus import MDRE, load, stack
from isthmus.auxiliaries import LinearMixing
from isthmus.critics import Frame, Quadratic
from isthmus.model import adam
from isthmus.model.adam import Adam

PAPER = {
    "critic": "quadratic",
    "anchor": None,
    "maps": None,
    "l2": 0.0,
    "known_density": False,
}


def made(kind, d, classes, size=4):
    """Critics with parameters drawn at random, in double precision."""
    rng = np.random.default_rng(0)
    critics = kind(classes, d, size, rng)
    critics.parameters = [rng.normal(size=one.shape) for one in critics.parameters]
    for name in ("X", "right", "spread"):
        if hasattr(critics, name):
            setattr(critics, name, getattr(critics, name).astype(float))
    return critics


@pytest.mark.parametrize(
    ("kind", "d", "classes"),
    [(adam.ManyColumns, 2, 4), (adam.OneColumn, 1, 3), (adam.OneColumn, 1, 5)],
)
def test_gradients_are_those_of_the_loss(kind, d, classes):
    critics = made(kind, d, classes)
    rng, size = np.random.default_rng(1), critics.size
    batches = [rng.normal(size=(size, d)) for _ in range(classes)]
    X = np.concatenate(batches)

    def loss():
        W, b, a = critics.coefficients()
        h = np.einsum("ni,cij,nj->nc", X, W, X) + X @ b.T + a
        own = log_softmax(h, axis=1)[np.arange(len(X)), np.repeat(np.arange(classes), size)]
        # The sum over the classes of their means.
        return -own.sum() / size

    gradients = [one.copy() for one in critics.gradients(batches)]
    for k, gradient in enumerate(gradients):
        direction, step, value = rng.normal(size=gradient.shape), 1e-5, critics.parameters[k]
        ends = []
        for sign in (1, -1):
            critics.parameters[k] = value + sign * step * direction
            ends.append(loss())
        critics.parameters[k] = value
        # Rounding of a difference of 1e-5, and a third derivative of some tens.
        slope = (ends[0] - ends[1]) / (2 * step)
        assert slope == pytest.approx(np.sum(gradient * direction), abs=1e-6, rel=1e-6)


def test_the_start_is_the_authors():
    many = adam.ManyColumns(3, 4, 5, np.random.default_rng(0))
    W, b, a = many.coefficients()
    np.testing.assert_array_equal(W, np.tile(-0.5 * np.eye(4), (3, 1, 1)))
    assert not b.any() and set(a) == {-320.0}
    one = adam.OneColumn(3, 1, 5, np.random.default_rng(0))
    # The head of the only auxiliary is linear; those of several waymarks are not.
    assert one.coefficients().W[2, 0, 0] == 0.0 and one.coefficients().W[:2].all()
    assert adam.OneColumn(5, 1, 5, np.random.default_rng(0)).coefficients().W.all()
    assert max(np.abs(each).max() for each in one.parameters) <= np.sqrt(3)


def test_the_rate_falls_to_zero_or_stays():
    falling = Adam(lr=0.4, steps=100)
    assert falling.rate(0) == 0.4 and falling.rate(50) == pytest.approx(0.2)
    assert falling.rate(99) < 1e-3 * 0.4
    assert Adam(lr=0.4, decay=False).rate(99) == 0.4


def test_coefficients_of_any_quadratic_functions_have_parameters():
    rng = np.random.default_rng(0)
    frames = [Frame(rng.normal(size=3), np.triu(rng.uniform(0.5, 2, (3, 3)))) for _ in range(2)]
    # One of them so narrow for its distance that it has an origin of its own.
    frames.append(Frame(np.ones(3), 1e7 * np.eye(3)))
    critic = Quadratic().bind(frames)
    theta = rng.normal(size=critic.n_parameters)
    back = critic.parameters_of(critic.expand(theta))
    np.testing.assert_allclose(back, theta, rtol=0, atol=1e-11)


def gaussians(d=2, n=4000):
    rng = np.random.default_rng(0)
    return rng.normal(-1, 1, (n, d)), rng.normal(1, 1, (n, d))


def test_enough_steps_find_the_ratio():
    p, q = gaussians()
    waymarks = LinearMixing([0.5], "sqrt", paired=True)
    solver = Adam(lr=0.02, steps=1000, batch_size=300)
    model = MDRE(waymarks, **PAPER, solver=solver, random_state=1).fit(*stack(p, q))
    fresh = np.random.default_rng(1).normal(-1, 1, (4000, 2))
    # log p/q = -2 sum x, with a mean of 4 and a spread of 2.8 on p. A correctly specified
    # fit to 4000 rows is good to some hundredths of that; training noise adds a little.
    assert np.abs(model.log_ratio(fresh) + 2 * fresh.sum(axis=1)).mean() < 0.7
    assert model.n_iter_ == 1000 and model.solution_.status == "1000 steps were made"
    again = clone(model).fit(*stack(p, q))
    np.testing.assert_array_equal(model.log_ratio(fresh), again.log_ratio(fresh))


def test_one_column_finds_the_ratio():
    rng = np.random.default_rng(0)
    X, y = stack(rng.normal(-1, 1, (1000, 1)), rng.normal(1, 1, (1000, 1)))
    solver = replace(MDRE.paper("table1/row1").solver, steps=3000, batch_size=200)
    model, exact = (
        MDRE("normal", **PAPER, solver=one, random_state=0).fit(X, y) for one in (solver, "newton")
    )
    losses = [one.objective_.at(one.solution_.theta).value for one in (exact, model)]
    # The minimum is the lowest. At a constant rate Adam keeps moving about it: parameters by
    # about sqrt(rate) of their units, which costs about as many nats a row as the rate.
    assert losses[0] < losses[1] < losses[0] + 0.01 * exact.objective_.total_weight


def test_a_stop_ends_the_same_training_earlier():
    X, y = stack(*gaussians(2, 500))
    solver = Adam(steps=40, batch_size=50)
    fits = {
        stop: MDRE("linear", **PAPER, solver=replace(solver, stop=stop), random_state=0).fit(X, y)
        for stop in (20, 40, None)
    }
    assert fits[20].n_iter_ == 20
    theta = {stop: fit.solution_.theta for stop, fit in fits.items()}
    np.testing.assert_array_equal(theta[40], theta[None])
    assert not np.array_equal(theta[20], theta[40])


def test_rows_are_drawn_by_their_weights():
    rng = np.random.default_rng(0)
    p, q = rng.normal(0, 1, (600, 1)), rng.normal(1, 1, (600, 1))
    outliers = np.full((300, 1), 30.0)
    X, y = stack(np.concatenate([p, outliers]), q)
    weight = np.ones(len(X))
    weight[np.flatnonzero(X[:, 0] == 30.0)] = 0.0
    solver = Adam(lr=0.01, steps=600, decay=False, batch_size=200)
    model = MDRE("normal", **PAPER, solver=solver, random_state=0).fit(X, y, sample_weight=weight)
    # Had the outliers been drawn, p would be likelier far to the right.
    assert model.log_ratio([[5.0]])[0] < 0


def test_without_replacement_every_row_comes_once_a_pass():
    X, y = stack(*gaussians(1, 40))
    rows = MDRE("normal", **PAPER, random_state=0).fit(X, y).fitted_to_.samples
    draw = adam.Batches(rows.p, Adam(batch_size=10, replacement=False), np.random.default_rng(0))
    seen = np.concatenate([draw() for _ in range(4)])
    np.testing.assert_array_equal(np.sort(seen, axis=0), np.sort(rows.p.rows, axis=0))
    # A batch larger than the sample takes some rows twice.
    large = adam.Batches(rows.p, Adam(batch_size=50, replacement=False), np.random.default_rng(0))
    assert len(large()) == 50


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"anchor": "gaussian"}, "anchor must be None with solver=Adam"),
        ({"maps": "auto"}, "maps must be None"),
        ({"l2": "auto"}, "l2 must be 0.0"),
        ({"l2": 1.0}, "l2 must be 0.0"),
        ({"known_density": True}, "known_density must be False"),
        ({"prior": "counts"}, "prior must be 'uniform'"),
        ({"critic": "diagonal"}, "critic must be 'quadratic'"),
        ({"critic": "auto"}, "critic must be 'quadratic'"),
        ({"critic": Quadratic(rank=1)}, "critic must be 'quadratic', of full rank"),
        ({"solver": Adam(lr=0.0)}, "lr must be"),
        ({"solver": Adam(steps=0)}, "steps must be"),
        ({"solver": Adam(stop=0)}, "stop must be"),
        ({"solver": Adam(decay="yes")}, "decay must be"),
        ({"solver": "adam"}, "solver must be one of"),
        ({"solver": None}, "solver must be one of"),
    ],
)
def test_what_it_knows_nothing_of_is_refused(changed, words):
    settings = {**PAPER, "solver": Adam(), **changed}
    with pytest.raises(ValueError, match=words):
        MDRE("linear", **settings).fit(*stack(*gaussians(2, 50)))


def test_it_is_saved_and_loaded(tmp_path):
    X, y = stack(*gaussians(2, 200))
    waymarks = LinearMixing([0.5], paired=True)
    model = MDRE(waymarks, **PAPER, solver=Adam(steps=20), random_state=0).fit(X, y)
    model.save(tmp_path / "model.isthmus")
    again = load(tmp_path / "model.isthmus")
    assert again.solver == Adam(steps=20)
    np.testing.assert_array_equal(again.log_ratio(X), model.log_ratio(X))


class TestPairs:
    def test_all_alphas_mix_the_same_pairs(self):
        p, q = gaussians(2, 300)
        one, other = LinearMixing([0.25, 0.75], paired=True).split(2)
        x, z = (each.fit(p, q).sample(300, np.random.default_rng(k)) for k, each in
                enumerate((one, other)))  # fmt: skip
        # x = p + (q - p)/4 and z = p + 3 (q - p)/4, so that (3 x - z)/2 is p again.
        back = (3 * x - z) / 2
        np.testing.assert_allclose(np.sort(back, axis=0), np.sort(p, axis=0), atol=1e-12)
        # Others are drawn anew for every alpha.
        free = [LinearMixing([a]).fit(p, q).sample(300, np.random.default_rng(k)) for k, a in
                enumerate((0.25, 0.75))]  # fmt: skip
        assert not np.allclose(np.sort((3 * free[0] - free[1]) / 2, axis=0), np.sort(p, axis=0))

    def test_the_order_of_rows_makes_no_pairs(self):
        rng = np.random.default_rng(0)
        p, q = np.sort(rng.normal(size=4000))[:, None], np.sort(rng.normal(size=4000))[:, None]
        x = LinearMixing([0.5], "sqrt", paired=True).fit(p, q).sample(4000, rng)
        # Independent pairs keep a variance of one; rows of one rank would have 1.87. Five
        # standard errors.
        assert x.var() == pytest.approx(1.0, abs=5 * np.sqrt(2 / 4000))

    def test_the_shorter_sample_comes_again(self):
        p, q = gaussians(1, 10)
        x = LinearMixing([1.0], paired=True).fit(p, q[:5]).sample(10, np.random.default_rng(0))
        np.testing.assert_array_equal(np.sort(x[:, 0]), np.sort(np.tile(q[:5, 0], 2)))
        assert (
            len(LinearMixing([0.5], paired=True).fit(p, q).sample(7, np.random.default_rng(0))) == 7
        )

    def test_weights_count(self):
        p, q = gaussians(1, 10)
        weight = np.r_[1.0, np.zeros(9)]
        x = LinearMixing([0.0], paired=True).fit(p, q, weight, np.ones(10))
        assert set(x.sample(10, np.random.default_rng(0))[:, 0]) == {p[0, 0]}
