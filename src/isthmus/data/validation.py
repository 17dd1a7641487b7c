"""The only place where arrays and parameters from outside are checked.

Every message names the argument, the rule and what was received.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..typing import Array, IntArray
from .frames import as_numpy, column_names, select_columns
from .sample import Sample, TwoSamples, stacked


def as_rows(
    x: Any, argument: str, *, min_rows: int = 1, flat: bool = True, missing: bool = False
) -> Array:
    """Return a sample as a float64 array of shape (n, d).

    One-dimensional input is one column, or refused unless ``flat``. Refuses
    anything that is not finite real numbers; NaN is let pass if ``missing``.
    """
    try:
        x = as_numpy(x)
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None
    if hasattr(x, "__next__"):
        raise ValueError(f"{argument} must be an array or a table; received a {type(x).__name__}.")
    if hasattr(x, "toarray"):
        raise ValueError(f"{argument} must be dense; received a sparse {type(x).__name__}.")
    try:
        raw = np.asarray(x)
    except ValueError as error:
        raise ValueError(
            f"{argument} must be a table of numbers with rows of one length; received a "
            f"{type(x).__name__} that is not ({error})."
        ) from None
    if np.iscomplexobj(raw):
        raise ValueError(f"{argument} must hold real numbers. Complex data not supported.")
    if raw.dtype.kind in "mM":
        raise ValueError(f"{argument} must hold numbers; received dates ({raw.dtype}).")
    _check_cells(raw, argument)
    try:
        rows = raw.astype(np.float64, copy=False)
    except OverflowError:
        raise ValueError(
            f"{argument} must be finite; received a number that no float can hold."
        ) from None
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{argument} must hold numbers; received values that are not ({error})."
        ) from None
    if rows.ndim == 1 and not flat:
        raise ValueError(
            f"{argument} must have two dimensions (rows, columns); received shape {raw.shape}. "
            "Reshape your data: x.reshape(-1, 1) is one column, x.reshape(1, -1) one row."
        )
    if rows.ndim == 1:
        rows = rows[:, None]
    if rows.ndim != 2:
        raise ValueError(
            f"{argument} must have one or two dimensions (rows, columns); received shape "
            f"{raw.shape}."
        )
    n, d = rows.shape
    if d == 0:
        raise ValueError(
            f"{argument} must have at least one column; received 0 feature(s) (shape={raw.shape}) "
            "while a minimum of 1 is required."
        )
    if n < min_rows:
        raise ValueError(
            f"{argument} must have at least {min_rows} row{'s' * (min_rows > 1)}; received "
            f"{_samples(n)}."
        )
    if not np.isfinite(rows).all() and not (missing and not np.isinf(rows).any()):
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        kind = "NaN" if np.isnan(rows).any() else "infinity"
        raise ValueError(
            f"{argument} must be finite; received {kind} in {len(bad)} of {n} rows "
            f"(first in row {bad[0]})."
        )
    return rows


def _check_cells(raw: np.ndarray, argument: str) -> None:
    """Refuse text, digits too, and dates among objects, before they are made numbers of."""
    text = _first(raw) if raw.dtype.kind in "US" else None
    if raw.dtype.kind == "O":
        for cell in raw.flat:
            if isinstance(cell, str | bytes):
                text = str(cell)[:40]
                break
            if isinstance(cell, datetime.date | datetime.timedelta):
                raise ValueError(
                    f"{argument} must hold numbers; received dates such as {str(cell)[:40]}. "
                    "Dates in a frame are encoded by isthmus.compare."
                )
            if isinstance(cell, complex):
                raise ValueError(f"{argument} must hold real numbers. Complex data not supported.")
    if text is not None:
        raise ValueError(
            f"{argument} must hold numbers; received text such as {text!r}. Categories "
            "in a frame are encoded by isthmus.compare."
        )


def as_two_samples(
    p: Any,
    q: Any,
    weight_p: Any = None,
    weight_q: Any = None,
    *,
    min_rows: int = 2,
    missing: bool = False,
    labels: tuple[str, str] = ("p", "q"),
) -> TwoSamples:
    """Check two samples, called by their labels; frames are matched by column name."""
    first, second = labels
    names_p, names_q = column_names(p), column_names(q)
    if (names_p is None) != (names_q is None):
        names_p = names_q = None
    elif names_p is not None:
        q = select_columns(q, names_p, second)
    p_rows = as_rows(p, first, min_rows=min_rows, missing=missing)
    q_rows = as_rows(q, second, min_rows=min_rows, missing=missing)
    if p_rows.shape[1] != q_rows.shape[1]:
        raise ValueError(
            f"{first} and {second} must have the same columns; received {p_rows.shape[1]} columns "
            f"in {first} and {q_rows.shape[1]} in {second}."
        )
    return TwoSamples(
        Sample(p_rows, as_weight(weight_p, len(p_rows), f"weight_{first}")),
        Sample(q_rows, as_weight(weight_q, len(q_rows), f"weight_{second}")),
        None if names_p is None else tuple(names_p),
    )


_SMALL = 1e-100


def as_weight(weight: Any, n: int, argument: str = "sample_weight") -> Array:
    """Return non-negative finite weights of shape (n,): one for each row if none are given."""
    if weight is None:
        return np.ones(n)
    if isinstance(weight, numbers.Real):
        weight = np.full(n, float(weight))
    try:
        # A copy: what the caller does to the array later is not seen here.
        values = np.array(as_numpy(weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument} must hold numbers; received others ({error}).") from None
    if values.shape != (n,):
        raise ValueError(
            f"{argument} must have one value per row; received shape {values.shape} for {n} rows."
        )
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise ValueError(
            f"{argument} must be finite and non-negative; received {values[bad[0]]:g} in row "
            f"{bad[0]}{f' and {len(bad) - 1} more such values' if len(bad) > 1 else ''}."
        )
    if not values.any():
        raise ValueError(f"{argument} must be positive for some row; received only zero weights.")
    largest = float(values.max())
    if not _SMALL < largest < 1.0 / _SMALL:
        # Sums of such weights do not exist; a power of two changes no digit.
        values = np.ldexp(values, -int(np.frexp(largest)[1]))
        largest = float(values.max())
    # Products of weights so far apart do not exist.
    values[values < _SMALL * largest] = 0.0
    return values


def check_number(
    value: Any,
    argument: str,
    *,
    low: float,
    high: float = np.inf,
    integer: bool = False,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Check that a parameter is a number within limits."""
    kind = numbers.Integral if integer else numbers.Real
    inside = isinstance(value, kind) and not isinstance(value, bool)
    if inside:
        inside = (low < value if open_low else low <= value) and (
            value < high if open_high else value <= high
        )
    if not inside:
        name = "an integer" if integer else "a number"
        left, right = "(" if open_low else "[", ")" if open_high or high == np.inf else "]"
        raise ValueError(
            f"{argument} must be {name} in {left}{low}, {high}{right}; received {value!r}."
        )
    return float(value)


