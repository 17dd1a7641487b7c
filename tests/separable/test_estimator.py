"""The separable critic as an estimator, on small images."""

from __future__ import annotations

import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

torch = pytest.importorskip("torch")

from isthmus.neural import seeded  # noqa: E402
from isthmus.neural.checkpoint import Checkpoint  # noqa: E402
from isthmus.problems.omniglot import SpatialMultiOmniglot, drawn_alphabets  # noqa: E402
from isthmus.separable import (  # noqa: E402
    PUBLISHED,
    OmniglotSource,
    PairArrays,
    SeparableRatio,
    linear_probe,
    residual_encoder,
)

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


def test_calibration_scales_every_bridge_and_nothing_else():
    u, v = small_pairs()
    plain, scaled = (small(calibrate=each).fit(u, v) for each in (False, True))
    before, after = (each.critic_.weight.detach().numpy() for each in (plain, scaled))
    factor = after[:, 0, 0] / before[:, 0, 0]
    assert after == pytest.approx(factor[:, None, None] * before, rel=1e-4, abs=1e-7)
    # Nothing else would change them: without calibration the ratio is one to the bit.
    assert (np.abs(factor - 1) > 1e-5).all()
    assert (plain.embed(u) == scaled.embed(u)).all()
    # Without held-out pairs there is nothing to do.
    none = small(calibrate=True, validation=0).fit(u, v).log_ratio(u, v)
    assert (none == small(calibrate=False, validation=0).fit(u, v).log_ratio(u, v)).all()


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
    original = Checkpoint.save

    def stop_after_four(self, *args, **more):
        original(self, *args, **more)
        saved.append(1)
        if len(saved) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", stop_after_four)
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
    # Channels lie beside one another in memory, which is quicker, and is the same function.
    images = torch.randn(4, 1, 84, 84)
    for parts in ({}, PUBLISHED):
        encoder = residual_encoder(16, size=(84, 84), **parts).eval()
        filters = [each.weight for each in encoder.modules() if isinstance(each, torch.nn.Conv2d)]
        assert all(each.is_contiguous(memory_format=torch.channels_last) for each in filters)
        found = encoder(images)
        for each in filters:
            each.data = each.data.contiguous()
        # Sums of a few thousand numbers of 24 bits in another order.
        torch.testing.assert_close(encoder(images), found, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("encoder", ["dense", "cells", "whole"])
def test_embeddings_depend_on_their_image_alone_once_trained(encoder):
    u, v = small_pairs()
    model = small(encoder=encoder, norm="batch", precision="bfloat16").fit(u, v)
    kinds = [type(each).__name__ for each in model.critic_.modules()]
    assert any(kind.startswith("BatchNorm") for kind in kinds)
    # In single precision, whatever they were trained in.
    assert model.embed(u[:1]) == pytest.approx(model.embed(u)[:1], rel=1e-4, abs=1e-5)
    plain = small(encoder=encoder, norm="none").fit(u, v)
    kinds = [type(each).__name__ for each in plain.critic_.modules()]
    assert not any(kind.startswith("BatchNorm") for kind in kinds)


def test_whole_grids_learn_from_families_of_pairs():
    """Of a source that can draw them, in a few steps; the accuracies are those of held-out rows."""
    problem = SpatialMultiOmniglot.largest(drawn_alphabets([3, 2], rng=1), 4)
    source = OmniglotSource(problem, per_character=20)
    how = {"channels": (8, 8, 8), "pool": "mean", "embedding": 8, "batch_size": 32}
    model = SeparableRatio(
        grid=(2, 2), encoder="whole", steps=60, lr=3e-3, patience=20, random_state=0, **how
    )
    history = model.fit_source(source, source).training_.history
    # Five classes: chance has log 5.
    assert min(row["held_out"] for row in history) < math.log(5) - 0.1


def test_the_probe_is_the_linear_discriminant():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=(900, 2))
    x = rng.normal(size=(4, 3))[labels[:, 0]] + rng.normal(size=(900, 3)) * (1, 2, 0.5)
    x[:, 2] += 0.3 * labels[:, 1]
    found = linear_probe(x[:600], labels[:600], x[600:], labels[600:], ridge=1e-9)
    for share, label in zip(found, labels.T, strict=True):
        model = LinearDiscriminantAnalysis().fit(x[:600], label[:600])
        assert share == pytest.approx(model.score(x[600:], label[600:]), abs=1e-12)
    # Chance has one in four.
    assert found[0] > 0.4
    with pytest.raises(ValueError, match="ridge"):
        linear_probe(x, labels, x, labels, ridge=0)
