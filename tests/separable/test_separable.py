"""The separable critic: rows of every class, losses, and the estimator on small images."""

from __future__ import annotations

import math
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

torch = pytest.importorskip("torch")

from isthmus.neural import checkpoint as _checkpoint  # noqa: E402
from isthmus.neural import seeded  # noqa: E402
from isthmus.problems import omniglot_files as files  # noqa: E402
from isthmus.problems.omniglot import Alphabet, SpatialMultiOmniglot  # noqa: E402
from isthmus.separable import (  # noqa: E402
    PUBLISHED,
    CellMixing,
    OmniglotSource,
    PairArrays,
    SeparableRatio,
    linear_probe,
    residual_encoder,
)
from isthmus.separable.calibration import best_scales  # noqa: E402
from isthmus.separable.losses import METHODS, Method, capped  # noqa: E402
from isthmus.separable.modules import SeparableCritic, off_diagonal  # noqa: E402
from isthmus.separable.rows import CellRows, Inputs, WholeRows  # noqa: E402
from isthmus.separable.sources import distorted, join_cells, split_cells  # noqa: E402

TINY = Path(__file__).parents[1] / "data" / "omniglot" / "tiny.zip"


@pytest.fixture(scope="module")
def problem():
    """Grids of 2 x 2 of real drawings: I(u, v) = 2 log 8 + 2 log 7 = 8.05."""
    alphabets = [Alphabet(name, images) for name, images in files.read_zip(TINY).items()]
    return SpatialMultiOmniglot.largest(alphabets, 4)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random_critic(d, n, whole=False, full=True, seed=0):
    """Small linear encoders of 3 x 3 cells and weights of any size, in double precision."""
    with seeded(np.random.default_rng(seed)):
        size = 9 * d if whole else 9
        g, f = (torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(size, 5)) for _ in "gf")
        critic = SeparableCritic(g, f, 5, 1 if whole else d, n, full=full)
        torch.nn.init.normal_(critic.inner)
        torch.nn.init.normal_(critic.bias)
    return critic.double()


class Plain(Inputs):
    """Images as they are."""

    def __init__(self):
        pass

    def __call__(self, images):
        return images


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
    rows = CellRows(critic, mixing, (Plain(), Plain()), group)
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
    rows = WholeRows(critic, mixing, (Plain(), Plain()), 6, (2, 2))
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


def test_losses_are_those_of_their_definitions():
    rng = np.random.default_rng(0)

    def rows(n_critics, n=12):
        return {y: torch.from_numpy(rng.normal(size=(n_critics, n))) for y in range(4)}

    h = rows(4)
    log_softmax = [torch.log_softmax(h[y], 0)[y].mean() for y in range(4)]
    found = Method("mdre", 4).loss({y: each[:-1] - each[1:] for y, each in h.items()})
    assert float(found) == pytest.approx(-float(sum(log_softmax)) / 4, rel=1e-12)
    values = rows(3)
    found, log_sigmoid = Method("tre", 4).loss(values), torch.nn.functional.logsigmoid
    bridges = [
        -log_sigmoid(values[k][k]).mean() - log_sigmoid(-values[k + 1][k]).mean() for k in range(3)
    ]
    assert float(found) == pytest.approx(float(sum(bridges)) / 3, rel=1e-12)
    values = rows(1)
    single = Method("single", 4)
    expected = -log_sigmoid(values[0][0]).mean() - log_sigmoid(-values[3][0]).mean()
    assert float(single.loss({y: values[y] for y in single.uses})) == pytest.approx(float(expected))
    own, others = torch.randn(4, generator=generator()), torch.randn(4, 3, generator=generator(1))
    found = Method("infonce", 4).loss({0: own[None], 3: others.reshape(1, -1)})
    scores = torch.zeros(4, 4)
    scores[torch.eye(4, dtype=bool)], scores[~torch.eye(4, dtype=bool)] = own, others.flatten()
    expected = torch.nn.functional.cross_entropy(scores, torch.arange(4))
    # Single precision.
    assert float(found) == pytest.approx(float(expected), rel=1e-5)
    # With the same others, the capped log-ratio's mean is log K less the loss.
    mean = float(capped(own, others, 4).mean())
    assert mean == pytest.approx(math.log(4) - float(expected), rel=1e-5)
    counts = {name: Method(name, 4).n_critics for name in METHODS}
    assert counts == {"mdre": 3, "tre": 3, "single": 1, "infonce": 1}


