"""Smooth surfaces in directions that they find."""

from __future__ import annotations

import numpy as np

from isthmus.information.surfaces import Surface


def _sum(x):
    return np.sin(2.0 * (x[:, 0] + x[:, 1]))


def test_gradients_are_those_of_the_function():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3)) * [1.0, 10.0, 0.1]
    root = rng.normal(size=(3, 3)) / [1.0, 10.0, 0.1]
    found = Surface(root, 4.0, 1e-4).fit(x, x[:, 0] * x[:, 2])
    slopes = found.gradients(x[:20])
    for k, unit in enumerate([1.0, 10.0, 0.1]):
        step = np.zeros(3)
        step[k] = 1e-5 * unit
        numeric = (found(x[:20] + step) - found(x[:20] - step)) / (2 * step[k])
        np.testing.assert_allclose(slopes[:, k], numeric, rtol=1e-5, atol=1e-6 / unit)


def test_the_metric_keeps_the_direction_that_matters():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 6))
    found = Surface.sought(x, _sum(x) + 0.1 * rng.normal(size=3000))
    _, sizes, directions = np.linalg.svd(found.root)
    along = np.array([1.0, 1.0, 0, 0, 0, 0]) / np.sqrt(2.0)
    assert abs(directions[0] @ along) > 0.99
    assert sizes[1] < 0.2 * sizes[0]
    # The variance of what is learned is one half, and that of the noise a hundredth.
    fresh = rng.normal(size=(2000, 6))
    assert np.mean((found.fit(x, _sum(x))(fresh) - _sum(fresh)) ** 2) < 0.02


def test_units_and_constant_columns_do_not_count():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1500, 3))
    y = _sum(x) + 0.1 * rng.normal(size=1500)
    told = Surface.sought(x, y).fit(x, y)(x)
    other = np.column_stack([x * [1e6, 1e-6, 1.0], np.full(1500, 7.0)])
    again = Surface.sought(other, y).fit(other, y)(other)
    # Centres and rounds are the same; one more column shares in what is added everywhere.
    np.testing.assert_allclose(again, told, atol=0.02)


def test_a_constant_target_is_told_as_it_is():
    x = np.random.default_rng(3).normal(size=(200, 2))
    flat = np.full(200, 3.0)
    np.testing.assert_allclose(Surface.sought(x, flat).fit(x, flat)(x), flat)
