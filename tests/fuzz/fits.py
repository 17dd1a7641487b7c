"""Quick fits with settings that are given: units, order, swapped samples, weights, new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from fuzz.oracles import ask, same
from fuzz.samples import Rng, mild, pair

from isthmus import MDRE, stack
from isthmus.baselines import BDRE, KLIEP, KMM, RULSIF, ULSIF, PlugIn

GIVEN = {"critic": "quadratic", "anchor": "gaussian", "maps": None, "auxiliaries": "bridge"}


def quick(rng: Rng) -> Any:
    """An estimator whose settings are given, and that takes some milliseconds."""
    return [
        MDRE(**GIVEN, l2=5.0, random_state=0),
        MDRE(**GIVEN, l2=np.inf, random_state=0),
        PlugIn(random_state=0),
        ULSIF(random_state=0),
        RULSIF(random_state=0),
        KLIEP(random_state=0),
        KMM(random_state=0),
        BDRE(l2=1.0, random_state=0),
    ][rng.integers(8)]


def any_rows(rng: Rng) -> None:
    """Finite log-ratios at the rows, or a clear refusal."""
    p, q = pair(rng, most=40, columns=3)
    model = quick(rng)
    fitted = ask(model.fit, *stack(p, q))
    if not fitted:
        return
    for rows in (p, q, (p[:1] + q[:1]) / 2, p[:1] * 1e3):
        answer = ask(model.log_ratio, rows)
        if answer:
            assert not np.isnan(answer.value).any(), f"{model} has a NaN"


def order(rng: Rng) -> None:
    """The order of rows is of no consequence to what nothing is drawn for."""
    p, q = mild(rng)
    for model in (MDRE(**GIVEN, l2=np.inf, random_state=0), PlugIn(random_state=0)):
        one = model.fit(*stack(p, q)).log_ratio(p)
        other = model.fit(*stack(rng.permutation(p), rng.permutation(q))).log_ratio(p)
        # Sums of some tens of numbers in another order, through a few inverses.
        same(other, one, 1e-6, f"{model} in another order")


def units(rng: Rng) -> None:
    """Other units leave log p/q alone."""
    p, q = mild(rng)
    scale, shift = 10.0 ** rng.integers(-6, 7, size=2), rng.normal(size=2) * 10
    model = MDRE(**GIVEN, l2=float(rng.choice([5.0, np.inf])), random_state=0)
    one = model.fit(*stack(p, q)).log_ratio(p)
    other = model.fit(*stack(p * scale + shift, q * scale + shift)).log_ratio(p * scale + shift)
    # Digits are lost where a shift is 1e7 times the spread.
    same(other, one, 1e-4 if scale.min() < 1e-3 else 1e-5, f"{model} in other units")


def swapped(rng: Rng) -> None:
    """Swapped samples change the sign."""
    p, q = mild(rng)
    model = MDRE(**GIVEN, l2=np.inf, random_state=0)
    one = model.fit(*stack(p, q)).log_ratio(p)
    other = model.fit(*stack(q, p)).log_ratio(p)
    same(-other, one, 1e-5, "swapped")


def columns(rng: Rng) -> None:
    """The order of columns is of no consequence."""
    p, q = mild(rng, d=3)
    turned = rng.permutation(3)
    model = MDRE(**GIVEN, l2=np.inf, random_state=0)
    one = model.fit(*stack(p, q)).log_ratio(p)
    other = model.fit(*stack(p[:, turned], q[:, turned])).log_ratio(p[:, turned])
    same(other, one, 1e-5, "columns in another order")


def zero_weights(rng: Rng) -> None:
    """Rows of weight zero might as well not be there, whatever is in them."""
    p, q = mild(rng)
    X, y = stack(p, q)
    weight = np.ones(len(X))
    out = rng.choice(len(X), 5, replace=False)
    weight[out] = 0.0
    odd = X.copy()
    odd[out] *= 1e3
    model = MDRE(**GIVEN, l2=np.inf, random_state=0)
    kept = weight > 0
    one = model.fit(X[kept], y[kept]).log_ratio(p)
    other = model.fit(odd, y, sample_weight=weight).log_ratio(p)
    same(other, one, 1e-6, "rows of weight zero")


def weight_of_two(rng: Rng) -> None:
    """A whole weight is the row given so many times."""
    X, y = stack(*mild(rng))
    weight = rng.integers(1, 4, len(X))
    model = MDRE(**GIVEN, l2=np.inf, random_state=0)
    one = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).log_ratio(X)
    other = model.fit(X, y, sample_weight=weight.astype(float)).log_ratio(X)
    same(other, one, 1e-6, "weights and rows repeated")


def odd_weights(rng: Rng) -> None:
    """Weights of any scale: numbers, or a clear refusal; small ones count as their rows do."""
    X, y = stack(*mild(rng))
    factor = 10.0 ** rng.choice([-300, -200, -8, 3, 200, 300])
    weight = 0.9 * rng.random(len(X)) + 0.1
    few = rng.random() < 0.3
    if few:
        weight[rng.random(len(X)) < 0.9] = 0.0
    model = MDRE(**GIVEN, l2=float(rng.choice([5.0, np.inf])), random_state=0)
    answer = ask(model.fit, X, y, sample_weight=weight * factor)
    assert answer or few, answer.refusal
    if not answer:
        return
    found = model.log_ratio(X)
    assert not np.isnan(found).any(), f"weights times {factor:g}"
    if factor < 1 and not few:
        one = model.fit(X, y, sample_weight=weight).log_ratio(X)
        same(found, one, 1e-9, f"weights times {factor:g}")


FAMILIES = {
    "any_rows": any_rows,
    "order": order,
    "units": units,
    "swapped": swapped,
    "columns": columns,
    "zero_weights": zero_weights,
    "weight_of_two": weight_of_two,
    "odd_weights": odd_weights,
}
