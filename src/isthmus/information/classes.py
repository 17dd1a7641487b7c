"""Probabilities of classes at rows that no fit has seen: candidates, joined by one regression.

Each candidate finds the log-ratio of the rows of one class to those of the others, class by class;
what it says of every class are its critics. The multinomial regression on the critics of all
candidates, with coefficients that the classes share, gives the probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import log_expit, log_softmax, logit

from ..candidates import LIBRARY, Candidate, Rows
from ..crossfit import Smaller
from ..data.holdout import LIKELY, Gain
from ..data.sample import TwoSamples, bounded_rows
from ..data.seeds import Seeds
from ..data.telling import quiet
from ..model.stack import Stack, fit_stack
from ..typing import Array, BoolArray, IntArray
from .evaluation import row_gain

Turn = tuple[BoolArray, BoolArray]
"""Rows to fit to, and rows to ask."""

# Of the rows of the other classes so many for each of a class, and at least that many, are used.
_OTHERS, _LEAST_OTHERS = 3, 1000
# Below so many rows every fold makes its own choices; above, those of the first serve all.
_OWN_CHOICES = 1000
# With more classes than this only the quicker candidates take part.
_MANY_CLASSES = 4
_QUICK = ("linear", "densities of levels", "neighbours", "boosted trees")
# Rows of a fold that tell who adds nothing, and rows that are enough for three parts.
_RACE_ROWS, _CURVE_ROWS = 200, 600
_NEGLIGIBLE = 0.08


@dataclass(frozen=True)
class Classes:
    """Rows that belong to classes.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
    label : ndarray of int, shape (n,)
        Class of each row: 0, 1, ..., each of which occurs.
    """

    rows: Array
    label: IntArray

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def share(self) -> Array:
        """Share of the rows of every class."""
        return np.asarray(np.bincount(self.label) / len(self.label))

    def parts(self, count: int, rng: np.random.Generator) -> IntArray:
        """One of so many parts for each row, with about as many of every class in each."""
        part, begin = np.empty(len(self), dtype=np.intp), 0
        for k in range(len(self.share)):
            own = np.flatnonzero(self.label == k)
            part[rng.permutation(own)] = (begin + np.arange(len(own))) % count
            begin += len(own)
        return part

    def against_others(self, k: int, at: BoolArray) -> TwoSamples:
        """Rows of one class, among those at some places, and rows of the others."""
        own = self.rows[at & (self.label == k)]
        others = self.rows[at & (self.label != k)]
        most = max(_OTHERS * len(own), _LEAST_OTHERS)
        return TwoSamples.of(own, others[bounded_rows(len(others), most)])


@dataclass(frozen=True)
class Judged:
    """What was found.

    Attributes
    ----------
    log_p, fewer : ndarray of shape (n, K)
        Log-probabilities of the classes at every row, by fits that have not seen it: to all
        other folds, and to fewer rows.
    curve : Smaller
        Shares of the rows that these have seen.
    names : list of str
        Names of the candidates.
    gains : list of Gain
        What each alone gains over the shares of the classes.
    coefficients : ndarray
        Of the candidates, from all rows.
    """

    log_p: Array
    fewer: Array
    curve: Smaller
    names: list[str]
    gains: list[Gain]
    coefficients: Array


def judge_classes(classes: Classes, folds: int, seeds: Seeds) -> Judged:
    """Fit the candidates without each fold, and to fewer rows, and join them.

    Parameters
    ----------
    classes : Classes
        Two at least, each with more rows than there are folds.
    folds : int
    seeds : Seeds

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> label = rng.integers(2, size=300)
    >>> rows = (label + 0.3 * rng.normal(size=300))[:, None]
    >>> found = judge_classes(Classes(rows, label), 5, Seeds(0))
    >>> bool((found.log_p.argmax(axis=1) == label).mean() > 0.9)
    True
    """
    with quiet():
        fold = classes.parts(folds, seeds("folds"))
        turns = [(fold != k, fold == k) for k in range(folds)]
        fits = _Fits.of(classes, seeds).settled(fold != 0)
        critics = fits.asked(turns[:1])
        if turns[0][1].sum() >= _RACE_ROWS:
            here = turns[0][1]
            racing = _Weighing(critics[here], classes.label[here]).in_race()
            fits, critics = fits.only(racing), critics[:, :, racing]
        critics += fits.asked(turns[1:])
        parts = 2 if len(classes) < _CURVE_ROWS else 3
        part = classes.parts(parts, seeds("parts"))
        fewer = fits.asked([(part == k, part == (k + 1) % parts) for k in range(parts)])
        every = _Weighing(critics, classes.label)
        return Judged(
            every.crossed(fold),
            _Weighing(fewer, classes.label).crossed(fold),
            Smaller(np.zeros(0), np.zeros(0), 1.0 / parts, 1.0 - 1.0 / folds),
            [one.name for one in fits.candidates],
            every.gains,
            every.stack().coefficients,
        )


@dataclass(frozen=True)
class _Fits:
    """Candidates for every class against the others.

    Attributes
    ----------
    candidates : list of Candidate
    chosen : list of list of Candidate
        For every class that is asked for, the candidates with their choices; one for which a class
        has too few rows is the first one there.
    """

    classes: Classes
    seeds: Seeds
    candidates: list[Candidate]
    chosen: list[list[Candidate]]

    @classmethod
    def of(cls, classes: Classes, seeds: Seeds) -> _Fits:
        count = len(classes.share)
        # Of two classes one log-ratio tells both.
        asked = range(1, count) if count == 2 else range(count)
        library = [one for one in LIBRARY if count <= _MANY_CLASSES or one.name in _QUICK]
        everywhere = np.ones(len(classes), dtype=bool)
        samples = [classes.against_others(k, everywhere) for k in asked]
        suits = np.array([[one.suits(each) for one in library] for each in samples])
        some = np.flatnonzero(suits.any(axis=0))
        chosen = [[library[j] if own[j] else library[some[0]] for j in some] for own in suits]
        return cls(classes, seeds, [library[j] for j in some], chosen)

    @property
    def asked_classes(self) -> Sequence[int]:
        """Classes whose log-ratios are asked for."""
        count = len(self.classes.share)
        return range(count - len(self.chosen), count)

    def settled(self, at: BoolArray) -> _Fits:
        """With the choices of the candidates made at some rows, unless rows are few."""
        if len(self.classes) * len(self.chosen) <= _OWN_CHOICES:
            return self
        chosen: list[list[Candidate]] = []
        for k, own in zip(self.asked_classes, self.chosen, strict=True):
            if len(self.chosen) > _MANY_CLASSES and chosen and own == self.chosen[0]:
                # The choices of the first class serve all others that have the same candidates.
                chosen.append(chosen[0])
                continue
            rows = Rows.of(self.classes.against_others(k, at))
            chosen.append([one.settled(rows, self.seeds) for one in own])
        return replace(self, chosen=chosen)

    def only(self, kept: list[int]) -> _Fits:
        """Some of the candidates."""
        return replace(
            self,
            candidates=[self.candidates[j] for j in kept],
            chosen=[[own[j] for j in kept] for own in self.chosen],
        )

    def asked(self, turns: Sequence[Turn]) -> Array:
        """Critics of all candidates where they were asked, zero elsewhere: (n, K, candidates)."""
        share = self.classes.share
        out = np.zeros((len(self.classes), len(share), len(self.candidates)))
        for fitted, there in turns:
            rows = self.classes.rows[there]
            for k, own in zip(self.asked_classes, self.chosen, strict=True):
                samples = Rows.of(self.classes.against_others(k, fitted))
                for j, one in enumerate(own):
                    fit = one.fit(samples, self.seeds)
                    ratio = fit.log_ratio(rows, np.zeros(len(rows)))
                    if len(share) == 2:
                        out[there, 0, j], out[there, 1, j] = -0.5 * ratio, 0.5 * ratio
                    else:
                        # Log P(k | x) / P(k), which need not add up over classes as yet.
                        chance = log_expit(ratio + logit(share[k]))
                        out[there, k, j] = chance - np.log(share[k])
        return out


@dataclass(frozen=True)
class _Weighing:
    """The regression on critics, (n, K, candidates), at rows whose classes are known."""

    critics: Array
    label: IntArray

    @cached_property
    def _share(self) -> Array:
        return np.asarray(
            np.bincount(self.label, minlength=self.critics.shape[1]) / len(self.label)
        )

    def _terms(self, j: int) -> Array:
        """Log-probabilities of the rows' own classes by one candidate."""
        with np.errstate(divide="ignore"):
            log_p = log_softmax(self.critics[:, :, j] + np.log(self._share), axis=1)
        return np.asarray(log_p[np.arange(len(log_p)), self.label])

    @cached_property
    def gains(self) -> list[Gain]:
        """Of every candidate over the shares of the classes."""
        nothing = np.log(self._share)[self.label]
        return [row_gain(self._terms(j), nothing) for j in range(self.critics.shape[2])]

    def stack(self) -> Stack:
        """Coefficients: a ridge pulls them to the best candidate, or to none if it gains nothing.

        Those that are next to nothing are left out, and the others fitted again.
        """
        start = np.zeros(self.critics.shape[2])
        best = int(np.argmax([one.mean for one in self.gains]))
        if self.gains[best].mean > self.gains[best].std_error:
            start[best] = 1.0
        found = self._fitted(start, np.ones(len(start), dtype=bool))
        return self._fitted(start, found.coefficients >= _NEGLIGIBLE)

    def crossed(self, part: IntArray) -> Array:
        """Log-probabilities at every row by coefficients from the other parts, (n, K)."""
        n, classes, _ = self.critics.shape
        out = np.empty((n, classes))
        for k in np.unique(part):
            here = part == k
            stack = _Weighing(self.critics[~here], self.label[~here]).stack()
            out[here] = log_softmax(stack(self.critics[here]), axis=1)
        # That one row more is of a class by chance cannot be excluded.
        chance = 0.5 / n
        return np.asarray(np.logaddexp(np.log1p(-chance) + out, np.log(chance * self._share)))

    def in_race(self) -> list[int]:
        """Candidates that count in the regression or are not clearly beaten by the best."""
        best = int(np.argmax([one.mean for one in self.gains]))
        counts = self.stack().coefficients >= _NEGLIGIBLE
        lead = [row_gain(self._terms(best), self._terms(j)) for j in range(len(counts))]
        return [j for j, own in enumerate(counts) if own or not lead[j].above(LIKELY) or j == best]

    def _fitted(self, start: Array, counts: BoolArray) -> Stack:
        some = self.critics[:, :, counts]
        classes = len(self._share)
        own = [self.label == k for k in range(classes)]
        # Every row counts once, so that the constants hold the shares of the classes.
        weight = classes / len(self.label)
        stack = fit_stack(
            [some[at] for at in own],
            [np.full(at.sum(), weight) for at in own],
            start[counts],
            float(len(self.label)),
        )
        coefficients = np.zeros(len(start))
        coefficients[counts] = stack.coefficients
        return Stack(coefficients, stack.constants, stack.solution)
