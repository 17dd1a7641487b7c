"""Weights with given means: exact where they exist, refused by name where they do not."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.weighting.tilting import OutsideHull, tilted


@pytest.fixture
def rows(rng):
    x = rng.normal(size=(500, 2)) * [1.0, 1e4] + [0.0, 3e5]
    level = np.eye(3)[rng.integers(3, size=500)]
    return np.column_stack([x, level])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


LABELS = ["a", "b", "c=0", "c=1", "c=2"]


def test_means_are_the_asked_ones_in_any_units_and_with_redundant_levels(rows, rng):
    asked = np.array([0.4, 3.05e5, 0.5, 0.3, 0.2])
    log_weight, _ = tilted(rows, rng.normal(size=500), asked, LABELS)
    found = np.exp(log_weight) @ rows
    # The solver stops at 1e-10 standard deviations; the bar is 1e-8.
    assert np.abs((found - asked) / rows.std(axis=0)).max() < 1e-8
    assert np.exp(log_weight).sum() == pytest.approx(1.0)


def test_the_tilt_is_exponential_in_the_features(rows, rng):
    start = rng.normal(size=500)
    log_weight, slope = tilted(rows[:, :1], start, np.array([0.3]), ["a"])
    rest = log_weight - start - rows[:, 0] * slope[0]
    assert np.ptp(rest) < 1e-9


def test_weights_that_have_the_means_stay_as_they_are(rows):
    asked = rows.mean(axis=0)
    log_weight, _ = tilted(rows, np.zeros(500), asked, LABELS)
    assert np.allclose(np.exp(log_weight), 1 / 500)


def test_raking_gives_the_margins_of_two_categories(rng):
    a, b = np.eye(2)[rng.integers(2, size=300)], np.eye(3)[rng.integers(3, size=300)]
    asked = np.array([0.7, 0.3, 0.2, 0.2, 0.6])
    x = np.hstack([a, b])
    log_weight, _ = tilted(x, np.zeros(300), asked, list("abcde"))
    assert np.abs(np.exp(log_weight) @ x - asked).max() < 1e-8
    # Iterative proportional fitting ends at the same table.
    table = np.array([[(a[:, i] * b[:, j]).sum() for j in range(3)] for i in range(2)]) / 300
    for _ in range(200):
        table *= (asked[:2] / table.sum(axis=1))[:, None]
        table *= asked[2:] / table.sum(axis=0)
    cells = np.array([[np.exp(log_weight) @ (a[:, i] * b[:, j]) for j in range(3)] for i in (0, 1)])
    assert np.allclose(cells, table, atol=1e-8)


def test_a_level_that_the_target_lacks_gets_no_weight(rows):
    asked = np.array([0.0, 3e5, 0.6, 0.4, 0.0])
    log_weight, _ = tilted(rows, np.zeros(500), asked, LABELS)
    assert np.isneginf(log_weight[rows[:, 4] == 1]).all()
    assert np.abs((np.exp(log_weight) @ rows - asked) / rows.std(axis=0)).max() < 1e-8


def test_a_mean_outside_the_rows_is_refused_by_name(rows):
    asked = rows.mean(axis=0)
    asked[1] = 1e6
    with pytest.raises(OutsideHull, match=r"of b lie outside"):
        tilted(rows, np.zeros(500), asked, LABELS)


def test_means_that_only_together_are_outside_are_refused_by_name(rng):
    # Each mean is within its column, but a and b are the same number.
    a = rng.uniform(size=200)
    x = np.column_stack([a, a, rng.normal(size=200)])
    with pytest.raises(OutsideHull, match=r"of (a|b)\b.* cannot be reached together"):
        tilted(x, np.zeros(200), np.array([0.3, 0.7, 0.0]), ["a", "b", "c"])
