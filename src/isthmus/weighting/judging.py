"""The samples and their ratio, and the certificate of weights on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..candidates import LevelDensities, Ridge, Trees
from ..comparing import compare
from ..comparison import Comparison
from ..data.sample import Sample
from ..stacked import StackedMDRE
from ..typing import Array, BoolArray, IntArray
from .balance import balance_of
from .certificate import Certificate, certify
from .overlap import overlap_of
from .quantities import Quantity, quantities

_FOLDS = 5
_LEAST_ROWS = 20


@dataclass(frozen=True)
class Case:
    """Encoded rows of target and source, with cross-fitted log-ratios.

    Attributes
    ----------
    every : tuple of Quantity
        What the encoded columns are.
    target, source : Sample
    at_target, at_source : ndarray
        Log target/source by models that have not seen the row.
    fold_target, fold_source : ndarray of int
        Fold of each row; minus one for rows of weight zero.
    """

    every: tuple[Quantity, ...]
    target: Sample
    source: Sample
    at_target: Array
    at_source: Array
    fold_target: IntArray
    fold_source: IntArray

    @classmethod
    def of(cls, c: Comparison) -> Case:
        """From a comparison of target (p) and source (q)."""
        return cls(
            quantities(c),
            c.samples.p,
            c.samples.q,
            c.log_ratio_p,
            c.log_ratio_q,
            c.crossfit.fold_p,
            c.crossfit.fold_q,
        )

    @property
    def log_ratios(self) -> tuple[Array, Array]:
        """Log-ratios at target and source."""
        return self.at_target, self.at_source

    def take(self, at_target: BoolArray, at_source: BoolArray) -> Case:
        """Some rows of each."""
        return replace(
            self,
            target=self.target.take(at_target),
            source=self.source.take(at_source),
            at_target=self.at_target[at_target],
            at_source=self.at_source[at_source],
            fold_target=self.fold_target[at_target],
            fold_source=self.fold_source[at_source],
        )

    def certificate(
        self, log_weight: Array, raw: Array, unseen: Array | None = None, short: str = ""
    ) -> Certificate:
        """Judge log-weights of the source's rows; ``raw`` are those before smoothing."""
        weight = np.exp(log_weight - log_weight.max())
        balance = balance_of(
            self.every,
            self.target,
            self.source,
            weight,
            None if unseen is None else np.exp(unseen - unseen.max()),
        )
        overlap = overlap_of(self.every, self.target, self.source, self.log_ratios, weight)
        return certify(log_weight, raw, balance, overlap, short)


def ratio_of(
    source: Any, target: Any, weight_source: Any, weight_target: Any, estimator: Any, **how: Any
) -> Comparison:
    """The comparison of target and source that weights rest on.

    By default a regression, densities of levels and trees are weighed, in five folds: where
    samples overlap enough to be weighted, the other candidates of ``compare`` are slower and tell
    little more.
    """
    for argument, sample in (("source", source), ("target", target)):
        rows = row_count(sample)
        if rows < _LEAST_ROWS:
            raise ValueError(f"{argument} must have at least {_LEAST_ROWS} rows; received {rows}.")
    if estimator is None:
        candidates = Ridge(), LevelDensities(), Trees()
        estimator = StackedMDRE(candidates, folds=_FOLDS, n_jobs=how.get("n_jobs"))
    return compare(
        target, source, estimator=estimator, weight_p=weight_target, weight_q=weight_source, **how
    )


def row_count(sample: Any) -> int:
    """Number of rows of a sample as it was given; refuses what has none."""
    try:
        return len(next(iter(sample.values()))) if isinstance(sample, Mapping) else len(sample)
    except (TypeError, StopIteration):
        raise ValueError(
            f"A sample must be a table or an array of rows; received {type(sample).__name__}."
        ) from None
