"""The parameters that neural estimators share: width, depth, steps, batch_size and the others."""

from __future__ import annotations

import numbers
from dataclasses import fields
from typing import Any

from ..data.validation import check_number
from .training import Training

LOOKS = 20
"""How often the held-out loss is looked at in a whole run."""


def training_of(estimator: Any, looks: int = LOOKS, **others: Any) -> Training:
    """Settings of training from the parameters of an estimator that are called like them."""
    given = estimator.get_params(deep=False)
    named = {field.name: given[field.name] for field in fields(Training) if field.name in given}
    steps = given["steps"]
    every = max(int(steps) // looks, 1) if isinstance(steps, numbers.Integral) else 1
    return Training(**{**named, "every": every, **others})


def check_shared(estimator: Any, *, least_batch: int = 1) -> None:
    """Refuse values of the shared parameters, those that the estimator has, that do not fit."""
    given = estimator.get_params(deep=False)
    for name, low in (("width", 1), ("depth", 0), ("batch_size", least_batch)):
        if name in given:
            check_number(given[name], name, low=low, integer=True)
    check_number(estimator.validation, "validation", low=0, high=1, open_high=True)
    training_of(estimator).check()
