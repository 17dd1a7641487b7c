"""Two classes and the difference of their critics: what binary estimators are solved with."""

from __future__ import annotations

import warnings
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
from ..mdre import MDRE
from ..model.classifier import is_classifier
from ..model.objective import Objective
from ..model.rows import ClassRows, prepare
from ..model.solvers import SOLVERS, Solution, newton
from ..selection import Selection, Trial
from ..selection.score import HeldOut
from ..settings import Settings, is_auto
from ..typing import Array, Critic
from .hold_out import can_hold_out, collect, split_samples

# Strengths of the penalty are counted in half decades.
_STRONGEST, _WEAKEST = 4, -16
_NONE = 10**6
# Over all held-out rows, in nats: less is no evidence that a weaker penalty is better.
_LEAST_GAIN = 0.1


class Difference:
    """The critic h = h_p - h_q as one function, with the parameters of both.

    Two classes without auxiliaries depend on the difference of their critics
    alone. Of two quadratic functions it is one quadratic function, which takes
    half the work of two.

    Parameters
    ----------
    critic : linear critic
        Tied to two frames.
    """

    def __init__(self, critic: Any) -> None:
        self.critic = critic
        self.n_parameters = self.n_features = int(critic.n_parameters)
        self._one: Any = None
        if isinstance(critic, Quadratic) and all(origin is None for origin in critic.origin_):
            self._one = critic.bind(critic.frames_[:1])
        if hasattr(critic, "features"):
            self.features = self._features

    def expand(self, theta: Array) -> Any:
        """What the parameters stand for."""
        raw = self.critic.expand(theta)
        if self._one is None:
            return raw
        return Coefficients(raw.W[:1] - raw.W[1:], raw.b[:1] - raw.b[1:], raw.a[:1] - raw.a[1:])

    def values(self, raw: Any, X: Array) -> Array:
        """The difference at every row, shape (n, 1)."""
        if self._one is not None:
            return np.asarray(self._one.values(raw, X))
        h = self.critic.values(raw, X)
        return np.asarray(h[:, :1] - h[:, 1:])

    def accumulator(self) -> Any:
        """Zero moments."""
        return (self.critic if self._one is None else self._one).accumulator()

    def accumulate(self, total: Any, R: Array, X: Array) -> None:
        """Add the moments of a chunk."""
        if self._one is not None:
            self._one.accumulate(total, R, X)
        else:
            self.critic.accumulate(total, np.hstack([R, -R]), X)

    def contract(self, total: Any) -> Array:
        """Gradient from the moments."""
        if self._one is not None:
            total = Coefficients(
                np.concatenate([total.W, -total.W]),
                np.concatenate([total.b, -total.b]),
                np.concatenate([total.a, -total.a]),
            )
        return np.asarray(self.critic.contract(total))

    def _features(self, X: Array) -> list[Array]:
        of_p, of_q = self.critic.features(X)
        return [np.hstack([of_p, -of_q])]


def binary_rows(
    samples: TwoSamples, settings: Settings, critic: Critic, seeds: Seeds, warn: bool = False
) -> ClassRows:
    """Coordinates, anchors and frames of two samples without auxiliaries."""
    return prepare(samples, settings.but(auxiliaries=None), critic, seeds, warn=warn)


def binary_blocks(rows: ClassRows) -> MemoryBlocks:
    """The blocks in which only the difference of the critics is learned."""
    return replace(rows.blocks, learned=np.array([True, False]))


@dataclass(frozen=True)
class Penalty:
    """A penalty and how it was chosen.

    Attributes
    ----------
    l2 : float
    strength : int
        In half decades of the number of features of a class.
    accuracy : float
        Share of the held-out rows that were put into the right class; NaN if none
        were held out.
    selection : Selection
    """

    l2: float
    strength: int
    accuracy: float
    selection: Selection


def choose_penalty(
    train: TwoSamples,
    held: TwoSamples,
    settings: Settings,
    seeds: Seeds,
    begin: int | None = None,
    objective: Callable[..., Any] = Objective,
) -> Penalty:
    """Choose the ridge penalty of a binary fit by the likelihood of held-out labels.

    Parameters
    ----------
    train, held : TwoSamples
        Rows of p and of q to fit to, and to judge by.
    settings : Settings
        Of which only ``l2`` is "auto".
    seeds : Seeds
    begin : int, optional
        Strength to begin at, in half decades. Without it decades are tried from strong
        to weak until two bring nothing, then half decades about the best.
    objective : callable
        Makes the loss to be lowered of a critic, blocks and a penalty.

    Returns
    -------
    Penalty
    """
    critic = convex_critic(settings.critic)
    rows = binary_rows(train, settings, critic, seeds)
    blocks, bound = binary_blocks(rows), rows.bind(critic)
    judge = HeldOut(rows, held, seeds)
    difference = Difference(bound)
    none = judge.score()
    name = "anchors alone" if rows.offsets.anchors else "no difference"
    trials = {_NONE: (none, np.zeros(bound.n_parameters))}
    limit = _LEAST_GAIN / none.rows

    def value(strength: int, near: int) -> float:
        if strength not in trials:
            loss = objective(difference, blocks, bound.n_features * 10.0 ** (strength / 2))
            theta = newton(loss, trials[near][1], tol=1e-4, max_iter=20).theta
            trials[strength] = judge.score(bound, theta), theta
        return trials[strength][0].value

    def best() -> int:
        # Ties go to the stronger.
        return max(sorted(trials, reverse=True), key=lambda s: trials[s][0].value)

    if begin is None:
        near, misses = _NONE, 0
        for strength in range(_STRONGEST, _WEAKEST - 1, -2):
            before = trials[best()][0].value
            misses = 0 if value(strength, near) > before + limit else misses + 1
            near = strength
            if misses == 2:
                break
    else:
        value(begin, _NONE)
    for step in (-1, 1):
        while (centre := best()) != _NONE:
            if value(centre + step, centre) <= trials[centre][0].value + limit:
                break
    chosen = best()
    l2 = {s: np.inf if s == _NONE else bound.n_features * 10.0 ** (s / 2) for s in trials}
    shown = [
        Trial(
            "critic",
            name if s == _NONE else f"l2 = {l2[s]:.3g}",
            one.value,
            *one.gain(none),
            chosen=s == chosen,
        )
        for s, (one, _) in trials.items()
    ]
    return Penalty(l2[chosen], chosen, trials[chosen][0].accuracy, Selection(shown))


