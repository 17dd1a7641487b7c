"""Cases that were once answered wrongly: seeds of the families, and inputs with a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SEEDS = [
    ("functionals.estimates", 0),
    ("functionals.estimates", 21),
    ("functionals.bounds", 4),
    ("functionals.influences", 4),
    ("functionals.influences", 79),
    ("doors.forms", 1),
    ("doors.forms", 76),
    ("tables.files", 11),
    ("tables.files", 30),
    ("tables.files", 38),
    ("results.saved", 0),
    ("results.saved", 13),
    ("weighing.audited", 1),
    ("weighing.scored", 0),
    ("weighing.scored", 12),
    ("tables.libraries", 6),
    ("tables.libraries", 8),
    ("tables.libraries", 23),
    ("whole.numbers", 4),
    ("whole.mixed", 1),
    ("whole.weighted", 1),
]
"""A family and a seed of it."""


def _normal(n: int, m: int, d: int = 1, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(shift, 1, size=(m, d))


def _double_exponential() -> Any:
    p, q = _normal(60, 60)
    return np.exp(np.exp(p)), np.exp(np.exp(q))


def _one_heavy_weight() -> Any:
    p, q = _normal(60, 60)
    return p, q, {"weight_p": np.r_[1e6, np.ones(59)]}


def _weights_over_all_floats() -> Any:
    p, q = _normal(40, 40)
    return p, q, {"weight_p": np.geomspace(1e-300, 1e300, 40)}


def _levels_apart() -> Any:
    return {"t": ["a", "b"] * 30}, {"t": ["c", "d"] * 30}


def _missing_on_one_side() -> Any:
    x = np.arange(24.0)
    empty = [None if k % 3 == 0 else float(k) for k in range(24)]
    return {"x": x.tolist()}, {"x": empty}, {"missing": "indicator"}


def _integers() -> Any:
    ends = np.iinfo(np.int64)
    rng = np.random.default_rng(0)
    return rng.integers(ends.min, ends.max, 40), rng.integers(ends.min, ends.max, 40)


def _rare() -> Any:
    p, q = np.zeros(3000), np.zeros(3000)
    p[:3], q[0] = 1.0, 1.0
    return p, q


def _far_from_zero() -> Any:
    p, q = _normal(60, 60, shift=1.0)
    return p + 1e15, q + 1e15


def _tiny() -> Any:
    p, q = _normal(60, 60, shift=1.0)
    return p * 1e-300, q * 1e-300


CASES: dict[str, Callable[[], Any]] = {
    "4 rows against 3,000": lambda: _normal(4, 3000, 2),
    "5 rows against 5": lambda: _normal(5, 5),
    "constants": lambda: (np.ones(24), np.zeros(24)),
    "levels without overlap": _levels_apart,
    "missing on one side": _missing_on_one_side,
    "exp(exp(normal))": _double_exponential,
    "integers to the end of their range": _integers,
    "one weight of 1e6": _one_heavy_weight,
    "weights over all floats": _weights_over_all_floats,
    "a rare 0/1 column": _rare,
    "values at 1e15": _far_from_zero,
    "values of 1e-300": _tiny,
}
"""Samples, and further arguments of `compare`, by name."""
