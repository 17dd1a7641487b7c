"""The estimate: the simplest of several ratios that held-out pairs do not refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ..data.seeds import Seeds
from ..typing import Array, IntArray
from .bends import BentRatio, bends
from .copulas import GaussianRatio, StudentRatio, gaussian_information, rank_noise
from .judge import CHASM, Folds, Judged, judge
from .neighbours import NeighbourRatio, ksg_terms
from .sides import Side

# A more complex ratio must gain by so many standard errors of the paired difference.
MARGIN = 3.0
# Neighbours are tried up to this number of columns in all, the t-copula up to that.
_FEW, _MANY = 3, 120
# Neighbours whose estimate is compared with that of the other ratios.
_NEIGHBOURS = 5
# Nothing is bent in raw coordinates where tails cost the normal ratio more than this.
_TAILS = 0.3
# One bend was chosen among many already, by rows of one fold of five; what it loses if it was
# chosen by chance is little.
_BENT_MARGIN = 2.0
# Most canonical variates that are bent, and most folds to screen them on.
_VARIATES = 6


class _Independent:
    """Independence: the ratio is one everywhere."""

    name = "independent"

    def fit(self, rows: IntArray) -> Self:
        return self

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        return np.zeros(len(i))


@dataclass
class Anchored:
    """What was found.

    Attributes
    ----------
    value, std_error : float
    judged : Judged
        The chosen ratio at held-out pairs.
    trials : list of Judged
        All ratios, in the order in which they were tried.
    """

    value: float
    std_error: float
    judged: Judged
    trials: list[Judged] = field(default_factory=list)


def estimate(
    x: Side,
    y: Side,
    seeds: Seeds,
    n_folds: int,
    *,
    residual: bool = False,
    verbose: int = 0,
) -> Anchored:
    """Estimate the mutual information of two sides.

    Parameters
    ----------
    x, y : Side
    seeds : Seeds
    n_folds : int
    """
    folds = Folds.split(len(x), n_folds, seeds("folds"))
    rng = seeds("shuffles")
    trials: list[Judged] = []
    ratios: dict[str, Any] = {}

    def tried(ratio: Any, name: str | None = None, **how: Any) -> Judged:
        judged = judge(ratio, folds, rng, **how)
        judged.name = name or judged.name
        trials.append(judged)
        ratios[judged.name] = ratio
        if verbose:
            print(f"mutual information, {judged.name}: {judged.score:.4f} on held-out pairs")
        return judged

    best = tried(_Independent())
    scores = tried(GaussianRatio(x.scores, y.scores))
    raw = tried(GaussianRatio(x.raw, y.raw), "gaussian, raw")
    # Both normal ratios are equally simple: the better one is taken.
    normal = raw if raw.beats(scores, 1.0) else scores
    best = normal if normal.beats(best, MARGIN) else best
    if x.width + y.width <= _MANY:
        student = tried(StudentRatio(x, y))
        best = student if student.beats(best, MARGIN) else best
    if x.width + y.width <= _FEW:
        near = tried(NeighbourRatio(*_straighter(x, y, raw, scores)), inside=False)
        terms = ksg_terms(*_straighter(x, y, raw, scores), k=_NEIGHBOURS)
        if near.beats(best, MARGIN) or _misses(best, terms, x, y):
            best = near
    if max(x.width, y.width) > 1 and best.score < CHASM:
        coordinates = [(x.scores, y.scores)]
        if raw.score > scores.score - _TAILS:
            coordinates.append((x.raw, y.raw))
        ratio = _bent(coordinates, folds, seeds)
        if ratio is not None:
            bent = tried(ratio)
            bent.settings = {**vars(ratio.bend), "variates": ratio.n_variates}
            best = bent if bent.beats(best, _BENT_MARGIN) else best
    if residual:
        from .network import ResidualRatio

        learned = tried(ResidualRatio(ratios[best.name], *_straighter(x, y, raw, scores), seeds))
        best = learned if learned.beats(best, MARGIN) else best
    value, error = _value(best, x, y)
    return Anchored(value, error, best, trials)


def _misses(best: Judged, terms: Array, x: Side, y: Side) -> bool:
    """Whether neighbours see clearly more than a ratio.

    Their estimate errs low if at all. Their ratio is too noisy to win by its likelihood, where
    rows are few.
    """
    gain = terms.mean() - _value(best, x, y)[0]
    return bool(gain > MARGIN * (terms - best.joint).std() / np.sqrt(len(terms)))


def _straighter(x: Side, y: Side, raw: Judged, scores: Judged) -> tuple[Array, Array]:
    """The coordinates in which the normal ratio is the better one."""
    return (x.raw, y.raw) if raw.score > scores.score else (x.scores, y.scores)


def _bent(
    coordinates: Sequence[tuple[Array, Array]], folds: Folds, seeds: Seeds
) -> BentRatio | None:
    """The best coordinates, set of features and number of variates, by the first fold."""
    best: tuple[float, BentRatio, int] | None = None
    tried = [
        BentRatio(x, y, bend, _VARIATES)
        for x, y in coordinates
        for bend in bends(x.shape[1], y.shape[1], folds.n)
    ]
    for ratio in tried:
        ratio.fit(folds.others(0))
        for k in range(1, ratio.most + 1):
            ratio.use(k)
            judged = judge(_Fitted(ratio), folds, seeds("screen"), which=[0], inside=False)
            # Nothing vouches for the mass of variates that were sought out: across a chasm, where
            # shuffled pairs say little of it, what they say has to count.
            score = judged.score if judged.plug_in <= CHASM else judged.bound
            if best is None or score > best[0]:
                best = score, ratio, k
    if best is None:
        return None
    _, ratio, k = best
    ratio.use(k)
    return ratio


class _Fitted:
    """A ratio that keeps its fit."""

    def __init__(self, ratio: Any) -> None:
        self.name, self.log_ratio = ratio.name, ratio.log_ratio

    def fit(self, rows: IntArray) -> Self:
        return self


def _value(best: Judged, x: Side, y: Side) -> tuple[float, float]:
    """The estimate by the chosen ratio, and its standard error."""
    n = len(x)
    if best.name in ("independent", "gaussian"):
        value, error = gaussian_information(x.scores, y.scores)
        return value, float(np.hypot(error, rank_noise(x.scores, y.scores)))
    if best.name == "gaussian, raw":
        return gaussian_information(x.raw, y.raw)
    if best.name == "neighbours":
        near = ksg_terms(x.scores, y.scores, k=3)
        far = ksg_terms(x.scores, y.scores, k=12).mean()
        value = float(near.mean())
        # Fewer neighbours have less bias; what the next fewer would change is not known.
        return value, float(np.hypot(near.std() / np.sqrt(n), value - far))
    # On fitted rows a ratio is too good by as much as it is too bad on others.
    outside, inside = best.bound, float(np.mean(best.inside))
    noise = float(np.nanstd(best.joint)) / np.sqrt(n)
    # A ratio whose mass is not one is not the right one: what that changes is unsure, too.
    parts = (noise, best.mass_error, 0.5 * (inside - outside), best.plug_in - outside)
    error = np.sqrt(np.sum(np.square(parts)))
    return 0.5 * (outside + inside), float(error)
