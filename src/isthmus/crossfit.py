"""Cross-fitting: every row's log-ratio by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from .data.sample import TwoSamples, stacked
from .data.seeds import Seeds
from .data.telling import in_this_context, quiet
from .data.threads import limited_threads
from .estimator import ClassEstimator, FitFacts, RatioEstimator
from .model.solvers import Solution
from .typing import Array, IntArray

T = TypeVar("T")


class Adapter:
    """Another's estimator, with ``fit(X, y)`` and ``log_ratio(X)`` alone, as one of ours.

    Parameters
    ----------
    estimator : estimator
    """

    takes_start = False
    crosses_chasm = False
    facts = FitFacts()

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit_samples(self, samples: TwoSamples) -> Any:
        """Fit it to the stacked samples, with weights only where rows have some."""
        X, y, weight = stacked(samples)
        given = {"sample_weight": weight} if samples.weighted else {}
        self.estimator.fit(X, y, **given)
        return self

    def log_ratio_at(self, rows: Array) -> Array:
        """Its log-ratio."""
        return np.asarray(self.estimator.log_ratio(rows), dtype=np.float64)


def own(estimator: Any) -> Any:
    """An estimator of ours, or another's behind an adapter."""
    return estimator if isinstance(estimator, RatioEstimator) else Adapter(estimator)


def chosen(full: Any) -> Any:
    """An unfitted estimator, or an adapter of one, with the choices of a fit."""
    return own(clone(full).set_params(**getattr(full, "best_params_", {})))


def refitted(full: Any, samples: TwoSamples) -> Any:
    """The estimator with the choices of a fit, fitted to other rows from where that one ended."""
    again = chosen(full)
    start = getattr(full, "solution_", None) if again.takes_start else None
    return again.fit_samples(samples, **({} if start is None else {"start": start}))


@dataclass(frozen=True)
class Smaller:
    """What fits to fewer rows gave.

    Attributes
    ----------
    log_ratio_p, log_ratio_q : ndarray
        Log p/q at each row by a fit that has not seen it.
    share : float
        Share of the rows that these fits have seen.
    full : float
        Share of the rows that the fits of the folds have seen.
    """

    log_ratio_p: Array
    log_ratio_q: Array
    share: float
    full: float

    def ahead(self, rate: float, seen: float | None = None) -> float:
        """How far the end of a learning curve lies ahead, over what the last rows brought.

        What is still to be learned falls with a power of the number of rows, the rate. It is
        asked of a fit that has ``seen`` this share of the rows, by default that of the folds.
        """
        seen = self.full if seen is None else seen
        return float(seen**-rate / (self.share**-rate - self.full**-rate))


@dataclass(frozen=True)
class CrossFit:
    """What the folds gave.

    Attributes
    ----------
    fold_p, fold_q : ndarray of int
        Fold of each row.
    log_ratio_p, log_ratio_q : ndarray
        Log p/q at each row by the model fitted without its fold.
    accuracies : tuple of ndarray
        For every fold, the share of held-out rows of each class that are put into it.
    solutions : tuple of Solution
        How the solver ended in each fold.
    without : tuple of (ndarray, ndarray)
        Log p/q at all rows by each fold's model; empty where every row's influence is
        known in closed form.
    smaller : Smaller or None
        What fewer rows gave, where the answer is learned from rows and not a family's.
    rivals : tuple of (ndarray, ndarray)
        Log p/q at all rows by others: by a stack that held-out rows find about as good, where the
        answer is that of fitted densities; by these, where it is a stack's; by densities with
        other tails across a chasm, where there are no rows to refuse them.
    """

    fold_p: IntArray
    fold_q: IntArray
    log_ratio_p: Array
    log_ratio_q: Array
    accuracies: tuple[Array, ...] = ()
    solutions: tuple[Solution, ...] = ()
    without: tuple[tuple[Array, Array], ...] = ()
    smaller: Smaller | None = None
    rivals: tuple[tuple[Array, Array], ...] = ()

    def shifted(self, by: float) -> CrossFit:
        """The same with a constant added to every log-ratio."""
        smaller = self.smaller
        if smaller is not None:
            p, q = smaller.log_ratio_p + by, smaller.log_ratio_q + by
            smaller = replace(smaller, log_ratio_p=p, log_ratio_q=q)
        return replace(
            self,
            log_ratio_p=self.log_ratio_p + by,
            log_ratio_q=self.log_ratio_q + by,
            without=tuple((p + by, q + by) for p, q in self.without),
            smaller=smaller,
            rivals=tuple((p + by, q + by) for p, q in self.rivals),
        )

    def spread(self, samples: TwoSamples, estimator: Any) -> CrossFit:
        """The same for all rows, where those of weight zero took no part.

        They are in no fold, and their log-ratio is that of the fit to the others.
        """
        if len(self.log_ratio_p) == len(samples.p) and len(self.log_ratio_q) == len(samples.q):
            return self
        counts = [sample.weight > 0 for sample in samples]
        rest = [
            estimator.log_ratio_at(sample.rows[~at])
            for sample, at in zip(samples, counts, strict=True)
        ]

        def whole(values: Any, k: int, others: Any) -> Any:
            out = np.empty(len(counts[k]), dtype=values.dtype)
            out[counts[k]], out[~counts[k]] = values, others
            return out

        def pair(p: Array, q: Array) -> tuple[Array, Array]:
            return whole(p, 0, rest[0]), whole(q, 1, rest[1])

        smaller = self.smaller
        if smaller is not None:
            p, q = pair(smaller.log_ratio_p, smaller.log_ratio_q)
            smaller = replace(smaller, log_ratio_p=p, log_ratio_q=q)
        return replace(
            self,
            fold_p=whole(self.fold_p, 0, -1),
            fold_q=whole(self.fold_q, 1, -1),
            log_ratio_p=whole(self.log_ratio_p, 0, rest[0]),
            log_ratio_q=whole(self.log_ratio_q, 1, rest[1]),
            without=tuple(pair(*one) for one in self.without),
            smaller=smaller,
            rivals=tuple(pair(*one) for one in self.rivals),
        )


