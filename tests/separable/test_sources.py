"""Where pairs come from, and how images are cut, joined and distorted."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from isthmus.problems.omniglot import SpatialMultiOmniglot, drawn_alphabets  # noqa: E402
from isthmus.separable import OmniglotSource  # noqa: E402
from isthmus.separable.images import distorted, join_cells, split_cells  # noqa: E402


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_pairs_composed_of_few_drawings_have_the_problem_s_distribution(problem):
    """Both p, and q from u_i and v_j: characters follow always, and as often as chance has it."""
    source = OmniglotSource(problem, per_character=2)
    names = {bytes(image): i for i, image in enumerate(problem.images()[0])}
    places = problem.images()[1]
    follows, same_image, total = np.zeros(4), 0, 0
    drawings = np.zeros(10)
    for seed in range(150):
        batch = source.draw(8, generator(seed))
        assert len(batch.u) == len(batch.v) == 2 * (8 + 7)
        index_u, index_v = (
            np.array([names[x[0].numpy().tobytes()] for x in images])[at.numpy()]
            for images, at in ((batch.u, batch.at_u), (batch.v, batch.at_v))
        )
        for cell, (place, size) in enumerate(zip(places, problem.sizes, strict=True)):
            character_u = (index_u[:, cell] - place[0, 0]) // 10
            character_v = (index_v[:, cell] - place[0, 0]) // 10
            assert ((character_u + 1) % size == character_v).all()
            other = np.roll(character_v, 1)
            follows[cell] += ((character_u + 1) % size == other).mean() / 150
            same_image += (index_u[:, cell] == np.roll(index_v[:, cell], 1)).sum()
            drawings += np.bincount((index_v[:, cell] - place[0, 0]) % 10, minlength=10)
        total += 8
    for share, size in zip(follows, problem.sizes, strict=True):
        # Neighbours of a batch: about 1200 coins; four errors, and some dependence.
        assert share == pytest.approx(1 / size, abs=5 * math.sqrt(1 / size / total))
    # The same drawing on both sides: once in 10 drawings of a character that is the same.
    expected = sum(total / (10 * size) for size in problem.sizes)
    assert same_image == pytest.approx(expected, abs=6 * math.sqrt(expected))
    # All drawings come up equally often; two of ten are chosen in each batch, so errors are
    # those of 150 batches times 30 characters.
    assert drawings / drawings.sum() == pytest.approx(np.full(10, 0.1), abs=0.02)


@pytest.mark.parametrize("cells", [4, 9])
def test_pairs_of_a_family_are_rows_of_nested_mixing(cells):
    """Characters behind the place follow those of u always, and those before it by chance."""
    problem = SpatialMultiOmniglot.largest(drawn_alphabets([5, 4], drawings=2, rng=1), cells)
    source = OmniglotSource(problem, per_character=2)
    first = np.array([place[0, 0] for place in problem.images()[1]])
    sizes = np.array(problem.sizes)
    seen = {k: [] for k in range(cells + 1)}
    for seed in range(60):
        batch = source.draw_nested(64, generator(seed))
        u, v = ((at.numpy() - first) // 2 for at in (batch.at_u, batch.at_v))
        follows = ((u + 1) % sizes)[:, None] == v[None]
        exchanged = batch.exchanged.numpy()
        assert (np.diag(exchanged) == 0).all() and (exchanged == exchanged.T).all()
        for k, found in seen.items():
            assert follows[exchanged == k][:, k:].all()
            assert (exchanged == k).any()
            found.append(follows[exchanged == k].mean(axis=0))
    for k, found in seen.items():
        # Rows of a batch share characters: the error is that of 60 batches.
        means, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(60)
        assert (np.abs(means - 1 / sizes)[:k] <= 4.5 * error[:k]).all()
    # Too few pairs for all places.
    assert source.draw_nested(8, generator()).exchanged is None


def test_cells_are_cut_and_joined_and_distorted():
    images = np.arange(2 * 1 * 4 * 6).reshape(2, 1, 4, 6)
    cells = split_cells(images, (2, 3))
    assert cells.shape == (2, 6, 1, 2, 2) and cells[0, 1, 0].tolist() == [[2, 3], [8, 9]]
    assert (join_cells(torch.from_numpy(cells), (2, 3)).numpy() == images).all()
    with pytest.raises(ValueError, match="grid must divide the images"):
        split_cells(images, (3, 3))
    dot = torch.zeros(200, 1, 9, 9, dtype=torch.uint8)
    dot[:, :, 4, 4] = 255
    found = distorted(dot, 0.1, generator())
    # The ink moves by a tenth of half a width, as often to one side as to the other.
    steps = torch.arange(9.0) - 4
    moves = torch.stack([found.sum(axis).flatten(1) @ steps for axis in (2, 3)]) / 255
    assert float(moves.mean()) == pytest.approx(0, abs=4 * 0.45 / 20)
    assert float(moves.std()) == pytest.approx(0.45, abs=0.15)
    assert (distorted(dot, 1e-9, generator()) - dot).abs().max() < 1e-3
