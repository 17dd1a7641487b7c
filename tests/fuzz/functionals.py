"""Divergences, bounds and weights as functions of log-ratios of any size."""

from __future__ import annotations

import math

import numpy as np
from fuzz.oracles import ask, check_estimate, same
from fuzz.samples import Rng

from isthmus.functionals import (
    Estimate,
    effective_sample_size,
    get_divergence,
    importance_weights,
    kl_lower_bound,
)

SYMMETRIC = ("js", "hellinger", "tv")
MIRRORED = {"kl": "reverse-kl", "alpha:0.3": "alpha:0.7", **{name: name for name in SYMMETRIC}}
NAMES = (*MIRRORED, "chi2", "renyi:0.5", "renyi:2", "alpha:2", "alpha:-1")


def ratios(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Log-ratios at rows of p and of q, mild or extreme, some infinite."""
    n, m = rng.integers(1, 40, size=2)
    scale = 10.0 ** rng.choice([-9, -2, 0, 0, 1, 2, 3])
    t_p, t_q = rng.normal(0.5, 1, n) * scale, rng.normal(-0.5, 1, m) * scale
    if rng.random() < 0.15:
        t_q[rng.integers(m)] = -np.inf
    if rng.random() < 0.15:
        t_p[rng.integers(n)] = np.inf
    if rng.random() < 0.1:
        t_p[:] = t_p[0]
    return t_p, t_q


def divergences(rng: Rng) -> None:
    """No NaN; rows in any order; a weight of two is the row twice; p and q exchanged."""
    t_p, t_q = ratios(rng)
    name = str(rng.choice(NAMES))
    divergence = get_divergence(name)
    answer = ask(divergence.value, t_p, t_q)
    if not answer:
        return
    value = answer.value
    assert not math.isnan(value), f"{name} is NaN"
    again = ask(divergence.value, rng.permutation(t_p), rng.permutation(t_q)).value
    same(again, value, 1e-9, f"{name} in another order")
    weight = rng.integers(1, 4, len(t_p))
    weighted = ask(divergence.value, t_p, t_q, weight * 1.0).value
    repeated = ask(divergence.value, np.repeat(t_p, weight), t_q).value
    same(weighted, repeated, 1e-9, f"{name} with weights and with rows repeated")
    if name in MIRRORED:
        mirror = ask(get_divergence(MIRRORED[name]).value, -t_q, -t_p).value
        same(mirror, value, 1e-9, f"{name} exchanged")


def influences(rng: Rng) -> None:
    """Influences of rows with finite log-ratios are numbers, or are refused."""
    t_p, t_q = (t[np.isfinite(t)] for t in ratios(rng))
    if not (len(t_p) and len(t_q)):
        return
    name = str(rng.choice(NAMES))
    answer = ask(get_divergence(name).influences, t_p, t_q)
    if answer:
        assert not any(np.isnan(side).any() for side in answer.value), name


def importance(rng: Rng) -> None:
    """Weights have mean one and no scale; the effective size lies between one and n."""
    _, t = ratios(rng)
    answer = ask(importance_weights, t)
    if not answer:
        return
    same(answer.value.mean(), 1.0, 1e-9, "mean")
    assert (answer.value >= 0).all() and np.isfinite(answer.value).all()
    finite = t[np.isfinite(t)]
    moved = importance_weights(t + 5.0) if np.abs(finite).max(initial=0) < 1e3 else answer.value
    same(moved, answer.value, 1e-9, "moved")
    assert 1 <= effective_sample_size(t) <= len(t)


def bounds(rng: Rng) -> None:
    """A lower bound is at least zero, at most infinity, and an estimate like others."""
    t_p, t_q = ratios(rng)
    answer = ask(kl_lower_bound, t_p, t_q)
    if answer:
        check_estimate(answer.value, "lower bound")
        assert answer.value.high == math.inf


def estimates(rng: Rng) -> None:
    """An estimate within its range, whatever it is made of."""
    extremes = [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300, math.inf, math.nan]
    value = float(rng.choice([-1, 1]) * rng.choice(extremes))
    error, upper = float(rng.choice(extremes)), float(rng.choice([1.0, math.log(2), math.inf]))
    assert not ask(Estimate, 1.0, math.nan, 0.0, 2.0), "an error that is not a number"
    answer = ask(Estimate.from_std_error, value, error, lower=0.0, upper=upper)
    if answer:
        check_estimate(answer.value, f"from {value}", upper)
        assert Estimate(**answer.value.to_dict()).to_dict() == answer.value.to_dict()
        assert "nan" not in str(answer.value)


FAMILIES = {
    "divergences": divergences,
    "influences": influences,
    "importance": importance,
    "bounds": bounds,
    "estimates": estimates,
}