class Fitted(NamedTuple):
    """A fit, how its penalty was chosen, and the number of solver steps."""

    mdre: MDRE
    penalty: Penalty
    n_iter: int


def fit_binary(
    samples: TwoSamples,
    settings: Settings,
    seeds: Seeds,
    split: tuple[TwoSamples, TwoSamples] | bool = True,
    begin: int | None = None,
) -> Fitted:
    """Fit MDRE without auxiliaries to two samples.

    Parameters
    ----------
    samples : TwoSamples
    settings : Settings
        If ``l2`` is all that is "auto", it is chosen here.
    seeds : Seeds
    split : pair of TwoSamples or bool
        Rows to choose the penalty with; see :func:`choose_penalty`. True holds rows out
        if there are enough, False leaves the penalty to a rule.
    begin : int, optional
        As in :func:`choose_penalty`.

    Returns
    -------
    Fitted
    """
    settings = settings.but(auxiliaries=None)
    penalty = Penalty(np.nan, 0, np.nan, Selection(rule="Every setting was given."))
    start = None
    if can_choose(settings):
        if is_auto(settings.l2):
            if split is True:
                found = [collect(one.rows, one.weight) for one in samples]
                split = can_hold_out(found) and split_samples(found, seeds)
            if isinstance(split, tuple):
                penalty = choose_penalty(*split, settings, seeds, begin)
                settings = settings.but(l2=penalty.l2)
            else:
                settings = settings.but(l2=_rule(samples, settings, seeds))
                penalty = replace(penalty, selection=Selection(rule="Too few rows to hold out."))
        start = _solve(samples, settings, seeds)
    seed = int(seeds("binary").integers(2**31))
    mdre = MDRE(**{**vars(settings), "random_state": seed})
    mdre.fit_samples(samples, start=start)
    steps = mdre.solution_.iterations if hasattr(mdre, "solution_") else 0
    return Fitted(mdre, penalty, max(steps + (start.iterations if start else 0), 1))


class Bridge(NamedTuple):
    """One bridge of several: the model without rows, its penalty, and the solver's steps."""

    model: Any
    l2: float
    penalty: Penalty
    n_iter: int


def fit_bridge(
    samples: TwoSamples,
    split: tuple[TwoSamples, TwoSamples] | None,
    settings: Settings,
    seed: int,
    begin: int | None,
) -> tuple[Bridge, list[tuple[type[Warning], str]]]:
    """Fit one bridge of several, keep no rows, and collect what it warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mdre, penalty, n_iter = fit_binary(samples, settings, Seeds(seed), split or False, begin)
    # Of constant and of dependent columns the caller warns, once.
    kept = [(one.category, str(one.message)) for one in told if one.category is not UserWarning]
    return Bridge(mdre.model_, getattr(mdre, "l2_", np.nan), penalty, n_iter), kept


def can_choose(settings: Settings) -> bool:
    """Whether nothing but the penalty is left to be chosen."""
    return not is_classifier(settings.critic) and not any(
        is_auto(getattr(settings, name)) for name in ("critic", "anchor", "maps")
    )


def _rule(samples: TwoSamples, settings: Settings, seeds: Seeds) -> float:
    """A penalty where no rows can be held out; from an anchor, a residual of about one nat."""
    if settings.anchor is None:
        return 1.0
    critic = convex_critic(settings.critic)
    return float(binary_rows(samples, settings, critic, seeds).bind(critic).n_features)


def _solve(samples: TwoSamples, settings: Settings, seeds: Seeds) -> Solution | None:
    """Solve for the difference of the critics; MDRE only has to look at the result."""
    if is_auto(settings.l2) or not np.isfinite(settings.l2):
        return None
    critic = convex_critic(settings.critic)
    rows = binary_rows(samples, settings, critic, seeds)
    bound = rows.bind(critic)
    objective = Objective(Difference(bound), binary_blocks(rows), settings.l2)
    return SOLVERS[settings.solver](
        objective, np.zeros(bound.n_parameters), tol=settings.tol, max_iter=settings.max_iter
    )
