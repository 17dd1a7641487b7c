"""Two classes and the difference of their critics: what binary estimators are solved with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._parts import CRITICS, SOLVERS
from .._random import Seeds
from .._sample import LabelledSample
from .._setup import HeldOut, Score, Setup
from .._typing import Array
from ..critics import Quadratic
from ..critics.classifier import is_classifier
from ..critics.quadratic import Coefficients
from ..mdre import MDRE
from ..objective import Objective
from ..selection import Selection, Trial, is_auto
from ..solvers import Solution
from ._hold_out import Part, can_hold_out, collect, split_samples

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


def binary_setup(
    parts: Sequence[Part], settings: Any, critic: Any, seeds: Seeds, warn: bool = False
) -> Setup:
    """Coordinates, anchors and frames of two samples without auxiliaries."""
    (p, weight_p), (q, weight_q) = parts
    return Setup(
        p,
        q,
        (weight_p, weight_q),
        {**settings, "auxiliaries": None},
        kind=critic.coordinates,
        covariance=critic.covariance,
        seeds=seeds,
        warn=warn,
    )


def binary_sample(setup: Setup) -> LabelledSample:
    """The labelled sample in which only the difference of the critics is learned."""
    return replace(setup.sample, learned=np.array([True, False]))


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
    train: Sequence[Part],
    held: Sequence[Part],
    settings: Any,
    seeds: Seeds,
    begin: int | None = None,
    objective: Callable[..., Any] = Objective,
) -> Penalty:
    """Choose the ridge penalty of a binary fit by the likelihood of held-out labels.

    Parameters
    ----------
    train, held : pairs of (rows, weight)
        Rows of p and of q to fit to, and to judge by.
    settings : mapping
        Parameters of :class:`MDRE`, of which only ``l2`` is "auto".
    seeds : Seeds
    begin : int, optional
        Strength to begin at, in half decades. Without it decades are tried from strong
        to weak until two bring nothing, then half decades about the best.
    objective : callable
        Makes the loss to be lowered of a critic, a labelled sample and a penalty.

    Returns
    -------
    Penalty
    """
    critic = _resolved(settings["critic"])
    setup = binary_setup(train, settings, critic, seeds)
    sample = binary_sample(setup)
    judge = HeldOut(setup, [part[0] for part in held], [part[1] for part in held], seeds)
    bound = setup.bind(critic, seeds)
    difference = Difference(bound)
    none = judge.score()
    name = "anchors alone" if setup.anchors else "no difference"
    trials = {_NONE: (none, np.zeros(bound.n_parameters))}
    limit = _LEAST_GAIN / none.rows

    def value(strength: int, near: int) -> float:
        if strength not in trials:
            loss = objective(difference, sample, bound.n_features * 10.0 ** (strength / 2))
            theta = SOLVERS["newton"](loss, trials[near][1], tol=1e-4, max_iter=20).theta
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
    return Penalty(l2[chosen], chosen, _accuracy(trials[chosen][0]), Selection(shown))


class Fitted(NamedTuple):
    """A fit, how its penalty was chosen, and the number of solver steps."""

    mdre: MDRE
    penalty: Penalty
    n_iter: int


def fit_binary(
    parts: Sequence[Part],
    settings: dict[str, Any],
    seeds: Seeds,
    split: tuple[Sequence[Part], Sequence[Part]] | bool = True,
    begin: int | None = None,
) -> Fitted:
    """Fit MDRE without auxiliaries to two samples.

    Parameters
    ----------
    parts : pair of (rows, weight)
    settings : dict
        Parameters of :class:`MDRE`. If ``l2`` is all that is "auto", it is chosen here.
    seeds : Seeds
    split : pair or bool
        Rows to choose the penalty with; see :func:`choose_penalty`. True holds rows out
        if there are enough, False leaves the penalty to a rule.
    begin : int, optional
        As in :func:`choose_penalty`.

    Returns
    -------
    Fitted
    """
    settings = {**settings, "auxiliaries": None}
    penalty = Penalty(np.nan, 0, np.nan, Selection(rule="Every setting was given."))
    start = None
    if can_choose(settings):
        if is_auto(settings["l2"]):
            if split is True:
                samples = [collect(*part) for part in parts]
                split = can_hold_out(samples) and split_samples(samples, seeds)
            if isinstance(split, tuple):
                penalty = choose_penalty(*split, settings, seeds, begin)
                settings["l2"] = penalty.l2
            else:
                settings["l2"] = _rule(parts, settings, seeds)
                penalty = replace(penalty, selection=Selection(rule="Too few rows to hold out."))
        start = _solve(parts, settings, seeds)
    mdre = MDRE(**{**settings, "random_state": int(seeds("binary").integers(2**31))})
    X = np.concatenate([rows for rows, _ in parts])
    weight = None
    if any(w is not None for _, w in parts):
        weight = np.concatenate([np.ones(len(x)) if w is None else w for x, w in parts])
    y = np.repeat([1, 0], [len(rows) for rows, _ in parts])
    mdre.fit(X, y, sample_weight=weight, start=start)
    steps = mdre.solution_.iterations if hasattr(mdre, "solution_") else 0
    return Fitted(mdre, penalty, max(steps + (start.iterations if start else 0), 1))


def fit_bridge(
    parts: Sequence[Part],
    split: tuple[Sequence[Part], Sequence[Part]] | None,
    settings: dict[str, Any],
    seed: int,
    begin: int | None,
) -> tuple[Fitted, list[tuple[type[Warning], str]]]:
    """Fit one bridge of several, keep no rows, and collect what it warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fitted = fit_binary(parts, settings, Seeds(seed), split or False, begin)
    # Of constant and of dependent columns the caller warns, once.
    kept = [(one.category, str(one.message)) for one in told if one.category is not UserWarning]
    return fitted._replace(mdre=without_rows(fitted.mdre)), kept


