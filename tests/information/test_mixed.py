"""Numbers beside levels, missing numbers, and a third argument: sums of quick terms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isthmus import mutual_information
from isthmus.data.seeds import Seeds
from isthmus.diagnostics.check import Check
from isthmus.information.binned import binned_information
from isthmus.information.combining import Part, strata, summed, worst
from isthmus.information.copulas import gaussian_information
from isthmus.information.discrete import pair_information
from isthmus.information.given import conditional_information
from isthmus.information.labels import label_information
from isthmus.information.result import Answer
from isthmus.information.values import Values, read_values

HALF = 0.5 * np.log(2)  # of x and x + noise, both normal with variance one


def pair(x, y):
    """Mutual information with normal copulas for numbers, and bins for one column and a label."""

    def numbers(a, b):
        return Answer(*gaussian_information(a.scores, b.scores), "gaussian")

    def labels(rows, label):
        if len(rows.numbers) == 1 and not rows.categories:
            return binned_information(rows, label.array, Seeds(0))
        return label_information(rows, label.array, Seeds(0), 5)

    return pair_information(x, y, Seeds(0), 5, numbers, labels)


def covers(answer, truth):
    low, high = (
        answer.value + sign * (2.6 * answer.std_error + answer.further[sign > 0])
        for sign in (-1, 1)
    )
    return low <= truth <= high


def test_the_chain_rule_for_numbers_beside_text():
    a, noise = np.random.default_rng(0).normal(size=(2, 600))
    x = read_values({"a": a, "sign": np.where(noise > 0, "plus", "minus")}, "x")
    y = read_values(a + noise, "y")
    # The sign is one half of what is left to know of y.
    truth = HALF + np.log(2)
    found = pair(x, y)
    assert covers(found, truth)
    assert found.further[0] + found.further[1] < 0.3
    assert {"labels", "classes", "learning"} <= set(found.checks)


def test_levels_alone_on_both_sides():
    rng = np.random.default_rng(0)
    codes = rng.integers(8, size=(600, 3))
    x = Values(codes.astype(float), False, (0, 1, 2), names=("a", "b", "c"))
    label = Values((codes[:, 0] % 2).astype(np.intp), True)
    # Eight levels and more stand for themselves, in one regression.
    assert covers(pair(x, label), np.log(2))
    # Two groups of few levels are one table.
    small = x.columns([0])
    found = pair(small, label)
    assert found.method == "table"
    assert covers(found, np.log(2))


def test_where_a_number_is_missing_is_part_of_it():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 2000))
    y = x + noise
    gone = rng.uniform(size=2000) < 0.25
    x[gone] = np.nan
    found = pair(read_values(x, "x"), read_values(y, "y"))
    assert covers(found, 0.75 * HALF)
    assert found.method == "strata of constant, gaussian"
    y[gone] = np.nan
    found = pair(read_values(x, "x"), read_values(y, "y"))
    assert covers(found, 0.75 * HALF - 0.25 * np.log(0.25) - 0.75 * np.log(0.75))


def test_missing_values_are_told_of():
    x, y = np.random.default_rng(0).normal(size=(2, 120))
    x[:30] = np.nan
    found = mutual_information(x, np.where(y > 0, "a", "b"), random_state=0)
    assert any("'column 0' of x has 30 missing values in 120 rows" in n for n in found.notes)
    with pytest.raises(ValueError, match="method must be 'auto' for labels and missing values"):
        mutual_information(x, y, method="ksg")


@pytest.mark.parametrize("other", ["label", "numbers", "mixed", "constant"])
@pytest.mark.parametrize("kind", ["number", "text"])
def test_a_constant_tells_exactly_nothing(kind, other):
    rng = np.random.default_rng(0)
    constant = np.full(200, 7.0) if kind == "number" else ["same"] * 200
    others = {
        "label": rng.choice(["a", "b"], 200),
        "numbers": rng.normal(size=200),
        "mixed": {"n": rng.normal(size=200), "t": rng.choice(["a", "b"], 200)},
        "constant": np.ones(200),
    }
    found = mutual_information(constant, others[other])
    assert (found.value, found.std_error, found.low, found.high) == (0.0, 0.0, 0.0, 0.0)


# A third argument.


def test_labels_given_what_makes_them_alike():
    rng = np.random.default_rng(0)
    z = rng.normal(size=800)
    x, y = (read_values(z + 0.5 * rng.normal(size=800) > 0, "x") for _ in range(2))
    assert pair(x, y).value > 0.1
    found = conditional_information(x, y, read_values(z, "given"), pair)
    assert covers(found, 0.0)
    assert found.value + found.further[1] < 0.1


def test_rare_strata_are_left_out_and_told():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 500))
    given = np.array([0] * 250 + [1] * 240 + [2] * 6 + [3] * 4)
    both = read_values(x, "x"), read_values(x + noise, "y")
    found = strata(*both, given, pair)
    assert covers(found, HALF)
    assert found.checks["strata"].value == pytest.approx(0.02)
    assert "2.0% of the rows were left out" in found.notes[-1]
    few = strata(*both, np.r_[np.zeros(100, int), np.arange(1, 401)], pair)
    assert few.checks["strata"].verdict == "fail"
    with pytest.raises(ValueError, match="given must have at least 22 rows of some value"):
        mutual_information(x, noise, given=[f"row {k}" for k in range(500)])


def test_a_check_of_few_rows_fails_no_mean_of_strata():
    good = Answer(0.3, 0.01, "a", most=1.0, checks={"cells": Check(9.0, "ok", "Fine.")})
    bad = Answer(0.2, 0.01, "a", most=1.0, checks={"cells": Check(1.0, "fail", "Few.")})
    x = Values(np.zeros((1000, 1)), False)

    def mean(rows):
        answers = iter([good, bad])
        label = np.repeat([0, 1], [1000 - rows, rows])
        return strata(x, x, label, lambda *_: next(answers))

    small, large = mean(50), mean(400)
    assert small.checks["cells"].verdict == "warn"
    assert small.further[1] == pytest.approx(0.05 * 0.8)  # up to what is possible
    assert large.checks["cells"].verdict == "fail"
    assert large.value == pytest.approx(0.6 * 0.3 + 0.4 * 0.2)


def test_a_difference_has_the_noise_of_the_differences():
    terms = np.random.default_rng(0).normal(size=400)
    error = float(terms.std() / 20)
    whole = Answer(0.5, error, "a", terms, further=(0.1, 0.2))
    part = Answer(0.3, error, "b", terms - 0.2, further=(0.01, 0.02), unseen=0.015)
    found = summed([Part("whole", whole), Part("part", part, -1.0)], "difference")
    assert found.value == pytest.approx(0.2)
    assert found.std_error == pytest.approx(0.0, abs=1e-9)  # the same rows, the same noise
    # What no row shows of the part is missing from the whole, too.
    assert found.further == pytest.approx((0.105, 0.21))


def test_the_worst_of_every_check_is_kept():
    warn, ok = Check(2.0, "warn", "Look."), Check(1.0, "ok", "Fine.")
    found = worst([("x", {"a": ok, "b": warn}), ("y", {"a": warn})])
    assert (found["a"].verdict, found["a"].advice) == ("warn", "Of y: Look.")
    assert worst([]) == {}


def test_mixed_frames_on_both_sides():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 210))
    town = rng.choice(["Bonn", "Kiel"], 210)
    same = np.where(rng.uniform(size=210) < 0.9, town == "Kiel", town != "Kiel")
    u = pd.DataFrame({"a": a, "town": town})
    v = pl.DataFrame({"sum": a + b, "same": np.where(same, "k", "b")})
    found = mutual_information(u, v, random_state=0)
    # log(2) / 2 of the numbers, and 0.9 log 1.8 + 0.1 log 0.2 of the text.
    assert found.low <= HALF + 0.368 <= found.high
    assert found.low > 0.2
