"""Which family of tails is chosen, and which ones the rows cannot refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isthmus.anchors import AutoAnchor
from isthmus.anchors.generalised_normal import PowerComponent
from isthmus.anchors.tails import choose_tails
from isthmus.data.sample import Sample

ROTATION = stats.ortho_group.rvs(3, random_state=0)


def student(rng, n, d, df):
    return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(df, (n, 1)) / df)


def power(rng, n, d, shape):
    return PowerComponent(1.0, np.zeros(d), np.eye(d), np.eye(d), shape=shape).sample(n, rng)


CASES = {
    "gaussian": lambda rng: rng.normal(size=(2000, 3)),
    "student-t": lambda rng: student(rng, 2000, 3, 4),
    "generalised normal": lambda rng: power(rng, 2000, 3, 0.6),
    "exponential margins": lambda rng: rng.logistic(size=(2000, 3)),
    "exponential sources": lambda rng: rng.laplace(size=(2000, 3)) @ ROTATION,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_family_of_the_rows_is_chosen(name, seed):
    choice = choose_tails(Sample.of(CASES[name](np.random.default_rng(seed))), None)
    assert choice.chosen.name == name, choice.evidence
    assert choice.chosen not in choice.rivals


def test_a_normal_has_rivals_rarely():
    choices = [
        choose_tails(Sample.of(np.random.default_rng(seed).normal(size=(500, 2))), None)
        for seed in range(60)
    ]
    assert all(one.chosen.name == "gaussian" for one in choices)
    # Each of a few families gets beyond log(500) = 6.2 in one sample in eighty: about two of 60.
    assert sum(bool(one.rivals) for one in choices) <= 8


def test_few_rows_refuse_little_and_many_rows_much():
    few = choose_tails(Sample.of(power(np.random.default_rng(0), 400, 2, 0.6)), None)
    many = choose_tails(Sample.of(power(np.random.default_rng(0), 20_000, 2, 0.6)), None)
    # A power of .6 and a Student-t differ by little where the rows are.
    assert {"student-t", "generalised normal"} <= {few.chosen.name, *(r.name for r in few.rivals)}
    assert many.chosen.name == "generalised normal" and not many.rivals


def test_automatic_anchors_pass_rivals_on(rng):
    auto = AutoAnchor().fit(rng.logistic(size=(1000, 2)))
    assert auto.choice_ == "exponential margins", auto.evidence_
    assert auto.rivals_ and all(hasattr(one, "component_") for one in auto.rivals_)


def test_one_column_has_exponential_tails(rng):
    assert AutoAnchor().fit(rng.gumbel(size=(2000, 1))).choice_ == "exponential margins"
