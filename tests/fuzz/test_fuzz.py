"""A thousand odd but plausible inputs: each is answered with possible numbers, or clearly refused.

A case is a family and a seed, both in the name of the test that fails; repeat it with

    pytest "tests/fuzz/test_fuzz.py::test_case[whole.numbers-4]"

``ISTHMUS_FUZZ=5000 pytest tests/fuzz`` draws other cases, from that seed on. What was found once is
kept in ``regressions.py``.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from fuzz import doors, fits, functionals, regressions, results, tables, weighing, whole
from fuzz.oracles import ask, check_comparison

from isthmus import compare

FIRST = int(os.environ.get("ISTHMUS_FUZZ", "0"))
# How many cases of every function of a file; whole comparisons take most of the time.
COUNTS = {
    doors: 90,
    functionals: 90,
    fits: 15,
    tables: 20,
    results: 10,
    weighing: 10,
    whole: 5,
}
FAMILIES = {
    f"{file.__name__.rpartition('.')[2]}.{name}": (family, count)
    for file, count in COUNTS.items()
    for name, family in file.FAMILIES.items()
}
CASES = [
    (name, seed) for name, (_, count) in FAMILIES.items() for seed in range(FIRST, FIRST + count)
]


def test_there_are_a_thousand():
    assert len(CASES) >= 1000


@pytest.mark.parametrize(
    ("family", "seed"), [pytest.param(*case, id=f"{case[0]}-{case[1]}") for case in CASES]
)
def test_case(family, seed):
    FAMILIES[family][0](np.random.default_rng(seed))


@pytest.mark.parametrize(("family", "seed"), regressions.SEEDS)
def test_found_before(family, seed):
    FAMILIES[family][0](np.random.default_rng(seed))


@pytest.mark.parametrize("name", regressions.CASES)
def test_named(name):
    p, q, *others = regressions.CASES[name]()
    answer = ask(compare, p, q, **(others[0] if others else {}), random_state=0)
    if answer:
        check_comparison(answer.value)
