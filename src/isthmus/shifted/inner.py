"""How an estimator of scikit-learn's is fitted: with weights of rows, and with a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..typing import Array

F = TypeVar("F", bound=Callable[..., Any])


def weight_name(estimator: Any) -> str | None:
    """Name by which fit takes weights of rows; None if it takes none.

    A pipeline takes them for its last step, a search for what it searches over; with
    scikit-learn's metadata routing both take ``sample_weight`` and hand it on as asked.
    """
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if isinstance(estimator, Pipeline | BaseSearchCV):
        if get_config()["enable_metadata_routing"]:
            return "sample_weight"
        if isinstance(estimator, BaseSearchCV):
            return weight_name(estimator.estimator)
        step, last = estimator.steps[-1]
        name = weight_name(last)
        return None if name is None else f"{step}__{name}"
    return None


def check_estimator(estimator: Any) -> None:
    """Refuse what is no estimator of scikit-learn's form."""
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise ValueError(
            "estimator must be an estimator of scikit-learn's form, with fit and get_params; "
            f"received {estimator!r}."
        )


def fit_clone(
    estimator: Any, X: Any, y: Any, target: Any, sample_weight: Array | None, **params: Any
) -> Any:
    """A copy of an estimator, fitted; told of the target and of weights where it takes them."""
    if has_fit_parameter(estimator, "target"):
        params["target"] = target
    if sample_weight is not None:
        params[weight_argument(estimator)] = sample_weight
    return clone(estimator).fit(X, y, **params)


def weight_argument(estimator: Any) -> str:
    """As :func:`weight_name`, but refuses an estimator that takes no weights."""
    name = weight_name(estimator)
    if name is None:
        raise ValueError(
            "estimator must take weights of rows, as fit(X, y, sample_weight=...); received a "
            f"{type(estimator).__name__}, which does not."
        )
    return name


def available(method: str) -> Callable[[F], F]:
    """Decorator of a method that is there if the estimator inside has it, fitted or not."""

    def check(outer: Any) -> bool:
        inner = getattr(outer, "estimator_", outer.estimator)
        # An AttributeError of its own says why there is none.
        getattr(inner, method)
        return True

    return cast(Callable[[F], F], available_if(check))


def delegated_tags(own: Tags, estimator: Any) -> Tags:
    """Tags of an estimator around another: what it predicts is what that one predicts."""
    inner = get_tags(estimator)
    own.estimator_type = inner.estimator_type
    own.classifier_tags, own.regressor_tags = inner.classifier_tags, inner.regressor_tags
    own.target_tags = inner.target_tags
    # Rows are compared, which takes dense numbers or a frame.
    own.input_tags.sparse = False
    own.input_tags.allow_nan = inner.input_tags.allow_nan
    return own


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator has been fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True
