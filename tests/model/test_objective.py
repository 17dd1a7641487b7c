"""The multinomial objective: value, gradient and curvature against slow, plain formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax

from isthmus.critics import Diagonal, Frame, Quadratic
from isthmus.data.blocks import MemoryBlocks, StreamedBlocks, gather
from isthmus.data.sample import Sample
from isthmus.model.objective import Objective, Point

CRITICS = {
    "full": Quadratic(),
    "rank 2": Quadratic(rank=2),
    "rank above d": Quadratic(rank=9),
    "diagonal": Diagonal(),
}
DIM = 3
CLASSES = 4

# Sums of some sixty terms of order one, and their products with matrices of order
# one: rounding stays within a thousand units in the last place.
ROUNDING = 1e-12
# A central difference with step h errs by h^2 f'''/6 and by eps f / h: with
# h = 1e-5 both are near 1e-10 where f and its derivatives are of order 1 to 100.
STEP, DIFFERENCE = 1e-5, 1e-7


def frames(diagonal: bool, count: int, rng: np.random.Generator) -> list[Frame]:
    """Places for the learned classes, with upper triangular whitening."""
    out = []
    for _ in range(count):
        whiten = np.diag(rng.uniform(0.5, 2.0, DIM))
        if not diagonal:
            whiten += np.triu(rng.normal(0, 0.3, (DIM, DIM)), k=1)
        out.append(Frame(rng.normal(size=DIM), whiten))
    return out


def make(name: str, *, known: bool, l2: float = 0.0, block_rows: int | None = None) -> Objective:
    """An objective over a few rows of four classes, of which the last may be known."""
    rng = np.random.default_rng(7)
    n = 60
    label = np.sort(rng.integers(CLASSES, size=n))
    learned = np.array([True, True, True, not known])
    critic = CRITICS[name].bind(frames(name == "diagonal", int(learned.sum()), rng))
    X, weight = rng.normal(size=(n, DIM)) + label[:, None], rng.uniform(0.2, 3.0, n)
    offset = rng.normal(size=(n, CLASSES))
    own = [label == c for c in range(CLASSES)]
    blocks = MemoryBlocks(
        classes=[Sample(X[rows], weight[rows]) for rows in own],
        offsets=[offset[rows] for rows in own],
        log_prior=np.log(np.array([0.1, 0.2, 0.3, 0.4])),
        learned=learned,
        block_rows=block_rows,
    )
    return Objective(critic, blocks, l2)


def stacked(objective: Objective) -> tuple[np.ndarray, ...]:
    """Rows, classes, weights and offsets of all classes in one."""
    blocks = objective.blocks
    sizes = [len(sample) for sample in blocks.classes]
    return (
        np.concatenate([sample.rows for sample in blocks.classes]),
        np.repeat(np.arange(CLASSES), sizes),
        np.concatenate([sample.weight for sample in blocks.classes]),
        np.concatenate(blocks.offsets),
    )


def theta_for(objective: Objective) -> np.ndarray:
    return np.random.default_rng(8).normal(0, 0.4, objective.n_parameters)


def brute_force(objective: Objective, theta: np.ndarray) -> float:
    """The objective from explicit features, one class after the other."""
    X, label, weight, offset = stacked(objective)
    logits = offset + objective.blocks.log_prior
    parts = theta.reshape(len(objective.learned), -1)
    for c, phi, part in zip(objective.learned, objective.critic.features(X), parts, strict=True):
        logits[:, c] += phi @ part
    own = log_softmax(logits, axis=1)[np.arange(len(X)), label]
    return float(-weight @ own + 0.5 * objective.l2 * theta @ theta)


@pytest.mark.parametrize("l2", [0.0, 0.7])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", CRITICS)
class TestAgainstPlainFormulas:
    def test_value(self, name, known, l2):
        objective = make(name, known=known, l2=l2)
        theta = theta_for(objective)
        value, _ = objective.value_and_gradient(theta)
        assert value == pytest.approx(brute_force(objective, theta), rel=ROUNDING)

    def test_gradient(self, name, known, l2):
        objective = make(name, known=known, l2=l2)
        theta = theta_for(objective)
        numeric = [
            (brute_force(objective, theta + e) - brute_force(objective, theta - e)) / (2 * STEP)
            for e in STEP * np.eye(len(theta))
        ]
        _, gradient = objective.value_and_gradient(theta)
        np.testing.assert_allclose(gradient, numeric, rtol=DIFFERENCE, atol=10 * DIFFERENCE)

    def test_hessian_product(self, name, known, l2):
        objective = make(name, known=known, l2=l2)
        theta = theta_for(objective)
        direction = np.random.default_rng(9).normal(size=len(theta))
        ahead = objective.at(theta + STEP * direction).gradient
        behind = objective.at(theta - STEP * direction).gradient
        product = objective.at(theta).hessian_product(direction)
        np.testing.assert_allclose(
            product, (ahead - behind) / (2 * STEP), rtol=DIFFERENCE, atol=10 * DIFFERENCE
        )

    def test_dense_hessian_has_the_products_as_columns(self, name, known, l2):
        objective = make(name, known=known, l2=l2)
        point = objective.at(theta_for(objective))
        H = point.hessian()
        columns = [point.hessian_product(e) for e in np.eye(len(H))]
        np.testing.assert_allclose(H, np.array(columns).T, rtol=ROUNDING, atol=1e-11)
        np.testing.assert_array_equal(H, H.T)
        # Convex: no eigenvalue below l2, up to rounding in a matrix of norm some hundreds.
        assert np.linalg.eigvalsh(H)[0] > l2 - 1e-11


@pytest.mark.parametrize("name", CRITICS)
def test_values_are_parameters_times_features(name):
    objective = make(name, known=True)
    theta, X = theta_for(objective), stacked(objective)[0]
    critic = objective.critic
    parts = theta.reshape(-1, critic.n_features)
    expected = [phi @ part for phi, part in zip(critic.features(X), parts, strict=True)]
    got = critic.values(critic.expand(theta), X)
    np.testing.assert_allclose(got, np.array(expected).T, rtol=ROUNDING, atol=1e-12)


@pytest.mark.parametrize("name", CRITICS)
def test_contract_is_the_transpose_of_values(name):
    # <R, values(theta)> = <theta, contract(moments of R)> for any R: what makes the
    # accumulated moments a gradient.
    objective = make(name, known=False)
    theta, critic, X = theta_for(objective), objective.critic, stacked(objective)[0]
    R = np.random.default_rng(10).normal(size=(len(X), CLASSES))
    total = critic.accumulator()
    critic.accumulate(total, R, X)
    left = float((R * critic.values(critic.expand(theta), X)).sum())
    assert float(theta @ critic.contract(total)) == pytest.approx(left, rel=1e-11)


def probabilities(point: Point) -> np.ndarray:
    return gather(point.objective.blocks, lambda block: point.probability(block).T)


@pytest.mark.parametrize("name", CRITICS)
@pytest.mark.parametrize("block_rows", [1, 7, 60, 1000])
def test_the_size_of_a_block_is_irrelevant(name, block_rows):
    whole = make(name, known=True, l2=0.3)
    parts = make(name, known=True, l2=0.3, block_rows=block_rows)
    theta = theta_for(whole)
    a, b = whole.at(theta), parts.at(theta)
    assert b.value == pytest.approx(a.value, rel=ROUNDING)
    np.testing.assert_allclose(b.gradient, a.gradient, rtol=ROUNDING, atol=1e-11)
    np.testing.assert_allclose(probabilities(b), probabilities(a), rtol=ROUNDING)
    direction = np.arange(len(theta), dtype=float)
    np.testing.assert_allclose(
        b.hessian_product(direction), a.hessian_product(direction), rtol=ROUNDING, atol=1e-9
    )
    np.testing.assert_allclose(b.hessian(), a.hessian(), rtol=ROUNDING, atol=1e-11)


@pytest.mark.parametrize("name", CRITICS)
def test_weights_equal_repetition(name):
    objective = make(name, known=True)
    blocks, rng = objective.blocks, np.random.default_rng(11)
    times = [rng.integers(1, 4, len(sample)) for sample in blocks.classes]
    weighted = replace(
        blocks,
        classes=[
            Sample(sample.rows, n.astype(float))
            for sample, n in zip(blocks.classes, times, strict=True)
        ],
    )
    repeated = replace(
        blocks,
        classes=[
            Sample.of(np.repeat(sample.rows, n, axis=0))
            for sample, n in zip(blocks.classes, times, strict=True)
        ],
        offsets=[np.repeat(one, n, axis=0) for one, n in zip(blocks.offsets, times, strict=True)],
    )
    theta = theta_for(objective)
    a = Objective(objective.critic, weighted).at(theta)
    b = Objective(objective.critic, repeated).at(theta)
    assert a.value == pytest.approx(b.value, rel=ROUNDING)
    np.testing.assert_allclose(a.gradient, b.gradient, rtol=ROUNDING, atol=1e-11)
    np.testing.assert_allclose(a.hessian(), b.hessian(), rtol=ROUNDING, atol=1e-11)


@pytest.mark.parametrize("name", ["full", "rank 2", "diagonal"])
def test_a_class_far_from_the_origin_stays_accurate(name):
    # At a million of its own widths from the shared origin, the expanded coefficients
    # W, b, a are of order 1e12 and would cancel to 1e-4 of a nat; about the class's
    # own centre, 16 - 6 = 10 digits of x - centre remain.
    rng = np.random.default_rng(3)
    far = Frame(np.array([1e6, -2e6, 5e5]), np.eye(DIM))
    critic = CRITICS[name].bind([Frame(np.zeros(DIM), np.eye(DIM)), far])
    theta = rng.normal(size=critic.n_parameters)
    X = far.centre + rng.normal(size=(50, DIM))
    expected = critic.features(X)[1] @ theta[critic.n_features :]
    values = critic.values(critic.expand(theta), X)
    np.testing.assert_allclose(values[:, 1], expected, rtol=0, atol=1e-8)

    # The gradient takes the same road back.
    total = critic.accumulator()
    R = np.zeros((len(X), 2))
    R[:, 1] = rng.normal(size=len(X))
    critic.accumulate(total, R, X)
    np.testing.assert_allclose(
        critic.contract(total)[critic.n_features :], critic.features(X)[1].T @ R[:, 1], atol=1e-7
    )


def test_just_within_reach_of_the_origin_loses_no_more_than_the_squares_cost():
    # Below 1e5 widths the shared origin is used: the squares reach 1e10 and lose ten
    # of sixteen digits, which leaves 1e-5.
    rng = np.random.default_rng(4)
    near = Frame(np.full(DIM, 5e4), np.eye(DIM))
    critic = Quadratic().bind([near])
    theta = rng.normal(size=critic.n_parameters)
    X = near.centre + rng.normal(size=(50, DIM))
    values = critic.values(critic.expand(theta), X)[:, 0]
    np.testing.assert_allclose(values, critic.features(X)[0] @ theta, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["full", "diagonal"])
def test_normal_start_is_the_normal_density_of_each_frame(name):
    from scipy.stats import multivariate_normal

    places = frames(name == "diagonal", 2, np.random.default_rng(5))
    critic = CRITICS[name].bind(places)
    X = np.random.default_rng(6).normal(size=(20, DIM))
    values = critic.values(critic.expand(critic.normal_start()), X)
    for c, frame in enumerate(places):
        root = np.linalg.inv(frame.whiten)
        truth = multivariate_normal(frame.centre, root.T @ root).logpdf(X)
        np.testing.assert_allclose(values[:, c], truth, rtol=1e-11)


def test_values_far_out_do_not_overflow():
    # Logits of ±1e6: exp would overflow, the peak is taken off first.
    objective = make("full", known=True)
    with np.errstate(over="raise", invalid="raise"):
        point = objective.at(1e5 * theta_for(objective))
    assert np.isfinite(point.value)
    assert np.isfinite(point.gradient).all()
    np.testing.assert_array_less(probabilities(point), 1.0 + 1e-12)


@pytest.mark.parametrize("rank", [0, -1, 1.5, "two", True])
def test_bad_rank_is_refused(rank):
    with pytest.raises(ValueError, match=r"rank must be an integer in \[1, inf\)"):
        Quadratic(rank=rank).bind([Frame(np.zeros(2), np.eye(2))])


def test_binding_leaves_the_callers_critic_alone():
    critic = Quadratic(rank=1)
    critic.bind([Frame(np.zeros(2), np.eye(2))])
    assert vars(critic) == {"rank": 1}


def test_without_a_penalty_there_is_none_and_weights_add_up():
    blocks = make("full", known=True).blocks
    objective = Objective(make("full", known=True).critic, blocks)
    assert objective.l2 == 0.0
    assert objective.total_weight == pytest.approx(stacked(objective)[2].sum(), rel=ROUNDING)


def test_whole_numbers_are_parameters_too():
    objective = make("diagonal", known=True, l2=0.3)
    zeros = [0] * objective.n_parameters
    point = objective.at(zeros)
    assert point.theta.dtype == np.float64
    assert point.value == pytest.approx(brute_force(objective, np.zeros(len(zeros))), rel=ROUNDING)


def test_blocks_that_are_made_anew_give_the_same_curvature():
    kept = make("full", known=True, l2=0.3, block_rows=7)
    blocks = []
    gather(kept.blocks, lambda block: (blocks.append(block), np.zeros(1))[1])
    streamed = StreamedBlocks(lambda: iter(blocks), kept.blocks.log_prior, kept.blocks.learned)
    theta = theta_for(kept)
    a, b = kept.at(theta), Objective(kept.critic, streamed, 0.3).at(theta)
    direction = np.arange(len(theta), dtype=float)
    np.testing.assert_allclose(probabilities(b), probabilities(a), rtol=ROUNDING)
    np.testing.assert_allclose(
        b.hessian_product(direction), a.hessian_product(direction), rtol=ROUNDING, atol=1e-9
    )


def test_the_dense_hessian_does_not_depend_on_how_many_rows_are_taken_at_a_time(monkeypatch):
    objective = make("diagonal", known=False, l2=0.3, block_rows=1000)
    point = objective.at(theta_for(objective))
    whole = point.hessian()
    monkeypatch.setattr("isthmus.data.blocks.rows_at_a_time", lambda width: 3)
    np.testing.assert_allclose(point.hessian(), whole, rtol=ROUNDING, atol=1e-11)


def test_what_is_impossible_keeps_a_probability_that_is_a_normal_float():
    objective = make("diagonal", known=False)
    far = [one.copy() for one in objective.blocks.offsets]
    for one in far:
        one[:, 1] -= 5000.0
    blocks = replace(objective.blocks, offsets=far)
    point = Objective(objective.critic, blocks).at(np.zeros(objective.n_parameters))
    least = probabilities(point)[:, 1].max()
    # e^-300 divided by a mass between one and four.
    assert np.exp(-302.0) < least <= np.exp(-300.0)
    assert np.isfinite(point.value)
