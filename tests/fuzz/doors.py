"""Arrays at the doors: odd types, shapes and values are taken for what they are, or refused."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from fuzz.oracles import ask, same
from fuzz.samples import Rng, in_form, pair

from isthmus import stack
from isthmus.data.validation import as_two_samples

ODD: dict[str, Any] = {
    "none": None,
    "number": 3.0,
    "text": "abc",
    "texts": ["a", "b", "c"],
    "digits": ["1", "2", "3"],
    "empty": [],
    "empty rows": np.empty((0, 2)),
    "no columns": np.empty((5, 0)),
    "three axes": np.zeros((3, 2, 2)),
    "ragged": [[1.0, 2.0], [3.0]],
    "complex": np.array([[1 + 2j], [3j], [1.0]]),
    "dates": np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]"),
    "objects": np.array([[object()], [object()]]),
    "nested": np.array([{"a": 1}, {"a": 2}]),
    "not numbers": np.array([[1.0], [np.nan], [2.0]]),
    "infinite": np.array([[1.0], [np.inf], [2.0]]),
    "huge integers": [[10**400], [1], [2]],
    "generator": (x for x in range(3)),
    "set": {1.0, 2.0},
    "bytes": b"abc",
    "function": len,
    "a date": [datetime.date(2024, 1, 1)] * 3,
    "structured": np.zeros(3, dtype=[("a", float)]),
    "booleans": np.array([[True], [False], [True]]),
    "masked": np.ma.masked_array([[1.0], [2.0], [3.0]], mask=[[0], [1], [0]]),
}
DTYPES = ("float16", "float32", "float64", "int8", "int64", "uint64", "bool", "object")


def odd(rng: Rng) -> None:
    """Something that is no sample, on one side."""
    name = str(rng.choice(list(ODD)))
    good = rng.normal(size=(5, 1))
    sides = (ODD[name], good) if rng.random() < 0.5 else (good, ODD[name])
    answer = ask(stack if rng.random() < 0.5 else as_two_samples, *sides)
    if answer:
        found = answer.value
        rows = found[0] if isinstance(found, tuple) else np.vstack([found.p.rows, found.q.rows])
        assert np.isfinite(rows).all() and rows.dtype == np.float64, name


def forms(rng: Rng) -> None:
    """The same rows in any container are the same rows."""
    p, q = pair(rng)
    name, p_too = in_form(rng, p)
    _, q_too = in_form(rng, q)
    if isinstance(p_too, dict) or isinstance(q_too, dict):
        return  # of a dict the command line and `compare` make tables
    one, other = as_two_samples(p, q), ask(as_two_samples, p_too, q_too)
    assert other, f"{name} was refused: {other.refusal}"
    same(one.p.rows, other.value.p.rows, 0.0, name)
    same(one.q.rows, other.value.q.rows, 0.0, name)


def dtypes(rng: Rng) -> None:
    """Small whole numbers are the same in every type."""
    whole = rng.integers(0, 2, size=(6, 2))
    one = as_two_samples(whole.astype(float), whole.astype(float))
    kind = str(rng.choice(DTYPES))
    other = ask(as_two_samples, whole.astype(kind), whole.astype(str(rng.choice(DTYPES))))
    assert other, f"{kind}: {other.refusal}"
    same(one.p.rows, other.value.p.rows, 0.0, kind)


def weights(rng: Rng) -> None:
    """Weights of any size and type: shares add up to one, or the weights are refused."""
    n = int(rng.integers(2, 12))
    rows = rng.normal(size=(n, 1))
    weight: Any = rng.random(n) * 10.0 ** rng.choice([0, 5, -5, 100, -100, 300, -300, 307])
    kind = rng.integers(7)
    if kind == 0:
        weight[rng.integers(n)] = rng.choice([np.nan, np.inf, -1.0])
    elif kind == 1:
        weight = weight[:-1]
    elif kind == 2:
        weight = np.zeros(n)
    elif kind == 3:
        weight = ["a"] * n
    elif kind == 4:
        weight[1:] = 0.0
    elif kind == 5:
        weight = float(weight[0])
    answer = ask(as_two_samples, rows, rows, weight, None)
    if kind in (0, 1, 2, 3):
        assert not answer and "weight_p" in answer.refusal
        return
    if answer:
        share = answer.value.p.share
        assert np.isfinite(share).all() and abs(share.sum() - 1) < 1e-12, weight
        same(answer.value.p.size >= 0, True, 0.0, "size")
        same(as_two_samples(rows, rows, np.asarray(share)).p.share, share, 1e-12, "scale")


FAMILIES = {"odd": odd, "forms": forms, "dtypes": dtypes, "weights": weights}
