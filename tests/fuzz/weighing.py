"""Weights of one sample for another: certificates, audits and scores under a shift."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from fuzz.oracles import ask, same
from fuzz.samples import Rng, mild, pair
from fuzz.tables import given, tables

from isthmus import audit_weights, importance_weights, shifted_score
from isthmus.shifted import ShiftedScore


def check_weights(found: Any, n: int) -> None:
    """Weights that are numbers, of which none is negative, worth one to n rows."""
    values = np.asarray(found)
    assert values.shape == (n,) and np.isfinite(values).all() and (values >= 0).all()
    assert values.max() > 0
    assert (values[~found.kept] == 0).all()
    size = found.effective_sample_size
    # The sums of n weights are rounded.
    assert 1 - 1e-9 <= size <= n * (1 + 1e-9), size
    same(size, values.sum() ** 2 / (values @ values), 1e-6, "effective sample size")
    # NaN and infinity are no JSON.
    json.dumps(found.to_dict(), allow_nan=False)
    assert "nan" not in str(found).lower().split(), str(found)


def made(rng: Rng) -> None:
    """Weights of odd samples: possible ones, or a refusal in words."""
    if rng.random() < 0.5:
        source, target = pair(rng, most=40, columns=2)
        n, how = len(source), {}
    else:
        source, target = tables(rng)
        n, how = len(next(iter(source.values()))), {"missing": "indicator"}
    scale = str(rng.choice(["mean", "sum", "target"]))
    answer = ask(
        importance_weights,
        source,
        target,
        estimator=given(),
        normalise=scale,
        on_failure="return",
        random_state=0,
        **how,
    )
    if not answer:
        # A refusal is of what was given, and not of what was left out.
        assert "missing and dates" not in answer.refusal, answer.refusal
        return
    check_weights(answer.value, n)
    values = np.asarray(answer.value)
    if scale != "target":
        same(values.sum(), answer.value.kept.sum() if scale == "mean" else 1.0, 1e-9, scale)


def audited(rng: Rng) -> None:
    """The scale of weights that are audited does not count; odd ones are refused."""
    source, target = mild(rng, n=24)
    weight = np.exp(rng.normal(size=len(source)) * rng.choice([0.1, 1.0, 20.0]))
    kind = rng.integers(4)
    if kind == 0:
        weight[rng.integers(len(weight))] = rng.choice([np.nan, -1.0, np.inf])
    elif kind == 1:
        weight[3:] = 0.0
    how = {"estimator": given(), "random_state": 0}
    answer = ask(audit_weights, weight, source, target, **how)
    if kind == 0:
        assert not answer and answer.refusal.startswith("w must")
        return
    assert answer, answer.refusal
    check_weights(answer.value, len(source))
    scaled = audit_weights(weight * 10.0 ** rng.integers(-9, 9), source, target, **how)
    same(np.asarray(scaled), np.asarray(answer.value), 1e-9, "scale")
    assert scaled.verdict == answer.value.verdict


def scored(rng: Rng) -> None:
    """A score on a target that looks like the source, or not at all."""
    from sklearn.dummy import DummyClassifier

    X, target = mild(rng, n=40)
    if rng.random() < 0.3:
        target = target + 30.0
    y = rng.integers(0, 2, len(X))
    y[:10] = [0, 1] * 5
    answer = ask(
        shifted_score, DummyClassifier(), X, y, target, ratio=given(), draws=20, random_state=0
    )
    if not answer:
        return
    found: ShiftedScore = answer.value
    for estimate in (found.target, found.plain):
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1, estimate
    assert 1 - 1e-9 <= found.effective_sample_size <= len(X) * (1 + 1e-9)
    assert found.enough or answer.notes, "too few rows, and no word of it"
    json.dumps(found.to_dict(), allow_nan=False)


FAMILIES = {"made": made, "audited": audited, "scored": scored}
