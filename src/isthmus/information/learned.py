"""What a ratio lacks, learned by the stack of candidates; and what more rows would still bring.

The joint pairs are p, the shuffled ones q, and the log-ratio that was chosen is what is there
before the candidates of :mod:`isthmus.candidates`: sparse waves and products, bumps, neighbours and
trees of the columns of both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..candidates import Bumps, Candidate, Focused, Neighbours, Ridge, Sparse, Trees
from ..candidates.base import limited
from ..crossfit import Smaller
from ..data.holdout import PROVEN, Split, paired_gain, random_folds
from ..data.sample import TwoSamples
from ..selection.weighing import Pair, weigh
from ..stacking import Work
from ..typing import Array, BoolArray, IntArray
from ..uncertainty.learning import FAST, SLOW
from .choice import Trials
from .evaluation import Evaluation, PairRatio, row_gain
from .marginal import canonical

CANDIDATES: tuple[Candidate, ...] = (
    Ridge(),
    Sparse(),
    Bumps(),
    Neighbours(),
    Trees(),
    Focused(Trees(), 6),
)
"""What learns on top of the chosen ratio."""

# Rows that the stack sees, folds of it, and shuffled pairs of a row.
_MOST, _FOLDS, _SHUFFLES = 4000, 3, 2
_LEAST = 100
# The slowest rate of a ratio whose settings are fixed: what it learns are its parameters.
_FIXED = 0.5


@dataclass(frozen=True)
class Curve:
    """How a number grows with the rows that it was learned from.

    Attributes
    ----------
    gain, noise : float
        What fits to more rows brought over fits to fewer, and its standard error.
    ahead, far : float
        How many times the gain is still ahead: at the rate of the value, and at the slowest.
    """

    gain: float
    noise: float
    ahead: float
    far: float

    @property
    def value(self) -> float:
        """What is added to the value: less where the gain may be noise."""
        return self.sure * self.ahead * max(self.gain, 0.0)

    @property
    def sure(self) -> float:
        """How sure the gain is, between 0 and 1."""
        gain = max(self.gain, 0.0)
        return gain**2 / (gain**2 + self.noise**2) if gain > 0 else 0.0

    @property
    def above(self) -> float:
        """How much more than the value there may be."""
        return self.far * max(self.gain, 0.5 * self.noise) - self.value


@dataclass(frozen=True)
class Learned:
    """What the stack found.

    Attributes
    ----------
    joint, shuffled : ndarray
        Held-out log-ratios of the stack at joint and at shuffled pairs.
    before : ndarray
        Those of the ratio before, at the joint pairs.
    rows : ndarray of int
        The rows that the joint pairs are of.
    curve : Curve
    members : tuple of (str, float)
        Candidates that count, with their coefficients.
    proven : bool
        Whether pairs are clearly likelier than by the ratio before.
    """

    joint: Array
    shuffled: Array
    before: Array
    rows: IntArray
    curve: Curve
    members: tuple[tuple[str, float], ...]
    proven: bool


def learn(best: Evaluation, trials: Trials, times: int = 1) -> Learned | None:
    """The stack on top of a ratio; None where no candidate counts."""
    seeds, n = trials.seeds, len(trials.x)
    rows = np.sort(seeds("stack rows").permutation(n)[: times * _MOST])
    if len(rows) < _LEAST:
        return None
    pairs = _Pairs.of(trials, best.ratio, rows)
    samples = TwoSamples.of(pairs.columns(pairs.p), pairs.columns(pairs.q))
    without = [pairs.refit(pairs.fold_p != k, pairs.fold_q != k) for k in range(_FOLDS)]
    work = Work.of(samples, (pairs.fold_p, pairs.fold_q), without, pairs.refit, seeds)
    tried = work.settled([one for one in CANDIDATES if one.suits(samples)])
    tried, found = work.crossed(tried, lambda *_: None)
    weighed = weigh([work.base, *found], samples, pairs.fold_p, pairs.fold_q)
    first, *others = weighed.stack.coefficients
    kept = [(one, float(a)) for one, a in zip(tried, others, strict=True) if a > 0]
    if not kept:
        return None
    smaller = work.smaller([one for one, _ in kept], first > 0)
    joint, shuffled = weighed.ratios
    curve = _curve(joint, smaller, SLOW)
    return Learned(
        joint,
        shuffled,
        limited(work.base[0]),
        rows,
        curve,
        ((best.ratio.name, float(first)), *((one.name, a) for one, a in kept)),
        not weighed.alone and _gains(weighed.ratios, work.base),
    )


def _gains(mine: Pair, base: Pair) -> bool:
    """Whether the pairs are clearly likelier by one log-ratio than by another."""
    terms = [
        [-np.logaddexp(0.0, -limited(one[0])), -np.logaddexp(0.0, limited(one[1]))]
        for one in (mine, base)
    ]
    shares = [np.full(len(one), 1.0 / len(one)) for one in mine]
    return paired_gain(terms[0], terms[1], shares, [0.5, 0.5]).above(PROVEN)


def ratio_curve(best: Evaluation, trials: Trials) -> Curve:
    """What fewer rows would have given, of a ratio that has been chosen."""
    n = len(trials.x)
    splits = random_folds(n, 3, trials.seeds("curve"))
    less, rows = [], []
    for k, split in enumerate(splits):
        asked = splits[(k + 1) % len(splits)].held
        best.ratio.fit(split.held)
        less.append(best.ratio.log_ratio(asked, asked))
        rows.append(asked)
    order = np.concatenate(rows)
    share, full = 1.0 / len(splits), 1.0 - 1.0 / len(trials.splits)
    smaller = Smaller(np.concatenate(less), np.zeros(0), share, full)
    return _curve(best.joint[order], smaller, _FIXED)


def _curve(more: Array, smaller: Smaller, slowest: float) -> Curve:
    gain = row_gain(more, smaller.log_ratio_p)
    return Curve(gain.mean, gain.std_error, smaller.ahead(FAST), smaller.ahead(slowest))


@dataclass(frozen=True)
class _Pairs:
    """Joint and shuffled pairs of some rows, none of which crosses a fold."""

    trials: Trials
    ratio: PairRatio
    rows: IntArray
    p: tuple[IntArray, IntArray]
    q: tuple[IntArray, IntArray]
    fold_p: IntArray
    fold_q: IntArray

    @classmethod
    def of(cls, trials: Trials, ratio: PairRatio, rows: IntArray) -> _Pairs:
        rng = trials.seeds("stack pairs")
        left, right, folds = [], [], []
        fold_p = np.empty(len(rows), dtype=np.intp)
        splits: list[Split] = list(random_folds(len(rows), _FOLDS, trials.seeds("stack folds")))
        for k, split in enumerate(splits):
            fold_p[split.held] = k
            own = rng.permutation(rows[split.held])
            for turn in range(1, _SHUFFLES + 1):
                left.append(own)
                right.append(np.roll(own, turn))
                folds.append(np.full(len(own), k))
        q = np.concatenate(left), np.concatenate(right)
        return cls(trials, ratio, rows, (rows, rows), q, fold_p, np.concatenate(folds))

    def columns(self, pairs: tuple[IntArray, IntArray]) -> Array:
        """Columns of pairs: scores, the length of each side, and straightened columns."""
        x, y = self.trials.scores
        parts = [x[pairs[0]], y[pairs[1]]]
        for side, at in zip((self.trials.x, self.trials.y), pairs, strict=True):
            if side.width > 1:
                z = canonical(side.raw, side.raw).x
                parts.append(np.log((z[at] ** 2).sum(axis=1) + 1e-12)[:, None])
        for straight in self.trials.straight:
            parts += [side[at] for side, at in zip(straight, pairs, strict=True)]
        return np.hstack(parts)

    def refit(self, at_p: BoolArray, at_q: BoolArray) -> Pair:
        """Fit the ratio before to the rows of some joint pairs: log-ratios at all pairs."""
        self.ratio.fit(self.rows[at_p])
        return self.ratio.log_ratio(*self.p), self.ratio.log_ratio(*self.q)
