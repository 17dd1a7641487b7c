"""Networks of plain layers, and what they see."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from isthmus.neural import apply_stacked, mlp, seeded, stacked_mlps  # noqa: E402
from isthmus.neural.inputs import FrameInputs  # noqa: E402


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


def test_inputs_are_bounded_and_see_both_frames():
    frames = [SimpleNamespace(centre=np.zeros(2), whiten=np.eye(2) * w) for w in (1.0, 100.0)]
    Z = np.array([[0.01, 0.0], [1e12, -1e12]])
    out = FrameInputs(frames)(Z, Z)
    assert out.shape == (2, 6)
    # A hundredth is nothing in the wide frame, and one unit in the narrow one.
    assert out[0, 0] < 0.02 and out[0, 3] == pytest.approx(np.arcsinh(1.0))
    assert np.abs(out[1]).max() < 100