@pytest.mark.parametrize("name", METHODS)
def test_scales_and_shifts_have_the_lowest_held_out_loss(name):
    """No gradient is left, but for the pull towards a scale of one."""
    method, rng = Method(name, 3), np.random.default_rng(0)
    # Rows of class y are near y - 1 for all critics, and too far apart by a factor of three.
    values = [
        {
            y: 3.0 * torch.from_numpy(rng.normal(1 - y, 1, (method.n_critics, n)))
            for y, n in zip(method.uses, (40, 120, 120), strict=False)
        }
        for _ in range(2)
    ]
    bias = torch.full((method.n_critics,), 0.5)
    scale, shift = best_scales(method, values, bias)
    assert (scale < 0.9).all()
    theta = torch.from_numpy(np.concatenate([scale, shift])).requires_grad_()
    n = method.n_critics
    moved = [
        {y: theta[:n, None] * (v - 0.5) + theta[n:, None] for y, v in each.items()}
        for each in values
    ]
    loss = sum(method.loss(each) for each in moved) / 2
    loss = loss + 0.5 * (theta[:n] - 1).square().sum() / 80
    loss.backward()
    # What L-BFGS leaves behind.
    assert theta.grad.abs().max() < 1e-5


def test_calibration_scales_every_bridge_and_nothing_else():
    u, v = small_pairs()
    plain, scaled = (small(calibrate=each).fit(u, v) for each in (False, True))
    before, after = (each.critic_.weight.detach().numpy() for each in (plain, scaled))
    factor = after[:, 0, 0] / before[:, 0, 0]
    assert after == pytest.approx(factor[:, None, None] * before, rel=1e-4, abs=1e-7)
    assert (np.abs(factor - 1) > 1e-3).all()
    assert (plain.embed(u) == scaled.embed(u)).all()
    # Without held-out pairs there is nothing to do.
    none = small(calibrate=True, validation=0).fit(u, v).log_ratio(u, v)
    assert (none == small(calibrate=False, validation=0).fit(u, v).log_ratio(u, v)).all()


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


TINY_SETTINGS = {
    "grid": (2, 2),
    "encoder": "dense",
    "embedding": 8,
    "batch_size": 128,
    "group": 16,
    "lr": 3e-3,
}


def tiny_mi(problem, method, steps, seed=0, **more):
    """Mutual information of fresh pairs, and the model."""
    model = SeparableRatio(method, steps=steps, random_state=seed, **{**TINY_SETTINGS, **more})
    source = OmniglotSource(problem, per_character=2)
    model.fit_source(source, source)
    pairs = problem.sample(1000, rng=100 + seed)
    return model.mutual_information(pairs.u, pairs.v), model, pairs


def test_a_tiny_training_rises_above_the_single_ratio(problem):
    truth = problem.mutual_information
    mdre, model, pairs = tiny_mi(problem, "mdre", 250)
    single, _, _ = tiny_mi(problem, "single", 250)
    # The same encoder, batches and steps; five errors of the means over pairs.
    assert mdre.value > single.value + 5 * math.hypot(mdre.std_error, single.std_error)
    assert mdre.value > 0.7 * truth
    # On pairs of q the log-ratio is negative, as the truth is nearly always.
    other = np.roll(pairs.v, 1, axis=0)
    assert model.log_ratio(pairs.u, other).mean() < 0
    history = model.training_.history
    assert {"held_out", "mi", "accuracy p", "accuracy m2", "accuracy q"} <= set(history[-1])
    # The probe on frozen embeddings tells most characters, chance being one in seven or eight.
    features = model.embed(pairs.u)
    shares = linear_probe(
        features[:600], pairs.characters[:600], features[600:], pairs.characters[600:]
    )
    assert shares.shape == (4,) and shares.mean() > 0.6


@pytest.mark.parametrize("method", ["tre", "infonce"])
def test_the_other_methods_learn(problem, method):
    estimate, model, pairs = tiny_mi(problem, method, 120)
    assert estimate.value > 0.5
    if method == "infonce":
        assert model.log_ratio(pairs.u, pairs.v).max() <= math.log(16) + 1e-9
    else:
        assert model.critic_.weight.shape == (4, 32, 32)


