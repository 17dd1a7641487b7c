"""The labelled sample that the multinomial regression sees, and ``stack``."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._typing import Array, IntArray
from ._validation import as_two_samples


@dataclass(frozen=True)
class LabelledSample:
    """Rows of every class, stacked class by class once and never changed.

    Attributes
    ----------
    X : ndarray of shape (n, r)
        Rows in the estimator's coordinates.
    label : ndarray of shape (n,)
        Class of each row: 0 is p, 1 is q, then the auxiliaries.
    weight : ndarray of shape (n,)
        Weight of each row; class c holds the share ``exp(log_prior[c])`` of the
        total.
    log_prior : ndarray of shape (C,)
        Log of the class priors.
    offset : ndarray of shape (n, C)
        The part of every class's critic that is not learned: the log-density of
        a known auxiliary, the anchor of a learned class.
    learned : ndarray of shape (C,), bool
        Which classes have a critic to learn.
    """

    X: Array
    label: IntArray
    weight: Array
    log_prior: Array
    offset: Array
    learned: np.ndarray

    def __post_init__(self) -> None:
        if (np.diff(self.label) < 0).any():
            raise ValueError("label must be sorted: the rows come class by class.")

    def __len__(self) -> int:
        return len(self.X)

    def segments(self, rows: slice) -> list[tuple[int, slice]]:
        """Classes that occur in a chunk of rows, and where in it each lies."""
        label = self.label[rows]
        edges = np.searchsorted(label, np.arange(len(self.log_prior) + 1))
        return [
            (c, slice(a, b)) for c, (a, b) in enumerate(itertools.pairwise(edges.tolist())) if b > a
        ]


def stack(p: Any, q: Any) -> tuple[Array, IntArray]:
    """Stack two samples into scikit-learn's ``X, y``.

    Parameters
    ----------
    p, q : array-like or frame of shape (n, d) or (n,)
        Samples of the numerator and of the denominator. Frames are matched by
        column name.

    Returns
    -------
    X : ndarray of shape (n_p + n_q, d)
    y : ndarray of shape (n_p + n_q,)
        1 for the rows of p, 0 for those of q.

    Examples
    --------
    >>> X, y = stack([1.0, 2.0], [3.0, 4.0, 5.0])
    >>> X.shape, y.tolist()
    ((5, 1), [1, 1, 0, 0, 0])
    """
    p_rows, q_rows, _ = as_two_samples(p, q)
    y = np.repeat([1, 0], [len(p_rows), len(q_rows)])
    return np.concatenate([p_rows, q_rows]), y
