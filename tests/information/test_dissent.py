"""Where two ways to a number contradict each other, and where no number can be trusted."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import mi_matrix, mutual_information
from isthmus.diagnostics.check import Check
from isthmus.information.dissent import reached
from isthmus.information.result import Answer


def test_what_determines_each_other_is_not_trusted():
    x = np.random.default_rng(0).normal(size=300)
    with pytest.warns(UserWarning, match="determine each other"):
        found = mutual_information(x, np.exp(x), random_state=0)
    assert not found.trusted
    assert found.diagnostics["function"].verdict == "fail"
    assert np.isinf(found.high)


def test_the_matrix_and_the_careful_way_overlap():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=600)
    y = np.round(np.sin(6 * x) + 0.3 * rng.normal(size=600), 1)
    one = mutual_information(x, y, random_state=0)
    other = mi_matrix({"x": x, "y": y}, random_state=0).pair("x", "y")
    assert one.low <= other.high
    assert other.low <= one.high
    assert not other.trusted or one.low <= other.value <= one.high


def test_an_interval_reaches_down_and_up_to_a_dissenter():
    found = Answer(0.9, 0.01, "mixture", further=(0.05, 0.01))
    assert reached(found, Answer(0.7, 0.01, "neighbours")).further == pytest.approx((0.2, 0.01))
    assert reached(found, Answer(1.1, 0.01, "neighbours")).further == pytest.approx((0.05, 0.2))


def test_of_a_dissenter_that_fails_only_what_is_proven_counts():
    failing = {"learning": Check(1.0, "fail", "Too few rows.")}
    other = Answer(2.0, 0.01, "neighbours", checks=failing, proven=(1.0, 0.01))
    assert reached(Answer(0.9, 0.01, "mixture"), other).further == pytest.approx((0.0, 0.08))
