"""An estimator whose rows count for what they are worth on the target."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import (
    MetadataRequest,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from ..data.telling import tell
from ..data.validation import check_option
from ..typing import RandomState
from ..weighting import WeightingError
from .doors import as_given, labelled
from .inner import available, check_estimator, delegated_tags, fit_clone, weight_argument
from .ratio import Looked, learn_ratio
from .target import target_rows


class ShiftWeighted(MetaEstimatorMixin, BaseEstimator):
    """An estimator that is fitted for data other than its own.

    Rows of X are weighted by the density of the target over that of X, so that what counts is
    what occurs on the target. That helps an estimator which cannot fit everywhere at once, such as
    a linear model; it changes nothing where the label depends on columns that are not in X.

    Parameters
    ----------
    estimator : estimator
        Anything of scikit-learn's form whose ``fit`` takes ``sample_weight``; also a pipeline
        whose last step does, and a search over one.
    on_failure : {"warn", "raise"}, default "warn"
        What to do where no weighting helps, such as where source and target do not overlap.
    ratio : estimator, optional
        What estimates the ratio of the densities, as ``estimator`` of
        :func:`isthmus.importance_weights`.
    columns, drop, keep, dates
        Which columns of frames the ratio looks at, as in :func:`isthmus.compare`. The estimator
        has all of them.
    random_state : int, Generator, RandomState or None
        Makes the weights reproducible. The estimator has its own.
    n_jobs : int, optional
        Number of fits of the ratio to run at a time.

    Attributes
    ----------
    estimator_ : estimator
        The fitted copy.
    weights_ : Weights
        What the rows of X count for, with its certificate: effective sample size, balance, verdict.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    In a search or a cross-validation give ``target=Target(rows)`` of :mod:`isthmus.shifted`:
    scikit-learn takes the rows of a fold from every array that is as long as X. With metadata
    routing, ``target`` is asked for without a word; ``set_fit_request`` changes that. A step of a
    pipeline sees rows that the steps before have changed: put the pipeline inside, or name the
    target in ``Pipeline(transform_input=["target"])``.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X, target = rng.normal(0, 1, (500, 1)), rng.normal(1, 0.5, (500, 1))
    >>> y = X[:, 0] ** 2  # the slope is 0 in the middle of X and 2 in the middle of the target
    >>> plain = LinearRegression().fit(X, y)
    >>> shifted = isthmus.ShiftWeighted(LinearRegression(), random_state=0)
    >>> shifted = shifted.fit(X, y, target=target)
    >>> bool(abs(plain.coef_[0]) < 0.5 < 1.5 < shifted.estimator_.coef_[0])
    True
    """

    __metadata_request__fit = {"target": True}  # noqa: RUF012 (scikit-learn reads it from the class)

    def __init__(
        self,
        estimator: Any,
        *,
        on_failure: str = "warn",
        ratio: Any = None,
        columns: Any = None,
        drop: Any = (),
        keep: Any = (),
        dates: Any = "days",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.on_failure = on_failure
        self.ratio = ratio
        self.columns = columns
        self.drop = drop
        self.keep = keep
        self.dates = dates
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, target: Any = None, sample_weight: Any = None, **params: Any
    ) -> Self:
        """Weigh the rows and fit the estimator to them.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Rows of the source.
        y : array-like of shape (n,)
            Their labels.
        target : array-like or frame of shape (m, d), or Target
            Rows of the target, without labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows of the source. The ratio is that of the target to the weighted
            source, and multiplies them.
        **params
            Further arguments of the estimator's ``fit``.

        Returns
        -------
        ShiftWeighted
            This one.
        """
        check_estimator(self.estimator)
        weight_argument(self.estimator)
        check_option(self.on_failure, "on_failure", ["warn", "raise"])
        rows = target_rows(target)
        given = labelled(X, y, sample_weight, owner=self, one_column=False)
        routed = process_routing(self, "fit", **params).estimator.fit if params else {}
        found = learn_ratio(
            given.rows,
            rows,
            ratio=self.ratio,
            columns=Looked(self.columns, self.drop, self.keep, self.dates),
            sample_weight=given.weight,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        if not found.weights.usable:
            if self.on_failure == "raise":
                raise WeightingError(found.weights.verdict, found.weights)
            tell(found.weights.verdict, stacklevel=2)
        elif found.blind:
            tell(found.blind, stacklevel=2)
        self.weights_ = found.weights
        self.estimator_ = fit_clone(self.estimator, given.rows, y, target, found.held_out, **routed)
        return self

    @property
    def classes_(self) -> Any:
        """Labels of a classifier."""
        check_is_fitted(self)
        return self.estimator_.classes_

    @available("predict")
    def predict(self, X: Any, **params: Any) -> Any:
        """Predictions of the fitted estimator."""
        return self._asked("predict", X, **params)

    @available("predict_proba")
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Probabilities of the fitted estimator."""
        return self._asked("predict_proba", X, **params)

    @available("predict_log_proba")
    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """Logarithms of the probabilities of the fitted estimator."""
        return self._asked("predict_log_proba", X, **params)

    @available("decision_function")
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Decision function of the fitted estimator."""
        return self._asked("decision_function", X, **params)

    @available("score")
    def score(self, X: Any, y: Any, **params: Any) -> Any:
        """Score of the fitted estimator on labelled rows, as it is without weights."""
        return self._asked("score", X, y, **params)

    def _asked(self, method: str, X: Any, *arguments: Any, **params: Any) -> Any:
        check_is_fitted(self)
        rows = as_given(X, "X", self)
        return getattr(self.estimator_, method)(rows, *arguments, **params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Routes of metadata: ``target`` to this, the rest to the estimator."""
        request = get_routing_for_object(self.estimator)
        if isinstance(request, MetadataRequest):
            # It is given weights here whether it asks for them or not.
            request.fit.add_request(param="sample_weight", alias=True)
        mapping = MethodMapping()
        for method in ("fit", *_ASKED):
            mapping.add(caller=method, callee=method)
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=request, method_mapping=mapping)

    def __sklearn_tags__(self) -> Tags:
        return delegated_tags(super().__sklearn_tags__(), self.estimator)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")


_ASKED = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score")
