"""Rows of every class, made of batches of pairs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from isthmus.neural import seeded  # noqa: E402
from isthmus.separable import CellMixing, PairArrays  # noqa: E402
from isthmus.separable.images import join_cells  # noqa: E402
from isthmus.separable.modules import SeparableCritic, off_diagonal  # noqa: E402
from isthmus.separable.rows import CellRows, WholeRows  # noqa: E402


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def as_it_is(images):
    return images


def random_critic(d, n, whole=False, full=True, seed=0):
    """Small linear encoders of 3 x 3 cells and weights of any size, in double precision."""
    with seeded(np.random.default_rng(seed)):
        size = 9 * d if whole else 9
        g, f = (torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(size, 5)) for _ in "gf")
        critic = SeparableCritic(g, f, 5, 1 if whole else d, n, full=full)
        torch.nn.init.normal_(critic.inner)
        torch.nn.init.normal_(critic.bias)
    return critic.double()


def test_the_off_diagonal_of_stacked_matrices():
    square = torch.arange(2 * 4 * 4).view(2, 4, 4)
    found = off_diagonal(square)
    for k in range(2):
        expected = [[int(square[k, i, j]) for j in range(4) if j != i] for i in range(4)]
        assert found[k].tolist() == expected
    assert off_diagonal(torch.ones(1, 1)).shape == (1, 0)


@pytest.mark.parametrize("kind", ["nested", "count", "cells", "merged"])
def test_masks_mix_as_many_cells_as_their_class_says(kind):
    mixing = CellMixing(kind, 4)
    masks = mixing.draw(3000, generator()).numpy()
    assert masks.shape == (mixing.n_classes, 3000, 4)
    assert not masks[0].any() and masks[-1].all()
    counts = masks.sum(axis=2)
    if kind in ("nested", "count"):
        assert (counts == np.arange(5)[:, None]).all()
    if kind == "cells":
        assert (masks[1:-1] == np.eye(4, dtype=bool)[:, None]).all()
    if kind == "merged":
        assert set(counts[1]) == {1, 2, 3}
        assert (np.diff(masks[1].astype(int), axis=1) <= 0).all()


def test_one_cell_has_no_auxiliary_by_number():
    assert [CellMixing(kind, 1).n_classes for kind in ("nested", "count", "cells", "merged")] == (
        [2] * 4
    )
    assert CellMixing("merged", 1).draw(3, generator()).shape == (2, 3, 1)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("kind", ["nested", "cells", "count", "merged"])
def test_rows_composed_of_embeddings_are_those_of_mixed_grids(kind, full):
    """Against the definition: mix the images, encode them, and apply each critic."""
    d, n, group = 4, 6, 3
    rng = np.random.default_rng(0)
    u, v = (torch.from_numpy(rng.normal(size=(n, d, 1, 3, 3))) for _ in "uv")
    mixing = CellMixing(kind, d)
    critic = random_critic(d, mixing.n_classes, full=full)
    rows = CellRows(critic, mixing, (as_it_is, as_it_is), group)
    batch = PairArrays(u, v).draw(n, generator(1))
    masks = mixing.draw(n, generator(2))
    found = rows.values(batch, list(range(mixing.n_classes)), generator(2))
    cells_u, cells_v = batch.u[batch.at_u], batch.v[batch.at_v]

    def h(u_cells, v_cells):
        g, f = (
            encoder(cells).flatten()
            for encoder, cells in ((critic.g, u_cells), (critic.f, v_cells))
        )
        return torch.einsum("e,kef,f->k", g, critic.weight, f) + critic.bias

    for y in range(mixing.n_classes):
        expected = []
        for i in range(n):
            partners = [j for j in range(n) if j // group == i // group and j != i]
            for j in partners if y else [i]:
                mixed = torch.where(masks[y, i][:, None, None, None], cells_v[j], cells_v[i])
                expected.append(h(cells_u[i], mixed))
        # Double precision: sums of some hundred products.
        assert torch.allclose(found[y], torch.stack(expected, dim=1), rtol=1e-10, atol=1e-10)


def test_rows_of_whole_images_are_those_of_mixed_grids():
    d, n = 4, 6
    rng = np.random.default_rng(1)
    u, v = (torch.from_numpy(rng.normal(size=(n, d, 1, 3, 3))) for _ in "uv")
    mixing = CellMixing("nested", d)
    critic = random_critic(d, 5, whole=True)
    rows = WholeRows(critic, mixing, (as_it_is, as_it_is), 6, grid=(2, 2))
    batch = PairArrays(u, v).draw(n, generator(1))
    found = rows.values(batch, list(range(5)), generator(2))
    cells_u, cells_v = batch.u[batch.at_u], batch.v[batch.at_v]
    g = critic.g(join_cells(cells_u, (2, 2)))
    for y in range(5):
        partner = cells_v.roll(1, 0)
        mixed = torch.where(torch.arange(d)[:, None, None, None] < y, partner, cells_v)
        f = critic.f(join_cells(mixed, (2, 2)))
        expected = torch.einsum("ie,kef,if->ki", g, critic.weight, f) + critic.bias[:, None]
        if y == 4:
            # Of q there are all pairs; that of the roll is row i's partner i - 1.
            every = found[4].view(5, n, n - 1)
            at = [[j for j in range(n) if j != i].index((i - 1) % n) for i in range(n)]
            own = torch.stack([every[:, i, at[i]] for i in range(n)], dim=1)
            assert torch.allclose(own, expected, rtol=1e-10, atol=1e-10)
        else:
            assert torch.allclose(found[y], expected, rtol=1e-10, atol=1e-10)


def test_rows_that_a_batch_names_are_taken_as_they_are():
    d, n = 4, 6
    rng = np.random.default_rng(2)
    u, v = (torch.from_numpy(rng.normal(size=(n, d, 1, 3, 3))) for _ in "uv")
    critic = random_critic(d, 4, whole=True)
    rows = WholeRows(critic, CellMixing("nested", d), (as_it_is, as_it_is), 6, grid=(2, 2))
    exchanged = torch.from_numpy(rng.integers(1, 5, (n, n)))
    exchanged.fill_diagonal_(0)
    batch = replace(PairArrays(u, v).draw(n, generator(1)), exchanged=exchanged)
    found = rows.values(batch, [0, 1, 3], generator(2))
    g = critic.g(join_cells(batch.u[batch.at_u], (2, 2)))
    f = critic.f(join_cells(batch.v[batch.at_v], (2, 2)))
    assert set(found) == {0, 1, 3}
    for y, values in found.items():
        expected = [
            torch.einsum("e,kef,f->k", g[i], critic.weight, f[j]) + critic.bias
            for i, j in np.argwhere(exchanged.numpy() == y)
        ]
        assert torch.allclose(values, torch.stack(expected, dim=1), rtol=1e-10, atol=1e-10)


def test_means_over_pairs_of_a_batch_are_those_of_q():
    """Unbiased although the pairs are not independent: against the exact product."""
    rng = np.random.default_rng(0)
    # u uniform on 0..4, v = u + 1 modulo 5 with a coin's noise; the function is any.
    table = rng.normal(size=(5, 5))
    means = []
    for _ in range(4000):
        u = rng.integers(5, size=6)
        v = (u + 1 + rng.integers(2, size=6)) % 5
        square = torch.from_numpy(table[np.ix_(u, v)])[None]
        means.append(float(off_diagonal(square).mean()))
    error = np.std(means) / math.sqrt(len(means))
    assert np.mean(means) == pytest.approx(table.mean(), abs=4 * error)
    # Together with the diagonal they are biased: the test can tell.
    own = np.mean([table[i, (i + 1 + s) % 5] for i in range(5) for s in range(2)])
    assert abs(own - table.mean()) / 6 > 4 * error
