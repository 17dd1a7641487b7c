"""How far a label is from what a model says: conformity scores, and what they leave possible.

Each kind has ``scores(model, X, y)``, one number for each labelled row, the larger the less the
label conforms. From a threshold for each new row come intervals or sets: all labels whose score is
at most the threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..typing import Array, BoolArray


@dataclass(frozen=True)
class Interval:
    r"""Scores of a regressor, :math:`|y - \hat y(x)| / s(x)`.

    Attributes
    ----------
    spread : callable, optional
        s(x), positive; one everywhere if it is left out.
    """

    spread: Callable[[Any], Array] | None = None

    def scores(self, model: Any, X: Any, y: Array) -> Array:
        """Distances of labels from predictions."""
        return np.asarray(np.abs(y - predicted(model, X)) / self._spread(X))

    def intervals(self, model: Any, X: Any, threshold: Array) -> Array:
        """Ends of the intervals, shape (n, 2)."""
        middle, half = predicted(model, X), threshold * self._spread(X)
        return np.column_stack([middle - half, middle + half])

    def _spread(self, X: Any) -> Any:
        return 1.0 if self.spread is None else self.spread(X)


@dataclass(frozen=True)
class LabelSet:
    """Scores of a classifier, from the probabilities of the labels.

    Attributes
    ----------
    of_probabilities : callable
        Scores of all labels, shape (n, k), from their probabilities: :func:`least_ambiguous` or
        :func:`adaptive`.
    """

    of_probabilities: Callable[[Array], Array]

    def scores(self, model: Any, X: Any, y: Any) -> Array:
        """Scores of the labels; infinite for one that the model does not know."""
        every = self.of_probabilities(np.asarray(model.predict_proba(X)))
        place = {label: k for k, label in enumerate(np.asarray(model.classes_).tolist())}
        at = np.array([place.get(label, -1) for label in np.asarray(y).tolist()])
        return np.where(at >= 0, every[np.arange(len(at)), at], np.inf)

    def sets(self, model: Any, X: Any, threshold: Array) -> BoolArray:
        """Which labels are in the set of each row, shape (n, k)."""
        every = self.of_probabilities(np.asarray(model.predict_proba(X)))
        return np.asarray(every <= threshold[:, None])


def predicted(model: Any, X: Any) -> Array:
    """Predictions of a regressor as one column of numbers."""
    return np.asarray(model.predict(X), dtype=np.float64).reshape(-1)


def least_ambiguous(probability: Array) -> Array:
    """One less the probability of the label: the smallest sets (Sadinle, Lei & Wasserman, 2019)."""
    return np.asarray(1.0 - probability)


def adaptive(probability: Array) -> Array:
    """Probability of the label and of all likelier ones (Romano, Sesia & Candès, 2020).

    Sets are larger where the label is hard to tell, and never empty where the threshold allows
    the likeliest label. Not randomised: the same row has the same set.
    """
    order = np.argsort(-probability, axis=1, kind="stable")
    running = np.cumsum(np.take_along_axis(probability, order, axis=1), axis=1)
    out = np.empty_like(probability, dtype=np.float64)
    np.put_along_axis(out, order, running, axis=1)
    return out


KINDS = {
    "regressor": ("absolute", "normalised"),
    "classifier": ("lac", "aps"),
}
"""Names of scores, the default first."""

SETS = {"lac": least_ambiguous, "aps": adaptive}
