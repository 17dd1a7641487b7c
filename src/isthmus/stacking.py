"""Candidates in folds and on fewer rows, on top of any log-ratio that was there before them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .candidates import Candidate, Rows
from .candidates.base import limited, log_loss
from .crossfit import Smaller, each, folds_of
from .data.sample import TwoSamples
from .data.seeds import Seeds
from .data.telling import quiet
from .selection.weighing import Pair, in_race, weigh
from .typing import BoolArray, IntArray

Refit = Callable[[BoolArray, BoolArray], Pair]
"""Fits what was there before to some rows of p and of q: log-ratios at all rows."""

_CURVE_ROWS = 200
_RACE_ROWS = 100
_OVERFITTED = 0.5


@dataclass(frozen=True)
class Work:
    """Fits in folds and to fewer rows.

    Attributes
    ----------
    samples : TwoSamples
    fold_p, fold_q : ndarray of int
        Fold of each row.
    base : pair of ndarray
        What was there before: log-ratios at rows that it was not fitted to.
    refit : callable
        See :data:`Refit`.
    by_fold : list of Rows
        All rows with the log-ratio before, fitted without each fold, or with none where ``trusts``
        is False.
    trusts : bool
        Whether the log-ratio before says of rows that it was fitted to about what it says of
        others; otherwise no candidate could learn from it.
    """

    samples: TwoSamples
    fold_p: IntArray
    fold_q: IntArray
    base: Pair
    refit: Refit
    by_fold: list[Rows]
    trusts: bool
    folds: int
    seeds: Seeds
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        samples: TwoSamples,
        folds: tuple[IntArray, IntArray],
        without: list[Pair],
        refit: Refit,
        seeds: Seeds,
        n_jobs: int | None = None,
    ) -> Work:
        """From the folds of the rows, and what fits without each fold say of all rows."""
        fold_p, fold_q = folds
        base = np.empty(len(fold_p)), np.empty(len(fold_q))
        for k, fit in enumerate(without):
            for r, fold, found in zip(base, folds, fit, strict=True):
                r[fold == k] = found[fold == k]
        held = log_loss((limited(base[0]), limited(base[1])), samples)
        seen = np.mean(
            [
                log_loss(
                    (limited(p[fold_p != k]), limited(q[fold_q != k])),
                    samples.take(fold_p != k, fold_q != k),
                )
                for k, (p, q) in enumerate(without)
            ]
        )
        gained = np.log(2.0) - held
        trusts = bool(gained > 0 and held - seen < _OVERFITTED * gained)
        by_fold = [
            Rows(samples, limited(p), limited(q)) if trusts else Rows.of(samples)
            for p, q in without
        ]
        return cls(
            samples, fold_p, fold_q, base, refit, by_fold, trusts, len(without), seeds, n_jobs
        )

    def settled(self, candidates: list[Candidate]) -> list[Candidate]:
        """Candidates with what they choose for themselves chosen."""
        rows = self.by_fold[0]
        return list(
            each(lambda k: candidates[k].settled(rows, self.seeds), len(candidates), self.n_jobs)
        )

    def crossed(
        self, candidates: list[Candidate], say: Callable[..., None]
    ) -> tuple[list[Candidate], list[Pair]]:
        """Candidates, and their log-ratios at every row by fits without the row's fold."""
        fold_p, fold_q = self.fold_p, self.fold_q
        out = [(np.zeros(len(fold_p)), np.zeros(len(fold_q))) for _ in candidates]

        def run(task: tuple[int, int]) -> None:
            k, fold = task
            rows, here = self.by_fold[fold], (fold_p == fold, fold_q == fold)
            fit = candidates[k].fit(rows.take(~here[0], ~here[1]), self.seeds)
            for sample, before, at, r in zip(self.samples, rows.before, here, out[k], strict=True):
                r[at] = fit.log_ratio(sample.rows[at], before[at])

        def done(tasks: list[tuple[int, int]], begin: float, end: float) -> None:
            for at, _ in enumerate(each(lambda at: run(tasks[at]), len(tasks), self.n_jobs), 1):
                share = begin + (end - begin) * at / len(tasks)
                say(f"candidates: {candidates[tasks[at - 1][0]].name}", share)

        # One fold tells who adds nothing; the others are spared that work.
        done([(k, 0) for k in range(len(candidates))], 0.2, 0.4)
        here = fold_p == 0, fold_q == 0
        racing = list(range(len(candidates)))
        if min(here[0].sum(), here[1].sum()) >= _RACE_ROWS:
            some = [(p[here[0]], q[here[1]]) for p, q in (self.base, *out)]
            racing = [k - 1 for k in in_race(some, self.samples.take(*here)) if k]
        done([(k, fold) for k in racing for fold in range(1, self.folds)], 0.4, 1.0)
        return [candidates[k] for k in racing], [out[k] for k in racing]

    def smaller(self, candidates: list[Candidate], with_base: bool) -> Smaller:
        """The same stack by fits to a third of the rows, or to half where rows are few.

        Part k of the rows is fitted to, and part k + 1 is asked.
        """
        parts = parts_of(self.samples, self.folds)
        part_p, part_q = (folds_of(len(s), parts, self.seeds, "parts") for s in self.samples)
        base = np.zeros(len(part_p)), np.zeros(len(part_q))
        found = [(np.empty(len(part_p)), np.empty(len(part_q))) for _ in candidates]

        def run(k: int) -> None:
            own, after = (part_p == k, part_q == k), (k + 1) % parts
            there = part_p == after, part_q == after
            rows = Rows.of(self.samples)
            if self.trusts or with_base:
                before = self.refit(*own)
                for r, at, found_there in zip(base, there, before, strict=True):
                    r[at] = found_there[at]
                if self.trusts:
                    rows = Rows(self.samples, limited(before[0]), limited(before[1]))
            inner, asked = rows.take(*own), rows.take(*there)
            for one, pair in zip(candidates, found, strict=True):
                fit = one.fit(inner, self.seeds)
                for r, at, sample, above in zip(
                    pair, there, asked.samples, asked.before, strict=True
                ):
                    r[at] = fit.log_ratio(sample.rows, above)

        with quiet():
            for _ in each(run, parts, self.n_jobs):
                pass
        share, full = 1.0 / parts, 1.0 - 1.0 / self.folds
        if not candidates:
            return Smaller(*base, share, full)
        every = [base, *found] if with_base else found
        return Smaller(*weigh(every, self.samples, part_p, part_q).ratios, share, full)


def parts_of(samples: TwoSamples, folds: int) -> int:
    """Number of parts for the fits to fewer rows."""
    return 2 if samples.least < _CURVE_ROWS and folds > 2 else 3
