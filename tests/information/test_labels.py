"""A label and columns of any kind: truths, few rows, rare labels, checks."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import mutual_information
from isthmus.information.classes import Classes
from isthmus.information.labels import Learned, check_probabilities


def flipped(p):
    """What a coin tells that is turned over with probability p."""
    return np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p)


def test_the_sign_of_a_product_of_two_of_twenty_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 20))
    label = (x[:, 0] * x[:, 1] > 0) ^ (rng.uniform(size=2000) < 0.1)
    found = mutual_information(x, label, random_state=0)
    assert found.low < flipped(0.1) < found.high
    assert found.value == pytest.approx(flipped(0.1), abs=0.06)
    assert found.trusted


def test_three_labels_and_columns_of_text_and_numbers():
    rng = np.random.default_rng(0)
    town = rng.integers(3, size=600)
    label = np.where(rng.uniform(size=600) < 0.8, town, rng.integers(3, size=600))
    x = {"town": np.array(["Bonn", "Kiel", "Ulm"])[town], "noise": rng.normal(size=600)}
    share = 0.8 + 0.2 / 3
    truth = np.log(3) + share * np.log(share) + (1 - share) * np.log((1 - share) / 2)
    found = mutual_information(x, label, random_state=0)
    assert found.low < truth < found.high
    assert found.high - found.low < 0.4
    assert {trial["name"] for trial in found.trials} >= {"linear"}


def test_few_rows_have_wide_intervals():
    n, rng = 80, np.random.default_rng(0)
    x = rng.normal(size=(n, 5))
    label = rng.uniform(size=n) < 1 / (1 + np.exp(-2 * x[:, 0]))
    found = mutual_information(x, label, random_state=0)
    assert found.low < 0.231 < found.high  # by quadrature
    nothing = mutual_information(x[:, 1:], label, random_state=0)
    assert nothing.low == 0.0
    assert nothing.high > 4.0 / n


def test_a_label_that_is_a_function_has_its_entropy():
    rng = np.random.default_rng(0)
    x = rng.standard_cauchy(size=(200, 1))
    found = mutual_information(x, x[:, 0] > 0.3, random_state=0)
    assert found.value == pytest.approx(np.log(2) * 0.96, abs=0.1)
    assert found.high <= np.log(2) + 1e-9


def test_rare_labels_are_taken_for_one():
    rng = np.random.default_rng(0)
    label = np.array(["a"] * 80 + ["b"] * 30 + ["c"] * 7 + ["d"] * 3)
    found = mutual_information(rng.normal(size=120), label, random_state=0)
    assert found.low == 0.0
    assert any("2 labels with 10 rows were taken for one" in note for note in found.notes)
    alone = mutual_information(rng.normal(size=300), np.arange(300) < 2, random_state=0)
    assert alone.value == 0.0
    assert not alone.trusted
    assert 0.0 < alone.high < 0.2  # the entropy of so rare a label


def test_learned_classes():
    rare = Learned.of(np.array([0] * 50 + [1] * 30 + [2] * 3))
    assert np.bincount(rare.label).tolist() == [53, 30]  # three rows are no class
    assert rare.left == pytest.approx(
        53 / 83 * -(50 / 53 * np.log(50 / 53) + 3 / 53 * np.log(3 / 53))
    )
    assert Learned.of(np.repeat(np.arange(60), 50)).joined == 36
    assert not Learned.of(np.arange(40)).label.any()


def test_parts_have_rows_of_every_class():
    label = np.repeat([0, 1, 2], [50, 11, 40])
    part = Classes(np.zeros((101, 1)), label).parts(5, np.random.default_rng(0))
    counts = np.bincount(part * 3 + label).reshape(5, 3)
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_probabilities_that_are_too_extreme_fail():
    rng = np.random.default_rng(0)
    logit = rng.normal(size=3000)
    label = (rng.uniform(size=3000) < 1 / (1 + np.exp(-logit))).astype(int)

    def log_p(slope):
        return np.column_stack([-np.logaddexp(0, slope * logit), -np.logaddexp(0, -slope * logit)])

    assert check_probabilities(log_p(1.0), label).verdict == "ok"
    assert check_probabilities(log_p(3.0), label).verdict == "fail"
    assert check_probabilities(log_p(0.0), label).verdict == "ok"  # nothing to judge
