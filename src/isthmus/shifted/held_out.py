"""Fits that have not seen a fold, each with the rows of the fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from ..typing import Array, IntArray
from .conformity import predicted
from .inner import fit_clone


def taken(X: Any, places: IntArray) -> Any:
    """Rows of an array, of a list or of a frame of any library."""
    return _safe_indexing(X, places)


def fits_without(
    estimator: Any, X: Any, y: Any, target: Any, weight: Array | None, cv: Any
) -> Iterator[tuple[Any, IntArray]]:
    """A fitted copy for each fold, with the places of the rows that it has not seen."""
    for train, test in check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y):
        given = None if weight is None else weight[train]
        yield fit_clone(estimator, taken(X, train), taken(y, train), target, given), test


def held_out_predictions(
    estimator: Any, X: Any, y: Array, target: Any, weight: Array | None
) -> Array:
    """A regressor's prediction of every row by a fit without the row's fold."""
    out = np.empty(len(y))
    for model, test in fits_without(estimator, X, y, target, weight, min(5, len(y))):
        out[test] = predicted(model, taken(X, test))
    return out
