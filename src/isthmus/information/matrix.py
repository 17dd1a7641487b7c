"""Mutual information of many pairs of columns: a matrix, and scores of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import entropy

from ..data.holdout import PROVEN
from ..data.seeds import Seeds
from ..data.validation import check_number
from ..typing import Array, RandomState
from .binned import binned_information
from .copulas import gaussian_information
from .discrete import pair_information
from .labels import label_information
from .marginal import Marginal
from .neighbours import ksg_terms
from .result import Answer
from .values import Values, columns_of, from_columns, read_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Neighbours of a single pair of columns: as few as keep the noise down. Folds of a classifier.
_NEIGHBOURS, _FOLDS = 5, 3
# More columns than this have no numbers in the cells of a picture.
_WRITTEN = 14


@dataclass(frozen=True)
class InformationMatrix:
    """Mutual information of all pairs of columns, in nats.

    Attributes
    ----------
    names : list of str
    values, std_errors : ndarray of shape (d, d)
        Symmetric. The diagonal holds the entropy of discrete columns and is infinite for others.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 500))
    >>> m = isthmus.mi_matrix({"a": a, "b": b, "sum": a + b}, random_state=0)
    >>> m.names, m.values.shape
    (['a', 'b', 'sum'], (3, 3))
    >>> sorted(name for pair in m.top(2) for name in pair[:2])  # the sum shares with both
    ['a', 'b', 'sum', 'sum']
    """

    names: list[str]
    values: Array
    std_errors: Array

    def top(self, most: int = 10) -> list[tuple[str, str, float]]:
        """Pairs of names with the largest values, the largest first."""
        first, second = np.triu_indices(len(self.names), 1)
        order = np.argsort(-self.values[first, second], kind="stable")[:most]
        return [
            (self.names[i], self.names[j], float(self.values[i, j]))
            for i, j in zip(first[order], second[order], strict=True)
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Show the matrix as a heat map, in new axes unless some are given."""
        from ..plots.style import as_label, axes_or_new

        ax = axes_or_new(ax)
        d = len(self.names)
        shown = np.where(np.eye(d, dtype=bool), np.nan, np.maximum(self.values, 0.0))
        image = ax.imshow(shown, cmap="Blues", vmin=0.0)
        labels = [as_label(name, 20) for name in self.names]
        ax.set_xticks(range(d), labels, rotation=45, ha="right")
        ax.set_yticks(range(d), labels)
        if d <= _WRITTEN:
            middle = 0.5 * float(np.nanmax(shown)) if d > 1 else 0.0
            for i, j in np.argwhere(np.isfinite(shown)):
                colour = "white" if shown[i, j] > middle > 0 else "black"
                text = f"{shown[i, j]:.2f}"
                ax.text(j, i, text, ha="center", va="center", fontsize=7, color=colour)
        ax.figure.colorbar(image, ax=ax, label="mutual information, nats")
        return ax


def mi_matrix(table: Any, *, random_state: RandomState = None) -> InformationMatrix:
    """Mutual information of all pairs of columns.

    Numbers are compared by nearest neighbours of normal scores, or by the normal copula where it
    agrees within the noise and is more precise; two labels by their table of counts; numbers and
    labels by a table of bins.

    Parameters
    ----------
    table : array-like or frame of shape (n, d)
        Text, booleans and numbers with few values are labels.
    random_state : int, Generator, RandomState or None
        Seeds the folds of classifiers.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.information import mi_matrix
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 2000))
    >>> m = mi_matrix(np.column_stack([a, a**2 + 0.1 * b, b]), random_state=0)
    >>> m.top(1)[0][:2]
    ('column 0', 'column 1')
    """
    columns = columns_of(table, "table")
    if len(columns) < 2:
        raise ValueError(f"table must have at least two columns; received {len(columns)}.")
    read = [from_columns({name: column}, "table") for name, column in columns.items()]
    seeds = Seeds(random_state)
    values, errors = np.zeros((2, len(read), len(read)))
    for i, own in enumerate(read):
        values[i, i] = entropy(np.bincount(own.array)) if own.discrete else np.inf
        for j, other in enumerate(read[:i]):
            found = _quickly(own, other, seeds)
            values[i, j] = values[j, i] = found.value
            errors[i, j] = errors[j, i] = found.std_error
    return InformationMatrix(list(columns), values, errors)


def mi_scores(X: Any, y: Any, *, random_state: RandomState = 0) -> Array:
    """Mutual information of every column with y: a score for ``SelectKBest``.

    Parameters
    ----------
    X : array-like or frame of shape (n, d)
    y : array-like of shape (n,)
        Labels or numbers; see :func:`isthmus.mutual_information` on which is which.
    random_state : int, Generator, RandomState or None
        Seeds the folds of classifiers.

    Returns
    -------
    ndarray of shape (d,)
        In nats, at least 0.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from sklearn.feature_selection import SelectKBest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 4))
    >>> y = np.abs(X[:, 2]) + 0.1 * rng.normal(size=1000)
    >>> SelectKBest(isthmus.mi_scores, k=1).fit(X, y).get_support(indices=True)
    array([2])
    """
    columns = columns_of(X, "X")
    target = read_values(y, "y")
    rows = len(next(iter(columns.values())))
    if rows != len(target):
        raise ValueError(
            f"X and y must have the same number of rows; received {rows} and {len(target)}."
        )
    seeds = Seeds(random_state)
    read = [from_columns({name: column}, "X") for name, column in columns.items()]
    return np.maximum([_quickly(each, target, seeds).value for each in read], 0.0)


def _quickly(x: Values, y: Values, seeds: Seeds) -> Answer:
    """Mutual information of two columns of any kind by quick methods."""

    def labels(column: Values, label: Values) -> Answer:
        if len(column.numbers) != 1:
            return label_information(column, label.array, seeds, _FOLDS)
        return binned_information(column, label.array, seeds)

    return pair_information(x, y, seeds, _FOLDS, _of_columns, labels)


def _of_columns(x: Marginal, y: Marginal) -> Answer:
    """Mutual information of numbers by a quick method."""
    check_number(len(x), "the number of rows", low=20, integer=True)
    normal = Answer(*gaussian_information(x.scores, y.scores), "gaussian")
    near = Answer.of_terms(ksg_terms(x.scores, y.scores, k=_NEIGHBOURS), "neighbours")
    noise = np.hypot(normal.std_error, near.std_error)
    return near if abs(near.value - normal.value) > PROVEN * noise else normal
