"""Fits that have not seen a fold, each with the rows of the fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from ..typing import Array, IntArray
from .conformity import predicted
from .doors import Labelled
from .inner import fit_clone


def fits_without(
    estimator: Any, given: Labelled, target: Any, cv: Any
) -> Iterator[tuple[Any, IntArray]]:
    """A fitted copy for each fold, with the places of the rows that it has not seen."""
    folds = check_cv(cv, given.labels, classifier=is_classifier(estimator))
    for train, test in folds.split(given.rows, given.labels):
        part = given.take(train)
        yield fit_clone(estimator, part.rows, part.labels, target, part.weight), test


def held_out_predictions(estimator: Any, given: Labelled, target: Any) -> Array:
    """A regressor's prediction of every row by a fit without the row's fold."""
    out = np.empty(len(given.labels))
    for model, test in fits_without(estimator, given, target, min(5, len(out))):
        out[test] = predicted(model, given.take(test).rows)
    return out
