"""Means and spreads of every column in the source, in the weighted source and in the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.sample import Sample
from ..diagnostics.balance import column_moments
from ..typing import Array
from .frames import as_table
from .quantities import Quantity


@dataclass(frozen=True)
class Balance:
    """How far the source's columns are from the target's, before and after weighting.

    Arrays have one entry for each number, and one for each level of a category.

    Attributes
    ----------
    quantities : tuple of Quantity
        Column, label, and level if there is one.
    target, source, weighted : ndarray
        Means, or shares of levels: in the target, in the source, in the weighted source.
    before, after : ndarray
        Standardised mean differences from the target: the mean less the target's, over the
        target's standard deviation, or the source's where the target has none.
    unseen : ndarray
        The same after weighting, at rows that neither ratio nor calibration has seen.
    std_error : ndarray
        Standard error of ``unseen``, with the target's rows counted.
    variance_before, variance_after : ndarray
        Variance over the target's; NaN for levels and where the target has none.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> source, target = rng.normal(0, 1, (400, 1)), rng.normal(0.5, 1, (400, 1))
    >>> w = isthmus.importance_weights(source, target, random_state=0)
    >>> bool(abs(w.balance.after[0]) < abs(w.balance.before[0]))
    True
    """

    quantities: tuple[Quantity, ...]
    target: Array
    source: Array
    weighted: Array
    before: Array
    after: Array
    unseen: Array
    std_error: Array
    variance_before: Array
    variance_after: Array

    def __len__(self) -> int:
        return len(self.quantities)

    @property
    def labels(self) -> list[str]:
        """Names of the columns, ``town=Bonn`` for a level."""
        return [one.label for one in self.quantities]

    @property
    def order(self) -> list[int]:
        """Places by how far apart source and target were, those furthest apart first."""
        return [int(j) for j in np.argsort(-np.abs(self.before), kind="stable")]

    @property
    def sure(self) -> Array:
        """By how much a gap after weighting exceeds two standard errors; zero if it does not."""
        return np.asarray(np.maximum(np.abs(self.unseen) - 2.0 * self.std_error, 0.0))

    def to_frame(self) -> Any:
        """One row for every column or level, as a pandas frame, or an Arrow table without pandas.

        Returns
        -------
        pandas.DataFrame or pyarrow.Table
        """
        return as_table(
            {
                "column": [one.column for one in self.quantities],
                "level": [one.level for one in self.quantities],
                "target": self.target,
                "source": self.source,
                "weighted": self.weighted,
                "before": self.before,
                "after": self.after,
                "unseen": self.unseen,
                "std_error": self.std_error,
                "variance_before": self.variance_before,
                "variance_after": self.variance_after,
            }
        )


def balance_of(
    every: Sequence[Quantity],
    target: Sample,
    source: Sample,
    weight: Array,
    unseen: Array | None = None,
) -> Balance:
    """Balance of a source under weights; ``unseen`` are weights by parts that did not see a row."""
    mean_t, error_t, spread_t = column_moments(target)
    mean_s, _, spread_s = column_moments(source)
    mean_w, error_w, spread_w = column_moments(Sample(source.rows, weight))
    if unseen is None:
        mean_u, error_u = mean_w, error_w
    else:
        mean_u, error_u, _ = column_moments(Sample(source.rows, unseen))
    scale = np.where(spread_t > _tiny(mean_t), spread_t, spread_s)
    varies = scale > _tiny(mean_t)

    def standardised(gap: Array) -> Array:
        # A column that is one value in both samples: no gap, or one without a scale.
        alone = np.where(np.abs(gap) > _tiny(mean_t), np.inf, 0.0)
        return np.where(varies, gap / np.where(varies, scale, 1.0), np.sign(gap) * alone)

    is_number = np.array([one.level is None for one in every]) & (spread_t > _tiny(mean_t))
    variance = np.where(is_number, spread_t, np.nan) ** 2
    return Balance(
        tuple(every),
        mean_t,
        mean_s,
        mean_w,
        standardised(mean_s - mean_t),
        standardised(mean_w - mean_t),
        standardised(mean_u - mean_t),
        np.where(varies, np.hypot(error_t, error_u) / np.where(varies, scale, 1.0), 0.0),
        spread_s**2 / variance,
        spread_w**2 / variance,
    )


def _tiny(mean: Array) -> Array:
    """What rounding leaves of a spread of nothing."""
    return np.asarray(1e-12 * np.abs(mean) + 1e-300)
