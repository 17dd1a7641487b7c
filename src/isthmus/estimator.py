"""What every estimator of a density ratio has in common: scikit-learn's contract.

A subclass writes two methods, :meth:`RatioEstimator.learn` and
:meth:`RatioEstimator.evaluate`, and is an estimator with validation, frames,
labels, weights, ``predict``, ``predict_proba`` and ``score``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .data.blocks import slices
from .data.frames import column_names, select_columns
from .data.sample import Sample, TwoSamples
from .data.seeds import Seeds
from .data.threads import limited_threads
from .data.validation import as_labels, as_rows, as_weight
from .maps.affine import check_varies
from .model.classes import CriticModel
from .model.rows import fresh_rows
from .model.solvers import Solution
from .selection.record import Selection
from .typing import Array


@dataclass(frozen=True)
class FitFacts:
    """What a fitted estimator tells of itself, for checks and standard errors.

    Attributes
    ----------
    model : CriticModel or None
        Critics of all classes, where it has them.
    auxiliaries : sequence
        Fitted, one for each class beyond p and q.
    learned : bool
        Whether a critic was learned, or the ratio is that of anchors alone.
    solution : Solution or None
        How its solver ended.
    selection : Selection
        How its settings were chosen; empty where nothing was.
    """

    model: CriticModel | None = None
    auxiliaries: Sequence[Any] = ()
    learned: bool = True
    solution: Solution | None = None
    selection: Selection = field(default_factory=Selection)

    @property
    def alternatives(self) -> list[tuple[Array, Array]]:
        """Log-ratios by anchors that fit as well, where the ratio is that of anchors alone."""
        return [] if self.learned else self.selection.alternatives


class RatioEstimator(BaseEstimator):
    """Base of estimators of log p/q with ``fit(X, y)`` and ``log_ratio(X)``.

    A subclass gives :meth:`learn` and :meth:`evaluate`, and :meth:`check_parameters` if
    it has parameters to refuse. It says what it can do: ``takes_missing``, whether rows may
    hold NaN; ``crosses_chasm``, whether it joins far samples by itself; ``takes_start``,
    whether its :meth:`learn` takes the ``solution_`` of another fit to start from.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels in y: of the denominator, then of the numerator.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X was a frame.
    """

    random_state: Any = None
    crosses_chasm: bool = False
    takes_start: bool = False

    @property
    def takes_missing(self) -> bool:
        """Whether rows may hold NaN."""
        return False

    @property
    def facts(self) -> FitFacts:
        """What the fit tells of itself, from the attributes that :meth:`learn` may set."""
        found = vars(self)
        selection = found.get("selection_")
        return FitFacts(
            learned=bool(np.isfinite(found.get("l2_", 0.0)).any()),
            solution=found.get("solution_"),
            selection=selection if isinstance(selection, Selection) else Selection(),
        )

    def check_parameters(self) -> None:
        """Refuse parameters that do not fit, before the data are looked at."""

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        """Fit to two samples that are checked; results go to attributes that end in "_"."""
        raise NotImplementedError

    def evaluate(self, rows: Array) -> Array:
        """Log p/q at rows that are checked, shape (n,); called with some rows at a time."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the rows of two samples.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Rows of both samples; see :func:`isthmus.stack`.
        y : array-like of shape (n,)
            1 for rows of the numerator p, 0 for rows of the denominator q. Of
            any other two labels the larger is the numerator.
        sample_weight : array-like of shape (n,), optional
            A weight of two counts as the row given twice.

        Returns
        -------
        self
        """
        return self._fit_rows(X, y, sample_weight)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, **how: Any) -> Self:
        """The door: check everything that comes from outside, then fit."""
        self.check_parameters()
        if isinstance(y, str):
            from .large.labelled import fit_source  # only few fits need it

            return fit_source(self, X, y, sample_weight)
        samples, classes = self._read(X, y, sample_weight)
        check_varies(samples.positive())
        self.fit_samples(samples, **how)
        self.classes_ = classes
        return self

    @limited_threads()
    def fit_samples(self, samples: TwoSamples, **how: Any) -> Self:
        """Fit to two samples that were checked at a door; ``how`` goes to :meth:`learn`."""
        # A fit that is refused loses nothing: the work is done on the side.
        work = type(self)(**self.get_params(deep=False))
        work.check_parameters()
        work.n_features_in_ = samples.n_columns
        if samples.names is not None:
            work.feature_names_in_ = np.array(samples.names, dtype=object)
        work.classes_ = np.array([0, 1])
        work.learn(samples.positive(), Seeds(self.random_state), **how)
        found = {name: value for name, value in vars(work).items() if name not in work.get_params()}
        # What an earlier fit left is gone, whatever its settings were.
        for name in self.__dict__.pop("_fitted", ()):
            self.__dict__.pop(name, None)
        self.__dict__.update(found, _fitted=tuple(found))
        return self

    def log_ratio(self, X: Any) -> Array:
        """Log of p/q at the rows of X.

        Parameters
        ----------
        X : array-like or frame of shape (n, d) or (n,)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return self.log_ratio_at(self.as_rows(X))

    @limited_threads()
    def log_ratio_at(self, rows: Array) -> Array:
        """Log of p/q at rows that were checked at a door, some at a time."""
        out = np.empty(len(rows))
        for at in slices(len(rows)):
            out[at] = self.evaluate(rows[at])
        return out

    def decision_function(self, X: Any) -> Array:
        """The same as ``log_ratio(X)``, under scikit-learn's name."""
        return self.log_ratio(X)

    def predict(self, X: Any) -> Array:
        """Label of whichever of p and q is the denser at each row."""
        denser = self.log_ratio(X) > 0
        return np.asarray(self.classes_[denser.astype(int)])

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the labels ``classes_``, if p and q were equally frequent."""
        p = expit(self.log_ratio(X))
        return np.column_stack([1.0 - p, p])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Log-likelihood of the labels per row, with p and q equally frequent.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`, of rows that the fit has not seen.

        Returns
        -------
        float
            At most 0; -log 2 for a ratio that is one everywhere.
        """
        log_ratio = self.log_ratio(X)
        is_p, _ = as_labels(y, len(log_ratio), self.classes_)
        sample = Sample(log_ratio, as_weight(sample_weight, len(log_ratio)))
        total = 0.0
        for own, sign, label in ((sample.take(is_p), -1.0, 1), (sample.take(~is_p), 1.0, 0)):
            self._check_present(own, label)
            total -= 0.5 * float(own.share @ np.logaddexp(0.0, sign * own.rows))
        return total

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted model, without the rows, to a file; see :func:`isthmus.load`."""
        from .storing import save

        return save(self, path)

    def as_rows(self, X: Any) -> Array:
        """Check rows to predict for; frames are matched by column name."""
        if hasattr(self, "feature_names_in_"):
            X = select_columns(X, list(self.feature_names_in_), "X")
        rows = as_rows(X, "X", flat=self.n_features_in_ == 1, missing=self.takes_missing)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return rows

    def _check_present(self, sample: Sample, label: int) -> None:
        if not sample.weight.sum() > 0:
            raise ValueError(
                "X must hold rows of both labels to be scored; received none of "
                f"{self.classes_[label]!r}."
            )

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[TwoSamples, Array]:
        """Check the input and take the two samples apart; with them, the labels."""
        names = column_names(X)
        rows = as_rows(X, "X", flat=False, missing=self.takes_missing)
        is_p, classes = as_labels(y, len(rows))
        weight = as_weight(sample_weight, len(rows))
        p, q = (Sample(rows[own], weight[own]).positive() for own in (is_p, ~is_p))
        for sample, label in ((p, classes[1]), (q, classes[0])):
            # One row of weight two is a row that was given twice.
            if sample.size < 2:
                raise ValueError(
                    "X must hold at least two rows of positive weight of each class; received "
                    f"{len(sample)} of label {label} (n_samples={len(p) + len(q)})."
                )
        return TwoSamples(p, q, None if names is None else tuple(names)), classes

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        # For scikit-learn's splitters: folds are stratified by y.
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.target_tags.required = True
        return tags


class ClassEstimator(RatioEstimator):
    """Base of estimators that learn a critic h_c for p, q and every auxiliary.

    A subclass sets ``model_`` and ``auxiliaries_`` in its :meth:`learn`.

    Attributes
    ----------
    model_ : CriticModel
        The fitted model, without rows.
    class_names_ : list of str
        "p", "q", "m1", ..., "mK": the columns of :meth:`predict_proba`.
    log_prior_ : ndarray of shape (K + 2,)
        Log of the class priors.
    """

    model_: CriticModel
    auxiliaries_: list[Any]

    @property
    def class_names_(self) -> list[str]:
        """Names of the classes."""
        return fitted(self).class_names

    @property
    def log_prior_(self) -> Array:
        """Log of the class priors."""
        return fitted(self).log_prior

    @property
    def facts(self) -> FitFacts:
        """What the fit tells of itself."""
        return replace(super().facts, model=self.model_, auxiliaries=self.auxiliaries_)

    def evaluate(self, rows: Array) -> Array:
        """Log p/q at rows that are checked."""
        return self.model_.log_ratio(rows)

    def log_ratio(self, X: Any, numerator: str = "p", denominator: str = "q") -> Array:
        """Log of the ratio of two classes' densities at the rows of X.

        Parameters
        ----------
        X : array-like or frame of shape (n, d) or (n,)
        numerator, denominator : str
            Names of two classes: "p", "q", "m1", ...

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        for name, argument in ((numerator, "numerator"), (denominator, "denominator")):
            self.model_.place(name, argument)
        return self.model_.log_ratio(self.as_rows(X), numerator, denominator)

    def predict_log_proba(self, X: Any) -> Array:
        """Log-probabilities of the K + 2 classes, in the order of ``class_names_``."""
        check_is_fitted(self)
        return self.model_.log_proba(self.as_rows(X))

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the K + 2 classes, in the order of ``class_names_``."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Multinomial log-likelihood per sample, over all K + 2 classes.

        The rows given stand for p and q. Auxiliaries of known density are drawn
        anew; mixing auxiliaries are made anew from the rows given; an auxiliary
        given as an array is taken as it is.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`, of rows that the fit has not seen.

        Returns
        -------
        float
            The mean over the classes, weighted by their priors, of the mean
            log-probability of the true class.
        """
        check_is_fitted(self)
        return float(np.exp(self.log_prior_) @ self.class_log_likelihood(X, y, sample_weight)[0])

    def class_log_likelihood(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[Array, Array]:
        """Mean log-probability of the true class, and accuracy, for every class.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`score`.

        Returns
        -------
        log_likelihood, accuracy : ndarrays of shape (K + 2,)
        """
        check_is_fitted(self)
        rows = self.as_rows(X)
        is_p, _ = as_labels(y, len(rows), self.classes_)
        sample = Sample(rows, as_weight(sample_weight, len(rows)))
        samples = TwoSamples(sample.take(is_p), sample.take(~is_p))
        for own, label in zip(samples, (1, 0), strict=True):
            self._check_present(own, label)
        return self.judge(samples)

    def judge(self, samples: TwoSamples) -> tuple[Array, Array]:
        """The same for two samples that were checked at a door."""
        # Seeds are fixed, so that a score of the same rows is the same number.
        classes = fresh_rows(self.auxiliaries_, samples, Seeds(0))
        log_likelihood, accuracy = np.empty(len(classes)), np.empty(len(classes))
        for c, own in enumerate(classes):
            logits = self.model_.critics(own.rows) + self.model_.log_prior
            log_likelihood[c] = own.mean(log_softmax(logits, axis=1)[:, c])
            accuracy[c] = own.mean(logits.argmax(axis=1) == c)
        return log_likelihood, accuracy


def fitted(estimator: ClassEstimator) -> CriticModel:
    """The model of an estimator, or an AttributeError as for any other fitted attribute."""
    if "model_" not in vars(estimator):
        raise AttributeError(f"This {type(estimator).__name__} is not fitted yet.")
    return estimator.model_