def can_choose(settings: Any) -> bool:
    """Whether nothing but the penalty is left to be chosen."""
    return not is_classifier(settings["critic"]) and not any(
        is_auto(settings[name]) for name in ("critic", "anchor", "maps")
    )


def without_rows(mdre: MDRE) -> MDRE:
    """A copy that can predict, and lets go of the rows that it was fitted to."""
    light = copy(mdre)
    light.__dict__.pop("objective_", None)
    if isinstance(light._setup, Setup):
        light._setup = light_setup(light._setup)
    return light


def light_setup(setup: Setup) -> Setup:
    """A copy without rows, which still knows coordinates, anchors and frames."""
    light = copy(setup)
    for name in ("classes", "sample"):
        light.__dict__.pop(name, None)
    light._rows = (np.empty((0, 0)), np.empty((0, 0)))
    return light


def _rule(parts: Sequence[Part], settings: Any, seeds: Seeds) -> float:
    """A penalty where no rows can be held out; from an anchor, a residual of about one nat."""
    if settings["anchor"] is None:
        return 1.0
    critic = _resolved(settings["critic"])
    return float(binary_setup(parts, settings, critic, seeds).bind(critic, seeds).n_features)


def _solve(parts: Sequence[Part], settings: Any, seeds: Seeds) -> Solution | None:
    """Solve for the difference of the critics; MDRE only has to look at the result."""
    if is_auto(settings["l2"]) or not np.isfinite(settings["l2"]):
        return None
    critic = _resolved(settings["critic"])
    setup = binary_setup(parts, settings, critic, seeds)
    bound = setup.bind(critic, seeds)
    theta = np.zeros(bound.n_parameters)
    objective = Objective(Difference(bound), binary_sample(setup), settings["l2"])
    return SOLVERS[settings["solver"]](
        objective, theta, tol=settings["tol"], max_iter=settings["max_iter"]
    )


def _resolved(critic: Any) -> Any:
    return CRITICS[critic] if isinstance(critic, str) else critic


def _accuracy(score: Score) -> float:
    """Share of held-out rows whose own class was the likelier, each class counting alike."""
    right = [float(s @ (t > np.log(0.5))) for s, t in zip(score.share, score.terms, strict=True)]
    return float(np.mean(right))
