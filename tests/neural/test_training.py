"""The training loop, its average of weights and its checkpoints."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from isthmus.baselines import NNBD  # noqa: E402
from isthmus.neural import Training, mlp, seeded, train  # noqa: E402
from isthmus.neural.average import Average  # noqa: E402
from isthmus.neural.parameters import training_of  # noqa: E402
from isthmus.neural.training import clip_gradient  # noqa: E402

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


def test_weights_that_two_layers_share_are_averaged_once():
    one = torch.nn.Linear(1, 1, bias=False)
    module = torch.nn.Sequential(one, one)
    before = one.weight.item()
    weights = Average(module)
    with torch.no_grad():
        one.weight.fill_(before + 1.0)
    weights.follow(0.5)
    with weights.in_place():
        assert one.weight.item() == pytest.approx(before + 0.5)


@pytest.mark.parametrize("most", [0.1, 1e6])
def test_clipping_is_that_of_torch(most):
    modules = []
    for _ in range(2):
        module, loss, _ = regression()
        loss(torch.Generator().manual_seed(0)).backward()
        modules.append(module)
    size = clip_gradient(list(modules[0].parameters()), most)
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


def test_parameters_of_an_estimator_make_its_training():
    how = training_of(NNBD(steps=1000, lr=0.1, patience=3))
    assert how == Training(steps=1000, lr=0.1, patience=3, every=50)
    assert training_of(NNBD(steps=5)).every == 1
    assert training_of(NNBD(steps=80), 40, start=True).start
