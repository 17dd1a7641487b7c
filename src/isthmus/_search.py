"""The search behind "auto": every candidate is judged on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from ._affine import canonical_map
from ._coordinates import Coordinates, fit_coordinates
from ._parts import CRITICS, SOLVERS
from ._random import Seeds
from ._setup import HeldOut, Score, Setup, fit_anchors
from ._typing import Array
from .anchors import AutoAnchor, Pooled
from .auxiliaries import Bridge
from .auxiliaries._discrete import has_atoms
from .auxiliaries.chain import Link, build_chain
from .critics import Bumps, Quadratic, Radial, Splines, Sum
from .critics.classifier import is_classifier
from .maps import SharedMaps
from .objective import Objective
from .selection import Selection, Trial, is_auto

_ROWS = 10_000
_STRENGTHS = (100.0, 10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4)
_BUMP_COLUMNS = 10
_ROWS_PER_FEATURE = 15
_ERRORS = 3.0
# Over all held-out rows, in nats: less is no evidence, however regular it is.
_LEAST_GAIN = 3.0


@dataclass
class _Candidate:
    """Anchors in coordinates: a density for p and one for q."""

    name: str
    where: Coordinates
    maps: Any
    anchor: Any
    fitted: list[Any]
    bridge: Any = None
    rivals: list[Any] = field(default_factory=list)

    def means(self, X: Array) -> list[float]:
        """Mean log p/q at rows by the anchors and by every pair of their rivals."""
        Z = self.where(X)
        options = [
            [one.score_samples(Z) - getattr(one, "bias_", 0.0) for one in (mine, *theirs)]
            for mine, theirs in zip(self.fitted, self.rivals or [[], []], strict=True)
        ]
        return [float(np.mean(p - q)) for p in options[0] for q in options[1]]

    def log_density(self, X: Array) -> Array:
        """Log-density of p and of q at every row, shape (n, 2)."""
        Z, volume = self.where(X), self.where.log_volume(X)
        first = self.fitted[0].score_samples(Z) + volume
        if self.fitted[1] is self.fitted[0]:
            return np.column_stack([first, first])
        return np.column_stack([first, self.fitted[1].score_samples(Z) + volume])


class Search:
    """The search over everything that is left to be chosen.

    Parameters
    ----------
    settings : dict
        Parameters of :class:`MDRE`.
    chosen : dict
        Those that may be "auto"; they are replaced here as they are chosen.
    p, q, weights, seeds, names
        As in :class:`~isthmus._setup.Setup`.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        chosen: dict[str, Any],
        p: Array,
        q: Array,
        weights: Any,
        seeds: Seeds,
        names: Any,
    ) -> None:
        self.settings, self.chosen, self.seeds, self.names = settings, chosen, seeds, names
        self.trials: list[Trial] = []
        self.reasons: list[str] = []
        self.by_anchor: list[float] = []
        first = canonical_map(p, q, weights[0], weights[1], warn=False)
        self.train, self.held, self.train_weights, self.held_weights = [], [], [], []
        for rows, weight in zip((p, q), weights, strict=True):
            # By value first, so that the order in which rows are given does not matter.
            order = np.argsort(first(rows)[:, 0], kind="stable")
            order = order[seeds("hold out").permutation(len(rows))[:_ROWS]]
            cut = len(order) // 4
            self.held.append(rows[order[:cut]])
            self.train.append(rows[order[cut:]])
            self.held_weights.append(None if weight is None else weight[order[:cut]])
            self.train_weights.append(None if weight is None else weight[order[cut:]])

    def run(self) -> Selection:
        """Choose maps and anchors, then auxiliaries, then critic and penalty."""
        if is_auto(self.chosen["maps"]) or is_auto(self.chosen["anchor"]):
            self._choose_anchor()
        chain = self._chain() if is_auto(self.chosen["auxiliaries"]) else []
        if is_auto(self.chosen["critic"]) or is_auto(self.chosen["l2"]):
            self._choose_critic()
        if chain and len(chain) > len(self.chosen["auxiliaries"]):
            self._try_chain(chain)
        return Selection(self.trials, reasons=self.reasons, by_anchor=self.by_anchor)

    def _choose_anchor(self) -> None:
        candidates = self._candidates()
        if len(candidates) == 1:
            best = candidates[0]
        else:
            best = self._compare(candidates)
        self.chosen["maps"], self.chosen["anchor"] = best.maps, best.anchor
        self.by_anchor = best.means(self.held[0])

    def _candidates(self) -> list[_Candidate]:
        """One for each of the maps in question, in the order of their complexity."""
        maps = [self.chosen["maps"]]
        if is_auto(maps[0]):
            shared = SharedMaps().fit(*self.train, *self.train_weights)
            maps = [None] if shared.is_identity else [None, shared.kinds_]
        out = []
        automatic = is_auto(self.chosen["anchor"])
        for kinds in maps:
            where = fit_coordinates(*self.train, *self.train_weights, maps=kinds, warn=False)
            Z = [where(rows) for rows in self.train]
            fitted = fit_anchors(self.chosen["anchor"], Z, self.train_weights, where)
            rivals = [getattr(one, "rivals_", []) for one in fitted]
            fitted = [one.anchor_ if isinstance(one, AutoAnchor) else one for one in fitted]
            bridge = Bridge(maps=kinds)
            if all(hasattr(one, "components_") for one in fitted):
                bridge.place(where, fitted, Z, self.train_weights)
            else:
                bridge.fit(*self.train, *self.train_weights)
            prefix = "" if kinds is None else "mapped columns, "
            out.append(
                _Candidate(
                    f"{prefix}{_name(fitted[0])} for p, {_name(fitted[1])} for q",
                    where,
                    kinds,
                    tuple(map(_unfitted, fitted)) if automatic else self.chosen["anchor"],
                    fitted,
                    bridge,
                    rivals,
                )
            )
            if automatic:
                # The same families whichever sample is called p.
                for name, one in sorted({_name(one): one for one in fitted}.items()):
                    pooled = Pooled(_unfitted(one))
                    both = fit_anchors(pooled, Z, self.train_weights, where)
                    out.append(
                        _Candidate(f"{prefix}one {name} for both", where, kinds, pooled, both)
                    )
        return out

    def _compare(self, candidates: list[_Candidate]) -> _Candidate:
        """Score the densities of p and q against the bridges of all candidates together."""
        bridges = [one.bridge for one in candidates if one.bridge is not None]
        size = max(map(len, self.held))
        draws = [
            bridge.sample(-(-size // len(bridges)), self.seeds(f"bridge {k}"))
            for k, bridge in enumerate(bridges)
        ]
        parts = [*self.held, np.concatenate(draws)]
        known = [
            logsumexp([bridge.log_density(x) for bridge in bridges], axis=0) - np.log(len(bridges))
            for x in parts
        ]
        share = [_share(w, x) for w, x in zip([*self.held_weights, None], parts, strict=True)]
        best: Any = None
        # The simplest first: one density for both, without maps.
        for one in sorted(candidates, key=lambda c: (c.maps is not None, c.bridge is not None)):
            terms = []
            for c, (x, m) in enumerate(zip(parts, known, strict=True)):
                logits = np.column_stack([one.log_density(x), m])
                terms.append(log_softmax(logits, axis=1)[:, c])
            score = Score(terms, share, np.full(3, 1.0 / 3.0))
            against = None if best is None else best[1]
            gain, error = (0.0, 0.0) if against is None else score.gain(against)
            better = against is None or gain > (_ERRORS if one.maps is not None else 1.0) * error
            self._note("anchor", one.name, score, against, better)
            if better:
                best = one, score
        winner: _Candidate = best[0]
        return winner

    def _chain(self) -> list[Link]:
        """The chain of auxiliaries; to begin with, only its overlapping link."""
        chain = build_chain(self.train[0], self.train[1], self.seeds("chain"))
        known = [link for link in chain if isinstance(link.auxiliary, Bridge)]
        self.reasons = [link.reason for link in known or chain]
        self.chosen["auxiliaries"] = [link.auxiliary for link in known or chain]
        return chain

    def _try_chain(self, chain: list[Link]) -> None:
        """Keep the whole chain if it makes the classes shared with the shorter one likelier."""
        if not np.isfinite(self.chosen["l2"]) or is_classifier(self.chosen["critic"]):
            # Where nothing is learned from the classes, further ones bring nothing.
            return
        scores = []
        for auxiliaries in (self.chosen["auxiliaries"], [link.auxiliary for link in chain]):
            critic = _resolved(self.chosen["critic"])
            setup = self._setup(critic, {"auxiliaries": auxiliaries})
            held = HeldOut(setup, self.held, self.held_weights, self.seeds)
            bound = setup.bind(critic, self.seeds)
            objective = Objective(bound, setup.sample, self.chosen["l2"])
            start = np.zeros(bound.n_parameters)
            theta = SOLVERS["newton"](objective, start, tol=1e-4, max_iter=20).theta
            shared = [0, 1, *(c for c, m in enumerate(auxiliaries, 2) if isinstance(m, Bridge))]
            scores.append(held.score(bound, theta, shared))
        better = _proven(scores[1], scores[0])
        self._note("auxiliary", f"{len(chain)} auxiliaries", scores[1], scores[0], better)
        if better:
            self.chosen["auxiliaries"] = [link.auxiliary for link in chain]
            self.reasons = [link.reason for link in chain]

    def _setup(self, critic: Any, settings: dict[str, Any]) -> Setup:
        """The training rows, with few draws of the auxiliaries: enough to tell candidates apart."""
        return Setup(
            self.train[0],
            self.train[1],
            (self.train_weights[0], self.train_weights[1]),
            {**self.settings, **self.chosen, **settings, "oversample": 2.0},
            kind=critic.coordinates,
            covariance=critic.covariance,
            seeds=self.seeds,
            names=self.names,
            warn=False,
        )

    def _choose_critic(self) -> None:
        """Penalty paths, from strong to weak, of one critic after another."""
        given = self.chosen["critic"]
        d = self.train[0].shape[1]
        critics = _critics(d) if is_auto(given) else [(str(given), _resolved(given))]
        first = critics[0][1]
        setup = self._setup(first, {})
        held = HeldOut(setup, self.held, self.held_weights, self.seeds)
        best = held.score()
        previous = best
        self._note("critic", "anchors alone", best, None, True)
        self.chosen["critic"], self.chosen["l2"] = first, np.inf
        rows = sum(map(len, self.train))
        for name, critic in critics:
            bound = setup.bind(critic, self.seeds)
            if bound.n_features * _ROWS_PER_FEATURE > rows and is_auto(given):
                continue
            path = list(self._path(bound, setup, held, best))
            l2, score = path[int(np.argmax([score.value for _, score in path]))]
            chosen = _proven(score, best)
            if chosen:
                # The strongest penalty that is as good as the best, as far as can be told.
                l2, score = next(
                    (weak, other)
                    for weak, other in path
                    if score.gain(other)[0] <= score.gain(other)[1]
                )
                best = score
                self.chosen["critic"], self.chosen["l2"] = critic, l2
            for strength, other in path:
                self._note(
                    "critic",
                    f"{name}, l2 = {strength:.3g}",
                    other,
                    previous,
                    chosen and strength == l2,
                    weakest=strength <= _STRENGTHS[-1] * bound.n_features,
                )
            previous = best
        if not is_auto(self.settings["l2"]):
            self.chosen["l2"] = self.settings["l2"]
        if is_auto(given) and has_atoms(*self.train):
            self._try_trees(setup, held, best)

    def _try_trees(self, setup: Setup, held: HeldOut, best: Score) -> None:
        """Boosted trees, for values that occur again and again: smooth critics cannot see these."""
        trees = HistGradientBoostingClassifier(
            max_iter=200, early_stopping=True, random_state=0, max_leaf_nodes=15
        )
        rows, weight = setup.classes.rows, setup.sample.weight
        fitted = clone(trees).fit(np.concatenate(rows), setup.sample.label, weight)
        terms = [
            np.log(np.maximum(fitted.predict_proba(rows)[:, c], 1e-12))
            for c, rows in enumerate(held.rows)
        ]
        score = Score(terms, held.share, setup.prior)
        chosen = _proven(score, best)
        self._note("critic", "boosted trees", score, best, chosen)
        if chosen:
            self.chosen |= {"critic": trees, "anchor": None, "maps": None, "l2": 0.0}

    def _path(
        self, bound: Any, setup: Setup, held: HeldOut, start: Score
    ) -> Iterator[tuple[float, Score]]:
        """Scores along the penalty, from strong to weak, each fit started from the one before."""
        theta, top, misses = np.zeros(bound.n_parameters), start, 0
        penalties = [strength * bound.n_features for strength in _STRENGTHS]
        if not is_auto(self.settings["l2"]):
            penalties = [float(self.settings["l2"])]
        for l2 in penalties:
            objective = Objective(bound, setup.sample, l2)
            theta = SOLVERS["newton"](objective, theta, tol=1e-4, max_iter=20).theta
            score = held.score(bound, theta)
            yield l2, score
            misses = 0 if score.value > top.value + 0.1 / score.rows else misses + 1
            top = score if score.value > top.value else top
            if misses == 2 or score.gain(top)[0] < -2.0 * score.gain(top)[1]:
                return

    def _note(
        self,
        stage: str,
        name: str,
        score: Score,
        against: Score | None,
        chosen: bool,
        weakest: bool = False,
    ) -> None:
        gain, error = (0.0, 0.0) if against is None else score.gain(against)
        self.trials.append(Trial(stage, name, score.value, gain, error, chosen, weakest))


def _proven(score: Score, best: Score) -> bool:
    """Whether a score is higher than the best so far beyond doubt."""
    gain, error = score.gain(best)
    return gain > max(_ERRORS * error, _LEAST_GAIN / score.rows)


def _critics(d: int) -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = [
        ("quadratic", Quadratic()),
        (
            "quadratic, radial and splines",
            Sum([Quadratic(), Radial(), Splines(coordinates="canonical")]),
        ),
    ]
    if d <= _BUMP_COLUMNS:
        out.append(("quadratic and bumps", Sum([Quadratic(), Bumps()])))
    return out


def _resolved(critic: Any) -> Any:
    return CRITICS[critic] if isinstance(critic, str) else critic


def _unfitted(anchor: Any) -> Any:
    return clone(anchor, safe=False)


def _name(anchor: Any) -> str:
    return str(_unfitted(anchor))


def _share(weight: Array | None, rows: Array) -> Array:
    return np.full(len(rows), 1.0 / len(rows)) if weight is None else weight / weight.sum()
