"""How well a model tells held-out rows of all classes apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import log_softmax

from ..data.holdout import LOST_ROW, Gain, paired_gain
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..model.rows import ClassRows, fresh_rows
from ..typing import Array, LinearCritic


class Score:
    """Multinomial log-likelihood of held-out rows, class by class, to be compared in pairs.

    Parameters
    ----------
    terms : list of ndarray
        For every class, the log-probability of it at each of its rows.
    share : list of ndarray
        Shares of these rows, which add up to one in each class.
    prior : ndarray
        Class priors.
    """

    def __init__(self, terms: list[Array], share: list[Array], prior: Array) -> None:
        self.terms = [np.maximum(term, -LOST_ROW) for term in terms]
        self.share, self.prior = share, prior

    @property
    def value(self) -> float:
        """Mean log-likelihood."""
        return float(
            sum(pi * (s @ t) for pi, s, t in zip(self.prior, self.share, self.terms, strict=True))
        )

    @property
    def rows(self) -> int:
        """Number of rows, in all classes."""
        return sum(map(len, self.terms))

    @property
    def accuracy(self) -> float:
        """Share of rows whose own class had more than half, each class counting alike."""
        right = [float(s @ (t > np.log(0.5))) for s, t in zip(self.share, self.terms, strict=True)]
        return float(np.mean(right))

    def gain(self, other: Score) -> Gain:
        """How much higher than another score on the same rows."""
        return paired_gain(self.terms, other.terms, self.share, self.prior)

    def proven(self, best: Score) -> bool:
        """Whether it is higher than the best so far beyond doubt."""
        return self.gain(best).proven(self.rows)


class HeldOut:
    """Rows of every class that a fit has not seen, to score critics on.

    Parameters
    ----------
    classes : ClassRows
        The classes of the fit.
    held : TwoSamples
        Held-out rows of p and q.
    seeds : Seeds
        For fresh draws of the auxiliaries.
    """

    def __init__(self, classes: ClassRows, held: TwoSamples, seeds: Seeds) -> None:
        offsets = classes.offsets
        self.prior, self.learned = classes.prior, offsets.learned
        samples = fresh_rows(offsets.auxiliaries, held, seeds)
        self.rows = [sample.rows for sample in samples]
        self.share = [sample.share for sample in samples]
        self.Z = [offsets.where(rows) for rows in self.rows]
        self.offset = [offsets(x, z) for x, z in zip(self.rows, self.Z, strict=True)]

    def score(
        self,
        critic: LinearCritic | None = None,
        theta: Array | None = None,
        classes: Sequence[int] | None = None,
        network: Any = None,
    ) -> Score:
        """Log-probability of the true class at every row, among all classes or some."""
        raw = None if critic is None or theta is None else critic.expand(theta)
        kept = list(range(len(self.Z))) if classes is None else list(classes)
        terms = []
        for place, c in enumerate(kept):
            logits = self.offset[c] + np.log(self.prior)
            if critic is not None and raw is not None:
                logits[:, self.learned] += critic.values(raw, self.Z[c])
            if network is not None:
                logits[:, self.learned] += network.values(self.rows[c], self.Z[c])
            terms.append(log_softmax(logits[:, kept], axis=1)[:, place])
        prior = self.prior[kept]
        return Score(terms, [self.share[c] for c in kept], prior / prior.sum())
