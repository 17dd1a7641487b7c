"""Answers of models to rows that they have not seen, in the form of one model for scorers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if

from ..typing import Array, IntArray
from .doors import Labelled
from .held_out import fits_without

F = TypeVar("F", bound=Callable[..., Any])

# What scorers ask for.
_ANSWERS = ("predict", "predict_proba", "decision_function")
# What a model says of a label that was not among the rows it was fitted to.
_UNKNOWN = {"predict_proba": 0.0}


def _recorded(method: str) -> Callable[[F], F]:
    """Decorator of a method that is there if its answers are recorded."""
    return cast(Callable[[F], F], available_if(lambda self: method in self.answers))


class Recorded(BaseEstimator):
    """Something that scorers take for a fitted estimator, and that answers from a record.

    Parameters
    ----------
    estimator : estimator
        Whose answers they are.
    answers : dict of str to ndarray
        For each method the answers to all rows, in their order.
    classes : ndarray or None
        Labels of a classifier.
    """

    def __init__(self, estimator: Any, answers: dict[str, Any], classes: Any = None) -> None:
        self.estimator = estimator
        self.answers = answers
        self.classes = classes

    @property
    def classes_(self) -> Any:
        """Labels of a classifier."""
        if self.classes is None:
            raise AttributeError("There are no labels but of a classifier.")
        return self.classes

    def take(self, places: IntArray) -> Self:
        """The record of some rows."""
        answers = {method: values[places] for method, values in self.answers.items()}
        return type(self)(self.estimator, answers, self.classes)

    @_recorded("predict")
    def predict(self, X: Any) -> Any:
        """Recorded predictions."""
        return self.answers["predict"]

    @_recorded("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Recorded probabilities."""
        return self.answers["predict_proba"]

    @_recorded("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Recorded values of the decision function."""
        return self.answers["decision_function"]

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def record(estimator: Any, given: Labelled, target: Any, cv: Any) -> Recorded:
    """Answers to every row by a fit without the row's fold.

    Parameters
    ----------
    estimator : estimator
    given : Labelled
    target : rows of the target, for an estimator whose fit takes them
    cv : splitter of scikit-learn's

    Returns
    -------
    Recorded
    """
    y = given.labels
    classes = np.unique(y) if is_classifier(estimator) else None
    answers: dict[str, Any] = {}
    seen = np.zeros(len(y), dtype=np.intp)
    for model, test in fits_without(estimator, given, target, cv):
        rows = given.take(test).rows
        seen[test] += 1
        for method in _ANSWERS:
            if not hasattr(model, method):
                continue
            found = np.asarray(getattr(model, method)(rows))
            if found.ndim == 2 and classes is not None:
                found = _aligned(found, method, model.classes_, classes)
            if method not in answers:
                answers[method] = np.empty((len(y), *found.shape[1:]), dtype=found.dtype)
            if answers[method].dtype != found.dtype:
                answers[method] = answers[method].astype(np.result_type(answers[method], found))
            answers[method][test] = found
    if not (seen == 1).all():
        raise ValueError(
            "cv must put every row of X into one test fold; received a splitter that puts "
            f"{int((seen != 1).sum())} rows into none or into several."
        )
    return Recorded(estimator, answers, classes)


def _aligned(found: Array, method: str, known: Any, classes: Any) -> Array:
    """Columns for all labels, where a fold's model knows only some."""
    if len(known) == len(classes):
        return found
    out = np.full((len(found), len(classes)), _UNKNOWN.get(method, np.finfo(np.float64).min))
    out[:, np.searchsorted(classes, known)] = found
    return out
