"""Rows for networks: distinct, standardised, held out, and drawn in balanced batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

torch = pytest.importorskip("torch")

from isthmus.data.sample import Sample  # noqa: E402
from isthmus.neural import ClassBatches, Standard, distinct  # noqa: E402


@settings(max_examples=60, deadline=None)
@given(
    rows=arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 3)),
        elements=st.floats(-2, 2, width=16),
    ),
    data=st.data(),
)
def test_distinct_rows_do_not_depend_on_order_or_on_how_copies_are_given(rows, data):
    counts = data.draw(arrays(np.int64, len(rows), elements=st.integers(1, 3)))
    order = data.draw(st.permutations(range(len(rows))))
    a = distinct(Sample(rows[order], counts[order].astype(float)))
    b = distinct(Sample.of(rows.repeat(counts, axis=0)))
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_array_equal(a.weight, b.weight)
    assert len(np.unique(a.rows, axis=0)) == len(a) == len(np.unique(rows + 0.0, axis=0))
    assert a.weight.sum() == counts.sum()


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e150])
def test_standard_pools_classes_with_equal_mass(scale):
    rng = np.random.default_rng(0)
    p, q = rng.normal(3, 1, (4000, 2)), rng.normal(-3, 1, (100, 2))
    p[:, 1] = q[:, 1] = 5.0
    standard = Standard.fit([Sample.of(x * scale) for x in (p, q)])
    z_p, z_q = standard(p * scale), standard(q * scale)
    # By construction, up to rounding.
    assert z_p[:, 0].mean() == pytest.approx(-z_q[:, 0].mean(), rel=1e-9)
    assert (z_p[:, 0] ** 2).mean() + (z_q[:, 0] ** 2).mean() == pytest.approx(2.0, rel=1e-9)
    assert not z_p[:, 1].any() and not z_q[:, 1].any()
    assert np.isfinite(standard(np.array([[1e308, -1e308]]))).all()


def test_batches_draw_in_proportion_to_weights_and_equally_from_classes():
    rng = np.random.default_rng(0)
    p, q = np.arange(5.0)[:, None], np.arange(100.0)[:, None]
    weight = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
    batches = ClassBatches([Sample(p, weight), Sample.of(q)], batch_size=16, rng=rng)
    generator = torch.Generator().manual_seed(0)
    n = 1000
    drawn = torch.stack([batches.draw(generator) for _ in range(n)]).double().numpy()
    drawn = drawn * batches.standard.scale + batches.standard.centre
    for c, (rows, share) in enumerate(((p, weight / weight.sum()), (q, np.full(100, 0.01)))):
        found = np.abs(drawn[:, c].reshape(-1, 1) - rows[:, 0]) < 1e-3
        assert found.any(axis=1).all()
        # Stratified draws vary less than independent ones: four of these standard errors.
        error = np.sqrt(share * (1 - share) / (16 * n))
        assert np.all(np.abs(found.mean(axis=0) - share) < 4 * error)
    # Strata of two rows and more: hardly ever the same row twice in a batch.
    twice = [len(np.unique(batch[1].round(3))) for batch in drawn]
    assert np.mean(twice) > 15.5


def test_a_weight_of_two_is_the_row_given_twice_to_the_bit():
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    count = rng.integers(1, 4, 40)
    order = rng.permutation(40)

    def drawn(p, weight):
        both = [Sample.of(p, weight), Sample.of(q)]
        batches = ClassBatches(both, batch_size=8, validation=0.3, rng=np.random.default_rng(1))
        return batches.draw(torch.Generator().manual_seed(0)), batches.held

    a, held_a = drawn(p.repeat(count, axis=0), None)
    b, held_b = drawn(p[order], count[order].astype(float))
    assert torch.equal(a, b)
    for first, second in zip(held_a, held_b, strict=True):
        assert torch.equal(first[0], second[0]) and torch.equal(first[1], second[1])


def test_copies_are_held_out_together_and_pairs_too():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 30, (300, 1)).astype(float)
    batches = ClassBatches([Sample.of(rows)], batch_size=4, validation=0.2, rng=rng)
    held = set(batches.held[0][0].flatten().tolist())
    assert len(held) == 6 and not held & set(batches.rows.flatten().tolist())

    p = Sample.of(rng.normal(size=(50, 1)))
    paired = ClassBatches([p, p, p], batch_size=4, validation=0.2, rng=rng, paired=True)
    first = paired.held[0][0]
    assert len(first) == 10 and all(torch.equal(first, rows) for rows, _ in paired.held)


def test_too_few_rows_to_hold_out_are_all_trained_on():
    rng = np.random.default_rng(0)
    samples = [Sample.of(np.zeros((3, 1))), Sample.of(np.arange(20.0)[:, None])]
    batches = ClassBatches(samples, batch_size=4, rng=rng, validation=0.2)
    assert batches.held is None and batches.sizes == [1, 20]


def test_rows_of_a_class_can_be_replaced():
    rng = np.random.default_rng(0)
    rows = [Sample.of(np.zeros((5, 1))), Sample.of(np.ones((7, 1)))]
    batches = ClassBatches(rows, batch_size=16, rng=rng, paired=True)
    batches.replace(1, np.full((7, 1), 3.0))
    drawn = batches.draw(torch.Generator().manual_seed(0))
    expected = batches.standard(np.array([[0.0], [3.0]])).astype(np.float32)
    assert (drawn.numpy() == expected[:, None]).all()
