"""Mutual information of many pairs of columns: a matrix, and scores of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.seeds import Seeds
from ..data.validation import check_number
from ..typing import Array, RandomState
from .copulas import gaussian_information
from .discrete import label_information, table_information
from .neighbours import ksg_terms
from .reading import Values, columns_of, read_side
from .sides import Side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Neighbours of a single pair of columns: as few as keep the noise down.
_NEIGHBOURS = 5
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
        """Show the matrix as a heat map.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        Axes
        """
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
    agrees within the noise and is more precise; two labels by their table of counts; numbers
    and labels by a classifier.

    Parameters
    ----------
    table : array-like or frame of shape (n, d)
        Text, booleans and numbers with few values are labels.
    random_state : int, Generator, RandomState or None
        Seeds the folds of classifiers.

    Returns
    -------
    InformationMatrix

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
    sides = [read_side(column, f"column {name!r}") for name, column in columns.items()]
    seeds = Seeds(random_state)
    d = len(sides)
    values, errors = np.zeros((d, d)), np.zeros((d, d))
    for i in range(d):
        label = sides[i][1]
        values[i, i] = np.inf if label is None else _entropy(label)
        for j in range(i):
            values[i, j], errors[i, j] = _pair(sides[i], sides[j], seeds)
            values[j, i], errors[j, i] = values[i, j], errors[i, j]
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
    columns = list(columns_of(X, "X").values())
    target = read_side(y, "y")
    n = len(next(values for values in target if values is not None))
    if len(columns[0]) != n:
        raise ValueError(
            f"X and y must have the same number of rows; received {len(columns[0])} and {n}."
        )
    seeds = Seeds(random_state)
    sides = [read_side(column, "X") for column in columns]
    scores = [_pair(side, target, seeds)[0] for side in sides]
    return np.maximum(scores, 0.0)


def _pair(left: Values, right: Values, seeds: Seeds) -> tuple[float, float]:
    """Value and standard error of one pair, by a quick method."""
    (x, x_label), (y, y_label) = left, right
    if x_label is not None and y_label is not None:
        return table_information(x_label, y_label)
    if x_label is not None or y_label is not None:
        rows, label = (y, x_label) if x_label is not None else (x, y_label)
        assert rows is not None and label is not None
        return label_information(rows, label, seeds, 3)[:2]
    assert x is not None and y is not None
    a, b = Side.of(x), Side.of(y)
    if not a.width or not b.width:
        return 0.0, 0.0
    n = len(x)
    check_number(n, "the number of rows", low=20, integer=True)
    value, error = gaussian_information(a.scores, b.scores)
    terms = ksg_terms(a.scores, b.scores, k=_NEIGHBOURS)
    near, near_error = float(terms.mean()), float(terms.std() / np.sqrt(n))
    if abs(near - value) > 3.0 * np.hypot(error, near_error):
        return near, near_error
    return value, error


def _entropy(label: np.ndarray) -> float:
    share = np.bincount(label) / len(label)
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())
