"""Two classes and the difference of their critics: what binary estimators are solved with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..critics import Quadratic
from ..critics.quadratic import Coefficients
from ..critics.resolve import convex_critic
from ..data.blocks import MemoryBlocks
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.telling import heard
from ..mdre import MDRE
from ..model.classes import ClassModel, CriticModel
from ..model.classifier import is_classifier
from ..model.objective import Objective
from ..model.rows import ClassRows, prepare
from ..model.solvers import SOLVERS, search
from ..selection import Selection, Trial
from ..selection.score import HeldOut
from ..settings import Settings, is_auto
from ..typing import Array, BoundCritic, LinearCritic

# Strengths of the penalty are counted in half decades of the number of features.
_STRONGEST, _WEAKEST = 4, -16
_INFINITE = 10**6
# Over all held-out rows, in nats: less is no evidence that a weaker penalty is better.
_LEAST_GAIN = 0.1

Halves = tuple[TwoSamples, TwoSamples]
"""Rows to fit to, and rows to judge by."""


class Difference:
    """The critic h = h_p - h_q as one function, with the parameters of both.

    Two classes without auxiliaries depend on the difference of their critics alone. Of two
    quadratic functions it is one quadratic function, which takes half the work of two.
    """

    def __init__(self, critic: LinearCritic) -> None:
        self.critic = critic
        self.n_parameters = self.n_features = int(critic.n_parameters)
        self._one: Quadratic | None = None
        if isinstance(critic, Quadratic) and all(origin is None for origin in critic.origin_):
            self._one = critic.bind(critic.frames_[:1])
        if hasattr(critic, "features"):
            self.features = self._features

    def expand(self, theta: Array) -> Any:
        raw = self.critic.expand(theta)
        return raw if self._one is None else Coefficients(*(part[:1] - part[1:] for part in raw))

    def values(self, raw: Any, X: Array) -> Array:
        """The difference at every row, shape (n, 1)."""
        if self._one is not None:
            return self._one.values(raw, X)
        h = self.critic.values(raw, X)
        return np.asarray(h[:, :1] - h[:, 1:])

    def accumulator(self) -> Any:
        return (self._one or self.critic).accumulator()

    def accumulate(self, total: Any, R: Array, X: Array) -> None:
        if self._one is not None:
            self._one.accumulate(total, R, X)
        else:
            self.critic.accumulate(total, np.hstack([R, -R]), X)

    def contract(self, total: Any) -> Array:
        if self._one is not None:
            total = Coefficients(*(np.concatenate([part, -part]) for part in total))
        return self.critic.contract(total)

    def _features(self, X: Array) -> list[Array]:
        of_p, of_q = self.critic.features(X)
        return [np.hstack([of_p, -of_q])]


def difference_blocks(rows: ClassRows) -> MemoryBlocks:
    """The blocks in which only the difference of the critics is learned."""
    return replace(rows.blocks, learned=np.array([True, False]))


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


def find_penalty(
    rows: ClassRows,
    bound: BoundCritic,
    settings: Settings,
    halves: Halves | None,
    seeds: Seeds,
    *,
    begin: int | None = None,
    objective: Callable[..., Objective] = Objective,
    too_few: str = "Too few rows to hold out.",
) -> Penalty:
    """The penalty that is given, that held-out rows choose, or else by a rule."""
    if not is_auto(settings.l2):
        return Penalty(settings.l2, Selection(rule="Every setting was given."))
    if halves is not None:
        return choose_penalty(*halves, settings, seeds, begin, objective)
    # From an anchor, a residual of about one nat.
    l2 = float(bound.n_features) if rows.offsets.anchors else 1.0
    return Penalty(l2, Selection(rule=too_few))


def choose_penalty(
    train: TwoSamples,
    held: TwoSamples,
    settings: Settings,
    seeds: Seeds,
    begin: int | None = None,
    objective: Callable[..., Objective] = Objective,
) -> Penalty:
    """Choose the ridge penalty of a binary fit by the likelihood of held-out labels.

    From a strength ``begin`` the search goes to its neighbours; without it decades are tried
    from strong to weak until two bring nothing, then half decades about the best.
    """
    critic = convex_critic(settings.critic)
    rows = prepare(train, settings, critic, seeds, warn=False)
    blocks, bound = difference_blocks(rows), rows.bind(critic)
    difference, judge = Difference(bound), HeldOut(rows, held, seeds)
    none = judge.score()
    trials = {_INFINITE: (none, np.zeros(bound.n_parameters))}
    limit = _LEAST_GAIN / none.rows

    def l2_of(strength: int) -> float:
        return np.inf if strength == _INFINITE else bound.n_features * 10.0 ** (strength / 2)

    def value(strength: int, near: int) -> float:
        if strength not in trials:
            loss = objective(difference, blocks, l2_of(strength))
            theta = search(loss, trials[near][1])
            trials[strength] = judge.score(bound, theta), theta
        return trials[strength][0].value

    def best() -> int:
        # Ties go to the stronger.
        return max(sorted(trials, reverse=True), key=lambda s: trials[s][0].value)

    if begin is None:
        near, misses = _INFINITE, 0
        for strength in range(_STRONGEST, _WEAKEST - 1, -2):
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
    nothing = "anchors alone" if rows.offsets.anchors else "no difference"
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


class BinaryFit(NamedTuple):
    """A fit, how its penalty was chosen, and the number of solver steps."""

    mdre: MDRE
    penalty: Penalty
    n_iter: int


def only_penalty_open(settings: Settings) -> bool:
    """Whether nothing but the penalty is left to be chosen."""
    return not is_classifier(settings.critic) and set(settings.open_choices) <= {"l2"}


def fit_binary(
    samples: TwoSamples,
    settings: Settings,
    seeds: Seeds,
    halves: Halves | None = None,
    begin: int | None = None,
) -> BinaryFit:
    """Fit MDRE to two samples, with settings that have no auxiliaries.

    If all but the penalty is given, the difference of the critics is solved for, and MDRE only
    has to look at the result; the penalty is chosen by ``halves`` as in :func:`find_penalty`.
    """
    seed = int(seeds("binary").integers(2**31))
    mdre = MDRE(**vars(settings), random_state=seed)
    if not only_penalty_open(settings):
        mdre.fit_samples(samples)
        if not isinstance(mdre.model_, ClassModel):
            return BinaryFit(mdre, Penalty(np.nan, mdre.selection_), 1)
        penalty = Penalty(mdre.l2_, mdre.selection_)
        return BinaryFit(mdre, penalty, max(mdre.solution_.iterations, 1))
    critic = convex_critic(settings.critic)
    rows = prepare(samples, settings, critic, Seeds(seed))
    bound = rows.bind(critic)
    penalty = find_penalty(rows, bound, settings, halves, seeds, begin=begin)
    start = None
    if np.isfinite(penalty.l2):
        start = SOLVERS[settings.solver](
            Objective(Difference(bound), difference_blocks(rows), penalty.l2),
            np.zeros(bound.n_parameters),
            tol=settings.tol,
            max_iter=settings.max_iter,
        )
    mdre.set_params(l2=penalty.l2).fit_samples(samples, start=start, rows=rows)
    steps = mdre.solution_.iterations + (0 if start is None else start.iterations)
    return BinaryFit(mdre, penalty, max(steps, 1))


class Bridge(NamedTuple):
    """One bridge of several: its model, which has no rows, and how it was fitted."""

    model: CriticModel
    penalty: Penalty
    n_iter: int
    warned: list[tuple[type[Warning], str]]


def fit_bridge(
    samples: TwoSamples,
    halves: Halves | None,
    settings: Settings,
    seed: int,
    begin: int | None = None,
) -> Bridge:
    """Fit one bridge of several, keep no rows, and collect what it warns of."""
    with heard() as told:
        mdre, penalty, n_iter = fit_binary(samples, settings, Seeds(seed), halves, begin)
    # Of constant and of dependent columns the caller warns, once.
    warned = [one for one in told if one[0] is not UserWarning]
    return Bridge(mdre.model_, penalty, n_iter, warned)
