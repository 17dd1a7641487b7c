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


def scaled(rng: Rng) -> None:
    """Weights are relative: their scale is of no consequence."""
    p, q = mild(rng)
    weight_p, weight_q = (np.exp(rng.normal(size=len(rows))) for rows in (p, q))
    factor = 10.0 ** rng.choice([-200, -9, -1, 1, 9, 200])
    how = {"weight_q": weight_q, "random_state": 0}
    one = compare(p, q, weight_p=weight_p, **how)
    other = compare(p, q, weight_p=weight_p * factor, **how)
    same(other.log_ratio_p, one.log_ratio_p, 1e-6, f"weights times {factor:g}")
    for name in ("value", "low", "high"):
        ends = (getattr(found.kl, name) for found in (other, one))
        same(*ends, 1e-6, f"{name} with weights times {factor:g}")


def repeated(rng: Rng) -> None:
    """The same call gives the same numbers."""
    p, q = mild(rng)
    one, other = (compare(p, q, random_state=3) for _ in range(2))
    same(other.kl.value, one.kl.value, 0.0, "the same call")
    check_comparison(one)


FAMILIES = {
    "numbers": numbers,
    "mixed": mixed,
    "weighted": weighted,
    "scaled": scaled,
    "repeated": repeated,
}
