"""Where the target lies among the source's rows: shares by decile of the ratio, and beyond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.sample import Sample
from ..typing import Array
from .frames import as_table
from .lacking import Lacking
from .quantities import Quantity

_PARTS = 10
_MORE = float(np.log(2.0))
"""By how much a log-ratio must exceed all of the source's: models of two folds differ a little."""


@dataclass(frozen=True)
class Overlap:
    """Shares of target, source and weighted source by decile of the ratio.

    The source's rows are put in ten parts of about equal share by the ratio target/source. If
    the weights are right, the weighted source has the target's share in each.

    Attributes
    ----------
    edges : ndarray of shape (11,)
        Ends of the parts, as log-ratios; the first and last are infinite.
    source, target, weighted : ndarray of shape (10,)
        Shares of the rows in each part.
    beyond : float
        Share of the target's rows whose ratio is more than twice that of every row of the source,
        or that have a level which the source lacks: no weights can stand for them.
    absent : tuple of (str, float)
        Levels that the source lacks, with their shares of the target, the largest first.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> source, target = rng.normal(0, 1, (400, 1)), rng.normal(0.5, 1, (400, 1))
    >>> w = isthmus.importance_weights(source, target, random_state=0)
    >>> bool(w.overlap.target[-1] > 0.15 > w.overlap.source[-1])
    True
    """

    edges: Array
    source: Array
    target: Array
    weighted: Array
    beyond: float
    absent: tuple[tuple[str, float], ...] = ()

    def to_frame(self) -> Any:
        """One row for every part, as a pandas frame, or an Arrow table without pandas.

        Returns
        -------
        pandas.DataFrame or pyarrow.Table
        """
        return as_table(
            {
                "ratio_from": np.exp(self.edges[:-1]),
                "ratio_to": np.exp(self.edges[1:]),
                "source": self.source,
                "target": self.target,
                "weighted": self.weighted,
            }
        )


def overlap_of(
    every: Sequence[Quantity],
    target: Sample,
    source: Sample,
    log_ratios: tuple[Array, Array],
    weight: Array,
    lacking: Lacking,
) -> Overlap:
    """Overlap of target and source, whose log-ratios are given in this order."""
    at_target, at_source = log_ratios
    inner = np.quantile(
        at_source,
        np.arange(1, _PARTS) / _PARTS,
        method="inverted_cdf",
        weights=source.weight,
    )
    edges = np.concatenate([[-np.inf], inner, [np.inf]])

    def shares(log_ratio: Array, weight: Array) -> Array:
        part = np.searchsorted(inner, log_ratio, side="left")
        return np.asarray(np.bincount(part, weights=weight, minlength=_PARTS) / weight.sum())

    lacked = np.array([one.level is not None for one in every]) & ~(
        source.rows[source.weight > 0] > 0
    ).any(axis=0)
    told = (target.rows[:, lacked] > 0).any(axis=1)
    lacks = told | lacking.rows
    beyond = lacks | (at_target > at_source[source.weight > 0].max() + _MORE)
    absent = [
        (lacking.named(one), float(target.share @ (target.rows[:, j] > 0)))
        for j, one in enumerate(every)
        if lacked[j]
    ]
    absent.append((lacking.example, float(target.share @ (lacks & ~told))))
    return Overlap(
        edges,
        shares(at_source, source.weight),
        shares(at_target, target.weight),
        shares(at_source, weight),
        float(target.share @ beyond),
        tuple(sorted(((n, s) for n, s in absent if s > 0), key=lambda pair: -pair[1])),
    )
