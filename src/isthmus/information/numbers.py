"""Mutual information of two tables of numbers: a ratio, what the stack adds to it, its checks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.holdout import LIKELY, PROVEN
from ..data.seeds import Seeds
from .checks import check_bound, check_left_over, check_overruled, check_ways, common_checks
from .choice import Trials, choose_ratio
from .conditional import ConditionalRatio
from .dissent import by_columns, reached
from .evaluation import CHASM, LACKING, Evaluation, evaluate, lower_bound, row_gain
from .learned import Learned, learn, ratio_curve
from .marginal import Marginal
from .neighbours import ksg_terms_of
from .result import Answer

# Columns in all up to which nearest neighbours have a say.
_FEW = 4
# Columns in all in which they miss little.
_NEAR = 2
# Where so large a share is still to be learned, the stack gets more rows.
_STEEP = 0.1
# A curve leads no further than by this share of what was learned.
_FURTHEST = 0.5
# What any family may be off by across a chasm, as a share: no row could show it. The second is
# for x and y that are closer than ranks resolve.
_FAMILY, _CLOSE = 0.02, 0.03
# Families with a score within this share of the best are rivals to it across a chasm.
_RIVAL = 0.05


def number_information(
    x: Marginal, y: Marginal, seeds: Seeds, n_folds: int, residual: bool, verbose: int
) -> Answer:
    """Mutual information of x and y by the ratio that held-out pairs prefer."""
    best, trials = choose_ratio(x, y, seeds, n_folds, verbose)
    if residual:
        best = _with_network(best, trials)
    found = _by_ratio(best, trials)
    joint, shuffled, others = best.joint, best.one_shuffled, _rivals(best, trials)
    steep = found.further[1] > _STEEP * found.value
    learned = learn(best, trials, 2 if steep else 1) if best.plug_in < CHASM else None
    if learned is not None:
        other = _by_stack(learned, best, found)
        if learned.proven and other.value - learned.curve.value > best.score:
            found, joint, shuffled = other, learned.joint, learned.shuffled
        else:
            # What is not proven may still be so: the interval reaches to it.
            gap = other.value - found.value
            below, above = found.further
            found = replace(found, further=(max(below, -gap), max(above, gap)))
    overruled = found.value
    few = trials.few or trials
    if few.n_columns <= _FEW and found.value < CHASM:
        near = _by_neighbours(few)
        if near.value - found.value - found.further[1] > PROVEN * near.std_error:
            # Neighbours err low if at all; their ratio is too noisy to win by its likelihood.
            found = replace(near, held_out=found.held_out, trials=found.trials)
        elif near.value > found.value:
            # As far as it is more than chance.
            share = min((near.value - found.value) / (PROVEN * near.std_error), 1.0)
            above = share * (near.value + near.further[1] - found.value)
            found = replace(found, further=(found.further[0], max(found.further[1], above)))
        others["nearest neighbours"] = near.value
    if trials.n_columns == _NEAR and found.value < CHASM:
        found = reached(found, by_columns(x, y, seeds))
    checks = common_checks(found, joint, shuffled, others, trials.n_columns)
    if found.method == "neighbours" and few.n_columns > _NEAR:
        checks["neighbours"] = check_overruled(found.value, overruled)
    proven = lower_bound(best, found.value, found.std_error, 0.95)
    if not found.method.startswith("stack"):
        checks["bound"] = check_bound(found, proven, len(trials.x))
    if best.plug_in >= CHASM and isinstance(best.ratio, ConditionalRatio):
        checks["left_over"] = check_left_over(best.ratio, best, found.value)
    if best.plug_in >= CHASM and best.ratio.flexible and trials.ways:
        # Mixtures and conditional densities are two ways to the same number.
        ways = trials.ways if isinstance(best.ratio, ConditionalRatio) else _ways(best, trials)
        if len(ways) > 1:
            checks["ways"] = check_ways(ways)
    return replace(found, checks=checks)


def _by_ratio(best: Evaluation, trials: Trials) -> Answer:
    """The number by the chosen ratio alone."""
    value, error = best.ratio.information(best)
    told = tuple({"name": one.ratio.name, "score": one.score} for one in trials.found)
    further = (0.0, 0.0)
    if best.ratio.flexible:
        curve = ratio_curve(best, trials)
        outside = best.score if best.ratio.normalised else best.bound
        value = max(value, outside + min(curve.value, _FURTHEST * max(outside, 0.0)))
        error = float(np.hypot(error, curve.sure * curve.ahead * curve.noise))
        # More rows would bring what these did not, and let a larger ratio be fitted.
        further = (curve.value, curve.above + best.ratio.unfinished)
    spread = _reaches(best, trials, value)
    if best.ratio.name == "independent":
        # What so few rows do not refuse may be so.
        further = 0.0, max([0.0, *spread])
    else:
        # The interval reaches towards what other families say that these rows do not refuse. Across
        # a chasm the family decides, and any may be off by more.
        own = (_FAMILY if trials.resolved else _CLOSE) * value if best.plug_in >= CHASM else 0.0
        below = max([further[0] + own, *(-one for one in spread)])
        lacks = best.ratio.lacks * max(value, 0.0) if best.plug_in < CHASM else 0.0
        further = below, max([further[1] + own + lacks, *spread])
    return Answer(value, error, best.ratio.name, best.joint, best, told, further)


def _by_stack(learned: Learned, best: Evaluation, found: Answer) -> Answer:
    """The number by the stack, at the level of all rows."""
    rows, curve = learned.rows, learned.curve
    # The ratio before is known at all rows: what the drawn ones have by chance is taken off.
    shift = float(best.joint.mean() - best.joint[rows].mean())
    learnt = float(learned.joint.mean()) + shift
    value = learnt + min(curve.value, _FURTHEST * max(learnt, 0.0))
    added = row_gain(learned.joint, best.joint[rows]).std_error
    noise = float(best.joint.std() / np.sqrt(len(best.joint)))
    error = float(np.sqrt(added**2 + noise**2 + (curve.sure * curve.ahead * curve.noise) ** 2))
    names = sorted(((a, name) for name, a in learned.members if a > 0), reverse=True)
    method = "stack: " + ", ".join(f"{name} ({a:.2g})" for a, name in names)
    # The interval reaches to what the ratio alone says.
    below = max(curve.value, value - found.value)
    # What the ratio alone may lack is missing still, as far as the stack has not found it.
    missing = found.value + found.further[1] - value
    above = max(curve.above + LACKING * max(value, 0.0), missing)
    told = (*found.trials, {"name": "stack", "score": float(learned.joint.mean())})
    return replace(
        found, value=value, std_error=error, method=method, trials=told, further=(below, above)
    )


def _by_neighbours(trials: Trials) -> Answer:
    """The number by nearest neighbours, in the coordinates in which they see most.

    Neighbours err low, and fewer of them less so.
    """
    tried = [ksg_terms_of(*both, (3, 12)) for both in (trials.scores, *trials.straight)]
    near, far = max(tried, key=lambda one: float(one[0].mean()))
    error = float(np.hypot(near.std() / np.sqrt(len(near)), near.mean() - far.mean()))
    gap = max(float(near.mean() - far.mean()), 0.0)
    # What is missed shrinks at least like the distance to a neighbour, (k / n)^(1 / d): four times
    # fewer neighbours tell how much is left.
    left = gap / (4.0 ** (1.0 / trials.n_columns) - 1.0)
    return Answer(float(near.mean()), error, "neighbours", near, further=(0.0, left))


def _rivals(best: Evaluation, trials: Trials) -> dict[str, float]:
    """The number by other families that fit nearly as well."""
    return {name: value for name, (value, _) in _behind(best, trials, PROVEN).items()}


def _reaches(best: Evaluation, trials: Trials, value: float) -> list[float]:
    """How far from a value the interval goes for each of the other families.

    All the way to one that is as good as the best, and no way to one that is clearly behind.
    """
    found = _behind(best, trials, LIKELY).values()
    return [(one - value) * (1.0 - float(np.clip(z / LIKELY, 0.0, 1.0))) for one, z in found]


def _behind(best: Evaluation, trials: Trials, margin: float) -> dict[str, tuple[float, float]]:
    """The number by other families that fit nearly as well, and by how many errors each is behind.

    Across a chasm errors tell nothing: there those with nearly the score of the best count in full.
    """
    far = best.plug_in >= CHASM
    least = best.score - _RIVAL * max(best.score, 0.0) if far else -np.inf
    found = {}
    for one in trials.found:
        other = one is not best and one.ratio.name != best.ratio.name
        if other and len(one.seen) == len(best.seen) and one.score > least:
            z = 0.0 if far else best.ahead(one)
            if z <= margin:
                found[one.ratio.name] = one.ratio.information(one)[0], z
    return found


def _ways(best: Evaluation, trials: Trials) -> list[float]:
    """Scores of a mixture and of conditional densities in all their orders."""
    return [best.score, *trials.ways]


def _with_network(best: Evaluation, trials: Trials) -> Evaluation:
    from .residual import ResidualRatio

    ratio = ResidualRatio(best.ratio, trials.x.scores, trials.y.scores, trials.seeds)
    learned = evaluate(ratio, trials.splits, trials.rng)
    trials.found.append(learned)
    return learned if learned.beats(best, PROVEN) else best
