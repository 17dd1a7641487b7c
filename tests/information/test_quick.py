"""Two single columns, quickly: intervals, ties, and what speaks against a number."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import mutual_information
from isthmus.data.seeds import Seeds
from isthmus.information.binned import in_bins, led_on
from isthmus.information.finishing import finished
from isthmus.information.neighbours import check_sign, ksg_terms
from isthmus.information.quick import quick_information
from isthmus.information.result import Answer
from isthmus.information.single import SingleColumn
from isthmus.information.values import read_values


def quick(x, y, seed=0):
    seeds = Seeds(seed)
    pair = (SingleColumn(n, read_values(v, n), seeds) for n, v in (("x", x), ("y", y)))
    return finished(quick_information(*pair), len(x), 0.95)


def normals(n, rho, seed=0):
    rng = np.random.default_rng(seed)
    x, e = rng.normal(size=(2, n))
    return x, rho * x + np.sqrt(1.0 - rho**2) * e


@pytest.mark.parametrize("step", [0.0, 0.01, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_neighbours_of_tied_values_are_not_negative(step, rho):
    n = 3000
    x, y = (np.round(each / step) if step else each for each in normals(n, rho))
    terms = ksg_terms(x[:, None], y[:, None])
    error = terms.std() / np.sqrt(n)
    assert terms.mean() > -4 * error
    found = mutual_information(x, y, method="ksg", discrete_x=False, discrete_y=False)
    assert found.trusted and found.unclipped > -4 * found.std_error
    if rho and step:
        # What rounding leaves is less than all, and more than that of wider bins of both.
        wide = np.histogram2d(np.round(x * step / 3), np.round(y * step / 3))[0] / n
        product = np.outer(wide.sum(1), wide.sum(0))
        least = float((wide[wide > 0] * np.log(wide[wide > 0] / product[wide > 0])).sum())
        assert least - 0.05 < terms.mean() < -0.5 * np.log(1 - rho**2) + 4 * error


def test_ties_of_one_side_alone():
    x, y = normals(3000, 0.9)
    terms = ksg_terms(np.round(x)[:, None], y[:, None])
    # 0.6889 by the integral over y of the probabilities of the whole numbers; four standard errors.
    assert terms.mean() == pytest.approx(0.6889, abs=4 * terms.std() / np.sqrt(3000))
    assert ksg_terms(np.ones((50, 1)), y[:50, None]).mean() == pytest.approx(0.0, abs=1e-12)


def test_rows_that_avoid_each_other_are_not_taken_for_nothing():
    # A timetable: every place has one row in every hour, which no independent draws have.
    hour, place = (each.ravel() for each in np.meshgrid(np.arange(60.0), np.arange(60.0)))
    assert check_sign(-0.1, 0.01).verdict == "fail"
    found = mutual_information(hour, place, method="ksg", random_state=0)
    assert found.value == 0.0 and not found.trusted
    assert found.reason == "nearest neighbours give a negative number"
    assert quick(hour, place).low == 0.0


@pytest.mark.parametrize(
    ("rho", "n"), [(0.0, 100), (0.0, 2000), (0.3, 1000), (0.8, 200), (0.8, 2000), (0.999, 2000)]
)
def test_intervals_of_the_normal_copula(rho, n):
    truth = -0.5 * np.log1p(-(rho**2))
    held = 0
    for seed in range(8):
        x, y = normals(n, rho, seed)
        found = quick(np.exp(x), y**3, seed)
        held += found.low <= truth <= found.high
    # Of 8 intervals of 95 % fewer than 6 hold the truth once in 200 times.
    assert held >= 6


def test_independent_columns_in_few_rows():
    rng = np.random.default_rng(0)
    sure = 0
    for k in range(60):
        x, y = rng.normal(size=60), np.round(rng.exponential(20, 60))
        found = quick(x, y, k)
        assert 0 <= found.value < 0.3
        sure += found.low > 0
    # With 2.5 % of the intervals above zero more than six of 60 are so once in 1,500 times.
    assert sure <= 6


def test_whole_minutes_keep_what_bins_show():
    rng = np.random.default_rng(0)
    late = np.round(rng.exponential(10, 4000) - 5)
    later = np.round(late + 8 * rng.normal(size=4000))
    found = quick(late, later)
    careful = led_on(
        *(
            quick_information(
                *(
                    SingleColumn(n, read_values(in_bins(v, m), n, discrete=True), Seeds(0))
                    for n, v in (("x", late), ("y", later))
                )
            )
            for m in (20, 10)
        )
    )
    assert found.trusted
    assert careful.value - careful.further[0] - 3 * careful.std_error < found.high


@pytest.mark.parametrize("levels", [40, 400])
def test_many_labels_do_not_seem_to_share(levels):
    rng = np.random.default_rng(0)
    x = np.array([f"l{k}" for k in rng.integers(levels, size=800)])
    for y in (rng.integers(3, size=800), rng.normal(size=800)):
        assert quick(x, y).low == 0.0
        assert quick(x, y).value < 0.12


def test_values_that_repeat_are_counted_where_pairs_of_them_have_rows():
    rng = np.random.default_rng(0)
    place = rng.integers(60, size=3000)
    distance = (97 * place) % 61 + 100  # a function, in no order
    found = quick(distance.astype(float), np.array([f"p{k}" for k in place]))
    entropy = -sum(p * np.log(p) for p in np.bincount(place) / 3000)
    assert found.method == "table"
    assert found.low < entropy <= found.high + 1e-9 and found.value > 0.98 * entropy


def test_bins_that_are_too_coarse_are_not_trusted():
    fine, coarse = Answer(2.6, 0.01, "table", most=2.64), Answer(1.9, 0.01, "table", most=1.95)
    found = finished(led_on(fine, coarse), 1000, 0.95)
    assert not found.trusted and found.high == np.inf


def test_a_curve_in_part_of_the_rows_is_not_trusted():
    x = np.random.default_rng(0).normal(size=2000)
    found = quick(x, np.where(x > 0, x, 0.0))
    assert found.one_sided and "more rows" in found.reason


def test_few_rows_may_hide_a_square():
    x, e = np.random.default_rng(1).normal(size=(2, 60))
    found = quick(x, x**2 + 0.1 * e)
    assert found.value > 0.2


def test_shared_sentinels_are_named():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 500))
    x[:10] = y[:10] = -9999.0
    assert any("in the same 10 rows" in note for note in quick(x, y).notes)
