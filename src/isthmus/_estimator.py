"""What every estimator of a density ratio has in common: scikit-learn's contract.

A subclass writes two methods, :meth:`RatioEstimator._fit_samples` and
:meth:`RatioEstimator._log_ratio`, and is an estimator with validation, frames,
labels, weights, ``predict``, ``predict_proba`` and ``score``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._random import Seeds
from ._typing import Array
from ._validation import as_labels, as_rows, as_weight, column_names, select_columns

CHUNK_ROWS = 16_384


@dataclass(frozen=True)
class TwoSamples:
    """The two samples of a fit, checked.

    Attributes
    ----------
    p, q : ndarray of shape (n, d)
        Rows of the numerator and of the denominator.
    weight_p, weight_q : ndarray of shape (n,) or None
        Weights of the rows, all positive.
    seeds : Seeds
        Named generators made of the estimator's ``random_state``.
    names : ndarray of str or None
        Names of the columns, where they had any.
    """

    p: Array
    q: Array
    weight_p: Array | None
    weight_q: Array | None
    seeds: Seeds
    names: Any = None

    @property
    def weights(self) -> tuple[Array | None, Array | None]:
        """Both weights."""
        return self.weight_p, self.weight_q

    @property
    def shares(self) -> tuple[Array, Array]:
        """Weights of the rows of p and of q, each adding up to one."""
        masses = (
            np.ones(len(rows)) if weight is None else weight
            for rows, weight in ((self.p, self.weight_p), (self.q, self.weight_q))
        )
        share_p, share_q = (mass / mass.sum() for mass in masses)
        return share_p, share_q


class RatioEstimator(BaseEstimator):
    """Base of estimators of log p/q with ``fit(X, y)`` and ``log_ratio(X)``.

    A subclass gives :meth:`_fit_samples` and :meth:`_log_ratio`, and
    :meth:`_check_parameters` if it has parameters to refuse. It may set
    ``_takes_missing``.

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

    @property
    def _takes_missing(self) -> bool:
        """Whether rows may hold NaN."""
        return False

    def _check_parameters(self) -> None:
        """Refuse parameters that do not fit, before the data are looked at."""

    def _fit_samples(self, samples: TwoSamples) -> None:
        """Fit to two samples that are checked; results go to attributes that end in "_"."""
        raise NotImplementedError

    def _log_ratio(self, rows: Array) -> Array:
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
        return self._fit_aside(X, y, sample_weight)

    def _fit_aside(self, X: Any, y: Any, sample_weight: Any, **how: Any) -> Self:
        # A fit that is refused loses nothing: the work is done on the side.
        work = type(self)(**self.get_params(deep=False))
        work._check_parameters()
        work._fit_samples(work._read(X, y, sample_weight), **how)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.__dict__.update(vars(work))
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
        rows = self._rows(X)
        out = np.empty(len(rows))
        for part in chunks(len(rows)):
            out[part] = self._log_ratio(rows[part])
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
        weight = as_weight(sample_weight, len(log_ratio))
        mass = np.ones(len(log_ratio)) if weight is None else weight
        total = 0.0
        for own, sign, label in ((is_p, -1.0, 1), (~is_p, 1.0, 0)):
            if not mass[own].sum() > 0:
                raise ValueError(
                    "X must hold rows of both labels to be scored; received none of "
                    f"{self.classes_[label]!r}."
                )
            loss = np.logaddexp(0.0, sign * log_ratio[own])
            total -= 0.5 * float(np.average(loss, weights=mass[own]))
        return total

    def _read(self, X: Any, y: Any, sample_weight: Any) -> TwoSamples:
        """Validate the input and take the two samples apart."""
        names = column_names(X)
        rows = as_rows(X, "X", flat=False, missing=self._takes_missing)
        is_p, self.classes_ = as_labels(y, len(rows))
        weight = as_weight(sample_weight, len(rows))
        self.n_features_in_ = rows.shape[1]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        if weight is not None:
            # A row of weight zero is a row that was not given.
            is_p, rows, weight = is_p[weight > 0], rows[weight > 0], weight[weight > 0]
        for own, label in ((is_p, self.classes_[1]), (~is_p, self.classes_[0])):
            if (own.sum() if weight is None else weight[own].sum()) < 2:
                raise ValueError(
                    "X must hold at least two rows of each class (by weight); received "
                    f"{own.sum()} of label {label} (n_samples={len(rows)})."
                )
        return TwoSamples(
            p=rows[is_p],
            q=rows[~is_p],
            weight_p=None if weight is None else weight[is_p],
            weight_q=None if weight is None else weight[~is_p],
            seeds=Seeds(self.random_state),
            names=getattr(self, "feature_names_in_", None),
        )

    def _rows(self, X: Any) -> Array:
        """Validate rows to predict for; frames are matched by column name."""
        if hasattr(self, "feature_names_in_"):
            X = select_columns(X, list(self.feature_names_in_), "X")
        rows = as_rows(X, "X", flat=self.n_features_in_ == 1, missing=self._takes_missing)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return rows

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        # For scikit-learn's splitters: folds are stratified by y.
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.target_tags.required = True
        return tags


def chunks(n: int, rows: int = CHUNK_ROWS) -> Iterator[slice]:
    """Slices that cover n rows, some at a time."""
    return (slice(begin, min(begin + rows, n)) for begin in range(0, n, rows))
