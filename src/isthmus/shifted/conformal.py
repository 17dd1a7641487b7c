"""Intervals and sets that hold the label on the target as often as they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from ..data.seeds import Seeds
from ..data.telling import tell
from ..data.validation import check_number, check_option
from ..typing import Array, BoolArray, RandomState
from ..weighting import WeightingError, Weights
from .calibrating import conformity_of, effective_size, kind_of, least_size, split
from .conformity import KINDS, Interval, LabelSet
from .doors import Labelled, as_given, as_numbers, labelled
from .inner import available, check_estimator, delegated_tags, fit_clone, is_fitted
from .quantile import weighted_thresholds
from .ratio import Looked, learn_ratio
from .target import target_rows

T = TypeVar("T")


class ShiftedConformal(MetaEstimatorMixin, BaseEstimator):
    r"""Prediction intervals and prediction sets whose coverage holds on the target.

    Weighted split conformal prediction: a part of the labelled rows is held out from the
    estimator, its errors there are weighted by the density of the target over that of the source,
    and every new row takes its own weight into the quantile. If labels given the columns are
    distributed alike on both sides, an interval at :math:`\alpha = 0.1` holds the label of a new
    row of the target with probability 0.9, whatever the estimator.

    That is exact where the ratio of the densities is. It is estimated, and with weights of mean
    one the coverage is at least

    .. math:: 1 - \alpha - \tfrac12\, E\,|\hat w(X) - w(X)|,

    the expectation over the source (Lei & Candès, 2021). ``coverage_loss_`` is that last term, as
    far as fits to fewer rows tell it. It is a bound for the worst labels; what is lost is mostly
    much less.

    Parameters
    ----------
    estimator : estimator
        A regressor, or a classifier with ``predict_proba``. One whose ``fit`` takes a ``target``,
        such as :class:`ShiftWeighted`, is given it.
    alpha : float, default 0.1
        Share of labels that may be missed.
    conformity : {"auto", "absolute", "normalised", "lac", "aps"}, default "auto"
        How far a label is from the prediction. For a regressor "absolute" (intervals of about one
        width, the default) or "normalised" (wider where labels scatter more: a second copy of the
        estimator learns how far they do). For a classifier "lac" (the smallest sets, which
        may be empty; the default) or "aps" (larger where the label is hard to tell).
    cv : {"split", "prefit"}, default "split"
        "prefit" takes the estimator as it is, already fitted to other rows; all rows given
        to ``fit`` then calibrate it (but for those from which a "normalised" score learns).
    calibration_size : float, default 0.5
        Share of the rows that calibrate, where they are split.
    on_small : {"warn", "raise"}, default "warn"
        What to do where the weights leave too few rows to calibrate with, or where no weighting
        helps.
    ratio : estimator, optional
        What estimates the ratio of the densities, as ``estimator`` of
        :func:`isthmus.importance_weights`.
    columns, drop, keep, dates
        Which columns of frames the ratio looks at, as in :func:`isthmus.compare`. The estimator
        has all of them.
    random_state : int, Generator, RandomState or None
        Makes split and weights reproducible. The estimator has its own.
    n_jobs : int, optional
        Number of fits of the ratio to run at a time.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    ratio_ : ShiftRatio
        Density of the target over that of the source: ``ratio_.at(rows)`` are weights of new rows.
    weights_ : Weights
        What the rows of X count for on the target, with its certificate.
    calibration_ : ndarray of int
        Places of the rows of X that calibrate.
    scores_, calibration_weight_ : ndarray
        Their conformity scores and what they count for.
    effective_sample_size_ : float
        How many rows of equal weight these are worth. The coverage of one fit scatters
        around its mean by :math:`\sqrt{\alpha(1 - \alpha) / n}` with this n.
    least_sample_size_ : float
        What it has to be: below, that scatter exceeds half of ``alpha``.
    coverage_loss_ : float
        Estimated bound on what errors of the ratio take from the coverage.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X, target = rng.normal(0, 1, (1000, 1)), rng.normal(1, 0.7, (1000, 1))
    >>> y = X[:, 0] + (0.5 + X[:, 0] ** 2) * rng.normal(size=1000)
    >>> model = isthmus.ShiftedConformal(LinearRegression(), alpha=0.1, random_state=0)
    >>> low, high = model.fit(X, y, target=target).predict_interval(target).T
    >>> new = target[:, 0] + (0.5 + target[:, 0] ** 2) * rng.normal(size=1000)
    >>> bool(0.85 < np.mean((low <= new) & (new <= high)) < 0.95)
    True
    """

    __metadata_request__fit = {"target": True}  # noqa: RUF012 (scikit-learn reads it from the class)

    def __init__(
        self,
        estimator: Any,
        alpha: float = 0.1,
        *,
        conformity: str = "auto",
        cv: str = "split",
        calibration_size: float = 0.5,
        on_small: str = "warn",
        ratio: Any = None,
        columns: Any = None,
        drop: Any = (),
        keep: Any = (),
        dates: Any = "days",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.conformity = conformity
        self.cv = cv
        self.calibration_size = calibration_size
        self.on_small = on_small
        self.ratio = ratio
        self.columns = columns
        self.drop = drop
        self.keep = keep
        self.dates = dates
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, target: Any = None, sample_weight: Any = None) -> Self:
        """Fit the estimator to a part of the rows and calibrate it on the others.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Rows of the source.
        y : array-like of shape (n,)
            Their labels.
        target : array-like or frame of shape (m, d), or Target
            Rows of the target, without labels; those to be predicted will do.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows of the source, in the estimator and in the calibration.

        Returns
        -------
        ShiftedConformal
            This one.
        """
        kind = self._checked()
        given = labelled(X, y, sample_weight, owner=self)
        if kind in KINDS["regressor"]:
            given = replace(given, labels=as_numbers(given.labels))
        seeds = Seeds(self.random_state)
        self.ratio_ = learn_ratio(
            given.rows,
            target_rows(target),
            ratio=self.ratio,
            columns=Looked(self.columns, self.drop, self.keep, self.dates),
            sample_weight=given.weight,
            random_state=int(seeds("ratio").integers(2**31)),
            n_jobs=self.n_jobs,
        )
        self._calibrate(kind, given, target, seeds)
        self._judge()
        return self

    def _calibrate(self, kind: str, given: Labelled, target: Any, seeds: Seeds) -> None:
        """Fit the estimator to a part of the rows, unless it is fitted, and score the others."""
        prefit = self.cv == "prefit"
        n = len(given.labels)
        # A spread needs rows of its own that do not calibrate.
        train, at = (
            (np.arange(0), np.arange(n))
            if prefit and kind != "normalised"
            else split(n, self.calibration_size, seeds)
        )
        part, rest = given.take(train), given.take(at)
        if prefit:
            self.estimator_ = self.estimator
        else:
            self.estimator_ = fit_clone(self.estimator, part.rows, part.labels, target, part.weight)
        fitted = self.estimator_ if prefit else None
        self.conformity_ = conformity_of(kind, self.estimator, fitted, part, target)
        self.calibration_ = at
        self.scores_ = self.conformity_.scores(self.estimator_, rest.rows, rest.labels)
        self.calibration_weight_ = self.ratio_.held_out[at]

    def _checked(self) -> str:
        """Refuse parameters that do not fit; return the name of the conformity scores."""
        check_estimator(self.estimator)
        _check_alpha(self.alpha)
        check_option(self.cv, "cv", ["split", "prefit"])
        check_option(self.on_small, "on_small", ["warn", "raise"])
        check_number(
            self.calibration_size, "calibration_size", low=0, high=1, open_low=True, open_high=True
        )
        names = [name for every in KINDS.values() for name in every]
        check_option(self.conformity, "conformity", ["auto", *names])
        if self.cv == "prefit" and not is_fitted(self.estimator):
            raise ValueError(
                "estimator must be fitted where cv='prefit'; received a "
                f"{type(self.estimator).__name__} that is not."
            )
        return kind_of(self.estimator, self.conformity)

    def _judge(self) -> None:
        """How many rows are left, and what an error of the weights may cost."""
        self.effective_sample_size_ = effective_size(self.calibration_weight_)
        self.least_sample_size_ = least_size(self.alpha)
        self.coverage_loss_ = min(0.5 * float(self.ratio_.absolute_error.mean()), 1.0)
        told = []
        if self.effective_sample_size_ < self.least_sample_size_:
            told.append(
                f"The {len(self.scores_)} rows that calibrate are worth "
                f"{self.effective_sample_size_:.0f} on the target, and alpha={self.alpha:g} needs "
                f"{self.least_sample_size_:.0f}: the coverage of this fit may be far from "
                f"{1 - self.alpha:g}, and intervals may be infinite. Give more rows of the source "
                "where the target is, or a larger alpha."
            )
        if not self.weights_.usable:
            told.append(self.weights_.verdict)
        if not told:
            if self.ratio_.blind:
                tell(self.ratio_.blind, stacklevel=3)
            return
        if self.on_small == "raise":
            raise WeightingError(" ".join(told), self.weights_)
        tell(" ".join(told), stacklevel=3)

    def predict_interval(self, X: Any, alpha: float | None = None) -> Array:
        """Prediction intervals of a regressor.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            New rows of the target.
        alpha : float, optional
            Share of labels that may be missed; by default that of the estimator.

        Returns
        -------
        ndarray of shape (n, 2)
            Lower and upper ends. A row that alone has more than ``alpha`` of all weight
            has an infinite interval, of which a warning tells.
        """
        rows = self._new(X)
        conformity = self._conformity(Interval, "predict_interval", "regressor")
        return conformity.intervals(self.estimator_, rows, self._thresholds(rows, alpha))

    def predict_set(self, X: Any, alpha: float | None = None) -> BoolArray:
        """Prediction sets of a classifier.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            New rows of the target.
        alpha : float, optional
            Share of labels that may be missed; by default that of the estimator.

        Returns
        -------
        ndarray of bool of shape (n, k)
            Whether a label of ``classes_`` is in the set of a row. A row that alone has more
            than ``alpha`` of all weight has all labels, of which a warning tells.
        """
        rows = self._new(X)
        conformity = self._conformity(LabelSet, "predict_set", "classifier")
        return conformity.sets(self.estimator_, rows, self._thresholds(rows, alpha))

    def label_sets(self, X: Any, alpha: float | None = None) -> list[list[Any]]:
        """The labels in the set of each row, the likeliest first.

        Parameters
        ----------
        X, alpha
            As of :meth:`predict_set`.

        Returns
        -------
        list of lists of labels
        """
        inside = self.predict_set(X, alpha)
        order = np.argsort(-np.asarray(self.predict_proba(X)), axis=1, kind="stable")
        names = np.asarray(self.classes_).tolist()
        return [
            [names[k] for k in places if row[k]] for row, places in zip(inside, order, strict=True)
        ]

    def _new(self, X: Any) -> Any:
        """New rows, checked."""
        check_is_fitted(self)
        return as_given(X, "X", self)

    def _conformity(self, form: type[T], method: str, what: str) -> T:
        if not isinstance(self.conformity_, form):
            raise ValueError(
                f"{method} is for a {what}; received a {type(self.estimator_).__name__}."
            )
        return self.conformity_

    def _thresholds(self, rows: Any, alpha: float | None) -> Array:
        alpha = self.alpha if alpha is None else alpha
        _check_alpha(alpha)
        new = self.ratio_.at(rows)
        found = weighted_thresholds(self.scores_, self.calibration_weight_, new, alpha)
        infinite = int(np.isinf(found).sum())
        if infinite:
            tell(
                f"{infinite} of {len(found)} rows may have any label: the rows that calibrate are "
                f"worth {self.effective_sample_size_:.0f} on the target, too few beside the weight "
                f"of such a row for alpha={alpha:g}.",
                stacklevel=3,
            )
        return found

    @property
    def weights_(self) -> Weights:
        """What the rows of X count for on the target, with its certificate."""
        check_is_fitted(self)
        return self.ratio_.weights

    @property
    def classes_(self) -> Any:
        """Labels of a classifier."""
        check_is_fitted(self)
        return self.estimator_.classes_

    @available("predict")
    def predict(self, X: Any) -> Any:
        """Predictions of the fitted estimator, without intervals."""
        rows = self._new(X)
        return self.estimator_.predict(rows)

    @available("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the fitted estimator."""
        rows = self._new(X)
        return self.estimator_.predict_proba(rows)

    @available("score")
    def score(self, X: Any, y: Any) -> Any:
        """Score of the fitted estimator's predictions."""
        rows = self._new(X)
        return self.estimator_.score(rows, y)

    def get_metadata_routing(self) -> MetadataRouter:
        """Routes of metadata: all of it to this one."""
        return MetadataRouter(owner=self).add_self_request(self)

    def __sklearn_tags__(self) -> Tags:
        tags = delegated_tags(super().__sklearn_tags__(), self.estimator)
        tags.target_tags.multi_output = tags.target_tags.two_d_labels = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "scores_")


def _check_alpha(alpha: Any) -> None:
    check_number(alpha, "alpha", low=0, high=1, open_low=True, open_high=True)
