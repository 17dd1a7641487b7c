"""Rows and labels as they come, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import column_or_1d, validate_data

from ..data.frames import as_numpy
from ..data.validation import as_rows, as_weight
from ..tables.frames import is_table
from ..typing import Array, IntArray


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows with labels, and with weights if there are some.

    Attributes
    ----------
    rows : frame, or ndarray of shape (n, d)
    labels : ndarray of shape (n,) or (n, k)
    weight : ndarray of shape (n,) or None
    """

    rows: Any
    labels: Any
    weight: Array | None

    def take(self, places: IntArray) -> Labelled:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[places]
        return Labelled(_safe_indexing(self.rows, places), self.labels[places], weight)


def labelled(
    X: Any, y: Any, sample_weight: Any = None, *, owner: Any = None, one_column: bool = True
) -> Labelled:
    """Check rows, labels and weights; an estimator that owns them remembers the columns."""
    rows = as_given(X, "X", owner, reset=True)
    if y is None:
        raise ValueError(
            "y must hold the labels of X; received None. This estimator requires y to be passed, "
            "but the target y is None."
        )
    labels = np.asarray(as_numpy(y))
    if one_column:
        labels = column_or_1d(labels, warn=True)
    n = len(rows)
    if len(labels) != n:
        raise ValueError(
            f"y must have one label per row; received inconsistent numbers of samples: {n} rows "
            f"in X and {len(labels)} labels."
        )
    weight = None if sample_weight is None else as_weight(np.asarray(as_numpy(sample_weight)), n)
    return Labelled(rows, labels, weight)


def as_numbers(labels: Any) -> Array:
    """Labels of a regressor."""
    try:
        found = np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must hold numbers for a regressor; received others ({error})."
        ) from None
    if not np.isfinite(found).all():
        bad = int((~np.isfinite(found)).sum())
        raise ValueError(
            f"y must be finite; received NaN or infinity in {bad} of {len(found)} rows."
        )
    return found


def as_given(X: Any, name: str, owner: Any = None, *, reset: bool = False) -> Any:
    """A frame as it is, anything else as an array of numbers, of which some may be missing."""
    rows = X if is_frame(X) else as_rows(X, name, flat=False, missing=True)
    if owner is not None:
        validate_data(owner, rows, reset=reset, skip_check_array=True)
    return rows


def is_frame(X: Any) -> bool:
    """Whether rows are a frame of some library; scikit-learn knows no dict of columns."""
    return is_table(X) and not isinstance(X, dict)
