"""NNBD and InfoNCE: their formulas, their bounds, and what holds for every estimator."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.base import clone

import isthmus

torch = pytest.importorskip("torch")

from isthmus.baselines import NNBD, InfoNCE  # noqa: E402
from isthmus.baselines.nnbd import BOUNDS, FEW_ROWS_BOUND, losses  # noqa: E402

LOSSES = ("lsif", "ukl", "binary-kl", "pu")
QUICK = {"width": 16, "depth": 1, "steps": 100, "lr": 1e-2, "batch_size": 64, "random_state": 0}


def two_normals(n: int, shift: float, seed: int = 0, d: int = 1):
    rng = np.random.default_rng(seed)
    return isthmus.stack(rng.normal(shift, 1, (n, d)), rng.normal(0, 1, (n, d)))


# NNBD: the formulas

# The functions f of the paper, and r as a function of the network's output.
F = {
    "lsif": lambda r, c: (r - 1) ** 2 / 2,
    "ukl": lambda r, c: r * np.log(r) - r,
    "binary-kl": lambda r, c: r * np.log(r) - (1 + r) * np.log1p(r),
    "pu": lambda r, c: np.log(1 - c * r) + c * r * (np.log(c * r) - np.log(1 - c * r)),
}
RATIO = {
    "lsif": lambda h, c: np.logaddexp(0, h),
    "ukl": lambda h, c: np.logaddexp(0, h),
    "binary-kl": lambda h, c: np.exp(h),
    "pu": lambda h, c: expit(h) / c,
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("bound", [1.5, 20.0])
def test_losses_are_those_of_the_paper(name, bound):
    c, kind, h = 1 / bound, losses()[name], np.linspace(-3, 1.5, 40)
    r, f, step = RATIO[name](h, c), F[name], 1e-6
    slope = (f(r * (1 + step), c) - f(r * (1 - step), c)) / (2 * step * r)
    t = torch.from_numpy(h)
    positive, rest = kind.positive(t).numpy(), kind.rest(t, c).numpy()
    # Constants have no gradient, so only differences count. Central differences of a smooth
    # function err by about step² and by rounding over step, 1e-10.
    for found, truth in ((positive, slope * r - f(r, c)), (rest + c * positive, slope)):
        np.testing.assert_allclose(found - found[0], truth - truth[0], atol=1e-7)
    assert positive.min() >= 0
    np.testing.assert_allclose(kind.log_ratio(h, c), np.log(r), atol=1e-12)
    # The start is a ratio of one, and nothing far away is infinite.
    start = kind.start(c)
    assert RATIO[name](start, c) == pytest.approx(1.0)
    assert np.isfinite(kind.log_ratio(np.array([-1e9, 1e9]), c)).all()
    # What is gained at rows of p is largest where r is the bound, or grows until there.
    h = np.linspace(-5, 30, 20_001)
    best = RATIO[name](h, c)[np.argmax(kind.rest(torch.from_numpy(h), c).numpy())]
    assert best == pytest.approx(bound, rel=0.02)


# NNBD: what it estimates


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_bounded_ratio_is_found(loss, seed):
    # q contains p with a share of 0.4, so that the ratio is at most 2.5.
    rng = np.random.default_rng(seed)
    n = 3000

    def draw_q(n):
        return np.where(rng.random(n) < 0.4, rng.normal(0, 1, n), rng.normal(2, 1, n))[:, None]

    X, y = isthmus.stack(rng.normal(0, 1, (n, 1)), draw_q(n))
    # A network this small needs no rows held out.
    how = {**QUICK, "steps": 400, "batch_size": 256, "random_state": seed, "validation": 0.0}
    model = NNBD(loss, bound=2.5, **how).fit(X, y)
    x = draw_q(4000)
    truth = norm.pdf(x[:, 0]) / (0.4 * norm.pdf(x[:, 0]) + 0.6 * norm.pdf(x[:, 0], 2))
    found = np.exp(model.log_ratio(x))
    # The ratio's variance is 0.6. The squared error of a fit of 49 parameters to n rows is about
    # 49 * 0.6 / n = 0.01, with a standard deviation that is smaller.
    assert np.mean((found - truth) ** 2) < 0.03


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bound", [5.0, 50.0])
def test_the_divergence_is_capped_near_the_logarithm_of_the_bound(loss, bound):
    X, y = two_normals(500, 15.0)
    model = NNBD(loss, bound=bound, **{**QUICK, "steps": 300}).fit(X, y)
    log_ratio = model.log_ratio(X[y == 1])
    # The truth is 112. The cap holds in the mean; that of "pu" holds everywhere.
    assert log_ratio.mean() < math.log(bound) + 0.7
    if loss == "pu":
        assert model.log_ratio(np.linspace(-1e3, 1e3, 50)[:, None]).max() <= math.log(bound)
        assert log_ratio.mean() > math.log(bound) - 0.3


def test_the_correction_keeps_a_flexible_network_from_fitting_its_own_rows():
    # Thirty rows in ten dimensions of the same distribution, and nothing held out.
    rng = np.random.default_rng(0)
    X, y = isthmus.stack(rng.normal(size=(30, 10)), rng.normal(size=(30, 10)))
    how = {**QUICK, "width": 64, "steps": 300, "validation": 0.0}
    free = NNBD("lsif", bound=2.0, correction=False, **how).fit(X, y)
    held = NNBD("lsif", bound=2.0, **how).fit(X, y)
    fresh = rng.normal(size=(500, 10))
    # The truth is one.
    errors = [np.mean((np.exp(model.log_ratio(fresh)) - 1) ** 2) for model in (held, free)]
    assert errors[0] < errors[1]
    # Uncorrected least squares grow without end at rows of p, that is far above the bound.
    assert np.exp(free.log_ratio(X[y == 1])).mean() > 2 * 2.0
    assert np.exp(held.log_ratio(X[y == 1])).mean() < 1.5 * 2.0


def test_the_bound_is_chosen_by_held_out_loss():
    X, y = two_normals(400, 6.0)
    model = NNBD("pu", **{**QUICK, "steps": 150}).fit(X, y)
    tried = model.selection_
    assert tuple(tried) == BOUNDS
    assert tried[model.bound_] < min(tried.values()) + 1e-5
    # The truth at rows of p is exp(18): a small bound is seen to be too small.
    assert model.bound_ > 5
    same = NNBD("pu", bound=model.bound_, **{**QUICK, "steps": 150}).fit(X, y)
    np.testing.assert_array_equal(same.log_ratio(X), model.log_ratio(X))
    few = NNBD("pu", **QUICK).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert few.bound_ == FEW_ROWS_BOUND and not few.selection_


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_samples_have_a_ratio_of_about_one(loss):
    X, y = two_normals(1500, 0.0)
    model = NNBD(loss, bound=3.0, **QUICK).fit(X, y)
    # The held-out loss stops before there is noise of more than a few standard errors,
    # each sqrt(2 / 1500) = 0.04 for one coefficient.
    assert np.abs(model.log_ratio([[-1.0], [0.0], [1.0]])).max() < 0.25


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "kl"}, "loss must be one of"),
        ({"bound": 1.0}, r"bound must be a number in \(1"),
        ({"bound": "large"}, "bound must be a number"),
        ({"correction": 1}, "correction must be True or False"),
        ({"width": 0}, "width must be an integer"),
        ({"depth": -1}, "depth must be an integer"),
        ({"batch_size": 2.5}, "batch_size must be an integer"),
        ({"steps": 0}, "steps must be an integer"),
        ({"steps": "many"}, "steps must be an integer"),
        ({"lr": -1.0}, "lr must be a number"),
        ({"weight_decay": -1.0}, "weight_decay must be a number"),
        ({"validation": 1.0}, "validation must be a number"),
        ({"patience": 0}, "patience must be an integer"),
    ],
)
def test_parameters_of_nnbd_that_do_not_fit_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        NNBD(**parameters).fit(*two_normals(20, 1.0))


# Both


def pairs(n: int, correlation: float, seed: int = 0, d: int = 1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, correlation * x + math.sqrt(1 - correlation**2) * rng.normal(size=(n, d))


INSTANCES = {
    **{loss: NNBD(loss, bound=5.0, **QUICK) for loss in LOSSES},
    "separable": InfoNCE(**QUICK, embedding=4),
    "joint": InfoNCE("joint", **{**QUICK, "steps": 30, "batch_size": 16}),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_what_holds_for_every_estimator(name):
    model = clone(INSTANCES[name])
    x, y = pairs(60, 0.8)
    rng = np.random.default_rng(1)
    X, label = isthmus.stack(np.hstack([x, y]), np.hstack([x, rng.permutation(y)]))
    test = rng.normal(size=(20, 2))
    found = model.fit(X, label).log_ratio(test)
    torch.manual_seed(3)
    state = torch.random.get_rng_state()
    # The same seed, another order of rows, weights for copies: the same bits.
    order = rng.permutation(len(X))
    np.testing.assert_array_equal(model.fit(X[order], label[order]).log_ratio(test), found)
    count = rng.integers(1, 4, len(X))
    weighted = model.fit(X, label, count).log_ratio(test)
    copied = model.fit(X.repeat(count, axis=0), label.repeat(count)).log_ratio(test)
    np.testing.assert_array_equal(weighted, copied)
    assert not np.array_equal(weighted, found)
    assert torch.equal(state, torch.random.get_rng_state())
    # Finite at any row, in any company, and after a journey through a file.
    far = np.array([[1e300, -1e300], [0.0, 0.0], [1e8, 1.0]])
    there = model.log_ratio(far)
    assert np.isfinite(there).all()
    np.testing.assert_allclose(model.log_ratio(far[1:2]), there[1:2], rtol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).log_ratio(far), there)


@pytest.mark.parametrize("name", INSTANCES)
def test_units_copies_and_constants_of_columns(name):
    model = clone(INSTANCES[name])
    x, y = pairs(80, 0.8)
    rng = np.random.default_rng(1)
    X, label = isthmus.stack(np.hstack([x, y]), np.hstack([x, rng.permutation(y)]))
    model = model.set_params(steps=20)
    found = model.fit(X, label).log_ratio(X)
    # Powers of two change no bit of the standardised rows, but the order of the batches.
    scaled = X * [2.0**27, 2.0**-27]
    assert np.isfinite(model.fit(scaled, label).log_ratio(scaled)).all()
    assert np.corrcoef(found, model.log_ratio(scaled))[0, 1] > 0.5
    odd = np.hstack([X, X[:, :1], np.full((len(X), 1), 1e8)])
    assert np.isfinite(model.fit(odd, label).log_ratio(odd)).all()
    with pytest.raises(ValueError, match="must vary in at least one column"):
        model.fit(np.zeros((20, 2)), np.arange(20) % 2)


# InfoNCE


@pytest.mark.parametrize("critic", ["separable", "joint"])
@pytest.mark.parametrize("seed", [0, 1])
def test_mutual_information_of_two_normals(critic, seed):
    how = {**QUICK, "steps": 400 if critic == "separable" else 200, "batch_size": 64}
    if critic == "joint":
        how["batch_size"] = 32
    nce = InfoNCE.from_pairs(
        *pairs(4000, 0.9, seed), critic=critic, **{**how, "random_state": seed}
    )
    truth = -0.5 * math.log(1 - 0.9**2)  # 0.83
    # A log-ratio's standard deviation is rho = 0.9, so that the mean of 4000 has a standard error
    # of 0.014. The bound lies below the truth by about (exp(2 I) - 1) / 2K = 0.07 for K = 32 and
    # by what the network lacks.
    for found in (nce.estimate(*pairs(4000, 0.9, seed + 100)), nce.mutual_information_):
        assert truth - 0.2 < found < truth + 4 * 0.9 / math.sqrt(600)


def test_no_log_ratio_exceeds_the_logarithm_of_the_batch():
    x, y = pairs(1000, 0.99, d=5)
    nce = InfoNCE.from_pairs(x, y, **{**QUICK, "batch_size": 8, "steps": 300})
    assert nce.largest_ == math.log(8)
    # The truth is 9.8: far above the cap, which is nearly reached and never passed.
    rows = np.hstack([x, y])
    assert nce.log_ratio(rows).max() <= math.log(8) + 1e-12
    assert math.log(8) - 0.3 < nce.estimate(x, y) <= math.log(8)


def test_the_ratio_has_mass_at_most_one_under_the_product_of_margins():
    x, y = pairs(3000, 0.9)
    nce = InfoNCE.from_pairs(x, y, **{**QUICK, "steps": 200})
    fresh = np.random.default_rng(7).permutation(y)
    ratio = np.exp(nce.log_ratio(np.hstack([x, fresh])))
    # What makes the mean log-ratio a lower bound. Four standard errors.
    assert ratio.mean() < 1 + 4 * ratio.std() / math.sqrt(len(ratio))
    assert ratio.mean() > 0.7


def test_pairs_are_columns():
    x, y = pairs(200, 0.7, d=2)
    how = {**QUICK, "steps": 30, "embedding": 4}
    by_pairs = InfoNCE.from_pairs(x, y, **how)
    rng = np.random.default_rng(3)
    X, label = isthmus.stack(np.hstack([x, y]), np.hstack([x, rng.permutation(y)]))
    np.testing.assert_array_equal(InfoNCE(**how).fit(X, label).log_ratio(X), by_pairs.log_ratio(X))
    # Names of columns do what their numbers do, wherever the columns are.
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    named = InfoNCE(columns_x=["c", "a"], **how).fit(frame, label)
    assert named.columns_x_.tolist() == [2, 0] and named.columns_y_.tolist() == [1, 3]
    numbered = InfoNCE(columns_x=[2, 0], **how).fit(X, label)
    np.testing.assert_array_equal(named.log_ratio(frame), numbered.log_ratio(X))
    mean = numbered.log_ratio(X[:50]).mean()
    assert named.estimate(X[:50, [2, 0]], X[:50, [1, 3]]) == pytest.approx(mean)


def test_weights_of_pairs():
    x, y = pairs(50, 0.7)
    count = np.random.default_rng(0).integers(1, 4, 50)
    how = {**QUICK, "steps": 20}
    a = InfoNCE.from_pairs(x, y, sample_weight=count, **how)
    b = InfoNCE.from_pairs(x.repeat(count, axis=0), y.repeat(count, axis=0), **how)
    assert a.mutual_information_ == b.mutual_information_


def test_independent_columns_have_no_information():
    rng = np.random.default_rng(0)
    nce = InfoNCE.from_pairs(rng.normal(size=(2000, 2)), rng.normal(size=(2000, 2)), **QUICK)
    # A network that has learned noise is below zero on new rows, one that has not is at zero.
    fresh = nce.estimate(rng.normal(size=(2000, 2)), rng.normal(size=(2000, 2)))
    assert -0.1 < fresh < 0.05


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"critic": "bilinear"}, "critic must be one of"),
        ({"batch_size": 1}, "batch_size must be an integer in"),
        ({"embedding": 0}, "embedding must be an integer in"),
        ({"columns_x": []}, "columns_x must hold some, but not all"),
        ({"columns_x": [0, 1]}, "columns_x must hold some, but not all"),
        ({"columns_x": [0, 0]}, "columns_x must hold some, but not all"),
        ({"columns_x": [2]}, "columns_x must hold some, but not all"),
        ({"columns_x": ["a"]}, "columns_x must hold some, but not all"),
        ({"columns_x": 0}, "columns_x must hold some, but not all"),
    ],
)
def test_parameters_of_info_nce_that_do_not_fit_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        InfoNCE(**parameters).fit(*two_normals(20, 1.0, d=2))


def test_pairs_that_do_not_fit_are_refused():
    x, y = pairs(20, 0.5)
    with pytest.raises(ValueError, match="x and y must have the same number of rows"):
        InfoNCE.from_pairs(x, y[:-1])
    nce = InfoNCE.from_pairs(x, y, **{**QUICK, "steps": 2})
    with pytest.raises(ValueError, match="y must have 1 columns"):
        nce.estimate(x, np.hstack([y, y]))
    with pytest.raises(ValueError, match="at least two columns"):
        InfoNCE().fit(*two_normals(20, 1.0))


def test_verbose_prints_what_training_does(capsys):
    NNBD("pu", bound=3.0, **{**QUICK, "steps": 20, "verbose": 1}).fit(*two_normals(50, 1.0))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 20 and lines[0].startswith("NNBD, bound 3: step 1 of 20, loss")
