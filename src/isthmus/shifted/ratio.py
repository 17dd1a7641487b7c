"""What every row of the source counts for on the target, and how well that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..comparing import compare
from ..comparison import Comparison
from ..typing import Array, IntArray, RandomState


@dataclass(frozen=True, eq=False)
class ShiftRatio:
    """Density of the target over that of the source.

    Both sets of weights have mean one over the rows of the source, so that weights of rows that
    were held out in turn and weights of new rows by the fit to all rows are on one scale.

    Attributes
    ----------
    comparison : Comparison
        Of the target with the source.
    held_out : ndarray of shape (n,)
        Weight of every row of the source by a fit that has not seen the row.
    fitted : ndarray of shape (n,)
        The same by the fit to all rows.
    log_scale : float
        Logarithm of the mean that ``fitted`` was divided by.
    """

    comparison: Comparison
    held_out: Array
    fitted: Array
    log_scale: float

    @property
    def folds(self) -> IntArray:
        """Fold of each row of the source."""
        return self.comparison.crossfit.fold_q

    def at(self, rows: Any) -> Array:
        """Weights of new rows, on the scale of the source's."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.comparison.log_ratio(rows) - self.log_scale))

    @property
    def absolute_error(self) -> Array:
        r"""Expected absolute error of the weight of every row of the source, shape (n,).

        A fit without one of K folds is off from the fit to all rows by about
        :math:`1/\sqrt{K - 1}` of what the latter is off from the truth: the jackknife.
        """
        folds = len(np.unique(self.folds[self.folds >= 0]))
        return np.asarray(np.sqrt(max(folds - 1, 1)) * np.abs(self.held_out - self.fitted))


def learn_ratio(
    source: Any,
    target: Any,
    *,
    ratio: Any = None,
    sample_weight: Array | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> ShiftRatio:
    """Compare the target with the source.

    Parameters
    ----------
    source, target : array-like or frame
    ratio : estimator, optional
        What estimates the ratio; by default what :func:`isthmus.compare` has.
    sample_weight : ndarray of shape (n,), optional
        Weights of the rows of the source: the ratio is that to the weighted source.
    random_state, n_jobs
        As of :func:`isthmus.compare`.

    Returns
    -------
    ShiftRatio
    """
    comparison = compare(
        target,
        source,
        estimator=ratio,
        weight_q=sample_weight,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    share = comparison.samples.q.share
    held_out, _ = scaled(comparison.log_ratio_q, share)
    fitted, log_scale = scaled(comparison.log_ratio(source), share)
    return ShiftRatio(comparison, held_out, fitted, log_scale)


def scaled(log_ratio: Array, share: Array) -> tuple[Array, float]:
    """Ratios over their mean, and the logarithm of it."""
    peak = float(log_ratio.max())
    relative = np.exp(log_ratio - peak)
    mean = float(share @ relative)
    return relative / mean, peak + float(np.log(mean))
