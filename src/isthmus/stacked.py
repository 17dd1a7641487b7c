"""The stack: one multinomial regression on what several candidates say of rows they have not seen.

Two densities are fitted, as in :class:`~isthmus.MDRE` with an infinite penalty. Where p and q are
far apart, MDRE with its auxiliaries goes on from there. Where they overlap, candidates of other
kinds are fitted as well, and the paper's regression, one level up, weighs them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .anchors import grows, has_normal_tails
from .candidates import LIBRARY, Candidate, Rows
from .candidates.base import limited
from .crossfit import CrossFit, Smaller, cross_fit, each, has_formula, refitted
from .data.sample import TwoSamples
from .data.seeds import Seeds
from .data.telling import quiet
from .data.validation import check_number
from .densities import SEPARATE, fit_densities, other_tails, seed_of
from .estimator import RatioEstimator
from .mdre import MDRE
from .selection.record import DENSITIES
from .selection.weighing import Pair, error_of, weigh
from .stacking import Refit, Work
from .typing import Array, BoolArray, RandomState

STAGES = 3
"""Stages that a fit reports."""

_FEW_ROWS = 2000


class StackedMDRE(RatioEstimator):
    """Estimate log p/q by a stack of candidates.

    Weights of rows are relative: folds split rows and not their copies, so that a weight of two
    counts twice in every fit and does not stand for two rows.

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
    densities_ : MDRE or None
        Two fitted densities otherwise, where they count or another candidate looks at them.
    first_, constant_ : float
        The coefficient of the densities, and what is added to the sum.
    members_ : tuple of (float, fitted candidate)
        The other candidates with their coefficients.
    before_ : bool
        Whether these look at the densities' log-ratio.
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
    single_: MDRE | None

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
        self, samples: TwoSamples, seeds: Seeds, report: Callable[..., None] | None = None
    ) -> None:
        """The algorithm, on two samples that are checked."""
        say = report or (lambda what, share=None: None)
        # Folds split rows and not their copies: weights say what counts more, not how many rows
        # there are.
        samples = samples.relative()
        folds = fold_count(samples) if self.folds is None else self.folds
        if samples.least <= folds:
            raise ValueError(
                f"X must hold more rows of each sample that count than there are folds, {folds}; "
                f"received {len(samples.p)} and {len(samples.q)} with a weight above rounding."
            )

        # 1. Two fitted densities, and their log-ratio at rows that they have not seen.
        say("densities")
        densities = fit_densities(samples, seeds)
        say("densities in folds", 0.5)
        crossed = cross_fit(densities, samples, folds, seeds, n_jobs=self.n_jobs, everywhere=True)
        base = crossed.log_ratio_p, crossed.log_ratio_q

        # 2. Across a chasm: MDRE with auxiliaries, from these densities on.
        if error_of(base, samples) < SEPARATE:
            say("auxiliaries and critic")
            self._keep_single(*self._across(densities, samples, folds, seeds))
            return

        # 3. Candidates, each judged at rows that it has not seen.
        say("candidates")
        work = Work.of(
            samples,
            (crossed.fold_p, crossed.fold_q),
            list(crossed.without),
            _refit(densities, samples),
            seeds,
            self.n_jobs,
        )
        library = LIBRARY if self.candidates is None else self.candidates
        tried = work.settled([one for one in library if one.suits(samples)])
        tried, found = work.crossed(tried, say)

        # 4. The regression on what they say, in every fold and on all rows.
        weighed = weigh([base, *found], samples, crossed.fold_p, crossed.fold_q)
        names = [DENSITIES, *(one.name for one in tried)]
        self.selection_ = replace(densities.selection_, members=weighed.members(names))
        if weighed.alone:
            self._keep_single(densities, _alone(densities, work, crossed, weighed.ratios))
            return

        # 5. What counts is fitted to all rows, and to fewer, which tells what more would bring.
        say("fit to all rows")
        first, *others = weighed.stack.coefficients
        kept = [(float(a), one) for a, one in zip(others, tried, strict=True) if a > 0]
        self.single_, self.constant_ = None, weighed.constant
        self.before_ = work.trusts and any(one.takes_before for _, one in kept)
        self.densities_ = densities if first > 0 or self.before_ else None
        self.first_ = float(first)
        rows = _all_rows(densities, work)
        fits = each(lambda k: kept[k][1].fit(rows, seeds), len(kept), self.n_jobs)
        self.members_ = tuple((a, fit) for (a, _), fit in zip(kept, fits, strict=True))
        smaller = None
        if first > 0 or kept:
            smaller = work.smaller([one for _, one in kept], first > 0)
        self.crossfit_ = CrossFit(
            crossed.fold_p, crossed.fold_q, *weighed.ratios, smaller=smaller, rivals=(base,)
        )

    def evaluate(self, rows: Array) -> Array:
        """Log p/q at rows that are checked."""
        if self.single_ is not None:
            return np.asarray(self.single_.log_ratio_at(rows))
        base = nothing = np.zeros(len(rows))
        if self.densities_ is not None:
            base = limited(self.densities_.log_ratio_at(rows))
        out = self.constant_ + self.first_ * base
        for coefficient, member in self.members_:
            out += coefficient * member.log_ratio(rows, base if self.before_ else nothing)
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
        mdre = MDRE(maps=found["maps"], anchor=found["anchor"], random_state=seed_of(seeds))
        # That a network might see more is for those who ask for one.
        with quiet("The convex critics miss"):
            mdre.fit_samples(samples)
        first, second = densities.selection_, mdre.selection_
        mdre.selection_ = replace(
            second, trials=[*first.trials, *second.trials], alternatives=first.alternatives
        )
        crossed = cross_fit(mdre, samples, folds, seeds, n_jobs=self.n_jobs)
        if any(map(grows, densities.anchors_)):
            smaller = smaller_fits(mdre, samples, folds, seeds, self.n_jobs)
            crossed = replace(crossed, smaller=smaller)
        if not all(map(has_normal_tails, densities.anchors_)):
            crossed = replace(crossed, rivals=other_tails(densities, samples))
        return mdre, crossed


