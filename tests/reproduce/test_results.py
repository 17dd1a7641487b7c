"""Numbers of many cells, and how they are written."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.reproduce import draw, record, results, show


def test_results_are_selected_and_averaged_along_a_path():
    cells = [
        {"problem": "a", "kl": {"bdre": [1.0, 3.0]}},
        {"problem": "b", "kl": {"bdre": [None, 5.0]}},
        {"problem": "a", "kl": {"bdre": [2.0, 7.0]}},
    ]
    assert results.select(cells, problem="b") == cells[1:2]
    assert results.distinct(cells, "problem") == ["a", "b"]
    assert results.values(cells, "kl", "bdre", 0) == [1.0, 2.0]
    assert results.values(cells, "kl", "tre") == []
    assert results.mean(cells, "kl", "bdre", -1) == 5.0
    assert results.averaged(cells, "kl", "bdre", 1) == "5.00 ± 2.00"


@pytest.mark.parametrize(
    ("write", "value", "told"),
    [
        (results.number, 203.317, "203.32"),
        (results.number, -0.0812, "-0.08"),
        (results.number, 42535.07, "4.3e+04"),
        (results.compact, 0.0412, "0.04"),
        (results.compact, 3.14, "3.1"),
        (results.compact, 183.2, "183"),
        (results.compact, 4.2e6, "4e+06"),
        (results.few, [1.23456789, -1e-9], [1.2346, -1e-09]),
        (show.duration, 4.2, "4 s"),
        (show.duration, 272, "5 min"),
        (show.duration, 7000, "1 h 57 min"),
        (draw.subscript, "m2", "m₂"),
        (draw.subscript, "p", "p"),
        (
            show.in_words,
            {"problem": "table2/40", "method": "bdre", "rows": 20000, "seed": 0},
            "table2/40, bdre, rows 20000, seed 0",
        ),
    ],
)
def test_numbers_and_cells_in_words(write, value, told):
    assert write(value) == told


def test_what_is_not_finite_is_left_out_of_a_root_mean_square():
    assert results.rms([3.0, 4.0, np.inf]) == pytest.approx(12.5**0.5, rel=1e-15)
    assert np.isnan(results.rms([np.nan]))


def test_a_cell_is_the_same_whatever_the_order_of_its_fields():
    assert record.key({"seed": 0, "method": "bdre"}) == record.key({"method": "bdre", "seed": 0})
    assert record.key({"seed": 0}) != record.key({"seed": 1})
