"""The estimate: the simplest of several ratios that held-out pairs do not refuse."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.holdout import LIKELY, PROVEN, Split, random_folds
from ..data.seeds import Seeds
from ..typing import Array
from .copulas import GaussianRatio, Independence, StudentRatio
from .evaluation import CHASM, Evaluation, PairRatio, evaluate, row_gain
from .marginal import Marginal
from .neighbours import NeighbourRatio, ksg_terms
from .nonlinear import NonlinearRatio, feature_sets
from .result import Answer

# Neighbours are tried up to this number of columns in all, the t-copula up to that.
_FEW, _MANY = 3, 120
# Neighbours whose estimate is compared with that of the other ratios.
_NEIGHBOURS = 5
# Raw coordinates get no features where tails cost the normal ratio more than this.
_TAILS = 0.3
# Most non-linear canonical variates that are tried.
_VARIATES = 6

Pair = tuple[Array, Array]


def choose_ratio(
    x: Marginal, y: Marginal, seeds: Seeds, n_folds: int, residual: bool, verbose: int
) -> Answer:
    """Estimate the mutual information of x and y by the ratio that held-out pairs prefer."""
    splits = random_folds(len(x), n_folds, seeds("folds"))
    rng = seeds("shuffles")
    trials: list[Evaluation] = []

    def tried(ratio: PairRatio, inside: bool = True) -> Evaluation:
        found = evaluate(ratio, splits, rng, inside=inside)
        trials.append(found)
        if verbose:
            print(f"mutual information, {ratio.name}: {found.score:.4f} on held-out pairs")
        return found

    both_scores, both_raw = (x.scores, y.scores), (x.raw, y.raw)
    best = tried(Independence(*both_scores))
    scores = tried(GaussianRatio(*both_scores))
    raw = tried(GaussianRatio(*both_raw, scores=False))
    # The coordinates in which the normal ratio is the better one.
    better = both_raw if raw.score > scores.score else both_scores
    # Both normal ratios are equally simple: the better one is taken.
    normal = raw if raw.beats(scores, 1.0) else scores
    best = normal if normal.beats(best, PROVEN) else best
    if x.width + y.width <= _MANY:
        student = tried(StudentRatio(x, y))
        best = student if student.beats(best, PROVEN) else best
    if x.width + y.width <= _FEW:
        near = tried(NeighbourRatio(*better, both_scores), inside=False)
        if near.beats(best, PROVEN) or _misses(best, ksg_terms(*better, k=_NEIGHBOURS)):
            best = near
    if max(x.width, y.width) > 1 and best.score < CHASM:
        coordinates = [both_scores]
        if raw.score > scores.score - _TAILS:
            coordinates.append(both_raw)
        ratio = _nonlinear(coordinates, splits[0], seeds)
        if ratio is not None:
            # It was chosen among many already, by rows of one fold of five; what it loses if it
            # was chosen by chance is little.
            nonlinear = tried(ratio)
            best = nonlinear if nonlinear.beats(best, LIKELY) else best
    if residual:
        from .residual import ResidualRatio

        learned = tried(ResidualRatio(best.ratio, *better, seeds))
        best = learned if learned.beats(best, PROVEN) else best
    value, error = best.ratio.information(best)
    told = tuple({"name": each.ratio.name, "score": each.score} for each in trials)
    return Answer(value, error, best.ratio.name, best.joint, best, told)


def _misses(best: Evaluation, terms: Array) -> bool:
    """Whether neighbours see clearly more than a ratio.

    Their estimate errs low if at all. Their ratio is too noisy to win by its likelihood, where
    rows are few.
    """
    gain = float(terms.mean()) - best.ratio.information(best)[0]
    return gain > PROVEN * row_gain(terms, best.joint).std_error


def _nonlinear(coordinates: Sequence[Pair], split: Split, seeds: Seeds) -> NonlinearRatio | None:
    """The best coordinates, set of features and number of variates, by one fold."""
    highest, best, best_k = -float("inf"), None, 0
    n = len(split.train) + len(split.held)
    for x, y in coordinates:
        for features in feature_sets(x.shape[1], y.shape[1], n):
            ratio = NonlinearRatio(x, y, features, _VARIATES).fit(split.train)
            for k in range(1, ratio.most + 1):
                ratio.use(k)
                found = evaluate(ratio, [split], seeds("screen"), fit=False, inside=False)
                # Nothing vouches for the mass of variates that were sought out: across a chasm,
                # where shuffled pairs say little of it, what they say has to count.
                score = found.score if found.plug_in <= CHASM else found.bound
                if best is None or score > highest:
                    highest, best, best_k = score, ratio, k
    if best is not None:
        best.use(best_k)
    return best
