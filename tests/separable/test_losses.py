"""What is learned: the losses of MDRE, TRE, the single ratio and InfoNCE, and calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from isthmus.separable.losses import METHODS, Method, best_scales, capped  # noqa: E402


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


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
