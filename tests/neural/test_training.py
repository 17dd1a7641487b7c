"""The training loop, its checkpoints, balanced batches, and the bridges of TRE."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

torch = pytest.importorskip("torch")

from isthmus.neural import (  # noqa: E402
    ClassBatches,
    Standard,
    Training,
    apply_stacked,
    distinct,
    fit_bridges,
    mlp,
    seeded,
    stacked_mlps,
    train,
)
from isthmus.neural.average import Average  # noqa: E402
from isthmus.neural.training import _clip  # noqa: E402

QUICK = Training(steps=100, every=10, patience=100, lr=1e-2)


def regression(seed: int = 0, *, dropout: float = 0.0, shift: float = 0.0):
    """A small network, its loss on batches and its loss on rows held out."""
    rng = np.random.default_rng(seed)
    x = torch.as_tensor(rng.normal(size=(200, 3)), dtype=torch.float32)
    target = (x[:, :1] * x[:, 1:2] + shift).contiguous()
    with seeded(np.random.default_rng(seed)):
        layers = [*mlp(3, 8, width=8, depth=1), torch.nn.Dropout(dropout)]
        module = torch.nn.Sequential(*layers, torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))

    def loss(generator):
        rows = torch.randint(150, (32,), generator=generator)
        return ((module(x[rows]) - target[rows]) ** 2).mean()

    def held_out():
        return ((module(x[150:]) - target[150:]) ** 2).mean().item()

    return module, loss, held_out


def run(how: Training, seed: int = 0, dropout: float = 0.0, shift: float = 0.0, **others):
    module, loss, held_out = regression(seed, dropout=dropout, shift=shift)
    rng = np.random.default_rng(seed)
    report = train(module, loss, rng=rng, held_out=held_out, settings=how, **others)
    return {name: value.clone() for name, value in module.state_dict().items()}, report


def same(a, b) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


class Interrupted(Exception):
    pass


def interrupt(after: int):
    def progress(done, total, what):
        if done == after:
            raise Interrupted

    return progress


# The loop


def test_the_same_seed_gives_the_same_weights_and_another_one_others():
    first, again, other = run(QUICK)[0], run(QUICK)[0], run(QUICK, seed=1)[0]
    assert same(first, again)
    assert not same(first, other)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_an_interrupted_run_ends_with_the_same_bits(tmp_path, dropout):
    straight, report = run(QUICK, dropout=dropout)
    how = replace(QUICK, checkpoint=tmp_path / "deep" / "run.pt")
    with pytest.raises(Interrupted):
        run(how, dropout=dropout, progress=interrupt(50))
    resumed, second = run(how, dropout=dropout)
    assert same(straight, resumed)
    assert vars(report) == vars(second)
    # The file of a run that is done gives its result.
    assert same(straight, run(how, dropout=dropout)[0])
    assert [path.name for path in how.checkpoint.parent.iterdir()] == ["run.pt"]


def test_torch_s_own_generator_is_left_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    run(QUICK, dropout=0.3)
    assert torch.equal(before, torch.random.get_rng_state())


class Trap:
    """Unpickling it would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_file_that_is_no_checkpoint_is_refused_and_not_executed(tmp_path):
    how = replace(QUICK, checkpoint=tmp_path / "run.pt")
    sprung = tmp_path / "sprung"
    contents = (b"", b"garbage", pickle.dumps(Trap(sprung)), pickle.dumps({"format": 1}))
    for content in contents:
        how.checkpoint.write_bytes(content)
        with pytest.raises(ValueError, match=r"checkpoint must be a file .* Delete it"):
            run(how)
    torch.save({"format": 1, "module": Trap(sprung)}, how.checkpoint)
    with pytest.raises(ValueError, match="checkpoint must be a file"):
        run(how)
    assert not sprung.exists()


def test_the_checkpoint_of_another_run_is_refused(tmp_path):
    how = replace(QUICK, checkpoint=tmp_path / "run.pt")
    run(how)
    for other in ({"seed": 1}, {"shift": 0.1}):
        with pytest.raises(ValueError, match="same data, settings and random_state"):
            run(how, **other)
    # Parts that do not fit each other.
    state = torch.load(how.checkpoint, weights_only=True)
    for part in ("module", "optimiser", "weights", "report"):
        torch.save({**state, part: {}}, how.checkpoint)
        with pytest.raises(ValueError, match="checkpoint must be a file"):
            run(how)


def test_the_weights_kept_are_those_of_the_lowest_held_out_loss():
    module, loss, held_out = regression()
    seen = []

    def judge():
        seen.append(held_out())
        return seen[-1]

    how = replace(QUICK, steps=400, patience=4, lr=0.05)
    report = train(module, loss, rng=np.random.default_rng(0), held_out=judge, settings=how)
    assert report.held_out == min(seen) == held_out()
    assert report.best_step == how.every * (1 + int(np.argmin(seen)))
    assert report.stopped_early and report.steps == report.best_step + 4 * how.every < 400


