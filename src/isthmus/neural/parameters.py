"""The parameters that neural estimators share: width, depth, steps, batch_size and the others."""

from __future__ import annotations

import numbers
from typing import Any

from ..data.validation import check_number
from .training import Training

# How often the held-out loss is looked at in a whole run.
LOOKS = 20


def training_of(estimator: Any) -> Training:
    """Settings of an estimator with ``steps``, ``lr``, ``weight_decay`` and ``patience``.

    Parameters
    ----------
    estimator : object

    Returns
    -------
    Training
        With 20 looks at the held-out loss in all.

    Examples
    --------
    >>> from isthmus.baselines import NNBD
    >>> training_of(NNBD(steps=1000)).every
    50
    """
    steps = estimator.steps
    return Training(
        steps=steps,
        lr=estimator.lr,
        weight_decay=estimator.weight_decay,
        patience=estimator.patience,
        every=max(int(steps) // LOOKS, 1) if isinstance(steps, numbers.Integral) else 1,
    )


def check_shared(estimator: Any, *, least_batch: int = 1) -> None:
    """Refuse values of the shared parameters that do not fit.

    Parameters
    ----------
    estimator : object
        With those of :func:`training_of` and ``width``, ``depth``, ``batch_size`` and
        ``validation``.
    least_batch : int
        Smallest batch.
    """
    check_number(estimator.width, "width", low=1, integer=True)
    check_number(estimator.depth, "depth", low=0, integer=True)
    check_number(estimator.batch_size, "batch_size", low=least_batch, integer=True)
    check_number(estimator.validation, "validation", low=0, high=1, open_high=True)
    training_of(estimator).check()
