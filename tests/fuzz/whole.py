"""Whole comparisons of small samples: every number is possible, or there is a refusal."""

from __future__ import annotations

import numpy as np
from fuzz.oracles import ask, check_comparison, same
from fuzz.samples import Rng, mild, pair
from fuzz.tables import tables

from isthmus import compare


def numbers(rng: Rng) -> None:
    """Odd samples of numbers."""
    answer = ask(compare, *pair(rng, most=40, columns=3), random_state=0)
    if answer:
        check_comparison(answer.value)


def mixed(rng: Rng) -> None:
    """Tables of numbers and text."""
    answer = ask(compare, *tables(rng), missing="indicator", random_state=0)
    if answer:
        check_comparison(answer.value)


def weighted(rng: Rng) -> None:
    """Weights of very different sizes."""
    p, q = mild(rng)
    weight = np.exp(rng.normal(size=len(p)) * rng.choice([0.5, 3.0, 30.0]))
    answer = ask(compare, p, q, weight_p=weight, random_state=0)
    if answer:
        check_comparison(answer.value)


def repeated(rng: Rng) -> None:
    """The same call gives the same numbers."""
    p, q = mild(rng)
    one, other = (compare(p, q, random_state=3) for _ in range(2))
    same(other.kl.value, one.kl.value, 0.0, "the same call")
    check_comparison(one)


FAMILIES = {"numbers": numbers, "mixed": mixed, "weighted": weighted, "repeated": repeated}