def fold_count(samples: TwoSamples) -> int:
    """Number of folds where none is asked for."""
    return min(10 if samples.least < _FEW_ROWS else 5, max(samples.least // 2, 2))


def _all_rows(densities: MDRE, work: Work) -> Rows:
    """All rows with the log-ratio of the densities that were fitted to them."""
    if not work.trusts:
        return Rows.of(work.samples)
    p, q = (limited(densities.log_ratio_at(sample.rows)) for sample in work.samples)
    return Rows(work.samples, p, q)


def _alone(densities: MDRE, work: Work, crossed: CrossFit, rival: Pair) -> CrossFit:
    """What the folds gave, where the answer rests on the densities alone.

    Where a formula tells the error of the fit, neither folds nor fewer rows have to.
    """
    if has_formula(densities):
        return replace(crossed, without=(), rivals=(rival,))
    return replace(crossed, smaller=work.smaller([], True), rivals=(rival,))


def smaller_fits(
    full: MDRE, samples: TwoSamples, folds: int, seeds: Seeds, n_jobs: int | None
) -> Smaller:
    """Log-ratios of one estimator by fits to a third of the rows, or to half where rows are few."""
    none = np.zeros(0, dtype=int)
    nothing = np.zeros(0), np.zeros(0)
    refit = _refit(full, samples)
    return Work(samples, none, none, nothing, refit, [], False, folds, seeds, n_jobs).smaller(
        [], True
    )


def _refit(full: MDRE, samples: TwoSamples) -> Refit:
    """Fits of the densities to some of the rows."""

    def refit(at_p: BoolArray, at_q: BoolArray) -> Pair:
        model = refitted(full, samples.take(at_p, at_q))
        p, q = (model.log_ratio_at(sample.rows) for sample in samples)
        return p, q

    return refit