def check_flag(value: Any, argument: str) -> None:
    """Check that a parameter is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{argument} must be True or False; received {value!r}.")


def check_option(value: Any, argument: str, options: Iterable[Any]) -> None:
    """Check that a parameter is one of a few values."""
    options = list(options)
    if not any(
        value is option or (isinstance(value, str) and value == option) for option in options
    ):
        raise ValueError(
            f"{argument} must be one of {', '.join(map(repr, options))}; received {value!r}."
        )


def _first(raw: np.ndarray) -> str:
    return str(raw.flat[0])[:40] if raw.size else ""


def _samples(n: int) -> str:
    return "no rows (0 sample(s))" if n == 0 else f"{n} (n_samples={n})"


def as_labels(y: Any, n: int, classes: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return a mask of the numerator's rows and the two labels, smaller first.

    Without ``classes``, y must hold exactly two labels.
    """
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    if y is None:
        raise ValueError(
            "y must be 1 for rows of the numerator and 0 for rows of the denominator; received "
            "None. This estimator requires y to be passed, but the target y is None."
        )
    labels = column_or_1d(as_numpy(y), warn=True)
    if len(labels) != n:
        raise ValueError(
            f"y must have one label per row; received inconsistent numbers of samples: {n} rows "
            f"in X and {len(labels)} labels."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y must be finite; received NaN or infinity.")
    check_classification_targets(labels)
    found = np.unique(labels)
    if classes is None:
        if len(found) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: y "
                f"must be 1 for the numerator and 0 for the denominator; received {len(found)} "
                f"labels, {found[:5].tolist()}."
            )
        if len(found) < 2:
            raise ValueError(
                "y must hold two labels, 1 for the numerator and 0 for the denominator; received "
                f"only one class, {found.tolist()}."
            )
        classes = found
    elif not np.isin(found, classes).all():
        raise ValueError(
            f"y must hold the labels {list(classes)} of the fit; received {found[:5].tolist()}."
        )
    return np.asarray(labels == classes[1]), np.asarray(classes)


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
    X, y, _ = stacked(as_two_samples(p, q))
    return X, y


def check_integers(value: Any, name: str, count: int, words: str) -> None:
    """Refuse what is not a number of positive integers."""
    if not isinstance(value, (tuple, list)) or len(value) != count:
        raise ValueError(f"{name} must be {words}; received {value!r}.")
    for each in value:
        check_number(each, name, low=1, integer=True)