@dataclass(frozen=True)
class _Fold:
    """What one fold gave."""

    log_ratio_p: Array
    log_ratio_q: Array
    accuracy: Array | None
    solution: Solution | None
    every: tuple[Array, Array] | None


def cross_fit(
    full: Any,
    samples: TwoSamples,
    folds: int,
    seeds: Seeds,
    *,
    n_jobs: int | None = None,
    report: Callable[[str], None] = lambda what: None,
    everywhere: bool = False,
) -> CrossFit:
    """Fit once for each fold, to all rows but those of the fold.

    The folds take over the choices of ``full``, the fit to all rows, and start where it ended;
    ``n_jobs`` of them run at a time, and ``report`` is told of each that is done. Their log-ratios
    at all rows are kept where they tell the error of the fit, or where ``everywhere`` asks for it.
    """
    fold_p, fold_q = (folds_of(len(sample), folds, seeds) for sample in samples)
    # How far the fit moves without a fold is what tells its error, unless a formula does.
    by_formula = has_formula(full) and not everywhere

    def run(fold: int) -> _Fold:
        here_p, here_q = fold_p == fold, fold_q == fold
        fit = refitted(full, samples.take(~here_p, ~here_q))
        held = samples.take(here_p, here_q)
        accuracy = fit.judge(held)[1] if isinstance(fit, ClassEstimator) else None
        solution = getattr(fit, "solution_", None)
        if by_formula:
            p, q = (fit.log_ratio_at(sample.rows) for sample in held)
            return _Fold(p, q, accuracy, solution, None)
        p, q = (fit.log_ratio_at(sample.rows) for sample in samples)
        return _Fold(p[here_p], q[here_q], accuracy, solution, (p, q))

    results: list[_Fold] = []
    # The fit to all rows has said it already; convergence is a check of its own.
    with quiet():
        for fold, result in enumerate(each(run, folds, n_jobs)):
            report(f"fold {fold + 1} of {folds}")
            results.append(result)
    log_ratio_p, log_ratio_q = np.empty(len(samples.p)), np.empty(len(samples.q))
    for fold, result in enumerate(results):
        log_ratio_p[fold_p == fold] = result.log_ratio_p
        log_ratio_q[fold_q == fold] = result.log_ratio_q
    return CrossFit(
        fold_p,
        fold_q,
        log_ratio_p,
        log_ratio_q,
        tuple(one.accuracy for one in results if one.accuracy is not None),
        tuple(one.solution for one in results if one.solution is not None),
        tuple(one.every for one in results if one.every is not None),
    )


def has_formula(full: Any) -> bool:
    """Whether every row's influence on a fit is known in closed form."""
    return isinstance(full, ClassEstimator) and full.model_.has_influence


def folds_of(n: int, folds: int, seeds: Seeds, name: str = "folds") -> IntArray:
    """Fold of each row. The two samples share the draw, so that swapping them changes nothing."""
    return seeds(name).permutation(np.arange(n) % folds)


def each(run: Callable[[int], T], count: int, n_jobs: int | None) -> Iterator[T]:
    """Results of tasks in order, as they come, so many at a time."""
    if n_jobs is None or n_jobs == 1:
        return (run(task) for task in range(count))
    return _parallel(run, count, n_jobs)


def _parallel(run: Callable[[int], T], count: int, n_jobs: int) -> Iterator[T]:
    from joblib import Parallel, delayed

    # Threads: the work is in NumPy and in trees, which let go of the interpreter's lock; each of
    # them has one thread of BLAS.
    with limited_threads(1):
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        here = in_this_context(run)
        yield from parallel(delayed(here)(task) for task in range(count))
