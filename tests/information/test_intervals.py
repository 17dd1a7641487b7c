"""How far the interval of a mutual information reaches for what other estimates say."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import mutual_information
from isthmus.data.holdout import random_folds
from isthmus.information.copulas import GaussianRatio, Independence
from isthmus.information.evaluation import evaluate


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_neighbours_that_say_more_by_chance_leave_the_interval_short(seed):
    z, x, y = np.random.default_rng(seed).normal(size=(3, 2000))
    found = mutual_information(z + x, np.column_stack([z + y, z]), random_state=0)
    truth = 0.5 * np.log(2)
    # The standard error is .016: two of them, and as much again for what the families leave open.
    assert found.trusted and found.low < truth < found.high < found.value + 4 * 0.016


def test_how_far_ahead_is_in_standard_errors():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 500, 1))
    splits = random_folds(500, 5, rng)
    normal, none = (
        evaluate(kind(x, 0.5 * x + noise), splits, rng) for kind in (GaussianRatio, Independence)
    )
    gain = normal.joint - none.joint
    assert normal.ahead(none) == pytest.approx(
        (normal.score - none.score) * np.sqrt(len(gain)) / gain.std(), rel=0.01
    )
    assert normal.ahead(none) == pytest.approx(-none.ahead(normal))
    assert normal.ahead(normal) == 0.0 and not normal.beats(normal, 0.0)


def test_a_spread_that_varies_has_an_upper_end_from_few_rows():
    truth, known = 0.432, 0
    for seed in range(4):
        x, noise = np.random.default_rng(seed).normal(size=(2, 500))
        found = mutual_information(x, np.exp(x) * noise, random_state=0)
        assert found.low < truth < found.high
        known += np.isfinite(found.high)
    assert known >= 3