def small_pairs(n=60, seed=0):
    """Pairs of 4 x 4 images with 2 x 2 cells: v is u with noise."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(n, 4, 4))
    return u, u + 0.3 * rng.normal(size=u.shape)


def small(**more):
    settings = {"grid": (2, 2), "channels": (2, 2, 2), "embedding": 2, "steps": 6}
    settings |= {"batch_size": 16, "group": 8, "random_state": 0}
    return SeparableRatio(**{**settings, **more})


@pytest.mark.parametrize("method", ["mdre", "tre", "single", "infonce"])
@pytest.mark.parametrize("encoder", ["cells", "dense", "whole"])
def test_log_ratios_are_those_of_the_critics(method, encoder):
    u, v = small_pairs()
    model = small(method=method, encoder=encoder, mixing="count").fit(u, v)
    found = model.log_ratio(u[:7], v[:7])
    g, f = model.embed(u[:7]), model.embed_partner(v[:7])
    assert g.shape == (7, 2 if encoder == "whole" else 8)
    # Between neighbours.
    h = np.einsum("ie,kef,if->ki", g, model.critic_.weight.detach().double().numpy(), f)
    h += model.critic_.bias.detach().double().numpy()[:, None]
    assert len(h) == (4 if method in ("mdre", "tre") else 1)
    if method != "infonce":
        assert found == pytest.approx(h.sum(0), rel=1e-9, abs=1e-9)
    # Rows are judged alone: single precision in the encoders, where sums may change order.
    assert model.log_ratio(u[3:5], v[3:5]) == pytest.approx(found[3:5], rel=1e-4, abs=1e-5)
    assert np.isfinite(model.mutual_information(u, v).value)


def test_u_and_v_may_differ_in_scale_and_in_size():
    """Each side has its own units: whatever they are, the answer is the same."""
    u, v = small_pairs(200)
    how = {"encoder": "dense", "embedding": 8, "steps": 80, "batch_size": 64, "lr": 3e-3}
    plain = small(**how).fit(u, v).log_ratio(u, v)
    assert plain.mean() > 0.3
    scaled = small(**how).fit(1e8 * u, 1e-8 * v).log_ratio(1e8 * u, 1e-8 * v)
    # Single precision, along a whole training.
    assert scaled == pytest.approx(plain, rel=0.02, abs=0.02)
    twice = np.kron(v, np.ones((2, 2)))
    assert small(**how).fit(u, twice).log_ratio(u, twice).mean() > 0.3
    with pytest.raises(ValueError, match="one_encoder must be False where u and v"):
        small(one_encoder=True, **how).fit(u, twice)


def test_the_same_seed_gives_the_same_numbers_and_a_pickle_too(tmp_path):
    u, v = small_pairs()
    one, two = small().fit(u, v), small().fit(u, v)
    assert (one.log_ratio(u, v) == two.log_ratio(u, v)).all()
    assert not (one.log_ratio(u, v) == small(random_state=1).fit(u, v).log_ratio(u, v)).all()
    kept = pickle.loads(pickle.dumps(one))
    assert (kept.log_ratio(u, v) == one.log_ratio(u, v)).all()
    assert clone(one).get_params() == one.get_params()


def test_training_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    u, v = small_pairs()
    whole = small(steps=8).fit(u, v)
    path = tmp_path / "run.pt"
    saved = []
    original = _checkpoint.Checkpoint.save

    def stop_after_four(self, *args, **more):
        original(self, *args, **more)
        saved.append(1)
        if len(saved) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(_checkpoint.Checkpoint, "save", stop_after_four)
    with pytest.raises(KeyboardInterrupt):
        small(steps=8, checkpoint=path).fit(u, v)
    resumed = small(steps=8, checkpoint=path).fit(u, v)
    assert (resumed.log_ratio(u, v) == whole.log_ratio(u, v)).all()


def test_modules_of_the_user_are_trained_as_copies():
    u, v = small_pairs()

    def module(size, out=3):
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(size, out))

    with seeded(np.random.default_rng(0)):
        whole, cells, pair = module(16), module(4), (module(4), module(4))
    before = whole[1].weight.detach().clone()
    model = small(encoder=whole).fit(u, v)
    assert model.embed(u).shape == (60, 3) and torch.equal(whole[1].weight, before)
    assert not torch.equal(model.critic_.g[1].weight, before)
    # Given once, it makes two encoders that part ways, or one if that is asked for.
    assert not torch.equal(model.critic_.g[1].weight, model.critic_.f[1].weight)
    one = small(encoder=cells, by_cell=True, one_encoder=True).fit(u, v)
    assert one.critic_.g is one.critic_.f and one.embed(u).shape == (60, 12)
    assert small(encoder=pair, by_cell=True).fit(u, v).embed(u).shape == (60, 12)
    with pytest.raises(ValueError, match="embeddings of one shape"):
        small(encoder=(module(16, 3), module(16, 4))).fit(u, v)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"method": "nce"}, "method must be one of 'mdre', 'tre'"),
        ({"mixing": "all"}, "mixing must be one of 'nested'"),
        ({"encoder": "grid"}, "encoder must be one of 'cells', 'dense', 'whole'"),
        ({"encoder": 3}, "encoder must be 'cells', 'dense', 'whole', a torch"),
        ({"grid": 2}, "grid must be two integers"),
        ({"grid": (0, 2)}, r"grid must be an integer in \[1"),
        ({"channels": (4, 4)}, "channels must be three integers"),
        ({"embedding": 0}, "embedding must be an integer"),
        ({"group": 1}, r"group must be an integer in \[2"),
        ({"batch_size": 1}, r"batch_size must be an integer in \[2"),
        ({"validation": 1.0}, "validation must be a number"),
        ({"steps": 0}, "steps must be an integer"),
        ({"l2": -1.0}, r"l2 must be a number in \[0"),
        ({"lr": -1.0}, "lr must be a number"),
        ({"pool": "max"}, "pool must be one of"),
        ({"by_cell": "yes"}, "by_cell must be True or False"),
        ({"grid": (3, 3)}, "grid must divide the images"),
    ],
)
def test_wrong_parameters_are_told(wrong, told):
    with pytest.raises(ValueError, match=told):
        small(**wrong).fit(*small_pairs())


def test_wrong_images_are_told():
    u, v = small_pairs()
    with pytest.raises(ValueError, match="same number of images"):
        small().fit(u, v[:-1])
    with pytest.raises(ValueError, match="u must have shape"):
        small().fit(u[0], v)
    with pytest.raises(ValueError, match="v must be finite"):
        small().fit(u, np.where(np.arange(4) == 1, np.nan, v))
    with pytest.raises(ValueError, match="v must hold numbers"):
        small().fit(u, v.astype(str))
    with pytest.raises(ValueError, match="as many cells as the pairs of the source, 1"):
        cells = torch.zeros(8, 1, 1, 2, 2)
        small().fit_source(PairArrays(cells, cells))
    model = small().fit(u, v)
    with pytest.raises(ValueError, match="u and v must be as many"):
        model.log_ratio(u, v[:5])
    with pytest.raises(ValueError, match="cell by cell"):
        small(encoder="whole").fit(u, v).embed_cells(u)


@pytest.mark.parametrize("scale", [0.0, 1e-8, 1e8])
def test_degenerate_images_give_finite_numbers(scale):
    u, v = small_pairs(12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = small().fit(scale * u, scale * v)
        assert np.isfinite(model.log_ratio(scale * u, scale * v)).all()
    few = small(validation=0.0).fit(u[:4], v[:4])
    assert np.isfinite(few.log_ratio(u, v)).all()
    # Colours are channels.
    colour = np.stack([u, v], axis=1)
    assert small().fit(colour, colour).embed(colour).shape == (12, 8)


def test_the_published_encoder_has_fourteen_layers_with_weights():
    encoder = residual_encoder(16, size=(84, 84), **PUBLISHED)
    sizes = [
        tuple(each.weight.shape)
        for each in encoder.modules()
        if isinstance(each, torch.nn.Conv2d | torch.nn.Linear)
    ]
    # A stem, twelve convolutions and a dense layer; shortcuts of one pixel are not counted.
    # Of 16 numbers in an embedding one is constant.
    assert len([size for size in sizes if size[2:] != (1, 1)]) == 14
    assert sizes[0] == (32, 1, 5, 5) and sizes[-1] == (15, 64)
    assert encoder(torch.zeros(2, 1, 84, 84)).shape == (2, 16)
