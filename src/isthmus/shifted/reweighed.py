"""A score as a function of what rows count for, and how far noise moves it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..data.seeds import Seeds
from ..functionals import Estimate
from ..typing import Array
from .doors import Labelled
from .ratio import ShiftRatio
from .recorded import Recorded


class Reweighed:
    """The score of recorded answers under any weights of the rows.

    Parameters
    ----------
    answers : Recorded
        Answers to the rows.
    given : Labelled
        The rows, with their labels.
    scorer : callable
        Takes an estimator, X and y, and perhaps ``sample_weight``.
    seeds : Seeds
    """

    def __init__(self, answers: Recorded, given: Labelled, scorer: Any, seeds: Seeds) -> None:
        self.answers, self.given, self.scorer = answers, given, scorer
        self.rng = seeds("noise")
        self.takes_weight = self._takes_weight()

    def _takes_weight(self) -> bool:
        try:
            self._scored(np.ones(len(self.given.labels)))
        except TypeError as error:
            if "sample_weight" not in str(error):
                raise
            return False
        return True

    def score(self, weight: Array) -> float:
        """The score of the rows under weights; of rows drawn by them, if it takes none."""
        if self.takes_weight:
            return self._scored(weight)
        n = len(weight)
        places = self.rng.choice(n, n, p=weight / weight.sum())
        drawn = self.given.take(places)
        return float(self.scorer(self.answers.take(places), drawn.rows, drawn.labels))

    def _scored(self, weight: Array) -> float:
        given = self.given
        return float(self.scorer(self.answers, given.rows, given.labels, sample_weight=weight))

    def estimates(
        self, ratio: ShiftRatio, level: float, draws: int, best: float = math.inf
    ) -> tuple[Estimate, Estimate, Estimate]:
        """Score on the target, plain score, and the first less the second.

        ``best`` is what a score can be at most.
        """
        n = len(self.given.labels)
        one = np.ones(n)
        # Weights of a Bayesian bootstrap; the same for both scores, which are correlated.
        draw = self.rng.exponential(size=(draws, n))
        drawn = np.array([[self.score(ratio.held_out * w), self.score(w)] for w in draw])
        if self.takes_weight:
            value = np.array([self.score(ratio.held_out), self.score(one)])
        else:
            value = drawn.mean(axis=0)
        error = drawn.std(axis=0, ddof=1)
        error_change = float((drawn[:, 0] - drawn[:, 1]).std(ddof=1))
        of_ratio = self._error_of_ratio(ratio) if self.takes_weight else 0.0

        def estimate(
            middle: float, of_rows: float, of_ratio: float, upper: float = best
        ) -> Estimate:
            return Estimate.from_std_error(
                middle,
                math.hypot(of_rows, of_ratio),
                level=level,
                upper=upper,
                method="bootstrap and jackknife",
            )

        return (
            estimate(value[0], error[0], of_ratio),
            estimate(value[1], error[1], 0.0),
            estimate(value[0] - value[1], error_change, of_ratio, math.inf),
        )

    def _error_of_ratio(self, ratio: ShiftRatio) -> float:
        """Standard error of the score from that of the ratio, by its folds.

        What leaving out a fold does to the score is seen on the rows of the fold alone, a part of
        all; over all rows it would be as many times as much as there are folds.
        """
        folds = np.unique(ratio.folds[ratio.folds >= 0])
        count = len(folds)
        middle = self.score(ratio.fitted)
        moved = [
            count * (self.score(np.where(ratio.folds == k, ratio.held_out, ratio.fitted)) - middle)
            for k in folds
        ]
        return float(np.sqrt((count - 1) / count * np.sum(np.square(moved))))
