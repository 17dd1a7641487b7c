"""What an estimator of K + 2 classes predicts, and how it is scored."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from ._estimator import RatioEstimator
from ._random import Seeds
from ._setup import fresh_rows
from ._typing import Array
from ._validation import as_labels, as_weight, check_option


class ClassEstimator(RatioEstimator):
    """Base of estimators that learn a critic h_c for p, q and every auxiliary.

    A subclass gives :meth:`_critics` and sets ``class_names_``, ``log_prior_`` and
    ``auxiliaries_`` in its fit.
    """

    class_names_: list[str]
    log_prior_: Array
    auxiliaries_: list[Any]

    def _critics(self, X: Any) -> Array:
        """h_c at the rows of X for all classes, shape (n, K + 2), in chunks."""
        raise NotImplementedError

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
            check_option(name, argument, self.class_names_)
        h = self._critics(X)
        top, bottom = map(self.class_names_.index, (numerator, denominator))
        if top == bottom:
            return np.zeros(len(h))
        return h[:, top] - h[:, bottom]

    def predict_log_proba(self, X: Any) -> Array:
        """Log-probabilities of the K + 2 classes, in the order of ``class_names_``."""
        check_is_fitted(self)
        return np.asarray(log_softmax(self._critics(X) + self.log_prior_, axis=1))

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
        rows = self._rows(X)
        is_p, _ = as_labels(y, len(rows), self.classes_)
        weight = as_weight(sample_weight, len(rows))
        weight = np.ones(len(rows)) if weight is None else weight
        # Seeds are fixed, so that a score of the same rows is the same number.
        parts, weights = fresh_rows(
            self.auxiliaries_,
            (rows[is_p], rows[~is_p]),
            (weight[is_p], weight[~is_p]),
            Seeds(0),
        )
        log_likelihood, accuracy = np.empty(len(parts)), np.empty(len(parts))
        for c, (part, w) in enumerate(zip(parts, weights, strict=True)):
            if not w.sum() > 0:
                raise ValueError(
                    f"X must hold rows of both labels to be scored; received none of class "
                    f"{self.class_names_[c]!r}."
                )
            logits = self._critics(part) + self.log_prior_
            log_likelihood[c] = np.average(log_softmax(logits, axis=1)[:, c], weights=w)
            accuracy[c] = np.average(logits.argmax(axis=1) == c, weights=w)
        return log_likelihood, accuracy
