"""The ridge penalty by held-out rows: from strong to weak, then about the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..critics.resolve import convex_critic
from ..data.distinct import hold_out_of_both
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..model.objective import Objective
from ..model.rows import prepare
from ..model.solvers import search
from ..settings import Settings
from ..typing import Array
from .record import Selection, Trial
from .score import HeldOut, Score

# Strengths of the penalty are counted in half decades of the number of features.
STRONGEST, WEAKEST = 4, -16
_INFINITE = 10**6
# Over all held-out rows, in nats: less is no evidence that a weaker penalty is better.
_LEAST_GAIN = 0.1


@dataclass(frozen=True)
class Penalty:
    """A ridge penalty and how it was chosen.

    ``strength`` counts half decades, None where the penalty is infinite or was not chosen;
    ``accuracy`` is the share of held-out rows that were put into the right class.
    """

    l2: float
    selection: Selection
    strength: int | None = None
    accuracy: float = np.nan


def search_penalty(
    fit: Callable[[float, Array], Array],
    score: Callable[[Array], Score],
    none: Score,
    sizes: tuple[int, int],
    *,
    begin: int | None = None,
    nothing: str = "no difference",
) -> Penalty:
    """The penalty under which held-out labels are likeliest.

    From a strength ``begin`` the search goes to its neighbours; without it decades are tried
    from strong to weak until two bring nothing, then half decades about the best.

    Parameters
    ----------
    fit : callable
        Parameters at a penalty, from a start.
    score : callable
        Score of parameters on rows that were held out.
    none : Score
        That of an infinite penalty.
    sizes : pair of int
        Number of parameters, and of features that the penalty is counted in.
    begin : int, optional
        Where to begin.
    nothing : str
        What an infinite penalty is called.
    """
    n_parameters, n_features = sizes
    trials = {_INFINITE: (none, np.zeros(n_parameters))}
    limit = _LEAST_GAIN / none.rows

    def l2_of(strength: int) -> float:
        return np.inf if strength == _INFINITE else n_features * 10.0 ** (strength / 2)

    def value(strength: int, near: int) -> float:
        if strength not in trials:
            theta = fit(l2_of(strength), trials[near][1])
            trials[strength] = score(theta), theta
        return trials[strength][0].value

    def best() -> int:
        # Ties go to the stronger.
        return max(sorted(trials, reverse=True), key=lambda s: trials[s][0].value)

    if begin is None:
        near, misses = _INFINITE, 0
        for strength in range(STRONGEST, WEAKEST - 1, -2):
            before = trials[best()][0].value
            misses = 0 if value(strength, near) > before + limit else misses + 1
            near = strength
            if misses == 2:
                break
    else:
        value(begin, _INFINITE)
    for step in (-1, 1):
        while (centre := best()) != _INFINITE:
            if value(centre + step, centre) <= trials[centre][0].value + limit:
                break
    chosen = best()
    shown = [
        Trial(
            "critic",
            nothing if s == _INFINITE else f"l2 = {l2_of(s):.3g}",
            one.value,
            *one.gain(none),
            chosen=s == chosen,
        )
        for s, (one, _) in trials.items()
    ]
    finite = None if chosen == _INFINITE else chosen
    return Penalty(l2_of(chosen), Selection(shown), finite, trials[chosen][0].accuracy)


def choose_penalty_of_classes(settings: Settings, samples: TwoSamples, seeds: Seeds) -> Penalty:
    """The penalty of a multinomial fit of which everything else is given.

    A quarter of at most 10,000 rows of each sample is held out; auxiliaries that mix rows mix
    the held-out ones for the judgement, and those of known density are drawn anew.
    """
    train, held = hold_out_of_both(samples, seeds) or (samples, samples)
    critic = convex_critic(settings.critic)
    rows = prepare(train, settings, critic, seeds, warn=False)
    bound, judge = rows.bind(critic), HeldOut(rows, held, seeds)

    def fit(l2: float, start: Array) -> Array:
        return search(Objective(bound, rows.blocks, l2), start)

    return search_penalty(
        fit,
        lambda theta: judge.score(bound, theta),
        judge.score(),
        (bound.n_parameters, bound.n_features),
        nothing="no critic",
    )
