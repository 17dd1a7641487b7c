"""When drift began, from p-values alone."""

from __future__ import annotations

import numpy as np

from isthmus.drifting.began import find_beginning


def beginning(p):
    labels = [str(k) for k in range(len(p))]
    return find_beginning(range(len(p)), labels, -np.log(p), [x < 0.003 for x in p], 0.95)


def test_none_without_an_alarm():
    assert beginning([0.5, 0.02, 0.9]) is None


def test_from_the_first_window_on():
    found = beginning([1e-6, 1e-5, 1e-6])
    assert (found.at, found.low, found.ended) == (0, 0, None)


def test_a_stretch_in_the_middle_ends():
    found = beginning([0.4, 0.7, 0.2, 1e-8, 1e-9, 1e-8, 0.6, 0.3, 0.8])
    assert (found.at, found.ended) == (3, 6)


def test_intervals_hold_the_beginning():
    # Level 0.95 over 300 series; three standard errors of that share are 0.038.
    rng, held = np.random.default_rng(0), 0
    for _ in range(300):
        z = rng.normal(size=30)
        z[12:] += 4.0
        from scipy.special import ndtr

        found = beginning(np.clip(ndtr(-z), 1e-15, 1.0))
        held += found is not None and found.low <= 12 <= found.high
    assert held / 300 >= 0.95 - 0.038


def test_a_window_without_any_surprise_is_no_obstacle():
    found = beginning([1.0, 1.0, 0.4, 1e-6, 1e-8, 1e-7])
    assert found is not None
    assert found.at == 3
