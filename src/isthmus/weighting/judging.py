"""The samples and their ratio, and the certificate of weights on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..candidates import LevelDensities, Ridge, Trees
from ..comparing import as_samples, check_options, compare_samples
from ..comparison import Comparison, GivenRows
from ..data.sample import Sample, TwoSamples
from ..settings import Call
from ..stacked import StackedMDRE
from ..tables.door import Door
from ..tables.frames import TableEncoder
from ..tables.parts import date_parts
from ..typing import Array, BoolArray, IntArray, RandomState
from .balance import balance_of
from .certificate import Certificate, certify
from .frames import Shape
from .lacking import Lacking, separated
from .overlap import overlap_of
from .quantities import Quantity, quantities

LABELS = ("target", "source")
_FOLDS = 5
_LEAST_ROWS = 20


@dataclass(frozen=True)
class Pair:
    """Target and source as rows of numbers, before their ratio is estimated.

    Attributes
    ----------
    samples : TwoSamples
        The target as p and the source as q.
    encoder : TableEncoder or None
        What turned tables into rows.
    every : tuple of Quantity
        What the columns of the rows are.
    shape : Shape
        Of which library the source was.
    rows : int
        Rows of the source that were given.
    call, given, n_jobs
        For :func:`isthmus.comparing.compare_samples`.
    """

    samples: TwoSamples
    encoder: TableEncoder | None
    every: tuple[Quantity, ...]
    shape: Shape
    rows: int
    call: Call
    given: GivenRows
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        source: Any,
        target: Any,
        weight_source: Any = None,
        weight_target: Any = None,
        *,
        estimator: Any = None,
        columns: Any = None,
        drop: Any = (),
        keep: Any = (),
        missing: str = "indicator",
        dates: Any = "days",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        door: Door | None = None,
    ) -> Pair:
        """Check and encode both.

        By default a regression, densities of levels and trees are weighed, in five folds: where
        samples overlap enough to be weighted, the other candidates of ``compare`` are slower
        and tell little more.
        """
        for argument, names in (("columns", columns), ("drop", drop), ("keep", keep)):
            if isinstance(names, str):
                raise ValueError(
                    f"{argument} must be a list of names; received the text {names!r}."
                )
        for argument, sample in (("source", source), ("target", target)):
            _check_rows(argument, row_count(sample))
        check_options(estimator, "auto", None, 0.95, n_jobs, None)
        if estimator is None:
            candidates = Ridge(), LevelDensities(), Trees()
            estimator = StackedMDRE(candidates, folds=_FOLDS, n_jobs=n_jobs)
        call = Call(
            estimator,
            columns=None if columns is None else tuple(columns),
            drop=tuple(drop),
            keep=tuple(keep),
            missing=missing,
            dates=date_parts(dates),
            random_state=random_state,
            weighted=weight_source is not None or weight_target is not None,
        )
        samples, encoder, given = as_samples(
            target, source, call, weight_target, weight_source, labels=LABELS, door=door
        )
        for argument, sample in zip(LABELS, samples.positive(), strict=True):
            _check_rows(argument, len(sample), 2 * _FOLDS, " of positive weight that are used")
        every = quantities(samples, encoder)
        shape = Shape.of(source)
        return cls(samples, encoder, every, shape, row_count(source), call, given, n_jobs)

    @property
    def used(self) -> BoolArray:
        """Which of the source's rows are compared: all but those dropped for missing values."""
        return np.ones(self.rows, bool) if self.encoder is None else self.encoder.kept_q_

    def compared(self, progress: Any) -> Comparison:
        """Estimate the ratio."""
        check_options(None, "auto", None, 0.95, None, progress)
        return compare_samples(
            self.samples, self.call, self.encoder, self.given, n_jobs=self.n_jobs, progress=progress
        )


def _check_rows(argument: str, rows: int, least: int = _LEAST_ROWS, which: str = "") -> None:
    if rows < least:
        raise ValueError(f"{argument} must have at least {least} rows{which}; received {rows}.")


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
    lacking : Lacking
        Rows of the target with levels that the source lacks.
    apart : str
        Which columns alone tell source and target apart; empty where none does.
    door : Door or None
        What arguments are called.
    """

    every: tuple[Quantity, ...]
    target: Sample
    source: Sample
    at_target: Array
    at_source: Array
    fold_target: IntArray
    fold_source: IntArray
    lacking: Lacking
    apart: str = ""
    door: Door | None = None

    @classmethod
    def of(cls, pair: Pair, c: Comparison) -> Case:
        """From a comparison of target (p) and source (q)."""
        return cls(
            pair.every,
            pair.samples.p,
            pair.samples.q,
            c.log_ratio_p,
            c.log_ratio_q,
            c.crossfit.fold_p,
            c.crossfit.fold_q,
            Lacking.of(pair.every, pair.samples, pair.encoder),
            separated(pair.encoder),
            None if pair.encoder is None else pair.encoder.door,
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
            lacking=self.lacking.take(at_target),
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
        overlap = overlap_of(
            self.every, self.target, self.source, self.log_ratios, weight, self.lacking
        )
        return certify(log_weight, raw, balance, overlap, short, self.apart, self.door)


def row_count(sample: Any) -> int:
    """Number of rows of a sample as it was given; refuses what has none."""
    try:
        return len(next(iter(sample.values()))) if isinstance(sample, Mapping) else len(sample)
    except (TypeError, StopIteration):
        raise ValueError(
            f"A sample must be a table or an array of rows; received {type(sample).__name__}."
        ) from None
