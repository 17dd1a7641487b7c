"""Blocks in memory and blocks that are read anew: the same sums, to rounding."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from isthmus import MDRE, stack
from isthmus.anchors import GaussianAnchor
from isthmus.data.blocks import Block, MemoryBlocks, StreamedBlocks, add, gather, slices
from isthmus.data.moments import class_moments, moments
from isthmus.data.sample import Sample
from isthmus.functionals import get_divergence
from isthmus.model.objective import Objective
from isthmus.model.solvers import newton
from isthmus.uncertainty.delta import delta_std_error, linearised
from isthmus.uncertainty.influence import Influence

# Sums of thousands of terms in another order: rounding of some 1e-13 of the largest of them.
SAME = 1e-9


def streamed(blocks: MemoryBlocks, rows: int) -> StreamedBlocks:
    """The same rows as a stream of small blocks, classes by turns, which forgets them."""

    def make():
        parts = []
        for label, sample in enumerate(blocks.classes):
            for at in slices(len(sample), rows):
                parts.append((at.start, label, at))
        for index, (start, label, at) in enumerate(sorted(parts)):
            sample, offset = blocks.classes[label], blocks.offsets[label]
            yield Block(label, sample.rows[at].copy(), sample.weight[at], offset[at], index, start)

    return StreamedBlocks(make, blocks.log_prior, blocks.learned)


SETTINGS = {
    "known auxiliary, normal anchors": {"auxiliaries": "bridge", "anchor": "gaussian", "l2": 5.0},
    "learned auxiliary, no anchors": {"auxiliaries": "linear", "anchor": None, "l2": 0.5},
    "diagonal critic": {"auxiliaries": "cauchy", "anchor": "gaussian", "critic": "diagonal",
                        "l2": 2.0},
}  # fmt: skip


@pytest.fixture(scope="module", params=SETTINGS)
def fit(request):
    rng = np.random.default_rng(3)
    X, y = stack(rng.normal(0, 1, (700, 3)), rng.normal(0.6, 1.3, (500, 3)))
    given = {"critic": "quadratic", "maps": None, **SETTINGS[request.param]}
    weight = rng.uniform(0.5, 2.0, len(X))
    model = MDRE(**given, random_state=0).fit(X, y, sample_weight=weight)
    return model, model.fitted_to_.rows(model.model_.offsets)


@pytest.fixture(scope="module", params=[37, 400])
def both(fit, request):
    model, rows = fit
    in_memory = model.objective_over(rows)
    stream = streamed(rows.blocks, request.param)
    return model, rows, in_memory, Objective(in_memory.critic, stream, in_memory.l2)


def test_moments(both):
    _, rows, in_memory, stream = both
    for blocks in (in_memory.blocks, stream.blocks):
        first = blocks.sum(lambda b, blocks=blocks: blocks.by_class(b, b.weight @ b.X))
        second = blocks.sum(lambda b: (b.X * b.weight[:, None]).T @ b.X)
        expected = [sample.weight @ sample.rows for sample in rows.blocks.classes]
        np.testing.assert_allclose(first, expected, rtol=SAME, atol=SAME)
        everything = np.concatenate(
            [s.rows * np.sqrt(s.weight)[:, None] for s in rows.blocks.classes]
        )
        np.testing.assert_allclose(second, everything.T @ everything, rtol=SAME, atol=SAME)
        np.testing.assert_allclose(blocks.mass, [s.weight.sum() for s in rows.blocks.classes])
        for found, sample in zip(class_moments(blocks), rows.blocks.classes, strict=True):
            whole = moments(sample)
            assert found.weight == pytest.approx(whole.weight, rel=SAME)
            np.testing.assert_allclose(found.mean, whole.mean, rtol=SAME, atol=SAME)
            np.testing.assert_allclose(found.covariance, whole.covariance, rtol=SAME, atol=SAME)


def test_a_normal_anchor_follows_from_the_moments_of_blocks(both):
    _, rows, in_memory, stream = both
    for c, sample in enumerate(rows.inside):
        # Far outliers are pulled in first, which here there are none of.
        whole = GaussianAnchor().fit(sample.rows, sample.weight).component_
        for blocks in (in_memory.blocks, stream.blocks):
            found = GaussianAnchor().from_moments(
                class_moments(blocks)[c], sample.size, len(sample)
            )
            np.testing.assert_allclose(found.component_.mean, whole.mean, rtol=SAME, atol=SAME)
            np.testing.assert_allclose(
                found.component_.cholesky, whole.cholesky, rtol=SAME, atol=SAME
            )


def test_value_gradient_and_hessian(both):
    _, _, in_memory, stream = both
    rng = np.random.default_rng(5)
    theta = 0.3 * rng.normal(size=in_memory.n_parameters)
    a, b = in_memory.at(theta), stream.at(theta)
    assert b.value == pytest.approx(a.value, rel=SAME)
    np.testing.assert_allclose(b.gradient, a.gradient, rtol=SAME, atol=SAME * a.value)
    direction = rng.normal(size=len(theta))
    product = a.hessian_product(direction)
    np.testing.assert_allclose(
        b.hessian_product(direction), product, rtol=SAME, atol=SAME * np.abs(product).max()
    )
    np.testing.assert_allclose(b.hessian(), a.hessian(), rtol=SAME, atol=SAME * a.value)


def test_the_minimum(both):
    model, _, in_memory, stream = both
    found = newton(stream, np.zeros(stream.n_parameters), tol=1e-10)
    assert found.converged
    # At a gradient of 1e-10 of the weight the two minima are as near as their rounding.
    known = newton(in_memory, model.solution_.theta, tol=1e-10)
    np.testing.assert_allclose(found.theta, known.theta, atol=1e-7)


@pytest.mark.parametrize("name", ["kl", "js", "reverse-kl"])
def test_standard_errors(both, name):
    model, rows, in_memory, stream = both
    ratios = [model.model_.log_ratio(sample.rows) for sample in rows.samples]
    weights = [sample.weight for sample in rows.samples]
    linear, kept = linearised(get_divergence(name), (*ratios, *weights))
    anchored = bool(model.anchors_)
    theta = model.solution_.theta
    a = delta_std_error(linear, *kept, Influence(in_memory.at(theta), anchored))
    b = delta_std_error(linear, *kept, Influence(stream.at(theta), anchored))
    assert b == pytest.approx(a, rel=SAME)
    # The fit adds to the error of the evaluation.
    assert a > delta_std_error(linear, *kept, None)


def test_a_stream_keeps_nothing_and_a_memory_may(both):
    _, _, in_memory, stream = both
    assert in_memory.blocks.keeps and not stream.blocks.keeps
    theta = np.zeros(stream.n_parameters)
    counted = []
    blocks = stream.blocks
    again = StreamedBlocks(
        lambda: (counted.append(b.index) or b for b in blocks.make()),
        blocks.log_prior,
        blocks.learned,
    )
    again.mass  # noqa: B018
    passes = len(counted)
    Objective(stream.critic, again, 1.0).at(theta)
    assert len(counted) == 2 * passes  # one pass for the weights, one for value and gradient


def test_gather_keeps_the_order_of_the_blocks():
    sample = Sample.of(np.arange(10.0)[:, None])
    blocks = MemoryBlocks([sample], [np.zeros((10, 1))], np.zeros(1), np.array([True]), 3)
    np.testing.assert_array_equal(gather(blocks, lambda b: b.X[:, 0]), np.arange(10.0))
    assert [b.start for b in (blocks.sum(lambda b: Starts((b,)))).parts] == [0, 3, 6, 9]


class Starts:
    """Blocks in the order in which they came."""

    def __init__(self, parts):
        self.parts = parts

    def __add__(self, other):
        return Starts(self.parts + other.parts)


def test_add_goes_into_tuples_and_lists_and_keeps_their_types():
    assert add((1, [2.0, (3,)]), (10, [20.0, (30,)])) == (11, [22.0, (33,)])
    total = add(np.ones(2), np.ones(2))
    np.testing.assert_array_equal(total, [2.0, 2.0])


def test_no_rows_are_refused():
    empty = StreamedBlocks(lambda: iter(()), np.zeros(2), np.array([True, True]))
    with pytest.raises(ValueError, match="at least one row; received none"):
        empty.sum(lambda block: 1.0)


def test_blocks_are_picklable(fit):
    _, rows = fit
    blocks = pickle.loads(pickle.dumps(rows.blocks))
    assert blocks.total_weight == rows.blocks.total_weight
