"""The stack: one multinomial regression on what several candidates say of rows they have not seen.

Two densities are fitted, as in :class:`~isthmus.MDRE` with an infinite penalty. Where p and q are
far apart, MDRE with its auxiliaries goes on from there. Where they overlap, candidates of other kinds
are fitted as well, and the paper's regression, one level up, weighs them all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .auxiliaries.discrete import has_atoms
from .candidates import LIBRARY, Candidate, Rows
from .candidates.base import limited
from .crossfit import CrossFit, Smaller, cross_fit, each, folds_of, refitted
from .data.holdout import LIKELY, Gain, paired_gain
from .data.sample import TwoSamples
from .data.seeds import Seeds
from .data.validation import check_number
from .estimator import RatioEstimator
from .mdre import MDRE
from .model.stack import Stack, fit_stack
from .selection.record import DENSITIES, Member
from .typing import Array, IntArray, RandomState

SEPARATE = 0.02
"""Share of rows on the wrong side, below which the samples count as separate: classifying them then
says little about their ratio."""

STAGES = 3
"""Stages that a fit reports."""

_FEW_ROWS = 2000
_CURVE_ROWS = 200

Pair = tuple[Array, Array]
"""Log-ratios at the rows of p and of q."""


class StackedMDRE(RatioEstimator):
    """Estimate log p/q by a stack of candidates.

    Parameters
    ----------
    candidates : sequence of candidates or None, default None
        See :mod:`isthmus.candidates`; by default all that there are rows and columns for. Two
        fitted densities are always among them.
    folds : int, optional
        Number of folds in which the candidates are judged; by default 5, and 10 if either sample
        has fewer than 2000 rows.
    random_state : int, Generator, RandomState or None
    n_jobs : int, optional
        Number of fits to run at a time, as in scikit-learn.

    Attributes
    ----------
    single_ : MDRE or None
        The one member, where the answer rests on fitted densities and what MDRE learns on them.
    members_ : tuple
        Fitted candidates with their coefficients otherwise.
    crossfit_ : CrossFit
        Log p/q at every row by a stack that has not seen it.
    selection_ : Selection
        What the answer rests on: ``print(estimator.selection_.summary())``.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0.5, 1, (400, 2)), rng.normal(-0.5, 1, (400, 2))
    >>> X, y = isthmus.stack(p, q)
    >>> found = isthmus.StackedMDRE(random_state=0).fit(X, y)
    >>> bool(abs(found.log_ratio([[1.0, 1.0]])[0] - 2.0) < 0.5)  # the truth is 2
    True
    """

    crosses_chasm = True

    def __init__(
        self,
        candidates: Sequence[Candidate] | None = None,
        *,
        folds: int | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.candidates = candidates
        self.folds = folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Refuse parameters that do not fit, before the data are looked at."""
        if self.folds is not None:
            check_number(self.folds, "folds", low=2, integer=True)
        if self.n_jobs is not None:
            check_number(self.n_jobs, "n_jobs", low=-64, integer=True)

    def learn(
        self, samples: TwoSamples, seeds: Seeds, report: Callable[[str], None] | None = None
    ) -> None:
        """The algorithm, on two samples that are checked."""
        say = report or (lambda what: None)
        folds = fold_count(samples) if self.folds is None else self.folds

        # 1. Two fitted densities, and their log-ratio at rows that they have not seen.
        say("densities")
        densities = _densities(samples, seeds)
        crossed = cross_fit(densities, samples, folds, seeds, n_jobs=self.n_jobs)
        base = crossed.log_ratio_p, crossed.log_ratio_q

        # 2. Across a chasm: MDRE with auxiliaries, from these densities on.
        if error_of(base, samples) < SEPARATE:
            say("auxiliaries and critic")
            self._keep_single(*self._across(densities, samples, folds, seeds))
            return

        # 3. Candidates, each judged at rows that it has not seen.
        say("candidates")
        work = _Work(samples, crossed, folds, seeds, self.n_jobs)
        rows = Rows(samples, *map(limited, base))
        library = LIBRARY if self.candidates is None else self.candidates
        tried = [one.settled(rows, seeds) for one in library if one.suits(samples)]
        found = [base, *work.crossed(tried, rows)]

        # 4. The regression on what they say, in every fold and on all rows.
        names = [DENSITIES, *(one.name for one in tried)]
        judged = judge(found, samples, crossed.fold_p, crossed.fold_q, folds)
        self.selection_ = replace(densities.selection_, members=judged.members(names))
        if judged.only == 0:
            self._keep_single(densities, crossed)
            return

        # 5. What counts is fitted to all rows, and to fewer, which tells what more would bring.
        say("fit to all rows")
        kept = [k for k, a in enumerate(judged.stack.coefficients) if a > 0]
        self.single_ = None
        self.constant_ = float(judged.stack.constants[0] - judged.stack.constants[1])
        self.base_ = densities if judged.uses_base(tried) else None
        self.members_ = tuple(
            (
                float(judged.stack.coefficients[k]),
                None if k == 0 else tried[k - 1].fit(rows, seeds),
            )
            for k in kept
        )
        smaller = None
        if kept:
            smaller = work.smaller(densities, [tried[k - 1] for k in kept if k], 0 in kept)
        self.crossfit_ = CrossFit(
            crossed.fold_p, crossed.fold_q, *judged.ratios, smaller=smaller
        )

    def evaluate(self, rows: Array) -> Array:
        """Log p/q at rows that are checked."""
        if self.single_ is not None:
            return np.asarray(self.single_.log_ratio_at(rows))
        before = np.zeros(len(rows))
        if self.base_ is not None:
            before = limited(self.base_.log_ratio_at(rows))
        out = np.full(len(rows), self.constant_)
        for coefficient, member in self.members_:
            out += coefficient * (before if member is None else member.log_ratio(rows, before))
        return out

    def _keep_single(self, single: MDRE, crossed: CrossFit) -> None:
        self.single_, self.members_, self.crossfit_ = single, (), crossed
        if not hasattr(self, "selection_"):
            self.selection_ = single.selection_
        single.selection_ = self.selection_

    def _across(
        self, densities: MDRE, samples: TwoSamples, folds: int, seeds: Seeds
    ) -> tuple[MDRE, CrossFit]:
        """MDRE with auxiliaries and a critic on the densities that were found."""
        found = densities.best_params_
        mdre = MDRE(maps=found["maps"], anchor=found["anchor"], random_state=_seed(seeds))
        mdre.fit_samples(samples)
        first, second = densities.selection_, mdre.selection_
        mdre.selection_ = replace(
            second, trials=[*first.trials, *second.trials], alternatives=first.alternatives
        )
        return mdre, cross_fit(mdre, samples, folds, seeds, n_jobs=self.n_jobs)