def test_a_held_out_loss_that_is_not_finite_is_never_the_best():
    module, loss, _ = regression()
    values = iter([math.nan, 3.0, math.nan, math.inf, 2.0, math.nan])
    how = replace(QUICK, steps=60)
    rng = np.random.default_rng(0)
    report = train(module, loss, rng=rng, held_out=lambda: next(values), settings=how)
    assert (report.held_out, report.best_step) == (2.0, 50)
    with pytest.raises(FloatingPointError, match="held-out loss must be finite"):
        train(module, loss, rng=rng, held_out=lambda: math.nan, settings=how)


def test_a_loss_or_gradient_that_is_not_finite_is_an_error():
    module = torch.nn.Linear(1, 1, bias=False)
    for loss, what in (
        (lambda g: module.weight.sum() * math.nan, "loss"),
        # The root is finite at zero and its slope is not.
        (lambda g: (module.weight * 0.0).sum().sqrt(), "gradient of the loss"),
    ):
        with pytest.raises(FloatingPointError, match=f"the {what} must be finite.*step 1"):
            train(module, loss, rng=np.random.default_rng(0), settings=QUICK)


def test_history_progress_and_watch():
    told, calls = [], []

    def watch():
        calls.append(torch.is_grad_enabled())
        return {"looks": np.float64(len(calls))}

    _, report = run(QUICK, watch=watch, progress=lambda *what: told.append(what))
    assert [row["step"] for row in report.history] == list(range(10, 101, 10))
    assert [row["looks"] for row in report.history] == list(range(1, 11))
    assert calls == [False] * 10
    assert {"step", "loss", "lr", "held_out", "looks"} == set(report.history[0])
    assert [done for done, *_ in told] == list(range(10, 101, 10))
    assert all(total == 100 and "held out" in what for _, total, what in told)


def test_without_a_held_out_loss_the_last_average_is_kept():
    module, loss, _ = regression()
    report = train(module, loss, rng=np.random.default_rng(0), settings=QUICK)
    assert (report.steps, report.best_step, report.stopped_early) == (100, 100, False)
    assert math.isnan(report.held_out) and "held_out" not in report.history[0]
    assert not module.training


def test_the_average_is_that_of_the_weights_at_every_step():
    module = torch.nn.Linear(1, 1, bias=False)
    how = Training(steps=150, average=0.9, lr=0.1, every=1, warmup=0.0)
    weights, averages = [], []

    def loss(generator):
        weights.append(module.weight.item())
        return (module.weight**2).sum()

    def watch():
        averages.append(module.weight.item())
        return {}

    train(module, loss, rng=np.random.default_rng(0), settings=how, watch=watch)
    mean = weights[0]
    # The weights after a step are what the next step's loss sees.
    for step, weight in enumerate(weights[1:], start=1):
        decay = min(0.9, step / (step + 10))
        mean = decay * mean + (1 - decay) * weight
        # Rounding of single precision, over some steps.
        assert averages[step - 1] == pytest.approx(mean, abs=1e-6)
    assert module.weight.item() == averages[-1]


def test_average_copies_counters_and_gives_the_weights_back():
    module = torch.nn.BatchNorm1d(2)
    weights = Average(module)
    with torch.no_grad():
        module.weight.fill_(3.0)
        module.num_batches_tracked.fill_(7)
    weights.follow(0.5)
    with weights.in_place():
        assert module.weight.tolist() == [2.0, 2.0] and int(module.num_batches_tracked) == 7
    assert module.weight.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("most", [0.1, 1e6])
def test_clipping_is_that_of_torch(most):
    modules = []
    for _ in range(2):
        module, loss, _ = regression()
        loss(torch.Generator().manual_seed(0)).backward()
        modules.append(module)
    size = _clip(list(modules[0].parameters()), most)
    other = torch.nn.utils.clip_grad_norm_(modules[1].parameters(), most)
    # Rounding of single precision.
    assert size == pytest.approx(float(other), rel=1e-5)
    for a, b in zip(modules[0].parameters(), modules[1].parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-5, atol=1e-8)


