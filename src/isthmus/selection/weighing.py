"""Weighing candidates: the regression on what they say of rows that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..candidates.base import limited
from ..data.holdout import LIKELY, Gain, paired_gain
from ..data.sample import TwoSamples
from ..model.stack import Stack, fit_stack
from ..typing import Array, BoolArray, IntArray
from .record import Member

Pair = tuple[Array, Array]
"""Log-ratios at the rows of p and of q."""

_NEGLIGIBLE = 0.08
"""Coefficients below are left out, and the others fitted again."""


def error_of(log_ratio: Pair, samples: TwoSamples) -> float:
    """Share of rows that a log-ratio puts on the wrong side, each sample counting alike."""
    p, q = samples
    wrong = [0.5 - 0.5 * np.sign(log_ratio[0]), 0.5 + 0.5 * np.sign(log_ratio[1])]
    return 0.5 * float(p.share @ wrong[0] + q.share @ wrong[1])


@dataclass(frozen=True)
class Weighed:
    """What the regression on the candidates gave.

    Attributes
    ----------
    stack : Stack
        Coefficients of all candidates, from all rows.
    ratios : pair of ndarray
        Log p/q at every row by coefficients from the other folds.
    alone : bool
        Whether the first candidate is the best and the stack does not improve on it.
    gains : list of Gain
        Gain of every candidate over no difference at all.
    """

    stack: Stack
    ratios: Pair
    alone: bool
    gains: list[Gain]

    @property
    def constant(self) -> float:
        """What is added to the sum of the candidates' log-ratios."""
        return float(self.stack.constants[0] - self.stack.constants[1])

    def members(self, names: list[str]) -> list[Member]:
        """Names, coefficients and gains, for the record."""
        coefficients = self.stack.coefficients
        if self.alone:
            coefficients = np.eye(len(coefficients))[0]
        return [
            Member(name, float(a), *gain)
            for name, a, gain in zip(names, coefficients, self.gains, strict=True)
        ]


def weigh(found: list[Pair], samples: TwoSamples, fold_p: IntArray, fold_q: IntArray) -> Weighed:
    """Weigh candidates by their log-ratios at rows that they have not seen.

    The ridge pulls the coefficients to the best candidate alone, or to none where no candidate
    beats no difference at all by more than its standard error.
    """
    every = _Critics.of(found, samples)
    start = np.zeros(len(found))
    best = every.best
    if every.gains[best].mean > every.gains[best].std_error:
        start[best] = 1.0
    stack = every.fitted(start, np.ones(len(found), dtype=bool))
    counts = stack.coefficients >= _NEGLIGIBLE
    stack = every.fitted(start, counts)
    p, q = np.empty(len(fold_p)), np.empty(len(fold_q))
    for fold in np.unique(fold_p):
        here_p, here_q = fold_p == fold, fold_q == fold
        one = every.fitted(start, counts, ~here_p, ~here_q)
        for k, (r, at) in enumerate(((p, here_p), (q, here_q))):
            h = one(every.critics[k][at])
            r[at] = h[:, 0] - h[:, 1]
    over = every.gain((p, q), (every.both[0][:, 0], every.both[1][:, 0]))
    alone = start[0] == 1.0 and not over.above(LIKELY)
    return Weighed(stack, (p, q), alone, every.gains)


def in_race(found: list[Pair], samples: TwoSamples) -> list[int]:
    """Candidates that may add something, by rows that none of them has seen.

    Out is who has no coefficient in a stack of all and is beaten by the best by more than chance.
    """
    every = _Critics.of(found, samples)
    best = every.best
    start = np.eye(len(found))[best]
    stack = every.fitted(start, np.ones(len(found), dtype=bool))
    return [
        k
        for k, a in enumerate(stack.coefficients)
        if a >= _NEGLIGIBLE or not every.gain(every.one(best), every.one(k)).above(LIKELY)
    ]


@dataclass(frozen=True)
class _Critics:
    """Log-ratios of candidates, (n, K) for each sample, and the critics that they are."""

    samples: TwoSamples
    both: tuple[Array, Array]

    @classmethod
    def of(cls, found: list[Pair], samples: TwoSamples) -> _Critics:
        p, q = (np.column_stack([limited(one[k]) for one in found]) for k in (0, 1))
        return cls(samples, (p, q))

    @cached_property
    def critics(self) -> list[Array]:
        """A candidate that says log p/q has half of it for p and half, with a minus, for q."""
        return [np.stack([0.5 * r, -0.5 * r], axis=1) for r in self.both]

    @cached_property
    def gains(self) -> list[Gain]:
        """Of every candidate over no difference at all."""
        nothing = np.zeros(len(self.both[0])), np.zeros(len(self.both[1]))
        return [self.gain(self.one(k), nothing) for k in range(self.both[0].shape[1])]

    @property
    def best(self) -> int:
        """The candidate that makes the labels likeliest."""
        return int(np.argmax([one.mean for one in self.gains]))

    def one(self, k: int) -> Pair:
        """Log-ratios of one candidate."""
        return self.both[0][:, k], self.both[1][:, k]

    def gain(self, mine: Pair, theirs: Pair) -> Gain:
        """Gain in log-likelihood of the labels, each sample counting for half."""
        terms = [
            [-np.logaddexp(0.0, -one[0]), -np.logaddexp(0.0, one[1])] for one in (mine, theirs)
        ]
        shares = [sample.share for sample in self.samples]
        return paired_gain(terms[0], terms[1], shares, [0.5, 0.5])

    def fitted(
        self,
        start: Array,
        counts: BoolArray,
        at_p: BoolArray | slice = slice(None),
        at_q: BoolArray | slice = slice(None),
    ) -> Stack:
        """The regression on those candidates that count, at some rows."""
        some = [c[at][:, :, counts] for c, at in zip(self.critics, (at_p, at_q), strict=True)]
        held = self.samples.take(at_p, at_q)
        rows = float(len(held.p) + len(held.q))
        stack = fit_stack(some, [sample.share for sample in held], start[counts], rows)
        coefficients = np.zeros(len(start))
        coefficients[counts] = stack.coefficients
        return Stack(coefficients, stack.constants, stack.solution)