def _densities(samples: TwoSamples, seeds: Seeds) -> MDRE:
    """Two fitted densities: of the best family, or normals where columns have none.

    A column of a few values has no density, and the search for the best family would be in vain;
    across a chasm there is nothing else to go by.
    """
    normal = MDRE(anchor="gaussian", critic="quadratic", l2=np.inf, random_state=_seed(seeds))
    if has_atoms(*(sample.rows for sample in samples)):
        normal.fit_samples(samples)
        at_rows = [normal.log_ratio_at(sample.rows) for sample in samples]
        if error_of((at_rows[0], at_rows[1]), samples) >= SEPARATE:
            return normal
    return normal.set_params(anchor="auto").fit_samples(samples)


def fold_count(samples: TwoSamples) -> int:
    """Number of folds where none is asked for."""
    return min(10 if samples.least < _FEW_ROWS else 5, max(samples.least // 2, 2))


def error_of(log_ratio: Pair, samples: TwoSamples) -> float:
    """Share of rows that a log-ratio puts on the wrong side, each sample counting alike."""
    p, q = samples
    wrong = [0.5 - 0.5 * np.sign(log_ratio[0]), 0.5 + 0.5 * np.sign(log_ratio[1])]
    return 0.5 * float(p.share @ wrong[0] + q.share @ wrong[1])


@dataclass(frozen=True)
class Judged:
    """What the regression on the candidates gave.

    Attributes
    ----------
    stack : Stack
        Coefficients, from all rows.
    ratios : pair of ndarray
        Log p/q at every row by coefficients from the other folds.
    only : int or None
        The candidate that the stack does not improve on, where that is the first.
    gains : list of Gain
        Gain of every candidate over nothing, and of the stack, which comes last.
    """

    stack: Stack
    ratios: Pair
    only: int | None
    gains: list[Gain]

    def members(self, names: list[str]) -> list[Member]:
        """Names, coefficients and gains, for the record."""
        coefficients = self.stack.coefficients
        if self.only is not None:
            coefficients = np.eye(len(coefficients))[self.only]
        return [
            Member(name, float(a), *gain)
            for name, a, gain in zip(names, coefficients, self.gains, strict=False)
        ]

    def uses_base(self, tried: list[Candidate]) -> bool:
        """Whether the densities count: by themselves, or as a column of another candidate."""
        return bool(
            self.stack.coefficients[0] > 0
            or any(
                a > 0 and one.takes_before
                for a, one in zip(self.stack.coefficients[1:], tried, strict=True)
            )
        )


def judge(
    found: list[Pair], samples: TwoSamples, fold_p: IntArray, fold_q: IntArray, folds: int
) -> Judged:
    """Weigh candidates by their log-ratios at rows that they have not seen."""
    p, q = samples
    rows = float(len(p) + len(q))
    both = [np.column_stack([limited(one[k]) for one in found]) for k in (0, 1)]
    # A candidate that says log p/q alone has half of it for p and half, with the other sign, for q.
    critics = [np.stack([0.5 * r, -0.5 * r], axis=1) for r in both]
    nothing = [_log_probability(np.zeros(len(sample)), k) for k, sample in enumerate(samples)]

    def gain(log_ratio: Pair, over: list[Array]) -> Gain:
        terms = [_log_probability(log_ratio[k], k) for k in (0, 1)]
        return paired_gain(terms, over, [p.share, q.share], [0.5, 0.5])

    gains = [gain((both[0][:, k], both[1][:, k]), nothing) for k in range(len(found))]
    best = int(np.argmax([one.mean for one in gains]))
    start = np.zeros(len(found))
    if gains[best].mean > gains[best].std_error:
        start[best] = 1.0

    def fitted(at_p: Array, at_q: Array) -> Stack:
        shares = [sample.take(at).share for sample, at in zip(samples, (at_p, at_q), strict=True)]
        size = rows * (at_p.mean() + at_q.mean()) / 2.0
        return fit_stack([critics[0][at_p], critics[1][at_q]], shares, start, size)

    stack = fitted(np.ones(len(p), dtype=bool), np.ones(len(q), dtype=bool))
    ratios = np.empty(len(p)), np.empty(len(q))
    for fold in range(folds):
        here = fold_p == fold, fold_q == fold
        one = fitted(~here[0], ~here[1])
        for k in (0, 1):
            h = one(critics[k][here[k]])
            ratios[k][here[k]] = h[:, 0] - h[:, 1]
    gains.append(gain(ratios, nothing))
    only = None
    if start[0] == 1.0:
        over = gain(ratios, [_log_probability(both[k][:, 0], k) for k in (0, 1)])
        only = None if over.above(LIKELY) else 0
    return Judged(stack, ratios, only, gains)


def _log_probability(log_ratio: Array, k: int) -> Array:
    """Log-probability of the own class at the rows of p (k = 0) or of q."""
    return np.asarray(-np.logaddexp(0.0, log_ratio if k else -log_ratio))


@dataclass(frozen=True)
class _Work:
    """Fits in folds and to fewer rows."""

    samples: TwoSamples
    first: CrossFit
    folds: int
    seeds: Seeds
    n_jobs: int | None

    def crossed(self, candidates: list[Candidate], rows: Rows) -> list[Pair]:
        """Log-ratios of each candidate at every row, by fits without the row's fold."""
        fold_p, fold_q = self.first.fold_p, self.first.fold_q
        out = [(np.empty(len(fold_p)), np.empty(len(fold_q))) for _ in candidates]

        def run(task: int) -> None:
            k, fold = divmod(task, self.folds)
            here = fold_p == fold, fold_q == fold
            fit = candidates[k].fit(rows.take(~here[0], ~here[1]), self.seeds)
            for sample, before, at, r in zip(self.samples, rows.before, here, out[k], strict=True):
                r[at] = fit.log_ratio(sample.rows[at], before[at])

        for _ in each(run, len(candidates) * self.folds, self.n_jobs):
            pass
        return out

    def smaller(
        self, densities: MDRE, candidates: list[Candidate], with_densities: bool
    ) -> Smaller:
        """The same stack by fits to a third of the rows, or to half where rows are few.

        Part k of the rows is fitted to, and part k + 1 is asked.
        """
        parts = 2 if self.samples.least < _CURVE_ROWS else 3
        part_p, part_q = (folds_of(len(s), parts, self.seeds, "parts") for s in self.samples)
        base = np.empty(len(part_p)), np.empty(len(part_q))
        found = [(np.empty(len(part_p)), np.empty(len(part_q))) for _ in candidates]

        def run(k: int) -> None:
            own = self.samples.take(part_p == k, part_q == k)
            model = refitted(densities, own)
            after = (k + 1) % parts
            there = part_p == after, part_q == after
            asked = self.samples.take(*there)
            for r, at, sample in zip(base, there, asked, strict=True):
                r[at] = limited(model.log_ratio_at(sample.rows))
            # Rows of the fit itself, as the first folds saw them.
            inner = Rows(own, *(limited(model.log_ratio_at(sample.rows)) for sample in own))
            for one, pair in zip(candidates, found, strict=True):
                fit = one.fit(inner, self.seeds)
                for r, at, sample, before in zip(pair, there, asked, base, strict=True):
                    r[at] = fit.log_ratio(sample.rows, before[at])

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in each(run, parts, self.n_jobs):
                pass
        every = [base, *found] if with_densities else found
        judged = judge(every, self.samples, part_p, part_q, parts)
        return Smaller(*judged.ratios, 1.0 / parts, 1.0 - 1.0 / self.folds)


def _seed(seeds: Seeds) -> int:
    return int(seeds("fit").integers(2**31))