def test_the_rate_rises_then_falls_to_a_hundredth():
    how = Training(steps=1000, warmup=0.1)
    rates = [how.rate(step) for step in range(1001)]
    assert rates[0] == 0.01 and max(rates) == rates[99] == rates[100] == 1.0
    assert np.all(np.diff(rates[:100]) > 0) and np.all(np.diff(rates[100:]) < 0)
    assert rates[1000] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("name", "value"),
    [("steps", 0), ("steps", 1.5), ("lr", 0.0), ("lr", "fast"), ("average", 1.0), ("clip", -1)],
)
def test_settings_that_do_not_fit_are_refused(name, value):
    module, loss, _ = regression()
    with pytest.raises(ValueError, match=f"{name} must be .* received {value!r}"):
        train(module, loss, rng=np.random.default_rng(0), settings=Training(**{name: value}))


# Rows


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
    a = distinct(rows[order], counts[order].astype(float))
    b = distinct(rows.repeat(counts, axis=0))
    np.testing.assert_array_equal(a[0], b[0])
    np.testing.assert_array_equal(a[1], b[1])
    assert len(np.unique(a[0], axis=0)) == len(a[0]) == len(np.unique(rows + 0.0, axis=0))
    assert a[1].sum() == counts.sum()


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e150])
def test_standard_pools_classes_with_equal_mass(scale):
    rng = np.random.default_rng(0)
    p, q = rng.normal(3, 1, (4000, 2)), rng.normal(-3, 1, (100, 2))
    p[:, 1] = q[:, 1] = 5.0
    standard = Standard.fit([p * scale, q * scale])
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
    batches = ClassBatches([p, q], [weight, None], batch_size=16, rng=rng)
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
        batches = ClassBatches(
            [p, q], [weight, None], batch_size=8, validation=0.3, rng=np.random.default_rng(1)
        )
        return batches.draw(torch.Generator().manual_seed(0)), batches.held

    a, held_a = drawn(p.repeat(count, axis=0), None)
    b, held_b = drawn(p[order], count[order].astype(float))
    assert torch.equal(a, b)
    for first, second in zip(held_a, held_b, strict=True):
        assert torch.equal(first[0], second[0]) and torch.equal(first[1], second[1])


def test_copies_are_held_out_together_and_pairs_too():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 30, (300, 1)).astype(float)
    batches = ClassBatches([rows], batch_size=4, validation=0.2, rng=rng)
    held = set(batches.held[0][0].flatten().tolist())
    assert len(held) == 6 and not held & set(batches._rows.flatten().tolist())

    p = rng.normal(size=(50, 1))
    paired = ClassBatches([p, p, p], batch_size=4, validation=0.2, rng=rng, paired=True)
    first = paired.held[0][0]
    assert len(first) == 10 and all(torch.equal(first, rows) for rows, _ in paired.held)


def test_too_few_rows_to_hold_out_are_all_trained_on():
    rng = np.random.default_rng(0)
    batches = ClassBatches(
        [np.zeros((3, 1)), np.arange(20.0)[:, None]], batch_size=4, rng=rng, validation=0.2
    )
    assert batches.held is None and batches.sizes == [1, 20]


def test_stacked_networks_are_networks():
    with seeded(np.random.default_rng(0)):
        stacked = stacked_mlps(3, 2, width=5, depth=2)
    # What starts at zero is moved, or there would be nothing to see.
    with torch.no_grad():
        stacked[-2].normal_(generator=torch.Generator().manual_seed(0))
    x = torch.ones(4, 3)
    found = apply_stacked(stacked, x)
    for k in range(2):
        net = mlp(3, 1, width=5, depth=2)
        linear = [part for part in net if hasattr(part, "weight")]
        for i, part in enumerate(linear):
            part.weight.data = stacked[2 * i][k].detach().T.clone()
            part.bias.data = stacked[2 * i + 1][k, 0].detach().clone()
        torch.testing.assert_close(found[k], net(x)[:, 0])
    blocks = apply_stacked(stacked, torch.stack([x, 2 * x]))
    torch.testing.assert_close(blocks[0], found[0])


# Bridges

MEANS = (1.5, 0.75, 0.0)
HOW = Training(steps=300, lr=5e-3, every=25)


def chain(n: int, seed: int):
    rng = np.random.default_rng(seed)
    return [rng.normal(mean, 1, (n, 1)) for mean in MEANS]


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
    bridges = fit_bridges(samples, shared=shared, width=8, depth=1, settings=QUICK, rng=rng)
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

    def found(p, weight):
        rng = np.random.default_rng(0)
        bridges = fit_bridges(
            [p, q], weights=[weight, None], width=8, depth=1, settings=QUICK, rng=rng
        )
        return bridges.log_ratios(np.linspace(-2, 2, 9)[:, None])

    np.testing.assert_array_equal(
        found(p, count.astype(float)), found(p.repeat(count, axis=0), None)
    )


def test_one_sample_makes_no_bridge():
    with pytest.raises(ValueError, match="samples must hold at least two"):
        fit_bridges([np.zeros((5, 1))], rng=np.random.default_rng(0))
