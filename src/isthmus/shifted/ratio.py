"""What every row of the source counts for on the target, and how well that is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..data.frames import as_numpy
from ..data.validation import as_rows
from ..tables.frames import is_table
from ..typing import Array, IntArray, RandomState
from ..weighting import Weights, importance_weights
from ..words import listed
from .doors import is_frame


@dataclass(frozen=True, eq=False)
class ShiftRatio:
    """Density of the target over that of the source, at rows of the source and at new ones.

    Both sets of weights have mean one over the rows of the source, so that weights of rows that
    were held out in turn and weights of new rows by the fit to all rows are on one scale.

    Attributes
    ----------
    weights : Weights
        Of the rows of the source, with their certificate.
    held_out : ndarray of shape (n,)
        Their values: every row's by a fit that has not seen the row.
    fitted : ndarray of shape (n,)
        The same by the fit to all rows.
    log_scale : float
        Logarithm of the mean that ``fitted`` was divided by.
    """

    weights: Weights
    held_out: Array
    fitted: Array
    log_scale: float

    @property
    def folds(self) -> IntArray:
        """Fold of each row of the source."""
        return self.weights.comparison.crossfit.fold_q

    def at(self, rows: Any) -> Array:
        """Weights of new rows, on the scale of the source's."""
        encoder = self.weights.comparison.encoder
        table = rows if encoder is None or is_table(rows) else _columns(rows)
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.weights.comparison.log_ratio(table) - self.log_scale))

    @property
    def blind(self) -> str:
        """What no weights can put right, as a sentence for a warning; empty if there is nothing."""
        names = self.weights.separating
        if not names:
            return ""
        told = listed([repr(name) for name in names], 4)
        return (
            f"Source and target are apart in {told} by themselves, and the weights do not look "
            f"there: what depends on such a column is not put right. drop={list(names)!r} says "
            "that it does not matter."
        )

    @property
    def absolute_error(self) -> Array:
        r"""Expected absolute error of the weight of every row of the source, shape (n,).

        A fit without one of K folds is off from the fit to all rows by about
        :math:`1/\sqrt{K - 1}` of what the latter is off from the truth: the jackknife.
        """
        folds = len(np.unique(self.folds[self.folds >= 0]))
        return np.asarray(np.sqrt(max(folds - 1, 1)) * np.abs(self.held_out - self.fitted))


@dataclass(frozen=True)
class Looked:
    """Which columns of frames a ratio looks at; as in :func:`isthmus.compare`."""

    columns: Any = None
    drop: Any = ()
    keep: Any = ()
    dates: Any = "days"


def learn_ratio(
    source: Any,
    target: Any,
    *,
    ratio: Any = None,
    columns: Looked | None = None,
    sample_weight: Array | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> ShiftRatio:
    """Weigh the rows of a source for a target.

    Parameters
    ----------
    source, target : array-like or frame
    ratio : estimator, optional
        What estimates the ratio; by default what :func:`isthmus.importance_weights` has.
    columns : Looked, optional
        Which columns of frames the ratio looks at.
    sample_weight : ndarray of shape (n,), optional
        Weights of the rows of the source: the ratio is that to the weighted source, and
        multiplies them.
    random_state, n_jobs, progress
        As of :func:`isthmus.compare`.

    Returns
    -------
    ShiftRatio
    """
    source, target = _alike(source, target)
    weights = importance_weights(
        source,
        target,
        weight_source=sample_weight,
        on_failure="return",
        estimator=ratio,
        **asdict(columns or Looked()),
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    log_ratio = weights.comparison.log_ratio(source)
    given = np.ones(len(log_ratio)) if sample_weight is None else sample_weight
    peak = float(log_ratio.max())
    relative = given * np.exp(log_ratio - peak)
    mean = float(relative.mean())
    log_scale = peak + float(np.log(mean))
    return ShiftRatio(weights, np.exp(weights.log_weight), relative / mean, log_scale)


def _alike(source: Any, target: Any) -> tuple[Any, Any]:
    """Two frames as they are, or two checked arrays; with missing values, as columns."""
    if is_frame(source) and is_frame(target):
        return source, target
    rows = [
        as_rows(x, name, flat=False, missing=True, min_rows=2)
        for x, name in ((source, "X"), (target, "target"))
    ]
    if rows[0].shape[1] != rows[1].shape[1]:
        raise ValueError(
            f"target must have the {rows[0].shape[1]} columns of X; received {rows[1].shape[1]}."
        )
    if not any(np.isnan(x).any() for x in rows):
        return rows[0], rows[1]
    return _columns(rows[0]), _columns(rows[1])


def _columns(rows: Any) -> dict[str, Array]:
    """An array as a table, whose missing values have a place."""
    x = np.asarray(as_numpy(rows), dtype=np.float64)
    return {f"column {k}": x[:, k] for k in range(x.shape[1])}
