"""The ratio that held-out pairs prefer, among families of which each chooses its own settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..data.holdout import LIKELY, PROVEN, Split, random_folds
from ..data.seeds import Seeds
from ..typing import Array
from .conditional import ConditionalRatio
from .copulas import GaussianRatio, Independence, StudentRatio
from .evaluation import CHASM, Evaluation, PairRatio, evaluate, joined
from .focused import FocusedRatio
from .marginal import Marginal, canonical, smoothed, sources
from .mixtures import InlierRatio, MixtureRatio
from .narrow import narrowed
from .neighbours import NeighbourRatio
from .nonlinear import NonlinearRatio, feature_sets
from .straight import straightened
from .warped import WarpedRatio

# Columns in all up to which a family is tried.
_NEIGHBOURS, _STUDENT, _MIXTURE = 4, 120, 30
# Most columns that are explained one by one, and that explain them.
_EXPLAINED, _EXPLAINING = 8, 100
# Components of a mixture, and rows for each of its columns and components.
_COMPONENTS, _ROWS = (2, 3, 5, 8, 16, 32), 25
# Rows for each parameter where all rows tell; doublings; nats that are worth one.
_ROWS_EACH, _DOUBLINGS, _UNFINISHED = 4, 2, 0.02
# Share of its gain that the next doubling brings: least and most.
_FALLS = 0.5, 0.9
# Of more columns than this, mixtures take as many leading directions of each side.
_WHOLE, _LEADING = 12, 3
# Rows for each column from which on all columns can have their splines.
_AMPLE = 200
# Most non-linear canonical variates that are tried.
_VARIATES = 6
# Components of a mixture of such variates; 0 is for conditional densities.
_WARPED = (0, 8)
# Rows on which settings are chosen.
_SCREEN = 3000
# Knots of a scale where x and y are closer than ranks resolve.
_FINE = 400
# Nats from which on x and y are close.
_CLOSE = 1.5
# Ranks resolve no more than the logarithm of their number, less this.
_COARSE, _SPARSE = 2.5, 4.0

Pair = tuple[Array, Array]


@dataclass
class Trials:
    """Ratios that were tried, and what they say of held-out pairs."""

    x: Marginal
    y: Marginal
    splits: list[Split]
    seeds: Seeds
    found: list[Evaluation] = field(default_factory=list)
    ways: list[float] = field(default_factory=list)
    """Scores of all orders and directions of conditional densities, in the coordinates chosen."""

    best: Evaluation | None = None
    """The best so far."""

    def __post_init__(self) -> None:
        self.rng = self.seeds("shuffles")
        n = len(self.splits[0].train)
        some = self.seeds("screen").permutation(n)[:_SCREEN]
        self.screen = Split(self.splits[0].train[np.sort(some)], self.splits[0].held)
        self.screened = np.concatenate([self.screen.train, self.screen.held])
        found = [straightened(each) for each in self.raw]
        both = tuple(b if a is None else a for a, b in zip(found, self.raw, strict=True))
        bent = any(one is not None for one in found)
        rho = min(float(canonical(*self.scores).correlations[0]), 1.0 - 1e-12)
        self.closest = -0.5 * float(np.log1p(-(rho**2)))
        self.straight: list[Pair] = [(both[0], both[1])] if bent else []
        few = narrowed(self.x, self.y)
        self.few: Trials | None = None
        if few is not None:
            self.few = Trials(*few, self.splits, self.seeds, self.found)

    @property
    def n_columns(self) -> int:
        """Columns of both sides."""
        return self.x.width + self.y.width

    @property
    def highest(self) -> float:
        """Highest score so far."""
        return max(one.score for one in self.found)

    @property
    def scores(self) -> Pair:
        """Normal scores of both sides."""
        return self.x.scores, self.y.scores

    @property
    def coordinates(self) -> list[Pair]:
        """Raw and straightened coordinates, and scores where ranks are fine enough."""
        return [self.raw, *self.straight, *([self.scores] if self.finely else [])]

    @property
    def raw(self) -> Pair:
        """Columns standardised, with long tails drawn in."""
        return self.x.raw, self.y.raw

    @property
    def plain(self) -> list[Pair]:
        """Columns as they are, where some have longish tails that were drawn in."""
        both = self.x.plain, self.y.plain
        same = all(np.array_equal(a, b) for a, b in zip(both, self.raw, strict=True))
        return [] if same else [both]

    @property
    def resolved(self) -> bool:
        """Whether ranks resolve the closest pair of directions."""
        return bool(self.closest < np.log(len(self.x)) - _COARSE)

    @property
    def finely(self) -> bool:
        """Whether they do so where rows are sparse, too, which a flexible density would take up."""
        return bool(self.closest < np.log(len(self.x)) - _SPARSE)

    def few_rows(self, both: Pair) -> Pair:
        """The rows of both sides on which settings are chosen, the fitted ones first."""
        return both[0][self.screened], both[1][self.screened]

    def screen_score(self, ratio: PairRatio) -> float:
        """Score of a ratio of :meth:`few_rows`."""
        count, every = len(self.screen.train), np.arange(len(self.screened))
        split = Split(every[:count], every[count:])
        return evaluate(ratio, [split], self.rng, inside=False).score

    def first(self, ratio: PairRatio) -> Evaluation:
        """Evaluate a ratio in the first fold."""
        found = evaluate(ratio, self.splits[:1], self.rng)
        self.found.append(found)
        return found

    def complete(self) -> None:
        """Evaluate in all folds what is not clearly behind another in the first."""
        rows, found = self.splits[0].held, list(self.found)
        for place, first in enumerate(found):
            if place and any(one.clearly_above(first, rows) for one in found):
                continue
            rest = evaluate(first.ratio, self.splits[1:], self.rng)
            self.found[place] = whole = joined(first, rest)
            self.best = whole if self.best is None else _better(self.best, whole)

    def tell(self) -> None:
        """Print what was tried."""
        for one in self.found:
            print(f"mutual information, {one.ratio.name}: {one.score:.4f} on held-out pairs")


def choose_ratio(
    x: Marginal, y: Marginal, seeds: Seeds, n_folds: int, verbose: int
) -> tuple[Evaluation, Trials]:
    """The ratio that held-out pairs prefer: of two that are as good the simpler one."""
    trials = Trials(x, y, random_folds(len(x), n_folds, seeds("folds")), seeds)
    trials.best = trials.first(Independence(*trials.scores))
    for family in _FAMILIES:
        for ratio in family(trials):
            trials.best = _better(trials.best, trials.first(ratio))
    trials.best = None
    trials.complete()
    if verbose:
        trials.tell()
    best = trials.best
    assert best is not None
    return best, trials


def _better(best: Evaluation, later: Evaluation) -> Evaluation:
    """The later ratio, which is not as simple, if it is likely to be the better one.

    That there is any dependence has to be beyond doubt.
    """
    margin = PROVEN if isinstance(best.ratio, Independence) else LIKELY
    return later if later.beats(best, margin) else best


def _normal(trials: Trials) -> Iterator[PairRatio]:
    """Jointly normal x and y, in scores, and in raw coordinates if each of these is normal."""
    if trials.resolved:
        yield GaussianRatio(*trials.scores)
    if trials.x.normal and trials.y.normal:
        yield GaussianRatio(trials.x.raw, trials.y.raw, scores=False)


def _student(trials: Trials) -> Iterator[PairRatio]:
    if trials.n_columns <= _STUDENT and trials.resolved:
        yield StudentRatio(trials.x, trials.y)


def _inliers(trials: Trials) -> Iterator[PairRatio]:
    if trials.resolved:
        yield InlierRatio(*trials.scores)


def _neighbours(trials: Trials) -> Iterator[PairRatio]:
    if trials.n_columns <= _NEIGHBOURS and trials.highest < CHASM:
        yield NeighbourRatio(*trials.scores)


def _conditional(trials: Trials) -> Iterator[PairRatio]:
    """Columns of y given x, or of x given y, in the order that a few rows prefer."""
    highest, best, trials.ways = -np.inf, None, []
    of_one: tuple[float, ConditionalRatio | None] = -np.inf, None
    for both in (*trials.coordinates, *trials.plain):
        scores, ratio, single = _ways(trials, both)
        if scores and max(scores) > highest:
            highest, best, trials.ways = max(scores), ratio, scores
        of_one = max(of_one, single, key=lambda pair: pair[0])
    if max(highest, trials.highest) > _CLOSE:
        # Coordinates that are worth their time where x and y are close.
        for both in _finer(trials):
            scores, ratio, _ = _ways(trials, both)
            if scores and max(scores) > highest:
                highest, best, trials.ways = max(scores), ratio, scores
    if best is not None:
        yield best
        # What is to be learned of several columns is to be seen where they explain a single one.
        start = best
        if best.given.shape[1] == 1 and of_one[1] is not None:
            start = of_one[1].fit(trials.splits[0].train)
        learned = start.with_learners(trials.screen.train)
        if learned is not None:
            yield learned


def _focused(trials: Trials) -> Iterator[PairRatio]:
    """The few columns that matter, where there are few rows for all of them."""
    if len(trials.x) > _AMPLE * trials.n_columns:
        return
    tried = [FocusedRatio(*trials.scores, trials.rng, turned) for turned in (False, True)]
    scores = [evaluate(one, [trials.screen], trials.rng, inside=False).score for one in tried]
    yield tried[int(np.argmax(scores))]


def _narrow(trials: Trials) -> Iterator[PairRatio]:
    """What is flexible, of the few columns that clearly matter."""
    if trials.few is not None:
        for family in (_conditional, _mixture, _neighbours):
            yield from family(trials.few)


def _finer(trials: Trials) -> Iterator[Pair]:
    """Columns on smooth scales, and directions of each side that are independent of each other."""
    raw = trials.raw
    for both in (raw, *trials.straight):
        yield smoothed(both[0]), smoothed(both[1])
    if not trials.resolved:
        yield smoothed(raw[0], _FINE), smoothed(raw[1], _FINE)
    if 2 <= max(trials.x.width, trials.y.width) <= _EXPLAINED:
        rng = trials.seeds("sources")
        yield smoothed(sources(raw[0], rng)), smoothed(sources(raw[1], rng))


def _ways(
    trials: Trials, both: Pair
) -> tuple[list[float], ConditionalRatio | None, tuple[float, ConditionalRatio | None]]:
    """Scores of all directions and orders in some coordinates, and the best of them.

    Last the one that explains a single column by several, if there is one, with its score.
    """
    scores: list[float] = []
    of_one: tuple[float, ConditionalRatio | None] = -np.inf, None
    highest, best, few = -np.inf, None, trials.few_rows(both)
    for turned in (False, True):
        explained, given = both[1 - turned].shape[1], both[turned].shape[1]
        if explained > _EXPLAINED or given > _EXPLAINING:
            continue
        for backwards in (False, True)[: 1 if explained == 1 else 2]:
            score = trials.screen_score(ConditionalRatio(*few, trials.rng, turned, backwards))
            scores.append(score)
            # More rows choose its parts again.
            ratio = ConditionalRatio(*both, trials.rng, turned, backwards)
            if score > highest:
                highest, best = score, ratio
            if explained == 1 < given:
                of_one = score, ratio
    return scores, best, of_one


def _mixture(trials: Trials) -> Iterator[PairRatio]:
    """A mixture of normals in all columns, or in the leading directions where they are many."""
    d, n = trials.n_columns, len(trials.screen.train)
    widths = [max(trials.x.width, trials.y.width)] if d <= _MIXTURE else []
    if d > _WHOLE:
        widths.append(_LEADING)
    highest, best, gains = -np.inf, None, [0.0]
    for both in trials.coordinates:
        few = trials.few_rows(both)
        for width in widths:
            scores: list[float] = []
            for k in _COMPONENTS:
                ratio = MixtureRatio(*both, k, width, trials.rng)
                if k * ratio.width * _ROWS > n * (3 if k < 16 else 1):
                    break
                score = trials.screen_score(MixtureRatio(*few, k, width, trials.rng))
                if scores and score <= scores[-1]:
                    # The best has been passed.
                    scores.append(scores[-1])
                    break
                scores.append(score)
                if score > highest:
                    highest, best = score, ratio
            if best is not None and scores and scores[-1] == highest:
                gains = list(np.diff(scores))
    if best is not None:
        best.unfinished = _still_ahead(gains)
        yield best
        if best.unfinished > _UNFINISHED:
            yield from _larger(trials, best, gains)


def _larger(trials: Trials, best: MixtureRatio, gains: list[float]) -> Iterator[PairRatio]:
    """More components, of which a few rows were not enough to tell, as long as they gain."""
    tried, scores = [best], [trials.found[-1].score]
    for _ in range(_DOUBLINGS):
        larger = MixtureRatio(best.x, best.y, 2 * tried[-1].k, best.most, trials.rng)
        if larger.n_parameters * _ROWS_EACH > len(trials.splits[0].train):
            break
        yield larger
        scores.append(trials.found[-1].score)
        gains = [*gains, max(scores[-1] - scores[-2], 0.0)]
        tried.append(larger)
        if gains[-1] <= _UNFINISHED:
            break
    # What is ahead of the largest is ahead of each, and so is what it gained over it.
    for ratio, score in zip(tried, scores, strict=True):
        ratio.unfinished = _still_ahead(gains) + max(max(scores) - score, 0.0)


def _still_ahead(gains: Sequence[float]) -> float:
    """What further doublings bring, each half of the one before, or as the last two fell off.

    Examples
    --------
    >>> _still_ahead([0.4, 0.1]), round(_still_ahead([0.4, 0.32]), 2), _still_ahead([0.1, 0.0])
    (0.1, 1.28, 0.0)
    """
    last = gains[-1] if gains else 0.0
    if last <= 0.0:
        return 0.0
    before = gains[-2] if len(gains) > 1 else 0.0
    share = float(np.clip(last / before, *_FALLS)) if before > 0.0 else _FALLS[0]
    return last * share / (1.0 - share)


def _bent(trials: Trials) -> Iterator[PairRatio]:
    """The best coordinates, set of features and number of variates, by one fold."""
    if max(trials.x.width, trials.y.width) == 1 or trials.highest > CHASM:
        return
    coordinates = [trials.scores, trials.raw, *trials.plain, *trials.straight]
    highest, best, best_k = -np.inf, None, 0
    split = trials.splits[0]
    for a, b in coordinates:
        for features in feature_sets(a.shape[1], b.shape[1], len(a)):
            ratio = NonlinearRatio(a, b, features, _VARIATES).fit(split.train)
            for k in range(1, ratio.most + 1):
                ratio.use(k)
                found = evaluate(ratio, [split], trials.seeds("screen"), fit=False, inside=False)
                # Nothing vouches for the mass of variates that were sought out: what shuffled pairs
                # say of it counts in full, and across a chasm, where they say little, even as gain.
                score = found.bound
                if found.plug_in <= CHASM:
                    score = min(score, found.plug_in)
                if best is None or score > highest:
                    highest, best, best_k = score, ratio, k
    if best is not None:
        best.use(best_k)
        yield best
        if trials.best is None or trials.best.ratio is not best:
            return
        warped = [WarpedRatio(best, k, trials.rng) for k in _WARPED]
        scores = [evaluate(one, [trials.screen], trials.rng, inside=False).score for one in warped]
        # A few rows are enough to see that their shape is another one.
        if max(scores) > float(trials.best.joint[trials.screen.held].mean()):
            yield warped[int(np.argmax(scores))]


_FAMILIES: tuple[Callable[[Trials], Iterator[PairRatio]], ...] = (
    _normal,
    _student,
    _inliers,
    _conditional,
    _focused,
    _narrow,
    _mixture,
    _bent,
    _neighbours,
)
"""Families, the simplest first."""
